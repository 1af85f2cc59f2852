"""The command line on a Dask cluster writes what it writes without one."""

import json
from functools import partial

import dask
import distributed
import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_blobs

SMALL = ("-k", 3, "--method", "scacs", "--set", "n_landmarks=60")
COLUMNS = ("--id-column", "name", "--label-column", "seen", "--truth-column", "class")
in_this_process = partial(
    distributed.LocalCluster, processes=False, n_workers=2, threads_per_worker=1, dashboard_address=":0"
)


@pytest.fixture(scope="module")
def address():
    with in_this_process(protocol="tcp") as cluster:
        yield cluster.scheduler_address


@pytest.fixture
def table():
    X, y = make_blobs(600, centers=3, cluster_std=2.0, random_state=0)
    frame = pd.DataFrame(X, columns=["x", "y"]).assign(name=[f"p{i}" for i in range(600)])
    frame["class"] = [f"c{c}" for c in y]
    # Names that are numbers stay as they are written.
    frame["seen"] = np.where(np.arange(600) < 12, np.array(["01", "02", "03"])[y], "")
    return frame


def test_a_table_is_clustered_by_the_workers_as_without_them(shell, table, address):
    table.to_csv("points.csv", index=False)
    assert shell("cluster", "points.csv", *SMALL, *COLUMNS, "--no-report", "-o", "here.csv", "--json") == 0, (
        shell.err
    )
    here = json.loads(shell.out)
    assert (
        shell("cluster", "points.csv", *SMALL, *COLUMNS, "--scheduler", address, "-o", "there.csv", "--json")
        == 0
    ), shell.err
    there = json.loads(shell.out)
    assert shell.table("there.csv") == [row[:3] for row in shell.table("here.csv")]
    assert there["score"] == here["score"]
    assert there["score"]["total"] == 66
    assert there["files"] == {"labels": "there.csv"}


def test_a_folder_of_parquet_files_and_constraints_by_name(shell, table, address):
    folder = shell.directory / "points"
    folder.mkdir()
    features = table[["name", "x", "y"]]
    for part, rows in enumerate((features[:100], features[100:350], features[350:])):
        rows.to_parquet(folder / f"part-{part}.parquet", index=False)
    features.to_parquet("points.parquet", index=False)
    shell.write("known.csv", "name,label\np0,a\np1,b\np2,c\np3,a\n")
    options = (*SMALL, "--id-column", "name", "--constraints", "known.csv", "--standardize")
    assert shell("cluster", "points", *options, "--scheduler", address, "-o", "there.parquet") == 0, shell.err
    assert shell("cluster", "points.parquet", *options, "--no-report", "-o", "here.parquet") == 0, shell.err
    # The embedding stays on the workers, and with it how sure each label is.
    here = pd.read_parquet("here.parquet").drop(columns="confidence")
    pd.testing.assert_frame_equal(pd.read_parquet("there.parquet"), here)


def test_workers_of_its_own_without_constraints(shell, table, monkeypatch):
    monkeypatch.setattr(distributed, "LocalCluster", in_this_process)
    table[["x", "y"]].to_csv("points.csv", index=False, header=False)
    arguments = (
        "cluster",
        "points.csv",
        "-k",
        3,
        "--set",
        "n_landmarks=60",
        "--scheduler",
        "local",
        "--json",
    )
    assert shell(*arguments, "-o", "labels.npy") == 0, shell.err
    assert json.loads(shell.out)["method"] == "lsc"
    assert np.load("labels.npy").shape == (600,)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--method", "csp"), "--method csp cannot run on a cluster"),
        (("--method", "scasc"), "There is no method 'scasc'"),
        (("--report", "r.html"), "--report needs all points in one place"),
        (("--neighbors", 5), "--neighbors needs all points in one place"),
        (
            ("--scheduler", "tcp://127.0.0.1:1"),
            "--scheduler tcp://127.0.0.1:1: no Dask scheduler answers there",
        ),
        (("--scheduler", "nowhere://here"), "--scheduler nowhere://here: no Dask scheduler answers there"),
    ],
)
def test_what_a_cluster_cannot_do_is_said(shell, table, address, options, message):
    table.to_csv("points.csv", index=False)
    with dask.config.set({"distributed.comm.timeouts.connect": "1s"}):
        assert shell("cluster", "points.csv", "-k", 3, "--scheduler", address, "-o", "l.csv", *options) == 2
    assert message in shell.err


def test_a_graph_on_a_disk_is_clustered_by_the_workers(shell, table, address):
    table[["x", "y"]].to_parquet("points.parquet", index=False)
    shell.write("known.csv", "name,label\n0,a\n1,b\n2,c\n3,a\n")
    assert shell("graph", "build", "points.parquet", "-o", "graph", "--quiet") == 0, shell.err
    options = ("-k", 3, "--method", "poisson-mbo", "--constraints", "known.csv", "--no-report")
    assert shell("cluster", "graph", *options, "-o", "here.csv") == 0, shell.err
    assert shell("cluster", "graph", *options, "--scheduler", address, "-o", "there.csv") == 0, shell.err
    assert [row[:2] for row in shell.table("there.csv")] == [row[:2] for row in shell.table("here.csv")]
    assert shell("cluster", "graph", "-k", 3, "--method", "scacs", "--scheduler", address, "-o", "l.csv") == 2
    assert "graph is a graph, and scacs clusters points by their features" in shell.err


def test_other_files_and_columns_of_text_are_refused(shell, table, address):
    np.save("points.npy", np.eye(4))
    assert shell("cluster", "points.npy", "-k", 2, "--scheduler", address, "-o", "l.csv") == 2
    assert "--scheduler reads tables" in shell.err
    table.to_csv("points.csv", index=False)
    assert shell("cluster", "points.csv", "-k", 2, "--scheduler", address, "-o", "l.csv") == 2
    assert "Column 'name' of points.csv holds 100 different texts" in shell.err
