from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sidecut.cli.console import UsageError, in_options
from sidecut.cli.reading import TextFormat, read_table
from sidecut.cli.tables import ColumnRoles, class_codes, points_from_table


def points(frame, **roles):
    return points_from_table(pd.DataFrame(frame), Path("t.csv"), ColumnRoles(**roles))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("t.csv", "x,y\n1,2\n3,4\n"),
        ("t.csv", "1,2\n3,4\n"),
        ("t.csv", "x;y\n1;2\n3;4\n"),
        ("t.csv", "\ufeffx,y\n1,2\n3,4\n"),
        ("t.tsv", "x\ty\n1\t2\n3\t4\n"),
        ("t.tsv", "1\t2\n3\t4\n"),
        ("t.txt", "x y\n1 2\n3 4\n"),
        ("t.txt", "1  2\n3  4\n"),
        ("t.csv", "x;y\r\n1;2\r\n3;4\r\n"),
    ],
)
def test_text_tables_with_and_without_heading(shell, name, text):
    frame = read_table(Path(shell.write(name, text)))
    np.testing.assert_array_equal(frame.to_numpy(), [[1, 2], [3, 4]])


def test_one_column_may_have_blanks_in_its_heading(shell):
    frame = read_table(Path(shell.write("t.csv", "sepal length\n1.5\n2.5\n")))
    assert list(frame.columns) == ["sepal length"]


def test_a_named_parquet_index_is_a_column(shell):
    pd.DataFrame({"x": [1.0, 2.0]}, index=pd.Index(["a", "b"], name="who")).to_parquet("t.parquet")
    points = points_from_table(read_table(Path("t.parquet")), Path("t.parquet"), ColumnRoles(identity="who"))
    assert points.names == ("a", "b")
    assert points.columns == ("x",)


def test_columns_are_chosen_in_the_order_asked_for():
    frame = {"a": [1, 2], "b": [3, 4], "c": [5, 6]}
    assert points(frame, keep=("c", "a")).X.tolist() == [[5, 1], [6, 2]]
    assert points(frame, drop=("b",)).X.tolist() == [[1, 5], [2, 6]]


def test_label_truth_and_id_columns_are_no_features():
    frame = {"x": [1, 2], "l": [None, 3], "t": ["u", "v"], "n": ["p", "q"]}
    read = points(frame, label="l", truth="t", identity="n")
    assert read.columns == ("x",)
    assert (read.known_labels, read.truth.tolist(), read.names) == (("", "3"), [0, 1], ("p", "q"))


@pytest.mark.parametrize(
    ("frame", "roles", "complaint"),
    [
        (
            {"x": [1], "city": ["Oslo"]},
            {},
            "Column 'city' of t.csv is not a number: row 0 holds 'Oslo'.*--drop city",
        ),
        ({"x": [1], "a b": ["u"]}, {}, "--drop 'a b'"),
        ({"x": [1, None], "y": [1, 2]}, {}, "row 1, column 'x' of t.csv is missing"),
        ({"x": [1, float("inf")]}, {}, "row 1, column 'x' of t.csv is infinite"),
        ({"x": [1]}, {"label": "z"}, "no column 'z'. Its columns are 'x'"),
        ({"x": [1]}, {"drop": ("x",)}, "No feature column is left"),
        ({"Unnamed: 0": [0], "x": [1]}, {}, "saved row numbers.*--drop 'Unnamed: 0'"),
        ({"x": [1, 2], "n": ["p", "p"]}, {"identity": "n"}, "rows 0 and 1 both 'p'"),
    ],
)
def test_unusable_tables_are_refused_with_a_way_out(frame, roles, complaint):
    with pytest.raises(UsageError, match=complaint):
        points(frame, **roles)


def test_numbered_columns_are_not_guessed_to_be_a_heading_or_a_point(shell):
    path = Path(shell.write("t.csv", "0,1\n5,6\n"))
    with pytest.raises(UsageError, match=r"first line of t\.csv \(0,1\).*--header or --no-header"):
        read_table(path)
    assert read_table(path, TextFormat(True)).to_numpy().tolist() == [[5, 6]]
    assert read_table(path, TextFormat(False)).to_numpy().tolist() == [[0, 1], [5, 6]]


def test_names_and_classes_are_read_as_they_are_written(shell):
    path = Path(shell.write("t.csv", "x,who,kind\n1,007,Na+\n2,7,\n3,None,01\n"))
    frame = read_table(path, as_text=["who", "kind"])
    read = points_from_table(frame, path, ColumnRoles(label="kind", identity="who"))
    assert read.names == ("007", "7", "None")
    assert read.known_labels == ("Na+", "", "01")


def test_text_holds_the_same_numbers_as_arrays(shell):
    values = np.random.default_rng(0).normal(size=200)
    path = Path(shell.write("t.csv", "\n".join(["x", *map(repr, values.tolist())])))
    np.testing.assert_allclose(read_table(path)["x"], values, rtol=4e-16)


@pytest.mark.parametrize("marker", ["NA", "n/a", "-", "?", "#N/A"])
def test_a_gap_spelt_out_is_a_gap_in_a_column_of_numbers_only(shell, marker):
    frame = read_table(Path(shell.write("t.csv", f"x,kind\n1.5,a\n{marker},{marker}\n2,b\n")))
    np.testing.assert_array_equal(frame["x"], [1.5, np.nan, 2])
    assert frame["kind"].tolist() == ["a", marker, "b"]
    with pytest.raises(UsageError, match=r"row 1, column 'x' of t\.csv is missing.*--impute"):
        points_from_table(frame[["x"]], Path("t.csv"))


def test_numbers_hidden_in_text_are_found_by_row():
    with pytest.raises(UsageError, match="row 2 holds 'two'"):
        points({"x": ["1", "2", "two"]})


@pytest.mark.parametrize("text", ["", "x,y\n"])
def test_a_table_without_rows_is_refused(shell, text):
    with pytest.raises(UsageError, match=r"t\.csv"):
        read_table(Path(shell.write("t.csv", text)))


@pytest.mark.parametrize(
    ("values", "codes"),
    [
        (["b", "a", ""], [1, 0, -1]),
        ([10, 2, -1], [1, 0, -1]),
        ([1.0, float("nan"), 0.0], [1, -1, 0]),
        ([None, "", " x "], [-1, -1, 0]),
        ([True, False], [1, 0]),
    ],
)
def test_classes_are_numbered_and_the_unknown_recognised(values, codes):
    assert class_codes(values, "kind", Path("t.csv")).tolist() == codes


BIRDS = """ring;weight;wing;habitat;species
A1;20,5;86,2;field;unknown
A2;23;;wood;unknown
A3;8,1;48,2;wood;unknown
A4;9,4;50,1;field;Wren
A5;21,5;75;;Robin
A6;22,5;74;wood;unknown
"""


def test_one_refusal_names_all_that_a_table_needs(shell):
    shell.write("birds.csv", BIRDS)
    assert shell("cluster", "birds.csv", "-k", 2, "-o", "l.csv") == 2
    needed = "--id-column ring --label-column species --unknown unknown --drop habitat --impute"
    assert shell.err.endswith(f"All that this table seems to need: {needed}.\n")
    words = ("cluster", "birds.csv", "-k", 2, "--neighbors", 2, "--no-report", "-o", "l.csv")
    assert shell(*words, *needed.split()) == 0, shell.err
    assert [row[0] for row in shell.table("l.csv")[1:]] == ["A1", "A2", "A3", "A4", "A5", "A6"]


def test_a_mostly_empty_column_of_words_is_taken_for_labels_and_not_for_a_feature(shell):
    shell.write("birds.csv", BIRDS.replace("unknown", "").replace(",", ".").replace(";", ","))
    assert shell("cluster", "birds.csv", "-k", 2, "-o", "l.csv") == 2
    needed = "--id-column ring --label-column species --drop habitat --impute"
    assert shell.err.endswith(f"All that this table seems to need: {needed}.\n")
    # Without the empty cells of features nothing need be filled in: labels may be missing.
    shell.write("full.csv", "ring,weight,species\nA1,2,\nA2,3,\nA3,9,Wren\nA4,8,\nA5,1,Robin\nA6,4,\n")
    assert shell("cluster", "full.csv", "-k", 2, "-o", "l.csv") == 2
    assert shell.err.endswith("seems to need: --id-column ring --label-column species.\n")


def test_what_was_said_already_is_not_asked_for_again(shell):
    shell.write("birds.csv", BIRDS)
    said = ("--decimal", ",", "--label-column", "species", "--unknown", "unknown", "--impute")
    assert shell("cluster", "birds.csv", *said, "-k", 2, "-o", "l.csv") == 2
    assert shell.err.endswith("seems to need: --id-column ring --drop habitat.\n")
    assert shell("cluster", "birds.csv", *said, "--id-column", "ring", "-k", 2, "-o", "l.csv") == 2
    assert "seems to need" not in shell.err
    assert "--encode" in shell.err


@pytest.mark.parametrize(
    ("asked", "hint"),
    [("Species", "; did you mean species?"), ("spezies", "; did you mean species?"), ("k", ".")],
)
def test_a_misspelt_column_is_asked_about(shell, asked, hint):
    shell.write("birds.csv", BIRDS)
    assert shell("cluster", "birds.csv", "--label-column", asked, "-k", 2, "-o", "l.csv") == 2
    assert f"has no column '{asked}'{hint} Its columns are 'ring', 'weight'" in shell.err


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "t.csv is empty; a line of column names"),
        (b"\x89PNG\r\n\x1a\n\x00\x00", "it looks like a PNG picture; save the table as CSV"),
        (b"PK\x03\x04\x14\x00\xff\x00", "it looks like a spreadsheet or a zip archive"),
        (b"\x07\x00\xfe\x99\x00", "it looks like binary data"),
    ],
)
def test_files_that_are_no_text_are_called_what_they_are(shell, content, said):
    (shell.directory / "t.csv").write_bytes(content)
    assert shell("cluster", "t.csv", "-k", 2, "-o", "l.csv") == 2
    assert said in shell.err


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("t.xls", "t.xls is not read as it is: save it as .xlsx or CSV."),
        ("t.xlsx", "t.xlsx could not be read as Excel (File is not a zip file)"),
        ("t.json", "a list of objects, one for each row, is expected"),
        ("t.jsonl", 'line 2 is no JSON object (\'{"x": 1, "y":\')'),
    ],
)
def test_files_that_are_not_what_they_are_called_are_refused(shell, name, said):
    shell.write(name, '{"x": 1, "y": 2}\n{"x": 1, "y":\n')
    assert shell("cluster", name, "-k", 2, "-o", "l.csv") == 2
    assert said in shell.err


def test_lists_are_text_and_numbers_in_quotes_are_numbers(shell):
    rows = [f'{{"x": {i}.5, "n": "{i}", "l": [{i}]}}' for i in range(12)]
    shell.write("t.jsonl", "\n".join(rows) + "\n")
    assert shell("cluster", "t.jsonl", "-k", 2, "-o", "l.csv") == 2
    assert "Column 'n' of t.jsonl looks like ids, not like a feature (0, 1, 2, ...)" in shell.err
    assert "Column 'l' of t.jsonl holds 12 different texts in 12 rows, too many for --encode" in shell.err
    assert shell.err.endswith("seems to need: --id-column n --drop l.\n")


def test_ids_with_duplicates_are_left_out_and_never_taken_for_names_labels_or_features(shell):
    # The ring occurs twice; the other column of ids is mostly empty, and has few values.
    rows = [
        f"A{min(i, 7)},{i % 3}.5,{'K1' if i == 2 else ''},{'field' if i % 2 else 'wood'}" for i in range(9)
    ]
    shell.write("birds.csv", "\n".join(["ring,weight,cage_id,habitat", *rows]))
    assert shell("cluster", "birds.csv", "-k", 2, "-o", "l.csv") == 2
    needed = "--drop ring,cage_id,habitat"
    assert shell.err.endswith(f"All that this table seems to need: {needed}.\n")
    words = ("cluster", "birds.csv", "-k", 2, "--neighbors", 3, "--no-report", "-o", "l.csv")
    assert shell(*words, *needed.split()) == 0, shell.err


def test_messages_of_the_library_speak_in_options():
    said = in_options("n_clusters=2 is more than there are points, 1. Choose n_clusters <= 1.")
    assert said == "--clusters 2 is more than there are points, 1. Choose --clusters 1 or fewer."
