"""What the papers say about their results, and whether the stored tables bear it out.

A claim is a paraphrase, the place in the paper, and a function of the tables. Functions here turn tables into
the few quantities that claims are about; each returns None where something was not run.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import isnan

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
        Section and figure or table: "7.3, fig. 9". It is shown beside the first that is named.
    check : callable
        From the tables to a verdict, None where the experiments were not run.
    because : str
        Why it does not hold, as far as known; shown only if it does not.
    """

    says: str
    where: str
    check: Callable[[Results], Verdict | None]
    because: str = ""

    @property
    def beside(self) -> str:
        """The figure or table it is shown beside.

        >>> Claim("", "7.3, figs. 9, 10", lambda results: None).beside
        'fig. 9'
        """
        kind, number = re.findall(r"(fig|table)s?\.? (\d+)", self.where)[0]
        return f"{kind}. {number}" if kind == "fig" else f"{kind} {number}"


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


def gains(results: Results, names: list[str], methods: list[str], over: str) -> dict[str, float] | None:
    """Return the mean differences of several methods to one."""
    table = curves(results, names, [*methods, over])
    return None if table is None else {m: float((table[m] - table[over]).mean()) for m in methods}


def slowness(results: Results, names: list[str], method: str, over: str) -> float | None:
    """Return how many times as long a method takes as another; None where they were not run together."""
    if any(results.runs(name, method) != results.runs(name, over) for name in names):
        return None
    mine, theirs = (results.mean(names, m, "seconds") for m in (method, over))
    return None if mine is None or theirs is None else mine / theirs


def deviations(results: Results, names: list[str], method: str, score: str) -> pd.Series | None:
    """Return the standard deviation between draws by size, mean over experiments."""
    parts = [results.spread(name, method, score) for name in names]
    if not parts or any(part is None for part in parts):
        return None
    return pd.concat([part["std"] for part in parts]).groupby(level=0).mean()


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


def worded(values: Mapping[str, float], form: str = "{:+.3f}") -> str:
    """Write numbers by name; of an experiment's name the data set is enough.

    >>> worded({"SL": 0.5, "csp-fig9-iris": float("nan")})
    'SL +0.500, iris failed'
    """
    told = {key: "failed" if isnan(value) else form.format(value) for key, value in values.items()}
    return ", ".join(f"{data_of(key)} {words}" for key, words in told.items())


def data_of(name: str) -> str:
    """Return the data set in an experiment's name: "fig9-iris" in "csp-fig9-iris" is of iris."""
    return re.sub(r"^\w+-fig\w+-", "", name)


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
