"""All experiments of the five papers."""

from __future__ import annotations

from types import ModuleType

from benchmarks.papers import csap, csp, e2cp, ncsc, scacs
from benchmarks.papers.experiment import Experiment

PAPERS: dict[str, ModuleType] = {"e2cp": e2cp, "csap": csap, "scacs": scacs, "csp": csp, "ncsc": ncsc}


def experiments(only: list[str] | None = None) -> list[Experiment]:
    """Return the experiments whose names begin with one of the words, all without words.

    Raises
    ------
    ValueError
        If a word begins no name.
    """
    every = [experiment for paper in PAPERS.values() for experiment in paper.EXPERIMENTS]
    for word in only or []:
        if not any(experiment.name.startswith(word) for experiment in every):
            names = ", ".join(experiment.name for experiment in every)
            raise ValueError(f"--only {word}: no experiment begins so; there are {names}")
    return [e for e in every if not only or e.name.startswith(tuple(only))]
