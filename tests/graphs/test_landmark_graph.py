"""Ĝ = ẐᵀẐ is a graph like any other."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score

from sidecut import CSP, E2CP, NCSC, NormalizedCut
from sidecut.constraints import sample_labels
from sidecut.graphs import LandmarkGraph, Landmarks, NormalizedAffinity, SparseGraph
from sidecut.spectral import laplacian_eigenpairs


@pytest.fixture(scope="module")
def clouds():
    rng = np.random.default_rng(0)
    y = np.arange(240) % 3
    return rng.normal(size=(240, 2)) + 5.0 * np.array([[0, 0], [1, 0], [0, 1]])[y], y


@pytest.fixture(scope="module")
def graph(clouds):
    return Landmarks(60, 5, random_state=0).build(clouds[0])


def test_the_graph_is_the_product_of_its_codes(graph):
    Z = graph.codes.toarray()
    expected = Z @ np.diag(1.0 / Z.sum(axis=0)) @ Z.T
    np.testing.assert_allclose(graph.toarray(), expected, atol=1e-14)
    block = np.random.default_rng(1).normal(size=(240, 4))
    np.testing.assert_allclose(graph.apply(block), expected @ block, atol=1e-12)
    np.testing.assert_allclose(graph @ block[:, 0], expected @ block[:, 0], atol=1e-12)


def test_every_degree_is_one(graph):
    np.testing.assert_array_equal(graph.degrees, 1.0)
    np.testing.assert_allclose(graph.apply(np.ones(240)), 1.0, atol=1e-14)
    assert graph.volume == 240


def test_weights_of_pairs(graph):
    rows, columns = np.random.default_rng(2).integers(0, 240, size=(2, 50))
    np.testing.assert_allclose(graph.weights_at(rows, columns), graph.toarray()[rows, columns], atol=1e-15)


@pytest.mark.parametrize("n_nearest", [1, 2, 3])
def test_components_are_those_of_the_weights(clouds, n_nearest):
    graph = Landmarks(60, n_nearest, random_state=0).build(clouds[0])
    n_found, expected = connected_components(sp.csr_array(graph.toarray()), directed=False)
    assert graph.n_components == n_found
    assert adjusted_rand_score(expected, graph.components) == 1.0
    null = NormalizedAffinity(graph).null_vectors.toarray()
    np.testing.assert_allclose(graph.toarray() @ null, null, atol=1e-12)


def test_a_weight_that_vanishes_links_nothing():
    codes = sp.csr_array((np.array([1.0, 0.0, 1.0]), np.array([0, 1, 1]), np.array([0, 2, 3])), shape=(2, 2))
    assert LandmarkGraph(codes).n_components == 2


def test_eigenvectors_of_the_factored_graph_are_those_of_the_matrix(graph):
    ours = laplacian_eigenpairs(graph, 4, random_state=0)
    explicit = laplacian_eigenpairs(SparseGraph(sp.csr_array(graph.toarray())), 4, random_state=0)
    np.testing.assert_allclose(ours.values, explicit.values, atol=1e-8)


@pytest.mark.parametrize("method", [NormalizedCut, E2CP, CSP, NCSC])
def test_methods_run_on_it_unchanged(clouds, method):
    X, y = clouds
    known = None if method is NormalizedCut else sample_labels(y, 15, random_state=0)
    model = method(3, affinity=Landmarks(60, 5, random_state=0), random_state=0).fit(X, constraints=known)
    assert adjusted_rand_score(y, model.labels_) > 0.9


def test_the_recipe_is_one(clouds):
    recipe = Landmarks(40, landmarks="kmeans", sigma=2.0, random_state=1)
    copy = clone(recipe)
    assert copy.get_params() == recipe.get_params()
    np.testing.assert_array_equal(
        copy.build(clouds[0]).codes.toarray(), recipe.build(clouds[0]).codes.toarray()
    )
