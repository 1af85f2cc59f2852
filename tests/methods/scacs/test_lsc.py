"""LSC is the normalised cut of the landmark graph."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score

from sidecut import LSC, SCACS, Constraints, NormalizedCut
from sidecut.exceptions import ConstraintError, GraphWarning, LabellingWarning
from sidecut.graphs import Landmarks


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X, y


@pytest.fixture(scope="module")
def fitted(digits):
    return LSC(10, n_landmarks=200, n_nearest=5, random_state=0).fit(digits[0])


def test_eigenvalues_and_vectors_are_those_of_the_graph(digits, fitted):
    cut = NormalizedCut(10, affinity=Landmarks(landmarks=fitted.landmarks_, n_nearest=5), random_state=0).fit(
        digits[0]
    )
    np.testing.assert_allclose(fitted.eigenvalues_, cut.eigenvalues_, atol=1e-7)
    V = fitted.affinity_matrix_.factor @ fitted.eigenvectors_
    np.testing.assert_allclose(V.T @ V, np.eye(10), atol=1e-9)
    np.testing.assert_allclose(np.linalg.svd(V.T @ cut.eigenvectors_, compute_uv=False), 1.0, atol=1e-6)
    assert adjusted_rand_score(fitted.labels_, cut.labels_) > 0.95


def test_digits_are_told_apart(digits, fitted):
    assert adjusted_rand_score(digits[1], fitted.labels_) > 0.6


def test_scacs_without_constraints_is_lsc(digits, fitted):
    settings = {"n_landmarks": 200, "n_nearest": 5, "random_state": 0}
    for nothing in (None, Constraints.none(len(digits[0]))):
        model = SCACS(10, **settings).fit(digits[0], constraints=nothing)
        np.testing.assert_array_equal(model.labels_, fitted.labels_)
        np.testing.assert_array_equal(model.embedding_, fitted.embedding_)
        np.testing.assert_array_equal(model.eigenvalues_, fitted.eigenvalues_)
        assert not hasattr(model, "cuts_")


def test_constraints_are_refused(digits):
    known = Constraints.from_pairs(len(digits[0]), must_link=[(0, 1)])
    for fit in (LSC(10).fit, LSC(10).fit_chunks):
        with pytest.raises(ConstraintError, match="LSC cannot use constraints"):
            fit(digits[0], constraints=known)


def test_more_components_than_clusters_are_warned_about(digits):
    with pytest.warns(GraphWarning, match="connected components"):
        LSC(3, n_landmarks=200, n_nearest=1, random_state=0).fit(digits[0])


def test_fewer_codes_than_clusters_are_warned_about():
    X = np.random.default_rng(0).normal(size=(30, 2))
    with pytest.warns((LabellingWarning, GraphWarning)) as caught:
        model = LSC(5, landmarks=X[:3], n_nearest=1, random_state=0).fit(X)
    assert any("found 3 clusters where n_clusters=5" in str(w.message) for w in caught)
    assert set(model.labels_) == {0, 1, 2}
