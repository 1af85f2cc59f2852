"""Matrices of beliefs and second graphs, as the user gives them."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from sidecut.constraints.links import canonical
from sidecut.exceptions import ConstraintError

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
    graph : array-like, sparse matrix or networkx graph
        Nodes of a networkx graph are taken in the order in which it lists them.
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
