import numpy as np
import pytest
import scipy.sparse as sp
from scipy.linalg import block_diag, expm

from sidecut.graphs import HeatGraph, NormalizedAffinity, SparseGraph, as_graph


def ring_with_chords(n=30, seed=0):
    rng = np.random.default_rng(seed)
    weights = np.zeros((n, n))
    for i in range(n):
        weights[i, (i + 1) % n] = 0.2 + rng.random()
        weights[i, rng.integers(n)] = rng.random()
    return weights + weights.T


def textbook_heat(weights, time):
    degrees = weights.sum(axis=1)
    return expm(-time * (np.eye(len(weights)) - weights / np.sqrt(np.outer(degrees, degrees))))


WEIGHTS = ring_with_chords()


@pytest.mark.parametrize("time", [0.1, 1.0, 20.0, 200.0])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_heat_is_the_matrix_exponential(time, form):
    graph = HeatGraph(as_graph(form(WEIGHTS)), time)
    expected = textbook_heat(WEIGHTS, time)
    heat = graph.toarray()
    np.testing.assert_allclose(heat, expected, atol=1e-12)
    np.testing.assert_array_equal(heat, heat.T)
    assert heat.min() >= 0
    vector = np.random.default_rng(1).normal(size=30)
    np.testing.assert_allclose(graph.apply(vector), expected @ vector, atol=1e-12)
    np.testing.assert_allclose(graph.degrees, expected.sum(axis=1), atol=1e-12)


def test_a_bipartite_graph_reaches_the_other_end_of_the_spectrum():
    star = np.zeros((6, 6))
    star[0, 1:] = star[1:, 0] = 1.0
    np.testing.assert_allclose(
        HeatGraph(as_graph(star), 50.0).toarray(), textbook_heat(star, 50.0), atol=1e-12
    )


def test_heat_flows_for_two_times_as_for_their_sum():
    block = np.random.default_rng(2).normal(size=(30, 4))
    graph = as_graph(WEIGHTS)
    twice = HeatGraph(graph, 3.0).apply(HeatGraph(graph, 4.5).apply(block))
    np.testing.assert_allclose(twice, HeatGraph(graph, 7.5).apply(block), atol=1e-13)


def test_after_a_long_time_only_the_null_vector_is_left():
    null = NormalizedAffinity(as_graph(WEIGHTS)).null_vectors.toarray()
    np.testing.assert_allclose(HeatGraph(as_graph(WEIGHTS), 5000.0).toarray(), null @ null.T, atol=1e-11)


def test_heat_stays_in_its_component_and_isolated_nodes_stay_isolated():
    weights = block_diag(ring_with_chords(7), 0.0, ring_with_chords(5, 1))
    graph = HeatGraph(as_graph(weights), 2.0)
    np.testing.assert_array_equal(graph.components, [0] * 7 + [-1] + [1] * 5)
    np.testing.assert_array_equal(graph.isolated, [7])
    expected = block_diag(
        textbook_heat(ring_with_chords(7), 2.0), 0.0, textbook_heat(ring_with_chords(5, 1), 2.0)
    )
    np.testing.assert_allclose(graph.toarray(), expected, atol=1e-14)
    affinity = NormalizedAffinity(graph)
    null = affinity.null_vectors.toarray()
    np.testing.assert_allclose(affinity.apply(null), null, atol=1e-14)


def test_nodes_whose_heat_is_rounding_error_are_isolated():
    weak = np.arange(0, 30, 4)
    weights = WEIGHTS.copy()
    weights[weak] = weights[:, weak] = 0.0
    weights[weak, weak + 1] = weights[weak + 1, weak] = 1e-100
    graphs = [HeatGraph(as_graph(weights), time) for time in (40.0, 50.0, 75.0, 100.0, 150.0, 300.0)]
    residues = [graph.apply(np.ones(30))[weak] for graph in graphs]
    assert np.max(residues) > 0  # errors of either sign, else this test would prove nothing
    for graph in graphs:
        np.testing.assert_array_equal(graph.isolated, weak)
        values = np.linalg.eigvalsh(NormalizedAffinity(graph).apply(np.eye(30)))
        assert values.max() <= 1 + 1e-12


@pytest.mark.parametrize("time", [0.0, -1.0, np.nan, np.inf])
def test_heat_needs_time(time):
    with pytest.raises(ValueError, match="heat needs a positive finite time"):
        HeatGraph(SparseGraph(sp.eye_array(2)), time)
