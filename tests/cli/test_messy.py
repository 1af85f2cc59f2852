"""Ten messy files: each is read rightly, or refused once with all that is needed."""

import json

import numpy as np
import pandas as pd
import pytest

from sidecut.cli.reading import TextFormat, read_table
from tests.cli import messy

WORDS = ("-k", 2, "--neighbors", 8, "--standardize", "--no-report", "-o", "l.csv")


def found(shell):
    labels = pd.read_csv("l.csv")["label"].to_numpy()
    kind = messy.truth()
    return max((labels == kind).mean(), (labels != kind).mean())


@pytest.mark.parametrize(
    ("write", "more", "columns"),
    [
        (messy.write_german, ("--drop", "Erstbestellung"), "Umsatz (€), Bestellungen, Rabatt %"),
        (messy.write_windows, ("--drop", "Erstbestellung"), "Umsatz (€), Bestellungen, Rabatt %"),
        (messy.write_swiss, (), "turnover, orders"),
        (messy.write_money, (), "turnover, orders, discount"),
        (
            messy.write_excel,
            ("--sheet", "customers", "--id-column", "customer id"),
            "turnover, orders, discount",
        ),
        (messy.write_json, (), "turnover, orders, discount"),
        (messy.write_gaps, ("--impute",), "turnover, orders, discount"),
    ],
)
def test_it_is_read_rightly(shell, write, more, columns):
    path = write(shell.directory)
    encoding = "cp1252" if path.name == "windows.csv" else None
    frame = read_table(path, TextFormat(sheet="customers", encoding=encoding))
    first = frame[columns.split(", ")[0]]
    np.testing.assert_allclose(first, messy.numbers()["turnover"])
    assert shell("cluster", path.name, *more, *WORDS) == 0, shell.err
    assert f"Clustered by {columns}" in shell.out
    assert found(shell) == 1


def test_windows_text_is_said_to_be_such(shell):
    assert (
        shell("cluster", messy.write_windows(shell.directory).name, "--drop", "Erstbestellung", *WORDS) == 0
    )
    assert "windows.csv is not UTF-8 and was read as Windows text (cp1252)" in shell.err


def test_dates_become_days_where_they_are_features(shell):
    path = messy.write_german(shell.directory)
    assert read_table(path)["Erstbestellung"].dt.day.tolist() == (np.arange(messy.N) % 28 + 1).tolist()
    assert shell("cluster", path.name, *WORDS) == 2
    assert "holds dates (2024-03-01, ...), and whether time matters is yours to say" in shell.err
    assert shell("cluster", path.name, "--feature", "Erstbestellung", *WORDS) == 0, shell.err
    assert "Rabatt %, Erstbestellung" in shell.out


def test_several_sheets_are_asked_about(shell):
    assert shell("cluster", messy.write_excel(shell.directory).name, *WORDS) == 2
    assert "book.xlsx has several sheets: 'customers', 'notes'. Name one with --sheet." in shell.err


def test_one_refusal_says_all(shell):
    path = messy.write_ids(shell.directory)
    assert shell("cluster", path.name, *WORDS) == 2
    assert "looks like ids, not like a feature (7000000, 7000007, 7000014, ...)" in shell.err
    needed = "--id-column customer_id --drop region,signup --impute"
    assert shell.err.endswith(f"All that this table seems to need: {needed}.\n")
    assert shell("cluster", path.name, *needed.split(), *WORDS) == 0, shell.err
    assert pd.read_csv("l.csv")["customer_id"].tolist()[:2] == [7000000, 7000007]
    assert found(shell) == 1


@pytest.mark.parametrize(("said", "unit"), [(("--thousands", ","), 1000), (("--decimal", ","), 1)])
def test_numbers_that_may_be_read_in_two_ways_are_asked_about(shell, said, unit):
    path = messy.write_unclear(shell.directory)
    assert shell("cluster", path.name, *WORDS) == 2
    assert (
        "say --thousands , if ',' sets off thousands, or --decimal , if it is the decimal sign" in shell.err
    )
    given = {said[0][2:]: said[1]}
    weights = read_table(path, TextFormat(**given))["weight"]
    expected = 1 + messy.numbers()["orders"] + (100 + np.arange(messy.N)) / 1000
    np.testing.assert_allclose(weights, unit * expected)
    assert shell("cluster", path.name, *said, *WORDS) == 0, shell.err


def test_points_that_may_set_off_thousands_are_asked_about(shell):
    """1.131 beside 674 may be 1131: found by tables written at random (benchmarks/code/fuzz/tables.py)."""
    path = shell.directory / "t.csv"
    path.write_text("size\tname\n674\ta\n-1.131\tb\n1.563\tc\n-822\td\n")
    assert not pd.api.types.is_numeric_dtype(read_table(path)["size"])
    assert read_table(path, TextFormat(decimal="."))["size"].tolist() == [674, -1.131, 1.563, -822]
    assert read_table(path, TextFormat(thousands="."))["size"].tolist() == [674, -1131, 1563, -822]
    # Floats as programs write them are not asked about.
    for cells in (["0.131", "1.563", "2.250"], ["1.131", "674", "2.5"], ["1.131", "6740", "2.563"]):
        path.write_text("size\tname\n" + "".join(f"{cell}\ta\n" for cell in cells))
        assert read_table(path)["size"].tolist() == [float(cell) for cell in cells]


def test_names_that_occur_twice_are_counted(shell):
    path = messy.write_doubles(shell.directory)
    assert shell("cluster", path.name, "--id-column", "name", *WORDS) == 2
    assert "calls rows 36 and 37 both 'c36', and 2 more rows repeat a name" in shell.err


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (["1.234.567", "2.000.000"], [1234567, 2000000]),
        (["1,234.5", "2.5"], [1234.5, 2.5]),
        (["1.234,5", "2"], [1234.5, 2]),
        (["12 %", "3 %"], [12, 3]),
        (["€ 12,50", "€ 1.000,00"], [12.5, 1000]),
        (["-1\u00a0234.5", "3.25"], [-1234.5, 3.25]),
        (["true", "False"], [1, 0]),
        (["1e-3", "2E5"], [1e-3, 2e5]),
    ],
)
def test_numbers_as_people_write_them(shell, cells, values):
    shell.write("t.jsonl", "".join(json.dumps({"x": cell, "y": 0.5}) + "\n" for cell in cells))
    np.testing.assert_allclose(read_table(shell.directory / "t.jsonl")["x"].astype(float), values)


@pytest.mark.parametrize(
    "cells", [["12 %", "0.12"], ["€ 5", "$ 5"], ["1.2.3", "4.5.6"], ["12,34,5", "1"], ["1 2", "3"]]
)
def test_what_is_no_number_of_one_kind_stays_text(shell, cells):
    shell.write("t.jsonl", "".join(json.dumps({"x": cell, "y": 0.5}) + "\n" for cell in cells))
    assert read_table(shell.directory / "t.jsonl")["x"].tolist() == cells


@pytest.mark.parametrize(
    ("cells", "first"),
    [
        (["2024-01-31", "2023-05-06"], "2024-01-31"),
        (["31/01/2024", "06/05/2023"], "2024-01-31"),
        (["01/31/2024", "05/06/2023"], "2024-01-31"),
        (["01.02.2024", "06.05.2023"], "2024-02-01"),
        (["01/02/2024", "06/05/2023"], None),
    ],
)
def test_dates_are_read_unless_day_and_month_may_be_confused(shell, cells, first):
    shell.write("t.csv", "when,x\n" + "".join(f"{cell},1.5\n" for cell in cells))
    read = read_table(shell.directory / "t.csv")["when"]
    assert (str(read[0].date()) if read.dtype.kind == "M" else None) == first


@pytest.mark.parametrize("heading", ["bottle,kind", "Name;Klasse", "who,label", "x,y"])
def test_two_columns_are_names_and_labels_under_any_heading(shell, heading):
    frame = pd.DataFrame({"who": [f"p{i}" for i in range(messy.N)], **messy.numbers()})
    frame.to_csv("t.csv", index=False)
    sign = ";" if ";" in heading else ","
    known = "".join(f"p{i}{sign}{'ab'[i % 2]}\n" for i in range(6))
    shell.write("k.csv", f"{heading}\n{known}")
    assert shell("check", "k.csv", "--data", "t.csv", "--id-column", "who") == 0, shell.err
    assert "classes          a 3, b 3" in shell.out
    pd.DataFrame({"n": [f"p{i}" for i in range(6)], "kind": list("ababab")}).to_excel("k.xlsx", index=False)
    assert shell("check", "k.xlsx", "--data", "t.csv", "--id-column", "who") == 0, shell.err
    shell.write("pairs.csv", "from,to\np0,p1\n")
    assert shell("check", "pairs.csv", "--data", "t.csv", "--id-column", "who") == 2


def test_a_column_of_one_value_is_said_to_count_for_nothing(shell):
    frame = messy.numbers().assign(country="DE", year=2024)
    frame.drop(columns="country").to_csv("t.csv", index=False)
    assert shell("cluster", "t.csv", *WORDS) == 0, shell.err
    assert "by turnover, orders, discount; left out year (the same in every row)" in shell.out
    frame[["year"]].assign(month=3).to_csv("t.csv", index=False)
    assert shell("cluster", "t.csv", *WORDS) == 2
    assert "each of its columns has one value ('year', 'month')" in shell.err


def test_words_among_numbers_are_to_be_corrected_not_encoded(shell):
    frame = messy.numbers().assign(age=[str(20 + i) for i in range(messy.N)])
    frame.loc[3, "age"] = "about 7"
    frame.to_csv("t.csv", index=False)
    assert shell("cluster", "t.csv", *WORDS) == 2
    assert "Column 'age' of t.csv is a number in 39 of 40 rows, but row 3 holds 'about 7'" in shell.err
    assert "--encode" not in shell.err


def test_texts_are_compared_by_their_words_in_the_studio(shell):
    shell.write("t.csv", "review\n" + "".join(f"the tool is good for {i}\n" for i in range(20)))
    assert shell("cluster", "t.csv", *WORDS) == 2
    assert "sidecut studio t.csv --text review compares texts by their words" in shell.err
    assert "encode if" not in shell.err


def test_names_that_occur_twice_are_said_with_all_else(shell):
    path = messy.write_doubles(shell.directory)
    pd.read_csv(path).assign(day="2024-05-06").to_csv("t.csv", index=False)
    assert shell("cluster", "t.csv", "--id-column", "name", *WORDS) == 2
    assert "Column 'day' of t.csv holds dates" in shell.err
    assert "calls rows 36 and 37 both 'c36'" in shell.err


@pytest.mark.parametrize("command", ["check", "cluster"])
def test_labels_by_name_ask_for_the_column_of_names(shell, command):
    path = messy.write_ids(shell.directory)
    frame = pd.read_csv(path)[["customer_id", "turnover", "orders", "discount"]].dropna()
    frame.to_csv("t.csv", index=False)
    shell.write("known.csv", "customer,kind\n7000000,a\n7000014,b\n")
    words = {
        "check": ("known.csv", "--data", "t.csv"),
        "cluster": ("t.csv", "--constraints", "known.csv", "--drop", "customer_id", *WORDS),
    }
    assert shell(command, *words[command]) == 2
    said = "--id-column customer_id." if command == "check" else "--id-column."
    assert shell.err.endswith(f"say which column of t.csv has the names: {said}\n")


def test_huge_numbers_warn_of_nothing_but_themselves(shell, recwarn):
    frame = messy.numbers()
    frame.assign(orders=frame.orders * 1e300).to_csv("t.csv", index=False)
    assert shell("cluster", "t.csv", *WORDS[:4], "-o", "l.csv") == 0, shell.err
    assert "Column 'orders' spreads" in shell.err
    assert [str(w.message) for w in recwarn if issubclass(w.category, RuntimeWarning)] == []


def test_a_number_of_clusters_that_nothing_supports_is_called_a_guess(shell):
    messy.numbers().to_csv("t.csv", index=False)
    assert shell("cluster", "t.csv", "--no-report", "-o", "l.csv") == 0, shell.err
    assert "is a guess from the data alone; --clusters K asks for another number" in shell.out
    assert shell("cluster", "t.csv", *WORDS) == 0
    assert "guess" not in shell.out


def test_words_for_gaps_are_gaps_in_columns_of_numbers(shell):
    """One "k.A." among 178 numbers had the message throw the whole column away."""
    frame = messy.numbers()
    frame["size"] = [f"{value:.1f}" for value in 2.5 + frame["orders"]]
    frame.loc[[3, 5, 7], "size"] = ["k.A.", "missing", "#DIV/0!"]
    frame.to_csv("t.csv", index=False)
    np.testing.assert_array_equal(
        np.flatnonzero(read_table(shell.directory / "t.csv")["size"].isna()), [3, 5, 7]
    )
    assert shell("cluster", "t.csv", *WORDS) == 2
    assert "column 'size' of t.csv is missing (3 such values in all)" in shell.err
    assert "--encode" not in shell.err
    assert shell("cluster", "t.csv", "--impute", *WORDS) == 0, shell.err


def test_few_different_numbers_with_a_word_are_not_to_be_encoded(shell):
    frame = messy.numbers().assign(age=[str(20 + i % 3) for i in range(messy.N)])
    frame.loc[3, "age"] = "about 7"
    frame.to_csv("t.csv", index=False)
    assert shell("cluster", "t.csv", *WORDS) == 2
    assert "Column 'age' of t.csv is a number in 39 of 40 rows, but row 3 holds 'about 7'" in shell.err
    ways = "Correct or empty such cells, take all as text with --encode, or leave the column out"
    assert shell.err.endswith(f"{ways} with --drop age.\n")
    # With --encode four values are categories.
    assert shell("cluster", "t.csv", "--encode", *WORDS) == 0, shell.err


def test_a_title_above_the_headings_is_said(shell):
    messy.numbers().to_excel("t.xlsx", index=False, startrow=2)
    assert shell("cluster", "t.xlsx", *WORDS) == 2
    said = "headings for 0 of 3 columns. They seem to be in line 3: remove what stands above the headings."
    assert f"The first line of t.xlsx has {said}" in shell.err


def test_a_line_with_too_many_cells_is_said_plainly(shell):
    shell.write("t.csv", "a,b\n1,2\n3,4,5\n")
    assert shell("cluster", "t.csv", *WORDS) == 2
    assert shell.err.endswith("could not be read as a table: line 3 has 3 cells, where 2 are expected.\n")


def test_a_column_of_names_is_preferred_to_row_numbers_without_a_heading(shell):
    frame = messy.numbers().assign(bottle=[f"B{i}" for i in range(messy.N)])
    frame.to_csv("t.csv")
    assert shell("cluster", "t.csv", *WORDS) == 2
    assert shell.err.endswith("All that this table seems to need: --id-column bottle --drop 'Unnamed: 0'.\n")
    shell.write("known.csv", "bottle,kind\nB0,a\nB1,b\n")
    frame.to_csv("u.csv", index=False)
    assert shell("check", "known.csv", "--data", "u.csv") == 2
    assert shell.err.endswith("say which column of u.csv has the names: --id-column bottle.\n")


def test_classes_called_by_numbers_are_no_feature_with_gaps(shell):
    """The message proposed --impute, which clustered by the labels themselves, filled with their median."""
    truth = messy.truth()
    frame = messy.numbers().assign(kind=[str(truth[i]) if i < 8 else "" for i in range(messy.N)])
    frame.to_csv("t.csv", index=False)
    assert shell("cluster", "t.csv", *WORDS) == 2
    assert "Column 'kind' of t.csv is empty in 32 of 40 rows. Leave it out with --drop kind" in shell.err
    assert shell.err.endswith("All that this table seems to need: --label-column kind.\n")
    words = ("--method", "e2cp", *WORDS)
    assert shell("cluster", "t.csv", "--label-column", "kind", *words) == 0, shell.err
    assert "8 of 8 labelled points are in the cluster of their class" in shell.out
    assert shell("cluster", "t.csv", "--impute", "--feature", "kind", *WORDS) == 0, shell.err
    # A measurement that is mostly missing is a feature with gaps.
    frame.assign(kind=[str(i / 7) if i < 8 else "" for i in range(messy.N)]).to_csv("t.csv", index=False)
    assert shell("cluster", "t.csv", *WORDS) == 2
    assert "Fill gaps with --impute" in shell.err
    # Numbers under a heading such as target are the answer, not a feature.
    messy.numbers().assign(target=truth).to_csv("t.csv", index=False)
    assert shell("cluster", "t.csv", *WORDS) == 2
    assert "Column 'target' of t.csv looks like classes, not like a feature" in shell.err
    assert "--truth-column target if it is for scoring" in shell.err
    assert shell("cluster", "t.csv", "--feature", "target", *WORDS) == 0, shell.err
