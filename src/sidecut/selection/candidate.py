"""One candidate: a method on a graph, how it has done, and that in words."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from sidecut.arrays import IntArray
from sidecut.constraints.satisfaction import PairCounts

#: What experience expects counts as much as this many points that were held out. Set on the development sets
#: of benchmarks/selection, as the numbers of race.py and views.py were.
WORTH = 40.0


@dataclass
class Candidate:
    """A candidate of `AutoCut`.

    Parameters
    ----------
    method, graph : str
        What it is called.
    model : clusterer
        Not fitted.
    leaning : float
        How much better than the usual graph experience expects this graph to be.
    counts : list of PairCounts
        Of the pairs with a held-out point, fold by fold.
    held_out : int
        How many points were held out in the folds it answered.
    answers : list of arrays
        Its labels, fold by fold.
    members : list of Candidate
        Those that vote, where it is a vote.
    seconds : float
        Spent on it.
    verdict : str
        What became of it, in words.
    """

    method: str
    graph: str
    model: Any
    leaning: float = 0.0
    counts: list[PairCounts] = field(default_factory=list)
    held_out: int = 0
    answers: list[IntArray] = field(default_factory=list)
    members: list[Candidate] = field(default_factory=list)
    seconds: float = 0.0
    verdict: str = ""
    failed: bool = False

    @property
    def score(self) -> float:
        """The balanced accuracy of all pairs with a held-out point; NaN before any was counted."""
        return _score(self.counts)

    @property
    def spread(self) -> float:
        """The standard deviation of the score over folds; NaN for fewer than two."""
        if len(self.counts) < 2:
            return float("nan")
        return float(np.std([counts.balanced_accuracy for counts in self.counts], ddof=1))

    def gain_over(self, other: Candidate) -> float:
        """Return by how much its score is better than another's on the folds that both answered."""
        n_folds = min(len(self.counts), len(other.counts))
        return _score(self.counts[:n_folds]) - _score(other.counts[:n_folds])


def _score(counts: list[PairCounts]) -> float:
    return reduce(add, counts).balanced_accuracy if counts else float("nan")


def believe(gain: float, leaning: float, held_out: int) -> float:
    """Return a gain drawn towards what experience expects, the more so the fewer points were held out.

    Parameters
    ----------
    gain : float
        What was measured.
    leaning : float
        What is expected.
    held_out : int
        How many points were held out.

    Examples
    --------
    >>> from sidecut.selection.candidate import believe
    >>> believe(0.3, 0.1, held_out=0), round(believe(0.3, 0.1, held_out=40), 3)
    (0.1, 0.2)
    """
    return (held_out * gain + WORTH * leaning) / (held_out + WORTH)


# What was chosen and why: a table, and a sentence.


COLUMNS = ("method", "graph", "score", "spread", "folds", "seconds", "verdict")


def tabulate(candidates: list[Candidate]) -> dict[str, list[Any]]:
    """Return the candidates as a table, the best score first.

    Parameters
    ----------
    candidates : list of Candidate
        The candidates.
    """
    order = sorted(candidates, key=lambda candidate: -np.nan_to_num(candidate.score, nan=-np.inf))
    rows = [
        (e.method, e.graph, e.score, e.spread, len(e.counts), round(e.seconds, 3), e.verdict) for e in order
    ]
    return {name: [row[place] for row in rows] for place, name in enumerate(COLUMNS)}


def explain(candidates: list[Candidate], chosen: list[Candidate], n_clusters: int, found: bool) -> str:
    """Say in one sentence what was chosen and why.

    Parameters
    ----------
    candidates : list of Candidate
        All candidates.
    chosen : list of Candidate
        Those that made the answer.
    n_clusters : int
        The number of clusters.
    found : bool
        Whether it was found, and not given.
    """
    names = [candidate.method for candidate in chosen]
    who = _list(names) + (" voted" if len(names) > 1 else "")
    number = f"{n_clusters} cluster{'s' if n_clusters > 1 else ''}{', a number found here' if found else ''}"
    answer = f"{who} on {_the(chosen[0].graph)} ({number})"
    is_known = any(candidate.method != "NormalizedCut" for candidate in candidates)
    if not any(candidate.counts for candidate in candidates if candidate.method != "NormalizedCut"):
        reason = (
            "too little is known to compare, so past experience chose" if is_known else "nothing is known"
        )
        return f"{answer}: {reason}."
    best = next((e for e in candidates if e.method == "vote" and e.verdict == "chosen"), chosen[0])
    plain = candidates[0]
    tried = sum(1 for candidate in candidates if candidate.counts and candidate.method != "vote")
    joined = [candidate.method for candidate in chosen if not candidate.counts]
    also = f" {_list(joined)} joined the vote without being compared." if joined else ""
    return (
        f"{answer}: {tried} candidates were compared by pairs held back. This gets {best.score:.0%} of them "
        f"right, must-links and cannot-links counted alike, the usual cut {plain.score:.0%}.{also}"
    )


def _list(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _the(graph: str) -> str:
    return graph if graph.startswith("the ") else f"a graph of {graph}"
