import json

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

TRUTH = "name,species\na,x\nb,x\nc,y\nd,y\ne,\n"
LABELS = "name,label\ne,0\nd,1\nc,1\nb,0\na,1\n"


@pytest.fixture
def files(shell):
    shell.write("truth.csv", TRUTH)
    shell.write("labels.csv", LABELS)
    return shell


def test_rows_are_matched_by_name_and_the_unknown_left_out(files):
    words = ("evaluate", "labels.csv", "truth.csv", "--truth-column", "species", "--id-column", "name")
    assert files(*words, "--json") == 0
    told = json.loads(files.out)["all_points"]
    assert told["n_points"] == 4
    assert told["adjusted_rand_index"] == pytest.approx(adjusted_rand_score([1, 1, 0, 0], [1, 1, 0, 1]))
    assert files(*words) == 0
    assert "scored on the 4 of 5 points whose class is known" in files.out


def test_without_names_the_order_counts(files):
    assert files("evaluate", "labels.csv", "truth.csv", "--json") == 0
    told = json.loads(files.out)["all_points"]
    assert told["adjusted_rand_index"] == pytest.approx(adjusted_rand_score([0, 0, 1, 1], [0, 1, 1, 0]))


def test_constraints_are_scored_too(files):
    files.write("c.csv", "a,b,-1\nc,d,1\na,c,-1\n")
    words = ("evaluate", "labels.csv", "truth.csv", "--id-column", "name", "--constraints", "c.csv", "--json")
    assert files(*words) == 0
    assert json.loads(files.out)["constraint_satisfaction"] == pytest.approx(2 / 3)


def test_arrays_are_labels_too(shell):
    np.save("a.npy", [0, 0, 1, 1])
    np.save("b.npy", [5, 5, 2, 2])
    assert shell("evaluate", "a.npy", "b.npy", "--json") == 0
    assert json.loads(shell.out)["all_points"]["clustering_accuracy"] == 1


@pytest.mark.parametrize(
    ("text", "words", "complaint"),
    [
        ("label\n1\n", (), "5 labels and t.csv has 1"),
        ("label\n1\n\n-1\n-1\n-1\n-1\n", (), "knows the classes of 1 points"),
        ("name,label\nz,1\n", ("--id-column", "name"), "No 'name' of labels.csv occurs in t.csv"),
        ("a,b,c\n1,2,3\n", (), "none is called 'label'"),
    ],
)
def test_files_that_do_not_fit_end_with_two(files, text, words, complaint):
    files.write("t.csv", text)
    assert files("evaluate", "labels.csv", "t.csv", *words) == 2
    assert complaint in files.err
