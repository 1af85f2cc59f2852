"""How much each link matters: what would change in all that is believed if it were not there."""

from __future__ import annotations

from typing import Any

import numpy as np

from sidecut.arrays import FloatArray, IntArray
from sidecut.constraints import Constraints
from sidecut.diagnostics.leave_one_out import check_amount
from sidecut.diagnostics.spreading import ALPHA
from sidecut.exceptions import ConstraintError
from sidecut.methods import NormalizedCut
from sidecut.methods.e2cp.spreading import spread_units
from sidecut.methods.inputs import build_graph, check_data


def measure_influence(
    X: Any, constraints: Constraints, *, affinity: Any = "knn", n_neighbors: int = 20
) -> FloatArray:
    """Return how much each pair of `constraints.pairs` matters, as a share of all that the pairs say.

    The belief that comes to all pairs of points is F = P Z P (eq. 3 of E2CP). Without the link (i, j) of
    strength q it is less by q (P_i P_jᵀ + P_j P_iᵀ), where P_i is a column of P. What is returned is the
    length of that over the length of F; it is exact, since F is linear in Z. It is above one where links
    cancel. See `find_redundant` for what follows from other links by logic alone.

    Parameters
    ----------
    X : array, sparse matrix or data frame; with affinity="precomputed" the graph itself
        The data.
    constraints : Constraints
        What is known; labels count by the pairs they make.
    affinity, n_neighbors : as for the estimators
        How data become a graph.

    Returns
    -------
    array of shape (n_pairs,)
        In the order of `constraints.pairs`.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut import Constraints
    >>> from sidecut.diagnostics import measure_influence
    >>> path = np.diag(np.ones(4), 1) + np.diag(np.ones(4), -1)
    >>> known = Constraints.from_pairs(5, must_link=[(0, 1)], cannot_link=[(0, 4)])
    >>> measure_influence(path, known, affinity="precomputed").round(2)
    array([2.6 , 1.79])
    """
    if constraints.is_empty:
        raise ConstraintError("nothing is known, so nothing matters: give labels or links.")
    cut = NormalizedCut(2, affinity=affinity, n_neighbors=n_neighbors)
    graph = build_graph(cut, check_data(cut, X))
    constraints.check_matches(graph.n_nodes)
    points = constraints.constrained_points
    check_amount(points)
    columns = spread_units(graph, points, np.arange(len(points)), ALPHA)
    first, second = np.searchsorted(points, constraints.pairs).T
    return share_of_belief(columns.T @ columns, first, second, constraints.strengths)


def share_of_belief(gram: FloatArray, first: IntArray, second: IntArray, strengths: FloatArray) -> FloatArray:
    """Return ‖q (P_i P_jᵀ + P_j P_iᵀ)‖ / ‖P Z P‖ for every link, from the products P_iᵀP_j.

    The square of the first is 2 q² (‖P_i‖² ‖P_j‖² + (P_iᵀP_j)²), that of the second tr(Z G Z G).

    Parameters
    ----------
    gram : array of shape (c, c)
        G = PᵀP between the columns of the linked points.
    first, second : arrays of shape (m,)
        The two ends of every link, as places among the c points.
    strengths : array of shape (m,)
        Positive for must-links, negative for cannot-links.
    """
    known = np.zeros_like(gram)
    known[first, second] = known[second, first] = strengths
    spread = known @ gram
    total = np.einsum("ij,ji->", spread, spread)
    squares = np.diag(gram)
    own = 2.0 * strengths**2 * (squares[first] * squares[second] + gram[first, second] ** 2)
    return np.sqrt(own / max(float(total), np.finfo(float).tiny))
