"""Rows, scales and diagonals: the same constraints on other rows or with another diagonal."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from sidecut.arrays import FloatArray, IntArray
from sidecut.constraints.grouped import Groups
from sidecut.constraints.links import canonical
from sidecut.exceptions import ConstraintError


def check_rows(indices: Any, n_samples: int) -> IntArray:
    """Return distinct row numbers from indices or a mask.

    Raises
    ------
    ConstraintError
        Naming the index that is out of range, repeated or not a whole number.

    Examples
    --------
    >>> check_rows([True, False, True], 3)
    array([0, 2])
    """
    rows = np.asarray(indices)
    if rows.ndim != 1 or len(rows) == 0:
        raise ConstraintError(f"indices has shape {rows.shape}: give at least one row, in one dimension")
    if rows.dtype == bool:
        if len(rows) != n_samples or not rows.any():
            raise ConstraintError(
                f"the mask has {len(rows)} entries, {int(rows.sum())} of them True, for {n_samples} samples: "
                "give one entry per sample and keep at least one"
            )
        return np.flatnonzero(rows)
    if rows.dtype.kind not in "iu":
        raise ConstraintError(f"indices[0] = {rows[0]!r}: rows are whole numbers")
    outside = np.flatnonzero((rows < 0) | (rows >= n_samples))
    if len(outside):
        raise ConstraintError(f"indices[{outside[0]}] = {rows[outside[0]]}: rows are 0 to {n_samples - 1}")
    values, counts = np.unique(rows, return_counts=True)
    if counts.max() > 1:
        raise ConstraintError(
            f"indices holds row {values[counts.argmax()]} more than once: name each row once"
        )
    return rows.astype(np.int64)


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


def select(
    links: sparse.csr_array, groups: Groups | None, rows: IntArray
) -> tuple[sparse.csr_array, Groups | None]:
    """Return links and groups among `rows`, which become rows 0, 1, 2, ..."""
    return canonical(links[rows][:, rows]), None if groups is None else groups.selected(rows)


def keep(
    links: sparse.csr_array, groups: Groups | None, rows: IntArray
) -> tuple[sparse.csr_array, Groups | None]:
    """Return links and groups among `rows`, which keep their numbers."""
    rows = np.sort(rows)
    kept = sparse.dia_array((np.zeros((1, links.shape[0])), [0]), shape=links.shape)
    kept.data[0, rows] = 1.0
    chosen = None if groups is None else groups.selected(rows)
    return canonical(kept @ links @ kept), chosen and replace(chosen, points=rows[chosen.points])


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
