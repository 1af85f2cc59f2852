"""Adjusted graphs against eq. 4 as printed, two cases entry by entry."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.csgraph import connected_components

from sidecut.graphs import DenseGraph, Gaussian, GaussianGraph, Heat, Neighbors, SparseGraph, as_graph
from sidecut.methods.e2cp.adjustment import AdjustedGraph, adjust_graph, adjust_weights
from sidecut.methods.e2cp.propagation import AgreementMatrix, LowRankMatrix

X = np.random.default_rng(0).normal(size=(60, 2))


def eq4(W, F):
    """Eq. 4, literally."""
    result = np.empty_like(W)
    for i in range(len(W)):
        for j in range(len(W)):
            result[i, j] = 1 - (1 - F[i, j]) * (1 - W[i, j]) if F[i, j] >= 0 else (1 + F[i, j]) * W[i, j]
    return result


def beliefs(kind):
    rng = np.random.default_rng(1)
    factor = rng.exponential(size=(60, 3)) * 0.2
    core = np.array([[0.0, 1.0, -0.5], [1.0, 0.0, -1.0], [-0.5, -1.0, 0.3]])
    return {
        "labels": AgreementMatrix(factor),
        "strong labels": AgreementMatrix(factor, 20.0),
        "pairs": LowRankMatrix(factor, sp.csr_array(core)),
        "apart": LowRankMatrix(factor, -np.abs(core)),
        "together": LowRankMatrix(factor, np.abs(core)),
        "nothing": LowRankMatrix(np.zeros((60, 0)), np.zeros((0, 0))),
    }[kind]


KINDS = ["labels", "strong labels", "pairs", "apart", "together", "nothing"]
FORMS = {
    "dense": lambda: Gaussian(1.0).build(X),
    "self-loops": lambda: DenseGraph(GaussianGraph(X, 1.0, self_loops=True).toarray()),
    "sparse": lambda: Neighbors(5).build(X),
    "tiled": lambda: GaussianGraph(X, 1.0),
    "only applied": lambda: Heat(2.0).build(X),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", KINDS)
def test_every_form_is_eq4(form, kind):
    graph, F = FORMS[form](), beliefs(kind)
    expected = eq4(graph.toarray(), np.clip(F.toarray(), -1, 1))
    lazy = AdjustedGraph(graph, F)
    rows, columns = np.random.default_rng(2).integers(0, 60, size=(2, 80))
    block = np.random.default_rng(3).normal(size=(60, 4))
    np.testing.assert_allclose(adjust_graph(graph, F).toarray(), expected, atol=1e-12)
    np.testing.assert_allclose(lazy.toarray(), expected, atol=1e-12)
    np.testing.assert_allclose(lazy.apply(block), expected @ block, atol=1e-11)
    np.testing.assert_allclose(lazy.degrees, expected.sum(axis=1), rtol=1e-11)
    np.testing.assert_allclose(lazy.weights_at(rows, columns), expected[rows, columns], atol=1e-12)
    np.testing.assert_allclose(lazy.tile(slice(10, 20)), expected[10:20], atol=1e-12)


@given(st.floats(0, 1), st.floats(-1, 1))
@settings(deadline=None)
def test_proposition_1_as_amended(w, f):
    """Nonnegative; not less than W where F >= 0, not more where F < 0, and less unless W is zero."""
    changed = float(adjust_weights(np.array(w), np.array(f)))
    assert changed >= 0
    assert changed <= 1 + 1e-15
    if f >= 0:
        assert changed >= w - 1e-15
    elif w * f < -1e-15:
        assert changed < w
    else:
        assert changed <= w


@given(st.floats(0, 1), st.floats(-5, 5), st.floats(0.1, 100))
@settings(deadline=None)
def test_the_unit_of_weights_does_not_matter(w, f, unit):
    scaled = adjust_weights(np.array(unit * w), np.array(f), unit)
    np.testing.assert_allclose(
        scaled, unit * adjust_weights(np.array(w), np.array(f)), rtol=1e-12, atol=1e-14
    )


def test_cannot_links_alone_leave_a_sparse_graph_sparse(monkeypatch):
    monkeypatch.setitem(adjust_graph.__globals__, "DENSE_NODES", 0)
    graph = Neighbors(5).build(X)
    changed = adjust_graph(graph, beliefs("apart"))
    assert isinstance(changed, SparseGraph)
    assert changed.matrix.nnz <= graph.matrix.nnz
    assert isinstance(adjust_graph(graph, beliefs("labels")), AdjustedGraph)


def test_what_is_in_memory_has_the_form_of_the_graph():
    assert isinstance(adjust_graph(Neighbors(5).build(X), beliefs("labels")), SparseGraph)
    assert isinstance(adjust_graph(Gaussian(1.0).build(X), beliefs("labels")), DenseGraph)
    assert isinstance(adjust_graph(GaussianGraph(X, 1.0), beliefs("labels")), AdjustedGraph)
    assert isinstance(adjust_graph(Heat(2.0).build(X), beliefs("labels")), DenseGraph)


@given(seed=st.integers(0, 200), n_parts=st.integers(2, 70))
@settings(deadline=None)
def test_components_are_those_of_the_dense_graph(seed, n_parts):
    """Parts without an edge between them, joined or not by beliefs; one part in five has no edges at all."""
    rng = np.random.default_rng(seed)
    part = rng.integers(0, n_parts, size=80)
    W = (part[:, None] == part) * (rng.random((80, 80)) < 0.6) * (part % 5 > 0)
    W = np.triu(W, 1) + np.triu(W, 1).T
    # Known points in a few parts, and what is known stays within the part of the point it is about.
    points = rng.choice(80, size=4, replace=False)
    factor = (part[:, None] == part[points]) * rng.uniform(0.1, 0.5, size=(80, 4))
    core = np.array([[0, 1, 0, 0], [1, 0, -1, 0], [0, -1, 0, -1], [0, 0, -1, 0.0]])
    graph = AdjustedGraph(as_graph(W.astype(float)), LowRankMatrix(factor, core))
    sparse = AdjustedGraph(SparseGraph(sp.csr_array(W.astype(float))), graph.propagated)
    dense = graph.toarray()
    expected = connected_components(sp.csr_array(dense > 0), directed=False)[1]
    isolated = dense.sum(axis=1) == 0
    np.testing.assert_array_equal(sparse.components == -1, isolated)
    same = expected[~isolated][:, None] == expected[~isolated]
    found = sparse.components[~isolated]
    np.testing.assert_array_equal(found[:, None] == found, same)
