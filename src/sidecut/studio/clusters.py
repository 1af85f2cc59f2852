"""The clusters as a list: names, sizes, typical and doubtful members."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

import numpy as np

from sidecut.active import ActiveClustering, Naming
from sidecut.arrays import FloatArray, IntArray
from sidecut.labelling import unit_rows

#: So many members are shown of each kind.
SHOWN = 6


class Members(NamedTuple):
    """Rows of X: those most like the rest of a cluster, and those least sure to be in it."""

    typical: IntArray
    doubtful: IntArray


def cluster_names(run: ActiveClustering) -> list[str]:
    """Return the name most of its named points have, for every cluster; empty where none has one."""
    named: list[Counter[str]] = [Counter() for _ in range(run.n_clusters_)]
    for record in run.history_:
        if isinstance(record, Naming) and record.name is not None:
            named[run.labels_[record.i]][record.name] += 1
    return [names.most_common(1)[0][0] if names else "" for names in named]


def members(run: ActiveClustering, cluster: int, shown: int = SHOWN) -> Members:
    """Return some members of a cluster, of the points that stand for others in questions.

    Examples
    --------
    >>> from sidecut.active import ActiveClustering
    >>> from sidecut.studio.clusters import members
    >>> run = ActiveClustering(n_neighbors=2, random_state=0).start([[0.0], [0.2], [0.4], [5.0], [5.2]])
    >>> sorted(members(run, int(run.labels_[4])).typical.tolist())
    [3, 4]
    """
    land = run.landscape_
    here = np.flatnonzero(run.labels_[land.grains.points] == cluster)
    points = land.grains.points[here]
    sureness = run.confidence_[points]
    typical = np.argsort(-sureness * _centrality(unit_rows(land.eigenvectors)[here]), kind="stable")
    rest = np.setdiff1d(np.arange(len(here)), typical[:shown])
    doubtful = rest[np.argsort(sureness[rest], kind="stable")]
    return Members(points[typical[:shown]], points[doubtful[:shown]])


def middle(run: ActiveClustering, cluster: int) -> int:
    """Return the most typical member of a cluster."""
    return int(members(run, cluster, 1).typical[0])


def _centrality(coordinates: FloatArray) -> FloatArray:
    """Return how near each is to the mean of all, above zero."""
    distances = np.linalg.norm(coordinates - coordinates.mean(axis=0), axis=1)
    return 1.0 / (1.0 + distances)
