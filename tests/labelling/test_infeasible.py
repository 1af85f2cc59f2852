from itertools import combinations

import numpy as np
import pytest

from sidecut.labelling.branching import branch_and_bound
from sidecut.labelling.infeasible import infeasible_core


def is_colourable(edges, n_nodes, n_colours):
    weights = np.zeros((n_nodes, n_nodes))
    weights[edges[:, 0], edges[:, 1]] = weights[edges[:, 1], edges[:, 0]] = 1.0
    colours, is_proved = branch_and_bound(
        np.zeros((n_nodes, n_colours)), weights, np.zeros(n_nodes, dtype=np.int64)
    )
    assert is_proved
    return bool((colours[edges[:, 0]] != colours[edges[:, 1]]).all())


def test_two_colours_an_odd_cycle():
    cycle = np.array([[i, (i + 1) % 7] for i in range(7)])
    spokes = np.array([[i, i + 7] for i in range(7)])
    edges = np.sort(np.concatenate([spokes, cycle]), axis=1)
    core = infeasible_core(edges, 14, 2)
    assert sorted(core.tolist()) == list(range(7, 14))


@pytest.mark.parametrize("n_colours", [2, 3, 5, 9])
def test_a_clique_with_one_node_too_many(n_colours):
    clique = np.array(list(combinations(range(n_colours + 1), 2)))
    more = np.array([[0, node] for node in range(n_colours + 1, n_colours + 6)])
    core = infeasible_core(np.concatenate([more, clique]), n_colours + 6, n_colours)
    assert sorted(core.tolist()) == list(range(len(more), len(more) + len(clique)))


@pytest.mark.parametrize("seed", range(5))
def test_nothing_in_the_core_can_be_left_out(seed):
    rng = np.random.default_rng(seed)
    pairs = np.array(list(combinations(range(12), 2)))
    edges = pairs[rng.random(len(pairs)) < 0.7]
    core = infeasible_core(edges, 12, 3)
    assert not is_colourable(edges[core], 12, 3)
    for place in range(len(core)):
        assert is_colourable(edges[np.delete(core, place)], 12, 3)


def test_feasible_edges_have_no_core():
    assert infeasible_core(np.array([[0, 1], [1, 2], [2, 3], [0, 3]]), 4, 2) is None
    assert infeasible_core(np.empty((0, 2), dtype=np.int64), 4, 2) is None
