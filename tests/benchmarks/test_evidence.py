"""Pages say which of their tables are older than the code, and how to measure them again."""

import pytest

from benchmarks import page_tables
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


def test_names_are_told_apart_and_unknown_ones_are_refused():
    names = [one.name for one in experiments.EXPERIMENTS]
    assert len(set(names)) == len(names)
    with pytest.raises(ValueError, match="no experiment is called half"):
        experiments.chosen(["half"])
