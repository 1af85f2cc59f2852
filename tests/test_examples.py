"""Every example of CSP runs, gets better by its constraints, and leaves its picture."""

import re
import runpy
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parent.parent / "examples").glob("csp_*.py"))


def test_there_are_examples():
    assert EXAMPLES


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_is_better_after_than_before(path, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(path), run_name="__main__")
    scores = dict(re.findall(r"(before|after):\s+ARI ([\d.]+)", capsys.readouterr().out))
    assert float(scores["after"]) > float(scores["before"]) + 0.05
    assert (tmp_path / f"{path.stem}.png").read_bytes().startswith(b"\x89PNG")
