"""What constraints are made of: links between two points, and groups of points.

Labels of c points say something about c² pairs. With Y the c × G indicator of groups they are the matrix
w Y C Yᵀ, where C holds 1 on the diagonal and -1 for two groups known to be apart. `Groups` works with Y and C
and never forms the matrix, in memory proportional to the points and to the listed relations.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sidecut.checks import BoolArray, FloatArray, IntArray


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


def union(first: Links, second: Links) -> Links:
    """All links of both, a pair in both with the greater strength."""
    return strongest(
        np.concatenate([first.pairs, second.pairs]), np.concatenate([first.strengths, second.strengths])
    )


def split_signs(matrix: sparse.csr_array) -> tuple[Links, Links]:
    """Return the positive and the negative off-diagonal entries of a symmetric matrix as links."""
    upper = sparse.triu(matrix, k=1, format="coo")
    pairs = np.column_stack([upper.row, upper.col]).astype(np.int64)
    must, cannot = upper.data > 0, upper.data < 0
    return strongest(pairs[must], upper.data[must]), strongest(pairs[cannot], -upper.data[cannot])


def symmetric_matrix(
    n_samples: int, pairs: IntArray, values: FloatArray, diagonal: FloatArray | None = None
) -> sparse.csr_array:
    """Build the canonical symmetric matrix of signed pairs; values of a repeated pair add."""
    rows, columns = pairs[:, 0], pairs[:, 1]
    matrix = sparse.coo_array(
        (
            np.concatenate([values, values]),
            (np.concatenate([rows, columns]), np.concatenate([columns, rows])),
        ),
        shape=(n_samples, n_samples),
    ).tocsr()
    if diagonal is not None and np.any(diagonal):
        matrix = matrix + sparse.diags_array(diagonal, format="csr")
    return canonical(matrix)


def canonical(matrix: Any) -> sparse.csr_array:
    """Return a float64 CSR copy with sorted indices, no duplicates and no stored zeros, read-only."""
    result = sparse.csr_array(matrix, dtype=np.float64, copy=True)
    result.sum_duplicates()
    result.eliminate_zeros()
    for array in (result.data, result.indices, result.indptr):
        read_only(array)
    return result


# Groups.


@dataclass(frozen=True, eq=False)
class Groups:
    """The matrix ``weight * Y C Yᵀ`` over some points, with a diagonal of its own.

    Build with `make_groups`, which puts the fields in their canonical form.
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

    def n_cannot_link(self) -> int:
        """Number of unordered pairs in groups that are apart."""
        return self.n_apart(self.sizes)

    def n_apart(self, sizes: IntArray) -> int:
        """Number of unordered pairs apart, if the groups had these sizes."""
        own = sizes[self.exclusive]
        clique = int(own.sum()) ** 2 - int((own * own).sum())
        listed = round(float(sizes @ (self.apart @ sizes.astype(np.float64))))
        return (clique + listed) // 2

    def relation_pairs(self) -> IntArray:
        """All pairs of groups apart, listed: up to G² / 2 of them."""
        clique = np.flatnonzero(self.exclusive)
        first, second = np.triu_indices(len(clique), k=1)
        upper = sparse.triu(self.apart, k=1, format="coo")
        return np.concatenate(
            [np.column_stack([clique[first], clique[second]]), np.column_stack([upper.row, upper.col])]
        ).astype(np.int64)

    def relation_matrix(self) -> sparse.csr_array:
        """The G × G matrix C, listed."""
        pairs = self.relation_pairs()
        return sparse.csr_array(sparse.eye_array(self.n_groups) - _adjacency(pairs, self.n_groups))

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
            apart=_upper_pairs(self.apart[used][:, used]),
            weight=self.weight,
            diagonal=self.diagonal,
        )

    def scaled(self, factor: float) -> Groups:
        """The same groups, `factor` times as strong."""
        return replace(self, weight=self.weight * factor, diagonal=self.diagonal * factor)

    def without_relations(self) -> Groups:
        """The same groups, none of them known to be apart."""
        return make_groups(
            self.points,
            self.group,
            exclusive=np.zeros(self.n_groups, dtype=bool),
            weight=self.weight,
            diagonal=self.diagonal,
        )

    def with_diagonal(self, value: float) -> Groups:
        """The same groups with another diagonal."""
        return replace(self, diagonal=float(value))


def make_groups(
    points: IntArray,
    group: IntArray,
    *,
    exclusive: BoolArray | None = None,
    apart: IntArray | None = None,
    weight: float = 1.0,
    diagonal: float | None = None,
) -> Groups:
    """Build groups in canonical form."""
    order = number_by_appearance(group)
    n_groups = int(order.max()) + 1
    renumbered = np.empty(n_groups, dtype=np.int64)
    renumbered[group] = order
    member = np.ones(n_groups, dtype=bool)
    if exclusive is not None:
        member[renumbered] = exclusive
    pairs = np.empty((0, 2), dtype=np.int64) if apart is None else renumbered[apart]
    member, listed = _canonical_relations(member, pairs)
    return Groups(
        read_only(np.array(points, dtype=np.int64)),
        read_only(order),
        read_only(member),
        listed,
        float(weight),
        float(weight if diagonal is None else diagonal),
    )


def _canonical_relations(exclusive: BoolArray, pairs: IntArray) -> tuple[BoolArray, sparse.csr_array]:
    n_groups = len(exclusive)
    listed = _adjacency(pairs[~(exclusive[pairs[:, 0]] & exclusive[pairs[:, 1]])], n_groups)
    n_exclusive = int(exclusive.sum())
    n_relations = n_exclusive * (n_exclusive - 1) // 2 + listed.nnz // 2
    if n_relations == n_groups * (n_groups - 1) // 2:
        return np.ones(n_groups, dtype=bool), _adjacency(pairs[:0], n_groups)
    if n_exclusive < 2:
        exclusive = np.zeros(n_groups, dtype=bool)
    return exclusive, listed


def _adjacency(pairs: IntArray, n_groups: int) -> sparse.csr_array:
    ends = (np.concatenate([pairs[:, 0], pairs[:, 1]]), np.concatenate([pairs[:, 1], pairs[:, 0]]))
    matrix = sparse.coo_array((np.ones(len(ends[0])), ends), shape=(n_groups, n_groups)).tocsr()
    matrix.sort_indices()
    matrix.data[:] = 1.0
    return matrix


def _upper_pairs(matrix: Any) -> IntArray:
    upper = sparse.triu(matrix, k=1, format="coo")
    return np.column_stack([upper.row, upper.col]).astype(np.int64)


def must_part(links: sparse.csr_array, groups: Groups | None) -> tuple[sparse.csr_array, Groups | None]:
    """Return links and groups of the pairs believed together alone, with the same diagonal."""
    coo = links.tocoo()
    known = np.zeros(coo.nnz)
    if groups is not None:
        known = groups.entry(coo.row.astype(np.int64), coo.col.astype(np.int64))
        groups = groups.without_relations()
    positive = np.maximum(coo.data + known, 0.0) - np.maximum(known, 0.0)
    coo.data = np.where(coo.row == coo.col, coo.data, positive)
    return canonical(coo), groups


def replace_diagonal(matrix: sparse.csr_array, diagonal: FloatArray) -> sparse.csr_array:
    """Return the matrix with another diagonal."""
    coo = matrix.tocoo()
    coo.data = np.where(coo.row == coo.col, 0.0, coo.data)
    return canonical(coo.tocsr() + sparse.diags_array(diagonal, format="csr"))


def number_by_appearance(values: NDArray[Any]) -> IntArray:
    """Replace each distinct value by 0, 1, 2, ... in order of first appearance."""
    if values.dtype.kind == "O":
        numbers: dict[Any, int] = {}
        return np.array([numbers.setdefault(value, len(numbers)) for value in values], dtype=np.int64)
    first, place = _first_places(values)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first, kind="stable")] = np.arange(len(first))
    return rank[place]


def _first_places(values: NDArray[Any]) -> tuple[IntArray, IntArray]:
    """Return where each value comes first, and the values as numbers into that."""
    n = values.size
    if not n or values.dtype.kind not in "iu" or values.min() < 0 or values.max() >= n:
        _, first, numbers = np.unique(values, return_index=True, return_inverse=True)
        return first, numbers.reshape(-1)
    # Numbers from 0 on need no sorting. Of places given to one value the last remains: the first, backwards.
    first = np.full(int(values.max()) + 1, n, dtype=np.int64)
    first[values[::-1]] = np.arange(n - 1, -1, -1)
    return first, values
