"""Graphs in many parts: every method treats them alike."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_blobs

from sidecut import E2CP, NCSC, Constraints, NormalizedCut, PoissonLearning, PoissonMBO, SpectralLearning
from sidecut.exceptions import GraphWarning
from sidecut.graphs import Graph, SparseGraph


def complete(*sizes):
    """Complete graphs side by side."""
    return sp.csr_array(sp.block_diag([np.ones((size, size)) - np.eye(size) for size in sizes]))


def two_in_one(size=20, between=0.05):
    """Two complete graphs with weak edges between them."""
    weights = np.full((2 * size, 2 * size), between)
    weights[:size, :size] = weights[size:, size:] = 1.0
    return weights - np.diag(np.diag(weights))


def some_labels(n, **known):
    labels = np.full(n, -1)
    for name, points in known.items():
        labels[points] = int(name[1:])
    return Constraints.from_labels(labels)


#: Two clusters in one part of 40 nodes, then parts of 3, 2 and 1 nodes.
TORN = sp.csr_array(sp.block_diag([two_in_one(), complete(3, 2), np.zeros((1, 1))]))
LARGE = np.repeat([0, 1], 20)


@pytest.mark.parametrize("method", [E2CP, SpectralLearning, NCSC, PoissonLearning, PoissonMBO])
def test_small_parts_with_labels_use_up_no_cluster(method):
    known = some_labels(46, _0=[0, 1, 40], _1=[20, 21, 43, 45])
    model = method(2, affinity="precomputed", random_state=0).fit(TORN, constraints=known)
    np.testing.assert_array_equal(model.labels_, [*LARGE, 0, 0, 0, 1, 1, 1])


def test_small_parts_without_labels_are_attached_with_low_confidence():
    known = some_labels(46, _0=[0, 1], _1=[20, 21])
    with pytest.warns(
        GraphWarning, match=r"1 of 46 points have no neighbours, and 2 parts of the graph \(of 3, 2 po"
    ):
        model = E2CP(2, affinity="precomputed", random_state=0).fit(TORN, constraints=known)
    np.testing.assert_array_equal(model.labels_[:40], LARGE)
    assert len(set(model.labels_[40:43])) == len(set(model.labels_[43:45])) == 1
    assert model.confidence_[40:].max() <= 0.5 < model.confidence_[:40].min()
    assert model.embedding_.shape == (46, 2)
    assert model.affinity_matrix_.toarray().shape == (46, 46)


def test_eigenvectors_of_a_part_are_eigenvectors_of_the_graph():
    with pytest.warns(GraphWarning, match="cannot be a cluster"):
        model = NormalizedCut(2, affinity="precomputed", random_state=0).fit(TORN)
    np.testing.assert_array_equal(model.labels_[:40], LARGE)
    vectors = model.eigenvectors_
    assert vectors.shape == (46, 2)
    graph = SparseGraph(TORN)
    residual = vectors - graph.normalized.apply(vectors) - vectors * model.eigenvalues_
    assert np.abs(residual).max() < 1e-8


def test_the_paper_cuts_all_parts_at_once():
    with warnings.catch_warnings(action="ignore"):
        whole = NormalizedCut(2, affinity="precomputed", random_state=0, split_parts=False).fit(TORN)
    assert len(set(whole.labels_[:40])) == 1
    assert not E2CP.as_published(2).split_parts
    assert not E2CP.as_published(2).safe
    assert E2CP.as_published(2, split_parts=True).split_parts


def test_parts_of_one_class_have_that_class():
    known = some_labels(60, _0=[0], _1=[20], _2=[40])
    model = E2CP(3, affinity="precomputed", random_state=0).fit(complete(20, 20, 20), constraints=known)
    np.testing.assert_array_equal(model.labels_, np.repeat([0, 1, 2], 20))


def test_a_cluster_without_label_takes_a_large_part_without_labels():
    weights = sp.csr_array(sp.block_diag([two_in_one(), complete(15)]))
    known = some_labels(55, _0=[0, 1], _1=[20, 21])
    model = E2CP(3, affinity="precomputed", random_state=0).fit(weights, constraints=known)
    np.testing.assert_array_equal(model.labels_, [*LARGE, *[2] * 15])


def test_a_class_with_labels_in_a_small_part_only_has_a_cluster_in_the_largest():
    known = some_labels(46, _0=[0, 1, 2], _1=[40])
    with warnings.catch_warnings(action="ignore"):
        model = SpectralLearning(2, affinity="precomputed", random_state=0).fit(TORN, constraints=known)
    np.testing.assert_array_equal(model.labels_[:43], [*LARGE, 1, 1, 1])


def test_a_link_to_another_part_decides_where_a_small_part_goes():
    must = [(0, 1), (2, 3), (20, 21), (22, 23), (41, 25), (44, 5)]
    known = Constraints.from_pairs(46, must_link=must, cannot_link=[(0, 20), (1, 22), (45, 3)])
    with warnings.catch_warnings(action="ignore"):
        model = E2CP(2, affinity="precomputed", random_state=0).fit(TORN, constraints=known)
    np.testing.assert_array_equal(model.labels_, [*LARGE, 1, 1, 1, 0, 0, 1])


def test_features_decide_where_a_part_goes_and_new_points_follow():
    X, y = make_blobs([40, 40], centers=[[0.0, 0.0], [9.0, 0.0]], cluster_std=1.0, random_state=0)
    # Three points nearer to the second cluster, too far from all others to be neighbours.
    X = np.concatenate([X, [[11.0, 8.0], [11.1, 8.0], [11.0, 8.1]]])
    known = np.full(83, -1)
    for one in (0, 1):
        known[np.flatnonzero(y == one)[:3]] = one
    with pytest.warns(GraphWarning, match="of the nearest points"):
        model = E2CP(2, n_neighbors=2, random_state=0).fit(X, constraints=Constraints.from_labels(known))
    assert np.mean(model.labels_[:80] == y) > 0.95 or np.mean(model.labels_[:80] != y) > 0.95
    there = model.labels_[np.flatnonzero(y == 1)[0]]
    assert set(model.labels_[80:]) == {there}
    assert set(model.predict(np.array([[11.05, 8.05], [9.0, 0.1]]))) == {there}


class OnlyApplied(Graph):
    """A graph of which nothing is known but what it does to vectors, and its parts."""

    def __init__(self, weights):
        self._hidden = SparseGraph(weights)
        self.n_nodes = weights.shape[0]
        self.components = self._hidden.components

    def apply(self, block):
        return self._hidden.apply(block)


@pytest.mark.parametrize("form", [SparseGraph, lambda w: w.toarray(), OnlyApplied])
def test_graphs_of_every_form_are_restricted_alike(form):
    known = some_labels(46, _0=[0, 1, 40], _1=[20, 21, 43, 45])
    model = SpectralLearning(2, affinity="precomputed", random_state=0).fit(form(TORN), constraints=known)
    np.testing.assert_array_equal(model.labels_, [*LARGE, 0, 0, 0, 1, 1, 1])


@pytest.mark.parametrize("graph", [SparseGraph(TORN), OnlyApplied(TORN)])
def test_a_restricted_graph_has_the_edges_among_its_nodes(graph):
    nodes = np.array([41, 3, 40, 20, 5])
    np.testing.assert_array_equal(graph.restricted_to(nodes).toarray(), TORN.toarray()[np.ix_(nodes, nodes)])
    assert graph.restricted_to(nodes).n_components == 2


def test_sizes_count_all_points_where_the_graph_was_solved_in_parts():
    with warnings.catch_warnings(action="ignore"):
        model = PoissonMBO(2, affinity="precomputed", random_state=0).fit(
            TORN, constraints=some_labels(46, _0=[0, 1, 40], _1=[20, 21])
        )
    np.testing.assert_array_equal(model.sizes_, np.bincount(model.labels_))
    assert model.size_range_[:, 1].sum() == 46
    assert model.size_range_[:, 0].sum() == 43


def test_components_of_comparable_size_are_the_clusters_where_nothing_is_known():
    with pytest.warns(GraphWarning, match="1 part of the graph"):
        model = NormalizedCut(3, affinity="precomputed", random_state=0).fit(complete(60, 50, 40, 2))
    np.testing.assert_array_equal(model.labels_[:150], np.repeat([0, 1, 2], [60, 50, 40]))
