import json

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.metrics import adjusted_rand_score

FAST = ("--no-report", "-k", 2, "--neighbors", 5)


def agreement(labels, classes):
    return adjusted_rand_score(classes, labels)


def test_a_csv_is_clustered_and_its_points_are_named(shell, clouds_csv, two_clouds):
    code = shell(
        "cluster", clouds_csv, *FAST, "-o", "labels.csv", "--drop", "class,seen", "--id-column", "name"
    )
    assert code == 0
    table = shell.table("labels.csv")
    assert table[0] == ["name", "label", "confidence"]
    assert all(0 <= float(row[2]) <= 1 for row in table[1:])
    assert [row[0] for row in table[1:]] == [f"p{i}" for i in range(20)]
    assert agreement(shell.labels(), two_clouds[1]) == 1


def test_every_format_gives_the_same_labels(shell, two_clouds):
    X, _ = two_clouds
    frame = pd.DataFrame(X, columns=["x", "y"])
    frame.to_csv("a.csv", index=False)
    frame.to_csv("b.csv", index=False, header=False)
    frame.to_csv("c.tsv", index=False, sep="\t")
    frame.to_parquet("d.parquet")
    np.save("e.npy", X)
    np.savez("f.npz", X=X)
    np.savez("g.npz", points=X, other=X[:2])
    sparse.save_npz("h.npz", sparse.csr_array(X))
    results = []
    for name in ("a.csv", "b.csv", "c.tsv", "d.parquet", "e.npy", "f.npz", "g.npz", "h.npz"):
        options = ("--key", "points") if name == "g.npz" else ()
        assert shell("cluster", name, *FAST, *options, "-o", "labels.csv") == 0, shell.err
        results.append(shell.labels())
    assert all(result == results[0] for result in results)


def test_a_graph_gives_the_same_labels_as_a_matrix_and_as_a_list_of_edges(shell, two_clouds):
    X, classes = two_clouds
    W = np.exp(-((X[:, None] - X) ** 2).sum(axis=2) / 8)
    np.fill_diagonal(W, 0)
    np.save("w.npy", W)
    pd.DataFrame(W).to_csv("w.csv", index=False, header=False)
    sparse.save_npz("w.npz", sparse.csr_array(W))
    rows = [f"{i},{j},{float(W[i, j])!r}" for i in range(20) for j in range(i) if W[i, j] > 0]
    shell.write("w.edges", "\n".join(rows))
    results = []
    for name in ("w.npy", "w.csv", "w.npz", "w.edges"):
        graph = () if name == "w.edges" else ("--graph",)
        assert shell("cluster", name, "-k", 2, "--no-report", *graph, "-o", "labels.csv") == 0, shell.err
        results.append(shell.labels())
    assert all(result == results[0] for result in results)
    assert agreement(results[0], classes) == 1


@pytest.mark.parametrize("name", ["l.csv", "l.tsv", "l.npy", "l.parquet"])
def test_every_output_format_holds_the_labels(shell, clouds_csv, two_clouds, name):
    assert shell("cluster", clouds_csv, *FAST, "--columns", "x,y", "-o", name) == 0
    readers = {"csv": pd.read_csv, "tsv": pd.read_table, "parquet": pd.read_parquet}
    labels = np.load(name) if name.endswith("npy") else readers[name[2:]](name)["label"]
    assert agreement(labels, two_clouds[1]) == 1


def test_constraints_choose_the_method_and_are_told_of(shell, clouds_csv):
    shell.write("known.csv", "name,label\np0,a\np1,b\n")
    names = ("--drop", "class,seen", "--id-column", "name")
    shell("cluster", clouds_csv, *FAST, *names, "-o", "l.csv", "--json")
    assert json.loads(shell.out)["method"] == "normalized-cut"
    shell("cluster", clouds_csv, *FAST, *names, "-o", "l.csv", "--json", "--constraints", "known.csv")
    told = json.loads(shell.out)
    assert told["method"] == "auto"
    assert told["score"]["total"] == 1
    shell.write("pairs.csv", "a,b,kind\np0,p1,cannot\n")
    shell("cluster", clouds_csv, *FAST, *names, "-o", "l.csv", "--json", "--constraints", "pairs.csv")
    assert json.loads(shell.out)["method"] == "auto"


def test_json_tells_everything_and_nothing_else_is_on_stdout(shell, clouds_csv, two_clouds):
    options = ("--label-column", "seen", "--truth-column", "class", "--drop", "name", "--method", "e2cp")
    assert shell("cluster", clouds_csv, *FAST, *options, "-o", "labels.csv", "--json") == 0
    told = json.loads(shell.out)
    assert told["files"] == {"labels": "labels.csv"}
    assert sorted(told["sizes"]) == [10, 10]
    assert told["score"]["ari"] == 1
    assert told["score"]["satisfaction"] == 1
    assert told["score"]["total"] == 6
    assert told["score_without_constraints"]["ari"] == 1
    assert told["eigenvalues"] == sorted(told["eigenvalues"])
    assert told["solver"] != "not reported"
    assert told["certificate"] != "not reported"
    assert set(told["seconds"]) == {"reading", "reading constraints", "clustering", "comparing", "writing"}


def test_the_summary_is_short_and_progress_stays_on_stderr(shell, clouds_csv):
    options = ("--label-column", "seen", "--truth-column", "class", "--drop", "name")
    csp = ("--method", "csp", *FAST, *options)
    shell("cluster", clouds_csv, *csp, "-o", "labels.csv", "--verbose")
    assert "of 4 labelled points in the cluster of their class" in shell.out
    assert "solver" in shell.out
    assert "..." not in shell.out
    assert "clustering 20 points (csp) ... " in shell.err
    assert len(shell.out.splitlines()) < 14
    shell("cluster", clouds_csv, *csp, "-o", "labels.csv")
    assert "solver" not in shell.out


def test_the_quiet_hear_nothing(shell, clouds_csv):
    assert shell("cluster", clouds_csv, *FAST, "--columns", "x,y", "-o", "labels.csv", "--quiet") == 0
    assert (shell.out, shell.err) == ("", "")


def test_the_report_lies_beside_the_labels_and_the_picture_where_it_is_put(shell, clouds_csv):
    words = ("-k", 2, "--neighbors", 5, "--columns", "x,y", "-o", "labels.csv", "--picture", "p.png")
    assert shell("cluster", clouds_csv, *words) == 0
    assert (shell.directory / "labels.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert (shell.directory / "p.png").read_bytes().startswith(b"\x89PNG")


def test_strict_runs_end_with_three_if_a_hard_constraint_is_violated(shell, clouds_csv, two_clouds):
    # One must-link between two clouds far apart: cutting it is cheaper than cutting a cloud.
    first, second = np.flatnonzero(two_clouds[1] == 0)[0], np.flatnonzero(two_clouds[1] == 1)[0]
    words = ("cluster", clouds_csv, *FAST, "--columns", "x,y", "-o", "l.csv", "--method", "spectral-learning")
    shell.write("hard.csv", f"{first},{second},1\n")
    shell.write("soft.csv", f"{first},{second},0.5\n")
    assert shell(*words, "--constraints", "hard.csv") == 0
    assert shell(*words, "--constraints", "hard.csv", "--strict") == 3
    assert shell.labels("l.csv")
    assert shell(*words, "--constraints", "soft.csv", "--strict") == 0


def test_a_numbered_heading_must_be_told_from_a_point(shell, two_clouds):
    pd.DataFrame(two_clouds[0]).to_csv("x.csv", index=False)
    assert shell("cluster", "x.csv", *FAST, "-o", "l.csv") == 2
    assert "--header or --no-header" in shell.err
    assert shell("cluster", "x.csv", *FAST, "-o", "l.csv", "--header") == 0
    assert len(shell.labels("l.csv")) == 20
    assert shell("cluster", "x.csv", *FAST, "-o", "l.csv", "--no-header") == 0
    assert len(shell.labels("l.csv")) == 21


def test_the_same_seed_gives_the_same_labels(shell):
    np.save("x.npy", np.random.default_rng(0).normal(size=(60, 3)))
    results = []
    for _ in range(2):
        shell("cluster", "x.npy", "-k", 4, "--no-report", "-o", "l.npy", "--seed", 5)
        results.append(np.load("l.npy"))
    np.testing.assert_array_equal(*results)


def test_standardizing_and_settings_reach_the_method(shell, clouds_csv):
    words = ("--columns", "x,y", "-o", "l.csv", "--standardize", "--set", "n_neighbors=3")
    assert shell("cluster", clouds_csv, "-k", 2, *words) == 0
    report = (shell.directory / "l.html").read_text(encoding="utf-8")
    assert '<th scope="row">n_neighbors</th><td data-head="value">3</td>' in report


@pytest.mark.parametrize(
    ("command", "complaint"),
    [
        ("cluster cloud.csv -k 2 -o l.csv", "no file cloud.csv; did you mean clouds.csv?"),
        ("cluster clouds.csv -k 2 -o l.csv", "--label-column seen --drop class"),
        ("cluster clouds.csv -k 2 -o l.xls", "cannot write '.xls' files"),
        ("cluster clouds.csv -k 2 -o l", "l: its name needs a suffix: .csv, .tsv"),
        ("cluster clouds.csv -k 2 -o no/l.csv", "no directory no"),
        ("cluster clouds.csv -k 2 -o clouds.csv", "overwrite an input"),
        ("cluster clouds.csv -k 99 -o l.csv --columns x", "99 clusters of 20 points"),
        ("cluster clouds.csv -k 0 -o l.csv --columns x", "0 clusters of 20 points"),
        ("cluster clouds.csv -k 2 -o l.csv --method magic", "no method 'magic'"),
        ("cluster clouds.csv -k 2 -o l.csv --columns x --set a=1", "no parameter 'a'"),
        ("cluster clouds.csv -k 2 -o l.csv --report r.html --no-report", "leave one out"),
        ("cluster clouds.csv -k 2 -o l.csv --picture p.gif", "cannot write '.gif'"),
        ("cluster w.edges -k 2 -o l.csv --affinity knn", "is a graph already"),
        (
            "cluster clouds.csv -k 2 -o l.csv --columns x --constraints d.csv --method normalized-cut",
            "cannot use",
        ),
        ("cluster clouds.csv -k 2", "Say where the result goes with -o"),
        ("cluster clouds.csv -k 2 -o l.csv --columns x --constraints c.csv", "--id-column"),
    ],
)
def test_bad_usage_ends_with_two_and_says_what_to_do(shell, clouds_csv, command, complaint):
    shell.write("w.edges", "a b\nb c\n")
    shell.write("c.csv", "i,j,kind\np1,p2,must\n")
    shell.write("d.csv", "0,1,1\n")
    assert shell(*command.split()) == 2
    assert "error: " in shell.err
    assert complaint in shell.err
    assert "Traceback" not in shell.err
    assert shell.out == ""


def test_a_contradiction_ends_with_two_and_may_be_weighed(shell, clouds_csv):
    shell.write("c.csv", "0,1,1\n1,2,1\n0,2,-1\n")
    words = ("cluster", clouds_csv, *FAST, "--columns", "x,y", "-o", "l.csv", "--constraints", "c.csv")
    assert shell(*words) == 2
    assert "0 - 1 - 2" in shell.err
    assert shell(*words, "--on-conflict", "weigh") == 0
    assert shell(*words, "--on-conflict", "drop") == 0
    assert "sidecut: warning: dropped 1 of 3 links" in shell.err


@pytest.mark.parametrize("method", ["cop-kmeans", "constrained-gmm", "metric-kmeans"])
def test_methods_without_a_graph_tell_of_their_clusters_too(shell, two_clouds, method):
    X, classes = two_clouds
    wide = np.column_stack([X, np.random.default_rng(1).normal(size=(20, 2))])
    rows = [
        f"{','.join(map(repr, row))},{c if i < 4 else ''}"
        for i, (row, c) in enumerate(zip(wide.tolist(), classes, strict=True))
    ]
    shell.write("wide.csv", "\n".join(["a,b,c,d,seen", *rows]) + "\n")
    words = ("cluster", "wide.csv", "-k", 2, "--label-column", "seen", "--no-compare", "--method", method)
    assert shell(*words, "-o", "labels.csv", "--report", "report.html") == 0, shell.err
    assert agreement(shell.labels(), classes) == 1
    report = (shell.directory / "report.html").read_text(encoding="utf-8")
    assert "the first two principal components of the data" in report.replace("&#39;", "'")
    np.save("w.npy", np.ones((20, 20)))
    assert shell("cluster", "w.npy", "--graph", "-k", 2, "--method", method, "-o", "labels.csv") == 2
    assert "is a graph, and" in shell.err


def test_the_number_of_clusters_and_the_method_can_be_chosen_by_what_is_known(shell):
    rng = np.random.default_rng(0)
    classes = rng.permutation(np.repeat(["cat", "dog", "cow"], 25))
    X = rng.normal(size=(75, 2)) + 6 * np.unique(classes, return_inverse=True)[1][:, None]
    frame = pd.DataFrame(X, columns=["x", "y"]).assign(kind=np.where(np.arange(75) < 18, classes, ""))
    frame.to_csv("x.csv", index=False)
    assert shell("cluster", "x.csv", "--label-column", "kind", "-o", "l.csv") == 0, shell.err
    assert "were put into 3 clusters by the method chosen for them" in shell.out
    assert agreement(pd.read_csv("l.csv")["class"], classes) > 0.9
    report = (shell.directory / "l.html").read_text(encoding="utf-8")
    assert "What was tried" in report
    assert "verdict" in report


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (("-k", "many"), "--clusters many: give a whole number, bounds such as 2-6, or auto"),
        (
            ("-k", "auto", "--method", "csp"),
            "csp needs the number of clusters: say --clusters K. Only --method auto",
        ),
    ],
)
def test_numbers_of_clusters_that_cannot_be_used(shell, clouds_csv, options, complaint):
    shell.write("c.csv", "i,label\n0,a\n1,b\n")
    words = (
        "cluster",
        clouds_csv,
        "--columns",
        "x,y",
        "--constraints",
        "c.csv",
        "-o",
        "l.csv",
        "--no-report",
    )
    assert shell(*words, *options) == 2
    assert complaint in shell.err


def test_points_in_the_cluster_of_another_class_are_named(shell, two_clouds):
    X, classes = two_clouds
    said = ["ab"[c] for c in classes]
    said[3] = "ab"[1 - classes[3]]
    rows = [f"p{i},{x!r},{y!r},{said[i]}" for i, (x, y) in enumerate(X.tolist())]
    shell.write("clouds.csv", "\n".join(["name,x,y,seen", *rows]) + "\n")
    words = ("--id-column", "name", "--label-column", "seen", "-k", 2, "--neighbors", 5, "--no-report")
    assert (
        shell("cluster", "clouds.csv", *words, "--method", "e2cp", "--set", "safe=false", "-o", "l.csv") == 0
    ), shell.err
    named = f"p3 ({said[3]}, in {'ab'[classes[3]]})"
    assert f"one point of a known class went to the cluster of another: {named}" in shell.out
    assert "19 of 20 labelled points are in the cluster of their class" in shell.out


def test_knowledge_that_changes_nothing_is_said_to_do_so(shell):
    rows = [f"{10 * (i // 8) + 0.1 * (i % 8)},{'ab'[i // 8] if i % 8 < 3 else ''}" for i in range(16)]
    shell.write("t.csv", "\n".join(["x,kind", *rows]))
    words = ("cluster", "t.csv", "--label-column", "kind", "-k", 2, "--method", "e2cp", "--neighbors", 4)
    assert shell(*words, "--no-report", "-o", "l.csv") == 0, shell.err
    assert "What you know moved no point to another cluster than without it, and" in " ".join(
        shell.out.split()
    )
    assert "6 of 6 labelled points are in the cluster of their class." in " ".join(shell.out.split())


def test_one_row_is_refused_in_plain_words(shell):
    shell.write("t.csv", "x,y\n1,2\n")
    assert shell("cluster", "t.csv", "-o", "l.csv") == 2
    assert "t.csv has only one row; clustering needs at least two." in shell.err


def test_a_single_column_of_labels_is_proposed(shell):
    shell.write("t.csv", "x,y,kind\n1,2,\n2,2,\n8,9,owl\n9,9,\n1,3,\n")
    assert shell("cluster", "t.csv", "-o", "l.csv") == 2
    assert shell.err.endswith("All that this table seems to need: --label-column kind.\n")


def test_a_cluster_without_a_class_is_called_by_its_number(shell):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 20)
    X = rng.normal(size=(60, 2)) + 20 * np.eye(3, 2)[y]
    seen = ["xy"[c] if c < 2 and row % 4 == 0 else "" for row, c in enumerate(y)]
    rows = [f"{a},{b},{kind}" for (a, b), kind in zip(X, seen, strict=True)]
    shell.write("t.csv", "\n".join(["a,b,kind", *rows]) + "\n")
    words = ("--label-column", "kind", "-k", 3, "--method", "e2cp", "--no-report", "-o", "l.csv")
    assert shell("cluster", "t.csv", *words) == 0, shell.err
    sizes = next(line for line in shell.out.splitlines() if line.startswith("sizes"))
    assert sorted(part.split(": ")[0] for part in sizes[5:].strip().split(", ")) in (
        [[f"cluster {c}", "x", "y"] for c in range(3)]
    )


@pytest.mark.parametrize("is_known", [False, True])
def test_layers_say_how_many_clusters_there_are_and_what_is_noise(shell, is_known):
    rng = np.random.default_rng(0)
    classes = np.repeat([0, 1, 2], 60)
    X = rng.normal(size=(180, 4)) + 2 * np.eye(4)[classes]
    frame = pd.DataFrame(X, columns=list("abcd")).assign(name=[f"p{i}" for i in range(180)])
    frame.to_csv("a.csv", index=False)
    shell.write(
        "known.csv", "name,label\n" + "".join(f"p{60 * c + i},k{c}\n" for c in range(3) for i in (0, 1))
    )
    known = ("--constraints", "known.csv") if is_known else ()
    where = ("a.csv", "--id-column", "name", "--method", "layers", "--seed", 0, *known, "-o", "labels.csv")
    assert shell("cluster", *where, "--set", "noise=true", "--json") == 0, shell.err
    said = json.loads(shell.out)
    labels = np.array(shell.labels())
    assert said["n_clusters"] == 3
    assert said["noise"] == np.count_nonzero(labels == -1) > 0
    assert said["sizes"] == np.bincount(labels[labels >= 0]).tolist()
    assert ("guess" in " ".join(said["summary"])) == (not is_known)
    page = (shell.directory / "labels.html").read_text()
    assert '<th scope="row">noise</th>' in page
    if is_known:
        named = pd.read_csv("labels.csv")
        assert set(named["class"][named["label"] == -1]) == {"noise"}
    assert shell("cluster", *where) == 0, shell.err
    assert min(shell.labels()) == 0
    assert "noise" not in shell.out


def test_points_of_clusters_without_a_class_are_counted_and_full_labels_spoken_of(shell, clouds_csv):
    """Nothing looked doubtful where every row had its class already, or one cluster of two had none."""
    words = (
        "-k",
        2,
        "--neighbors",
        5,
        "--drop",
        "name,seen",
        "--method",
        "e2cp",
        "--no-report",
        "-o",
        "l.csv",
    )
    assert shell("cluster", clouds_csv, "--label-column", "class", *words) == 0, shell.err
    assert "every point has a known class, so nothing is left to find" in shell.out
    frame = pd.read_csv(clouds_csv)
    first = frame["class"].where((frame["class"] == frame["class"][0]) & (frame.index < 8))
    frame.assign(**{"class": first}).to_csv("one.csv", index=False)
    assert shell("cluster", "one.csv", "--label-column", "class", *words) == 0, shell.err
    counts = pd.read_csv("l.csv")["class"].value_counts()
    assert f"{counts.drop(first[0]).sum()} points are in clusters without a known class" in shell.out
