from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import sidecut
from benchmarks.papers import __main__ as main_module
from benchmarks.papers import cells, running
from benchmarks.papers.experiment import Contender, Protocol
from benchmarks.papers.running import run
from benchmarks.papers.storing import QUICK_RESULTS, RESULTS
from benchmarks.papers.tables import merge
from sidecut.datasets import load
from sidecut.evaluation import adjusted_rand_index
from sidecut.exceptions import DataUnavailableError


def test_a_run_fills_all_cells(toy, store):
    assert run(toy, store)
    found = store.cells(toy.name)
    assert len(found) == 2 * 2 * 2
    assert found.failure.isna().all()
    assert set(found["size"]) == {10, 40}
    assert (found.n_must + found.n_cannot == found["size"]).all()
    summary = pd.read_csv(store.summary_path(toy.name))
    means = found.groupby(["method", "size"]).ari.mean()
    for _, row in summary.iterrows():
        assert row.ari_mean == pytest.approx(means[row.method, row["size"]], abs=1e-4)
        assert row.draws == 2


def test_a_score_is_that_of_the_method_itself(toy, store):
    from sidecut import NormalizedCut

    run(replace(toy, draws=1), store)
    iris = load("iris")
    labels = NormalizedCut(3, n_neighbors=10, random_state=0).fit(iris.X).labels_
    row = store.cells(toy.name).query("method == 'NC'").iloc[0]
    assert row.ari == pytest.approx(adjusted_rand_index(iris.y, labels), abs=1e-5)


def test_the_diagonal_as_printed_is_part_of_the_constraints(toy, store):
    """SCACS with Q_ii = 1 for all points: the fit is that of constraints which have these ones."""
    contender = Contender("SCACS (paper)", "SCACS", {"n_landmarks": 40, "beta0": 0.1, "diagonal": "all"})
    run(replace(toy, kind="labels", contenders=(contender,), draws=1), store)
    found = store.cells(toy.name)
    assert found.failure.isna().all()
    assert found.ari.notna().all()


def test_finished_cells_are_not_run_again(toy, store, monkeypatch):
    run(replace(toy, draws=1), store)
    before = store.raw_path(toy.name).read_text()
    ran = []

    def watched(*arguments):
        ran.append((arguments[1], arguments[2], [c.label for c in arguments[3]]))
        return cells.run_cell(*arguments)

    monkeypatch.setattr(running, "run_cell", watched)
    run(toy, store)
    assert ran == [(10, 1, ["NC", "SL"]), (40, 1, ["NC", "SL"])]
    assert store.raw_path(toy.name).read_text().startswith(before)
    ran.clear()
    changed = replace(toy.contenders[1], settings={"n_init": 3})
    run(replace(toy, contenders=(toy.contenders[0], changed)), store)
    assert [labels for _, _, labels in ran] == [["SL"]] * 4


def test_a_summary_is_of_the_present_settings_only(toy, store):
    run(toy, store)
    changed = replace(toy.contenders[1], settings={"n_init": 3})
    later = replace(toy, contenders=(toy.contenders[0], changed), draws=1)
    run(later, store)
    summary = pd.read_csv(store.summary_path(toy.name))
    assert summary.groupby("method").draws.max().to_dict() == {"NC": 2, "SL": 1}


def test_results_do_not_depend_on_the_number_of_processes(toy, tmp_path, store):
    other = type(store)(tmp_path / "parallel")
    run(toy, store)
    run(toy, other, n_jobs=2)
    keys = ["method", "size", "draw"]
    one, two = (s.cells(toy.name).sort_values(keys).reset_index(drop=True) for s in (store, other))
    pd.testing.assert_frame_equal(one.drop(columns="seconds"), two.drop(columns="seconds"))


def test_a_method_that_fails_is_kept_as_a_failure_and_retried_on_request(toy, store):
    broken = replace(toy, contenders=(Contender("bad", "SpectralLearning", {"n_init": -1}),), draws=1)
    run(broken, store)
    found = store.cells(toy.name)
    assert found.failure.notna().all()
    assert found.ari.isna().all()
    assert store.missing(broken, list(broken.contenders)) == []
    assert len(store.missing(broken, list(broken.contenders), retry=True)) == 2


def test_a_table_of_more_draws_is_not_replaced_by_one_of_fewer(toy, store, capsys):
    """A clone has the tables and not the cells behind them."""
    run(toy, store)
    kept = store.summary_path(toy.name).read_text()
    store.raw_path(toy.name).unlink()
    run(replace(toy, draws=1), store)
    assert store.summary_path(toy.name).read_text() == kept
    assert "has more draws and stays" in capsys.readouterr().err
    run(toy, store)
    assert pd.read_csv(store.summary_path(toy.name)).draws.tolist() == [2, 2, 2, 2]


def test_one_method_run_again_leaves_the_rows_of_the_others(toy, store):
    run(toy, store)
    path = store.summary_path(toy.name)
    table = pd.read_csv(path)
    table["ari_mean"] = 9.0
    table.to_csv(path, index=False)
    store.raw_path(toy.name).unlink()
    run(toy, store, methods=["SL"])
    assert set(store.cells(toy.name).method) == {"SL"}
    again = pd.read_csv(path)
    assert again.method.tolist() == table.method.tolist()
    assert (again[again.method == "NC"].ari_mean == 9.0).all()
    assert (again[again.method == "SL"].ari_mean < 1.0).all()
    assert list(store.configuration(toy.name)["run_again"]) == ["SL"]


def test_quick_runs_leave_the_stored_tables_alone(monkeypatch, tmp_path):
    folders = []
    monkeypatch.setattr(main_module, "run", lambda setting, store, **_: folders.append(store.folder) or True)
    for options in ([], ["--quick"], ["--quick", "--results", str(tmp_path)]):
        main_module.main(["--only", "csp-fig9-iris", *options])
    assert folders == [RESULTS, QUICK_RESULTS, tmp_path]


def test_experiments_that_do_not_exist_are_named(capsys):
    with pytest.raises(SystemExit):
        main_module.main(["--only", "nonsense"])
    assert "nonsense" in capsys.readouterr().err


def test_data_that_cannot_be_had_are_named_and_left_out(toy, store, capsys, monkeypatch):
    def unavailable(*arguments):
        raise DataUnavailableError("set SIDECUT_DATA")

    monkeypatch.setattr(running, "points", unavailable)
    assert not run(toy, store)
    assert "left out: set SIDECUT_DATA" in capsys.readouterr().err


def test_a_grid_is_a_row_per_setting_or_the_one_held_out_constraints_favour(toy, store):
    tuned = Contender("SL", "SpectralLearning", {}, {"n_init": [1, 2]})
    experiment = replace(toy, contenders=(tuned,), draws=1, sizes=(40,))
    run(experiment, store)
    assert list(store.cells(experiment.name).setting) == ["n_init=1", "n_init=2"]
    held = experiment.under(Protocol(choose="held-out"))
    run(held, store)
    assert len(store.cells(held.name)) == 1


def test_a_sweep_varies_a_parameter_and_keeps_the_constraints(toy, store):
    sweep = replace(toy, sweep="n_init", sizes=(1, 3), fixed=20, contenders=toy.contenders[1:], draws=1)
    run(sweep, store)
    found = store.cells(sweep.name)
    assert (found.n_must + found.n_cannot == 20).all()
    assert list(found["size"]) == [1, 3]


def test_generated_data_change_with_the_sample(toy, store):
    moons = replace(toy, data="made:sparse_moons", samples=2)
    run(moons, store)
    unconstrained = store.cells(moons.name).query("method == 'NC'").groupby("draw").ari.first()
    assert np.ptp(unconstrained) > 0


def test_the_command_runs_lists_and_summarises(monkeypatch, tmp_path, toy, capsys):
    from benchmarks.papers import __main__ as command

    monkeypatch.setattr(command, "experiments", lambda only: [toy])
    assert command.main(["--list"]) == 0
    assert capsys.readouterr().out.startswith("toy-fig1-iris")
    assert command.main(["--draws", "1", "--results", str(tmp_path)]) == 0
    summary = tmp_path / "toy.csv"
    written = summary.read_bytes()
    summary.unlink()
    assert command.main(["--summarise", "--results", str(tmp_path)]) == 0
    assert summary.read_bytes() == written


def test_rows_of_other_keys_stay_where_a_run_of_some_is_written(tmp_path):
    path = tmp_path / "table.csv"
    merge(pd.DataFrame({"data": ["a", "b"], "score": [1, 2]}), path, ["data"])
    merge(pd.DataFrame({"data": ["c", "a"], "score": [4, 3]}), path, ["data"])
    stored = pd.read_csv(path)[["data", "score"]]
    assert stored.to_dict("list") == {"data": ["a", "b", "c"], "score": [3, 2, 4]}


def test_what_cells_share_is_not_done_again(toy, store, monkeypatch):
    """Unconstrained methods are fitted once a draw; NCSC starts where its first price did."""
    fits = []
    for name in ("NormalizedCut", "NCSC"):
        method = getattr(sidecut, name)
        original = method.fit
        monkeypatch.setattr(
            method,
            "fit",
            lambda self, *a, o=original, **k: fits.append(self.get_params()) or o(self, *a, **k),
        )
    priced = Contender("NCSC", "NCSC", {"safe": False}, {"gamma_cannot": [0.5, 2.0]})
    experiment = replace(toy, contenders=(toy.contenders[0], priced), draws=1, name="toy-shared")
    monkeypatch.setattr(cells, "_unconstrained", cells.Memory())
    run(experiment, store)
    assert sum("gamma_cannot" not in fit for fit in fits) == 1
    starts = [fit["init"] for fit in fits if "gamma_cannot" in fit]
    assert [isinstance(start, str) for start in starts] == [True, False, True, False]
    found = store.cells(experiment.name)
    assert found.failure.isna().all()
    # What was not all of the work is not timed.
    assert found[found.method == "NCSC"].seconds.notna().tolist() == [True, False, True, False]
