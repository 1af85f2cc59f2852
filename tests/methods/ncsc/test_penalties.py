"""What a violated link costs: rules for γ_m, links held out for γ_c."""

import numpy as np
import pytest

from sidecut import Constraints
from sidecut.graphs import DenseGraph
from sidecut.methods.ncsc.starts import choose_gamma_must, draw_told_points, held_out_share, mean_degree

GRAPH = DenseGraph(np.pad(np.ones((9, 9)), (0, 1)))


def test_the_unit_leaves_out_points_without_neighbours():
    assert mean_degree(GRAPH) == 9.0


@pytest.mark.parametrize(
    ("known", "expected"),
    [
        (Constraints.none(10), np.inf),
        (Constraints.from_labels([0, 0, 1, 1, *[-1] * 6], weight=0.3), np.inf),
        (Constraints.from_pairs(10, [(0, 1), (2, 3)], must_weight=[1.0, 0.9]), 9.0),
        (Constraints.from_pairs(10, [(0, 1), (1, 2)], [(0, 2)], on_conflict="weigh"), 9.0),
        (Constraints.from_graph(np.ones((10, 10))), 9.0),
    ],
    ids=["nothing", "labels", "soft", "contradiction", "all joined"],
)
def test_facts_are_kept_and_beliefs_weighed(known, expected):
    assert choose_gamma_must("auto", GRAPH, known, n_clusters=2) == expected
    assert choose_gamma_must(2.0, GRAPH, known, n_clusters=2) == 2.0


def test_three_quarters_of_the_points_are_told():
    known = Constraints.from_labels([*range(8), -1, -1])
    told = draw_told_points(known, np.random.RandomState(0))
    assert len(told) == 6
    assert set(told) < set(range(8))
    assert list(told) == sorted(told)


def test_only_links_held_out_are_judged():
    known = Constraints.from_pairs(5, must_link=[(0, 1), (1, 2)], cannot_link=[(3, 4), (0, 4)])
    labels = np.array([0, 0, 1, 1, 0])
    # (0, 1) was told; of the others (1, 2) and (0, 4) are violated.
    assert held_out_share(known, np.array([0, 1]), labels) == pytest.approx(1 / 3)
    assert held_out_share(known, np.arange(5), labels) == 1.0
