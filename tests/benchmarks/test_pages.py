"""The tables of the pages are those of the stored results."""

import pytest

from benchmarks import marks
from benchmarks.active import table as active
from benchmarks.few_labels import table as few_labels
from benchmarks.selection import table as selection


@pytest.mark.parametrize("script", [active, few_labels, selection], ids=["asking", "poisson", "selection"])
def test_the_tables_of_a_page_are_those_of_the_stored_results(script):
    text, makers = script.PAGE.read_text(encoding="utf-8"), script.makers()
    assert set(marks.names(text)) == set(makers)
    assert marks.fill(text, makers) == text
