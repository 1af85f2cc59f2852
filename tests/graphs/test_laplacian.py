import numpy as np
import pytest
import scipy.sparse as sp
from scipy.linalg import block_diag

from sidecut.graphs import DenseGraph, FactorGraph, Graph, NormalizedAffinity, SparseGraph


class AppliedGraph(Graph):
    """A graph without a matrix, to take the other road through NormalizedAffinity."""

    def __init__(self, weights):
        self.weights, self.n_nodes = weights, len(weights)

    def apply(self, block):
        return self.weights @ block


def three_components_and_two_loners(seed=0):
    rng = np.random.default_rng(seed)
    blocks = [np.triu(rng.random((size, size)) + 0.1, 1) for size in (4, 1, 6, 3, 1)]
    weights = block_diag(*blocks)
    weights = weights + weights.T
    weights[6, 6] = 0.7  # a self-loop, which counts in the degree
    order = rng.permutation(len(weights))
    return weights[np.ix_(order, order)]


WEIGHTS = three_components_and_two_loners()
FORMS = {"dense": DenseGraph, "sparse": lambda w: SparseGraph(sp.csr_array(w)), "applied": AppliedGraph}


def textbook(weights):
    degrees = weights.sum(axis=1)
    return np.array(
        [[w / np.sqrt(di * dj) if w else 0.0 for w, dj in zip(row, degrees, strict=True)]
         for row, di in zip(weights, degrees, strict=True)]
    )  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("shape", [(15,), (15, 4)])
def test_apply_is_the_textbook_matrix(form, shape):
    block = np.random.default_rng(1).normal(size=shape)
    affinity = NormalizedAffinity(FORMS[form](WEIGHTS))
    np.testing.assert_allclose(affinity.apply(block), textbook(WEIGHTS) @ block, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_the_matrix_is_explicit_where_the_graph_is(form):
    matrix = NormalizedAffinity(FORMS[form](WEIGHTS)).matrix
    matrix = matrix.toarray() if sp.issparse(matrix) else matrix
    np.testing.assert_allclose(matrix, textbook(WEIGHTS), rtol=1e-14)


def test_a_graph_that_is_only_applied_has_no_matrix():
    assert NormalizedAffinity(AppliedGraph(WEIGHTS)).matrix is None


def test_the_spectrum_lies_in_minus_one_to_one():
    values = np.linalg.eigvalsh(NormalizedAffinity(DenseGraph(WEIGHTS)).matrix)
    assert values.min() >= -1 - 1e-14
    assert values.max() <= 1 + 1e-14
    assert np.isclose(values, 1.0).sum() == 3  # one per component; isolated nodes have eigenvalue 0


@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_null_vectors_are_an_orthonormal_basis_of_the_null_space(form):
    affinity = NormalizedAffinity(FORMS[form](WEIGHTS))
    null = affinity.null_vectors.toarray()
    assert null.shape == (15, 3)
    np.testing.assert_allclose(null.T @ null, np.eye(3), atol=1e-15)
    np.testing.assert_allclose(affinity.apply(null), null, atol=1e-15)


@pytest.mark.parametrize("scale", [1e-300, 1e-150, 1e150, 1e300])
def test_the_scale_of_the_weights_does_not_matter(scale):
    affinity = NormalizedAffinity(DenseGraph(scale * WEIGHTS))
    np.testing.assert_allclose(affinity.matrix, textbook(WEIGHTS), rtol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(affinity.null_vectors.toarray(), axis=0), 1.0)


def test_isolated_nodes_have_zero_rows():
    affinity = NormalizedAffinity(DenseGraph(WEIGHTS))
    loners = np.flatnonzero(WEIGHTS.sum(axis=1) == 0)
    assert loners.size == 2
    assert not affinity.matrix[loners].any()
    assert not affinity.scale[loners].any()


def test_null_vectors_of_a_factor_graph():
    affinity = NormalizedAffinity(FactorGraph(np.random.default_rng(2).random((9, 3))))
    null = affinity.null_vectors.toarray()
    np.testing.assert_allclose(affinity.apply(null), null, atol=1e-14)
