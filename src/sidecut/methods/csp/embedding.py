"""From feasible cuts to rows and labels: their weights, what completes them, the sides of a single one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sidecut.arrays import FloatArray, IntArray
from sidecut.graphs import Graph
from sidecut.labelling import assign_labels

WEIGHTINGS = ("none", "one_minus_cost", "sign", "sign_cost")
#: An eigenvector of which no more than this share is new is not worth a column.
LEAST_LEFT = 0.3
#: So many splits of a cut are compared where its sign tells nothing.
MOST_SPLITS = 32


def weigh_cuts(relaxed: FloatArray, costs: FloatArray, weighting: str) -> FloatArray:
    """Return the relaxed indicators D^{-1/2} V, weighed before they are clustered.

    Parameters
    ----------
    relaxed : array of shape (n, m)
        D^{-1/2} V.
    costs : array of shape (m,)
        vᵀL̄v of the unit vectors.
    weighting : {"none", "one_minus_cost", "sign", "sign_cost"}
        As they are; times 1 - cost; their signs (eq. 15); their signs over their costs (eq. 16 as amended).

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.methods.csp.embedding import weigh_cuts
    >>> weigh_cuts(np.array([[0.3, -2.0]]), np.array([0.5, 0.25]), "sign_cost")
    array([[ 2., -4.]])
    """
    if weighting == "none":
        return relaxed
    if weighting == "one_minus_cost":
        return relaxed * (1.0 - costs)
    if weighting == "sign":
        return np.sign(relaxed)
    if weighting == "sign_cost":
        # A cut along components costs nothing; it would outweigh all others without bound.
        return np.sign(relaxed) / np.maximum(costs, 1e-6)
    raise ValueError(f"weighting={weighting!r}: choose one of {', '.join(WEIGHTINGS)}.")


@dataclass(frozen=True)
class Completion:
    """Columns from the unconstrained spectrum in place of feasible cuts that do not exist.

    They combine unconstrained eigenvectors and feasible cuts, and extend to new points as both do.

    Attributes
    ----------
    weights : array of shape (q + m, r)
        How the columns combine q eigenvectors and m cuts, in this order.
    costs : array of shape (r,)
        vᵀL̄v of the unit vectors.
    """

    weights: FloatArray
    costs: FloatArray

    def columns(self, graph: FloatArray, cuts: FloatArray) -> FloatArray:
        """Return the columns, given rows of the eigenvectors and of the cuts."""
        return np.hstack([graph, cuts]) @ self.weights


def complete_cuts(gram: FloatArray, price: FloatArray, n_cuts: int, n_columns: int) -> Completion:
    """Return what completes feasible cuts to a given number of columns.

    Of the unconstrained eigenvectors, least cost first, what is orthogonal to the cuts and to those taken
    already; those of which little is left are passed over.

    Parameters
    ----------
    gram, price : arrays of shape (q + m, q + m)
        Products vᵀw and vᵀL̄w of q unconstrained eigenvectors, least cost first, the trivial one left out, and
        m feasible cuts.
    n_cuts : int
        m.
    n_columns : int
        How many columns there shall be together, if the eigenvectors allow.

    Examples
    --------
    One cut is known; of two eigenvectors, the one it leaves out is added.

    >>> import numpy as np
    >>> from sidecut.methods.csp.embedding import complete_cuts
    >>> vectors = np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
    >>> costs = np.diag([0.1, 0.2])
    >>> added = complete_cuts(vectors.T @ vectors, vectors.T @ costs @ vectors, n_cuts=1, n_columns=2)
    >>> added.columns(vectors[:, :2], vectors[:, 2:]).ravel(), added.costs.round(3)
    (array([0., 1.]), array([0.2]))
    """
    size = len(gram)
    used = list(range(size - n_cuts, size))
    weights = np.empty((size, 0))
    for j in range(size - n_cuts):
        if n_cuts + weights.shape[1] >= n_columns:
            break
        weight = np.zeros(size)
        weight[used] = -np.linalg.lstsq(gram[np.ix_(used, used)], gram[used, j], rcond=None)[0]
        weight[j] = 1.0
        left = np.sqrt(max(weight @ gram @ weight, 0.0) / gram[j, j])
        if left > LEAST_LEFT:
            weights = np.column_stack([weights, weight / left])
            used.append(j)
    lengths = np.einsum("ij,ij->j", weights, gram @ weights)
    return Completion(weights, np.einsum("ij,ij->j", weights, price @ weights) / lengths)


def label_sides(graph: Graph, rows: FloatArray) -> IntArray:
    """Return the side of `find_split` on which each entry of u*, the only column, lies."""
    return assign_labels(rows - find_split(graph, rows[:, 0]), 2, method="sign")


def find_split(graph: Graph, indicator: FloatArray) -> float:
    """Return where u* is split in two: at zero (algorithm 1), or where that costs least.

    With must-links alone Q̄ has no negative entry, and u* can be positive everywhere (Perron and Frobenius):
    large near the links and almost zero elsewhere. Its sign then tells nothing. Of the values at which u*
    jumps most, the one of least normalised cut is taken instead (Shi & Malik, 2000, section 3).

    Parameters
    ----------
    graph : Graph
        The graph that is cut.
    indicator : array of shape (n,)
        u*.

    Returns
    -------
    float
        Entries above it are one cluster, the others the other. 0 also where all entries are equal.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.graphs import as_graph
    >>> from sidecut.methods.csp.embedding import find_split
    >>> path = as_graph(np.diag([1.0, 1.0, 0.1, 1.0], k=1) + np.diag([1.0, 1.0, 0.1, 1.0], k=-1))
    >>> find_split(path, np.array([0.9, 0.5, 0.3, -0.1, -0.2]))
    0.0
    >>> round(find_split(path, np.array([0.9, 0.5, 0.4, 1e-4, 1e-4])), 4)
    0.0063
    """
    if indicator.min() <= 0 < indicator.max():
        return 0.0
    size = np.abs(indicator)
    steps = np.log(np.maximum(np.sort(size), np.finfo(np.float64).eps * size.max(initial=1e-300)))
    jumps = np.diff(steps)
    largest = np.argsort(jumps)[::-1][:MOST_SPLITS]
    largest = largest[jumps[largest] > 0]
    if largest.size == 0:
        return 0.0
    splits = np.exp((steps[largest] + steps[largest + 1]) / 2)
    inside = (size[:, None] > splits).astype(np.float64)
    volume = graph.degrees @ inside
    leaving = volume - np.einsum("ij,ij->j", inside, graph.apply(inside))
    # cut (1/vol A + 1/vol B), up to the factor vol G.
    product = volume * (graph.volume - volume)
    costs = np.divide(leaving, product, out=np.full(product.size, np.inf), where=product > 0)
    return float(np.copysign(splits[costs.argmin()], indicator[0]))
