from itertools import combinations, product

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sidecut.labelling.coloring import branch_and_bound, violate_least
from sidecut.labelling.conflict_graph import ConflictGraph


def best_by_listing(costs, edges, strengths):
    """Least violation and, among those ways, least cost, by trying every colouring."""
    n_nodes, n_colours = costs.shape
    keys = []
    for colours in product(range(n_colours), repeat=n_nodes):
        colours = np.array(colours)
        violated = strengths[colours[edges[:, 0]] == colours[edges[:, 1]]].sum()
        keys.append((violated, costs[np.arange(n_nodes), colours].sum()))
    return min(keys)


def compromise(costs, edges, strengths):
    return violate_least(costs, ConflictGraph(len(costs), edges), strengths)


def random_graph(n_nodes, share, rng):
    pairs = np.array(list(combinations(range(n_nodes), 2)))
    return pairs[rng.random(len(pairs)) < share]


@given(seed=st.integers(0, 10_000), n_nodes=st.integers(2, 6), n_colours=st.integers(1, 3))
def test_small_graphs_are_coloured_at_least_violation_and_least_cost(seed, n_nodes, n_colours):
    rng = np.random.default_rng(seed)
    edges = random_graph(n_nodes, 0.6, rng)
    strengths = rng.integers(1, 4, len(edges)).astype(float)
    costs = rng.integers(0, 9, (n_nodes, n_colours)).astype(float)
    found = compromise(costs, edges, strengths)
    cost = costs[np.arange(n_nodes), found.clusters].sum()
    assert (found.violated, cost) == best_by_listing(costs, edges, strengths)
    assert found.is_least


def test_an_empty_k_core_is_always_satisfied():
    # Every node of a random tree has a node of degree one below it, so three colours are more than enough.
    rng = np.random.default_rng(0)
    edges = np.array([[rng.integers(0, node), node] for node in range(1, 3_000)])
    costs = rng.random((3_000, 2))
    costs[:, 0] -= 10.0  # all would rather be 0
    found = compromise(costs, edges, np.ones(len(edges)))
    assert found.violated == 0.0
    assert found.is_least


def test_the_stronger_link_wins():
    # Three nodes all apart, two colours: one link must give way, the weakest.
    edges = np.array([[0, 1], [0, 2], [1, 2]])
    found = compromise(np.zeros((3, 2)), edges, np.array([3.0, 1.0, 2.0]))
    assert found.violated == 1.0
    assert found.clusters[0] == found.clusters[2] != found.clusters[1]


def test_cliques_are_an_assignment_problem():
    rng = np.random.default_rng(1)
    costs = rng.random((10, 10))
    edges = np.array(list(combinations(range(10), 2)))
    colours = compromise(costs, edges, np.ones(len(edges))).clusters
    assert sorted(colours.tolist()) == list(range(10))
    # No exchange of two colours is cheaper.
    for i, j in edges:
        assert costs[i, colours[i]] + costs[j, colours[j]] <= costs[i, colours[j]] + costs[j, colours[i]]


def test_one_clique_too_large_violates_one_edge_and_proves_it():
    edges = np.array(list(combinations(range(8), 2)))
    costs = np.random.default_rng(2).random((8, 7))
    found = compromise(costs, edges, np.ones(len(edges)))
    assert found.violated == 1.0
    assert found.is_least


def test_large_hard_graphs_do_not_claim_a_proof():
    rng = np.random.default_rng(3)
    edges = random_graph(400, 0.05, rng)
    found = compromise(rng.random((400, 2)), edges, np.ones(len(edges)))
    assert found.violated > 0
    assert not found.is_least


def test_moving_or_exchanging_never_makes_it_dearer_than_greedy_alone():
    rng = np.random.default_rng(4)
    edges = np.unique(np.sort(rng.integers(0, 300, (300, 2)), axis=1), axis=0)
    edges = edges[edges[:, 0] < edges[:, 1]]
    costs = rng.random((300, 4))
    found = compromise(costs, edges, np.ones(len(edges)))
    assert found.violated == 0.0
    # No single node would be better off elsewhere.
    for node in range(300):
        near = np.concatenate([edges[edges[:, 0] == node, 1], edges[edges[:, 1] == node, 0]])
        free = np.setdiff1d(np.arange(4), found.clusters[near])
        assert costs[node, found.clusters[node]] <= costs[node, free].min()


def test_those_to_blame_are_named():
    # A triangle with a tail, two clusters: the tail is not to blame.
    found = compromise(np.zeros((4, 2)), np.array([[0, 1], [0, 2], [1, 2], [2, 3]]), np.ones(4))
    assert found.violated == 1.0
    assert found.infeasible_nodes.tolist() == [0, 1, 2]


def test_a_search_without_budget_returns_the_incumbent_and_no_proof():
    edges = np.ones((6, 6)) - np.eye(6)
    incumbent = np.zeros(6, dtype=np.int64)
    colours, is_proved = branch_and_bound(np.zeros((6, 3)), edges, incumbent, budget=0)
    assert colours.tolist() == incumbent.tolist()
    assert not is_proved
