"""A wrong label is named in the summary, with the reason, and listed for programs."""

import json

import numpy as np
import pandas as pd


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
    assert suspect["score"] > 0.9
