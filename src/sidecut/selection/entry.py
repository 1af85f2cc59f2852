"""One candidate: a method on a graph, and how it has done so far."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import reduce
from operator import add
from typing import Any

import numpy as np
import numpy.typing as npt

from sidecut.constraints.satisfaction import PairCounts
from sidecut.selection.experience import WORTH

IntArray = npt.NDArray[np.intp]


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
