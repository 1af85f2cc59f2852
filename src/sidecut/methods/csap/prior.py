"""A graph as a covariance: what its diagonal needs so that K is positive semidefinite as a whole.

Conditioning takes F Fᵀ from K, and |K̄_ij| ≤ √(K_ii K_jj) holds only where all of K is a covariance. It is
not enough that the block of the linked points is one: a direction a with aᵀKa near zero and Ka far from zero
would make affinities of the size of 1/ε².
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import eigh
from scipy.sparse.linalg import LinearOperator

from sidecut.arrays import FloatArray, IntArray
from sidecut.graphs import GaussianGraph, Graph, HeatGraph, columns_of
from sidecut.spectral.lanczos import largest_eigenvectors

#: A negative eigenvalue below this share of the largest degree is not rounding: the graph is no covariance.
INDEFINITE = 1e-10
#: Points without links have this many times the variance that K needs with one variance for all. The more,
#: the less the linked points need, and the further their links reach. Set on wine, iris, digits and moons.
FREE_VARIANCE = 1.5
#: The shift is larger than needed by this share of the one for the whole graph, so that rounding is safe.
MARGIN = 0.01
#: Up to this many nodes the smallest eigenvalue is computed densely.
SMALL = 400
#: How exactly Lanczos finds the smallest eigenvalue, as a share of the largest.
TOLERANCE = 1e-6
#: The same where variances need not be exact.
ROUGH = 1e-2
#: A start from a vector that is near has so large a random part.
NEARNESS = 0.1
#: From such a start, and roughly, so many products are enough to begin with.
FEW_PRODUCTS = 12
#: Newton's steps to the least shift; each is a smallest eigenvalue. The rest is made up for in full.
NEWTON_STEPS = 8


@dataclass(frozen=True)
class Prior:
    """The covariance K of a graph: its affinities, and a diagonal that makes them a covariance.

    Parameters
    ----------
    graph : Graph
        The affinities W.
    points : array of shape (c,)
        The linked points.
    added : array of shape (n,)
        K = W + diag(added).
    shift : float
        What was added to the variance of linked points beyond the one of a Gaussian kernel.
    """

    graph: Graph
    points: IntArray
    added: FloatArray
    shift: float

    @cached_property
    def columns(self) -> Any:
        """K[:, points] for the linked points, dense or sparse as the graph is."""
        return _columns(self.graph, self.points, self.added)


def make_prior(graph: Graph, points: IntArray, tolerance: float = TOLERANCE) -> Prior:
    """Return the covariance K of a graph whose links are between some points.

    K is the affinity of the graph, where a point without a self-loop has affinity one with itself, as in a
    Gaussian kernel. Where that is no covariance (k-nearest-neighbour and self-tuning graphs need not be one),
    variances are raised: those of linked points by the least that makes the whole of K positive semidefinite,
    those of the others, which conditioning does not read, to 1.5 times what one variance for all would be.

    Parameters
    ----------
    graph : Graph
        The affinities.
    points : array of shape (c,)
        The linked points.
    tolerance : float, default=1e-6
        How exactly smallest eigenvalues are found, as a share of the largest.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.graphs import as_graph
    >>> from sidecut.methods.csap.prior import make_prior
    >>> make_prior(as_graph(np.array([[0.0, 0.5], [0.5, 0.0]])), np.array([0, 1])).columns
    array([[1. , 0.5],
           [0.5, 1. ]])
    >>> star = np.zeros((5, 5))
    >>> star[0, 1:] = star[1:, 0] = 1.0
    >>> prior = make_prior(as_graph(star), np.array([0, 1]))
    >>> bool(np.linalg.eigvalsh(star + np.diag(prior.added))[0] > 0), round(prior.shift, 2)
    (True, 0.63)
    """
    loops = _loops(graph)
    added = np.where(loops > 0, 0.0, 1.0)
    shift = 0.0
    if not isinstance(graph, GaussianGraph | HeatGraph):
        added, shift = _raise_variances(graph, loops, added, points, tolerance)
    return Prior(graph, points, added, shift)


def _loops(graph: Graph) -> FloatArray:
    """The self-loops, where they can be read; a graph that is only applied is taken to have none."""
    if graph.matrix is not None:
        return np.asarray(graph.matrix.diagonal(), dtype=np.float64)
    return np.zeros(graph.n_nodes)


def _columns(graph: Graph, points: IntArray, added: FloatArray) -> Any:
    places = np.arange(len(points))
    if sp.issparse(graph.matrix):
        extra = sp.csc_array((added[points], (points, places)), shape=(graph.n_nodes, len(points)))
        return sp.csc_array(sp.csc_array(graph.matrix)[:, points] + extra)
    columns = columns_of(graph, points)
    # A graph that is only applied may have loops after all, as heat has: then nothing is added to them.
    own = columns[points, places]
    unread = graph.matrix is None and isinstance(graph, GaussianGraph | HeatGraph)
    columns[points, places] = np.where(own > 0, own, added[points]) if unread else own + added[points]
    return columns


def _raise_variances(
    graph: Graph, loops: FloatArray, added: FloatArray, points: IntArray, tolerance: float
) -> tuple[FloatArray, float]:
    """Return what is added to the diagonal so that K is a covariance, and the shift at the points."""
    lowest, vector = smallest_eigenpair(graph, added, tolerance)
    if lowest >= -INDEFINITE * max(float(graph.degrees.max(initial=0.0)), 1.0):
        return added, 0.0
    raised = FREE_VARIANCE * (loops + added - lowest) - loops
    raised[points] = added[points]
    shift = 0.0
    for _ in range(NEWTON_STEPS):
        value, vector = smallest_eigenpair(graph, _with_shift(raised, points, shift), tolerance, vector)
        here = float(np.square(vector[points]).sum())
        # No more exactly than the value is known; the margin is larger than either.
        if value >= max(1e-3 * MARGIN, tolerance) * lowest or shift >= -lowest:
            break
        # The smallest eigenvalue is concave in the shift, so that Newton's steps come from below.
        shift = min(shift - value / max(here, 1e-3), -lowest)
    else:
        shift = -lowest
    # All of it, for the points too, is positive semidefinite for certain.
    shift = min(shift - MARGIN * lowest, -(1.0 + MARGIN) * lowest) if shift > 0 else 0.0
    return _with_shift(raised, points, shift), shift


def _with_shift(added: FloatArray, points: IntArray, shift: float) -> FloatArray:
    shifted = added.copy()
    shifted[points] += shift
    return shifted


def smallest_eigenpair(
    graph: Graph, added: FloatArray, tolerance: float = TOLERANCE, near: FloatArray | None = None
) -> tuple[float, FloatArray]:
    """Return the smallest eigenvalue of W + diag(added) and its eigenvector.

    Parameters
    ----------
    graph : Graph
        W, in any form.
    added : array of shape (n,)
        What is added to its diagonal.
    tolerance : float, default=1e-6
        How exactly, as a share of the largest eigenvalue.
    near : array of shape (n,), optional
        A unit vector near the eigenvector, to start from.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.graphs import as_graph
    >>> from sidecut.methods.csap.prior import smallest_eigenpair
    >>> value, vector = smallest_eigenpair(as_graph(np.array([[0.0, 2.0], [2.0, 0.0]])), np.ones(2))
    >>> round(value, 6), np.abs(vector).round(3)
    (-1.0, array([0.707, 0.707]))
    """
    n = graph.n_nodes
    if n <= SMALL:
        values, vectors = eigh(graph.toarray() + np.diag(added), subset_by_index=[0, 0])
        return float(values[0]), vectors[:, 0]
    # Twice the largest degree bounds the spectrum; what is large of its distance to K is small of K.
    top = 2.0 * float(graph.degrees.max(initial=0.0)) + float(added.max())
    operator = LinearOperator((n, n), matvec=lambda v: top * v - graph.apply(v) - added * v, dtype=np.float64)
    rng = np.random.RandomState(0)
    start = rng.standard_normal(n)
    if near is not None:
        # Some of everything stays in: the vector that is looked for may be another.
        start = near + NEARNESS * start / np.linalg.norm(start)
    width = FEW_PRODUCTS if near is not None and tolerance >= ROUGH else None
    vector = largest_eigenvectors(operator, 1, start, rng, tolerance=tolerance, width=width)[:, 0]
    return top - float(vector @ operator.matvec(vector)), vector
