from pathlib import Path

import numpy as np
import pytest

from sidecut.cli.console import UsageError
from sidecut.cli.inputs import points_from_edges


def read(shell, text):
    return points_from_edges(Path(shell.write("g.edges", text)))


@pytest.mark.parametrize(
    "text",
    [
        "source,target,weight\nann,bob,2\nbob,cat,0.5\n",
        "ann,bob,2\nbob,cat,0.5\n",
        "ann\tbob\t2\nbob\tcat\t0.5\n",
        "# friends\nann bob 2\n\nbob cat 0.5\n",
        "ann,bob,2\nbob,ann,2\nbob,cat,0.5\n",
    ],
)
def test_every_way_to_write_a_graph_gives_its_symmetric_matrix(shell, text):
    points = read(shell, text)
    assert points.names == ("ann", "bob", "cat")
    np.testing.assert_array_equal(points.X.toarray(), [[0, 2, 0], [2, 0, 0.5], [0, 0.5, 0]])


def test_numbered_nodes_are_in_numerical_order_and_edges_weigh_one(shell):
    points = read(shell, "10 2\n2 1\n")
    assert points.names == ("1", "2", "10")
    np.testing.assert_array_equal(points.X.toarray(), [[0, 1, 0], [1, 0, 1], [0, 1, 0]])


def test_a_self_loop_counts_once(shell):
    np.testing.assert_array_equal(read(shell, "a a 3\na b 1\n").X.toarray(), [[3, 1], [1, 0]])


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("a\n", "Line 1 of g.edges has 1 cells"),
        ("a b 1\na c x\n", "Line 2 of g.edges: the weight 'x' is not a number"),
        ("a b -1\n", "weight -1 is not a finite number from 0 upwards"),
        ("a b nan\n", "weight nan"),
        ("a b 1\nb a 2\n", "edge a - b the weight 2, an earlier one gave it 1"),
        ("# nothing\n", "no edges"),
    ],
)
def test_what_is_no_edge_is_refused_by_line(shell, text, complaint):
    with pytest.raises(UsageError, match=complaint):
        read(shell, text)
