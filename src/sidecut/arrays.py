"""The types of arrays that functions take and return, and other libraries' data as NumPy knows them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.integer]
BoolArray = npt.NDArray[np.bool_]


def to_native(data: Any) -> Any:
    """Return PyTorch tensors, igraph graphs and lazy polars frames as NumPy and SciPy know them.

    Everything else is returned as it is: arrays, pandas and polars frames, Arrow tables, networkx graphs.
    No library is imported for it.

    Parameters
    ----------
    data : object
        What the user handed in.

    Raises
    ------
    ValueError
        If it is a directed igraph graph.

    Examples
    --------
    >>> import igraph
    >>> from sidecut.arrays import to_native
    >>> to_native(igraph.Graph([(0, 1), (1, 2)])).toarray()
    array([[0., 1., 0.],
           [1., 0., 1.],
           [0., 1., 0.]])
    """
    library, kind = type(data).__module__.partition(".")[0], type(data).__name__
    if library == "torch" and hasattr(data, "detach"):
        return _from_tensor(data)
    if library == "igraph" and hasattr(data, "get_edgelist"):
        return _from_igraph(data)
    if library == "polars" and kind == "LazyFrame":
        return data.collect()
    return data


def to_points(data: Any) -> Any:
    """Return points as `to_native` does, and refuse graphs of other libraries: their nodes are no points.

    Parameters
    ----------
    data : object
        What the user handed in as points.

    Raises
    ------
    ValueError
        If it is a networkx or igraph graph.

    Examples
    --------
    >>> import networkx as nx
    >>> from sidecut.arrays import to_points
    >>> to_points(nx.path_graph(3))
    Traceback (most recent call last):
    ...
    ValueError: X is a networkx graph, not points: use affinity="precomputed", if the method has `affinity`.
    """
    library = type(data).__module__.partition(".")[0]
    if library in ("networkx", "igraph"):
        raise ValueError(
            f'X is a {library} graph, not points: use affinity="precomputed", if the method has `affinity`.'
        )
    return to_native(data)


def _from_tensor(tensor: Any) -> Any:
    """Return a tensor without its gradient, from whatever device, sparse where it is sparse."""
    tensor = tensor.detach().cpu()
    if str(tensor.layout) != "torch.strided":
        tensor = tensor.to_sparse_coo().coalesce()
        places = tensor.indices().numpy()
        return sp.coo_array((_numbers(tensor.values()), tuple(places)), shape=tuple(tensor.shape)).tocsr()
    return _numbers(tensor)


def _numbers(tensor: Any) -> npt.NDArray[Any]:
    # NumPy has no bfloat16; float32 holds all of its values.
    return (tensor.float() if str(tensor.dtype) == "torch.bfloat16" else tensor).numpy()


def _from_igraph(graph: Any) -> sp.csr_array:
    """Return the weights of an undirected graph; edges without a weight count 1, parallel ones add up."""
    if graph.is_directed():
        raise ValueError("A directed igraph graph cannot be cut; use graph.as_undirected().")
    n, edges = graph.vcount(), np.asarray(graph.get_edgelist(), dtype=np.int64).reshape(-1, 2)
    weights = np.asarray(graph.es["weight"] if "weight" in graph.es.attributes() else np.ones(len(edges)))
    # Self-loops lie on the diagonal and are there once.
    is_loop = edges[:, 0] == edges[:, 1]
    both = np.concatenate([edges, edges[~is_loop][:, ::-1]])
    values = np.concatenate([weights, weights[~is_loop]]).astype(np.float64)
    return sp.coo_array((values, (both[:, 0], both[:, 1])), shape=(n, n)).tocsr()
