"""``sidecut graph``: points and edges in files become a graph in a folder."""

import signal
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from sidecut.graphs import Graph


@pytest.fixture
def points(tmp_path):
    folder = tmp_path / "points"
    folder.mkdir()
    X = np.random.default_rng(0).normal(size=(1_500, 3))
    for place, part in enumerate(np.split(X, 3)):
        pd.DataFrame(part, columns=list("abc")).to_parquet(folder / f"{place}.parquet")
    return X


def test_points_become_a_graph(shell, points):
    assert shell("graph", "build", "points", "-o", "graph", "--neighbors", 6) == 0
    assert "1,500 points of 3 features, 6 neighbours: about" in shell.err
    assert "searching neighbours: 1,500 of 1,500" in shell.err
    assert "graph: a graph in 1 block, with 9" in shell.out or "with 100" in shell.out
    assert Graph.open(shell.directory / "graph").n_nodes == 1_500
    assert shell("graph", "show", "graph") == 0
    assert "1,500 nodes" in shell.out
    assert shell("graph", "build", "points", "-o", "graph") == 2
    assert "graph is there already" in shell.err


def test_arrays_become_the_same_graph(shell, points):
    np.save(shell.directory / "points.npy", points)
    assert shell("graph", "build", "points.npy", "-o", "one", "--neighbors", 6, "--quiet") == 0
    assert shell.err == ""
    assert shell("graph", "build", "points", "-o", "other", "--neighbors", 6) == 0
    one, other = (Graph.open(shell.directory / name).tosparse() for name in ("one", "other"))
    assert abs(one - other).max() == 0


def test_a_build_that_is_killed_leaves_no_graph(shell, points):
    """The system ends a build in the middle; the next one names what it left, and makes the graph."""
    script = """
import os, signal, sys
from sidecut.graphs import graph_from_points
def kill(step, done):
    if step == "searching neighbours":
        os.kill(os.getpid(), signal.SIGKILL)
graph_from_points("points", "graph", n_neighbors=6, progress=kill)
"""
    ended = subprocess.run([sys.executable, "-c", script], cwd=shell.directory, check=False)
    assert ended.returncode == -signal.SIGKILL
    assert not (shell.directory / "graph").exists()
    (left,) = shell.directory.glob(".graph.*.partial")
    assert shell("graph", "build", "points", "-o", "graph", "--neighbors", 6) == 0
    assert f"{left} is left of a build that was killed" in shell.err
    assert Graph.open(shell.directory / "graph").n_nodes == 1_500


def test_edges_become_a_graph(shell):
    shell.write("edges.csv", "from,to,weight\n0,1,0.5\n1,2,2\n")
    assert shell("graph", "build", "edges.csv", "--edges", "-o", "graph", "--nodes", 4) == 0
    assert Graph.open(shell.directory / "graph").degrees.tolist() == [0.5, 2.5, 2.0, 0.0]


def test_what_cannot_be_used_is_said(shell, points):
    shell.write("points.csv", "a,b\n1,2\n")
    assert shell("graph", "build", "points.csv", "-o", "graph") == 2
    assert "neither a Parquet file or folder nor an .npy file" in shell.err
    assert shell("graph", "show", "points") == 2
    assert "it has no file meta.json" in shell.err
    assert shell("graph", "build", "nothing", "-o", "graph") == 2


def test_a_graph_in_a_folder_is_clustered(shell, points):
    np.save(shell.directory / "halves.npy", points[:200] + 9.0 * (np.arange(200) % 2)[:, None])
    shell("graph", "build", "halves.npy", "-o", "graph", "--neighbors", 12)
    shell.write("known.csv", "node,label\n0,even\n1,odd\n2,even\n3,odd\n")
    assert shell("cluster", "graph", "--constraints", "known.csv", "-o", "labels.csv") == 0, shell.err
    found = pd.read_csv(shell.directory / "labels.csv")
    assert found["class"].tolist() == ["even", "odd"] * 100
    assert (shell.directory / "labels.html").exists()
    assert shell("cluster", "graph", "-k", 2, "--label-column", "kind", "-o", "labels.csv") == 2
    assert "its nodes are called by number, from 0" in " ".join(shell.err.split())


def test_a_damaged_folder_is_said(shell, points):
    shell("graph", "build", "points", "-o", "graph", "--neighbors", 6)
    (shell.directory / "graph" / "meta.json").write_text("{}")
    assert shell("cluster", "graph", "-k", 2, "-o", "labels.csv") == 2
    assert "does not describe a graph" in " ".join(shell.err.split())
