"""A graph is the same graph dense, sparse, or evaluated tile by tile."""

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import adjusted_rand_score

from sidecut.graphs import DenseGraph, Gaussian, GaussianGraph, Graph, SparseGraph, recipes

SIGMA = 1.5


class OnlyApplied(Graph):
    """A graph of which nothing is known but what it does to vectors."""

    def __init__(self, weights):
        self._hidden = weights
        self.n_nodes = weights.shape[0]

    def apply(self, block):
        return self._hidden @ block


FORMS = {
    "array": lambda lazy: lazy.toarray(),
    "dense": lambda lazy: DenseGraph(lazy.toarray()),
    "csr": lambda lazy: sp.csr_array(lazy.toarray()),
    "sparse": lambda lazy: SparseGraph(sp.csr_array(lazy.toarray())),
    "tiled": lambda lazy: lazy,
    "only applied": lambda lazy: OnlyApplied(lazy.toarray()),
    "networkx": lambda lazy: nx.from_numpy_array(lazy.toarray()),
}


@pytest.mark.parametrize("form", FORMS)
def test_the_form_of_a_graph_does_not_matter(graph_case, blobs, known, form):
    X, _ = blobs
    knowledge = graph_case.knows(known)
    lazy = GaussianGraph(X, SIGMA)
    expected = graph_case.make(affinity="precomputed").fit(DenseGraph(lazy.toarray()), constraints=knowledge)
    model = graph_case.make(affinity="precomputed").fit(FORMS[form](lazy), constraints=knowledge)
    np.testing.assert_allclose(model.eigenvalues_, expected.eigenvalues_, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(
        model.affinity_matrix_.toarray(), expected.affinity_matrix_.toarray(), atol=1e-12
    )
    assert adjusted_rand_score(model.labels_, expected.labels_) == 1.0
    assert model.n_features_in_ == 60


def test_points_too_many_for_memory_give_the_same(graph_case, blobs, known, monkeypatch):
    X, _ = blobs
    knowledge = graph_case.knows(known)
    expected = graph_case.make(affinity=Gaussian(SIGMA)).fit(X, constraints=knowledge)
    monkeypatch.setattr(recipes, "IN_MEMORY", 0)
    model = graph_case.make(affinity=Gaussian(SIGMA)).fit(X, constraints=knowledge)
    assert model.affinity_matrix_.matrix is None
    assert expected.affinity_matrix_.matrix is not None
    np.testing.assert_allclose(model.eigenvalues_, expected.eigenvalues_, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(
        model.affinity_matrix_.toarray(), expected.affinity_matrix_.toarray(), atol=1e-12
    )


@pytest.mark.parametrize("eigen_solver", ["dense", "lanczos", "factorized", "iterated"])
def test_solvers_agree(graph_case, blobs, known, eigen_solver):
    X, _ = blobs
    knowledge = graph_case.knows(known)
    expected = graph_case.make(n_neighbors=25).fit(X, constraints=knowledge)
    model = graph_case.make(n_neighbors=25, eigen_solver=eigen_solver).fit(X, constraints=knowledge)
    np.testing.assert_allclose(model.eigenvalues_, expected.eigenvalues_, atol=1e-7)
    assert adjusted_rand_score(model.labels_, expected.labels_) == 1.0


def test_eigenvectors_solve_what_they_claim(graph_case, blobs, known):
    model = graph_case.make(n_neighbors=25).fit(blobs[0], constraints=graph_case.knows(known))
    assert model.solution_.residuals.max() < 1e-5
    assert model.eigenvectors_.shape == (60, model.eigenvalues_.size)
    assert (np.diff(model.eigenvalues_) >= -1e-10).all()
