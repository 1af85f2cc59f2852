"""A graph beside the points: --edges."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import adjusted_rand_score

from sidecut import NormalizedCut


@pytest.fixture
def friends(shell):
    """Two groups of people with two noisy features, and who knows whom; the classes."""
    rng = np.random.RandomState(0)
    y = np.repeat([0, 1], 40)
    frame = pd.DataFrame(rng.standard_normal((80, 2)) + y[:, None], columns=["x", "y"])
    frame.insert(0, "name", [f"p{i}" for i in range(80)])
    frame.to_csv("people.csv", index=False)
    chance = np.where(y[:, None] == y, 0.2, 0.04)
    ends = np.argwhere(np.triu(rng.rand(80, 80) < chance, 1))
    lines = [f"p{i},p{j}" for i, j in ends]
    shell.write("friends.csv", "source,target\n" + "\n".join(lines) + "\n")
    weights = np.zeros((80, 80))
    weights[tuple(ends.T)] = weights[tuple(ends.T[::-1])] = 1.0
    return frame[["x", "y"]].to_numpy(), weights, y


def test_points_and_edges_are_clustered_together(shell, friends):
    X, weights, y = friends
    options = (
        "-k",
        2,
        "--id-column",
        "name",
        "--method",
        "normalized-cut",
        "--no-report",
        "-o",
        "labels.csv",
    )
    assert shell("cluster", "people.csv", "--edges", "friends.csv", *options) == 0, shell.err
    expected = NormalizedCut(2, random_state=0).fit(X, graph=weights).labels_
    assert adjusted_rand_score(expected, shell.labels()) == 1.0
    assert adjusted_rand_score(y, shell.labels()) > 0.8


def test_auto_says_what_it_used_and_the_model_is_saved(shell, friends):
    frame = pd.read_csv("people.csv")
    frame["group"] = [["a", "b"][i // 40] if i % 5 == 0 else "" for i in range(80)]
    frame.to_csv("people.csv", index=False)
    options = (
        "--id-column",
        "name",
        "--label-column",
        "group",
        "--no-report",
        "-o",
        "l.csv",
        "--model",
        "m.sidecut",
    )
    assert shell("cluster", "people.csv", "--edges", "friends.csv", *options) == 0, shell.err
    assert "Of points and graph, " in shell.out
    assert shell("predict", "m.sidecut", "people.csv", "-o", "p.csv") == 0, shell.err
    assert [row[1] for row in shell.table("p.csv")[1:]] == [row[1] for row in shell.table("l.csv")[1:]]


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("people.csv --edges friends.csv", "no point of people.csv: points are called by row numbers"),
        ("people.csv --id-column name --edges none.csv", "none.csv"),
        ("people.csv --id-column name --edges friends.csv --method cop-kmeans", "cop-kmeans does not"),
        ("friends.edges --edges friends.csv", "is a graph already"),
    ],
)
def test_edges_that_cannot_be_used_are_refused(shell, friends, command, message):
    shell.write("friends.edges", "a b\nb c\n")
    drop = () if "id-column" in command or "friends.edges" in command else ("--drop", "name")
    assert shell("cluster", *command.split(), "-k", 2, *drop, "-o", "l.csv") == 2
    assert message in shell.err


def test_bounds_of_the_number_are_kept(shell, friends):
    options = ("--id-column", "name", "--no-report", "-o", "labels.csv")
    assert shell("cluster", "people.csv", "--edges", "friends.csv", "-k", "3-4", *options) == 0, shell.err
    assert len(set(shell.labels())) in (3, 4)
    for wrong, message in (("4-3", "the smaller one first"), ("2-x", "bounds such as 2-6")):
        assert shell("cluster", "people.csv", "-k", wrong, *options) == 2
        assert message in shell.err
    assert shell("cluster", "people.csv", "-k", "2-3", "--method", "e2cp", *options) == 2
    assert "only --method auto and layers take bounds" in shell.err
