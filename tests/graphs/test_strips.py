"""Symmetric matrices in strips against the whole matrix."""

import pickle
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp

from sidecut.graphs import GaussianGraph
from sidecut.graphs import lazy as strips
from sidecut.graphs.lazy import KeptStrips, halve, n_bytes
from sidecut.methods.csap.graph import ConditionedGraph


def symmetric(n=30, share=1.0, seed=0):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n, n)) * (rng.random((n, n)) < share)
    return np.triu(A) + np.triu(A, 1).T


def strips_of(A, cuts=(0, 7, 8, 20, 30)):
    slices = [slice(a, b) for a, b in pairwise(cuts)]
    made = []

    def make(rows):
        made.append(rows.start)
        return halve(A[rows, rows.start :])

    return KeptStrips(len(A), slices, make), made


@pytest.mark.parametrize("share", [0.1, 1.0])
@pytest.mark.parametrize("kept", [0, 1500, 2**30])
@pytest.mark.parametrize("n_threads", [1, 3])
def test_the_product_is_that_of_the_matrix(share, kept, n_threads, monkeypatch):
    monkeypatch.setattr(strips, "KEPT_BYTES", kept)
    monkeypatch.setattr("sidecut.graphs.chunks.count_threads", lambda: n_threads)
    A = symmetric(share=share)
    product, _ = strips_of(A)
    X = np.random.default_rng(1).normal(size=(30, 4))
    for _ in range(2):
        np.testing.assert_allclose(product(X), A @ X, atol=1e-12)
        np.testing.assert_allclose(product(X[:, 0]), A @ X[:, 0], atol=1e-12)
    assert product.kept_bytes <= kept


def test_what_fits_is_made_once_and_the_rest_again(monkeypatch):
    A = symmetric()
    monkeypatch.setattr("sidecut.graphs.chunks.count_threads", lambda: 1)
    # Strips have 7 x 30, 1 x 23, 12 x 22 and 10 x 10 entries, none sparse enough to be kept so but the last.
    monkeypatch.setattr(strips, "KEPT_BYTES", 8 * (7 * 30 + 23))
    product, made = strips_of(A)
    product(np.ones(30))
    product(np.ones(30))
    assert made == [0, 7, 8, 20, 8, 20]
    assert sorted(product.kept) == [0, 7]


def test_few_entries_are_kept_sparse():
    dense, _ = strips_of(symmetric(share=1.0), cuts=(0, 3, 30))
    sparse, _ = strips_of(symmetric(share=0.1), cuts=(0, 3, 30))
    dense(np.ones(30))
    sparse(np.ones(30))
    assert isinstance(dense.kept[0], np.ndarray)
    assert sp.issparse(sparse.kept[0])
    for product in (dense, sparse):
        assert product.kept_bytes == sum(n_bytes(strip) for strip in product.kept.values())


def test_a_conditioned_graph_is_made_once(monkeypatch):
    monkeypatch.setattr("sidecut.graphs.graph.TILE_BYTES", 8 * 40 * 7)
    rng = np.random.default_rng(0)
    base = GaussianGraph(rng.normal(size=(40, 2)), 1.0, self_loops=True)
    graph = ConditionedGraph(base, 0.3 * rng.uniform(size=(40, 2)), rng.normal(size=(40, 3)))
    tiles = []
    monkeypatch.setattr(base, "tile", lambda rows: tiles.append(rows) or GaussianGraph.tile(base, rows))
    X = rng.normal(size=(40, 3))
    expected = graph.materialized().toarray() @ X
    made = len(tiles)
    np.testing.assert_allclose(graph.apply(X), expected, atol=1e-12)
    np.testing.assert_allclose(graph.apply(X), expected, atol=1e-12)
    assert len(tiles) == made + 6
    again = pickle.loads(pickle.dumps(ConditionedGraph(GaussianGraph(X, 1.0), np.zeros((40, 1)))))
    assert again.n_nodes == 40
