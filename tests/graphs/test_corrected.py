import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from sidecut.graphs import (
    CorrectedGraph,
    DenseGraph,
    FactorGraph,
    GaussianGraph,
    Graph,
    HeatGraph,
    SelfTuningGraph,
    SparseGraph,
    TiledGraph,
    correct_weights,
)


class AppliedGraph(Graph):
    """A graph that can only be applied."""

    def __init__(self, weights):
        self.weights, self.n_nodes = weights, len(weights)

    def apply(self, block):
        return self.weights @ block


class Tiles(TiledGraph):
    def __init__(self, weights):
        self.weights, self.n_nodes = weights, len(weights)

    def tile(self, rows):
        return self.weights[rows]


FORMS = {
    "dense": DenseGraph,
    "sparse": lambda weights: SparseGraph(sp.csr_array(weights)),
    "applied": AppliedGraph,
    "tiled": Tiles,
}


def symmetric(rng, n, density):
    upper = np.triu(rng.random((n, n)) * (rng.random((n, n)) < density))
    return upper + np.triu(upper, 1).T


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=40, deadline=None)
@given(n=st.integers(1, 10), seed=st.integers(0, 10**6))
def test_the_sum_of_weights_and_correction(form, n, seed):
    rng = np.random.default_rng(seed)
    weights = symmetric(rng, n, 0.6)
    # Changes of both signs that take away no more than there is.
    change = symmetric(rng, n, 0.4) - weights * (symmetric(rng, n, 0.4) > 0)
    graph = correct_weights(FORMS[form](weights), sp.csr_array(change))
    np.testing.assert_allclose(graph.toarray(), weights + change, atol=1e-15)
    np.testing.assert_allclose(graph.degrees, (weights + change).sum(axis=1), atol=1e-13)
    block = rng.standard_normal((n, 3))
    np.testing.assert_allclose(graph.apply(block), (weights + change) @ block, atol=1e-13)
    np.testing.assert_allclose(graph.apply(block[:, 0]), (weights + change) @ block[:, 0], atol=1e-13)


@pytest.mark.parametrize(
    ("form", "expected"),
    [("dense", DenseGraph), ("sparse", SparseGraph), ("applied", CorrectedGraph), ("tiled", CorrectedGraph)],
)
def test_the_form_is_kept_where_there_is_one(form, expected):
    weights = symmetric(np.random.default_rng(0), 6, 0.8)
    graph = FORMS[form](weights)
    before = weights.copy()
    assert isinstance(correct_weights(graph, sp.csr_array(np.eye(6))), expected)
    np.testing.assert_array_equal(weights, before)
    np.testing.assert_array_equal(graph.toarray(), before)


def test_entries_given_twice_add_up_in_every_form():
    weights = np.ones((3, 3))
    twice = sp.coo_array(([1.0, 1.0, 1.0, 1.0], ([0, 0, 1, 1], [1, 1, 0, 0])), shape=(3, 3))
    for form in FORMS.values():
        assert correct_weights(form(weights), twice.tocsr()).toarray()[0, 1] == 3.0


def test_a_link_taken_away_parts_components():
    weights = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0.0]])
    cut = sp.csr_array(([-1.0, -1.0], ([1, 2], [2, 1])), shape=(3, 3))
    for form in ("dense", "sparse"):
        graph = correct_weights(FORMS[form](weights), cut)
        assert graph.n_components == 1
        np.testing.assert_array_equal(graph.isolated, [2])


def test_components_of_an_applied_correction_need_its_skeleton():
    # Nodes 0-1, 2-3 and 4 alone; the correction joins 1 and 2.
    weights = sp.csr_array(([1.0] * 4, ([0, 1, 2, 3], [1, 0, 3, 2])), shape=(5, 5))
    correction = sp.csr_array(([1.0, 1.0], ([1, 2], [2, 1])), shape=(5, 5))
    graph = CorrectedGraph(SparseGraph(weights), correction.__matmul__, skeleton=correction)
    np.testing.assert_array_equal(graph.components, [0, 0, 0, 0, -1])
    parted = CorrectedGraph(SparseGraph(weights), lambda block: 0 * block, skeleton=sp.csr_array((5, 5)))
    np.testing.assert_array_equal(parted.components, [0, 0, 1, 1, -1])
    blind = CorrectedGraph(SparseGraph(weights), correction.__matmul__)
    assert blind.n_components == 1


def every_kind():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((12, 3))
    weights = symmetric(rng, 12, 0.5)
    factor = rng.random((12, 4)) * (rng.random((12, 4)) < 0.7)
    sparse = SparseGraph(sp.csr_array(weights))
    return {
        "dense": DenseGraph(weights),
        "sparse": sparse,
        "applied": AppliedGraph(weights),
        "tiled": Tiles(weights),
        "gaussian": GaussianGraph(X, 1.0),
        "self-tuning": SelfTuningGraph(X, np.linspace(0.5, 2.0, 12)),
        "factor": FactorGraph(factor),
        "sparse factor": FactorGraph(sp.csr_array(factor)),
        "heat": HeatGraph(sparse, 2.0),
        "corrected": CorrectedGraph(AppliedGraph(weights), lambda block: 0.5 * block),
    }


@pytest.mark.parametrize("kind", every_kind())
def test_weights_at_some_pairs_are_those_of_the_matrix(kind):
    graph = every_kind()[kind]
    rng = np.random.default_rng(1)
    rows, columns = rng.integers(0, 12, (2, 60))
    # Some pairs twice, some on the diagonal, some both ways round.
    rows, columns = np.r_[rows, rows[:5], 3, columns[:5]], np.r_[columns, columns[:5], 3, rows[:5]]
    dense = graph.toarray()
    found = graph.weights_at(rows, columns)
    np.testing.assert_allclose(found, dense[rows, columns], rtol=1e-12, atol=1e-14)
    assert found.dtype == np.float64
    assert found.shape == rows.shape


@pytest.mark.parametrize("kind", every_kind())
def test_weights_at_no_pairs_are_none(kind):
    nothing = np.array([], dtype=np.intp)
    assert every_kind()[kind].weights_at(nothing, nothing).shape == (0,)
