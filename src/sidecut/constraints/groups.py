"""What constraints are made of: links between two points, and groups of points; and how they are counted.

Labels of c points say something about c² pairs. With Y the c × G indicator of groups they are the matrix
w Y C Yᵀ, where C holds 1 on the diagonal and -1 for two groups known to be apart. `Groups` works with Y and C
and never forms the matrix, in memory proportional to the points and to the listed relations.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass
from functools import cached_property
from operator import add, sub
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sidecut.checks import BoolArray, FloatArray, IntArray

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
    """The matrix ``weight * Y C Yᵀ`` over some points, with a diagonal of its own.

    Build with `make_groups`, which puts the fields in their canonical form. Groups that are `exclusive` are
    all apart from one another; further relations are listed in `apart`.
    """

    points: IntArray
    group: IntArray
    exclusive: BoolArray
    apart: sparse.csr_array
    weight: float = 1.0
    diagonal: float = 1.0

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return len(self.exclusive)

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
        arrays = (self.points, self.group, self.exclusive, self.apart.indptr, self.apart.indices)
        return (*(array.astype(np.int64).tobytes() for array in arrays), self.weight, self.diagonal)

    def relate(self, values: FloatArray) -> FloatArray:
        """Return C @ values for one row per group."""
        result = values - self.apart @ values
        own = values[self.exclusive]
        result[self.exclusive] += own - own.sum(axis=0)
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
        own = sizes[self.exclusive]
        clique = int(own.sum()) ** 2 - int((own * own).sum())
        listed = round(float(sizes @ (self.apart @ sizes.astype(np.float64))))
        return (clique + listed) // 2

    def relation_pairs(self) -> IntArray:
        """All pairs of groups apart, listed: up to G² / 2 of them."""
        clique = np.flatnonzero(self.exclusive)
        pairs = clique[np.column_stack(np.triu_indices(len(clique), k=1))]
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
        relation[self.exclusive[g] & self.exclusive[h]] = -1.0
        relation[g == h] = 1.0
        values[known] = self.weight * relation
        values[known[rows[known] == columns[known]]] = self.diagonal
        return values

    def group_of(self, points: IntArray) -> IntArray:
        """The group of each of any points, -1 for those in none."""
        place = np.minimum(np.searchsorted(self.points, points), len(self.points) - 1)
        return np.where(self.points[place] == points, self.group[place], -1)

    def selected(self, indices: IntArray) -> Groups | None:
        """The groups among the given rows, which become rows 0, 1, 2, ..."""
        group = self.group_of(indices)
        inside = np.flatnonzero(group >= 0)
        if len(inside) == 0:
            return None
        used, compact = np.unique(group[inside], return_inverse=True)
        return make_groups(
            inside,
            compact,
            exclusive=self.exclusive[used],
            apart=upper_entries(self.apart[used][:, used])[0],
            weight=self.weight,
            diagonal=self.diagonal,
        )


def make_groups(
    points: IntArray,
    group: IntArray,
    *,
    exclusive: BoolArray | None = None,
    apart: IntArray | None = None,
    weight: float = 1.0,
    diagonal: float | None = None,
) -> Groups:
    """Build groups in canonical form; all are exclusive by default."""
    order = number_by_appearance(group)
    n_groups = int(order.max()) + 1
    renumbered = np.empty(n_groups, dtype=np.int64)
    renumbered[group] = order
    member = np.ones(n_groups, dtype=bool)
    if exclusive is not None:
        member[renumbered] = exclusive
    pairs = np.empty((0, 2), dtype=np.int64) if apart is None else renumbered[apart]
    listed = adjacency(pairs[~member[pairs].all(axis=1)], n_groups)
    n_exclusive = int(member.sum())
    n_relations = n_exclusive * (n_exclusive - 1) // 2 + listed.nnz // 2
    if n_relations == n_groups * (n_groups - 1) // 2:
        member, listed = np.ones(n_groups, dtype=bool), adjacency(pairs[:0], n_groups)
    elif n_exclusive < 2:
        member = np.zeros(n_groups, dtype=bool)
    return Groups(
        read_only(np.array(points, dtype=np.int64)),
        read_only(order),
        read_only(member),
        listed,
        float(weight),
        float(weight if diagonal is None else diagonal),
    )


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
    links: sparse.csr_array, groups: Groups | None, clusters: IntArray, weighted: bool = False
) -> PairCounts:
    """Count the pairs of links plus groups; a pair of both counts once, with the sum of its strengths."""
    pairs, values = upper_entries(links)
    if groups is None:
        return _count_listed(pairs, values, clusters, weighted)
    known = groups.entry(pairs[:, 0], pairs[:, 1])
    return (
        _count_groups(groups, clusters, weighted)
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


def _count_groups(groups: Groups, clusters: IntArray, weighted: bool) -> PairCounts:
    """Count all pairs of the groups from the table of group by cluster."""
    ones, shape = np.ones(len(groups.points)), (groups.n_groups, int(clusters.max()) + 1)
    table = sparse.coo_array((ones, (groups.group, clusters[groups.points])), shape=shape).tocsr()
    # Pairs that are apart, yet in one cluster: of exclusive groups, and of listed ones.
    own = table[groups.exclusive]
    columns = np.asarray(own.sum(axis=0)).reshape(-1)
    clique = float((columns * columns).sum() - (own.data * own.data).sum())
    listed = float((table * (groups.apart @ table)).sum()) if groups.apart.nnz else 0.0
    weight, apart = groups.weight if weighted else 1.0, groups.n_cannot_link()
    return PairCounts(
        weight * groups.n_must_link(),
        weight * apart,
        weight * pairs_within(table.data),
        weight * (apart - (clique + listed) / 2),
    )


def pairs_within(sizes: FloatArray) -> float:
    """Return the number of unordered pairs within sets of these sizes."""
    return float((sizes * (sizes - 1)).sum() / 2)
