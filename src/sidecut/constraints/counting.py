"""How known pairs are counted, and how many of them a clustering gets right, without listing them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass
from operator import add, sub

import numpy as np
from scipy import sparse

from sidecut.checks import BoolArray, FloatArray, IntArray
from sidecut.constraints.groups import Groups, upper_entries


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
    >>> from sidecut.selection import PairCounts
    >>> counts = PairCounts(together=10, apart=90, joined=5, parted=81)
    >>> round(counts.balanced_accuracy, 3), round(counts.rand_beyond_chance, 3)
    (0.7, 0.34)
    """

    together: float
    apart: float
    joined: float
    parted: float

    def __add__(self, other: PairCounts) -> PairCounts:
        return PairCounts(*map(add, astuple(self), astuple(other)))

    def __sub__(self, other: PairCounts) -> PairCounts:
        return PairCounts(*map(sub, astuple(self), astuple(other)))

    def scaled(self, factor: float) -> PairCounts:
        """Return all counts times a factor."""
        return PairCounts(*(factor * count for count in astuple(self)))

    @property
    def share(self) -> float:
        """The share of all pairs that are right; 1 when there are none, since nothing is violated."""
        total = self.together + self.apart
        return (self.joined + self.parted) / total if total else 1.0

    @property
    def balanced_accuracy(self) -> float:
        """The mean of the shares of must-links and cannot-links that are satisfied."""
        kinds = ((self.joined, self.together), (self.parted, self.apart))
        shares = [right / known for right, known in kinds if known > 0]
        return float(np.mean(shares)) if shares else 1.0

    @property
    def f_measure(self) -> float:
        """The mean of the F-measures of must-links and of cannot-links."""
        wrong = (self.together - self.joined) + (self.apart - self.parted)
        kinds = ((self.joined, self.together), (self.parted, self.apart))
        measures = [2 * right / (2 * right + wrong) for right, known in kinds if known > 0]
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
        """Return the Rand index beyond chance; for links of one kind, beyond what cluster sizes explain.

        One large cluster satisfies most must-links. So their gain over chance is measured against what
        clusters of equal size leave to gain.
        """
        if self.together and self.apart:
            return self.rand_beyond_chance
        shares = np.bincount(clusters[clusters >= 0]) / len(clusters)
        together_by_chance = float(shares @ shares)
        if self.together:
            chance, to_gain = together_by_chance, 1.0 - 1.0 / max(int((shares > 0).sum()), 1)
        else:
            chance, to_gain = 1.0 - together_by_chance, together_by_chance
        return (self.share - chance) / to_gain if to_gain else 0.0


def satisfied_pairs(pairs: IntArray, strengths: FloatArray, clusters: IntArray) -> BoolArray:
    """Return for each pair whether the clustering satisfies it."""
    return (clusters[pairs[:, 0]] == clusters[pairs[:, 1]]) == (strengths > 0)


def count_links(
    links: sparse.csr_array, groups: Sequence[Groups], clusters: IntArray, weighted: bool = False
) -> PairCounts:
    """Count the pairs of links plus groups; a pair of several counts once, with the sum of its strengths."""
    pairs, values = upper_entries(links)
    if not groups:
        return _count_listed(pairs, values, clusters, weighted)
    known = sum((part.entry(pairs[:, 0], pairs[:, 1]) for part in groups), np.zeros(len(pairs)))
    if len(groups) > 1:
        counted = _count_several(groups, clusters, weighted)
    else:
        counted = count_groups(groups[0], clusters).scaled(groups[0].weight if weighted else 1.0)
    return (
        counted
        - _count_listed(pairs, known, clusters, weighted)
        + _count_listed(pairs, known + values, clusters, weighted)
    )


def _count_listed(pairs: IntArray, strengths: FloatArray, clusters: IntArray, weighted: bool) -> PairCounts:
    """Count listed pairs; those of strength 0 do not count."""
    weights = np.abs(strengths) if weighted else (strengths != 0).astype(np.float64)
    kept = satisfied_pairs(pairs, strengths, clusters)
    positive = strengths > 0
    sums = [weights[mask].sum() for mask in (positive, ~positive, positive & kept, ~positive & kept)]
    return PairCounts(*(float(value) for value in sums))


def count_groups(groups: Groups, clusters: IntArray) -> PairCounts:
    """Count all pairs of the groups from the table of group by cluster."""
    ones, shape = np.ones(len(groups.points)), (groups.n_groups, int(clusters.max(initial=0)) + 1)
    table = sparse.coo_array((ones, (groups.group, clusters[groups.points])), shape=shape).tocsr()
    # Pairs that are apart, yet in one cluster: of cliques, and of listed relations.
    own, by_clique = table[groups.in_clique], groups.clique_members @ table
    clique = float((by_clique.data @ by_clique.data) - (own.data @ own.data))
    listed = float((table * (groups.apart @ table)).sum()) if groups.apart.nnz else 0.0
    apart = groups.n_cannot_link()
    return PairCounts(groups.n_must_link(), apart, pairs_within(table.data), apart - (clique + listed) / 2)


def _count_several(layers: Sequence[Groups], clusters: IntArray, weighted: bool) -> PairCounts:
    """Count the pairs of several sets of groups that overlap; the strengths of a pair add."""
    blocks = [block for groups in layers for block in _as_blocks(groups, len(clusters))]
    tiny = 1e-12 * sum(groups.weight for groups in layers)
    total = np.zeros((2, 2))
    for which, (n_pairs, n_joined) in _pairs_of_exactly(blocks, clusters).items():
        strength = sum(blocks[number][1] for number in which)
        if abs(strength) > tiny:
            right = n_joined if strength > 0 else n_pairs - n_joined
            total[int(strength < 0)] += np.array([n_pairs, right]) * (abs(strength) if weighted else 1.0)
    counted = PairCounts(total[0, 0], total[1, 0], total[0, 1], total[1, 1])
    for number, groups in enumerate(layers):
        counted += _count_relations(groups, [*layers[:number], *layers[number + 1 :]], clusters, weighted)
    return counted


def _as_blocks(groups: Groups, n_samples: int) -> list[tuple[IntArray, float]]:
    """Write w Y C Yᵀ as a sum of blocks: a number for every point, -1 for none, and a strength of each block.

    Groups of a clique are -w on the pairs of the clique, and 2w more on those within a group.
    """
    clique = groups.clique[groups.group]
    own = groups.group
    kinds = [(own, clique < 0, groups.weight), (own, clique >= 0, 2.0 * groups.weight)]
    blocks = []
    for number, inside, weight in [*kinds, (clique, clique >= 0, -groups.weight)]:
        ids = np.full(n_samples, -1, dtype=np.int64)
        ids[groups.points[inside]] = number[inside]
        blocks.append((ids, weight))
    return [(ids, weight) for ids, weight in blocks if _has_pairs(ids)]


def _has_pairs(ids: IntArray) -> bool:
    return bool((np.bincount(ids[ids >= 0]) > 1).any())


def _pairs_of_exactly(
    blocks: list[tuple[IntArray, float]], clusters: IntArray
) -> dict[frozenset[int], tuple[float, float]]:
    """Return for each set of blocks how many pairs just these hold, and how many of those in one cluster."""
    at_least: dict[frozenset[int], tuple[float, float]] = {}
    everything: IntArray = np.zeros(len(clusters), dtype=np.int64)
    stack = [(frozenset[int](), 0, everything)]
    while stack:
        which, start, ids = stack.pop()
        for number in range(start, len(blocks)):
            both = _joint(ids, blocks[number][0])
            if _has_pairs(both):
                more = which | {number}
                counts = (_joint(both, numbers) for numbers in (np.zeros_like(both), clusters))
                first, second = (pairs_within(np.bincount(c[c >= 0]).astype(np.float64)) for c in counts)
                at_least[more] = (first, second)
                stack.append((more, number + 1, both))
    exactly: dict[frozenset[int], tuple[float, float]] = {}
    for which in sorted(at_least, key=len, reverse=True):
        larger = [counts for other, counts in exactly.items() if which < other]
        pairs, joined = np.array(at_least[which]) - np.sum(larger, axis=0, initial=0.0)
        exactly[which] = (float(pairs), float(joined))
    return exactly


def _joint(one: IntArray, other: IntArray) -> IntArray:
    """Number the pairs of two numberings, -1 where either is."""
    joint = np.full(len(one), -1, dtype=np.int64)
    inside = np.flatnonzero((one >= 0) & (other >= 0))
    if len(inside):
        key = one[inside] * (int(other[inside].max()) + 1) + other[inside]
        joint[inside] = np.unique(key, return_inverse=True)[1].reshape(-1)
    return joint


def _count_relations(groups: Groups, others: list[Groups], clusters: IntArray, weighted: bool) -> PairCounts:
    """Count what the listed relations of some groups change, beside other groups."""
    nothing = PairCounts(0.0, 0.0, 0.0, 0.0)
    if not groups.apart.nnz:
        return nothing
    listed = sparse.triu(groups.apart, format="csr")
    pairs, _ = upper_entries(groups.indicator @ (listed + listed.T) @ groups.indicator.T)
    pairs = groups.points[pairs]
    known = sum((other.entry(pairs[:, 0], pairs[:, 1]) for other in others), np.zeros(len(pairs)))
    after = _count_listed(pairs, known - groups.weight, clusters, weighted)
    return after - _count_listed(pairs, known, clusters, weighted)


def pairs_within(sizes: FloatArray) -> float:
    """Return the number of unordered pairs within sets of these sizes."""
    return float((sizes * (sizes - 1)).sum() / 2)
