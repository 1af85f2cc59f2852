"""The table of peers says what was measured, and what failed."""

import pandas as pd
import pytest

from benchmarks.quality.peers import table
from benchmarks.quality.peers.registry import REFERENCE


def result(package, method, draw=0, **values):
    shared = {"package": package, "method": method, "data": "digits", "draw": draw, "version": "1"}
    defaults = {"cpu_seconds": 0.5, "rise_megabytes": 10.0, "ari": 0.5, "satisfied": 1.0, "with": "numpy 2"}
    return shared | (values if "error" in values else defaults | values)


@pytest.fixture
def results():
    return pd.DataFrame(
        [
            result("slowpoke", "cut", cpu_seconds=30.0, ari=0.9),
            result("broken", "cut", error="TypeError: no"),
            result(*REFERENCE, draw=0, cpu_seconds=0.1, ari=0.7),
            result(*REFERENCE, draw=1, cpu_seconds=0.3, ari=0.8),
        ]
    )


def test_times_are_relative_to_the_mean_of_the_reference(results):
    times = table.summary(results).set_index("package")["times"]
    assert times["slowpoke"] == pytest.approx(30 / 0.2)
    assert times[REFERENCE[0]] == pytest.approx(1)


def test_scores_are_means_over_draws(results):
    rows = table.summary(results).set_index("package")
    assert rows.loc[REFERENCE[0], "ari"] == pytest.approx(0.75)
    assert rows.loc[REFERENCE[0], "draws"] == 2


def test_one_draw_is_marked_and_several_are_not(results):
    text = table.comparison(results)
    assert "30 s (150) / 0.900* / 1.000 / 10 MB" in text
    assert "0.2 s (1) / 0.750 / 1.000 / 10 MB" in text


def test_the_reference_comes_first_and_strangers_last(results):
    rows = table.comparison(results).splitlines()[2:]
    assert [row.split("|")[1].strip() for row in rows] == [REFERENCE[0], "broken", "slowpoke"]


def test_a_failure_is_in_the_table_and_in_the_list_with_its_error(results):
    assert "| broken | cut | fails |" in table.comparison(results)
    assert table.failures(results) == "- broken, cut, on digits: `TypeError: no`"


def test_a_method_over_its_time_is_stopped_and_not_failed(results):
    results.loc[results["package"] == "broken", "error"] = "stopped after 300 s of processor time"
    assert "| broken | cut | stopped |" in table.comparison(results)


def test_a_later_draw_that_fails_does_not_hide_the_first(results):
    more = pd.concat(
        [results, pd.DataFrame([result("slowpoke", "cut", draw=1, error="ValueError: bad luck")])]
    )
    assert "30 s (150) / 0.900*" in table.comparison(more)
    assert "bad luck" in table.failures(more)


def test_merging_replaces_what_was_measured_before(results):
    again = table.merged(results, [result("slowpoke", "cut", cpu_seconds=3.0)])
    assert len(again) == len(results)
    assert again.set_index("package").loc["slowpoke", "cpu_seconds"] == 3.0


def test_the_page_keeps_what_is_written_by_hand(results):
    text = f"# Title\n{table.BEGIN}\nold table\n{table.END}\nwords\n"
    page = table.page(text, results)
    assert page.startswith("# Title\n")
    assert page.endswith(f"{table.END}\nwords\n")
    assert "old table" not in page
    assert table.page(page, results) == page
