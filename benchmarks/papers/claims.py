"""What the papers say about their results, and whether the stored tables bear it out.

A claim is a paraphrase, the place in the paper, and a function of the tables. Functions here turn tables into
the few quantities that claims are about; each returns None where something was not run.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pandas as pd

from benchmarks.papers.tables import Results

#: Two means closer than this are a draw: no method is better by it.
TIE = 0.005


@dataclass(frozen=True)
class Verdict:
    """Whether a claim holds, and the number it rests on.

    Parameters
    ----------
    holds : bool or None
        None: partly.
    number : str
        What was found.
    """

    holds: bool | None
    number: str

    @property
    def word(self) -> str:
        """The verdict in a word."""
        return "partly" if self.holds is None else "holds" if self.holds else "**does not hold**"


@dataclass(frozen=True)
class Claim:
    """A result that a paper states.

    Parameters
    ----------
    says : str
        A paraphrase.
    where : str
        Section or figure.
    check : callable
        From the tables to a verdict, None where the experiments were not run.
    because : str
        Why it does not hold, as far as known; shown only if it does not.
    """

    says: str
    where: str
    check: Callable[[Results], Verdict | None]
    because: str = ""


def metric_of(name: str) -> str:
    """Return what the paper of an experiment reports; "err" counts as accuracy here: more is better."""
    return {"csap": "rand", "scacs": "acc", "ncsc": "acc"}.get(name.partition("-")[0], "ari")


def curves(results: Results, names: list[str], methods: list[str]) -> pd.DataFrame | None:
    """Return the papers' scores, a column per method and a row per experiment and size."""
    columns = {}
    for method in methods:
        parts = {name: results.curve(name, method, metric_of(name)) for name in names}
        if not parts or any(part is None for part in parts.values()):
            return None
        columns[method] = pd.concat(parts)
    return pd.DataFrame(columns)


def best_share(results: Results, names: list[str], method: str, rivals: list[str]) -> float | None:
    """Return the share of cells (experiment and size) in which no rival is better by more than a tie."""
    table = curves(results, names, [method, *rivals])
    if table is None:
        return None
    return float((table[method] >= table[rivals].max(axis=1) - TIE).mean())


def gain(results: Results, names: list[str], method: str, over: str) -> float | None:
    """Return the mean difference of two methods over experiments and sizes."""
    table = curves(results, names, [method, over])
    return None if table is None else float((table[method] - table[over]).mean())


def trend(results: Results, names: list[str], method: str) -> float | None:
    """Return the score at the largest size minus that at the smallest, mean over experiments."""
    table = curves(results, names, [method])
    if table is None:
        return None
    scores = table[method].groupby(level=0)
    return float((scores.last() - scores.first()).mean())


def final(results: Results, names: list[str], method: str) -> pd.Series | None:
    """Return the score at the largest size, by experiment."""
    table = curves(results, names, [method])
    return None if table is None else table[method].groupby(level=0).last()


def graded(share: float | None, words: str, most: float = 0.75, some: float = 0.5) -> Verdict | None:
    """Judge a share of cells: most of them, some of them, or few."""
    if share is None:
        return None
    return Verdict(True if share >= most else None if share >= some else False, words.format(share))


def in_groups(
    groups: dict[str, list[str]], check: Callable[[Results, list[str]], Verdict | None]
) -> Callable[[Results], Verdict | None]:
    """Judge a claim in each of several groups of experiments: where they differ, it holds partly."""

    def judge(results: Results) -> Verdict | None:
        found = {title: check(results, names) for title, names in groups.items()}
        run = {title: verdict for title, verdict in found.items() if verdict is not None}
        if not run:
            return None
        holds = {verdict.holds for verdict in run.values()}
        text = "; ".join(f"{title}: {verdict.number}" for title, verdict in run.items())
        return Verdict(holds.pop() if len(holds) == 1 else None, text)

    return judge
