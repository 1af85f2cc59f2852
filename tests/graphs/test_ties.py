"""Where distances tie, neighbours depend on the points alone: not on their order, unit or the threads."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits

from sidecut.graphs import Neighbors, nearest_neighbors, search
from sidecut.graphs.recipes import as_rows_of_edges
from sidecut.running import use_threads

DIGITS = load_digits().data


def lattice(n_features, n=400, levels=4):
    """Different points with whole-number coordinates: most distances tie."""
    values = np.random.default_rng(0).integers(0, levels, size=(4 * n, n_features))
    return np.unique(values, axis=0)[:n].astype(float)


SETS = {
    "tree": lattice(3, levels=9),
    "products": lattice(20),
    "far from the origin": 1000.0 + lattice(20),
    "sparse": sp.csr_array(lattice(20, levels=3)),
}
# Whole numbers in three features often have one direction: with cosines, such points are equal.
every_set = pytest.mark.parametrize(
    ("name", "metric"),
    [(name, "euclidean") for name in SETS] + [("products", "cosine"), ("sparse", "cosine")],
)


def edges(X, metric="euclidean", k=6, **how):
    """The set of directed edges i -> neighbour as a matrix."""
    lists = nearest_neighbors(X, k, metric=metric, **how)
    return as_rows_of_edges(lists.indices, np.ones_like(lists.distances), len(lists.indices)).toarray()


@every_set
def test_the_order_of_the_points_changes_no_edge(name, metric):
    X = SETS[name]
    order = np.random.default_rng(1).permutation(X.shape[0])
    np.testing.assert_array_equal(edges(X[order], metric), edges(X, metric)[np.ix_(order, order)])


@every_set
@pytest.mark.parametrize("scale", [1e-3, 1e5])
def test_another_unit_changes_no_edge(name, metric, scale):
    np.testing.assert_array_equal(edges(scale * SETS[name], metric), edges(SETS[name], metric))


@pytest.mark.parametrize("how", ["exact", "approximate"])
def test_the_number_of_threads_changes_no_edge(how):
    found = []
    for n_jobs in (1, 2):
        with use_threads(n_jobs):
            found.append(Neighbors(20, search=how).build(DIGITS).matrix)
    assert abs(found[0] - found[1]).max() < 1e-12


@pytest.mark.parametrize("n_features", [3, 20])
def test_another_order_only_exchanges_equal_points(n_features):
    X = lattice(n_features, n=80, levels=9)[np.random.default_rng(0).integers(80, size=400)]
    order = np.random.default_rng(1).permutation(400)

    def in_place(X):
        # Points in the order of their coordinates, equal ones in the order of their indices.
        place = np.lexsort(X.T)
        return edges(X)[np.ix_(place, place)]

    np.testing.assert_array_equal(in_place(X[order]), in_place(X))


def test_of_tied_points_those_of_the_smallest_sum_are_taken():
    X = lattice(20)
    lists = nearest_neighbors(X, 6)
    distances = np.linalg.norm(X[:, None] - X[None], axis=2)
    np.fill_diagonal(distances, np.inf)
    sums = X @ np.cos(np.arange(20))
    order = np.lexsort((np.broadcast_to(sums, distances.shape), distances.round(9)))[:, :6]
    np.testing.assert_array_equal(np.sort(lists.indices, axis=1), np.sort(order, axis=1))


def test_more_ties_than_are_compared_are_found_by_one_thread(monkeypatch):
    X = np.repeat(lattice(20, n=4), 500, axis=0)
    monkeypatch.setattr(search, "MOST_TIED", 30)
    found = []
    for n_jobs in (1, 2):
        with use_threads(n_jobs):
            found.append(nearest_neighbors(X, 5).indices)
    np.testing.assert_array_equal(*found)


def test_new_points_take_the_neighbours_that_old_ones_take():
    X = lattice(20)
    graph = Neighbors(6, weights="binary").build(X[:300])
    linked, matches = graph.extension.edges(X[:300], X[300:])
    order = np.random.default_rng(0).permutation(300)
    moved = Neighbors(6, weights="binary").build(X[:300][order]).extension.edges(X[:300][order], X[300:])[0]
    np.testing.assert_array_equal(moved.toarray(), linked.toarray()[:, order])
    assert (matches == -1).all()
