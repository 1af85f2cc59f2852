"""A wrong label is named in the summary, in the report and by check, with the reason."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_wine

from sidecut.constraints import sample_labels


def write_clouds_with_a_wrong_label():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(30, 2)), rng.normal(size=(30, 2)) + 8])
    known = np.array([""] * 60, dtype=object)
    known[:8], known[30:38] = "cat", "dog"
    known[3] = "dog"
    frame = pd.DataFrame({"name": [f"p{i}" for i in range(60)], "x": X[:, 0], "y": X[:, 1], "known": known})
    frame.to_csv("clouds.csv", index=False)


RUN = ("cluster", "clouds.csv", "-k", 2, "--id-column", "name", "--label-column", "known", "-o", "labels.csv")


def test_a_wrong_label_is_named_with_the_reason(shell):
    write_clouds_with_a_wrong_label()
    assert shell(*RUN, "--no-report") == 0, shell.err
    said = " ".join(shell.out.split())
    assert "1 label of 16 looks wrong: p3, said dog" in said
    assert "labelled points nearest to it are 'cat'" in said


def test_programs_get_the_suspects_as_a_list(shell):
    write_clouds_with_a_wrong_label()
    assert shell(*RUN, "--no-report", "--json") == 0, shell.err
    (suspect,) = json.loads(shell.out)["suspects"]
    assert suspect["points"] == ["p3"]
    assert suspect["said"] == "dog"
    assert suspect["score"] > 0.8


def test_the_report_lists_suspects(shell):
    write_clouds_with_a_wrong_label()
    assert shell(*RUN) == 0, shell.err
    page = Path("labels.html").read_text()
    assert "Labels that look wrong" in page
    assert "1 label of 16 looks wrong." in page
    assert '<th scope="row">p3</th><td data-head="you said">dog</td>' in page


def write_labels_beside_the_points(shell):
    write_clouds_with_a_wrong_label()
    frame = pd.read_csv("clouds.csv")
    frame.loc[frame.known.notna(), ["name", "known"]].rename(columns={"known": "label"}).to_csv(
        "known.csv", index=False
    )
    frame.drop(columns="known").assign(note="some text").to_csv("points.csv", index=False)


CHECK = ("check", "known.csv", "--data", "points.csv", "--id-column", "name")


def test_check_names_suspects_with_the_reason(shell):
    write_labels_beside_the_points(shell)
    assert shell(*CHECK) == 0, shell.err
    assert "1 label of 16 looks wrong" in shell.out
    assert "p3, said dog: all 7 labelled points nearest to it are 'cat'" in shell.out
    assert shell(*CHECK, "--json") == 0
    found = json.loads(shell.out)
    assert found["judged"] == 16
    assert [suspect["points"] for suspect in found["suspects"]] == [["p3"]]


def test_check_judges_links_and_says_when_nothing_looks_wrong(shell):
    write_labels_beside_the_points(shell)
    rows = [f"p{i},p{i + 5},1" for i in range(20)] + [f"p{i},p{i + 35},-1" for i in range(20)]
    shell.write("pairs.csv", "\n".join(rows) + "\n")
    assert shell("check", "pairs.csv", *CHECK[2:], "-k", 2) == 0, shell.err
    assert "None of the 40 links looks wrong." in shell.out
    shell.write("pairs.csv", "\n".join([*rows, "p0,p59,1"]) + "\n")
    assert shell("check", "pairs.csv", *CHECK[2:], "-k", 2) == 0, shell.err
    assert "p0 and p59, said together: the graph alone puts the two points into two clusters" in shell.out


def test_check_says_why_nothing_was_judged(shell):
    write_labels_beside_the_points(shell)
    frame = pd.read_csv("points.csv").drop(columns=["x", "y"])
    frame.to_csv("points.csv", index=False)
    assert shell(*CHECK) == 0, shell.err
    assert "was not judged: points.csv has no column of numbers" in " ".join(shell.out.split())


def test_cluster_and_check_judge_right_labels_alike(shell):
    X, y = load_wine(return_X_y=True)
    rng = np.random.default_rng(0)
    known = np.full(len(y), "", dtype=object)
    rows = sample_labels(y, 24, random_state=3).constrained_points
    known[rows] = [f"kind {c}" for c in y[rows]]
    table = pd.DataFrame(
        np.asarray(X) * 10.0 ** np.arange(X.shape[1]), columns=[f"m{i}" for i in range(X.shape[1])]
    )
    table["region"] = rng.choice(["north", "south", "east", "west"], len(y))
    table["bottle"] = [f"b{i}" for i in range(len(y))]
    table.assign(kind=known).to_csv("wine.csv", index=False)
    pd.DataFrame({"bottle": table.bottle[rows], "label": known[rows]}).to_csv("known.csv", index=False)
    table.to_csv("points.csv", index=False)
    roles = ("--id-column", "bottle")
    run = ("cluster", "wine.csv", "-k", 3, *roles, "--label-column", "kind", "--encode", "-o", "labels.csv")
    assert shell(*run, "--no-report", "--json") == 0, shell.err
    in_cluster = json.loads(shell.out)["suspects"]
    assert shell("check", "known.csv", "--data", "points.csv", *roles, "--json") == 0, shell.err
    found = json.loads(shell.out)
    assert found["judged"] == 24
    assert in_cluster == found["suspects"]
    assert len(in_cluster) <= 1
