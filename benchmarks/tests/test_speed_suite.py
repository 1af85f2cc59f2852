"""Speed: one form for all scripts, exponents that are right, and a history in which a regression shows."""

import numpy as np
import pandas as pd
import pytest

from benchmarks import page_tables, stored
from benchmarks.speed import growth, history, ncsc, page, scaling, suite, timing
from sidecut.constraints import sample_labels


def test_ratios_are_ours_over_theirs_whichever_way_a_script_has_them():
    table = pd.DataFrame(
        {"part": ["a", "b", "c"], "points": [1000, 2000, np.nan], "sidecut": [1.0, 4.0, np.nan]}
        | {
            "dense": [10.0, np.nan, np.nan],
            "scikit-learn": [np.nan, 2.0, np.nan],
            "ratio": [10.0, 2.0, np.nan],
        }
    )
    tidy = suite.tidy("method", table)
    assert tidy["name"].tolist() == ["method, part a", "method, part b"]
    assert tidy["against"].tolist() == ["dense", "scikit-learn"]
    assert tidy["ratio"].tolist() == [0.1, 2.0]


def test_a_row_per_solver_becomes_a_ratio_to_each_other_solver():
    table = pd.DataFrame(
        {"graph": "moons", "points": 100, "solver": ["sidecut", "scikit-learn amg", "scikit-learn lobpcg"]}
        | {"seconds": [1.0, 2.0, 4.0]}
    )
    tidy = suite.tidy("cut", table)
    assert dict(zip(tidy["against"], tidy["ratio"], strict=True)) == {
        "scikit-learn amg": 0.5,
        "scikit-learn lobpcg": 0.25,
    }


def test_what_is_compared_with_nothing_has_no_ratio_and_no_history():
    table = suite.tidy("csp", pd.DataFrame({"labels": [500.0], "points": [70_000.0], "sidecut": [2.0]}))
    assert table.loc[0, "name"] == "csp, 500 labels"
    assert np.isnan(table.loc[0, "ratio"])
    assert history.entries(table, "2026-01-01", "abc").empty


def test_stored_results_are_collected_in_the_order_of_the_scripts(tmp_path):
    for script in ("csap", "csp"):
        table = pd.DataFrame({"points": [1000], "sidecut": [1.0], "dense": [4.0]})
        table.to_csv(tmp_path / f"{script}.csv", index=False)
    assert suite.collected(tmp_path)[["name", "ratio"]].to_numpy().tolist() == [["csp", 0.25], ["csap", 0.25]]


def test_what_is_stored_in_the_project_can_be_read():
    table = suite.collected(suite.RESULTS)
    assert {"normalized_cut, moons", "csp, part a, 100 labels", "dask, 500 landmarks"} <= set(table["name"])
    assert (table["seconds"] >= 0).all()


def test_an_unknown_script_is_refused_by_name():
    with pytest.raises(ValueError, match="nothing"):
        suite.chosen(["nothing"])


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


def runs(*ratios, name="cut"):
    return pd.DataFrame(
        {"date": "2026-01-01", "commit": [f"c{i}" for i in range(len(ratios))], "name": name, "ratio": ratios}
    )


def test_a_regression_is_told_with_the_best_commit():
    worse = history.regressions(runs(1.0, 0.5, 0.7))
    assert worse[["name", "best", "best commit", "last"]].to_numpy().tolist() == [["cut", 0.5, "c1", 0.7]]
    assert worse["worse"].tolist() == pytest.approx([1.4])


def test_noise_and_past_regressions_are_not_told():
    assert history.regressions(runs(0.5, 0.59)).empty
    assert history.regressions(runs(0.5, 2.0, 0.5)).empty


def test_names_are_compared_with_themselves_only():
    both = pd.concat([runs(0.1, 0.1, name="fast"), runs(3.0, 3.1, name="slow")], ignore_index=True)
    assert history.regressions(both).empty


def test_runs_are_appended_under_one_header(tmp_path):
    table = pd.DataFrame([("cut", 1000, 2.0, "dense", 0.123456)], columns=suite.COLUMNS)
    for _ in range(2):
        history.append(table, "abc", tmp_path / "history.csv")
    told = pd.read_csv(tmp_path / "history.csv", dtype={"commit": str})
    assert told["name"].tolist() == ["cut, 1,000 points, against dense"] * 2
    assert told["ratio"].tolist() == [0.1235] * 2
    assert set(told["commit"]) == {"abc"}


def test_an_iteration_of_ncsc_can_be_measured():
    graph, y = ncsc.problem(None, 200)
    rows = ncsc.per_iteration(graph, sample_labels(y, 20, random_state=0), 1)
    assert [row["solver"] for row in rows][2:] == ["projected", "multiplicative"]
    assert all(row["sidecut"] > 0 for row in rows)
