"""Dense computations that the solvers are held against, and small graphs to hold them on."""

from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

from sidecut.exceptions import SpectralError
from sidecut.graphs import Graph, SparseGraph


class AppliedGraph(Graph):
    """A graph that can only be applied; it may know itself as sparse plus low rank."""

    split = None

    def __init__(self, weights, split=None):
        self.weights, self.n_nodes, self.split = weights, len(weights), split

    def apply(self, block):
        return self.weights @ block


def dense_laplacian(weights):
    """L̄ by its definition; an isolated node has a one on the diagonal."""
    weights = weights.toarray() if sp.issparse(weights) else np.asarray(weights)
    root = np.sqrt(weights.sum(axis=1))
    scale = np.divide(1.0, root, out=np.zeros_like(root), where=root > 0)
    return np.eye(len(weights)) - scale[:, None] * weights * scale[None, :]


def assert_same_eigenspaces(values, vectors, true_values, true_vectors, *, gap=1e-6, atol=1e-6):
    """Compare eigenspaces, never vectors inside a degenerate one, and not one that `values` cuts in two."""
    np.testing.assert_allclose(values, true_values[: len(values)], atol=atol)
    cuts = [0, *(np.flatnonzero(np.diff(true_values) > gap) + 1), len(true_values)]
    for first, last in pairwise(cuts):
        if first >= len(values):
            break
        overlap = true_vectors[:, first:last].T @ vectors[:, first : min(last, len(values))]
        cosines = np.linalg.svd(overlap, compute_uv=False)
        np.testing.assert_allclose(cosines, 1.0, atol=atol)


def assert_truthful(pairs, laplacian, *, atol=1e-7):
    """Orthonormal, oriented, and with residuals that are what they say."""
    vectors = pairs.vectors
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(vectors.shape[1]), atol=1e-8)
    largest = np.abs(vectors).argmax(axis=0)
    assert np.all(vectors[largest, np.arange(vectors.shape[1])] > 0)
    residuals = np.linalg.norm(laplacian @ vectors - vectors * pairs.values, axis=0)
    np.testing.assert_allclose(pairs.residuals, residuals, atol=1e-12)
    assert residuals.max() < 10 * atol
    assert np.all(np.diff(pairs.values) >= -1e-12)
    assert pairs.values.min() >= 0


def grid(*sides):
    """The adjacency matrix of a grid."""
    total = sp.csr_array((1, 1))
    for side in sides:
        path = sp.diags_array([1.0, 1.0], offsets=[-1, 1], shape=(side, side))
        total = sp.kronsum(total, path) if total.shape[0] > 1 else path
    return sp.csr_array(total)


def ring(n):
    return sp.csr_array(grid(n) + sp.coo_array(([1.0, 1.0], ([0, n - 1], [n - 1, 0])), shape=(n, n)))


def regular(n, degree, seed):
    """A random graph in which every node has about `degree` neighbours: an expander."""
    rng = np.random.default_rng(seed)
    total = sp.csr_array((n, n))
    for _ in range(degree // 2):
        order = rng.permutation(n)
        total = total + sp.csr_array((np.ones(n), (order, np.roll(order, 1))), shape=(n, n))
    return sp.csr_array(((total + total.T) > 0).astype(float))


def chained(blocks, weight, seed=0):
    """Blocks joined in a chain by single edges of a small weight."""
    rng = np.random.default_rng(seed)
    sizes = [block.shape[0] for block in blocks]
    starts = np.concatenate([[0], np.cumsum(sizes)])
    joined = sp.lil_array(sp.block_diag([sp.coo_array(block) for block in blocks]))
    for b in range(len(blocks) - 1):
        i, j = starts[b] + rng.integers(sizes[b]), starts[b + 1] + rng.integers(sizes[b + 1])
        joined[i, j] = joined[j, i] = weight
    return SparseGraph(joined.tocsr())


def failing(message):
    """A solver that gives up."""

    def solve(*args, **kwargs):
        raise SpectralError(message)

    return solve


@pytest.fixture(scope="session")
def textbook():
    return SimpleNamespace(
        AppliedGraph=AppliedGraph,
        dense_laplacian=dense_laplacian,
        assert_same_eigenspaces=assert_same_eigenspaces,
        assert_truthful=assert_truthful,
        grid=grid,
        ring=ring,
        regular=regular,
        chained=chained,
        failing=failing,
    )
