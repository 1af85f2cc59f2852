"""The page of speed: exponents that are right, pictures and tables of what is stored."""

import numpy as np
import pandas as pd
import pytest

from benchmarks import page_tables, stored
from benchmarks.speed import growth, ncsc, page, scaling, sections, timing
from sidecut.constraints import sample_labels


@pytest.mark.parametrize("power", [0.5, 1.0, 3.0])
def test_the_exponent_of_a_power_law_is_found(power):
    points = np.array([100, 1_000, 5_000])
    assert growth.exponent(points, 7.0 * points**power) == pytest.approx(power)


def test_one_size_has_no_exponent():
    with pytest.raises(ValueError, match="two or more"):
        growth.exponent([100, 100], [1.0, 2.0])


def scaling_results(**seconds):
    sizes = [1_000, 2_000, 4_000]
    return pd.DataFrame(
        [
            {"data": "mnist", "points": n, "solver": name, "sidecut": taken, "scikit-learn lobpcg": n / 100}
            for name, times in seconds.items()
            for n, taken in zip(sizes, times, strict=False)
        ]
    )


def test_methods_of_one_size_only_are_not_drawn_and_the_slowest_per_point_come_first(tmp_path):
    table = scaling_results(quick=[1.0, 2.0, 4.0], slow=[3.0, 12.0, 48.0], once=[1.0])
    found = growth.series(table)
    assert list(found) == ["slow", "scikit-learn lobpcg", "quick"]
    assert found["scikit-learn lobpcg"]["seconds"].tolist() == [10.0, 20.0, 40.0]
    growth.draw(table, "here", tmp_path / "growth.svg")
    drawn = (tmp_path / "growth.svg").read_text()
    assert "quick, $n^{1.00}$" in drawn
    assert "slow, $n^{2.00}$" in drawn


def test_blobs_are_drawn_only_where_there_are_no_digits():
    digits, blobs = scaling_results(cut=[1.0, 2.0]), scaling_results(cut=[1.0]).assign(data="blobs")
    assert set(growth.on_one_sort(pd.concat([digits, blobs]))["data"]) == {"mnist"}
    assert set(growth.on_one_sort(blobs)["data"]) == {"blobs"}


def test_every_method_can_be_measured_on_the_same_points():
    works = scaling.fits(*scaling.problem(None, 600))
    assert {"scikit-learn lobpcg", "CSP", "E2CP", "NCSC", "CSAP", "SCACS"} <= set(works)
    assert works["SCACS"]().labels_.shape == (600,)


def test_a_row_replaces_the_one_it_measures_again_and_no_other(tmp_path):
    path, keys = tmp_path / "cut.csv", ["part", "points"]
    stored.merge([{"part": "a", "points": n, "sidecut": 1.0} for n in (581_012, 1_000)], path, keys)
    stored.merge([{"part": "a", "points": 1_000, "sidecut": 2.0, "gap": 1e-16}], path, keys)
    table = pd.read_csv(path)
    assert table[["points", "sidecut"]].to_numpy().tolist() == [[1_000, 2.0], [581_012, 1.0]]
    assert table["gap"].dropna().tolist() == [1e-16]
    assert table["date"].notna().all()
    assert table.columns[-2:].tolist() == ["date", "commit"]


def test_works_done_in_turn_are_each_told_by_their_median():
    ticks = iter([0, 1, 0, 10, 0, 3, 0, 30, 0, 2, 0, 20])
    assert timing.alternately([lambda: None, lambda: None], 3, lambda: next(ticks)) == [2, 20]


def test_the_page_of_speed_tells_what_is_stored():
    text = page.PAGE.read_text()
    assert set(page_tables.names(text)) == set(page.makers())
    assert page_tables.fill(text, page.makers()) == text


def test_an_iteration_of_ncsc_can_be_measured():
    graph, y = ncsc.problem(None, 200)
    rows = ncsc.per_iteration(graph, sample_labels(y, 20, random_state=0), 1)
    assert [row["solver"] for row in rows][2:] == ["projected", "multiplicative"]
    assert all(row["sidecut"] > 0 for row in rows)


def test_no_row_calls_a_kept_normalised_cut_csp():
    assert "NormalizedCut" in sections.SHOWN_AS["CSP"]
    assert sections.SHOWN_AS["CSP, safe=False"] == "`CSP`"
