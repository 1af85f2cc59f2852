"""The table that map packages read: the code of the page, and what is in its file."""

import doctest
from pathlib import Path

import pandas as pd

PAGE = Path(__file__).parents[2] / "docs" / "integrations.md"


def test_the_table_of_the_page_can_be_read_back(tmp_path):
    text = PAGE.read_text(encoding="utf-8")
    start = text.index("Neighbours that were searched elsewhere")
    part = text[start : text.index("`datamapplot.create_plot", start)].replace("```", "")
    space = {}
    exec("from sidecut import CSP", space)
    for example in doctest.DocTestParser().get_examples(part):
        exec(example.source, space)
    table, iris = space["table"], space["iris"]
    table.to_parquet(tmp_path / "map.parquet")
    read = pd.read_parquet(tmp_path / "map.parquet")
    pd.testing.assert_frame_equal(read, table)
    assert read.shape == (150, 4)
    assert read[["x", "y"]].notna().all(axis=None)
    # Names and clusters are the same division of the points.
    assert pd.crosstab(read["cluster"], iris.labels_).astype(bool).sum().tolist() == [1, 1, 1]
    assert {"setosa", "versicolor"} <= set(read["cluster"])
