import numpy as np
import pytest
import scipy.sparse as sp

from sidecut.graphs import Neighbors, NormalizedAffinity, Resolvent, ResolventGraph, SparseGraph, as_graph
from sidecut.graphs.kernels import HeatGraph

X = np.random.default_rng(0).normal(size=(40, 2))
GRAPH = Neighbors(5).build(X)


def laplacian(graph):
    return np.eye(graph.n_nodes) - NormalizedAffinity(graph).matrix.toarray()


@pytest.mark.parametrize("sigma", [10.0, 1.0, 0.3, 0.01, 1e-4])
def test_the_kernel_is_the_inverse(sigma):
    expected = np.linalg.inv(laplacian(GRAPH) + sigma * np.eye(40))
    kernel = ResolventGraph(GRAPH, sigma)
    np.testing.assert_allclose(kernel.toarray(), expected, atol=1e-11 * expected.max())
    vector = np.random.default_rng(1).normal(size=40)
    np.testing.assert_allclose(kernel.apply(vector), expected @ vector, atol=1e-11 * expected.max())
    np.testing.assert_allclose(kernel.degrees, expected.sum(axis=1), rtol=1e-10)
    assert (kernel.toarray() > 0).all()


def test_it_is_heat_after_a_random_time():
    times, weights = np.polynomial.laguerre.laggauss(60)
    sigma = 0.5
    average = sum(
        w / sigma * HeatGraph(GRAPH, t / sigma).toarray()
        for t, w in zip(times, weights, strict=True)
        if w > 0
    )
    np.testing.assert_allclose(ResolventGraph(GRAPH, sigma).toarray(), average, atol=1e-6)


def test_eigenvectors_are_those_of_the_graph():
    values, vectors = np.linalg.eigh(laplacian(GRAPH))
    kernel = ResolventGraph(GRAPH, 0.3)
    np.testing.assert_allclose(kernel.apply(vectors), vectors / (values + 0.3), atol=1e-12)


def test_isolated_nodes_and_components():
    weights = np.zeros((5, 5))
    weights[0, 1] = weights[1, 0] = weights[2, 3] = weights[3, 2] = 2.0
    kernel = ResolventGraph(SparseGraph(sp.csr_array(weights)), 0.3)
    np.testing.assert_array_equal(kernel.components, [0, 0, 1, 1, -1])
    np.testing.assert_array_equal(kernel.isolated, [4])


def test_recipe():
    assert Resolvent().build(X).sigma == 0.3
    np.testing.assert_array_equal(
        Resolvent(0.1, neighbors=Neighbors(5)).build(X).toarray(), ResolventGraph(GRAPH, 0.1).toarray()
    )
    words = sp.random_array((30, 12), density=0.5, rng=0, format="csr")
    np.testing.assert_array_equal(
        Resolvent().build(words).graph.toarray(), Neighbors(20, weights="cosine").build(words).toarray()
    )


@pytest.mark.parametrize("sigma", [0.0, -1.0, np.inf, np.nan])
def test_sigma_must_be_positive(sigma):
    with pytest.raises(ValueError, match=r"sigma=.* positive finite"):
        ResolventGraph(as_graph(np.ones((2, 2))), sigma)
