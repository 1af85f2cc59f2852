"""One candidate: a method on a graph, what is expected of it, how it has done, and that in words."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from sidecut.arrays import IntArray
from sidecut.constraints import Constraints
from sidecut.constraints.satisfaction import PairCounts


@dataclass
class Entry:
    """A candidate of `AutoCut`.

    Parameters
    ----------
    method, graph : str
        What it is called.
    model : clusterer
        Not fitted.
    expected : float
        The score that experience expects.
    counts : list of PairCounts
        Of the pairs with a held-out point, fold by fold.
    answers : list of arrays
        Its labels, fold by fold.
    held_out : int
        How many points were held out in these folds.
    seconds : float
        Spent on it.
    verdict : str
        What became of it, in words.
    """

    method: str
    graph: str
    model: Any
    expected: float = 0.0
    counts: list[PairCounts] = field(default_factory=list)
    answers: list[IntArray] = field(default_factory=list)
    held_out: int = 0
    seconds: float = 0.0
    verdict: str = ""
    failed: bool = False

    @property
    def score(self) -> float:
        """The balanced accuracy of all pairs with a held-out point; NaN before any was counted."""
        return reduce(add, self.counts).balanced_accuracy if self.counts else float("nan")

    @property
    def spread(self) -> float:
        """The standard deviation of the score over folds; NaN for fewer than two."""
        if len(self.counts) < 2:
            return float("nan")
        return float(np.std([counts.balanced_accuracy for counts in self.counts], ddof=1))

    @property
    def belief(self) -> float:
        """The score, drawn towards what experience expects while little was held out."""
        if not self.counts:
            return self.expected
        return (self.held_out * self.score + WORTH * self.expected) / (self.held_out + WORTH)


# What stored experiments say before anything is tried: the order where little is known.
#
# Made by ``python -m benchmarks.selection.experience`` from data sets that no result is reported on; the
# table is benchmarks/selection/results/experience.csv.


#: Mean gain in adjusted Rand index on unconstrained points over the unconstrained cut of the same graph.
GAIN_FROM_LABELS = {
    "CCSR": 0.02,
    "E2CP": 0.02,
    "CSAP": 0.02,
    "CSP": 0.01,
    "NCSC": 0.0,
    "PoissonLearning": 0.0,
    "PoissonMBO": -0.03,
}
GAIN_FROM_PAIRS = {
    "E2CP": 0.1,
    "CSAP": 0.09,
    "PoissonLearning": 0.07,
    "PoissonMBO": 0.07,
    "NCSC": 0.07,
    "CCSR": 0.06,
    "CSP": 0.03,
}
#: The methods that try every graph first: different in kind, and fast.
SCOUTS = ("E2CP", "CCSR")
#: Experience counts as much as this many points that were held out.
WORTH = 10.0


def expected_gain(method: str, constraints: Constraints) -> float:
    """Return how much a method gained in the stored experiments by knowledge of this kind.

    Parameters
    ----------
    method : str
        Its name; a method without stored experiments is expected to gain nothing.
    constraints : Constraints
        Labels, or pairs.

    Examples
    --------
    >>> from sidecut import Constraints
    >>> from sidecut.selection.entry import expected_gain
    >>> expected_gain("NormalizedCut", Constraints.from_labels([0, 1, -1]))
    0.0
    """
    stored = GAIN_FROM_PAIRS if constraints.labels is None else GAIN_FROM_LABELS
    return stored.get(method, 0.0)


# What was chosen and why: a table, and a sentence.


COLUMNS = ("method", "graph", "score", "spread", "folds", "seconds", "verdict")


def tabulate(entries: list[Entry]) -> dict[str, list[Any]]:
    """Return the candidates as a table, the best score first.

    Parameters
    ----------
    entries : list of Entry
        The candidates.
    """
    order = sorted(entries, key=lambda entry: -np.nan_to_num(entry.score, nan=-np.inf))
    rows = [
        (e.method, e.graph, e.score, e.spread, len(e.counts), round(e.seconds, 3), e.verdict) for e in order
    ]
    return {name: [row[place] for row in rows] for place, name in enumerate(COLUMNS)}


def explain(entries: list[Entry], chosen: list[Entry], n_clusters: int, found: bool) -> str:
    """Say in one sentence what was chosen and why.

    Parameters
    ----------
    entries : list of Entry
        All candidates.
    chosen : list of Entry
        Those that made the answer.
    n_clusters : int
        The number of clusters.
    found : bool
        Whether it was found, and not given.
    """
    names = [entry.method for entry in chosen]
    who = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]} voted"
    number = f"{n_clusters} cluster{'s' if n_clusters > 1 else ''}{', a number found here' if found else ''}"
    answer = f"{who} on {_the(chosen[0].graph)} ({number})"
    if all(np.isnan(entry.score) for entry in entries):
        is_known = any(entry.method != "NormalizedCut" for entry in entries)
        reason = (
            "too little is known to compare, so past experience chose" if is_known else "nothing is known"
        )
        return f"{answer}: {reason}."
    best = next((e for e in entries if e.method == "vote" and e.verdict == "chosen"), chosen[0])
    plain = next(entry for entry in entries if entry.method == "NormalizedCut")
    tried = sum(1 for entry in entries if entry.counts and entry.method != "vote")
    return (
        f"{answer}: {tried} candidates were compared by pairs held back. This gets {best.score:.0%} of them "
        f"right, must-links and cannot-links counted alike, the usual cut {plain.score:.0%}."
    )


def _the(graph: str) -> str:
    return graph if graph.startswith("the ") else f"a graph of {graph}"
