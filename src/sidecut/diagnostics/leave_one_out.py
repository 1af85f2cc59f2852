"""What the graph and all other knowledge say about one label or link, that one left out.

Knowledge spreads over the graph as E2CP spreads it, by P = (1 - α)(I - α Ā)⁻¹ with the normalised affinity Ā.

- A label: the scores of the classes at point i are Σ_j P_ij Y_j over the *other* labelled points j. To leave
  a label out is to leave out one term of the sum, so this is an exact refit without it.
- A link (i, j) of strength q: the belief that has come to the pair is F_ij with F = P Z P (eq. 3 of E2CP).
  Its own share is q (P_ii P_jj + P_ij²), since Z holds q at (i, j) and at (j, i). F_ij less that share is
  what a refit without the link would give, exactly.
"""

from __future__ import annotations

import numpy as np

from sidecut.arrays import FloatArray, IntArray
from sidecut.exceptions import ConstraintError
from sidecut.graphs import Graph
from sidecut.methods.e2cp.spreading import spread_units

#: How far knowledge spreads: α of E2CP, nearer to one than its default, since one label must be judged by
#: others that may be far away. Set on iris, wine, breast cancer and digits.
ALPHA = 0.95
#: So many columns of P are made at a time; only their rows at the known points are kept.
COLUMNS_AT_ONCE = 256
#: So many points may be known at most: P between them is a square matrix of this many rows, 3 GB.
MOST_POINTS = 20_000


def check_amount(points: IntArray) -> None:
    """Refuse knowledge about more points than a square matrix has room for."""
    if len(points) > MOST_POINTS:
        raise ConstraintError(
            f"something is known about {len(points):,} points; at most {MOST_POINTS:,} are judged at a time. "
            "Judge a part: constraints.restricted_to(rows) and the same rows of X."
        )


def spread_between(graph: Graph, points: IntArray, alpha: float = ALPHA) -> tuple[FloatArray, FloatArray]:
    """Return P between some points, and how much each of them gives to all points.

    Parameters
    ----------
    graph : Graph
        The graph.
    points : array of shape (c,)
        The points that something is known about.
    alpha : float
        How far knowledge spreads.

    Returns
    -------
    between : array of shape (c, c)
        P[points][:, points].
    given : array of shape (c,)
        The column sums of P at the points.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.graphs import as_graph
    >>> from sidecut.diagnostics.leave_one_out import spread_between
    >>> path = as_graph(np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]]))
    >>> spread_between(path, np.array([0, 2]), alpha=0.5)[0].round(4)
    array([[0.5833, 0.0833],
           [0.0833, 0.5833]])
    """
    between, given = np.empty((len(points), len(points))), np.empty(len(points))
    for start in range(0, len(points), COLUMNS_AT_ONCE):
        part = slice(start, start + COLUMNS_AT_ONCE)
        columns = spread_units(graph, points[part], np.arange(len(points[part])), alpha)
        between[:, part], given[part] = columns[points], columns.sum(axis=0)
    return between, given


def score_labels(between: FloatArray, given: FloatArray, classes: IntArray) -> FloatArray:
    """Return what the other labels say of every labelled point: one share per class, rows adding up to one.

    Each class is divided by all that its other labels give to the graph, so that a class with many labels has
    no advantage. The only label of its class has nobody to speak for it, and is not spoken against either.

    Parameters
    ----------
    between, given : arrays of shape (c, c) and (c,)
        From `spread_between`.
    classes : array of shape (c,)
        The class of every labelled point, numbered from 0.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.diagnostics.leave_one_out import score_labels
    >>> between = np.array([[0.5, 0.2, 0.0], [0.2, 0.5, 0.1], [0.0, 0.1, 0.5]])
    >>> score_labels(between, np.ones(3), np.array([0, 0, 1])).round(2)
    array([[1.  , 0.  ],
           [0.67, 0.33],
           [0.  , 1.  ]])
    """
    members = np.eye(int(classes.max()) + 1)[classes]
    others = between - np.diag(np.diag(between))
    amount = given @ members - given[:, None] * members
    scores = np.divide(others @ members, amount, out=np.zeros_like(amount), where=amount > 0)
    total = scores.sum(axis=1, keepdims=True)
    is_judged = (total > 0) & (members.sum(axis=0)[classes] > 1)[:, None]
    return np.divide(scores, total, out=members.copy(), where=is_judged)


def score_links(between: FloatArray, first: IntArray, second: IntArray, strengths: FloatArray) -> FloatArray:
    """Return the belief that other links spread to every linked pair: positive for together.

    Each is divided by the largest that links of strength one could spread there, |P_i| |P_j|.

    Parameters
    ----------
    between : array of shape (c, c)
        From `spread_between`.
    first, second : arrays of shape (m,)
        The two ends of every link, as places among the c points.
    strengths : array of shape (m,)
        Positive for must-links, negative for cannot-links.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.diagnostics.leave_one_out import score_links
    >>> score_links(np.eye(4), np.array([0, 2]), np.array([1, 3]), np.array([1.0, -1.0]))
    array([0., 0.])
    """
    known = np.zeros_like(between)
    known[first, second] = known[second, first] = strengths
    spread = np.einsum("ij,ij->i", between[first] @ known, between[second])
    diagonal = np.diag(between)
    own = strengths * (diagonal[first] * diagonal[second] + between[first, second] ** 2)
    lengths = np.linalg.norm(between, axis=1)
    return (spread - own) / (lengths[first] * lengths[second])
