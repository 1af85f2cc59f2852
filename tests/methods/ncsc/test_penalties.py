"""What a violated link costs: rules for γ_m and γ_c."""

import numpy as np
import pytest

from sidecut import Constraints
from sidecut.graphs import DenseGraph
from sidecut.methods.ncsc.ncsc import choose_gamma_must, mean_degree

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
