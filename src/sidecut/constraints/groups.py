"""What constraints are made of: links between two points, and groups of points; and how pairs are counted.

Labels of c points say something about c² pairs. With Y the c × G indicator of groups they are the matrix
w Y C Yᵀ, where C holds 1 on the diagonal and -1 for two groups known to be apart. `Groups` works with Y and C
and never forms the matrix, in memory proportional to the points and to the listed relations. Groups that are
all apart from one another are a clique: the classes of labels are one, the faces of each photograph are one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass
from functools import cached_property
from operator import add, sub
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from sidecut.checks import BoolArray, FloatArray, IntArray
from sidecut.exceptions import ConstraintWarning, warn

#: Pairs of points, or of groups, are listed up to this number.
MAX_LISTED_PAIRS = 20_000_000


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """Return the array itself, no longer writeable: constraints are values."""
    array.flags.writeable = False
    return array


@dataclass(frozen=True, eq=False)
class Links:
    """Unordered pairs ``i < j``, sorted, each once, with positive strengths."""

    pairs: IntArray
    strengths: FloatArray

    def __len__(self) -> int:
        return len(self.pairs)

    def kept(self, mask: BoolArray) -> Links:
        """Return the links where `mask` holds."""
        return Links(self.pairs[mask], self.strengths[mask])


def strongest(pairs: IntArray, strengths: FloatArray) -> Links:
    """Sort pairs as ``i < j`` and keep each once, with its greatest strength."""
    low, high = np.minimum(pairs[:, 0], pairs[:, 1]), np.maximum(pairs[:, 0], pairs[:, 1])
    order = np.lexsort((-strengths, high, low))
    low, high, strengths = low[order], high[order], strengths[order]
    first = np.ones(len(low), dtype=bool)
    first[1:] = (low[1:] != low[:-1]) | (high[1:] != high[:-1])
    return Links(np.column_stack([low[first], high[first]]), strengths[first])


def upper_entries(matrix: Any) -> tuple[IntArray, FloatArray]:
    """Return the places ``i < j`` of a sparse matrix that hold an entry, shape (m, 2), and the entries."""
    upper = sparse.triu(matrix, k=1, format="coo")
    return np.column_stack([upper.row, upper.col]).astype(np.int64), upper.data


def split_signs(matrix: sparse.csr_array) -> tuple[Links, Links]:
    """Return the positive and the negative off-diagonal entries of a symmetric matrix as links."""
    pairs, values = upper_entries(matrix)
    must, cannot = values > 0, values < 0
    return strongest(pairs[must], values[must]), strongest(pairs[cannot], -values[cannot])


def symmetric_matrix(n: int, pairs: IntArray, values: FloatArray) -> sparse.csr_array:
    """Build the n × n symmetric matrix of signed pairs; values of a repeated pair add."""
    ends = np.concatenate([pairs, pairs[:, ::-1]]).T
    return sparse.coo_array((np.concatenate([values, values]), tuple(ends)), shape=(n, n)).tocsr()


def adjacency(pairs: IntArray, n: int) -> sparse.csr_array:
    """Build the n × n symmetric matrix with 1 at each pair, however often it is listed."""
    matrix = symmetric_matrix(n, pairs, np.ones(len(pairs)))
    matrix.sort_indices()
    matrix.data[:] = 1.0
    return matrix


def canonical(matrix: Any) -> sparse.csr_array:
    """Return a float64 CSR copy with sorted indices, no duplicates and no stored zeros, read-only."""
    result = sparse.csr_array(matrix, dtype=np.float64, copy=True)
    result.sum_duplicates()
    result.eliminate_zeros()
    for array in (result.data, result.indices, result.indptr):
        read_only(array)
    return result


def replace_diagonal(matrix: sparse.csr_array, diagonal: FloatArray) -> sparse.csr_array:
    """Return the matrix with another diagonal."""
    coo = matrix.tocoo()
    coo.data = np.where(coo.row == coo.col, 0.0, coo.data)
    return canonical(coo.tocsr() + sparse.diags_array(diagonal, format="csr"))


@dataclass(frozen=True, eq=False)
class Groups:
    """The matrix ``weight * Y C Yᵀ`` over some points, with a diagonal of its own."""

    # Build with `make_groups`, which puts the fields in their canonical form. Groups of one `clique` are all
    # apart from one another, -1 is none; further relations are listed in `apart`.

    points: IntArray
    group: IntArray
    clique: IntArray
    apart: sparse.csr_array
    weight: float = 1.0
    diagonal: float = 1.0

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return len(self.clique)

    @property
    def n_cliques(self) -> int:
        """Number of cliques of two or more groups."""
        return int(self.clique.max(initial=-1)) + 1

    @property
    def are_exclusive(self) -> bool:
        """Whether every two groups are apart, as classes are."""
        return self.n_groups < 2 or bool((self.clique == 0).all())

    @cached_property
    def in_clique(self) -> IntArray:
        """The groups that belong to a clique."""
        return np.flatnonzero(self.clique >= 0)

    @cached_property
    def clique_members(self) -> sparse.csr_array:
        """The indicator of cliques by groups."""
        entries = (np.ones(len(self.in_clique)), (self.clique[self.in_clique], self.in_clique))
        return sparse.coo_array(entries, shape=(self.n_cliques, self.n_groups)).tocsr()

    @cached_property
    def sizes(self) -> IntArray:
        """Number of points in each group."""
        return np.bincount(self.group, minlength=self.n_groups).astype(np.int64)

    @cached_property
    def indicator(self) -> sparse.csr_array:
        """The c × G matrix Y."""
        c = len(self.points)
        return sparse.csr_array((np.ones(c), self.group, np.arange(c + 1)), shape=(c, self.n_groups))

    @cached_property
    def _apart_keys(self) -> IntArray:
        listed = self.apart.tocoo()
        return listed.row.astype(np.int64) * self.n_groups + listed.col

    @property
    def diagonal_shift(self) -> float:
        """What the diagonal holds beyond that of ``weight * Y C Yᵀ``."""
        return self.diagonal - self.weight

    @property
    def key(self) -> tuple[Any, ...]:
        """A hashable description of the whole value."""
        arrays = (self.points, self.group, self.clique, self.apart.indptr, self.apart.indices)
        return (*(array.astype(np.int64).tobytes() for array in arrays), self.weight, self.diagonal)

    def relate(self, values: FloatArray) -> FloatArray:
        """Return C @ values for one row per group."""
        result = values - self.apart @ values
        own = self.in_clique
        result[own] += values[own] - (self.clique_members @ values)[self.clique[own]]
        return result

    def apply(self, values: FloatArray) -> FloatArray:
        """Return the product with one row per grouped point, in O(c) per column."""
        related = self.relate(self.indicator.T @ values)
        return self.weight * related[self.group] + self.diagonal_shift * values

    def total(self) -> float:
        """The sum of all entries."""
        sizes = self.sizes.astype(np.float64)
        return float(self.weight * (sizes @ self.relate(sizes)) + self.diagonal_shift * len(self.points))

    def n_must_link(self) -> int:
        """Number of unordered pairs within a group."""
        return int((self.sizes * (self.sizes - 1)).sum()) // 2

    def n_cannot_link(self, sizes: IntArray | None = None) -> int:
        """Number of unordered pairs in groups that are apart; with `sizes`, if the groups had these sizes."""
        sizes = self.sizes if sizes is None else sizes
        own, totals = sizes[self.in_clique], self.clique_members @ sizes.astype(np.float64)
        clique = round(float(totals @ totals)) - int((own * own).sum())
        listed = round(float(sizes @ (self.apart @ sizes.astype(np.float64))))
        return (clique + listed) // 2

    def parts(self) -> IntArray:
        """The number of the part of each group: groups that relations connect are in one part."""
        listed, own = self.apart.tocoo(), self.in_clique
        # Each clique is a star around its first group: as connected as all its pairs.
        first = own[np.unique(self.clique[own], return_index=True)[1]] if len(own) else own
        rows = np.concatenate([listed.row, own])
        columns = np.concatenate([listed.col, first[self.clique[own]]])
        graph = sparse.coo_array((np.ones(len(rows)), (rows, columns)), shape=(self.n_groups,) * 2)
        return connected_components(graph, directed=False)[1].astype(np.int64)

    def relation_pairs(self) -> IntArray:
        """All pairs of groups apart, listed: as many as each clique has pairs."""
        if self.n_cliques == 1:
            pairs = self.in_clique[np.column_stack(np.triu_indices(len(self.in_clique), k=1))]
        else:
            pairs = upper_entries(self.clique_members.T @ self.clique_members)[0]
        return np.concatenate([pairs, upper_entries(self.apart)[0]]).astype(np.int64)

    def relation_matrix(self) -> sparse.csr_array:
        """The G × G matrix C, listed."""
        apart = adjacency(self.relation_pairs(), self.n_groups)
        return sparse.csr_array(sparse.eye_array(self.n_groups) - apart)

    def matrix(self, n_samples: int) -> sparse.csr_array:
        """The whole N × N matrix: one entry per pair, so only for few points."""
        block = self.weight * (self.indicator @ self.relation_matrix() @ self.indicator.T)
        block = block + self.diagonal_shift * sparse.eye_array(len(self.points))
        coo = sparse.coo_array(block)
        index = (self.points[coo.row], self.points[coo.col])
        return sparse.coo_array((coo.data, index), shape=(n_samples, n_samples)).tocsr()

    def entry(self, rows: IntArray, columns: IntArray) -> FloatArray:
        """Return the matrix entries at the given places."""
        first, second = self.group_of(rows), self.group_of(columns)
        values = np.zeros(len(rows))
        known = np.flatnonzero((first >= 0) & (second >= 0))
        g, h = first[known], second[known]
        relation = np.zeros(len(known))
        relation[np.isin(g * self.n_groups + h, self._apart_keys)] = -1.0
        relation[(self.clique[g] == self.clique[h]) & (self.clique[g] >= 0)] = -1.0
        relation[g == h] = 1.0
        values[known] = self.weight * relation
        values[known[rows[known] == columns[known]]] = self.diagonal
        return values

    def group_of(self, points: IntArray) -> IntArray:
        """The group of each of any points, -1 for those in none."""
        place = np.minimum(np.searchsorted(self.points, points), len(self.points) - 1)
        return np.where(self.points[place] == points, self.group[place], -1)

    def together(self) -> Groups:
        """The same groups, none of them apart."""
        free = np.full(self.n_groups, -1, dtype=np.int64)
        return make_groups(self.points, self.group, clique=free, weight=self.weight, diagonal=self.diagonal)

    def selected(self, indices: IntArray, kept: BoolArray | None = None) -> Groups | None:
        """The groups among the given rows, which become rows 0, 1, 2, ...; without the points not `kept`."""
        group = self.group_of(indices)
        if kept is not None:
            group[np.isin(indices, self.points[~kept])] = -1
        inside = np.flatnonzero(group >= 0)
        if len(inside) == 0:
            return None
        used, compact = np.unique(group[inside], return_inverse=True)
        return make_groups(
            inside,
            compact,
            clique=self.clique[used],
            apart=upper_entries(self.apart[used][:, used])[0],
            weight=self.weight,
            diagonal=self.diagonal,
        )


def make_groups(
    points: IntArray,
    group: IntArray,
    *,
    clique: IntArray | None = None,
    apart: IntArray | None = None,
    weight: float = 1.0,
    diagonal: float | None = None,
) -> Groups:
    """Build groups in canonical form; all are one clique by default."""
    order = number_by_appearance(group)
    n_groups = int(order.max()) + 1
    renumbered = np.empty(n_groups, dtype=np.int64)
    renumbered[group] = order
    of_group: IntArray = np.zeros(n_groups, dtype=np.int64)
    if clique is not None:
        of_group[renumbered] = _number_cliques(clique)
        of_group = _number_cliques(of_group)
    pairs = np.empty((0, 2), dtype=np.int64) if apart is None else renumbered[apart]
    first, second = of_group[pairs].T
    listed = adjacency(pairs[(first != second) | (first < 0)], n_groups)
    sizes = np.bincount(of_group[of_group >= 0]).astype(np.int64)
    n_relations = int((sizes * (sizes - 1)).sum()) // 2 + listed.nnz // 2
    if n_relations == n_groups * (n_groups - 1) // 2:
        of_group, listed = np.zeros(n_groups, dtype=np.int64), adjacency(pairs[:0], n_groups)
    return Groups(
        read_only(np.array(points, dtype=np.int64)),
        read_only(order),
        read_only(of_group),
        listed,
        float(weight),
        float(weight if diagonal is None else diagonal),
    )


def _number_cliques(clique: IntArray) -> IntArray:
    """Number the cliques of two or more groups by appearance, and leave the others out."""
    inside = np.flatnonzero(clique >= 0)
    _, place, counts = np.unique(clique[inside], return_inverse=True, return_counts=True)
    inside = inside[counts[place] > 1]
    result = np.full(len(clique), -1, dtype=np.int64)
    result[inside] = number_by_appearance(clique[inside])
    return result


def number_by_appearance(values: NDArray[Any]) -> IntArray:
    """Replace each distinct value by 0, 1, 2, ... in order of first appearance."""
    if values.dtype.kind == "O":
        numbers: dict[Any, int] = {}
        return np.array([numbers.setdefault(value, len(numbers)) for value in values], dtype=np.int64)
    n = values.size
    if n and values.dtype.kind in "iu" and values.min() >= 0 and values.max() < n:
        # Numbers from 0 on need no sorting. The last assignment to a place remains: backwards, the first.
        first, place = np.full(int(values.max()) + 1, n, dtype=np.int64), values
        first[values[::-1]] = np.arange(n - 1, -1, -1)
    else:
        _, first, place = np.unique(values, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first, kind="stable")] = np.arange(len(first))
    return rank[place.reshape(-1)]


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
    """Write w Y C Yᵀ as a sum of blocks: a number for every point, -1 for none, and a strength of each."""
    # Groups of a clique are -w on the pairs of the clique, and 2w more on those within a group.
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
