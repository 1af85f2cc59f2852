"""What is wrong with a graph, in words: isolated points, too many components."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sidecut.arrays import IntArray
from sidecut.exceptions import GraphWarning, warn
from sidecut.graphs.graph import Graph


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
    >>> from sidecut.graphs.health import warn_about_components
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
