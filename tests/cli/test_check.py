import json

import pytest


def test_counts_and_what_follows(shell):
    shell.write("c.csv", "0,1,1\n1,2,1\n2,3,-1\n")
    assert shell("check", "c.csv", "--samples", 10, "--json") == 0
    assert json.loads(shell.out) == {
        "n_samples": 10,
        "classes": None,
        "constrained_points": 4,
        "must_links": 2,
        "cannot_links": 1,
        "implied_must_links": 3,
        "implied_cannot_links": 3,
        "clusters_needed": 2,
        "too_few_clusters": "",
        "contradictions": 0,
        "proofs": [],
        "kind": "link",
        "judged": 0,
        "suspects": [],
        "not_judged": "",
        "warnings": [],
    }
    assert shell("check", "c.csv", "--samples", 10) == 0
    assert "with what follows  3 must-links, 3 cannot-links" in shell.out


def test_contradictions_end_with_two_and_are_proved(shell):
    shell.write("c.csv", "0,1,1\n1,2,1\n0,2,-1\n0,1,-1\n")
    assert shell("check", "c.csv", "--samples", 3) == 2
    assert "2 contradictions:" in shell.out
    assert "0 and 2 cannot be linked, yet must-links join them: 0 - 1 - 2" in shell.out
    assert "0 and 1 cannot be linked, yet must-links join them: 0 - 1" in shell.out


def test_names_come_from_the_data(shell):
    shell.write("d.csv", "x,who\n1,ann\n2,bob\n3,cat\n")
    shell.write("c.csv", "ann,bob,1\nann,bob,-1\n")
    assert shell("check", "c.csv", "--data", "d.csv", "--id-column", "who") == 2
    assert "ann and bob cannot be linked, yet must-links join them: ann - bob" in shell.out


def test_names_come_from_the_nodes_of_a_graph(shell):
    shell.write("g.edges", "ann bob\nbob cat\n")
    shell.write("c.csv", "person,label\nann,x\ncat,y\n")
    assert shell("check", "c.csv", "--data", "g.edges") == 0
    assert "2 of 3 have a known class" in shell.out


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("check", "c.csv"), "name its column of known classes with --label-column"),
        (("check", "no.csv", "--samples", 3), "no file no.csv"),
        (("check", "c.csv", "--samples", 0), "at least one point"),
        (("check", "c.csv", "--samples", 5), "9"),
        (("check", "c.csv", "--data", "d.csv", "--id-column", "z"), "no column 'z'"),
    ],
)
def test_bad_usage_ends_with_two(shell, words, complaint):
    shell.write("c.csv", "0,9,1\n")
    shell.write("d.csv", "x\n1\n")
    assert shell(*words) == 2
    assert complaint in shell.err


def test_the_known_classes_may_be_a_column_of_the_table(shell):
    rows = [f"p{i},{10 * (i % 2) + i / 10},{'cat' if i % 2 else 'dog'}" for i in range(20)]
    rows[5] = "p5,10.5,dog"
    rows += [f"q{i},{10 * (i % 2) + i / 10},?" for i in range(20)]
    shell.write("d.csv", "name,x,kind\n" + "\n".join(rows) + "\n")
    words = ("check", "d.csv", "--label-column", "kind", "--id-column", "name", "--unknown", "?")
    assert shell(*words, "--json") == 0
    found = json.loads(shell.out)
    assert (found["n_samples"], found["constrained_points"], found["judged"]) == (40, 20, 20)
    assert [one["points"] for one in found["suspects"]] == [["p5"]]
    assert shell(*words, "-k", 1) == 2
    assert "2 classes" in shell.out


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("d.csv", "--label-column", "sort"), "no column 'sort'. Its columns are 'x', 'kind'"),
        (("d.csv", "--label-column", "kind", "--samples", 3), "leave out --samples and --data"),
        (("d.npy", "--label-column", "kind"), "d.npy is no table"),
    ],
)
def test_bad_label_columns_end_with_two(shell, words, complaint):
    shell.write("d.csv", "x,kind\n1,a\n2,b\n")
    shell.write("d.npy", "x")
    assert shell("check", *words) == 2
    assert complaint in shell.err


def test_labels_are_counted_by_class_and_judged_beside_commas_ids_and_text(shell):
    rows = [f"{i + 100};{10 * (i % 2) + i / 10};{'ab'[i % 2]};{'cat' if i % 2 else 'dog'}" for i in range(20)]
    rows += [f"{i + 120};{10 * (i % 2) + i / 10};a;" for i in range(20)]
    shell.write("d.csv", "row;x;place;kind\n" + "\n".join(rows).replace(".", ",") + "\n")
    assert shell("check", "d.csv", "--label-column", "kind") == 0
    assert "points           20 of 40 have a known class" in shell.out
    assert "classes          cat 10, dog 10" in shell.out
    assert "as pairs         90 must-links, 100 cannot-links" in shell.out
    assert "None of the 20 labels looks wrong." in shell.out


def test_classes_that_differ_only_in_capitals_are_spoken_of(shell):
    shell.write("c.csv", "i,label\n0,Robin\n1,robin\n2,Wren\n3,wren \n")
    assert shell("check", "c.csv", "--samples", 9) == 0
    assert "count as different ones: 'Robin' and 'robin'; 'Wren' and 'wren'. Write them alike" in shell.err
    shell.write("c.csv", "i,label\n0,Robin\n1,Wren\n")
    assert shell("check", "c.csv", "--samples", 9) == 0
    assert shell.err == ""


def test_what_is_too_much_to_judge_is_said(shell, clouds_csv, monkeypatch):
    monkeypatch.setattr("sidecut.cli.check.MAX_POINTS", 5)
    shell.write("k.csv", "i,label\n0,a\n1,b\n2,a\n")
    assert shell("check", "k.csv", "--data", clouds_csv) == 0
    assert "Whether any label looks wrong was not judged: there is too much" in shell.out + shell.err
