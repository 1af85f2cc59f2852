"""What every estimator says of points of its fit when they come again, and of new ones."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_blobs

from sidecut import Constraints


@pytest.fixture(scope="module")
def crowd():
    """Three groups that overlap, so that no method is sure of all points, and links of some."""
    X, y = make_blobs(90, centers=3, cluster_std=2.5, n_features=3, random_state=4)
    known = Constraints.from_labels(np.where(np.arange(90) % 7 == 0, y, -1))
    links = Constraints.from_pairs(90, must_link=[(0, 1), (5, 8)], cannot_link=[(2, 4), (0, 9)])
    return X, known, links


def fitted(case, X, known, **settings):
    with warnings.catch_warnings(action="ignore"):
        return case.make(n_neighbors=10, n_landmarks=30, **settings).fit(X, constraints=case.knows(known))


def check_same(model, X):
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    np.testing.assert_allclose(model.predict_confidence(X), model.confidence_)
    # In any company: alone, and in another order among new points.
    some = np.array([7, 3, 50])
    rows = X[some] if sp.issparse(X) else np.vstack([X[some] + 100.0, X[some]])
    np.testing.assert_array_equal(model.predict(rows)[-3:], model.labels_[some])
    assert model.predict(X[7:8])[0] == model.labels_[7]


@pytest.mark.parametrize("settings", [{"safe": True}, {"safe": False}, {"hard": True}], ids=str)
def test_the_same_point_gets_the_same_answer_as_in_the_fit(case, crowd, settings):
    X, labels, links = crowd
    settings = {name: value for name, value in settings.items() if name not in case.settings}
    check_same(fitted(case, X, links if "hard" in settings else labels, **settings), X)


def test_so_does_a_sparse_one(sparse_case, crowd):
    X = sp.csr_array(np.maximum(crowd[0], 0.0))
    X = X[np.unique(X.toarray(), axis=0, return_index=True)[1]]
    check_same(fitted(sparse_case, X, None), X)


def test_so_it_does_after_corrections_and_an_update(case, crowd):
    X, labels, _ = crowd
    model = fitted(case, X, labels)
    target = int(model.labels_[0])
    moved = np.flatnonzero(model.labels_ != target)[:3]
    model.apply(model.corrections().move(moved, to=target))
    assert set(model.labels_[moved]) == {target}
    check_same(model, X)
    new = X[:20] + 0.5
    with warnings.catch_warnings(action="ignore"):
        model.update(new)
    assert set(model.labels_[moved]) == {target}
    check_same(model, np.vstack([X, new]))
