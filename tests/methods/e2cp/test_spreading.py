"""Spreading over a graph against the inverse by LAPACK, in both precisions."""

import numpy as np
import pytest

from sidecut.graphs import Gaussian, GaussianGraph, Heat, Neighbors, SparseGraph, as_graph
from sidecut.methods.e2cp import propagation as spreading
from sidecut.methods.e2cp.propagation import spread, spread_units

X = np.random.default_rng(0).normal(size=(80, 2))
FORMS = {
    "sparse": lambda: Neighbors(6).build(X),
    "dense": lambda: Gaussian(0.5).build(X),
    "tiled": lambda: GaussianGraph(X, 0.5),
    "only applied": lambda: Heat(1.0).build(X),
}
POINTS = np.random.default_rng(1).permutation(80)[:40]


@pytest.fixture(params=[0, 4000], ids=["iterated", "factorised"])
def dense_nodes(request, monkeypatch):
    monkeypatch.setattr(spreading, "DENSE_NODES", request.param)
    return request.param


@pytest.fixture
def _never_dense(monkeypatch):
    monkeypatch.setattr(spreading, "DENSE_NODES", 0)


def propagator(graph, alpha):
    W = graph.toarray()
    degrees = W.sum(axis=1)
    scale = np.divide(1.0, np.sqrt(degrees), out=np.zeros_like(degrees), where=degrees > 0)
    return (1 - alpha) * np.linalg.inv(np.eye(len(W)) - alpha * scale[:, None] * W * scale)


@pytest.mark.parametrize("alpha", [0.05, 0.8, 0.99])
@pytest.mark.parametrize("form", FORMS)
def test_many_columns_of_the_inverse(form, alpha, dense_nodes):
    graph = FORMS[form]()
    found = spread_units(graph, POINTS, np.arange(40), alpha)
    assert found.dtype == np.float64
    assert found.min() >= 0
    np.testing.assert_allclose(found, propagator(graph, alpha)[:, POINTS], atol=1e-13)


@pytest.mark.usefixtures("_never_dense")
@pytest.mark.parametrize("alpha", [0.05, 0.8, 0.99])
@pytest.mark.parametrize("form", FORMS)
def test_single_precision_is_as_good_as_it_can_be(form, alpha, monkeypatch):
    graph = FORMS[form]()
    expected = propagator(graph, alpha)[:, POINTS]
    monkeypatch.setattr(spreading, "MAX_DOUBLE_BYTES", 80 * 40 * 8 - 1)
    single = spread_units(graph, POINTS, np.arange(40), alpha)
    assert single.dtype == np.float32
    # Rounding errors grow with the condition number, (1 + alpha) / (1 - alpha).
    np.testing.assert_allclose(single, expected, atol=1e-7 * expected.max() / (1 - alpha))


@pytest.mark.usefixtures("_never_dense")
@pytest.mark.parametrize("double_bytes", [0, 2**30])
def test_points_of_a_column_add_up(double_bytes, monkeypatch):
    monkeypatch.setattr(spreading, "MAX_DOUBLE_BYTES", double_bytes)
    monkeypatch.setattr(spreading, "COLUMNS_AT_ONCE", 2)
    graph = FORMS["sparse"]()
    column = np.arange(40) % 3
    Y = np.zeros((80, 3))
    Y[POINTS, column] = 1.0
    np.testing.assert_allclose(
        spread_units(graph, POINTS, column, 0.8), propagator(graph, 0.8) @ Y, atol=1e-6
    )


@pytest.mark.usefixtures("_never_dense")
def test_the_number_of_threads_does_not_matter(monkeypatch):
    monkeypatch.setattr(spreading, "MAX_DOUBLE_BYTES", 0)
    graph = FORMS["sparse"]()
    expected = spread_units(graph, POINTS, np.arange(40), 0.8)
    monkeypatch.setattr(spreading, "count_threads", lambda: 3)
    np.testing.assert_array_equal(spread_units(graph, POINTS, np.arange(40), 0.8), expected)


@pytest.mark.usefixtures("_never_dense")
def test_no_denormal_numbers(monkeypatch):
    """Along a path of 300 points entries fall by two from each to the next: to 2^-300 in exact numbers."""
    monkeypatch.setattr(spreading, "MAX_DOUBLE_BYTES", 0)
    monkeypatch.setattr(spreading, "COLUMNS_AT_ONCE", 1)
    path = SparseGraph(np.eye(300, k=1) + np.eye(300, k=-1))
    single = spread_units(path, np.array([0, 299]), np.array([0, 1]), 0.8)
    faint = single[single > 0].min()
    assert faint**2 > np.finfo(np.float32).tiny
    assert (single == 0).any()


@pytest.mark.usefixtures("_never_dense")
def test_isolated_points_keep_what_they_have(monkeypatch):
    graph = as_graph(np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]))
    unit = np.array([0.0, 0.0, 1.0])
    np.testing.assert_allclose(spread(graph, unit, 0.8), 0.2 * unit)
    monkeypatch.setattr(spreading, "MAX_DOUBLE_BYTES", 0)
    monkeypatch.setattr(spreading, "COLUMNS_AT_ONCE", 1)
    spread_out = spread_units(graph, np.array([2, 0]), np.array([0, 1]), 0.8)
    np.testing.assert_allclose(spread_out[:, 0], 0.2 * unit)


def test_on_a_very_large_graph_what_is_wanted_roughly_is_spread_in_single_precision(monkeypatch):
    graph = FORMS["sparse"]()
    block = np.random.default_rng(2).standard_normal((80, 3))
    expected = propagator(graph, 0.8) @ block
    monkeypatch.setattr(spreading, "MIN_SINGLE_NODES", 80)
    rough, exact = (spread(graph, block, 0.8, tolerance) for tolerance in (1e-5, 1e-14))
    # The residual is one part in 1e5 of the right-hand side, and the system no worse than 1 / (1 - alpha).
    sizes = np.linalg.norm(block, axis=0)
    assert np.all(np.linalg.norm(rough - expected, axis=0) < 1e-5 * sizes)
    assert not np.array_equal(rough, exact)
    np.testing.assert_allclose(exact, expected, atol=1e-12)
