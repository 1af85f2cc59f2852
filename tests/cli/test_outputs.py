from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sidecut.cli.console import UsageError
from sidecut.cli.outputs import label_columns, read_labels, write_labels
from sidecut.cli.preparation import Points

LABELS = np.array([1, 0, 2])
NAMED = Points(np.zeros((3, 1)), Path("p.csv"), names=("a", "b, c", "d"), name_column="who")


@pytest.mark.parametrize("name", ["l.csv", "l.tsv", "l.npy", "l.parquet", "l.jsonl"])
def test_what_is_written_is_read_back(shell, name):
    write_labels(Path(name), label_columns(NAMED, LABELS, {}))
    assert read_labels(Path(name))[0].tolist() == LABELS.tolist()
    if not name.endswith(".npy"):
        assert read_labels(Path(name), id_column="who")[1] == ["a", "b, c", "d"]


def test_nameless_points_are_numbered(shell):
    write_labels(Path("l.csv"), label_columns(Points(np.zeros((3, 1)), Path("p.csv")), LABELS, {}))
    assert shell.table("l.csv") == [["index", "label"], ["0", "1"], ["1", "0"], ["2", "2"]]


def test_a_wide_table_needs_a_column_named(shell):
    pd.DataFrame({"x": [1], "y": [2], "species": ["a"]}).to_csv("t.csv", index=False)
    with pytest.raises(UsageError, match="3 columns and none is called 'label'"):
        read_labels(Path("t.csv"))
    assert read_labels(Path("t.csv"), "species")[0].tolist() == [0]


@pytest.mark.parametrize("options", [{"column": "z"}, {"id_column": "z"}])
def test_a_column_that_is_not_there_is_refused(shell, options):
    shell.write("l.csv", "index,label\n0,1\n")
    with pytest.raises(UsageError, match="no column 'z'; its columns are index, label"):
        read_labels(Path("l.csv"), **options)
