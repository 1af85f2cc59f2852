"""What the graph and all other knowledge say about one label or link, that one left out.

Knowledge spreads over the graph as E2CP spreads it, by P = (1 - α)(I - α Ā)⁻¹ with the normalised affinity Ā.

- A label: the scores of the classes at point i are Σ_j P_ij Y_j over the *other* labelled points j. To leave
  a label out is to leave out one term of the sum, so this is an exact refit without it.
- A label by features alone: ridge regression of the classes with a Gaussian kernel; see
  `score_labels_by_features`. This, too, is an exact refit without the label.
- A link (i, j) of strength q: the belief that has come to the pair is F_ij with F = P Z P (eq. 3 of E2CP).
  Its own share is q (P_ii P_jj + P_ij²), since Z holds q at (i, j) and at (j, i). F_ij less that share is
  what a refit without the link would give, exactly.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.special import softmax
from sklearn.metrics.pairwise import euclidean_distances

from sidecut.arrays import FloatArray, IntArray
from sidecut.exceptions import ConstraintError

#: Widths of the Gaussian kernel, in units of the median squared distance, and ridges λ that are tried.
WIDTHS, RIDGES = (0.25, 0.5, 1.0, 2.0), (0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
#: What is foretold becomes shares by the softmax of so many times it.
GAIN = 4.0
#: Of more labelled points than this the features are not looked at: the time grows with the cube.
MOST_BY_FEATURES = 2_000
#: So many points may be known at most: P between them is a square matrix of this many rows, 3 GB.
MOST_POINTS = 20_000


def check_amount(points: IntArray) -> None:
    """Refuse knowledge about more points than a square matrix has room for."""
    if len(points) > MOST_POINTS:
        raise ConstraintError(
            f"something is known about {len(points):,} points; at most {MOST_POINTS:,} are judged at a time. "
            "Judge a part: constraints.restricted_to(rows) and the same rows of X."
        )


def score_labels(between: FloatArray, given: FloatArray, classes: IntArray) -> FloatArray:
    """Return what the other labels say of every labelled point: one share per class, rows adding up to one.

    Each class is divided by all that its other labels give to the graph, so that a class with many labels has
    no advantage. Of the only label of its class the others foretell nothing: all classes are alike.

    Parameters
    ----------
    between, given : arrays of shape (c, c) and (c,)
        From `sidecut.diagnostics.spreading`.
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
           [0.5 , 0.5 ]])
    """
    members = np.eye(int(classes.max()) + 1)[classes]
    others = between - np.diag(np.diag(between))
    amount = given @ members - given[:, None] * members
    scores = np.divide(others @ members, amount, out=np.zeros_like(amount), where=amount > 0)
    total = scores.sum(axis=1, keepdims=True)
    is_judged = (total > 0) & (members.sum(axis=0)[classes] > 1)[:, None]
    alike = np.full_like(scores, 1.0 / scores.shape[1])
    return np.divide(scores, total, out=alike, where=is_judged)


def score_labels_by_features(rows: Any, classes: IntArray) -> list[FloatArray]:
    """Return what the other labels say of every labelled point by its features alone, for several settings.

    This is ridge regression of the classes with a Gaussian kernel, y = (K + 1)(K + 1 + λI)⁻¹ Y. With
    H = (K + 1 + λI)⁻¹, what a fit without point i foretells of it is Y_i - (H Y)_i / H_ii, exactly.

    Parameters
    ----------
    rows : array or sparse matrix of shape (c, n_features)
        The labelled points.
    classes : array of shape (c,)
        Their classes, numbered from 0.

    Returns
    -------
    list of arrays of shape (c, n_classes)
        For each width of the kernel and each λ; rows add up to one.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.diagnostics.leave_one_out import score_labels_by_features
    >>> rows = np.array([[0.0], [0.1], [0.2], [5.0], [5.1]])
    >>> score_labels_by_features(rows, np.array([0, 0, 1, 1, 1]))[1][2].round(2)
    array([0.98, 0.02])
    """
    members = np.eye(int(classes.max()) + 1)[classes]
    squared = euclidean_distances(rows, squared=True)
    apart = squared[squared > 0]
    unit = float(np.median(apart)) if apart.size else 1.0
    found = []
    for width in WIDTHS:
        values, vectors = np.linalg.eigh(np.exp(-squared / (width * unit)) + 1.0)
        for ridge in RIDGES:
            inverse = (vectors / (np.maximum(values, 0.0) + ridge)) @ vectors.T
            foretold = members - (inverse @ members) / np.diag(inverse)[:, None]
            found.append(softmax(GAIN * foretold, axis=1))
    return found


def score_links(between: FloatArray, first: IntArray, second: IntArray, strengths: FloatArray) -> FloatArray:
    """Return the belief that other links spread to every linked pair: positive for together.

    Each is divided by the largest that links of strength one could spread there, |P_i| |P_j|.

    Parameters
    ----------
    between : array of shape (c, c)
        From `sidecut.diagnostics.spreading`.
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
    ends = np.concatenate([first, second]), np.concatenate([second, first])
    known = sp.csr_array((np.concatenate([strengths, strengths]), ends), shape=between.shape)
    spread = np.einsum("ij,ij->i", (known @ between[first].T).T, between[second])
    diagonal = np.diag(between)
    own = strengths * (diagonal[first] * diagonal[second] + between[first, second] ** 2)
    lengths = np.linalg.norm(between, axis=1)
    return (spread - own) / (lengths[first] * lengths[second])
