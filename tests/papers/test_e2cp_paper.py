"""What Lu & Ip (2010) print, and where it has to be amended."""

from functools import partial

import numpy as np
import pytest
from sklearn.datasets import make_moons
from sklearn.metrics import adjusted_rand_score

from sidecut import E2CP, Constraints, SpectralLearning
from sidecut.constraints import sample_labels
from sidecut.graphs import DenseGraph, Neighbors
from sidecut.methods.e2cp import propagate

# The methods themselves are tested here; the guard has tests of its own.
E2CP = partial(E2CP, safe=False)


def two_stars():
    """Two stars of 12 leaves, their centres 0 and 13 joined by a faint edge."""
    W = np.zeros((26, 26))
    W[0, 1:13] = W[13, 14:26] = 1.0
    W[0, 13] = 0.1
    return W + W.T


def all_apart():
    return Constraints.from_pairs(26, cannot_link=[(i, j) for i in range(13) for j in range(13, 26)])


def test_confidences_can_exceed_one():
    """F is in [-1, 1] only on regular graphs; eq. 4 as printed then makes a negative weight.

    The joined centres of two stars whose points are all apart: row sums of P exceed 1 there.
    """
    F = propagate(DenseGraph(two_stars()), all_apart()).toarray()
    assert F.min() == F[0, 13]
    assert F[0, 13] == pytest.approx(-4.24, abs=0.005)
    literal = np.where(F >= 0, 1 - (1 - F) * (1 - two_stars()), (1 + F) * two_stars())
    assert literal[0, 13] == pytest.approx(-0.32, abs=0.005)


def test_proposition_1_holds_for_clipped_confidences():
    model = E2CP(2, affinity="precomputed", rescale=False, random_state=0)
    model.fit(two_stars(), constraints=all_apart())
    W, changed = two_stars(), model.affinity_matrix_.toarray()
    F = model.propagated_constraints_.toarray()
    assert changed.min() >= 0
    np.testing.assert_array_equal(changed, changed.T)
    assert (changed[F >= 0] >= W[F >= 0]).all()
    assert (changed[(F < 0) & (W > 0)] < W[(F < 0) & (W > 0)]).all()
    # Part (ii) is strict only where there is a weight to lower.
    assert ((F < 0) & (W == 0)).any()
    assert (changed[(F < 0) & (W == 0)] == 0).all()
    np.testing.assert_array_equal(model.labels_, [0] * 13 + [1] * 13)


def test_confidences_stay_within_one_on_regular_graphs():
    ring = np.roll(np.eye(20), 1, axis=1) + np.roll(np.eye(20), -1, axis=1)
    halves = np.repeat([0, 1], 10)
    F = propagate(DenseGraph(ring), Constraints.from_labels(halves)).toarray()
    assert np.abs(F).max() <= 1


def test_few_constraints_reach_every_pair():
    """Section 4.2: 2,400 constraints give all N (N - 1) / 2 pairs a confidence, here on 600 points."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 3)) + 2.0 * rng.integers(0, 3, size=600)[:, None]
    y = (X.sum(axis=1) > 6).astype(int)
    graph = Neighbors(20).build(X)
    assert graph.n_components == 1
    known = sample_labels(y, 16, random_state=0)
    F = propagate(graph, known).toarray()
    assert np.count_nonzero(F[np.triu_indices(600, k=1)]) == 600 * 599 // 2


def test_four_constraints_on_toy_data():
    """Figs. 3 and 4 in spirit: two moons, must-links between their ends, cannot-links between theirs.

    Confident propagated constraints all agree with the ideal clustering, and E2CP finds it, where spectral
    learning, which changes four weights, does not.
    """
    X, y = make_moons(120, noise=0.1, random_state=1)
    ends = [
        [moon[X[moon, 0].argmin()], moon[X[moon, 0].argmax()]]
        for moon in map(np.flatnonzero, (y == 0, y == 1))
    ]
    known = Constraints.from_pairs(120, must_link=ends, cannot_link=np.transpose(ends))
    learner = SpectralLearning(2, safe=False, random_state=0).fit(X, constraints=known)
    model = E2CP(2, random_state=0).fit(X, constraints=known)
    assert adjusted_rand_score(y, learner.labels_) < 0.9
    assert adjusted_rand_score(y, model.labels_) == 1.0
    F = model.propagated_constraints_
    pairs, strengths = F.strongest(100)
    assert np.abs(strengths).min() > 0.05 * F.max_abs
    np.testing.assert_array_equal(strengths > 0, y[pairs[:, 0]] == y[pairs[:, 1]])
