"""SCACS as an estimator: the thirteen steps, its options, its errors."""

from functools import partial

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score

from sidecut import CSP, LSC, SCACS, Constraints
from sidecut.constraints import sample_labels
from sidecut.evaluation import clustering_accuracy
from sidecut.exceptions import ConstraintError, ConstraintWarning
from sidecut.graphs import Landmarks

# The methods themselves are tested here; the guard has tests of its own.
SCACS = partial(SCACS, safe=False)


@pytest.fixture(scope="module")
def digits():
    return load_digits(return_X_y=True)


@pytest.fixture(scope="module")
def known(digits):
    return sample_labels(digits[1], 100, random_state=0)


@pytest.fixture(scope="module")
def fitted(digits, known):
    return SCACS(10, n_landmarks=300, random_state=0).fit(digits[0], constraints=known)


def test_labels_help(digits, known, fitted):
    plain = LSC(10, n_landmarks=300, random_state=0).fit(digits[0])
    ours = clustering_accuracy(digits[1], fitted.labels_, constraints=known)
    assert ours > clustering_accuracy(digits[1], plain.labels_, constraints=known) + 0.05


def test_steps_11_and_12(digits, fitted):
    V = fitted.affinity_matrix_.factor @ fitted.eigenvectors_
    costs = np.einsum("ij,ij->j", V, V - fitted.affinity_matrix_.apply(V))
    np.testing.assert_allclose(fitted.costs_, costs, atol=1e-9)
    weighed = V * (1.0 - costs)
    weighed /= np.linalg.norm(weighed, axis=1, keepdims=True)
    np.testing.assert_allclose(fitted.embedding_, weighed, atol=1e-8)
    plain = SCACS(10, n_landmarks=300, weighting="none", unit_rows=False, random_state=0).fit(
        digits[0], constraints=sample_labels(digits[1], 100, random_state=0)
    )
    np.testing.assert_allclose(plain.embedding_, V, atol=1e-9)


def test_results_can_be_compared_with_the_paper(known, fitted):
    assert fitted.n_feasible_ == 9
    assert fitted.eigenvectors_.shape == (300, 9)
    assert fitted.eigenvalues_.shape == fitted.costs_.shape == (9,)
    V = fitted.affinity_matrix_.factor @ fitted.eigenvectors_
    assert (known.quadratic(V) > fitted.beta_).all()
    assert fitted.landmarks_.shape == (300, 64)
    assert (np.diff(fitted.costs_) >= 0).all()


def test_all_points_as_landmarks_are_csp(digits):
    X, y = digits[0][:150], digits[1][:150]
    known = sample_labels(y, 60, random_state=0)
    ours = SCACS(10, safe=False, landmarks=np.arange(150), n_nearest=8, weighting="none", random_state=0)
    ours.fit(X, constraints=known)
    theirs = CSP(10, beta=150 * ours.beta_, affinity=Landmarks(landmarks=np.arange(150), n_nearest=8))
    theirs.set_params(random_state=0, tol=1e-9).fit(X, constraints=known)
    assert ours.n_feasible_ == theirs.n_feasible_
    np.testing.assert_allclose(ours.costs_, theirs.costs_, atol=1e-6)
    assert adjusted_rand_score(ours.labels_, theirs.labels_) > 0.98


def test_two_clusters_are_the_sign_of_the_cut():
    rng = np.random.default_rng(0)
    y = np.arange(300) % 2
    X = rng.normal(size=(300, 2)) + 3.0 * y[:, None]
    known = sample_labels(y, 10, random_state=0)
    model = SCACS(2, safe=False, n_landmarks=60, n_nearest=5, random_state=0).fit(X, constraints=known)
    V = model.affinity_matrix_.factor @ model.eigenvectors_[:, 0]
    assert adjusted_rand_score(V > 0, model.labels_) == 1.0
    np.testing.assert_allclose(model.embedding_[:, 0], V * (1.0 - model.costs_[0]), atol=1e-9)


def test_a_single_column_is_not_scaled_to_its_sign(digits):
    """Three clusters of which one feasible cut is left: k-means needs more than two different rows."""
    some = np.where((digits[1] < 2) & (np.arange(len(digits[1])) < 200), digits[1], -1)
    with pytest.warns(ConstraintWarning, match="would use 2 feasible cuts"):
        model = SCACS(3, beta0=0.5, n_landmarks=100, random_state=0).fit(
            digits[0], constraints=Constraints.from_labels(some)
        )
    assert model.embedding_.shape[1] == 1
    assert np.unique(model.labels_).size == 3


def test_few_classes_leave_few_cuts(digits):
    some = np.where((digits[1] < 3) & (np.arange(len(digits[1])) < 200), digits[1], -1)
    with pytest.warns(ConstraintWarning, match="would use 9 feasible cuts"):
        model = SCACS(10, safe=False, beta0=0.1, n_landmarks=300, random_state=0).fit(
            digits[0], constraints=Constraints.from_labels(some)
        )
    assert model.embedding_.shape[1] == model.n_feasible_ < 9


def test_a_beta_that_nothing_satisfies(digits, known):
    with pytest.raises(ConstraintError, match=r"beta=1000 leaves no feasible cut.*Any beta between"):
        SCACS(10, n_landmarks=300, beta=1e3, random_state=0).fit(digits[0], constraints=known)


def test_hard_links_are_satisfied(digits, known):
    model = SCACS(10, n_landmarks=300, hard=True, random_state=0).fit(digits[0], constraints=known)
    assert known.satisfaction(model.labels_) == 1.0


def test_given_landmarks_are_used(digits, known, fitted):
    again = SCACS(10, landmarks=fitted.landmarks_, random_state=0).fit(digits[0], constraints=known)
    np.testing.assert_array_equal(again.labels_, fitted.labels_)
    np.testing.assert_array_equal(again.embedding_, fitted.embedding_)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"beta0": 0.0}, "beta0=0.0: give .* a number between 0 and 1"),
        ({"beta0": 1.5}, "beta0=1.5"),
        ({"beta0": "half"}, "beta0='half'.*'labelled_share'"),
        ({"beta0": True}, "beta0=True"),
        ({"beta": -1.0}, "beta=-1.0 must be a finite number, more than 0"),
        ({"beta": np.nan}, "beta=nan"),
        ({"diagonal": "none"}, "diagonal='none': choose one of 'known', 'given'"),
        ({"orthogonal": "skip"}, "orthogonal='skip'"),
        ({"weighting": "sign"}, "weighting='sign'"),
        ({"landmarks": "best"}, "landmarks='best'"),
        ({"n_landmarks": 0}, "n_landmarks=0"),
        ({"n_nearest": 2.5}, "n_nearest=2.5"),
        ({"n_init": 0}, "n_init=0"),
        ({"sigma": "median"}, "sigma='median'"),
        ({"hard": "yes"}, "hard='yes'"),
    ],
)
def test_parameters_that_make_no_sense(digits, known, settings, message):
    with pytest.raises(ValueError, match=message):
        SCACS(10, safe=False, **settings).fit(digits[0], constraints=known)
