"""Pages say which of their tables are older than the code, and how to measure them again."""

import sys

import pandas as pd
import pytest

from benchmarks import page_tables, stored
from benchmarks.evidence import __main__ as evidence
from benchmarks.evidence import experiments, fingerprint, records
from benchmarks.page_tables import DOCS


@pytest.mark.parametrize("page", records.PAGES)
def test_a_page_says_which_of_its_tables_are_older_than_the_code(page):
    text = (DOCS / page).read_text(encoding="utf-8")
    assert "<!-- begin evidence:" in text
    found = page_tables.fill(text, {"evidence": lambda: records.describe(page)})
    assert found == text, (
        f"docs/{page} does not say which of its tables are older than the code. Measure them again (`make "
        "evidence DATA=FOLDER ONLY=...`), or let the page say it: `python -m benchmarks.evidence --pages`."
    )


def test_a_page_has_all_experiments_and_how_long_they_took():
    text = (DOCS / records.MEASURING).read_text(encoding="utf-8")
    assert page_tables.fill(text, {"experiments": records.table}) == text, (
        "python -m benchmarks.evidence --pages"
    )


def test_code_counts_and_comments_do_not():
    source = '"""Says."""\n\n\ndef half(x):\n    """Return x / 2."""\n    return x / 2  # exact\n'
    assert fingerprint.bare(source) == fingerprint.bare("def half(x):\n    return x / 2\n")
    assert fingerprint.bare(source) != fingerprint.bare("def half(x):\n    return x / 3\n")


def test_a_hash_tells_changed_code(tmp_path, monkeypatch):
    monkeypatch.setattr(fingerprint, "ROOT", tmp_path)
    path = tmp_path / "src" / "sidecut" / "half.py"
    path.parent.mkdir(parents=True)
    found = []
    for source in ("X = 1\n", "X = 1  # one\n", "X = 2\n"):
        path.write_text(source)
        found.append(fingerprint.hash_of(["sidecut.half"]))
    path.unlink()
    found.append(fingerprint.hash_of(["sidecut.half"]))
    assert found[0] == found[1]
    assert len(set(found)) == 3


def test_a_record_is_stale_once_its_code_has_changed():
    record = {"modules": ["sidecut.checks"], "code": fingerprint.hash_of(["sidecut.checks"])}
    assert not records.is_stale(record)
    assert records.is_stale({**record, "code": "0"})


@pytest.mark.parametrize("experiment", experiments.EXPERIMENTS, ids=lambda one: one.name)
def test_every_step_is_a_script_and_every_page_is_there(experiment):
    assert (DOCS / experiment.page).exists()
    for step in (*experiment.steps, *experiment.quick):
        path = fingerprint.path_of(f"benchmarks.{step.split()[0]}")
        main = path.with_name("__main__.py") if path.name == "__init__.py" else path
        assert '__name__ == "__main__"' in main.read_text(encoding="utf-8")


def test_old_rows_are_kept_only_where_nothing_of_the_kind_was_measured(tmp_path):
    before, path = tmp_path / "before.csv", tmp_path / "now.csv"
    before.write_text("method,draw,ari\nCSP,0,.50\nCSP,7,.60\nLSC,0,.70\n")
    path.write_text("method,draw,ari,seconds\nCSP,0,.51,2\n")
    stored.keep_others(before, path, ["method"])
    assert path.read_text() == "method,draw,ari,seconds\nLSC,0,.70,\nCSP,0,.51,2\n"
    lines = tmp_path / "before.jsonl", tmp_path / "now.jsonl"
    lines[0].write_text('{"way": "all", "error": 0.1}\n{"way": "all", "error": 0.2}\n')
    lines[1].write_text('{"way": "all", "error": 0.1, "ari": 1}\n')
    stored.keep_others(*lines, ["way", "error"])
    assert lines[1].read_text() == '{"way": "all", "error": 0.2}\n{"way": "all", "error": 0.1, "ari": 1}\n'


def test_rows_that_are_not_of_the_run_are_marked(tmp_path, monkeypatch):
    rows = pd.DataFrame({"date": ["2026-01-02", "2026-01-05"], "commit": ["1234567", "89abcde"]})
    monkeypatch.setattr(stored, "evidence_commits", lambda: frozenset({"89abcde"}))
    assert stored.measured(rows.iloc[1]) == "2026-01-05 `89abcde`"
    assert stored.measured(rows) == "2026-01-02 `1234567` to 2026-01-05 `89abcde`, apart"


def runner_of(tmp_path, monkeypatch, hours=1.0):
    """A runner whose results and logs are in a folder, and whose steps are lines of Python."""
    monkeypatch.setattr(stored, "RESULTS", tmp_path / "results")
    monkeypatch.setattr(evidence, "KEPT", tmp_path / "kept")
    monkeypatch.setattr(records, "RECORDS", tmp_path / "results" / "evidence.json")
    monkeypatch.setattr(evidence, "command_of", lambda step: [sys.executable, "-c", step])
    (tmp_path / "results").mkdir()
    return evidence.Runner(None, quick=False, hours=hours)


def test_an_experiment_that_fails_keeps_its_rows_and_ends_no_other(tmp_path, monkeypatch):
    runner, path = runner_of(tmp_path, monkeypatch), tmp_path / "results" / "half.csv"
    path.write_text("x\n1\n")
    write = f"open({str(path)!r}, 'w').write('x\\n2\\n')"
    fails = experiments.Experiment("fails", "?", "", (write + "; 1 / 0",), 1, forget=("half.csv",))
    works = experiments.Experiment("works", "?", "", (write,), 1, forget=("half.csv",))
    runner.run(fails)
    assert path.read_text() == "x\n1\n"
    runner.run(works)
    assert path.read_text() == "x\n2\n"
    assert runner.failed == ["fails"]
    assert set(records.read()) == {"works"}
    log = (tmp_path / "kept" / "run.log").read_text()
    assert "fails: ? failed after" in log
    assert "works: ? 0 s" in log
    assert "ZeroDivisionError" in (tmp_path / "kept" / "fails.log").read_text()


def test_an_experiment_that_takes_too_long_is_stopped(tmp_path, monkeypatch):
    runner = runner_of(tmp_path, monkeypatch)
    runner.run(experiments.Experiment("waits", "?", "", ("import time; time.sleep(60)",), 0.005))
    assert runner.failed == ["waits"]
    assert "was stopped after" in (tmp_path / "kept" / "run.log").read_text()


def test_names_are_told_apart_and_unknown_ones_are_refused():
    names = [one.name for one in experiments.EXPERIMENTS]
    assert len(set(names)) == len(names)
    with pytest.raises(ValueError, match="no experiment is called half"):
        experiments.chosen(["half"])
