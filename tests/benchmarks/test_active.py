"""The page about asking says what is stored."""

import json
from pathlib import Path

import pytest

from benchmarks.active.__main__ import stored
from benchmarks.active.sets import BUDGETS
from benchmarks.active.slips import RESULTS as SLIPS
from benchmarks.active.table import ERRORS, NEAR, gaps, mean_curve, tables

PAGE = (Path(__file__).parents[2] / "docs" / "asking.md").read_text(encoding="utf-8")


def test_the_tables_of_the_page_are_those_of_the_stored_curves():
    for table in tables(stored()):
        assert "\n".join(table) in PAGE


def test_the_page_counts_the_cells_that_are_near():
    met = [sum(gap <= NEAR for gap in gaps(stored(), error)) for error in ERRORS]
    assert (
        f"met in {met[0]} of 33 cells with 10 % wrong answers, and in {met[1]} of 33 with 20 %"
        in " ".join(PAGE.split())
    )


def test_the_page_shows_the_stored_slips():
    for row in json.loads(SLIPS.read_text()):
        scores = [
            row[reliability][kind]
            for reliability in ("1.0", "0.95")
            for kind in ("all right", "one wrong, mean", "one wrong, least")
        ]
        cells = [f"{score:.2f}".replace("0.", ".") for score in scores]
        assert f"| {row['set']} | " + " | ".join(cells) + " |" in PAGE


def test_no_run_is_stored_twice():
    runs = [(row["set"], row["strategy"], row["draw"], row["error"]) for row in stored()]
    assert len(runs) == len(set(runs))


def test_means_are_over_the_draws_of_one_cell():
    rows = [
        {"set": name, "strategy": "controller", "error": error, "draw": draw}
        | {"ari": {str(budget): score for budget in BUDGETS}}
        for name, error, draw, score in [("iris", 0.0, 0, 0.2), ("iris", 0.0, 1, 0.4), ("iris", 0.1, 0, 0.9)]
    ]
    assert mean_curve(rows, "iris", "controller") == pytest.approx([0.3] * 5)
    assert gaps(rows, 0.1) == pytest.approx([-0.6] * 3)
