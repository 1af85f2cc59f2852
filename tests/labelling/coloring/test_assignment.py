"""The cheapest assignment of nodes that must be apart."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecut.labelling.coloring import (
    MAX_SEARCHED_NODES,
    Assigner,
    exchange_chains,
    solve_programme,
)
from sidecut.labelling.conflict_graph import ConflictGraph, find_colouring, search


def cost_of(cost, clusters):
    return cost[np.arange(len(cost)), clusters].sum()


def respects(graph, clusters):
    return (clusters[graph.edges[:, 0]] != clusters[graph.edges[:, 1]]).all()


def cheapest(graph, cost):
    every = (np.array(c) for c in product(range(cost.shape[1]), repeat=graph.n_nodes))
    return min(cost_of(cost, c) for c in every if respects(graph, c))


def planted(rng, n_nodes, n_links, n_clusters):
    """Random edges between nodes of different hidden clusters: an assignment exists."""
    hidden = rng.integers(0, n_clusters, n_nodes)
    pairs = rng.integers(0, n_nodes, size=(n_links, 2))
    pairs = np.unique(np.sort(pairs[hidden[pairs[:, 0]] != hidden[pairs[:, 1]]], axis=1), axis=0)
    nodes = np.unique(pairs)
    graph = ConflictGraph(n_nodes, pairs).induced(nodes)
    return graph, hidden[nodes]


@given(st.integers(0, 10_000))
def test_small_islands_of_any_form_are_exact(seed):
    rng = np.random.default_rng(seed)
    n_clusters = int(rng.integers(2, 5))
    graph, hidden = planted(rng, 7, int(rng.integers(2, 14)), n_clusters)
    if graph.n_nodes == 0:
        return
    cost = rng.random((graph.n_nodes, n_clusters))
    clusters = Assigner(graph, hidden).assign(cost)
    assert respects(graph, clusters)
    assert cost_of(cost, clusters) == pytest.approx(cheapest(graph, cost), abs=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_large_trees_are_exact(seed):
    rng = np.random.default_rng(seed)
    n_nodes = 200
    parents = [int(rng.integers(0, i)) for i in range(1, n_nodes)]
    tree = ConflictGraph(n_nodes, np.column_stack([parents, np.arange(1, n_nodes)]))
    cost = rng.random((n_nodes, 2))
    depth = np.zeros(n_nodes, dtype=int)
    for node, parent in enumerate(parents, start=1):
        depth[node] = depth[parent] + 1
    # Two clusters on a tree: only two assignments respect all edges.
    expected = min(cost_of(cost, depth % 2), cost_of(cost, (depth + 1) % 2))
    clusters = Assigner(tree, depth % 2).assign(cost)
    assert respects(tree, clusters)
    assert cost_of(cost, clusters) == pytest.approx(expected)


def test_trees_of_many_sizes_at_once_are_exact_with_three_clusters():
    rng = np.random.default_rng(1)
    edges, start = [], 0
    sizes = [3, 4, 5, 3, 6]
    for size in sizes:
        edges += [(start + int(rng.integers(0, i)), start + i) for i in range(1, size)]
        start += size
    forest = ConflictGraph(start, np.array(edges))
    cost = rng.random((start, 3))
    clusters = Assigner(forest, find_colouring(forest, 3, 1000).colours).assign(cost)
    expected = sum(cheapest(forest.induced(island), cost[island]) for island in forest.components())
    assert respects(forest, clusters)
    assert cost_of(cost, clusters) == pytest.approx(expected)


@pytest.mark.parametrize("seed", range(4))
def test_large_knots_never_get_worse_and_no_chain_gains(seed):
    rng = np.random.default_rng(seed)
    graph, hidden = planted(rng, 150, 400, 4)
    assert max(len(island) for island in graph.components()) > MAX_SEARCHED_NODES
    assigner, clusters = Assigner(graph, hidden), None
    for _ in range(5):
        cost = rng.random((graph.n_nodes, 4))
        improved = assigner.assign(cost, clusters)
        assert respects(graph, improved)
        assert cost_of(cost, improved) <= cost_of(cost, hidden if clusters is None else clusters) + 1e-12
        np.testing.assert_array_equal(exchange_chains(graph, cost, improved), improved)
        clusters = improved


def test_an_exchange_moves_a_whole_chain():
    path = ConflictGraph(4, np.array([[0, 1], [1, 2], [2, 3]]))
    clusters = np.array([0, 1, 0, 1])
    cost = np.array([[1.0, 0.0]] * 4)
    cost[0] = [9.0, 0.0]
    np.testing.assert_array_equal(exchange_chains(path, cost, clusters), [1, 0, 1, 0])


@pytest.mark.parametrize("seed", range(4))
def test_the_integer_programme_finds_what_an_exhaustive_search_finds(seed):
    rng = np.random.default_rng(seed)
    graph = planted(rng, 9, 14, 3)[0]
    cost = rng.random((graph.n_nodes, 3))
    found = solve_programme(graph, cost)
    assert respects(graph, found)
    assert cost_of(cost, found) == pytest.approx(cheapest(graph, cost))


@pytest.mark.parametrize("seed", range(4))
def test_sparse_knots_that_are_assigned_once_are_exact(seed):
    """Too large for the search, so that chains alone would get stuck; the relaxation bounds the cost."""
    rng = np.random.default_rng(seed)
    graph, feasible = planted(rng, 60, 120, 3)
    cost = rng.random((graph.n_nodes, 3))
    assigner = Assigner(graph, feasible)
    best = assigner.assign_best(cost)
    assert respects(graph, best)
    assert cost_of(cost, best) <= cost_of(cost, assigner.assign(cost))
    again = search(graph, cost, 200_000, incumbent=best)
    assert cost_of(cost, again.colours) == pytest.approx(cost_of(cost, best))


def test_dense_knots_are_not_handed_to_the_integer_programme():
    rng = np.random.default_rng(0)
    graph, _ = planted(rng, 30, 300, 3)
    assert solve_programme(graph, rng.random((graph.n_nodes, 3))) is None
