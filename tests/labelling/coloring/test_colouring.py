"""Whether there is a colouring, and who is to blame if not."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecut.labelling.conflict_graph import ConflictGraph, find_colouring, remove_low_degree


@st.composite
def graphs(draw, max_nodes=7):
    n_nodes = draw(st.integers(1, max_nodes))
    pairs = [(i, j) for i in range(n_nodes) for j in range(i + 1, n_nodes)]
    edges = [pair for pair in pairs if draw(st.booleans())]
    return ConflictGraph(n_nodes, np.array(edges, dtype=np.int64).reshape(-1, 2))


def can_be_coloured(graph, n_colours):
    colourings = (np.array(c) for c in product(range(n_colours), repeat=graph.n_nodes))
    return any((c[graph.edges[:, 0]] != c[graph.edges[:, 1]]).all() for c in colourings)


@given(graphs(), st.integers(1, 4))
def test_the_verdict_is_that_of_trying_everything(graph, n_colours):
    verdict = find_colouring(graph, n_colours, 100_000)
    assert verdict.impossible == (not can_be_coloured(graph, n_colours))
    if not verdict.impossible:
        ends = verdict.colours[graph.edges]
        assert (ends[:, 0] != ends[:, 1]).all()
        assert set(verdict.colours) <= set(range(n_colours))


@given(graphs(), st.integers(1, 3))
def test_those_to_blame_cannot_be_coloured_but_any_fewer_can(graph, n_colours):
    blame = find_colouring(graph, n_colours, 100_000).infeasible_nodes
    if len(blame) == 0:
        return
    assert not can_be_coloured(graph.induced(blame), n_colours)
    for node in blame:
        assert can_be_coloured(graph.induced(blame[blame != node]), n_colours)


def test_an_odd_cycle_is_found_in_a_crowd():
    cycle = [(i, (i + 1) % 7) for i in range(7)]
    tails = [(i, 7 + i) for i in range(7)] + [(20, 21), (21, 22), (22, 23), (20, 23)]
    edges = np.sort(np.array(cycle + tails), axis=1)
    np.testing.assert_array_equal(
        find_colouring(ConflictGraph(24, edges), 2, 10_000).infeasible_nodes, np.arange(7)
    )


def test_steps_that_run_out_blame_nobody():
    # Grötzsch's graph has no triangle, yet needs four colours.
    outer = [(i, (i + 1) % 5) for i in range(5)]
    middle = [(5 + i, (i + 1) % 5) for i in range(5)] + [(5 + i, (i - 1) % 5) for i in range(5)]
    hub = [(10, 5 + i) for i in range(5)]
    graph = ConflictGraph(11, np.array(outer + middle + hub))
    hasty = find_colouring(graph, 3, 5)
    assert hasty.colours is None
    assert not hasty.impossible
    assert len(find_colouring(graph, 3, 10_000).infeasible_nodes) == 11
    assert find_colouring(graph, 4, 10_000).colours is not None


@pytest.mark.parametrize("n_colours", [2, 3, 5])
def test_what_is_peeled_has_few_neighbours_left(n_colours):
    rng = np.random.default_rng(n_colours)
    edges = np.unique(np.sort(rng.integers(0, 60, size=(120, 2)), axis=1), axis=0)
    graph = ConflictGraph(60, edges[edges[:, 0] != edges[:, 1]])
    peeled, core = remove_low_degree(graph, n_colours)
    assert sorted([*peeled, *core]) == list(range(60))
    assert (graph.induced(core).degrees >= n_colours).all()
    for place, node in enumerate(peeled):
        left = np.setdiff1d(graph.neighbours(node), peeled[:place])
        assert len(left) < n_colours
