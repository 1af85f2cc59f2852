from pathlib import Path

import numpy as np
import pytest

from sidecut.cli.console import UsageError
from sidecut.cli.inputs import known_constraints
from sidecut.cli.preparation import Points
from sidecut.constraints import Constraints
from sidecut.exceptions import ConstraintWarning


def nameless(n=4, labels=None):
    return Points(np.zeros((n, 1)), Path("p.csv"), known_labels=labels)


NAMED = Points(np.zeros((4, 1)), Path("p.csv"), names=("ann", "bob, jr", "7", "0"))


@pytest.mark.parametrize(
    "text",
    [
        "i,j,kind\n0,1,must-link\n1,3,cannot-link\n",
        "i,j,strength\n0,1,1\n1,3,-1\n",
        "0,1,1\n1,3,-1\n",
    ],
)
def test_pairs_by_row_number(shell, text):
    shell.write("c.csv", text)
    expected = Constraints.from_pairs(4, must_link=[(0, 1)], cannot_link=[(1, 3)])
    assert known_constraints(nameless(), Path("c.csv")) == expected


@pytest.mark.parametrize(
    "text",
    [
        'i,j,kind\nann,"bob, jr",must-link\n"bob, jr",0,cannot-link\n',
        'first,second,strength\nann,"bob, jr",1\n"bob, jr",0,-1\n',
        '# known\nann,"bob, jr",1\n\n"bob, jr",0,-1\n',
    ],
)
def test_pairs_by_name_even_if_a_name_looks_like_a_number(shell, text):
    shell.write("c.csv", text)
    expected = Constraints.from_pairs(4, must_link=[(0, 1)], cannot_link=[(1, 3)])
    assert known_constraints(NAMED, Path("c.csv")) == expected


def test_labels_by_name(shell):
    shell.write("c.csv", "person,label\nann,x\n7,y\n0,x\n")
    expected = Constraints.from_labels(["x", None, "y", "x"])
    assert known_constraints(NAMED, Path("c.csv")) == expected


def test_a_label_column_and_a_file_are_united(shell):
    shell.write("c.csv", "2,3,1\n")
    known = known_constraints(nameless(labels=("0", "1", "", "")), Path("c.csv"))
    assert known.pairs.tolist() == [[0, 1], [2, 3]]
    assert known.strengths.tolist() == [-1, 1]


def test_nothing_known_is_no_constraints():
    assert known_constraints(nameless(), None).is_empty


def test_an_unknown_name_is_refused(shell):
    shell.write("c.csv", "ann,zoe,1\n")
    with pytest.raises(UsageError, match=r"c\.csv, line 1: no sample is called 'zoe'; names look like 'ann'"):
        known_constraints(NAMED, Path("c.csv"))


def test_a_malformed_line_is_told_by_the_name_of_the_users_file(shell):
    shell.write("c.csv", "i,j,strength\nann,7,1\nann,0,much\n")
    with pytest.raises(UsageError, match=r"^c\.csv.*3") as caught:
        known_constraints(NAMED, Path("c.csv"))
    assert "much" in str(caught.value)


def test_a_row_beyond_the_points_is_refused(shell):
    shell.write("c.csv", "0,9,1\n")
    with pytest.raises(UsageError, match=r"c\.csv, line 1.*9"):
        known_constraints(nameless(), Path("c.csv"))


def test_a_contradiction_is_told_with_names_and_ways_out(shell):
    shell.write("c.csv", 'ann,"bob, jr",1\n"bob, jr",7,1\nann,7,-1\n')
    with pytest.raises(
        UsageError, match="ann and 7 cannot be linked, yet must-links join them: ann - bob, jr - 7"
    ) as e:
        known_constraints(NAMED, Path("c.csv"))
    assert "--on-conflict drop" in str(e.value)


def test_a_contradiction_may_be_dropped_or_weighed(shell):
    shell.write("c.csv", "0,1,1\n1,2,1\n0,2,-0.5\n")
    assert known_constraints(nameless(), Path("c.csv"), "weigh").n_pairs == 3
    with pytest.warns(ConstraintWarning, match="dropped 1"):
        assert known_constraints(nameless(), Path("c.csv"), "drop").pairs.tolist() == [[0, 1], [1, 2]]


def test_columns_say_which_rows_are_apart_and_together(shell):
    rows = ["x,y,photo,burst"]
    rows += [f"{i % 3 * 5 + i / 100},{i % 2},{i // 3},{i % 3 if i < 6 else ''}" for i in range(30)]
    shell.write("faces.csv", "\n".join(rows) + "\n")
    words = "cluster faces.csv -k 3 --apart photo --together burst --hard -o out.csv"
    assert shell(*words.split()) == 0, shell.err

    labels = shell.labels("out.csv")
    assert all(len(set(labels[i : i + 3])) == 3 for i in range(0, 30, 3))
    assert labels[:3] == labels[3:6]
