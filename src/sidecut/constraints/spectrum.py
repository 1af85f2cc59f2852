"""Eigenvalues and eigenvectors of the scaled constraint matrix S Q S, exactly, through its structure.

Only what the matrix does not map to zero is worked on. A point with links of its own keeps its coordinate;
all other points of a group share one, since S Y has orthogonal columns and S Y C Yᵀ S maps all else to zero.
Labels of any number of points thus become a problem as large as the number of classes. The reduced matrix is
split into connected blocks, each solved by LAPACK, blocks of one size together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from sidecut.checks import BoolArray, FloatArray, IntArray
from sidecut.constraints.groups import Groups, read_only
from sidecut.exceptions import ConstraintError, SpectralError
from sidecut.running import limit_threads

#: Blocks with at most this many points are solved by LAPACK.
MAX_DENSE = 4000
#: The same where less than a tenth of the eigenvalues is wanted.
MAX_DENSE_FOR_FEW = 600


@dataclass(frozen=True, eq=False)
class Spectrum:
    """Eigenvalues and orthonormal eigenvectors of S Q S on the constrained points.

    Parameters
    ----------
    values : ndarray of shape (r,)
        Eigenvalues, descending.
    vectors : csc_array of shape (c, r)
        Eigenvectors in the columns, rows in the order of `points`.
    points : ndarray of shape (c,)
        The constrained points.
    n_samples : int
        Number of samples; eigenvectors are zero outside `points`.
    """

    values: FloatArray
    vectors: sparse.csc_array
    points: IntArray
    n_samples: int

    def toarray(self) -> FloatArray:
        """Return the eigenvectors on the constrained points as a dense (c, r) array."""
        return self.vectors.toarray()

    def embedded(self) -> sparse.csc_array:
        """Return the eigenvectors on all samples: sparse, (n_samples, r), zero where nothing is known."""
        vectors = self.vectors
        rows = self.points[vectors.indices]
        shape = (self.n_samples, vectors.shape[1])
        return sparse.csc_array((vectors.data, rows, vectors.indptr), shape=shape)


@dataclass(frozen=True, eq=False)
class _Reduced:
    """S Q S = basis (links + Σ weight * factor C factorᵀ) basisᵀ with orthonormal columns in the basis."""

    basis: sparse.csr_array
    links: sparse.csr_array
    parts: tuple[tuple[sparse.csr_array, Groups], ...] = ()

    @property
    def size(self) -> int:
        return self.links.shape[0]

    def n_entries(self) -> int:
        n_entries = self.links.nnz
        for factor, groups in self.parts:
            counts = np.diff(factor.tocsc().indptr).astype(np.int64)
            n_entries += int((counts * counts).sum()) + 2 * groups.n_cannot_link(counts)
        return n_entries

    def matrix(self) -> sparse.csr_array:
        result = self.links
        for factor, groups in self.parts:
            product = factor @ groups.relation_matrix() @ factor.T
            result = sparse.csr_array(result + groups.weight * product)
        return result

    def apply(self, x: FloatArray) -> FloatArray:
        result = self.links @ x
        for factor, groups in self.parts:
            result = result + groups.weight * (factor @ groups.relate(factor.T @ x))
        return result


def check_scale(scale: ArrayLike | None, n_samples: int) -> FloatArray:
    """Return the diagonal of S, ones when not given."""
    if scale is None:
        return np.ones(n_samples)
    values = np.asarray(scale, dtype=np.float64)
    if values.shape != (n_samples,):
        raise ConstraintError(f"scale has shape {values.shape}: give one number per sample, ({n_samples},)")
    bad = np.flatnonzero(~(np.isfinite(values) & (values >= 0)))
    if len(bad):
        raise ConstraintError(f"scale[{bad[0]}] = {values[bad[0]]}: it must be finite and not negative")
    return values


def scaled_spectrum(
    links: sparse.csr_array,
    groups: Sequence[Groups],
    scale: ArrayLike | None,
    points: IntArray,
    *,
    threshold: float | None = 0.0,
    n_largest: int | None = None,
    tolerance: float = 1e-9,
) -> Spectrum:
    """Solve S Q S v = λ v."""
    scale = check_scale(scale, links.shape[0])
    reduced = _reduce(links, groups, scale, points)
    is_few = n_largest is not None and 10 * n_largest < reduced.size
    largest = MAX_DENSE_FOR_FEW if is_few else MAX_DENSE
    if reduced.size == 0:
        values, vectors = np.empty(0), sparse.csc_array((0, 0))
    elif (
        reduced.n_entries() <= MAX_DENSE**2
        and np.bincount(connected_components(matrix := reduced.matrix(), directed=False)[1]).max() <= largest
    ):
        values, vectors = _solve_blocks(matrix, threshold)
    else:
        values, vectors = _iterate(reduced, threshold, n_largest, tolerance)
    order = np.argsort(-values, kind="stable")[:n_largest]
    embedded = sparse.csc_array(reduced.basis @ vectors[:, order])
    return Spectrum(read_only(values[order]), embedded, points, len(scale))


def factor(
    links: sparse.csr_array, groups: Sequence[Groups], points: IntArray, max_rank: int
) -> tuple[sparse.csr_array, FloatArray] | None:
    """Return F and G with Q = F G Fᵀ, if F has no more columns than `max_rank`."""
    # Columns of F are orthonormal: one for every point with links of its own, one for the rest of each group.
    reduced = _reduce(links, groups, np.ones(links.shape[0]), points)
    if reduced.size > max_rank:
        return None
    basis = reduced.basis.tocoo()
    shape = (links.shape[0], reduced.size)
    embedded = sparse.coo_array((basis.data, (points[basis.row], basis.col)), shape=shape)
    return embedded.tocsr(), reduced.apply(np.eye(reduced.size))


def _reduce(
    links: sparse.csr_array, groups: Sequence[Groups], scale: FloatArray, points: IntArray
) -> _Reduced:
    own = links[points][:, points]
    s = scale[points]
    data = np.repeat(s, np.diff(own.indptr)) * own.data * s[own.indices]
    scaled = sparse.csr_array((data, own.indices, own.indptr), shape=own.shape)
    scaled.eliminate_zeros()
    places = [np.searchsorted(points, part.points) for part in groups]
    shift = np.zeros(len(points))
    for part, place in zip(groups, places, strict=True):
        shift[place] += part.diagonal_shift * s[place] ** 2
    if shift.any():
        scaled = sparse.csr_array(scaled + sparse.diags_array(shift))
    if len(groups) == 1:
        return _share_coordinates(scaled, groups[0], places[0], s)
    # Points that share a group of one grouping differ in the next: each has a coordinate of its own.
    parts = tuple(
        (_scaled_indicator(part, place, s), part) for part, place in zip(groups, places, strict=True)
    )
    return _Reduced(sparse.eye_array(len(points), format="csr"), scaled, parts)


def _scaled_indicator(groups: Groups, place: IntArray, s: FloatArray) -> sparse.csr_array:
    shape = (len(s), groups.n_groups)
    return sparse.coo_array((s[place], (place, groups.group)), shape=shape).tocsr()


def _share_coordinates(links: sparse.csr_array, groups: Groups, place: IntArray, s: FloatArray) -> _Reduced:
    """Give points with entries in `links` a coordinate each, the other points of a group one together."""
    alone = np.diff(links.indptr) > 0
    single = np.flatnonzero(alone)
    grouped_s, shared = s[place], ~alone[place]
    norms = np.sqrt(np.bincount(groups.group[shared], grouped_s[shared] ** 2, minlength=groups.n_groups))
    used = np.flatnonzero(norms)
    column = np.full(groups.n_groups, -1, dtype=np.int64)
    column[used] = len(single) + np.arange(len(used))

    sharing = np.flatnonzero(shared & (column[groups.group] >= 0))
    sharing_group = groups.group[sharing]
    rows = np.concatenate([single, place[sharing]])
    columns = np.concatenate([np.arange(len(single)), column[sharing_group]])
    data = np.concatenate([np.ones(len(single)), grouped_s[sharing] / norms[sharing_group]])
    size = len(single) + len(used)
    basis = sparse.coo_array((data, (rows, columns)), shape=(len(s), size)).tocsr()

    factor = sparse.csr_array(basis.T @ _scaled_indicator(groups, place, s))
    return _Reduced(basis, sparse.csr_array(basis.T @ links @ basis), ((factor, groups),))


def _solve_blocks(matrix: sparse.csr_array, threshold: float | None) -> tuple[FloatArray, sparse.csc_array]:
    values, rows, columns, data = [], [], [], []
    n_found = 0
    with limit_threads():
        for members, stack in _stacks(matrix):
            eigenvalues, eigenvectors = np.linalg.eigh(stack)
            block, which = np.nonzero(_select_wanted(eigenvalues, threshold))
            found, m = len(block), stack.shape[1]
            values.append(eigenvalues[block, which])
            rows.append(members[block].reshape(-1))
            columns.append(np.repeat(n_found + np.arange(found), m))
            data.append(eigenvectors[block, :, which].reshape(-1))
            n_found += found
    index = (np.concatenate(rows), np.concatenate(columns))
    shape = (matrix.shape[0], n_found)
    return np.concatenate(values), sparse.coo_array((np.concatenate(data), index), shape=shape).tocsc()


def _stacks(matrix: sparse.csr_array) -> Iterator[tuple[IntArray, FloatArray]]:
    """Yield dense blocks of one size as (members of shape (k, m), stack of shape (k, m, m))."""
    n_blocks, block = connected_components(matrix, directed=False)
    sizes = np.bincount(block, minlength=n_blocks)
    order = np.argsort(block, kind="stable")
    starts = np.cumsum(sizes) - sizes
    within = np.empty(len(order), dtype=np.int64)
    within[order] = np.arange(len(order)) - np.repeat(starts, sizes)
    coo = matrix.tocoo()
    by_block = np.argsort(block[coo.row], kind="stable")
    row, col, data = coo.row[by_block], coo.col[by_block], coo.data[by_block]
    ends = np.searchsorted(block[row], np.arange(n_blocks + 1))
    for m in np.unique(sizes):
        same = np.flatnonzero(sizes == m)
        # Stacks of 32 MB.
        per_batch = max(1, 4_000_000 // int(m) ** 2)
        for batch in (same[i : i + per_batch] for i in range(0, len(same), per_batch)):
            entries = _ranges(ends[batch], ends[batch + 1])
            number = np.repeat(np.arange(len(batch)), ends[batch + 1] - ends[batch])
            stack = np.zeros((len(batch), m, m))
            stack[number, within[row[entries]], within[col[entries]]] = data[entries]
            yield order[starts[batch][:, None] + np.arange(m)], stack


def _ranges(starts: IntArray, ends: IntArray) -> IntArray:
    """Concatenate arange(start, end) for many starts and ends."""
    lengths = ends - starts
    offsets = np.repeat(starts - (np.cumsum(lengths) - lengths), lengths)
    return offsets + np.arange(int(lengths.sum()))


def _select_wanted(eigenvalues: FloatArray, threshold: float | None) -> BoolArray:
    """Select eigenvalues that are beyond the threshold by more than the rounding error of their block."""
    norm = np.abs(eigenvalues).max(axis=1, keepdims=True)
    rounding = 4 * eigenvalues.shape[1] * np.finfo(np.float64).eps * norm
    nonzero = np.abs(eigenvalues) > rounding
    if threshold is None:
        return nonzero
    return nonzero & (eigenvalues > threshold + (rounding if threshold else 0.0))


def _iterate(
    reduced: _Reduced, threshold: float | None, n_largest: int | None, tolerance: float
) -> tuple[FloatArray, sparse.csc_array]:
    """Find the largest eigenvalues of a problem too large for LAPACK."""
    if n_largest is None or threshold is None or n_largest >= reduced.size:
        raise ConstraintError(
            f"the constraints tie {reduced.size} independent points or groups together, more than the "
            f"{MAX_DENSE} whose full spectrum is computed: pass n_largest to positive_spectrum to get "
            "only the leading eigenvectors"
        )
    # Most of the time goes into moving vectors; a rough answer in single precision moves half the bytes.
    precision = np.float32 if tolerance >= 1e-3 else np.float64
    operator: Any = LinearOperator((reduced.size, reduced.size), matvec=reduced.apply, dtype=precision)
    start = np.random.default_rng(0).standard_normal(reduced.size).astype(precision)
    try:
        with limit_threads():
            values, vectors = eigsh(operator, k=n_largest, which="LA", v0=start, tol=tolerance)
    except ArpackNoConvergence as error:
        raise SpectralError(
            f"the {n_largest} largest eigenvalues of the constraints were not reached"
        ) from error
    values, vectors = values.astype(np.float64), vectors.astype(np.float64)
    wanted = _select_wanted(values[None, :], threshold)[0]
    return values[wanted], sparse.csc_array(vectors[:, wanted])
