"""Neighbours that were searched elsewhere give the graph of our own search."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.neighbors import NearestNeighbors

from sidecut import CSP
from sidecut.constraints import sample_labels
from sidecut.graphs import Neighbors

X, Y = make_blobs(120, n_features=4, centers=3, random_state=0)


def searched(k, metric="euclidean"):
    distances, indices = NearestNeighbors(n_neighbors=k, metric=metric).fit(X).kneighbors(X)
    return indices, distances


@pytest.mark.parametrize(
    ("settings", "metric"),
    [
        ({}, "euclidean"),
        ({"weights": "gaussian", "sigma": 0.7}, "euclidean"),
        ({"weights": "cosine"}, "cosine"),
        ({"weights": "binary", "symmetrize": "mutual"}, "euclidean"),
    ],
)
@pytest.mark.parametrize("with_self", [True, False])
def test_the_graph_is_that_of_our_own_search(settings, metric, with_self):
    indices, distances = searched(11, metric)
    if not with_self:
        indices, distances = indices[:, 1:], distances[:, 1:]
    # In any order, as some searches return them.
    order = np.random.RandomState(0).permutation(indices.shape[1])
    graph = Neighbors.from_knn(indices[:, order], distances[:, order], **settings)
    expected = Neighbors(10, **settings).build(X).matrix
    assert abs(graph.matrix - expected).max() < 1e-9
    assert graph.matrix.nnz == expected.nnz


def test_it_is_clustered_like_the_points():
    known = sample_labels(Y, 12, random_state=0)
    graph = Neighbors.from_knn(*searched(21))
    by_graph = CSP(3, affinity="precomputed", random_state=0).fit(graph, constraints=known)
    np.testing.assert_array_equal(by_graph.labels_, CSP(3, random_state=0).fit(X, constraints=known).labels_)


@pytest.mark.parametrize(
    ("indices", "distances", "words"),
    [
        ([[1], [0], [-1]], [[1.0], [1.0], [1.0]], r"Neighbour 0 of point 2 is -1"),
        ([[1], [0], [3]], [[1.0], [1.0], [1.0]], r"is 3 at distance 1\.0: points are numbered from 0 to 2"),
        ([[1], [0], [1]], [[1.0], [np.nan], [1.0]], r"Neighbour 0 of point 1 is 0 at distance nan"),
        ([[1], [0]], [[1.0, 2.0], [1.0, 2.0]], r"of the same shape"),
        ([[1.0], [0.0]], [[1.0], [1.0]], r"give whole numbers"),
        ([[0], [1]], [[0.0], [0.0]], r"at least one other point"),
        ([[1, 1], [0, 2], [0, 1]], np.ones((3, 2)), r"none of them twice"),
    ],
)
def test_what_makes_no_sense_is_refused(indices, distances, words):
    with pytest.raises(ValueError, match=words):
        Neighbors.from_knn(indices, distances)
