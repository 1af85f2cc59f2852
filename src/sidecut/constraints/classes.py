"""What people call the classes they know, and which cluster each class is in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidecut.arrays import IntArray
from sidecut.exceptions import ConstraintWarning, warn


@dataclass(frozen=True, eq=False)
class Classes:
    """The points whose class is known by name.

    Parameters
    ----------
    points : ndarray of shape (c,)
        Sorted points.
    codes : ndarray of shape (c,)
        The class of each, as a place in `names`.
    names : tuple
        What the classes are called.
    """

    points: IntArray
    codes: IntArray
    names: tuple[Any, ...]

    def restricted_to(self, rows: IntArray) -> Classes | None:
        """Return the same for some rows, renumbered."""
        place = {int(row): number for number, row in enumerate(rows)}
        kept = [
            (place[p], c)
            for p, c in zip(self.points.tolist(), self.codes.tolist(), strict=True)
            if p in place
        ]
        if not kept:
            return None
        points, codes = np.array(sorted(kept), dtype=np.int64).T
        return Classes(points, codes, self.names)

    def merged_with(self, other: Classes | None) -> Classes:
        """Return the points of both; what is called by both keeps the name it has here."""
        if other is None:
            return self
        number = {name: code for code, name in enumerate(dict.fromkeys((*self.names, *other.names)))}
        known = {p: number[other.names[c]] for p, c in zip(other.points.tolist(), other.codes, strict=True)}
        known |= {p: number[self.names[c]] for p, c in zip(self.points.tolist(), self.codes, strict=True)}
        points, codes = np.array(sorted(known.items()), dtype=np.int64).T
        return Classes(points, codes, tuple(number))

    def of_samples(self, n_samples: int) -> NDArray[np.object_]:
        """Return the name of the class of each sample, None where it has none."""
        found: NDArray[np.object_] = np.full(n_samples, None, dtype=object)
        names = np.empty(len(self.names), dtype=object)
        names[:] = self.names
        found[self.points] = names[self.codes]
        return found


def merge_classes(first: Classes | None, second: Classes | None) -> Classes | None:
    """Unite what two sets of constraints know of names."""
    return second if first is None else first.merged_with(second)


def name_clusters(
    labels: NDArray[Any], classes: Classes | None, n_clusters: int | None = None
) -> dict[int, Any]:
    """Tell which cluster is which class: the one most of its known points are of.

    Parameters
    ----------
    labels : array of shape (n_samples,)
        The cluster of each sample.
    classes : Classes or None
        The points whose class is known.
    n_clusters : int, optional
        Where there are fewer clusters than classes, that some share a cluster is no news.

    Returns
    -------
    dict
        The class of each cluster that holds a known point; other clusters are not in it.

    Examples
    --------
    >>> known = Classes(np.array([0, 1, 3]), np.array([0, 0, 1]), ("cat", "dog"))
    >>> name_clusters(np.array([2, 2, 0, 1]), known)
    {1: 'dog', 2: 'cat'}
    """
    if classes is None:
        return {}
    clusters, place = np.unique(labels[classes.points], return_inverse=True)
    counts = np.zeros((len(clusters), len(classes.names)), dtype=np.int64)
    np.add.at(counts, (place, classes.codes), 1)
    claims = {int(c): classes.names[counts[row].argmax()] for row, c in enumerate(clusters)}
    if n_clusters is None or n_clusters >= np.count_nonzero(counts.any(axis=0)):
        _warn_about_shared(counts, clusters, classes.names, set(claims.values()))
    return claims


def _warn_about_shared(
    counts: IntArray, clusters: IntArray, names: tuple[Any, ...], claimed: set[Any]
) -> None:
    totals = counts.sum(axis=0)
    lost = [code for code, name in enumerate(names) if totals[code] and name not in claimed]
    if not lost:
        return
    told = []
    for code in lost[:3]:
        row = int(counts[:, code].argmax())
        told.append(
            f"{names[code]!r} shares cluster {clusters[row]} with {names[counts[row].argmax()]!r} "
            f"({counts[row, code]} of its {totals[code]} known points are there)"
        )
    more = f" and {len(lost) - 3} more" if len(lost) > 3 else ""
    one = len(lost) == 1
    who = "A class has no cluster of its own" if one else f"{len(lost)} classes have no cluster of their own"
    warn(
        f"{who}: {'; '.join(told)}{more}. Look at these labels, ask for more clusters or try another method.",
        ConstraintWarning,
    )
