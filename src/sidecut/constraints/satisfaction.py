"""How well a clustering respects constraints, counted without listing the pairs of groups."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from sidecut.arrays import BoolArray, FloatArray, IntArray
from sidecut.constraints.groups import Groups


@dataclass(frozen=True)
class Tally:
    """Pairs that should be together and apart, and how many of each are; counts or weights.

    Parameters
    ----------
    together, apart : float
        Pairs with positive and with negative strength.
    together_kept, apart_kept : float
        Those among them that the clustering respects.
    """

    together: float = 0.0
    apart: float = 0.0
    together_kept: float = 0.0
    apart_kept: float = 0.0

    @property
    def share(self) -> float:
        """Share of all pairs respected; 1 when there are none, since nothing is violated."""
        total = self.together + self.apart
        return (self.together_kept + self.apart_kept) / total if total else 1.0

    def plus(self, other: Tally, sign: float = 1.0) -> Tally:
        """Add (or with ``sign=-1`` take away) another tally."""
        return Tally(
            self.together + sign * other.together,
            self.apart + sign * other.apart,
            self.together_kept + sign * other.together_kept,
            self.apart_kept + sign * other.apart_kept,
        )


def satisfied_pairs(pairs: IntArray, strengths: FloatArray, clusters: IntArray) -> BoolArray:
    """Tell for each pair whether the clustering respects it."""
    return (clusters[pairs[:, 0]] == clusters[pairs[:, 1]]) == (strengths > 0)


def tally_pairs(pairs: IntArray, strengths: FloatArray, clusters: IntArray, weighted: bool) -> Tally:
    """Tally listed pairs; those of strength 0 count for nothing."""
    weights = np.abs(strengths) if weighted else (strengths != 0).astype(np.float64)
    kept = satisfied_pairs(pairs, strengths, clusters)
    positive = strengths > 0
    sums = [weights[mask].sum() for mask in (positive, ~positive, positive & kept, ~positive & kept)]
    return Tally(*(float(value) for value in sums))


def tally_groups(groups: Groups, clusters: IntArray, weighted: bool) -> Tally:
    """Tally all pairs of the groups from the table of group by cluster."""
    n_clusters = int(clusters.max()) + 1
    shape = (groups.n_groups, n_clusters)
    ones = np.ones(len(groups.points), dtype=np.float64)
    table = sparse.coo_array((ones, (groups.group, clusters[groups.points])), shape=shape).tocsr()
    together_kept = float((table.data * (table.data - 1)).sum()) / 2
    apart = groups.n_cannot_link()
    weight = groups.weight if weighted else 1.0
    return Tally(
        weight * groups.n_must_link(),
        weight * apart,
        weight * together_kept,
        weight * (apart - _apart_in_one_cluster(groups, table)),
    )


def tally(
    links: sparse.csr_array, groups: Groups | None, clusters: IntArray, weighted: bool = False
) -> Tally:
    """Tally the sum of links and groups; a pair that both know counts once, with the sum of its strengths."""
    upper = sparse.triu(links, k=1, format="coo")
    pairs = np.column_stack([upper.row, upper.col]).astype(np.int64)
    if groups is None:
        return tally_pairs(pairs, upper.data, clusters, weighted)
    known = groups.entry(pairs[:, 0], pairs[:, 1])
    return (
        tally_groups(groups, clusters, weighted)
        .plus(tally_pairs(pairs, known, clusters, weighted), sign=-1.0)
        .plus(tally_pairs(pairs, known + upper.data, clusters, weighted))
    )


def _apart_in_one_cluster(groups: Groups, table: sparse.csr_array) -> float:
    """Pairs in groups that are apart, yet in one cluster."""
    own = table[groups.exclusive]
    columns = np.asarray(own.sum(axis=0)).reshape(-1)
    clique = float((columns * columns).sum() - (own.data * own.data).sum())
    listed = float((table * (groups.apart @ table)).sum()) if groups.apart.nnz else 0.0
    return (clique + listed) / 2
