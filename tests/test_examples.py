"""Every example runs and leaves a picture; those of CSP tell scores, which get better by constraints."""

import re
import runpy
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parent.parent / "examples").glob("*.py"))
SCORED = [path for path in EXAMPLES if path.stem.startswith("csp_")]


def run(path, folder, monkeypatch):
    monkeypatch.chdir(folder)
    monkeypatch.setattr("sys.argv", [str(path)])
    runpy.run_path(str(path), run_name="__main__")


def test_there_are_examples():
    assert SCORED


@pytest.mark.parametrize("path", sorted(set(EXAMPLES) - set(SCORED)), ids=lambda path: path.stem)
def test_an_example_leaves_a_picture(path, tmp_path, monkeypatch):
    run(path, tmp_path, monkeypatch)
    pictures = list(tmp_path.glob("*.png"))
    assert pictures
    assert all(picture.read_bytes().startswith(b"\x89PNG") for picture in pictures)


@pytest.mark.parametrize("path", SCORED, ids=lambda path: path.stem)
def test_an_example_is_better_after_than_before(path, tmp_path, monkeypatch, capsys):
    run(path, tmp_path, monkeypatch)
    scores = dict(re.findall(r"(before|after):\s+ARI ([\d.]+)", capsys.readouterr().out))
    assert float(scores["after"]) > float(scores["before"]) + 0.05
    assert (tmp_path / f"{path.stem}.png").read_bytes().startswith(b"\x89PNG")
