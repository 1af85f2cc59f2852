import json
import pickle
import subprocess

import numpy as np
import pandas as pd
import pytest

from sidecut.cli.console import UsageError
from sidecut.cli.predict import load_model


@pytest.fixture
def animals(shell):
    """old.csv and new.csv: two clouds, a gap, a category, and the classes of a few in old.csv."""
    rng = np.random.default_rng(0)
    kind = rng.permutation(np.repeat([0, 1], 30))
    frame = pd.DataFrame(rng.normal(size=(60, 2)) + 6 * kind[:, None], columns=["x", "y"])
    frame["colour"] = np.where(rng.random(60) < 0.5, "red", "blue")
    frame["who"] = [f"p{row}" for row in range(60)]
    frame["kind"] = np.array(["cat", "dog"])[kind]
    frame.loc[3, "x"] = np.nan
    old = frame[:40].copy()
    old.loc[20:, "kind"] = ""
    old.to_csv("old.csv", index=False)
    frame[40:].to_csv("new.csv", index=False)
    return frame


TABLE = ("--impute", "--encode", "--standardize", "--label-column", "kind", "--id-column", "who")
OLD = ("cluster", "old.csv", *TABLE, "-k", 2, "-o", "l.csv", "--no-report", "--model", "m.sidecut")


@pytest.mark.parametrize("method", ["csp", "ncsc", "scacs", "cop-kmeans", "constrained-gmm"])
def test_new_points_get_the_classes_of_their_clusters(shell, animals, method):
    settings = ("--set", "n_landmarks=20") if method == "scacs" else ()
    graph = ("--neighbors", 8) if method in ("csp", "ncsc") else ()
    assert shell(*OLD, "--method", method, *settings, *graph) == 0, shell.err
    # The model knows which column names the points.
    assert shell("predict", "m.sidecut", "new.csv", "-o", "new_labels.csv") == 0, shell.err
    assert "Clustered by x, y, colour; left out who (names)" in shell.out
    told = pd.read_csv("new_labels.csv")
    assert list(told.columns) == ["who", "label", "class", "confidence"]
    assert told["confidence"].between(0, 1).all()
    assert told["confidence"].mean() > 0.8
    assert told["who"].tolist() == animals["who"][40:].tolist()
    assert (told["class"].to_numpy() == animals["kind"][40:].to_numpy()).mean() > 0.9


def test_new_points_with_the_graph_that_autocut_learned(shell):
    """Two features tell three classes apart, four others show clusters of another kind; half have labels."""
    rng = np.random.default_rng(0)
    kind, other = rng.integers(0, 3, (2, 160))
    X = rng.normal(size=(160, 6))
    X[:, :2] += 4.0 * np.column_stack([kind == 1, kind == 2])
    X[:, 2:] += 4.0 * (other == 1)[:, None]
    frame = pd.DataFrame(X, columns=list("abcdef"))
    frame["kind"] = np.array(["cat", "dog", "owl"])[kind]
    old = frame[:120].copy()
    old.loc[60:, "kind"] = ""
    old.to_csv("old.csv", index=False)
    frame[120:].drop(columns="kind").to_csv("new.csv", index=False)
    words = ("--label-column", "kind", "-k", 3, "-o", "l.csv", "--no-report", "--model", "m.sidecut")
    assert shell("cluster", "old.csv", *words) == 0, shell.err
    assert "classifier" in shell.out
    assert shell("predict", "m.sidecut", "new.csv", "-o", "new_labels.csv") == 0, shell.err
    told = pd.read_csv("new_labels.csv")
    assert (told["class"].to_numpy() == frame["kind"][120:].to_numpy()).mean() > 0.9


def test_arrays_of_new_points(shell, animals):
    X = animals[["x", "y"]].fillna(0.0).to_numpy()
    np.save("old.npy", X[:40])
    np.save("new.npy", X[40:])
    words = ("old.npy", "-k", 2, "--standardize", "--neighbors", 8, "--no-report", "--model", "m.sidecut")
    assert shell("cluster", *words, "-o", "l.csv") == 0, shell.err
    assert shell("predict", "m.sidecut", "new.npy", "-o", "-") == 0, shell.err
    rows = shell.out.splitlines()
    assert rows[0] == "index,label,confidence"
    assert len(rows) == 21
    np.save("wide.npy", np.ones((3, 5)))
    assert shell("predict", "m.sidecut", "wide.npy", "-o", "-") == 2
    assert "has 5 features, and the model was made from 2" in shell.err


def test_files_that_are_no_models_are_refused(shell, animals):
    shell.write("m.sidecut", "hello")
    assert shell("predict", "m.sidecut", "new.csv", "-o", "-") == 2
    assert "m.sidecut is no model that this version of sidecut" in shell.err


def test_nothing_in_a_model_file_is_run(shell, tmp_path):
    class Evil:
        def __reduce__(self):
            return (print, ("ran",))

    path = tmp_path / "m.sidecut"
    path.write_bytes(pickle.dumps(Evil()))
    with pytest.raises(UsageError, match="is no model"):
        load_model(path)
    import skops.io

    # A type that no model has is not even made.
    skops.io.dump({"predictor": subprocess.Popen}, path)
    with pytest.raises(UsageError, match="which no model of sidecut does"):
        load_model(path)
    assert "ran" not in shell.out


def test_missing_columns_and_overwriting_are_refused(shell, animals):
    assert shell(*OLD) == 0, shell.err
    animals[["x", "who"]].to_csv("less.csv", index=False)
    assert shell("predict", "m.sidecut", "less.csv", "-o", "-") == 2
    assert "less.csv has no column 'y'" in shell.err
    assert shell("predict", "m.sidecut", "new.csv", "-o", "new.csv") == 2
    assert "overwrite an input" in shell.err


def test_a_graph_has_no_new_points(shell):
    shell.write("g.edges", "a b\nb c\nc a\nc d\nd e\ne f\nf d\n")
    assert shell("cluster", "g.edges", "-k", 2, "-o", "l.csv", "--no-report", "--model", "m.sidecut") == 2
    assert "--model needs points with features" in shell.err


def test_labels_on_standard_output_and_as_json_lines(shell, animals):
    words = ("cluster", "old.csv", *TABLE, "-k", 2, "--method", "cop-kmeans")
    assert shell(*words, "-o", "-") == 0, shell.err
    assert shell.out.splitlines()[0] == "who,label,class,confidence"
    assert len(shell.out.splitlines()) == 41
    assert shell(*words, "-o", "l.jsonl", "--no-report") == 0
    rows = [json.loads(line) for line in (shell.directory / "l.jsonl").read_text().splitlines()]
    assert set(rows[0]) == {"who", "label", "class", "confidence"}
    assert (
        shell("cluster", "l.jsonl", "--columns", "label", "-k", 2, "-o", "-", "--method", "cop-kmeans") == 0
    )
    assert shell(*words, "-o", "-", "--json") == 2
    assert "write one of the two to a file" in shell.err


def test_new_numbers_may_be_written_in_another_way_and_text_is_refused(shell, animals):
    assert shell(*OLD, "--method", "cop-kmeans") == 0, shell.err
    new = animals[40:]
    new.to_csv("commas.csv", index=False, sep=";", decimal=",")
    assert shell("predict", "m.sidecut", "commas.csv", "-o", "-") == 0, shell.err
    with_commas = shell.out
    assert shell("predict", "m.sidecut", "new.csv", "-o", "-") == 0, shell.err
    assert shell.out == with_commas
    new.assign(y="high").to_csv("words.csv", index=False)
    assert shell("predict", "m.sidecut", "words.csv", "-o", "-") == 2
    assert "Column 'y' of words.csv held numbers in the data before; here row 0 holds 'high'" in shell.err


def test_the_report_of_new_points(shell, animals):
    assert shell(*OLD, "--method", "ncsc", "--neighbors", 8) == 0, shell.err
    words = ("predict", "m.sidecut", "new.csv", "-o", "new_labels.csv")
    assert shell(*words, "--report", "new.html") == 0, shell.err
    page = (shell.directory / "new.html").read_text(encoding="utf-8")
    rows = shell.table("new_labels.csv")
    place = rows[0].index("class")
    for name in {row[place] for row in rows[1:]}:
        count = sum(row[place] == name for row in rows[1:])
        assert f'<th scope="row">{name}</th><td data-head="points" class="number">{count}</td>' in page
    assert "in the clusters of m.sidecut" in page
    assert shell(*words, "--report", "new.txt") == 2
    assert "cannot write '.txt' files" in shell.err
