from pathlib import Path
from xml.etree import ElementTree

import pandas as pd
import pytest

from benchmarks.papers.catalogue import PAPERS, Paper, experiments
from benchmarks.papers.claims import Claim, Verdict, gain
from benchmarks.papers.experiment import Protocol
from benchmarks.papers.figures import is_printed, line_of, look, numbers_of
from benchmarks.papers.report import command, figures_of, main, markdown, page
from benchmarks.papers.running import run
from benchmarks.papers.tables import Extra, Results


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
        Claim("SL gains more than can be", "1, fig. 1", check, "No index exceeds one."),
        Claim("Never run", "2, fig. 1", lambda results: None),
        Claim("Nobody knows why", "3, table 2", lambda results: Verdict(False, "0")),
    ]
    extras = {"table 2": Extra("what a script has found", "toy_table.csv", "python -m toy")}
    return Paper("A toy", [toy], claims, extras, ["Figure 3: the data are lost."])


def test_a_page_has_verdicts_figures_tables_and_commands(paper, toy, store, tmp_path):
    run(toy, store)
    run(toy.under(Protocol(noise=0.1)), store)
    results = Results(store.folder)
    text = page("toy", paper, results, tmp_path)
    number = gain(results, [toy.name], "SL", "NC")
    assert f"| **does not hold** (1) | gain {number:+.3f} |" in text
    assert "\n1. No index exceeds one." in text
    assert "| Never run | 2, fig. 1 | not run | |" in text
    assert "\n1. We do not know why." in text
    assert "| [figure 1](#figure-1) | 0 | 0 | 1 | 1 |" in text
    assert "| all | 0 | 0 | 2 | 1 |" in text
    assert '--only toy-fig1-iris"`' in text
    assert "`python -m toy` (not run yet)" in text
    assert "- Figure 3: the data are lost." in text
    assert "10 % of the pairs wrong" in text
    assert ">>>" not in text
    mean = results.curve(toy.name, "SL", "ari").loc[40]
    (row,) = [line for line in text.splitlines() if line.startswith("| SL |") and line.count("|") == 8]
    assert f" {mean:.3f} " in row
    svg = ElementTree.parse(tmp_path / "toy-fig1.svg").getroot()
    assert svg.tag.endswith("svg")
    assert (tmp_path / "toy-fig1.svg").stat().st_size < 100_000


def test_pages_do_not_change_when_nothing_did(paper, toy, store, tmp_path):
    run(toy, store)
    results = Results(store.folder)
    first = page("toy", paper, results, tmp_path), (tmp_path / "toy-fig1.svg").read_bytes()
    assert first == (page("toy", paper, results, tmp_path), (tmp_path / "toy-fig1.svg").read_bytes())


def test_claims_stand_between_their_figure_and_its_numbers(paper, toy, store, tmp_path):
    run(toy, store)
    text = page("toy", paper, Results(store.folder), tmp_path)
    places = [
        text.index(words) for words in ("## Figure 1", "toy-fig1.svg", "SL gains more", f"### {toy.name}")
    ]
    assert places == sorted(places)
    assert text.index("Nobody knows why") > text.index("## Table 2") > places[-1]


@pytest.mark.parametrize("name", PAPERS)
def test_the_command_of_a_figure_runs_its_experiments_and_no_others(name):
    for key, group in figures_of(PAPERS[name]).items():
        if group:
            word = command(group).rpartition("--only ")[2].rstrip('"')
            assert experiments([word]) == group, key


@pytest.mark.parametrize("name", PAPERS)
def test_methods_of_a_panel_are_told_apart(name):
    for experiment in PAPERS[name].experiments:
        looks = [(*look(c.label), line_of(c), is_printed(c.label)) for c in experiment.contenders]
        assert len(set(looks)) == len(looks), experiment.name
        # Without colour, by marker and line alone.
        assert len({drawn[1:] for drawn in looks}) == len(looks), experiment.name


def test_what_changed_is_named_pictures_too(paper, toy, store, tmp_path, capsys, monkeypatch):
    """One experiment was run again, and the names of five pages were printed, but not of its picture."""
    run(toy, store)
    monkeypatch.setattr("benchmarks.papers.report.PAPERS", {"toy": paper})
    capsys.readouterr()
    words = ["--results", str(store.folder), "--docs", str(tmp_path / "pages")]
    main(words)
    made = capsys.readouterr().out.split()
    (picture,) = [name for name in made if name.endswith(".svg")]
    assert len(made) == 3
    (tmp_path / "pages" / "toy.md").write_text("older", encoding="utf-8")
    main(words)
    assert capsys.readouterr().out.split() == [str(tmp_path / "pages" / "toy.md")]
    Path(picture).unlink()
    main(words)
    assert capsys.readouterr().out.split() == [picture]
    main(words)
    assert "are as they were" in capsys.readouterr().out
