"""How much each link matters, against refits without it."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from sidecut import Constraints
from sidecut.constraints import sample_pairs
from sidecut.diagnostics import measure_influence
from sidecut.exceptions import ConstraintError
from sidecut.graphs import Neighbors


def propagate(weights, constraints, alpha=0.95):
    """F = P Z P with dense matrices, as the paper writes it."""
    roots = np.sqrt(weights.sum(axis=1))
    n = len(weights)
    P = (1 - alpha) * np.linalg.inv(np.eye(n) - alpha * weights / np.outer(roots, roots))
    Z = np.zeros((n, n))
    for (i, j), strength in zip(constraints.pairs, constraints.strengths, strict=True):
        Z[i, j] = Z[j, i] = strength
    return P @ Z @ P


def without(constraints, place):
    keep = np.arange(len(constraints.pairs)) != place
    pairs, strengths = constraints.pairs[keep], constraints.strengths[keep]
    must = strengths > 0
    return Constraints.from_pairs(
        constraints.n_samples,
        must_link=pairs[must],
        cannot_link=pairs[~must],
        must_weight=strengths[must],
        cannot_weight=-strengths[~must],
    )


def test_influence_is_what_a_refit_without_the_link_changes():
    X, _ = make_blobs(40, centers=3, random_state=0)
    graph = Neighbors(8).build(X)
    known = Constraints.from_pairs(
        40, must_link=[(0, 5), (1, 7)], cannot_link=[(0, 9), (3, 30)], must_weight=[1.0, 0.4]
    )
    F = propagate(graph.toarray(), known)
    expected = [
        np.linalg.norm(F - propagate(graph.toarray(), without(known, place))) / np.linalg.norm(F)
        for place in range(4)
    ]
    found = measure_influence(graph, known, affinity="precomputed")
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_points_are_as_good_as_their_graph():
    X, y = make_blobs(60, centers=3, random_state=1)
    known = sample_pairs(y, 15, random_state=0)
    on_graph = measure_influence(Neighbors(20).build(X), known, affinity="precomputed")
    np.testing.assert_allclose(measure_influence(X, known), on_graph)


def test_nothing_known_is_refused():
    with pytest.raises(ConstraintError, match="no constraints"):
        measure_influence(np.eye(3), Constraints.none(3))
