"""What a new user tried, row by row, and what it says now."""

import gzip
import json
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris, load_wine, make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

import sidecut
from sidecut import Constraints
from sidecut.constraints import sample_labels, sample_pairs
from sidecut.exceptions import ConstraintError, ConstraintWarning, SidecutWarning
from sidecut.images import segment

#: Row 14: the methods that work on the points themselves, and one on a graph.
ON_POINTS = ("COPKMeans", "ConstrainedGMM", "MetricKMeans", "LSC", "SCACS", "NormalizedCut")
CONSTRAINED = ("CSP", "E2CP", "CSAP", "NCSC", "SCACS", "CCSR", "SSKK", "SpectralLearning", "MetricKMeans")
K2 = ("-k", 2, "--no-report", "-o", "l.csv", "--quiet")


@pytest.fixture
def three_clouds():
    rng = np.random.default_rng(0)
    classes = rng.permutation(np.repeat([0, 1, 2], 20))
    return rng.normal(size=(60, 2)) + 6 * classes[:, None], classes


@pytest.fixture
def people(shell, three_clouds):
    """people.csv: x, y, a name for every row, and the class of a few."""
    X, classes = three_clouds
    frame = pd.DataFrame(X, columns=["x", "y"])
    frame["who"] = [f"p{row}" for row in range(60)]
    frame["kind"] = [["cat", "dog", "cow"][c] if row < 12 else "" for row, c in enumerate(classes)]
    frame.to_csv("people.csv", index=False)
    return frame


POINTS = ("people.csv", "--id-column", "who", "--drop", "kind", "--neighbors", 8)


# Row 4: unknown markers become a class


@pytest.mark.parametrize("marker", ["?", "unknown", "nan", "None", "-1"])
def test_row_4_markers_are_asked_about_by_the_command_and_by_python(shell, people, marker):
    people["kind"] = people["kind"].replace("", marker)
    people.to_csv("people.csv", index=False)
    words = ("cluster", "people.csv", "--id-column", "who", "--label-column", "kind", *K2[2:], "-k", 3)
    if marker != "nan":
        assert shell(*words) == 2
        assert f"row 12 holds '{marker}', which may mean unknown or be a class" in shell.err
        assert (
            f"say --unknown '{marker}' if it means unknown, or say --unknown '' if it is a class" in shell.err
        )
    assert shell(*words, "--unknown", marker, "--json") == 0, shell.err
    assert set(json.loads(shell.out)["classes"].values()) == {"cat", "dog", "cow"}
    with pytest.raises(sidecut.exceptions.ConstraintError, match=r"may mean unknown.*unknown=\(\)"):
        Constraints.from_labels(people["kind"])
    assert Constraints.from_labels(people["kind"], unknown=marker).known_classes[12:].tolist() == [None] * 48


def test_row_4_an_empty_text_is_unknown_everywhere(shell, people):
    assert (
        shell("cluster", *POINTS[:-2], "-k", 3, "--no-report", "-o", "l.csv", "--constraints", "k.csv") == 2
    )
    people[["who", "kind"]].rename(columns={"kind": "label"}).to_csv("k.csv", index=False)
    assert shell("cluster", *POINTS, "-k", 3, "--no-report", "-o", "l.csv", "--constraints", "k.csv") == 0
    known = Constraints.from_labels(people["kind"].tolist())
    assert len(known.constrained_points) == 12


def test_row_4_minus_one_in_an_unsigned_array(shell, three_clouds):
    np.savez("x.npz", X=three_clouds[0], y=np.where(np.arange(60) < 9, three_clouds[1], -1).astype(np.uint8))
    assert shell("cluster", "x.npz", "--label-column", "y", *K2) == 2
    assert "255 is what -1 becomes in uint8" in shell.err
    assert "--unknown 255" in shell.err
    assert shell("cluster", "x.npz", "--label-column", "y", "--unknown", 255, *K2[2:], "-k", 3) == 0


# Row 5: more classes than clusters, or a clique of cannot-links


@pytest.mark.parametrize("name", CONSTRAINED)
def test_row_5_too_few_clusters_are_said_before_the_fit_by_every_method(three_clouds, name):
    X, classes = three_clouds
    known = Constraints.from_labels(np.where(np.arange(60) < 9, classes, -1))
    clique = Constraints.from_pairs(60, cannot_link=[(0, 1), (1, 2), (0, 2)])
    model = getattr(sidecut, name)(2, random_state=0)
    for constraints, message in (
        (known, r"The labels name 3 classes \(\d, \d, \d\), but n_clusters=2"),
        (clique, r"The points 0, 1, 2 are all apart .* takes 3 clusters, but n_clusters=2"),
    ):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model.fit(X, constraints=constraints)
        first = next(w for w in caught if issubclass(w.category, ConstraintWarning))
        assert pd.Series([str(first.message)]).str.contains(message).all(), first.message


def test_row_5_check_takes_the_number_of_clusters(shell):
    shell.write("c.csv", "i,label\n0,a\n1,b\n2,c\n3,d\n")
    assert shell("check", "c.csv", "--samples", 9, "--clusters", 3) == 2
    assert "clusters needed  at least 4" in shell.out
    assert "The labels name 4 classes (a, b, c, d), but --clusters 3" in shell.out
    assert shell("check", "c.csv", "--samples", 9, "--clusters", 4) == 0


# Row 9: the comparison dwarfs a fast method


def test_row_9_the_comparison_is_with_the_methods_own_unconstrained_form(shell, people, monkeypatch):
    seen = []
    fit = sidecut.SCACS.fit

    def recorded(self, X, y=None, *, constraints=None):
        seen.append((type(self).__name__, constraints.is_empty))
        return fit(self, X, y, constraints=constraints)

    monkeypatch.setattr(sidecut.SCACS, "fit", recorded)
    words = ("people.csv", "--id-column", "who", "--label-column", "kind", "--set", "n_landmarks=30")
    assert shell("cluster", *words, "--method", "scacs", "-k", 3, "--no-report", "-o", "l.csv") == 0, (
        shell.err
    )
    assert seen == [("SCACS", False), ("SCACS", True)]


# Rows 10, 12, 13, 20: files


def test_row_10_compressed_data_and_constraints_are_read(shell, people):
    with gzip.open("people.csv.gz", "wt") as file:
        people.to_csv(file, index=False)
    with gzip.open("k.csv.gz", "wt") as file:
        file.write("who,label\np0,a\np1,b\n")
    pd.DataFrame({"who": ["p0", "p1"], "label": ["a", "b"]}).to_parquet("k.parquet")
    for known in ("k.csv.gz", "k.parquet"):
        assert shell("cluster", "people.csv.gz", *POINTS[1:], *K2, "--constraints", known) == 0, shell.err
    (shell.directory / "bad.csv.gz").write_text("no gzip")
    (shell.directory / "picture.csv").write_bytes(b"\x89PNG\r\n\x1a\n\xff\x00")
    assert shell("cluster", *POINTS, *K2, "--constraints", "bad.csv.gz") == 2
    assert "bad.csv.gz is not a whole compressed file" in shell.err
    assert shell("cluster", *POINTS, *K2, "--constraints", "picture.csv") == 2
    assert "picture.csv is not text in utf-8: it looks like a PNG picture" in shell.err


@pytest.mark.parametrize("text", ["", "who,label\n", "# later\n"])
def test_row_12_a_file_without_constraints_is_told(shell, people, text):
    shell.write("c.csv", text)
    assert shell("cluster", *POINTS, *K2, "--constraints", "c.csv") == 0
    assert "c.csv holds no constraints: nothing is known from it" in shell.err


def test_row_13_semicolons_work_in_constraints_too(shell, people):
    shell.write("c.csv", "who;label\np0;a\np1;b\n")
    assert shell("cluster", *POINTS, "-k", 2, "--no-report", "-o", "l.csv", "--constraints", "c.csv") == 0
    assert "known classes of 2 points" in shell.out


def test_row_20_a_text_file_called_npy_is_named_without_dangerous_advice(shell):
    shell.write("x.npy", "1,2\n3,4\n")
    assert shell("cluster", "x.npy", *K2) == 2
    assert "x.npy is no NumPy file" in shell.err
    assert "pickle" not in shell.err


# Row 11: a graph and a method for points


def test_row_11_methods_for_points_say_so(shell):
    shell.write("g.edges", "a b\nb c\n")
    assert shell("cluster", "g.edges", "--method", "scacs", *K2) == 2
    assert "g.edges is a graph, and scacs clusters points by their features. Choose a method" in shell.err


# Row 14: extremes


@pytest.mark.parametrize("name", ON_POINTS)
@pytest.mark.parametrize("scale", [1e300, 1.7e308, 1e-200, 1e-300])
def test_row_14_extreme_points_are_scaled_and_the_clusters_found(three_clouds, name, scale):
    X, classes = three_clouds
    X = X / np.abs(X).max() * scale
    with pytest.warns(SidecutWarning, match="X was divided by"):
        model = getattr(sidecut, name)(3, random_state=0).fit(X)
    assert adjusted_rand_score(classes, model.labels_) == 1
    if hasattr(model, "predict"):
        assert adjusted_rand_score(model.labels_, model.predict(X)) == 1


def test_row_14_points_of_usual_size_are_not_touched(three_clouds):
    model = sidecut.COPKMeans(3, random_state=0).fit(three_clouds[0])
    assert model._exponent == 0


@pytest.mark.parametrize("scale", [1e300, 1e-300])
def test_row_14_standardizing_extremes_keeps_the_clusters(shell, three_clouds, scale):
    X, classes = three_clouds
    pd.DataFrame(X / np.abs(X).max() * scale, columns=["x", "y"]).to_csv("x.csv", index=False)
    assert shell("cluster", "x.csv", "--standardize", *K2[2:], "-k", 3, "--neighbors", 8) == 0, shell.err
    assert adjusted_rand_score(classes, shell.labels("l.csv")) == 1


# Row 15: a frame with a category column


@pytest.mark.parametrize("name", ["LSC", "SCACS"])
def test_row_15_categories_are_refused_with_advice(three_clouds, name):
    frame = pd.DataFrame(three_clouds[0]).assign(kind=pd.Categorical(["u", "v"] * 30))
    frame.columns = frame.columns.astype(str)
    with pytest.raises(ValueError, match=r"Column 'kind'.*must become numbers first.*OneHotEncoder"):
        getattr(sidecut, name)(3).fit(frame)


# Row 16: names instead of row numbers


def test_row_16_infeasible_links_are_told_by_name(shell, people):
    shell.write("c.csv", "a,b,kind\np3,p4,cannot\np4,p5,cannot\np3,p5,cannot\n")
    words = ("people.csv", "--id-column", "who", "--drop", "kind", *K2, "--constraints", "c.csv")
    assert shell("cluster", *words, "--method", "cop-kmeans") == 2
    assert "2 clusters are too few to keep all of these apart: p3 and p4" in shell.err
    assert shell("cluster", *words, "--method", "ncsc", "--neighbors", 8) == 0
    assert "The points p3, p4, p5 are all apart" in shell.err
    # With --hard the search says which links cannot all hold, by name too.
    assert shell("cluster", *words, "--method", "ncsc", "--neighbors", 8, "--hard") == 0
    violated = shell.err.split("1 cannot-link remains violated")[1]
    assert "are all apart" not in shell.err
    assert "(p3, p4)" in violated
    assert "(3, 4)" not in violated


# Row 17: no file replaced that was not named


def test_row_17_a_page_beside_the_labels_is_not_replaced(shell, people):
    shell.write("l.html", "<p>mine</p>")
    words = ("cluster", *POINTS, "-k", 2, "-o", "l.csv", "--quiet")
    assert shell(*words) == 2
    assert "would replace l.html, which is no report of sidecut" in shell.err
    assert (shell.directory / "l.html").read_text() == "<p>mine</p>"
    assert shell(*words, "--report", "r.html") == 0
    # A report of its own is replaced by the next.
    assert shell("cluster", *POINTS, "-k", 2, "-o", "r.csv", "--quiet") == 0


# Row 19: true and false in any spelling


@pytest.mark.parametrize("value", ["true", "True", "TRUE", "yes", "on"])
def test_row_19_true_in_any_spelling(shell, people, value):
    words = ("people.csv", "--id-column", "who", "--label-column", "kind", "--neighbors", 8)
    assert shell("cluster", *words, *K2[2:], "-k", 3, "--set", f"hard={value}") == 0, shell.err


def test_row_19_hard_is_an_option(shell, people):
    words = ("people.csv", "--id-column", "who", "--label-column", "kind")
    for method in ("ncsc", "cop-kmeans", "metric-kmeans"):
        assert shell("cluster", *words, *K2[2:], "-k", 3, "--hard", "--strict", "--method", method) == 0, (
            shell.err
        )


# Row 1: two labels destroyed good clusterings, and the warning spoke of feasible cuts


@pytest.mark.parametrize("load", [load_iris, load_wine])
def test_row_1_two_labels_do_not_destroy_a_clustering(load):
    X, y = load(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    k = len(set(y))
    alone = adjusted_rand_score(y, sidecut.NormalizedCut(k, random_state=0).fit(X).labels_)
    told = [sample_labels(y, 2, random_state=draw) for draw in range(3)]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        labels = [sidecut.CSP(k, random_state=0).fit(X, constraints=known).labels_ for known in told]
    assert np.mean([adjusted_rand_score(y, found) for found in labels]) >= alone - 0.02
    assert not any(word in str(one.message) for one in caught for word in ("feasible", "β", "Sylvester"))


def test_row_1_few_labels_of_unbalanced_classes():
    X, y = make_blobs([900, 60, 40], n_features=5, cluster_std=2.0, random_state=0)
    known = sample_labels(y, 25, random_state=0)
    found = sidecut.CSP(3, random_state=0).fit(X, constraints=known).labels_
    alone = sidecut.NormalizedCut(3, random_state=0).fit(X).labels_
    assert adjusted_rand_score(y, found) >= adjusted_rand_score(y, alone) - 0.02


# Row 2: the memory of CSAP had no bound


def test_row_2_csap_states_its_memory_before_it_needs_it(monkeypatch):
    """1,109 labels on 43,500 points took 22 GB: now another way is taken, or the number is stated at once."""
    X, y = make_blobs(3000, n_features=2, centers=3, random_state=0)
    known = sample_labels(y, 900, random_state=0)
    monkeypatch.setattr("sidecut.methods.csap.graph.MAX_BYTES", 2**25)
    merged = sidecut.CSAP(3, random_state=0).fit(X, constraints=known)
    assert known.satisfaction(merged.labels_) == 1
    assert adjusted_rand_score(y, merged.labels_) > 0.75
    with pytest.raises(
        ConstraintError, match=r"CSAP would need about .* GB .* Use fewer links or labels, or NCSC"
    ):
        sidecut.CSAP(3, approximate=False, safe=False, random_state=0).fit(X, constraints=known)


# Row 3: fit(X, C) ignored C


@pytest.mark.parametrize("name", CONSTRAINED)
def test_row_3_constraints_by_position_are_refused(three_clouds, name):
    X, classes = three_clouds
    known = sample_labels(classes, 9, random_state=0)
    model = getattr(sidecut, name)(3)
    for call in (model.fit, model.fit_predict):
        with pytest.raises(ConstraintError, match=r"write fit\(X, constraints=\.\.\.\)"):
            call(X, known)


# Row 6: segments leaked across the user's own strokes


def test_row_6_every_stroke_is_kept():
    """Two halves that differ little, with a stroke of each class that reaches into the other half."""
    rng = np.random.default_rng(0)
    image = np.where(np.arange(60) < 30, 0.45, 0.55)[None, :, None] + 0.08 * rng.normal(size=(40, 60, 3))
    marks = np.zeros((40, 60), dtype=np.uint8)
    marks[10, 5:40], marks[30, 20:55] = 1, 2
    found = segment(np.clip(image, 0, 1), marks).labels
    np.testing.assert_array_equal(found[marks > 0], marks[marks > 0])


# Row 7: one label, or one class only, broke CSP and SCACS


@pytest.mark.parametrize("name", ["CSP", "SCACS", "E2CP", "CSAP", "NCSC"])
@pytest.mark.parametrize("n_known", [1, 4])
def test_row_7_labels_of_one_class_break_nothing(name, n_known):
    X, y = make_blobs(80, n_features=3, centers=3, random_state=0)
    known = np.full(80, -1)
    known[np.flatnonzero(y == 0)[:n_known]] = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SidecutWarning)
        model = getattr(sidecut, name)(3, random_state=0).fit(X, constraints=Constraints.from_labels(known))
    assert np.bincount(model.labels_, minlength=3).min() > 0
    assert adjusted_rand_score(y, model.labels_) > 0.9


# Row 8: SCACS with right pairs was far below LSC


@pytest.mark.parametrize("seed", range(4))
def test_row_8_right_pairs_do_not_harm_scacs(seed):
    X, y = make_blobs(2000, n_features=5, centers=2, cluster_std=3, random_state=seed)
    pairs = sample_pairs(y, 20, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SidecutWarning)
        found = sidecut.SCACS(2, random_state=seed).fit(X, constraints=pairs).labels_
    alone = sidecut.LSC(2, random_state=seed).fit(X).labels_
    assert adjusted_rand_score(y, found) >= adjusted_rand_score(y, alone) - 0.05


# Row 18: CCSR with as many clusters as points, almost, took most of a minute


def test_row_18_nearly_as_many_clusters_as_points():
    """Large programmes are solved by gradients: many cheap steps, and the same minimum."""
    X, y = make_blobs(80, centers=3, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SidecutWarning)
        model = sidecut.CCSR(78, safe=False, random_state=0).fit(
            X, constraints=sample_pairs(y, 20, random_state=0)
        )
    assert len(np.unique(model.labels_)) == 78
    assert model.programme_.status == "Solved"
    assert model.programme_.n_iterations < 1_000
