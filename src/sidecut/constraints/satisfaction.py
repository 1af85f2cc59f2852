"""How well a clustering respects constraints, counted without listing the pairs of groups."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from sidecut.checks import BoolArray, FloatArray, IntArray
from sidecut.constraints.closure import Components
from sidecut.constraints.links import Groups


@dataclass(frozen=True)
class PairCounts:
    """Pairs that should be together and apart, and how many of each a clustering gets right.

    Pairs are counted, or their strengths are added up.

    Parameters
    ----------
    together, apart : float
        How many pairs are known to be together, and apart.
    joined, parted : float
        How many of them the clustering puts together, and apart.

    Examples
    --------
    >>> from sidecut.constraints.satisfaction import PairCounts
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
    def share(self) -> float:
        """The share of all pairs that are right; 1 when there are none, since nothing is violated."""
        total = self.together + self.apart
        return (self.joined + self.parted) / total if total else 1.0

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

    def beyond_chance(self, clusters: IntArray) -> float:
        """Return the Rand index beyond chance; for links of one kind, beyond what cluster sizes explain."""
        if self.together and self.apart:
            return self.rand_beyond_chance
        shares = np.bincount(clusters[clusters >= 0]) / len(clusters)
        together_by_chance = float(shares @ shares)
        chance = together_by_chance if self.together else 1.0 - together_by_chance
        if self.share == 1.0 or chance == 1.0:
            return float(self.share == 1.0)
        return (self.share - chance) / (1.0 - chance)


def satisfied_pairs(pairs: IntArray, strengths: FloatArray, clusters: IntArray) -> BoolArray:
    """Tell for each pair whether the clustering respects it."""
    return (clusters[pairs[:, 0]] == clusters[pairs[:, 1]]) == (strengths > 0)


def tally_pairs(pairs: IntArray, strengths: FloatArray, clusters: IntArray, weighted: bool) -> PairCounts:
    """Tally listed pairs; those of strength 0 count for nothing."""
    weights = np.abs(strengths) if weighted else (strengths != 0).astype(np.float64)
    kept = satisfied_pairs(pairs, strengths, clusters)
    positive = strengths > 0
    sums = [weights[mask].sum() for mask in (positive, ~positive, positive & kept, ~positive & kept)]
    return PairCounts(*(float(value) for value in sums))


def tally_groups(groups: Groups, clusters: IntArray, weighted: bool) -> PairCounts:
    """Tally all pairs of the groups from the table of group by cluster."""
    n_clusters = int(clusters.max()) + 1
    shape = (groups.n_groups, n_clusters)
    ones = np.ones(len(groups.points), dtype=np.float64)
    table = sparse.coo_array((ones, (groups.group, clusters[groups.points])), shape=shape).tocsr()
    together_kept = float((table.data * (table.data - 1)).sum()) / 2
    apart = groups.n_cannot_link()
    weight = groups.weight if weighted else 1.0
    return PairCounts(
        weight * groups.n_must_link(),
        weight * apart,
        weight * together_kept,
        weight * (apart - _apart_in_one_cluster(groups, table)),
    )


def tally(
    links: sparse.csr_array, groups: Groups | None, clusters: IntArray, weighted: bool = False
) -> PairCounts:
    """Tally the sum of links and groups; a pair that both know counts once, with the sum of its strengths."""
    upper = sparse.triu(links, k=1, format="coo")
    pairs = np.column_stack([upper.row, upper.col]).astype(np.int64)
    if groups is None:
        return tally_pairs(pairs, upper.data, clusters, weighted)
    known = groups.entry(pairs[:, 0], pairs[:, 1])
    return (
        tally_groups(groups, clusters, weighted)
        - tally_pairs(pairs, known, clusters, weighted)
        + tally_pairs(pairs, known + upper.data, clusters, weighted)
    )


def _apart_in_one_cluster(groups: Groups, table: sparse.csr_array) -> float:
    """Pairs in groups that are apart, yet in one cluster."""
    own = table[groups.exclusive]
    columns = np.asarray(own.sum(axis=0)).reshape(-1)
    clique = float((columns * columns).sum() - (own.data * own.data).sum())
    listed = float((table * (groups.apart @ table)).sum()) if groups.apart.nnz else 0.0
    return (clique + listed) / 2


def count_pairs(knowledge: Components, labels: ArrayLike, counted: BoolArray) -> PairCounts:
    """Count known pairs, all that follows included, among some of the known points."""
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


def _pairs_within(sizes: FloatArray) -> float:
    return float((sizes * (sizes - 1)).sum() / 2)
