"""A bound on what was missed: Lanczos from a random start, on the complement of what was found.

Kuczyński and Woźniakowski (1992, theorem 4.2) bound the chance that the largest Ritz value θ of a random
start is poor: for a positive semidefinite operator on n dimensions, after j steps,

    P[θ < (1 - ε) λ_max] <= 1.648 √n exp(-√ε (2j - 1)).

Applied to C - λ_min and to λ_max - C, it holds at both ends of the spectrum of any self-adjoint C with the
spread S = λ_max - λ_min in place of λ_max. So, with a chance of failure of at most 2δ,

    λ_max <= θ_max + ε S   and   S <= (θ_max - θ_min) / (1 - 2ε),

which says how large an eigenvalue can hide in the complement of the vectors that were found.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh_tridiagonal

from sidecut.spectral.result import FloatArray

Operator = Callable[[FloatArray], FloatArray]

#: The chance we accept that a certificate from a random start is wrong.
FAILURE_PROBABILITY = 1e-8
#: Ritz values are looked at every so many steps.
STEPS_PER_CHECK = 10
#: Known vectors are projected out again at two steps out of so many.
STEPS_PER_PROJECTION = 8


@dataclass(frozen=True)
class ComplementBound:
    """What a random start learnt about the largest eigenvalue outside the vectors that were found.

    Attributes
    ----------
    lower : float
        The largest Ritz value: an eigenvalue at least this large is there for certain.
    upper : float
        No eigenvalue is larger than this, but for the chance `failure_probability`.
    steps : int
        How many products it took.
    failure_probability : float
        The chance that `upper` is wrong.
    """

    lower: float
    upper: float
    steps: int
    failure_probability: float


def bound_complement(
    apply: Operator,
    project: Operator,
    start: FloatArray,
    *,
    threshold: float,
    max_steps: int,
    weigh: Operator | None = None,
    condition: float = 1.0,
    failure_probability: float = FAILURE_PROBABILITY,
) -> ComplementBound:
    """Bound the largest eigenvalue of a self-adjoint operator on the complement of known vectors.

    Parameters
    ----------
    apply : callable
        The operator C.
    project : callable
        Removes the known eigenvectors from a vector.
    start : array of shape (n,)
        A standard normal random vector.
    threshold : float
        The question: is there an eigenvalue above this? The iteration stops as soon as that is answered.
    max_steps : int
        It also stops after this many products.
    weigh : callable, optional
        The inner product B in which C is self-adjoint; the ordinary one if left out.
    condition : float, default=1.0
        The condition number of B. A normal start is not uniform on the sphere of B; the loss is at most
        √condition in the bound, which enters through its logarithm only.
    failure_probability : float, default=1e-8
        The chance of error to accept.

    Returns
    -------
    ComplementBound
        Bounds from both sides.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.spectral.certificate import bound_complement
    >>> diagonal = np.linspace(0.0, 1.0, 200)
    >>> diagonal[-1] = 3.0
    >>> start = np.random.default_rng(0).standard_normal(200)
    >>> bound = bound_complement(lambda v: diagonal * v, lambda v: v, start, threshold=2.0, max_steps=100)
    >>> bool(bound.lower > 2.0)
    True
    """
    weigh = weigh or _unweighted
    # Two events may fail, one at either end of the spectrum.
    log_odds = np.log(2 * 1.648 * np.sqrt(start.size * condition) / failure_probability)
    diagonal: list[float] = []
    offdiagonal: list[float] = []
    current = project(start)
    current /= _norm(current, weigh)
    previous, beta = np.zeros_like(current), 0.0
    low, high = np.inf, -np.inf
    upper = np.inf
    while len(diagonal) < max_steps:
        image = apply(current)
        alpha = float(weigh(image) @ current)
        image = image - alpha * current - beta * previous
        diagonal.append(alpha)
        # Rounding brings the known vectors back, and the three-term recurrence makes them grow; two
        # consecutive steps have to be cleared for the recurrence to forget them.
        if len(diagonal) % STEPS_PER_PROJECTION < 2:
            image = project(image)
        due = len(diagonal) % STEPS_PER_CHECK == 0 or len(diagonal) == max_steps
        beta = _norm(image, weigh)
        exhausted = beta <= 1e-13 * max(abs(alpha), abs(high) if np.isfinite(high) else 0.0, 1e-300)
        if due or exhausted:
            low, high = _extreme_ritz_values(diagonal, offdiagonal)
            upper = high if exhausted else high + _slack(high - low, len(diagonal), log_odds)
            if upper < threshold or high > threshold or exhausted:
                break
        offdiagonal.append(beta)
        previous, current = current, image / beta
    return ComplementBound(high, upper, len(diagonal), failure_probability)


def _slack(spread: float, steps: int, log_odds: float) -> float:
    """Return ε S, how far the largest eigenvalue can lie above the largest Ritz value."""
    epsilon = (log_odds / (2 * steps - 1)) ** 2
    return epsilon * spread / (1 - 2 * epsilon) if epsilon < 0.5 else np.inf


def _extreme_ritz_values(diagonal: list[float], offdiagonal: list[float]) -> tuple[float, float]:
    order = len(diagonal)
    if order == 1:
        return diagonal[0], diagonal[0]
    d, e = np.asarray(diagonal), np.asarray(offdiagonal[: order - 1])
    low = eigh_tridiagonal(d, e, eigvals_only=True, select="i", select_range=(0, 0))[0]
    high = eigh_tridiagonal(d, e, eigvals_only=True, select="i", select_range=(order - 1, order - 1))[0]
    return float(low), float(high)


def _unweighted(vector: FloatArray) -> FloatArray:
    return vector


def _norm(vector: FloatArray, weigh: Operator) -> float:
    return float(np.sqrt(max(float(weigh(vector) @ vector), 0.0)))
