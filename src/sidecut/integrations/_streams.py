"""What `SpeakerClusterer.partial_fit` keeps of a recording: some segments, and the numbers of speakers."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from sidecut.checks import FloatArray, IntArray
from sidecut.constraints import Constraints
from sidecut.constraints.inputs import UNKNOWN, read_labels


class RememberedSegments:
    """A sample of all segments so far: their embeddings, their places in the recording, and constraints."""

    def __init__(self, dimension: int) -> None:
        self.points: FloatArray = np.empty((0, dimension))
        self.segments: IntArray = np.empty(0, dtype=np.int64)
        self.n_heard = 0
        self._apart: IntArray = np.empty((0, 2), dtype=np.int64)
        # The known speaker of every segment, by number, and the names of the speakers.
        self._speaker: IntArray = np.empty(0, dtype=np.int64)
        self._names: list[Any] = []

    def __len__(self) -> int:
        return len(self.points)

    def add(self, points: FloatArray, apart: IntArray, speakers: Any = None) -> None:
        """Add all new segments; `apart` are pairs of them with different speakers."""
        start = len(self)
        self.points = np.concatenate([self.points, points])
        self.segments = np.concatenate([self.segments, self.n_heard + np.arange(len(points))])
        self.n_heard += len(points)
        self._apart = np.concatenate([self._apart, start + apart.reshape(-1, 2)])
        self._speaker = np.concatenate([self._speaker, self._number(speakers, len(points))])

    def _number(self, speakers: Any, n: int) -> IntArray:
        """Return the numbers of known speakers; a name keeps its number."""
        if speakers is None:
            return np.full(n, UNKNOWN, dtype=np.int64)
        codes, names = read_labels(speakers, "speakers")
        self._names += [name for name in names if name not in self._names]
        numbers = np.array([self._names.index(name) for name in names] + [UNKNOWN], dtype=np.int64)
        return numbers[codes]

    def constraints(self) -> Constraints:
        """Return the constraints between the segments."""
        known = Constraints.from_labels(self._speaker)
        return known | Constraints.from_pairs(len(self), cannot_link=self._apart)

    def names(self, labels: IntArray) -> dict[int, Any]:
        """Return the names of known speakers by the most frequent label of their segments."""
        names: dict[int, Any] = {}
        for number, name in enumerate(self._names):
            found = labels[self._speaker == number]
            if len(found):
                names[int(np.bincount(found).argmax())] = name
        return names

    def thin(self, labels: IntArray, n_most: int, rng: np.random.RandomState) -> None:
        """Keep at most `n_most` segments, equally many of each speaker if possible, known ones first."""
        if len(self) <= n_most:
            return
        # Known segments, then others in random order; the first of every speaker come first.
        order = np.lexsort((rng.permutation(len(self)), self._speaker == UNKNOWN))
        rank = np.empty(len(self), dtype=np.int64)
        for label in np.unique(labels):
            mine = order[labels[order] == label]
            rank[mine] = np.arange(len(mine))
        kept = np.sort(np.argsort(rank, kind="stable")[:n_most])
        place = np.full(len(self), -1)
        place[kept] = np.arange(len(kept))
        apart = place[self._apart]
        self._apart = apart[(apart >= 0).all(axis=1)]
        self.points, self.segments = self.points[kept], self.segments[kept]
        self._speaker = self._speaker[kept]


def keep_numbers(labels: IntArray, before: IntArray, n_used: int = 0) -> IntArray:
    """Number clusters as before where most of their segments are the same; others get the next numbers.

    `before` holds the earlier labels of the first segments; `n_used` numbers were in use.
    """
    n_new = int(labels.max()) + 1
    n_old = max(int(before.max(initial=-1)) + 1, n_used)
    shared = np.zeros((n_new, n_old))
    np.add.at(shared, (labels[: len(before)], before), 1)
    rows, columns = linear_sum_assignment(shared, maximize=True)
    numbers = np.full(n_new, -1, dtype=np.int64)
    kept = shared[rows, columns] > 0
    numbers[rows[kept]] = columns[kept]
    is_new = numbers < 0
    numbers[is_new] = n_old + np.arange(is_new.sum())
    return numbers[labels]
