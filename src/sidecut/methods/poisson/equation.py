"""The Poisson equation on a signed graph, and labels spread by a random walk that forgets.

    A v = D^{-1/2} b,   u = D^{-1/2} v,   b = Σ_j w_j (y_j - ȳ) δ_j        (Calder et al., 2020)

is L u = b in the variables in which A has its eigenvalues between 0 and 2. On every component that is left
to itself the charges sum to zero, with a mean ȳ of its own; the potentials have mean zero there, weighed by
degrees.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.polynomial import chebyshev

from sidecut.arrays import FloatArray
from sidecut.exceptions import ConvergenceWarning, warn
from sidecut.methods.poisson.signed_graph import SignedGraph
from sidecut.spectral.problem import solve_columns
from sidecut.spectral.shifted import solve_shifted

#: Steps of conjugate gradients. A step more than there are nodes is never needed in exact arithmetic.
MAX_STEPS = 5_000
#: Up to so many points the equation is solved by all eigenvectors.
DENSE_NODES = 500
#: Smaller eigenvalues are rounding; charges have no part in the null vectors.
LEAST = 1e-12
#: How much of the walk goes on at every step where labels are spread: far, as a start for labels, and near,
#: which tells sizes better.
FAR, NEAR = 0.99, 0.95
#: Shares count even where little arrives, so that little must be right.
SPREAD_TOLERANCE = 1e-6


class Potentials(NamedTuple):
    """The solution of the Poisson equation."""

    values: FloatArray
    residual: float


def solve_poisson(signed: SignedGraph, sources: FloatArray, tolerance: float) -> Potentials:
    """Return the potentials of the charges of labels, one column per cluster.

    Parameters
    ----------
    signed : SignedGraph
        The graph with its links.
    sources : array of shape (n, n_clusters)
        Y, the weight of every anchor in the column of its cluster, not negative.
    tolerance : float
        The residual relative to the charges.

    Returns
    -------
    Potentials
        The values u and the largest relative residual of a column, computed anew.

    Warns
    -----
    ConvergenceWarning
        If the residual is larger than asked for.

    Examples
    --------
    On a path the potential is linear between the charges.

    >>> import numpy as np
    >>> from sidecut.graphs import as_graph
    >>> from sidecut.methods.poisson.equation import solve_poisson
    >>> from sidecut.methods.poisson.signed_graph import SignedGraph
    >>> path = as_graph(np.diag(np.ones(3), 1) + np.diag(np.ones(3), -1))
    >>> sources = np.array([[1.0, 0.0], [0.0, 0.0], [0.0, 0.0], [0.0, 1.0]])
    >>> solve_poisson(SignedGraph(path), sources, 1e-10).values[:, 0].round(6)
    array([ 0.75,  0.25, -0.25, -0.75])
    """
    null = signed.null_vectors
    charges = signed.scale[:, None] * balance_charges(signed, sources)
    charges -= null @ (null.T @ charges)
    if signed.n_nodes <= DENSE_NODES:
        values = _solve_densely(signed, charges)
    else:
        values = solve_columns(lambda block, _: signed.laplacian(block), charges, tolerance, MAX_STEPS)
    values -= null @ (null.T @ values)
    residual = _relative_residual(charges - signed.laplacian(values), charges)
    if residual > 10 * tolerance:
        warn(
            f"conjugate gradients left a relative residual of {residual:.1e} in the Poisson equation, asked "
            f"for {tolerance:.1e}: raise tol, or use more neighbours, so that the graph is better connected.",
            ConvergenceWarning,
        )
    return Potentials(signed.scale[:, None] * values, residual)


def _solve_densely(signed: SignedGraph, charges: FloatArray) -> FloatArray:
    """Solve by all eigenvectors: right even where pieces are held together by next to nothing."""
    values, vectors = np.linalg.eigh(signed.laplacian(np.eye(signed.n_nodes)))
    return np.asarray(vectors @ ((vectors.T @ charges) / np.maximum(values, LEAST)[:, None]))


def balance_charges(signed: SignedGraph, sources: FloatArray) -> FloatArray:
    """Return the charges b: in every component all clusters that have sources there have the same charge.

    With w_j = Y_j / Σ Y over the sources of a cluster in the component and m clusters there, b = w_j (y_j -
    1/m). The potential of cluster c is then Σ_j w_j G(., j), with G the Green's function, less the same for
    all clusters. By the maximum principle G(i, j) <= G(j, j), so that a single label of each cluster is
    right.
    """
    component = signed.components
    totals = np.column_stack([np.bincount(component, weights=column) for column in sources.T])
    present = totals > 0
    shares = sources / np.where(present, totals, 1.0)[component]
    n_present = np.maximum(present.sum(axis=1), 1)
    means = (present / n_present[:, None])[component]
    return shares - shares.sum(axis=1, keepdims=True) * means


def spread_labels(signed: SignedGraph, sources: FloatArray, *remembered: float) -> list[FloatArray]:
    """Return the share of every cluster in what reaches a point: (I - α S)⁻¹ Y, rows scaled to sum 1.

    The sources of every cluster sum up to the same, however many labels it has: else those with many would
    reach too far. Rows that nothing reaches are zero. Unlike potentials, shares do not depend on a constant
    per component, and they stay apart where clusters differ in size by orders of magnitude.

    Parameters
    ----------
    signed : SignedGraph
        The graph with its links.
    sources : array of shape (n, n_clusters)
        Y.
    *remembered : float
        Each α, between 0 and 1, the largest first.

    Returns
    -------
    list of arrays of shape (n, n_clusters)
        The shares for each α.
    """
    totals = sources.sum(axis=0)
    even = sources / np.where(totals > 0, totals / totals.mean(), 1.0)
    # I - α S = α (A + s I), s = (1 - α) / α; rows are scaled anyway.
    shifts = [(1.0 - alpha) / alpha for alpha in remembered]
    found = []
    for arrived in solve_shifted(signed.laplacian, even, shifts, SPREAD_TOLERANCE, MAX_STEPS):
        arrived = np.maximum(arrived, 0.0)
        everything = arrived.sum(axis=1, keepdims=True)
        found.append(np.divide(arrived, everything, out=np.zeros_like(arrived), where=everything > 0))
    return found


def _relative_residual(residual: FloatArray, charges: FloatArray) -> float:
    sizes = np.linalg.norm(charges, axis=0)
    return float((np.linalg.norm(residual, axis=0) / np.where(sizes > 0, sizes, 1.0)).max(initial=0.0))


# Functions of a Laplacian with its eigenvalues between 0 and 2, by Chebyshev polynomials.
#
# Diffusion for a time t takes a block X to e^{-tA} X; sources Y that are switched on all the while add ∫₀ᵗ
# e^{-sA} Y ds = φ_t(A) Y with φ_t(λ) = (1 - e^{-tλ}) / λ. Both are smooth on [0, 2], so that polynomials of
# a degree of about √t give them to any accuracy, with products as the only work.


Apply = Callable[[FloatArray], FloatArray]

#: Functions are matched to this; scores lie between 0 and 1.
ACCURACY = 1e-3
#: From so many nodes on heat flows in single precision, which takes half of the time in wide blocks.
SINGLE_NODES = 20_000


@dataclass(frozen=True, eq=False)
class Filter:
    """A polynomial of a Laplacian, in Chebyshev form on [0, 2].

    Parameters
    ----------
    coefficients : array of shape (degree + 1,)
        Of T_0, T_1, ...
    error : float
        A bound of its distance to the function it stands for, on [0, 2].

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.methods.poisson.equation import heat_filter
    >>> heat = heat_filter(10.0)
    >>> len(heat.coefficients) - 1
    11
    >>> laplacian = np.diag([0.0, 0.1, 2.0])
    >>> off = np.diag(heat(lambda X: laplacian @ X, np.eye(3))) - np.exp([0, -1, -20])
    >>> bool(abs(off).max() < heat.error)
    True
    """

    coefficients: FloatArray
    error: float

    def __call__(self, laplacian: Apply, block: FloatArray) -> FloatArray:
        """Return p(A) @ block, by Chebyshev's recurrence."""
        # T_0 = 1, T_1 = x, T_{j+1} = 2 x T_j - T_{j-1} with x = A - I.
        before, current = block, laplacian(block) - block
        # Python's own numbers leave a block in the precision that it has.
        first, second, *others = self.coefficients.tolist()
        result = first * before + second * current
        for coefficient in others:
            following = laplacian(current)
            following -= current
            following *= 2.0
            following -= before
            before, current = current, following
            result += coefficient * current
        return result


def heat_filter(time: float, accuracy: float = ACCURACY) -> Filter:
    """Return e^{-tλ} as a filter."""
    return fit_filter(lambda value: np.exp(-time * value), time, accuracy)


def heat_precision(n_nodes: int) -> type[np.floating]:
    """Return the type of numbers in which heat flows: the rounding of either is far below `ACCURACY`."""
    return np.float32 if n_nodes >= SINGLE_NODES else np.float64


def source_filter(time: float, accuracy: float = ACCURACY) -> Filter:
    """Return φ_t(λ) = (1 - e^{-tλ}) / λ as a filter; φ_t(0) = t."""

    def received(value: FloatArray) -> FloatArray:
        safe = np.where(value > 0, value, 1.0)
        return np.where(value > 0, -np.expm1(-time * value) / safe, time)

    return fit_filter(received, time, accuracy)


def fit_filter(function: Apply, time: float, accuracy: float) -> Filter:
    """Return the shortest Chebyshev series of a function of [0, 2] whose left-out terms sum up to little.

    Parameters
    ----------
    function : callable
        Values λ -> f(λ), smooth on the scale 1/`time`.
    time : float
        Not negative.
    accuracy : float
        The most that the left-out coefficients may sum up to, which bounds the error on [0, 2].
    """
    longest = int(20 + 8 * np.sqrt(time + 1.0) + 2 * min(time, 50.0))
    nodes = chebyshev.chebpts1(longest + 1)
    # Interpolation at Chebyshev points: the series is a discrete cosine transform of the values.
    series = chebyshev.chebvander(nodes, longest).T @ function(nodes + 1.0) * (2.0 / (longest + 1))
    series[0] /= 2.0
    tail = np.concatenate([np.cumsum(np.abs(series[::-1]))[::-1][1:], [0.0]])
    degree = max(int(np.argmax(tail <= accuracy)), 1)
    return Filter(series[: degree + 1], float(tail[degree]) + 1e-14)
