"""LCSC against the dense projection on UᵀY = 0."""

from functools import partial

import numpy as np
import pytest
import scipy.linalg
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import subspace_angles

from sidecut import LCSC, Constraints, NormalizedCut
from sidecut.exceptions import (
    ConflictError,
    ConstraintError,
    ConstraintWarning,
    LabellingWarning,
)
from sidecut.graphs import DenseGraph, Gaussian, GaussianGraph
from sidecut.methods.ncsc import solve_joined

# The methods themselves are tested here; the guard has tests of its own.
LCSC = partial(LCSC, safe=False)

N = 30


def projected_eigenpairs(weights, links, count):
    """The textbook: L̄ on an orthonormal basis of the vectors V with UᵀD^{-1/2}V = 0."""
    degrees = weights.sum(axis=1)
    U = np.zeros((len(weights), len(links)))
    for column, (i, j) in enumerate(links):
        U[[i, j], column] = 1.0, -1.0
    basis = scipy.linalg.null_space(U.T / np.sqrt(degrees))
    laplacian = np.eye(len(weights)) - weights / np.sqrt(np.outer(degrees, degrees))
    values, vectors = scipy.linalg.eigh(basis.T @ laplacian @ basis)
    return values[: count + 1], basis @ vectors[:, :count]


@given(
    links=st.lists(st.tuples(st.integers(0, N - 1), st.integers(0, N - 1)), min_size=1, max_size=12),
    seed=st.integers(0, 50),
)
@settings(max_examples=30, deadline=None)
def test_contraction_is_the_projection(links, seed):
    """Cycles and repeated links make U rank-deficient; neither route minds."""
    links = [(i, j) for i, j in links if i != j] or [(0, 1)]
    links += [links[0], links[0][::-1]]
    graph = Gaussian(1.0).build(np.random.default_rng(seed).normal(size=(N, 2)))
    sets = Constraints.from_pairs(N, must_link=links).must_link_components()
    pairs = solve_joined(graph, sets, 3)
    values, vectors = projected_eigenpairs(graph.toarray(), links, 3)
    np.testing.assert_allclose(pairs.values, values[:3], atol=1e-10)
    np.testing.assert_allclose(pairs.vectors.T @ pairs.vectors, np.eye(3), atol=1e-10)
    if values[3] - values[2] > 1e-3:
        assert subspace_angles(pairs.vectors, vectors).max() < 1e-6


@given(seed=st.integers(0, 100), n_links=st.integers(1, 40))
@settings(max_examples=20, deadline=None)
def test_must_links_always_hold(seed, n_links):
    rng = np.random.default_rng(seed)
    X, pairs = rng.normal(size=(60, 2)), rng.integers(0, 60, size=(n_links, 2))
    links = Constraints.from_pairs(60, must_link=pairs[pairs[:, 0] != pairs[:, 1]])
    model = LCSC(3, safe=False, affinity="gaussian", random_state=0).fit(X, constraints=links)
    assert links.satisfaction(model.labels_) == 1.0


def test_the_form_of_the_graph_does_not_matter():
    X = np.random.default_rng(1).normal(size=(40, 2))
    lazy = GaussianGraph(X, 1.0)
    sets = np.minimum(np.arange(40), 35)
    one, other = (solve_joined(g, sets, 4) for g in (lazy, DenseGraph(lazy.toarray())))
    np.testing.assert_allclose(one.values, other.values, atol=1e-10)


def test_cannot_links_alone_leave_the_normalized_cut():
    X = np.random.default_rng(0).normal(size=(50, 2))
    links = Constraints.from_pairs(50, cannot_link=[(0, 1)])
    common = {"n_clusters": 3, "affinity": "gaussian", "random_state": 0}
    model = LCSC(safe=False, cannot_links="ignore", **common).fit(X, constraints=links)
    np.testing.assert_array_equal(model.labels_, NormalizedCut(**common).fit(X).labels_)


def test_cannot_links_are_not_used_in_silence():
    X = np.random.default_rng(0).normal(size=(50, 2))
    links = Constraints.from_pairs(50, must_link=[(2, 3)], cannot_link=[(0, 1), (1, 2)])
    with pytest.warns(ConstraintWarning, match="2 are given: only the 1 must-links count"):
        LCSC(3, safe=False, affinity="gaussian", random_state=0).fit(X, constraints=links)
    with pytest.raises(ConstraintError, match="LCSC cannot use cannot-links"):
        LCSC(3, safe=False, affinity="gaussian", cannot_links="raise").fit(X, constraints=links)
    with pytest.raises(ValueError, match="cannot_links='never': choose one of"):
        LCSC(3, safe=False, cannot_links="never").fit(X, constraints=links)


def test_contradictions_are_refused_or_left_out_knowingly():
    X = np.random.default_rng(0).normal(size=(50, 2))
    links = Constraints.from_pairs(50, [(0, 1), (1, 2)], [(0, 2)], on_conflict="weigh")
    with pytest.raises(ConflictError, match=r"cannot_link \(0, 2\) contradicts the must-links 0 - 1 - 2"):
        LCSC(3, safe=False, affinity="gaussian").fit(X, constraints=links)
    model = LCSC(3, safe=False, affinity="gaussian", cannot_links="ignore", random_state=0).fit(
        X, constraints=links
    )
    assert len(set(model.labels_[:3])) == 1


def test_fewer_sets_than_clusters():
    X = np.random.default_rng(0).normal(size=(10, 2))
    links = Constraints.from_labels([0] * 5 + [1] * 5)
    model = LCSC(3, safe=False, affinity="gaussian", cannot_links="ignore", random_state=0)
    with (
        pytest.warns(ConstraintWarning, match="10 points into 2 sets, fewer than the 3 clusters"),
        pytest.warns(LabellingWarning),
    ):
        model.fit(X, constraints=links)
    assert len(set(model.labels_)) == 2


def test_a_point_without_neighbours_follows_its_must_link():
    X = np.vstack([np.random.default_rng(0).normal(size=(20, 2)), np.full((1, 2), 1e3)])
    X[10:20] += 8.0
    links = Constraints.from_pairs(21, must_link=[(20, 15)])
    model = LCSC(2, safe=False, affinity=Gaussian(1.0), random_state=0).fit(X, constraints=links)
    assert model.labels_[20] == model.labels_[15] != model.labels_[0]
