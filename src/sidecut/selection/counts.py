"""How many known pairs a clustering gets right, counted without listing them, and what follows as a score."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import sparse

from sidecut.constraints import Contraction


@dataclass(frozen=True)
class PairCounts:
    """Pairs that are together or apart in truth, and how many of each a clustering gets right.

    Parameters
    ----------
    together, apart : float
        How many pairs are known to be together, and apart.
    joined, parted : float
        How many of them the clustering puts together, and apart.

    Examples
    --------
    >>> from sidecut.selection.counts import PairCounts
    >>> counts = PairCounts(together=10, apart=90, joined=5, parted=81)
    >>> round(counts.balanced_accuracy, 3), round(counts.rand_beyond_chance, 3)
    (0.7, 0.34)
    """

    together: float
    apart: float
    joined: float
    parted: float

    def __add__(self, other: PairCounts) -> PairCounts:
        return PairCounts(
            self.together + other.together,
            self.apart + other.apart,
            self.joined + other.joined,
            self.parted + other.parted,
        )

    def __sub__(self, other: PairCounts) -> PairCounts:
        return PairCounts(
            self.together - other.together,
            self.apart - other.apart,
            self.joined - other.joined,
            self.parted - other.parted,
        )

    @property
    def balanced_accuracy(self) -> float:
        """The mean of the shares of must-links and cannot-links that are satisfied."""
        shares = [
            right / known
            for right, known in ((self.joined, self.together), (self.parted, self.apart))
            if known > 0
        ]
        return float(np.mean(shares)) if shares else 1.0

    @property
    def f_measure(self) -> float:
        """The mean of the F-measures of must-links and of cannot-links."""
        missed, mixed = self.together - self.joined, self.apart - self.parted
        measures = [
            2 * right / (2 * right + missed + mixed)
            for right, known in ((self.joined, self.together), (self.parted, self.apart))
            if known > 0
        ]
        return float(np.mean(measures)) if measures else 1.0

    @property
    def rand_beyond_chance(self) -> float:
        """The Rand index of these pairs, corrected for chance as the adjusted Rand index is."""
        missed, mixed = self.together - self.joined, self.apart - self.parted
        chance = self.together * (missed + self.parted) + self.apart * (self.joined + mixed)
        if chance == 0:
            return 1.0 if missed + mixed == 0 else 0.0
        return 2 * (self.joined * self.parted - missed * mixed) / chance


def count_pairs(knowledge: Contraction, labels: npt.ArrayLike, counted: npt.NDArray[np.bool_]) -> PairCounts:
    """Count known pairs, all that follows included, among some of the known points.

    Parameters
    ----------
    knowledge : Contraction
        Components that belong together, and which of them are apart.
    labels : array-like of shape (n_samples,)
        The cluster of each sample.
    counted : array of bool, one per point of the knowledge
        Which points count.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut import Constraints
    >>> known = Constraints.from_labels([0, 0, 1, -1]).contracted()
    >>> count_pairs(known, [0, 0, 0, 1], np.ones(3, dtype=bool))
    PairCounts(together=1.0, apart=2.0, joined=1.0, parted=0.0)
    """
    points, component = knowledge.points[counted], knowledge.component[counted]
    _, cluster = np.unique(np.asarray(labels)[points], return_inverse=True)
    shape = (knowledge.n_components, int(cluster.max(initial=0)) + 1)
    table = sparse.coo_array((np.ones(len(points)), (component, cluster)), shape=shape).tocsr()
    sizes = np.asarray(table.sum(axis=1)).ravel()
    first, second = knowledge.apart[:, 0], knowledge.apart[:, 1]
    apart = float(sizes[first] @ sizes[second])
    mixed = float(table[first].multiply(table[second]).sum())
    return PairCounts(
        together=_pairs_within(sizes),
        apart=apart,
        joined=_pairs_within(table.data),
        parted=apart - mixed,
    )


def _pairs_within(sizes: npt.NDArray[np.float64]) -> float:
    return float((sizes * (sizes - 1)).sum() / 2)
