"""Speed: one form for all scripts, exponents that are right, and a history in which a regression shows."""

import numpy as np
import pandas as pd
import pytest

from benchmarks.speed import growth, history, ncsc, suite
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
    assert {"normalized_cut, moons", "csp, part a"} <= set(table["name"])
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


def test_only_series_of_three_sizes_are_drawn(tmp_path):
    rows = [("long", n, n / 1000, "dense", 1.0) for n in (1000, 2000, 4000)] + [
        ("short", 10, 1.0, "", np.nan)
    ]
    table = pd.DataFrame(rows, columns=suite.COLUMNS)
    assert list(growth.growing(table)) == ["long"]
    growth.draw(table, "here", tmp_path / "growth.svg")
    assert "long: n^1.00" in (tmp_path / "growth.svg").read_text()


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
        history.append(table, tmp_path / "history.csv")
    stored = pd.read_csv(tmp_path / "history.csv")
    assert stored["name"].tolist() == ["cut, 1,000 points, against dense"] * 2
    assert stored["ratio"].tolist() == [0.1235] * 2


def test_an_iteration_of_ncsc_can_be_measured():
    graph, y = ncsc.problem(None, 200)
    rows = ncsc.per_iteration(graph, sample_labels(y, 20, random_state=0), 1)
    assert [row["solver"] for row in rows][2:] == ["projected", "multiplicative"]
    assert all(row["sidecut"] > 0 for row in rows)
