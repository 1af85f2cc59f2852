from types import SimpleNamespace
from xml.etree import ElementTree

import pandas as pd
import pytest

from benchmarks.papers.claims import Claim, Verdict, gain
from benchmarks.papers.experiment import Protocol
from benchmarks.papers.figures import numbers_of
from benchmarks.papers.report import markdown, page
from benchmarks.papers.running import run
from benchmarks.papers.tables import Results


def test_figures_are_told_by_their_numbers():
    assert [numbers_of(f) for f in ("fig. 8", "figs. 9 and 10", "fig. 1 a")] == [["8"], ["9", "10"], ["1"]]


def test_tables_as_markdown():
    table = pd.DataFrame({"10": [0.5, float("nan")], "n": ["a", "b"]}, index=["x", "y"])
    assert markdown(table).splitlines() == [
        "|  | 10 | n |",
        "|---|---:|---:|",
        "| x | 0.500 | a |",
        "| y |  | b |",
    ]


@pytest.fixture
def paper(toy):
    def check(results):
        found = gain(results, [toy.name], "SL", "NC")
        return None if found is None else Verdict(found > 2, f"gain {found:+.3f}")

    claims = [
        Claim("SL gains more than can be", "sec. 1", check, "No index exceeds one."),
        Claim("Never run", "sec. 2", lambda results: None),
    ]
    return SimpleNamespace(TITLE="A toy", EXPERIMENTS=[toy], CLAIMS=claims)


def test_a_page_has_verdicts_figures_tables_and_commands(paper, toy, store, tmp_path):
    run(toy, store)
    run(toy.under(Protocol(noise=0.1)), store)
    results = Results(store.folder)
    text = page("toy", paper, results, tmp_path)
    number = gain(results, [toy.name], "SL", "NC")
    assert f"| **does not hold** (1) | gain {number:+.3f} |" in text
    assert "\n1. No index exceeds one." in text
    assert "| Never run | sec. 2 | not run | |" in text
    assert "--only toy-fig1-iris`" in text
    assert "10 % of the pairs wrong" in text
    assert ">>>" not in text
    mean = results.curve(toy.name, "SL", "ari").loc[40]
    (row,) = [line for line in text.splitlines() if line.startswith("| SL |") and line.count("|") == 6]
    assert f" {mean:.3f} " in row
    svg = ElementTree.parse(tmp_path / "toy-fig1.svg").getroot()
    assert svg.tag.endswith("svg")
    assert (tmp_path / "toy-fig1.svg").stat().st_size < 100_000


def test_pages_do_not_change_when_nothing_did(paper, toy, store, tmp_path):
    run(toy, store)
    results = Results(store.folder)
    first = page("toy", paper, results, tmp_path), (tmp_path / "toy-fig1.svg").read_bytes()
    assert first == (page("toy", paper, results, tmp_path), (tmp_path / "toy-fig1.svg").read_bytes())
