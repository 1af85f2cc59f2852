import json
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
COLUMNS = (
    "frame, median",
    "answer to recolour, median",
    "answer to recolour, slowest",
    "these are one, to recolour",
)


def test_the_figures_of_the_page_are_those_that_were_measured():
    stored = json.loads((ROOT / "benchmarks" / "results" / "quality" / "studio.json").read_text())["sizes"]
    page = (ROOT / "docs" / "studio.md").read_text(encoding="utf-8")
    for row in stored:
        cells = re.search(rf"^\| {row['points']:,} \|(.*)\|$", page, re.MULTILINE).group(1).split("|")
        measured = [row[column] for column in COLUMNS]
        assert [float(cell) for cell in cells] == [round(value, 3) for value in measured]
