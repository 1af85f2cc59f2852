"""Marks of unequal size: beliefs in which every class counts alike."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp

from sidecut.arrays import IntArray
from sidecut.constraints import Constraints

#: Beliefs of unequal weight are kept pair by pair, so at most so many marked pixels take part, of a class
#: and in all.
MOST_OF_A_CLASS = 500
MOST_IN_ALL = 2_000
#: The share of what a perfect cut attains that β asks for.
SHARE = 0.5


def balanced_constraints(codes: IntArray) -> Constraints:
    """Return what marks say about pairs, weighed so that every class counts alike.

    With as many marks of every class this is ``Constraints.from_labels``. Otherwise a pair of marks has the
    weight w_i w_j, where w is inverse to the number of marks of a class. Unweighed, the cut u = 1 satisfies
    most of the beliefs as soon as one class has most of the marks, and the least cut that satisfies more
    is a poor one: 100 marks on one of two discs and 25 on the other are enough to lose the smaller.

    Parameters
    ----------
    codes : array of any shape
        The class of every pixel, -1 where it is unknown. Of classes with more than 500 marks (or 2,000 by the
        number of classes, if that is fewer), so many take part, evenly spread.

    Returns
    -------
    Constraints
        On all pixels, in reading order.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.images.balance import balanced_constraints
    >>> balanced_constraints(np.array([0, 0, 1, -1])).as_matrix().toarray()
    array([[ 0.5625,  0.5625, -1.125 ,  0.    ],
           [ 0.5625,  0.5625, -1.125 ,  0.    ],
           [-1.125 , -1.125 ,  2.25  ,  0.    ],
           [ 0.    ,  0.    ,  0.    ,  0.    ]])
    """
    codes = _thinned(codes.ravel())
    if _are_equal(codes):
        return Constraints.from_labels(codes)
    points = np.flatnonzero(codes >= 0)
    classes = codes[points]
    counts = np.bincount(classes)
    weights = (points.size / np.count_nonzero(counts) / counts[classes])[:, None]
    beliefs = np.where(classes[:, None] == classes, 1.0, -1.0) * weights * weights.T
    rows, columns = np.repeat(points, points.size), np.tile(points, points.size)
    shape = (codes.size, codes.size)
    return Constraints.from_matrix(sp.csr_array((beliefs.ravel(), (rows, columns)), shape=shape))


def most_of_a_class(n_classes: int) -> int:
    """Return how many marks of each class take part in balanced constraints, at most.

    Examples
    --------
    >>> from sidecut.images.balance import most_of_a_class
    >>> most_of_a_class(2), most_of_a_class(10)
    (500, 200)
    """
    return max(1, min(MOST_OF_A_CLASS, MOST_IN_ALL // max(n_classes, 1)))


def attainable_beta(counts: Sequence[int] | IntArray, n_pixels: int) -> tuple[str, float]:
    """Return the rule for CSP's β: half of what a cut into flat segments attains when it keeps all marks.

    A cut u = ±1 that keeps the marks of c pixels has uᵀQu = c², while λ_max vol, the bound of eq. 19, is
    about c N: only a cut with all its weight on the marked pixels comes near it. A fixed share of that bound
    therefore asks for spikes around the marks where N is much larger than c, and leaves the sign of all other
    pixels to a tail that fades exponentially. With c / N times the bound, segments can be flat. Where classes
    are balanced by weights, c is K times the harmonic mean of their numbers of marks.

    Parameters
    ----------
    counts : sequence of int
        The number of marks of every class that take part.
    n_pixels : int
        N.

    Returns
    -------
    ("fraction", float)
        For ``CSP(beta=...)``. It is 0.5, the least that eq. 19 asks for, where only one class is marked: the
        uniform cut attains c² as well then, and others have to exceed it by far.

    Examples
    --------
    >>> from sidecut.images import attainable_beta
    >>> attainable_beta([50, 50], 10_000)
    ('fraction', 0.005)
    >>> attainable_beta([25], 10_000)
    ('fraction', 0.5)
    """
    marked = np.array([count for count in counts if count > 0], dtype=np.float64)
    if not 1 <= marked.sum() <= n_pixels:
        raise ValueError(
            f"{int(marked.sum())} of {n_pixels} pixels are marked: at least one must be, at most all."
        )
    if marked.size == 1:
        return "fraction", SHARE
    return "fraction", float(SHARE * marked.size**2 / np.sum(1.0 / marked) / n_pixels)


def _are_equal(codes: IntArray) -> bool:
    counts = np.bincount(codes[codes >= 0])
    return np.unique(counts[counts > 0]).size <= 1


def _thinned(codes: IntArray) -> IntArray:
    """Return the codes with at most so many marks of every class, evenly spread in reading order."""
    thinned = np.full_like(codes, -1)
    present = np.unique(codes[codes >= 0])
    for code in present:
        marks = np.flatnonzero(codes == code)
        most = most_of_a_class(present.size)
        if marks.size > most:
            marks = marks[np.linspace(0, marks.size - 1, most).round().astype(np.intp)]
        thinned[marks] = code
    return thinned
