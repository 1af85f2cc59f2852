"""The stored dialogues, and their means."""

import pytest

from benchmarks.quality.active.sets import BUDGETS
from benchmarks.quality.active.table import gaps, mean_curve, stored


def test_no_run_is_stored_twice():
    runs = [(row["set"], row["strategy"], row["draw"], row["error"]) for row in stored()]
    assert len(runs) == len(set(runs))


def test_means_are_over_the_draws_of_one_cell():
    rows = [
        {"set": name, "strategy": "default_strategy", "error": error, "draw": draw}
        | {"ari": {str(budget): score for budget in BUDGETS}}
        for name, error, draw, score in [("iris", 0.0, 0, 0.2), ("iris", 0.0, 1, 0.4), ("iris", 0.1, 0, 0.9)]
    ]
    assert mean_curve(rows, "iris", "default_strategy") == pytest.approx([0.3] * 5)
    assert gaps(rows, 0.1) == pytest.approx([-0.6] * 3)
