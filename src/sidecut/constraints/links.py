"""Pairs of points with strengths, and matrices of beliefs: what the user gives, checked, each pair once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from sidecut.arrays import BoolArray, FloatArray, IntArray, to_native
from sidecut.exceptions import ConstraintError


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """Return the array itself, no longer writeable: constraints are values."""
    array.flags.writeable = False
    return array


@dataclass(frozen=True, eq=False)
class Links:
    """Unordered pairs ``i < j``, sorted, each once, with positive strengths.

    Parameters
    ----------
    pairs : ndarray of shape (m, 2)
        Sorted pairs of points.
    strengths : ndarray of shape (m,)
        How firmly each pair is believed, positive.
    """

    pairs: IntArray
    strengths: FloatArray

    def __len__(self) -> int:
        return len(self.pairs)

    def kept(self, mask: BoolArray) -> Links:
        """Return the links where `mask` holds."""
        return Links(self.pairs[mask], self.strengths[mask])


def check_n_samples(n_samples: Any) -> int:
    """Return `n_samples` as an int, or say why it cannot be a number of samples."""
    if isinstance(n_samples, bool) or not isinstance(n_samples, int | np.integer) or n_samples < 1:
        raise ConstraintError(
            f"n_samples = {n_samples!r}: give the number of rows of X, an integer of at least 1"
        )
    return int(n_samples)


def check_positive(value: Any, name: str) -> float:
    """Return `value` as a float, provided it is positive and finite."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = np.nan
    if not (np.isfinite(number) and number > 0):
        raise ConstraintError(f"{name} = {value!r}: it must be a positive, finite number")
    return number


def check_pairs(pairs: Any, name: str, n_samples: int) -> IntArray:
    """Return the user's pairs as an (m, 2) integer array.

    Parameters
    ----------
    pairs : array-like of shape (m, 2), iterable of pairs, or None
        The pairs as given.
    name : str
        What the user calls them, for the error message.
    n_samples : int
        Indices lie in ``0 .. n_samples - 1``.

    Returns
    -------
    ndarray of shape (m, 2)
        The same pairs, in the order given.

    Raises
    ------
    ConstraintError
        Naming the first pair that is not two different points.
    """
    raw = _as_two_columns(to_native(pairs), name)
    if raw.dtype.kind not in "iu":
        raw = _exact_integers(raw, name)
    outside = np.any((raw < 0) | (raw >= n_samples), axis=1)
    _refuse_first(
        raw,
        np.asarray(outside),
        name,
        f"points are numbered 0 to {n_samples - 1} (n_samples={n_samples}); correct the index",
    )
    _refuse_first(raw, raw[:, 0] == raw[:, 1], name, "a point cannot be linked with itself; remove the pair")
    return raw.astype(np.int64)


def check_weights(weights: ArrayLike, name: str, n_pairs: int) -> FloatArray:
    """Return one positive weight per pair from a scalar or a sequence."""
    try:
        values = np.asarray(to_native(weights), dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ConstraintError(f"{name} = {weights!r}: give a positive number, or one per pair") from error
    if values.ndim == 0:
        return np.full(n_pairs, check_positive(values.item(), name))
    if values.shape != (n_pairs,):
        raise ConstraintError(
            f"{name} has shape {values.shape} for {n_pairs} pairs: give one number, or one for each pair"
        )
    bad = np.flatnonzero(~(np.isfinite(values) & (values > 0)))
    if len(bad):
        raise ConstraintError(
            f"{name}[{bad[0]}] = {values[bad[0]]}: a weight must be positive and finite; "
            "leave out pairs you know nothing about"
        )
    return values


def strongest(pairs: IntArray, strengths: FloatArray) -> Links:
    """Sort pairs as ``i < j`` and keep each once, with its greatest strength."""
    low, high = np.minimum(pairs[:, 0], pairs[:, 1]), np.maximum(pairs[:, 0], pairs[:, 1])
    order = np.lexsort((-strengths, high, low))
    low, high, strengths = low[order], high[order], strengths[order]
    first = np.ones(len(low), dtype=bool)
    first[1:] = (low[1:] != low[:-1]) | (high[1:] != high[:-1])
    return Links(np.column_stack([low[first], high[first]]), strengths[first])


def read_links(pairs: Any, weights: ArrayLike, name: str, weight_name: str, n_samples: int) -> Links:
    """Check the user's pairs and weights, and keep each pair once."""
    checked = check_pairs(pairs, name, n_samples)
    return strongest(checked, check_weights(weights, weight_name, len(checked)))


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


def _as_two_columns(pairs: Any, name: str) -> NDArray[Any]:
    if pairs is None:
        return np.empty((0, 2), dtype=np.int64)
    if not hasattr(pairs, "__array__"):
        pairs = _rows(pairs, name)
    array = np.asarray(pairs)
    if array.size == 0 and array.ndim <= 2:
        return np.empty((0, 2), dtype=np.int64)
    if array.ndim != 2 or array.shape[1] != 2:
        raise ConstraintError(f"{name} has shape {array.shape}: give pairs (i, j), an array of shape (m, 2)")
    return array


def _rows(pairs: Any, name: str) -> list[Any]:
    if isinstance(pairs, str | bytes) or not isinstance(pairs, Iterable):
        raise ConstraintError(f"{name} = {pairs!r}: give pairs (i, j), an array of shape (m, 2)")
    rows = list(pairs)
    for position, row in enumerate(rows):
        if not hasattr(row, "__len__") or isinstance(row, str) or len(row) != 2:
            raise ConstraintError(f"{name}[{position}] = {row!r}: each link is a pair (i, j) of two points")
    return rows


def _exact_integers(raw: NDArray[Any], name: str) -> IntArray:
    rule = "indices must be whole numbers"
    if raw.dtype.kind == "O":
        wrong = [not all(isinstance(index, int | np.integer) for index in row) for row in raw]
        _refuse_first(raw, np.array(wrong), name, rule)
        return raw.astype(np.int64)
    if raw.dtype.kind != "f":
        raise ConstraintError(f"{name}[0] = {_shown(raw[0])}: {rule}, not {raw.dtype.name}")
    with np.errstate(invalid="ignore"):
        _refuse_first(raw, ((raw != np.round(raw)) | ~np.isfinite(raw)).any(axis=1), name, rule)
    return raw.astype(np.int64)


def _refuse_first(raw: NDArray[Any], bad: BoolArray, name: str, rule: str) -> None:
    if bad.any():
        position = int(np.flatnonzero(bad)[0])
        raise ConstraintError(f"{name}[{position}] = {_shown(raw[position])}: {rule}")


def _shown(row: NDArray[Any]) -> str:
    return f"({row[0]}, {row[1]})"


# Matrices of beliefs and second graphs, as the user gives them.


ROUNDING = 1e-10


def check_belief_matrix(matrix: Any, name: str = "Q") -> sparse.csr_array:
    """Return a real symmetric matrix in canonical sparse form.

    Parameters
    ----------
    matrix : array-like or sparse matrix of shape (n, n)
        Dense or sparse; asymmetry of the size of rounding is averaged away.
    name : str
        What the user calls it, for the error message.

    Returns
    -------
    csr_array of shape (n, n)
        The same entries, the diagonal included.

    Raises
    ------
    ConstraintError
        Naming the entry that is not finite, or the pair of entries that differ.

    Examples
    --------
    >>> check_belief_matrix([[1, -0.5], [-0.5, 0]]).toarray()
    array([[ 1. , -0.5],
           [-0.5,  0. ]])
    """
    matrix = to_native(matrix)
    array = matrix if sparse.issparse(matrix) else np.asarray(matrix)
    if array.ndim != 2 or array.shape[0] != array.shape[1] or array.shape[0] == 0:
        raise ConstraintError(f"{name} has shape {array.shape}: it must be square, one row per sample")
    if array.dtype.kind not in "biuf":
        raise ConstraintError(f"{name} holds {array.dtype.name} values: beliefs must be real numbers")
    result = canonical(array)
    _refuse_not_finite(result, name)
    return _symmetric(result, name)


def check_graph(graph: Any, name: str = "A") -> sparse.csr_array:
    """Return the adjacency matrix of an undirected graph with nonnegative weights.

    Parameters
    ----------
    graph : array-like, sparse matrix, tensor, networkx or igraph graph
        Nodes of a networkx or igraph graph are taken in the order in which it lists them.
    name : str
        What the user calls it, for the error message.

    Returns
    -------
    csr_array of shape (n, n)
        The weights, the diagonal included.
    """
    if hasattr(graph, "nodes") and hasattr(graph, "adjacency"):
        import networkx

        if len(graph) == 0:
            raise ConstraintError(f"{name} is a graph without nodes: it must have one node per sample")
        graph = networkx.to_scipy_sparse_array(graph)
    matrix = check_belief_matrix(graph, name)
    negative = matrix.tocoo()
    bad = np.flatnonzero(negative.data < 0)
    if len(bad):
        row, column = negative.row[bad[0]], negative.col[bad[0]]
        raise ConstraintError(
            f"{name}[{row}, {column}] = {negative.data[bad[0]]}: weights of a graph cannot be negative; "
            "use Constraints.from_matrix for beliefs of both signs"
        )
    return matrix


def _refuse_not_finite(matrix: sparse.csr_array, name: str) -> None:
    coo = matrix.tocoo()
    bad = np.flatnonzero(~np.isfinite(coo.data))
    if len(bad):
        row, column = coo.row[bad[0]], coo.col[bad[0]]
        raise ConstraintError(
            f"{name}[{row}, {column}] = {coo.data[bad[0]]}: beliefs must be finite; put 0 where unknown"
        )


def _symmetric(matrix: sparse.csr_array, name: str) -> sparse.csr_array:
    difference = sparse.coo_array(matrix - matrix.T)
    if difference.nnz == 0 or not np.any(difference.data):
        return matrix
    worst = int(np.argmax(np.abs(difference.data)))
    if np.abs(difference.data[worst]) > ROUNDING * np.abs(matrix.data).max():
        i, j = int(difference.row[worst]), int(difference.col[worst])
        raise ConstraintError(
            f"{name}[{i}, {j}] = {matrix[i, j]} but {name}[{j}, {i}] = {matrix[j, i]}: "
            f"the matrix must be symmetric; pass ({name} + {name}.T) / 2 if that is what you mean"
        )
    return canonical((matrix + matrix.T) / 2)
