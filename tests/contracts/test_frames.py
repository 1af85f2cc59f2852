"""Labels and frames as people have them: arrays, series, dictionaries, an index, columns of text."""

import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import make_blobs

import sidecut
from sidecut import CSP, AutoCut, Constraints
from sidecut.active import ActiveClustering
from sidecut.diagnostics import find_suspects
from sidecut.exceptions import ConstraintError
from sidecut.methods.task import as_constraints

X, TRUTH = make_blobs(40, centers=3, random_state=0)
NAMES = np.array(["ant", "bee", "cat"])[TRUTH]
KNOWN = [name if row < 9 else None for row, name in enumerate(NAMES)]
FRAME = pd.DataFrame(X, columns=["width", "height"], index=[f"p{row}" for row in range(40)])
ESTIMATORS = [name for name in sidecut.__all__ if hasattr(getattr(sidecut, name), "fit")]
ORDER = np.random.RandomState(1).permutation(40)


def make(name, **more):
    return getattr(sidecut, name)(n_clusters=3, random_state=0, **more)


@pytest.mark.parametrize("name", [name for name in ESTIMATORS if name not in ("LSC", "NormalizedCut")])
def test_labels_are_constraints_for_every_estimator(name):
    expected = make(name).fit(X, constraints=Constraints.from_labels(KNOWN)).labels_
    np.testing.assert_array_equal(make(name).fit(X, constraints=KNOWN).labels_, expected)


@pytest.mark.parametrize(
    "given",
    [
        pytest.param(pd.Series(KNOWN, index=FRAME.index), id="series"),
        pytest.param(pd.Series(KNOWN, index=FRAME.index).iloc[ORDER], id="series in another order"),
        pytest.param(pd.Series(KNOWN, index=FRAME.index).dropna(), id="a shorter series"),
        pytest.param({f"p{row}": KNOWN[row] for row in range(9)}, id="dict"),
        pytest.param(np.array(KNOWN, dtype=object), id="array"),
        pytest.param(pl.Series(KNOWN), id="polars"),
    ],
)
def test_labels_go_by_the_index_of_the_frame(given):
    model = sidecut.CSP(3, random_state=0).fit(FRAME, constraints=given)
    assert model._task.constraints == Constraints.from_labels(KNOWN)
    assert set(model.cluster_classes_.values()) == set(NAMES)


def test_a_shuffled_frame_keeps_its_labels():
    """In the trial a shuffled frame was taken in silence."""
    shuffled = FRAME.iloc[ORDER]
    model = sidecut.CSP(3, random_state=0).fit(shuffled, constraints=pd.Series(KNOWN, index=FRAME.index))
    known = model._task.constraints.known_classes
    assert known.tolist() == [KNOWN[row] for row in ORDER]


def test_without_an_index_a_dictionary_names_rows():
    model = sidecut.E2CP(3, random_state=0).fit(X, constraints=dict(enumerate(KNOWN[:9])))
    assert model._task.constraints == Constraints.from_labels(KNOWN)


def test_other_ways_in():
    expected = Constraints.from_labels(KNOWN)
    run = ActiveClustering(random_state=0).start(X, KNOWN)
    assert run.constraints_.satisfaction(TRUTH) == 1
    assert set(run.constraints_.constrained_points) == set(range(9))
    found, wanted = (find_suspects(X, given).to_frame() for given in (KNOWN, expected))
    pd.testing.assert_frame_equal(found, wanted)
    assert list(found.columns) == ["point", "said", "chance", "instead", "reason"]
    assert sorted(found["point"]) == list(range(9))
    assert repr(find_suspects(X, KNOWN)) == "None of the 9 labels looks wrong."
    graph = sidecut.NormalizedCut(3, random_state=0).fit(X).affinity_matrix_.tosparse()
    model = sidecut.NCSC(3, affinity="precomputed", random_state=0).fit(graph, constraints=KNOWN)
    assert model._task.constraints == expected


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (KNOWN[:9], r"9 labels for 40 rows of X"),
        ({"q1": "ant"}, r"a label for 'q1', but no row of X is called so.*index of X.*'p0', 'p1', 'p2'"),
        (pd.Series(["ant"], index=[17]), r"a label for 17, but no row"),
        ([(0, 1), (1, 2)], r"Constraints\.from_pairs"),
        (np.eye(40), r"of shape \(40, 40\)"),
        ("ant", r"one label for each row"),
        (5, r"one label for each row"),
        (["?"] * 40, r"may mean unknown or be a class"),
    ],
)
def test_what_makes_no_sense_is_refused(given, words):
    with pytest.raises(ConstraintError, match=words):
        sidecut.CSP(3).fit(FRAME, constraints=given)


def test_an_index_with_doubles_is_refused():
    with pytest.raises(ConstraintError, match=r"The index of X has 'p3' more than once"):
        sidecut.CSP(3).fit(FRAME.rename(index={"p4": "p3"}), constraints={"p3": "ant", "p1": "bee"})


@pytest.mark.parametrize(
    "labels",
    [
        pd.Series([2, 4, None, 2], dtype="Int64"),
        pd.Series([2, 4, np.nan, 2]),
        np.array([2.0, 4.0, np.nan, 2.0]),
        np.array([2, 4, -1, 2]),
    ],
)
def test_whole_numbers_stay_whole(labels):
    known = Constraints.from_labels(labels)
    assert [repr(value) for value in known.known_classes] == ["2", "4", "None", "2"]
    assert repr(known) == "Constraints(n_samples=4, 3 labels (2: 2, 4: 1))"
    in_fit = as_constraints(labels, 4, pd.DataFrame({"x": range(4)}))
    assert [repr(value) for value in in_fit.known_classes] == ["2", "4", "None", "2"]


def test_halves_stay_halves():
    assert Constraints.from_labels([0.5, 1.0, np.nan]).known_classes.tolist() == [0.5, 1.0, None]


def test_reprs_say_what_was_given():
    labels = Constraints.from_labels(KNOWN)
    assert repr(labels).startswith("Constraints(n_samples=40, 9 labels (")
    assert all(f"{name}: {KNOWN.count(name)}" in repr(labels) for name in set(NAMES))
    both = labels | Constraints.from_pairs(40, must_link=[(20, 21)], cannot_link=[(20, 22), (20, 23)])
    assert repr(both).endswith(", 1 must-link, 2 cannot-links)")
    many = Constraints.from_labels([f"c{k}" for k in range(20)])
    assert repr(many).endswith("c8: 1, c9: 1 and 10 more classes))")


def test_a_dict_without_rows_is_refused_with_the_way_out():
    with pytest.raises(
        ConstraintError, match=r"y is a dict, .* give it to fit\(X, constraints=...\) as it is"
    ):
        Constraints.from_labels({3: "a"})


def test_what_a_fit_leaves_behind_is_short_to_print():
    model = AutoCut(random_state=0).fit(FRAME, constraints=KNOWN)
    assert repr(model.n_clusters_curve_).startswith(
        f"NumberCurve({model.n_clusters_} clusters chosen of 1 to "
    )
    lines = repr(model.candidates_).splitlines()
    assert len(lines) == len(model.candidates_["method"])
    assert lines[0].endswith(("chosen", "in the vote"))
    cuts = CSP(3, safe=False, random_state=0).fit(FRAME, constraints=KNOWN).cuts_
    assert repr(cuts).startswith(f"{cuts.n_feasible} feasible cuts, beta = ")


def test_only_names_that_are_meant_are_listed():
    assert not {"Any", "TYPE_CHECKING", "import_module"} & set(dir(sidecut))
    assert "AutoCut" in dir(sidecut)


@pytest.mark.parametrize("name", ["active", "diagnostics", "distributed", "exceptions", "plots"])
def test_what_the_pages_name_needs_no_import_of_its_own(name):
    """`sidecut.plots` had no attribute of that name until something imported it."""
    program = (
        f"import sidecut; assert sidecut.{name}.__name__ == 'sidecut.{name}'; assert {name!r} in dir(sidecut)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.parametrize(
    ("column", "value"),
    [
        (["u", "v"] * 20, "'u'"),
        (pd.Categorical(["u", "v"] * 20), "'u'"),
        (["1", "x"] * 20, "'x'"),
        (pd.date_range("2024-01-01", periods=40), r"Timestamp\('2024-01-01 00:00:00'\)"),
    ],
    ids=["text", "category", "mixed", "dates"],
)
def test_a_column_of_text_is_named(name, column, value):
    frame = FRAME.assign(kind=pd.Series(column, index=FRAME.index), depth=1.0)
    row = 1 if value == "'x'" else 0
    with pytest.raises(
        ValueError, match=rf"Column 'kind' of X holds no numbers: row {row} has {value}.*drop"
    ):
        make(name).fit(frame)


@pytest.mark.parametrize("make_frame", [pd.DataFrame, pl.DataFrame])
def test_a_gap_is_named_by_its_column(make_frame):
    values = X.copy()
    values[7, 1] = np.nan
    frame = make_frame({"width": values[:, 0], "height": values[:, 1]})
    with pytest.raises(ValueError, match=r"the first at row 7, column 'height'"):
        sidecut.CSP(3).fit(frame)


def test_numbers_in_other_clothes_are_still_numbers():
    plain = sidecut.CSP(3, random_state=0).fit(X).labels_
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1]}).astype({"a": object, "b": "Float64"})
    np.testing.assert_array_equal(sidecut.CSP(3, random_state=0).fit(frame).labels_, plain)
    text = FRAME.assign(width=[str(value) for value in FRAME["width"]])
    np.testing.assert_array_equal(sidecut.CSP(3, random_state=0).fit(text).labels_, plain)
