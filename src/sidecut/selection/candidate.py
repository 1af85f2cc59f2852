"""One candidate: a method on a graph, what is expected of it, how it has done, and that in words."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from sidecut.arrays import FloatArray, IntArray
from sidecut.constraints import Constraints
from sidecut.constraints.satisfaction import PairCounts


@dataclass
class Candidate:
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
    by_point : list of arrays of shape (h, 4)
        The same counts for each held-out point by itself, fold by fold.
    answers : list of arrays
        Its labels, fold by fold.
    leaning : float
        How much better than the usual graph experience expects this graph to be.
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
    expected: float = 0.0
    counts: list[PairCounts] = field(default_factory=list)
    by_point: list[FloatArray] = field(default_factory=list)
    answers: list[IntArray] = field(default_factory=list)
    leaning: float = 0.0
    members: list[Candidate] = field(default_factory=list)
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
    def held_out(self) -> int:
        """How many points were held out in the folds it answered."""
        return sum(len(points) for points in self.by_point)

    @property
    def belief(self) -> float:
        """The score, drawn towards what experience expects while little was held out."""
        if not self.counts:
            return self.expected
        return (self.held_out * self.score + WORTH * self.expected) / (self.held_out + WORTH)

    def gain_over(self, other: Candidate) -> tuple[float, float]:
        """Return by how much its score is better than another's, and the standard error of that.

        The two are compared on the same folds. The error is the jackknife's: each held-out point is left out
        in turn, with all its pairs, so that what hangs on one point does not count for much.
        """
        n_folds = min(len(self.counts), len(other.counts))
        mine, theirs = (_total(candidate.counts[:n_folds]) for candidate in (self, other))
        gain = float(_balanced(mine) - _balanced(theirs))
        without = _balanced(mine - np.concatenate(self.by_point[:n_folds])) - _balanced(
            theirs - np.concatenate(other.by_point[:n_folds])
        )
        n = len(without)
        return gain, float(np.sqrt((n - 1) / n * np.sum((without - without.mean()) ** 2)))

    def sure_gain_over(self, other: Candidate, luck: float) -> float:
        """Return the gain that luck does not explain.

        The gain and its error are drawn towards what experience expects of the graph, while little was held
        out; then the error is taken off, as many times as `luck` says.
        """
        n_folds = min(len(self.counts), len(other.counts))
        if n_folds == 0:
            return self.leaning
        gain, error = self.gain_over(other)
        seen = sum(len(points) for points in self.by_point[:n_folds])
        return (seen * (gain - luck * error) + WORTH * self.leaning) / (seen + WORTH)


def _total(counts: list[PairCounts]) -> FloatArray:
    total = reduce(add, counts)
    return np.array([total.together, total.apart, total.joined, total.parted])


def _balanced(counts: FloatArray) -> FloatArray:
    """Return the balanced accuracy of each row of counts; 1 where there are no pairs."""
    known, right = counts[..., :2], counts[..., 2:]
    shares = np.where(known > 0, right / np.maximum(known, 1e-300), 0.0).sum(axis=-1)
    kinds = (known > 0).sum(axis=-1)
    return np.where(kinds > 0, shares / np.maximum(kinds, 1), 1.0)


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
    >>> from sidecut.selection.candidate import expected_gain
    >>> expected_gain("NormalizedCut", Constraints.from_labels([0, 1, -1]))
    0.0
    """
    stored = GAIN_FROM_PAIRS if constraints.labels is None else GAIN_FROM_LABELS
    return stored.get(method, 0.0)


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
    who = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]} voted"
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
    return (
        f"{answer}: {tried} candidates were compared by pairs held back. This gets {best.score:.0%} of them "
        f"right, must-links and cannot-links counted alike, the usual cut {plain.score:.0%}."
    )


def _the(graph: str) -> str:
    return graph if graph.startswith("the ") else f"a graph of {graph}"
