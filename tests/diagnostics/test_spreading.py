"""What spreads between known points is a block of the inverse, however many there are."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_blobs

from sidecut import Constraints
from sidecut.diagnostics import find_suspects
from sidecut.diagnostics.influence import ALPHA, spread_between
from sidecut.graphs import Neighbors, SparseGraph

PLACE = "sidecut.diagnostics.influence"


def dense_spread(graph, alpha=ALPHA):
    """P = (1 - α)(I - α Ā)⁻¹ by its definition; an isolated node has no row in Ā."""
    weights = graph.toarray()
    degrees = weights.sum(axis=1)
    root = np.where(degrees > 0, 1 / np.sqrt(np.where(degrees > 0, degrees, 1.0)), 0.0)
    affinity = root[:, None] * weights * root
    return (1 - alpha) * np.linalg.inv(np.eye(len(weights)) - alpha * affinity)


def clouds(n_points=300):
    return make_blobs(n_points, n_features=4, centers=4, cluster_std=2.0, random_state=0)


def two_parts_and_a_lonely_node():
    one, other = (Neighbors(5).build(clouds(60)[0] + shift).tosparse() for shift in (0, 100))
    return SparseGraph(sp.block_diag([one, other, sp.csr_array((1, 1))]))


def test_blocks_of_columns_are_those_of_the_inverse(monkeypatch):
    monkeypatch.setattr(f"{PLACE}.COLUMNS_AT_ONCE", 3)
    graph = Neighbors(5).build(np.random.default_rng(0).normal(size=(30, 2)))
    points = np.array([1, 4, 9, 16, 25])
    between, given = spread_between(graph, points)
    full = dense_spread(graph)
    np.testing.assert_allclose(between, full[np.ix_(points, points)], atol=1e-12)
    np.testing.assert_allclose(given, full[:, points].sum(axis=0), atol=1e-11)


@pytest.mark.parametrize("alpha", [0.5, 0.95, 0.99])
@pytest.mark.parametrize(
    "make", [lambda: Neighbors(8).build(clouds()[0]), two_parts_and_a_lonely_node], ids=["clouds", "parts"]
)
def test_with_eigenvectors_set_apart_it_is_the_same(make, alpha, monkeypatch):
    monkeypatch.setattr(f"{PLACE}.MIN_DEFLATED_ENTRIES", 0)
    graph = make()
    points = np.sort(np.random.default_rng(1).choice(graph.n_nodes, 70, replace=False))
    between, given = spread_between(graph, points, alpha)
    full = dense_spread(graph, alpha)
    # The error of a column relative to its length.
    np.testing.assert_allclose(between, full[np.ix_(points, points)], atol=3e-6 * np.abs(full).max())
    np.testing.assert_allclose(given, full[:, points].sum(axis=0), rtol=1e-10)


def test_suspects_do_not_depend_on_the_way(monkeypatch):
    X, y = clouds()
    rng = np.random.default_rng(0)
    pairs = rng.integers(len(y), size=(150, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    same = (y[pairs[:, 0]] == y[pairs[:, 1]]) ^ (rng.random(len(pairs)) < 0.1)
    known = Constraints.from_pairs(
        len(y), must_link=pairs[same], cannot_link=pairs[~same], on_conflict="weigh"
    )
    slow = find_suspects(X, known, n_clusters=4)
    monkeypatch.setattr(f"{PLACE}.MIN_DEFLATED_ENTRIES", 0)
    fast = find_suspects(X, known, n_clusters=4)
    order = [np.lexsort(found.points.T) for found in (slow, fast)]
    np.testing.assert_allclose(slow.scores[order[0]], fast.scores[order[1]], atol=1e-4)
    assert {*map(tuple, slow.points[slow.doubtful])} == {*map(tuple, fast.points[fast.doubtful])}
