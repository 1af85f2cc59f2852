"""Branch and bound against all colourings there are."""

from itertools import product

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sidecut.labelling.conflict_graph import ConflictGraph, search


@st.composite
def problems(draw):
    """A small graph, and what each colour costs at each node."""
    n_nodes, n_colours = draw(st.integers(1, 6)), draw(st.integers(1, 4))
    pairs = [(i, j) for i in range(n_nodes) for j in range(i + 1, n_nodes)]
    edges = [pair for pair in pairs if draw(st.booleans())]
    costs = st.lists(st.integers(0, 9), min_size=n_colours, max_size=n_colours)
    cost = draw(st.lists(costs, min_size=n_nodes, max_size=n_nodes))
    return ConflictGraph(n_nodes, np.array(edges, dtype=np.int64).reshape(-1, 2)), np.array(cost, dtype=float)


def all_costs(graph, cost):
    """What every colouring costs, by looking at all."""
    nodes = np.arange(graph.n_nodes)
    for colours in product(range(cost.shape[1]), repeat=graph.n_nodes):
        colours = np.array(colours)
        if respects(graph, colours):
            yield cost[nodes, colours].sum()


def respects(graph, colours):
    return (colours[graph.edges[:, 0]] != colours[graph.edges[:, 1]]).all()


@given(problems())
def test_the_cheapest_of_all_colourings_is_found(problem):
    graph, cost = problem
    found = search(graph, cost, 100_000)
    best = min(all_costs(graph, cost), default=None)
    assert found.complete
    if best is None:
        assert found.colours is None
    else:
        assert respects(graph, found.colours)
        assert cost[np.arange(graph.n_nodes), found.colours].sum() == best


@given(problems())
def test_interchangeable_colours_decide_the_same(problem):
    graph, cost = problem
    plain = search(graph, np.zeros_like(cost), 100_000)
    short = search(graph, np.zeros_like(cost), 100_000, interchangeable=True)
    assert (plain.colours is None) == (short.colours is None)
    assert short.n_steps <= plain.n_steps


def test_two_colours_never_turn_back():
    rng = np.random.default_rng(0)
    side = rng.integers(0, 2, 400)
    pairs = rng.integers(0, 400, size=(900, 2))
    pairs = np.unique(np.sort(pairs[side[pairs[:, 0]] != side[pairs[:, 1]]], axis=1), axis=0)
    graph = ConflictGraph(400, pairs)
    found = search(graph, np.zeros((400, 2)), 10_000, first_only=True, interchangeable=True)
    assert respects(graph, found.colours)
    assert found.n_steps == 400


def test_steps_that_run_out_prove_nothing():
    clique = ConflictGraph(7, np.column_stack(np.triu_indices(7, k=1)))
    found = search(clique, np.random.default_rng(0).random((7, 6)), 20)
    assert found.colours is None
    assert not found.complete
    assert found.n_steps == 20
    assert search(clique, np.zeros((7, 6)), 100_000, interchangeable=True).complete


def test_an_incumbent_is_never_made_worse():
    path = ConflictGraph(3, np.array([[0, 1], [1, 2]]))
    best = np.array([0, 1, 0])
    cost = np.where(np.eye(2)[best] == 1, 0.0, 1.0)
    np.testing.assert_array_equal(search(path, cost, 100, incumbent=best).colours, best)
    dear = search(path, cost, 100, incumbent=1 - best)
    np.testing.assert_array_equal(dear.colours, best)


def test_long_chains_do_not_exhaust_the_stack():
    length = 2_000
    chain = ConflictGraph(length, np.column_stack([np.arange(length - 1), np.arange(1, length)]))
    found = search(chain, np.zeros((length, 2)), 2 * length, first_only=True, interchangeable=True)
    assert respects(chain, found.colours)
