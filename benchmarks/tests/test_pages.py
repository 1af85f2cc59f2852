"""The tables of the pages are those of the stored results."""

import pytest

from benchmarks import page_tables
from benchmarks.choices import choose_learn, constants, defaults, guard
from benchmarks.code import __main__ as code
from benchmarks.quality.active import table as active
from benchmarks.quality.diagnostics import beside
from benchmarks.quality.few_labels import table as few_labels
from benchmarks.quality.lasting import table as lasting
from benchmarks.quality.layers import table as layers
from benchmarks.quality.selection import table as selection
from benchmarks.speed import blocks_page


@pytest.mark.parametrize(
    "script",
    [
        active,
        beside,
        few_labels,
        lasting,
        layers,
        selection,
        guard,
        defaults,
        code,
        constants,
        choose_learn,
        blocks_page,
    ],
)
def test_the_tables_of_a_page_are_those_of_the_stored_results(script):
    texts, makers = [page.read_text(encoding="utf-8") for page in script.PAGES], script.makers()
    assert {name for text in texts for name in page_tables.names(text)} == set(makers)
    for text in texts:
        assert page_tables.fill(text, makers) == text
