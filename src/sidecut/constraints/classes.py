"""Classes that are known by name, and which clusters they are found in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidecut.checks import IntArray
from sidecut.constraints.groups import read_only
from sidecut.exceptions import ConstraintWarning, warn


@dataclass(frozen=True, eq=False)
class Classes:
    """The points whose class is known by name."""

    points: IntArray
    codes: IntArray
    names: tuple[Any, ...]

    @property
    def words(self) -> str:
        """How many points have a label, and the classes, the largest first."""
        sizes = np.bincount(self.codes, minlength=len(self.names))
        order = [code for code in np.argsort(-sizes, kind="stable").tolist() if sizes[code]]
        shown = ", ".join(f"{self.names[code]}: {sizes[code]}" for code in order[:10])
        more = f" and {len(order) - 10} more classes" if len(order) > 10 else ""
        return f"{len(self.points)} label{'' if len(self.points) == 1 else 's'} ({shown}{more})"

    @property
    def n_together(self) -> int:
        """How many pairs of points have one label."""
        return sum(n * (n - 1) // 2 for n in np.bincount(self.codes).tolist())

    @property
    def n_apart(self) -> int:
        """How many pairs of points have two labels."""
        return len(self.points) * (len(self.points) - 1) // 2 - self.n_together

    def restricted_to(self, rows: IntArray) -> Classes | None:
        """Return the same for some rows, renumbered."""
        place = {int(row): number for number, row in enumerate(rows)}
        known = zip(self.points.tolist(), self.codes.tolist(), strict=True)
        kept = sorted((place[point], code) for point, code in known if point in place)
        if not kept:
            return None
        points, codes = np.array(kept, dtype=np.int64).T
        return Classes(points, codes, self.names)

    def merged_with(self, other: Classes) -> Classes:
        """Return the points of both; a point that both name keeps the name it has here."""
        number = {name: code for code, name in enumerate(dict.fromkeys((*self.names, *other.names)))}
        known = {p: number[other.names[c]] for p, c in zip(other.points.tolist(), other.codes, strict=True)}
        known |= {p: number[self.names[c]] for p, c in zip(self.points.tolist(), self.codes, strict=True)}
        points, codes = np.array(sorted(known.items()), dtype=np.int64).T
        return Classes(points, codes, tuple(number))

    def of_samples(self, n_samples: int) -> NDArray[np.object_]:
        """Return the name of the class of each sample, None where it is unknown."""
        named: NDArray[np.object_] = np.full(n_samples, None, dtype=object)
        names = np.empty(len(self.names), dtype=object)
        names[:] = self.names
        named[self.points] = names[self.codes]
        return read_only(named)

    def name_clusters(self, labels: IntArray, n_clusters: int | None) -> dict[int, Any]:
        """Return the class of each cluster, and warn of classes that have no cluster of their own."""
        clusters, place = np.unique(labels[self.points], return_inverse=True)
        counts = np.zeros((len(clusters), len(self.names)), dtype=np.int64)
        np.add.at(counts, (place, self.codes), 1)
        named = {int(c): self.names[counts[row].argmax()] for row, c in enumerate(clusters)}
        if n_clusters is None or n_clusters >= np.count_nonzero(counts.any(axis=0)):
            _warn_about_shared(counts, clusters, self.names, set(named.values()))
        return named


def _warn_about_shared(
    counts: IntArray, clusters: IntArray, names: tuple[Any, ...], claimed: set[Any]
) -> None:
    totals = counts.sum(axis=0)
    lost = [code for code, name in enumerate(names) if totals[code] and name not in claimed]
    if not lost:
        return
    shared = []
    for code in lost[:3]:
        row = int(counts[:, code].argmax())
        shared.append(
            f"{names[code]!r} shares cluster {clusters[row]} with {names[counts[row].argmax()]!r} "
            f"({counts[row, code]} of its {totals[code]} known points are there)"
        )
    more = f" and {len(lost) - 3} more" if len(lost) > 3 else ""
    one = len(lost) == 1
    who = "A class has no cluster of its own" if one else f"{len(lost)} classes have no cluster of their own"
    warn(
        f"{who}: {'; '.join(shared)}{more}. Check these labels, ask for more clusters or try another method.",
        ConstraintWarning,
    )
