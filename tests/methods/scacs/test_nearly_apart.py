"""Codes that all but fall apart: a cut that costs next to nothing leaves the others as they are."""

import numpy as np
import pytest
import scipy.linalg

from sidecut import SCACS
from sidecut.constraints import sample_labels, sample_pairs
from sidecut.methods.scacs.cuts import normalize_gram

# With four landmarks most directions are feasible, and a warning says so.
pytestmark = pytest.mark.filterwarnings("ignore:.*directions feasible")


def points(distance, seed):
    """Two clouds on a line, two landmarks in each: three nearest landmarks always cross the gap."""
    rng = np.random.RandomState(seed)
    X = np.concatenate([0.7 * rng.randn(12, 1), distance + 0.7 * rng.randn(12, 1)])
    y = np.empty(24, dtype=int)
    y[np.argsort(X[:, 0])] = np.repeat([0, 1, 2, 3], 6)
    return X, y, np.array([[-0.5], [0.5], [distance - 0.5], [distance + 0.5]])


@pytest.mark.parametrize("sample", [sample_pairs, sample_labels])
@pytest.mark.parametrize("distance", [8, 10, 12, 14, 20])
@pytest.mark.parametrize("seed", range(3))
def test_residuals_do_not_depend_on_the_gap(distance, seed, sample):
    X, y, landmarks = points(distance, seed)
    known = sample(y, 10, random_state=seed)
    model = SCACS(3, safe=False, n_landmarks=4, sigma=1.0, landmarks=landmarks, random_state=0)
    cuts = model.fit(X, constraints=known).cuts_
    assert cuts.residuals.max() < 2e-8
    assert model.solution_.residuals.max() < 2e-8


def test_the_cuts_are_those_of_the_textbook():
    X, y, landmarks = points(12, 0)
    model = SCACS(3, safe=False, n_landmarks=4, sigma=1.0, landmarks=landmarks, random_state=0)
    known = sample_pairs(y, 10, random_state=0)
    cuts = model.fit(X, constraints=known).cuts_
    codes, sums = model.affinity_matrix_.codes.toarray(), model.affinity_matrix_.sums
    S = normalize_gram(sums)
    Z = (codes / np.sqrt(sums.degrees)).T
    Q = known.with_diagonal(1.0).as_matrix().toarray()
    beliefs, A = Z @ Q @ Z.T, S - S @ S
    # Without the direction that costs nothing, eq. 16 is definite: A u = λ (Q̂ - βŜ) u.
    for j in range(cuts.costs.size):
        u = cuts.vectors[:, j]
        left = A @ u - cuts.eigenvalues[j] * (beliefs - cuts.beta * S) @ u
        assert np.linalg.norm(left) < 1e-8
        assert u @ S @ u == pytest.approx(1.0)
        assert u @ A @ u == pytest.approx(cuts.costs[j], abs=1e-10)
    assert scipy.linalg.eigvalsh(S)[-1] == pytest.approx(1.0)
