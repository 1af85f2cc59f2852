"""Graphs people already have: matrices, networkx and igraph graphs, tensors."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from sidecut.arrays import FloatArray, IntArray, to_native
from sidecut.exceptions import GraphWarning, warn
from sidecut.graphs.graph import DenseGraph, Graph, SparseGraph

#: Weights may differ from their mirror image by this share of the largest weight.
SYMMETRY_TOLERANCE = 1e-8
#: Symmetry is checked on blocks of about this many bytes.
SYMMETRY_BYTES = 16 * 2**20


def as_graph(affinity: Any) -> Graph:
    """Take an affinity as it is: a dense or sparse matrix, a networkx or igraph graph, or a Graph.

    Parameters
    ----------
    affinity : array, sparse matrix, tensor, networkx.Graph, igraph.Graph or Graph
        Symmetric nonnegative weights. The diagonal is kept: self-loops count in the degrees. Row i of a
        networkx or igraph graph is its i-th node; edges without a weight count 1, parallel ones add up.

    Returns
    -------
    Graph
        A `SparseGraph` or a `DenseGraph`; a Graph is returned unchanged.

    Raises
    ------
    ValueError
        If the matrix is not square, not symmetric, negative or not finite; the entry is named.

    Examples
    --------
    >>> import networkx as nx
    >>> from sidecut.graphs import as_graph
    >>> as_graph(nx.path_graph(4))
    SparseGraph(n_nodes=4, n_edges=3)
    """
    if isinstance(affinity, Graph):
        return affinity
    graph = _explicit_graph(to_native(affinity))
    with np.errstate(over="ignore"):
        volume = graph.volume
    if not np.isfinite(volume):
        raise ValueError("The weights are so large that their sum overflows; divide them by the largest one.")
    return graph


def _explicit_graph(affinity: Any) -> Graph:
    if _is_networkx(affinity):
        return SparseGraph(_networkx_weights(affinity))
    if sp.issparse(affinity):
        return SparseGraph(_check_sparse(affinity))
    return DenseGraph(_check_dense(np.asarray(affinity)))


def _is_networkx(candidate: Any) -> bool:
    return type(candidate).__module__.partition(".")[0] == "networkx" or hasattr(candidate, "is_multigraph")


def _networkx_weights(graph: Any) -> sp.csr_array:
    import networkx as nx

    if graph.is_directed():
        raise ValueError("A directed networkx graph cannot be cut; use graph.to_undirected().")
    return _check_sparse(nx.to_scipy_sparse_array(graph, weight="weight", dtype=np.float64, format="csr"))


def _check_sparse(affinity: Any) -> sp.csr_array:
    _check_square(affinity.shape)
    _check_real(affinity)
    weights = sp.csr_array(affinity, dtype=np.float64)
    if not weights.has_canonical_format:
        # A copy first: the arrays may still belong to the caller.
        weights = weights.copy()
        weights.sum_duplicates()
    edges = sp.coo_array(weights)
    _check_entries(edges.data, edges.row, edges.col)
    gap = sp.coo_array(abs(weights - weights.T))
    if gap.nnz:
        worst = int(np.argmax(gap.data))
        row, col = int(gap.row[worst]), int(gap.col[worst])
        _check_symmetry(float(gap.data[worst]), float(edges.data.max()), row, col)
    return _mirror(weights)


def _check_dense(affinity: npt.NDArray) -> FloatArray:
    _check_square(affinity.shape)
    _check_real(affinity)
    weights = np.asarray(affinity, dtype=np.float64)
    columns = np.arange(weights.shape[0])
    # A row at a time: checks of the whole would hold several copies of a matrix that may just fit.
    for row, entries in enumerate(weights):
        if not (np.isfinite(entries) & (entries >= 0)).all():
            _check_entries(entries, np.full_like(columns, row), columns)
    worst, row, col = _worst_asymmetry(weights)
    if worst > 0:
        _check_symmetry(worst, float(weights.max()), row, col)
        weights = 0.5 * (weights + weights.T)
    return weights


def _worst_asymmetry(weights: FloatArray) -> tuple[float, int, int]:
    """Return the largest |W_ij - W_ji| with its i and j."""
    worst = (0.0, 0, 0)
    height = max(1, SYMMETRY_BYTES // (8 * max(1, weights.shape[0])))
    for start in range(0, weights.shape[0], height):
        stop = min(start + height, weights.shape[0])
        gap = np.abs(weights[start:stop, start:] - weights[start:, start:stop].T)
        row, col = np.unravel_index(int(gap.argmax()), gap.shape)
        worst = max(worst, (float(gap[row, col]), start + int(row), start + int(col)))
    return worst


def _mirror(weights: sp.csr_array) -> sp.csr_array:
    """Remove the rounding differences between W and its transpose."""
    return sp.csr_array(0.5 * (weights + weights.T))


def _check_square(shape: tuple[int, ...]) -> None:
    if len(shape) != 2 or shape[0] != shape[1]:
        raise ValueError(
            f"A precomputed affinity must be a square matrix, one row and one column per point; got {shape}."
        )


def _check_real(affinity: Any) -> None:
    if np.iscomplexobj(affinity):
        raise ValueError("The affinity is complex; the weights of a graph are real.")


def _check_entries(weights: npt.NDArray, rows: npt.NDArray, cols: npt.NDArray) -> None:
    for is_bad, rule in ((~np.isfinite(weights), "finite"), (weights < 0, "nonnegative")):
        if is_bad.any():
            first = int(np.argmax(is_bad))
            raise ValueError(
                f"affinity[{rows[first]}, {cols[first]}] = {weights[first]}: weights must be {rule}. "
                "Distances are not affinities; turn them into weights first, for example exp(-d²/(2σ²))."
            )


def _check_symmetry(gap: float, largest: float, row: int, col: int) -> None:
    if gap > SYMMETRY_TOLERANCE * largest:
        raise ValueError(
            f"affinity[{row}, {col}] and affinity[{col}, {row}] differ by {gap:.3g}: the weights of an "
            "undirected graph are symmetric. Use (A + A.T) / 2 if that is what you mean."
        )


# What is wrong with a graph, in words: isolated points, too many components.


def warn_about_graph(graph: Graph, n_clusters: int) -> None:
    """Warn about what keeps a graph from being cut into `n_clusters` parts in a meaningful way.

    Parameters
    ----------
    graph : Graph
        The graph to be cut.
    n_clusters : int
        How many clusters are asked for.

    Raises
    ------
    ValueError
        If no point has any neighbour at all.

    Examples
    --------
    >>> import numpy as np, warnings
    >>> from sidecut.graphs import as_graph, warn_about_graph
    >>> lonely = as_graph(np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0.0]]))
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     warn_about_graph(lonely, n_clusters=1)
    >>> str(caught[0].message)
    '1 of 3 points have no neighbours (2): ...'
    """
    isolated = graph.isolated
    if isolated.size == graph.n_nodes:
        raise ValueError(
            f"None of the {graph.n_nodes} points has a neighbour: every weight is zero. Use a larger sigma, "
            "more neighbours, or check the affinity."
        )
    if isolated.size:
        warn(
            f"{isolated.size} of {graph.n_nodes} points have no neighbours ({_list_points(isolated)}): the "
            "graph says nothing about them and their labels are arbitrary. Use more neighbours or a larger "
            "sigma, or leave them out.",
            GraphWarning,
        )
    if graph.n_components > n_clusters:
        warn_about_components(np.bincount(graph.components[graph.components >= 0]), n_clusters)


def warn_about_components(sizes: IntArray, n_clusters: int) -> None:
    """Warn where a graph has more connected components, of so many points each, than clusters are asked for.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.graphs.inputs import warn_about_components
    >>> warn_about_components(np.array([20, 30]), n_clusters=2)
    """
    if sizes.size > n_clusters:
        warn(
            f"The graph has {sizes.size} connected components (of {_list_points(np.sort(sizes)[::-1])} "
            f"points), more than n_clusters={n_clusters}: every grouping of whole components has cut zero, "
            "so the graph does not decide. The components of largest volume are kept apart. Use more "
            "neighbours, more clusters, or constraints that join components.",
            GraphWarning,
        )


def _list_points(values: npt.NDArray, at_most: int = 5) -> str:
    """Return the first few values, with dots if there are more."""
    shown = ", ".join(str(value) for value in values[:at_most])
    return shown + (", ..." if values.size > at_most else "")
