"""Landmarks of a stream of segments: all that was heard, in bounded memory."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.cluster import AgglomerativeClustering

from sidecut.arrays import FloatArray, IntArray
from sidecut.constraints import Constraints
from sidecut.constraints.labels import UNKNOWN, read_labels

#: Cosine distances end at 2: landmarks that are apart are merged last.
BEYOND = 3.0


class Landmarks:
    """Weighted centres that stand for all segments so far.

    Parameters
    ----------
    dimension : int
        Of the embeddings.

    Attributes
    ----------
    centers : array of shape (n_landmarks, dimension)
        The sums of the unit vectors they stand for.
    of_segment : array of shape (n_segments,)
        The landmark of every segment so far.
    """

    def __init__(self, dimension: int) -> None:
        self.centers: FloatArray = np.empty((0, dimension))
        self.of_segment: IntArray = np.empty(0, dtype=np.int64)
        self._apart: IntArray = np.empty((0, 2), dtype=np.int64)
        # The known speaker of every landmark, by number, and their names.
        self._speaker: IntArray = np.empty(0, dtype=np.int64)
        self._names: list[Any] = []

    def __len__(self) -> int:
        return len(self.centers)

    def add(self, points: FloatArray, known: Constraints, speakers: Any = None) -> None:
        """Make every new segment a landmark; `known` says which of them are apart."""
        start = len(self)
        self.centers = np.concatenate([self.centers, points])
        self.of_segment = np.concatenate([self.of_segment, start + np.arange(len(points))])
        apart = np.asarray(known.pairs)[np.asarray(known.strengths) < 0]
        self._apart = np.concatenate([self._apart, start + apart.reshape(-1, 2)])
        self._speaker = np.concatenate([self._speaker, self._number(speakers, len(points))])

    def _number(self, speakers: Any, n: int) -> IntArray:
        """Return the numbers of known speakers, those met before with the number they had."""
        if speakers is None:
            return np.full(n, UNKNOWN, dtype=np.int64)
        codes, names = read_labels(speakers, "speakers")
        self._names += [name for name in names if name not in self._names]
        numbers = np.array([self._names.index(name) for name in names] + [UNKNOWN], dtype=np.int64)
        return numbers[codes]

    def merge(self, n_most: int) -> None:
        """Merge the nearest until there are half as many as there may be, if there are too many.

        Segments that are apart are not merged; once they are in a landmark of many, that is all they say.
        """
        if len(self) <= n_most:
            return
        target = max(n_most // 2, 1)
        joined = AgglomerativeClustering(target, metric="precomputed", linkage="complete")
        group = joined.fit_predict(self._distances())
        centers = np.zeros((target, self.centers.shape[1]))
        np.add.at(centers, group, self.centers)
        speaker = np.full(target, UNKNOWN, dtype=np.int64)
        is_known = self._speaker != UNKNOWN
        speaker[group[is_known]] = self._speaker[is_known]
        self.centers, self._speaker, self.of_segment = centers, speaker, group[self.of_segment]
        # Of landmarks that stand for many, one slip would make the links contradict each other.
        is_single = np.bincount(group)[group] == 1
        self._apart = group[self._apart[is_single[self._apart].all(axis=1)]]

    def _distances(self) -> FloatArray:
        unit = self.centers / np.linalg.norm(self.centers, axis=1, keepdims=True)
        distances = np.maximum(1.0 - unit @ unit.T, 0.0)
        a, b = self._apart.T
        distances[a, b] = distances[b, a] = BEYOND
        is_known = self._speaker != UNKNOWN
        strangers = (self._speaker[:, None] != self._speaker) & is_known[:, None] & is_known
        distances[strangers] = BEYOND
        np.fill_diagonal(distances, 0.0)
        return distances

    def knowledge(self) -> Constraints:
        """Return what is known about the landmarks."""
        known = Constraints.from_labels(self._speaker)
        # Landmarks that are apart but have the same name: the name was given by a person.
        a, b = self._apart.T
        differ = (self._speaker[a] == UNKNOWN) | (self._speaker[a] != self._speaker[b])
        return known | Constraints.from_pairs(len(self), cannot_link=self._apart[differ])

    def names(self, labels: IntArray) -> dict[int, Any]:
        """Return the names of the speakers that are known, by the label of most of their landmarks."""
        names: dict[int, Any] = {}
        speaker = self._speaker[self.of_segment]
        for number, name in enumerate(self._names):
            found = labels[speaker == number]
            if len(found):
                names[int(np.bincount(found).argmax())] = name
        return names


def keep_numbers(labels: IntArray, before: IntArray) -> IntArray:
    """Number clusters as before where most of their segments are the same; others get the next numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.integrations.stream import keep_numbers
    >>> keep_numbers(np.array([1, 1, 0, 0, 2]), np.array([0, 0, 1, 1]))
    array([0, 0, 1, 1, 2])
    """
    n_new = int(labels.max()) + 1
    n_old = int(before.max(initial=-1)) + 1
    shared = np.zeros((n_new, n_old))
    np.add.at(shared, (labels[: len(before)], before), 1)
    rows, columns = linear_sum_assignment(shared, maximize=True)
    numbers = np.full(n_new, -1, dtype=np.int64)
    kept = shared[rows, columns] > 0
    numbers[rows[kept]] = columns[kept]
    is_new = numbers < 0
    numbers[is_new] = n_old + np.arange(is_new.sum())
    return numbers[labels]
