"""What became of clusters and points: a table, and three sentences."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from sidecut.checks import IntArray

#: What may happen, in the order of the table.
KINDS = ("moved", "joined", "doubtful", "strange", "new", "split", "merged", "dissolved")


@dataclass(frozen=True, eq=False)
class Change:
    """One thing that happened to some points.

    Parameters
    ----------
    kind : str
        "joined": new points joined a cluster; "doubtful": so they did, but another cluster is nearly as
        likely; "strange": so they did, but are unlike the old points; "new": they founded one; "moved": old
        points changed their cluster; "split", "merged" and "dissolved": so did a cluster.
    points : array of int
        The rows it is about.
    before, cluster : int or None
        The cluster before and after; None where there is none.
    why : str
        The reason, in words.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.lasting import Change
    >>> Change("moved", np.array([3]), 0, 1, "a link").n_points
    1
    """

    kind: str
    points: IntArray
    before: int | None
    cluster: int | None
    why: str

    @property
    def n_points(self) -> int:
        """How many points it is about."""
        return len(self.points)


@dataclass(frozen=True, eq=False)
class Changes:
    """All that an update or a correction changed.

    Parameters
    ----------
    rows : tuple of Change
        The table.
    n_old, n_new : int
        How many points there were, and how many came.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.lasting import Change, Changes
    >>> joined = Change("joined", np.array([4, 5]), None, 1, "their neighbours are in it")
    >>> print(Changes((joined,), n_old=4, n_new=2))
    All 4 old points stayed where they were.
    2 of 2 new points joined old clusters.
    No cluster was founded, split, merged or dissolved.
    """

    rows: tuple[Change, ...]
    n_old: int
    n_new: int = 0

    def of(self, kind: str) -> tuple[Change, ...]:
        """Return the rows of one kind.

        Parameters
        ----------
        kind : str
            See `Change`.
        """
        return tuple(row for row in self.rows if row.kind == kind)

    def points(self, *kinds: str) -> IntArray:
        """Return the points that the rows of some kinds are about."""
        found = [row.points for row in self.rows if row.kind in kinds]
        return np.unique(np.concatenate(found)) if found else np.empty(0, dtype=np.intp)

    def n_points(self, *kinds: str) -> int:
        """Return how many these are."""
        return len(self.points(*kinds))

    def to_frame(self) -> Any:
        """Return the table as a data frame of pandas, one row per change."""
        import pandas as pd

        columns = {
            "change": [row.kind for row in self.rows],
            "points": [row.n_points for row in self.rows],
            "before": pd.array([row.before for row in self.rows], dtype="Int64"),
            "cluster": pd.array([row.cluster for row in self.rows], dtype="Int64"),
            "why": [row.why for row in self.rows],
        }
        return pd.DataFrame(columns)

    def __str__(self) -> str:
        return "\n".join((self._about_old(), self._about_new(), self._about_clusters()))

    def _about_old(self) -> str:
        moved = self.n_points("moved", "split", "merged")
        if not moved:
            return f"All {self.n_old:,} old points stayed where they were."
        why = Counter(dict.fromkeys((row.why for row in self.of("moved")), 0))
        for row in self.of("moved"):
            why[row.why] += row.n_points
        reason = f" ({why.most_common(1)[0][0]})" if why else ""
        return f"{moved:,} of {self.n_old:,} old points changed their cluster{reason}."

    def _about_new(self) -> str:
        if not self.n_new:
            return "No points came."
        doubtful, founded = self.n_points("doubtful"), self.n_points("new")
        joined = self.n_new - sum(int((row.points >= self.n_old).sum()) for row in self.of("new"))
        said = f"{joined:,} of {self.n_new:,} new points joined old clusters"
        if doubtful:
            said += f", {doubtful:,} of them doubtfully"
        if founded:
            said += "; the others are in new ones"
        strange = self.n_points("strange")
        return f"{said}; {strange:,} are unlike the old points." if strange else f"{said}."

    def _about_clusters(self) -> str:
        words = {"new": "founded", "split": "split", "merged": "merged", "dissolved": "dissolved"}
        counts = {word: len(self.of(kind)) for kind, word in words.items()}
        said = [
            f"{count} {'was' if count == 1 else 'were'} {word}" for word, count in counts.items() if count
        ]
        if not said:
            return "No cluster was founded, split, merged or dissolved."
        return f"Of the clusters, {' and '.join(said)}."
