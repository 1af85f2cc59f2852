from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sidecut.cli.console import UsageError
from sidecut.cli.preparation import PreparationOptions, learn_preparation
from sidecut.cli.tables import ColumnRoles, feature_columns

T = Path("t.csv")
FRAME = pd.DataFrame({"x": [1.0, np.nan, 5.0, 3.0], "city": ["Oslo", "Rome", None, "Rome"]})


def test_gaps_take_the_median_and_text_becomes_zeros_and_ones():
    learned, X = learn_preparation(FRAME, ["x", "city"], T, PreparationOptions(impute=True, encode=True))
    np.testing.assert_array_equal(X, [[1, 1, 0], [3, 0, 1], [5, 0, 1], [3, 0, 1]])
    later = pd.DataFrame({"city": ["Oslo", "Bern"], "x": [np.nan, 9.0], "more": [0, 0]})
    np.testing.assert_array_equal(learned.apply(later, T), [[3, 1, 0], [9, 0, 0]])


def test_standardizing_is_learned_once():
    frame = pd.DataFrame({"x": [0.0, 2.0], "y": [5.0, 5.0]})
    learned, X = learn_preparation(frame, ["x", "y"], T, PreparationOptions(standardize=True))
    np.testing.assert_allclose(X, [[-1, 0], [1, 0]])
    np.testing.assert_allclose(learned.apply(pd.DataFrame({"x": [4.0], "y": [5.0]}), T), [[3, 0]])


@pytest.mark.parametrize(
    ("columns", "wanted", "complaint"),
    [
        (["x"], PreparationOptions(), "row 1, column 'x' of t.csv is missing.*--impute"),
        (["city"], PreparationOptions(), "Column 'city' of t.csv is not a number.*--encode"),
        (["city"], PreparationOptions(impute=True), "Column 'city' of t.csv is not a number.*--encode"),
        (["x", "city"], PreparationOptions(encode=True), "row 1, column 'x' of t.csv is missing.*--impute"),
    ],
)
def test_without_the_wish_it_is_refused_with_that_advice(columns, wanted, complaint):
    with pytest.raises(UsageError, match=complaint):
        learn_preparation(FRAME, columns, T, wanted)


def test_names_are_no_categories():
    frame = pd.DataFrame({"who": [f"p{i}" for i in range(20)]})
    with pytest.raises(
        UsageError, match=r"20 different texts in 20 rows, too many for --encode.*--id-column who"
    ):
        learn_preparation(frame, ["who"], T, PreparationOptions(encode=True))


@pytest.mark.parametrize(
    ("name", "values", "is_asked"),
    [
        ("x", np.arange(5, 17), True),
        ("customer_id", [7, 3, 9, 40, 2], True),
        ("ID", [7, 3, 9, 40, 2], True),
        ("age", [7, 3, 9, 40, 2], False),
        ("id", [1.5, 2.5, 3.5, 4.5, 5.5], False),
        ("humid", [7, 3, 9, 40, 2], False),
        ("index", [1, 1, 2, 2, 3], False),
        ("customer_id", [7, 3, 9, 40, 7], True),
        ("x", np.arange(5), False),
    ],
)
def test_columns_that_look_like_ids_are_asked_about(name, values, is_asked):
    frame = pd.DataFrame({name: values, "y": 0.5})
    if not is_asked:
        assert feature_columns(frame, T, ColumnRoles()) == [name, "y"]
        return
    with pytest.raises(UsageError, match=f"Column '{name}' of t.csv looks like ids.*--feature {name}"):
        feature_columns(frame, T, ColumnRoles())
    assert feature_columns(frame, T, ColumnRoles(features=(name,))) == [name, "y"]
    assert feature_columns(frame, T, ColumnRoles(drop=(name,))) == ["y"]


def test_ids_that_occur_twice_are_not_proposed_as_names():
    frame = pd.DataFrame({"id": [7, 3, 9, 40, 7], "y": 0.5})
    with pytest.raises(UsageError, match="looks like ids") as error:
        feature_columns(frame, T, ColumnRoles())
    assert "--id-column" not in str(error.value)
    assert "--drop id" in str(error.value)


def test_decimal_commas_are_recognised(shell):
    shell.write("d.csv", "who;x;y\nann;1,5;2\nbob;-2,25;3\ncat;,5;4\n")
    assert shell("cluster", "d.csv", "-k", 2, "--id-column", "who", "-o", "out.csv") == 2
    assert "has numbers with a comma, such as '1,5'. Add --decimal , to read them." in shell.err
    shell.write("e.csv", "x;y\nOslo, Rome;2\nParis;3\n")
    assert shell("cluster", "e.csv", "-k", 2, "-o", "out.csv") == 2
    assert "Column 'x' of e.csv is not a number" in shell.err


def test_a_column_in_other_units_is_spoken_of(shell):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"mm": 900 * rng.normal(size=30), "m": rng.normal(size=30), "kg": rng.normal(size=30)}
    )
    frame["one"] = 1.0
    frame.to_csv("t.csv", index=False)
    words = ("cluster", "t.csv", "-k", 2, "--neighbors", 5, "--no-report", "-o", "l.csv", "--method", "e2cp")
    assert shell(*words) == 0
    assert "Column 'mm' spreads " in shell.err
    assert "Add --standardize if the columns have different units." in shell.err
    assert shell(*words, "--standardize") == 0
    assert shell.err == ""
    assert shell(*words, "--drop", "mm") == 0
    assert shell.err == ""
