"""The layout: forces are the gradient of the energy, and neighbours end up together."""

import numpy as np
import pytest
import scipy.sparse as sp

from sidecut.graphs import Gaussian, Neighbors, as_graph
from sidecut.methods.layers.layout import N_NEIGHBORS, SOFTENING, edges_of, first_places, forces, lay_out


@pytest.fixture
def graph():
    X = np.random.default_rng(0).normal(size=(40, 3))
    return Neighbors(6).build(X)


def energy(places, weights, point, place, others, repulsion):
    """E_i of the module, with point i at a place."""
    squared = np.square(place - places).sum(axis=1)
    row = weights[point] / weights[point].sum()
    attracted = row @ np.log1p(squared)
    repelled = [
        -np.log((SOFTENING + squared[other[point]]) / (1 + squared[other[point]])) / (1 - SOFTENING)
        for other in others
        if other[point] != point
    ]
    return attracted + repulsion / len(others) * np.sum(repelled)


def test_forces_are_minus_the_gradient_of_the_energy(graph):
    rng = np.random.default_rng(1)
    places = rng.normal(size=(40, 4))
    others = [rng.permutation(40) for _ in range(5)]
    weights = graph.toarray()
    found = forces(places.astype(np.float32), edges_of(graph), others, 2.5)
    step = 1e-6
    for point in range(0, 40, 7):
        for axis in range(4):
            shift = step * np.eye(4)[axis]
            up, down = (
                energy(places, weights, point, places[point] + sign * shift, others, 2.5) for sign in (1, -1)
            )
            assert found[point, axis] == pytest.approx(-(up - down) / (2 * step), rel=1e-3, abs=1e-4)


def test_the_start_is_smooth_along_edges(graph):
    edges = edges_of(graph)
    places = first_places(edges, np.random.default_rng(0))
    along = np.square(places[edges.rows] - places[edges.upper.indices]).mean()
    across = np.square(places - places[np.random.default_rng(0).permutation(40)]).mean()
    assert along < 0.2 * across


def test_every_edge_is_there_once_and_weights_may_have_any_unit(graph):
    edges = edges_of(as_graph(1e200 * graph.matrix))
    full = edges.upper + edges.upper.T
    np.testing.assert_allclose(full.toarray(), graph.toarray() / graph.toarray().max(), rtol=1e-6)
    np.testing.assert_allclose(edges.degrees, full.sum(axis=1), rtol=1e-6)


def test_a_full_graph_gives_the_edges_to_the_nearest_nodes():
    X = np.random.default_rng(0).normal(size=(90, 2))
    edges = edges_of(Gaussian(1.0).build(X))
    weights = Gaussian(1.0).build(X).toarray()
    strongest = np.argsort(-weights, axis=1)[:, :N_NEIGHBORS]
    linked = (edges.upper + edges.upper.T).toarray() > 0
    expected = np.zeros((90, 90), dtype=bool)
    np.put_along_axis(expected, strongest, True, axis=1)
    np.testing.assert_array_equal(linked, expected | expected.T)


def test_clusters_end_up_apart():
    blocks = sp.block_diag([np.ones((30, 30)) - np.eye(30)] * 3, format="csr")
    bridged = blocks.tolil()
    bridged[0, 30] = bridged[30, 0] = bridged[31, 60] = bridged[60, 31] = 0.5
    places = lay_out(as_graph(sp.csr_array(bridged)), seed=0)
    centres = places.reshape(3, 30, 4).mean(axis=1)
    within = np.linalg.norm(places.reshape(3, 30, 4) - centres[:, None], axis=2).max()
    between = min(np.linalg.norm(centres[a] - centres[b]) for a, b in ((0, 1), (0, 2), (1, 2)))
    assert between > 2 * within
