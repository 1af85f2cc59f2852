"""The trial of a new user, row by row: each row has a test, or a sentence why it has none."""

import csv
from pathlib import Path

import pytest

HOUSE = Path(__file__).parents[1]
with open(HOUSE / "tests" / "trial.csv", encoding="utf-8", newline="") as file:
    ROWS = list(csv.DictReader(file))
NAMES = [row["row"] for row in ROWS]


def test_every_grave_and_middling_row_is_there():
    wanted = {f"A{number}" for number in range(1, 12)} | {f"B{number}" for number in range(1, 24)}
    assert wanted <= set(NAMES)
    assert len(NAMES) == len(set(NAMES))


@pytest.mark.parametrize("row", ROWS, ids=NAMES)
def test_it_has_a_test_or_a_reason(row):
    file, _, name = row["test"].partition("::")
    if not file:
        assert row["or why there is none"]
        return
    text = (HOUSE / file).read_text(encoding="utf-8")
    assert not name or f"def {name}(" in text
