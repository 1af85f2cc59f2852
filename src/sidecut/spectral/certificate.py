"""Eigenpairs, the certificate that none is missing, and the bound behind it: Lanczos from a random start.

Kuczyński and Woźniakowski (1992, theorem 4.2) bound the chance that the largest Ritz value θ of a random
start is poor. The reason, which also shows why the iteration may stop at any step: let C have its
spectrum in [0, 1] with 1 attained, let b₁ be the part of the start along the eigenvector of 1 and r the rest.
If θ < 1 - ε after j steps, then Σ bᵢ² p(λᵢ)² (λᵢ - 1 + ε) < 0 for every polynomial p of degree j - 1. The odd
Chebyshev polynomial T of degree 2j - 1 in √(1 - ε - λ), divided by that root, is such a p; with it

    |b₁| / ‖r‖ < 1 / sinh((2j - 1) artanh √ε),    which has probability <= √(2n/π) / sinh(...).

Take ε_j so that the right-hand side is one number t for all j: every failure, at whatever step, is then the
same event |b₁| < t ‖r‖, and the iteration may stop when it likes. Applied to C - λ_min and to λ_max - C, this
bounds both ends of the spectrum of any self-adjoint C, with S = λ_max - λ_min in place of 1. So, but for two
such events,

    λ_max <= θ_max + ε S   and   S <= (θ_max - θ_min) / (1 - 2ε),

which says how large an eigenvalue can hide in the complement of the vectors that were found.

That holds whatever the spectrum. The run itself knows more: with p the characteristic polynomial of the
tridiagonal matrix, ‖p(C) v‖ = β₁ ... β_j for the unit start v, so that an eigenvalue λ above the Ritz values
has |b₁| p(λ) <= β₁ ... β_j. But for the same event |b₁| < t, p(λ) <= β₁ ... β_j / t. Ritz values that have
settled on single eigenvalues no longer slow this bound down; it often needs half the steps. The smaller of
the two is taken.

The vectors V that were found have residuals R = C V - V Θ. By Weyl's inequality the eigenvalues of C differ
by at most ‖R‖ from those of Θ together with those of C on the complement of V; both bounds give way by that
much.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.linalg import eigh_tridiagonal

from sidecut.checks import FloatArray

if TYPE_CHECKING:
    import pandas as pd

Operator = Callable[[FloatArray], FloatArray]

#: The accepted chance that a certificate from a random start is wrong.
FAILURE_PROBABILITY = 1e-8
#: A certificate that reaches this share of the last eigenvalue asked for is accepted.
MIN_COVERAGE = 0.9
#: Rounding may bring known vectors back, up to this share of a Lanczos vector; Ritz values err by its square.
MAX_DRIFT = 1e-5
#: The rounding of a long run, relative to the norm; eigenvalues of L̄ that are closer count as equal.
ROUNDING = 1e-13


class RitzPairs(NamedTuple):
    """The result of Rayleigh-Ritz on a basis: values in order, orthonormal vectors, norms of residuals."""

    values: FloatArray
    vectors: FloatArray
    residuals: FloatArray


@dataclass(frozen=True)
class Certificate:
    """The reason to believe that no eigenvector was missed.

    Small residuals prove that the eigenpairs found are right; they say nothing about others. A certificate
    does.

    Attributes
    ----------
    method : str
        "full decomposition", "inertia", "random start", "components" or "none".
    certified_below : float
        Every eigenvalue below this number has been found. For the end of the spectrum that was asked for;
        with `which="largest"` read it as "above".
    failure_probability : float
        The chance that the statement is wrong; 0 where it is a proof up to rounding, which does not separate
        eigenvalues that differ by less than 1e-13.
    complete : bool
        The statement covers all eigenvalues that were asked for.
    detail : str
        The statement in words.
    """

    method: str
    certified_below: float
    failure_probability: float
    complete: bool
    detail: str

    @property
    def is_proof(self) -> bool:
        """True where the certificate does not rest on chance."""
        return self.complete and self.failure_probability == 0.0

    def __str__(self) -> str:
        return self.detail


#: Of vectors whose certificate is made when `Eigenpairs.prove` is called.
PENDING = Certificate("none", 0.0, 1.0, False, "Not certified yet.")
#: Of vectors that only span nearly the space of the eigenvectors.
NOT_CERTIFIED = Certificate(
    "none", 0.0, 1.0, False, "Not certified: a rough start or sketch was asked for, and no check was made."
)


@dataclass(frozen=True, repr=False)
class Eigenpairs:
    """Eigenvalues and eigenvectors, with their residuals, the solver that ran and its certificate.

    Attributes
    ----------
    values : array of shape (k,)
        Eigenvalues, from the end of the spectrum that was asked for inwards.
    vectors : array of shape (n, k)
        Orthonormal eigenvectors (in the inner product of the problem), the largest entry of each positive.
    residuals : array of shape (k,)
        The norm of the residual of each pair.
    solver : str
        Which solver ran, in words.
    certificate : Certificate
        How sure it is that no eigenvector was missed.
    prove : callable, optional
        Makes the certificate, where it is still pending.
    """

    values: FloatArray
    vectors: FloatArray
    residuals: FloatArray
    solver: str
    certificate: Certificate
    prove: Callable[[], Certificate] | None = None

    def __repr__(self) -> str:
        shown = ", ".join(f"{value:.4g}" for value in self.values[:8]) + (
            ", ..." if len(self.values) > 8 else ""
        )
        n, k = self.vectors.shape
        return f"Eigenpairs({k} of {n}: {shown}; by {self.solver}. {self.certificate})"

    def to_frame(self) -> pd.DataFrame:
        """Return a table of the eigenvalues and the norms of their residuals.

        Examples
        --------
        >>> from sidecut.graphs import as_graph
        >>> from sidecut.spectral import laplacian_eigenpairs
        >>> pairs = laplacian_eigenpairs(as_graph([[0, 1, 0], [1, 0, 1], [0, 1, 0]]), 3)
        >>> pairs
        Eigenpairs(3 of 3: ...)
        >>> pairs.to_frame()["eigenvalue"].round(6).abs().tolist()
        [0.0, 1.0, 2.0]
        """
        import pandas

        return pandas.DataFrame({"eigenvalue": self.values, "residual": self.residuals})


@dataclass(frozen=True)
class ComplementBound:
    """Bounds of the largest eigenvalue outside the vectors that were found."""

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
    acceptable: float | None = None,
    known: float = np.inf,
    residual: float = 0.0,
    failure_probability: float = FAILURE_PROBABILITY,
) -> ComplementBound:
    """Bound the largest eigenvalue of a symmetric operator on the complement of known vectors."""
    odds = start_odds(start.size, failure_probability)
    acceptable = threshold if acceptable is None else max(acceptable, threshold)
    space = _KrylovSpace(apply, project, known, residual)
    if not space.begin(start):
        return ComplementBound(-np.inf, -np.inf, 0, failure_probability)
    while True:
        space.extend()
        # Ritz values are computed every ten steps.
        if space.steps % 10 and space.steps < max_steps and not space.is_exhausted:
            continue
        low, high = space.extreme_ritz_values()
        error = space.ritz_error(max(abs(low), abs(high)))
        slack = min(chebyshev_slack(odds, high - low, space.steps), space.recurrence_slack(odds))
        upper = high + error + slack
        # Ritz values only move apart. The bound from the recurrence was never seen to be better than the one
        # after three times as many steps. So, unless the space can be exhausted, no better one will come.
        hope = chebyshev_slack(odds, high - low, 3 * max_steps) if max_steps < start.size else 0.0
        attainable = high + error + hope
        target = threshold if attainable < threshold else acceptable
        if upper < target or high - error > threshold or attainable >= target:
            break
        if space.is_exhausted or space.steps >= max_steps:
            break
    return ComplementBound(high - error, upper, space.steps, failure_probability)


def start_odds(n: int, failure_probability: float) -> float:
    """Return 1/t with 2 √(2n/π) t = failure probability: either end of the spectrum may fail."""
    return float(2.0 * np.sqrt(2.0 * n / np.pi) / failure_probability)


def chebyshev_slack(odds: float, spread: float, steps: int) -> float:
    """Return ε S, how far the largest eigenvalue can lie above the largest Ritz value."""
    epsilon = np.tanh(np.arcsinh(odds) / (2 * steps - 1)) ** 2
    return float(epsilon * spread / (1 - 2 * epsilon)) if epsilon < 0.5 else np.inf


@dataclass
class _KrylovSpace:
    """The Lanczos recurrence without reorthogonalisation, except against the known vectors."""

    apply: Operator
    project: Operator
    known: float
    residual: float
    diagonal: list[float] = field(default_factory=list)
    offdiagonal: list[float] = field(default_factory=list)

    def begin(self, start: FloatArray) -> bool:
        """Take the start; say whether anything of it lies outside the known vectors."""
        current = self.project(start)
        size = float(np.linalg.norm(current))
        self.current, self.previous = current / (size or 1.0), np.zeros_like(current)
        self.beta = self.scale = 0.0
        self.drift = self.previous_drift = self._leak = max(self.residual, np.finfo(float).eps)
        return size > 1e-10 * float(np.linalg.norm(start))

    @property
    def steps(self) -> int:
        return len(self.diagonal)

    @property
    def is_exhausted(self) -> bool:
        return self.beta <= ROUNDING * self.scale

    def ritz_error(self, largest: float) -> float:
        """Return the error of Ritz values from residuals, rounding and known vectors that come back."""
        drift = 4 * MAX_DRIFT**2 * self.known if np.isfinite(self.known) else 0.0
        return max(self.residual, ROUNDING * largest) + drift

    def extend(self) -> None:
        if self.steps:
            self.offdiagonal.append(self.beta)
        image = self.apply(self.current)
        alpha = float(image @ self.current)
        image = image - alpha * self.current - self.beta * self.previous
        before, self.beta = self.beta, float(np.linalg.norm(image))
        # The share of the known vectors grows with the three-term recurrence, until they are removed again.
        grown = (self.known + abs(alpha)) * self.drift + before * self.previous_drift + self._leak
        self.previous_drift = self.drift
        self.drift = grown / self.beta if self.beta > 0 else np.inf
        if self.drift > MAX_DRIFT:
            self.drift = self._leak
            image = self.project(image)
            self.beta = float(np.linalg.norm(image))
        self.diagonal.append(alpha)
        self.scale = max(self.scale, abs(alpha), self.beta)
        self.previous, self.current = self.current, image / (self.beta or 1.0)

    def extreme_ritz_values(self) -> tuple[float, float]:
        d, e = np.asarray(self.diagonal), np.asarray(self.offdiagonal)
        if d.size == 1:
            return float(d[0]), float(d[0])
        ends = [
            eigh_tridiagonal(d, e, eigvals_only=True, select="i", select_range=(i, i))[0]
            for i in (0, d.size - 1)
        ]
        return float(ends[0]), float(ends[1])

    def recurrence_slack(self, odds: float) -> float:
        """Return how far above the Ritz values the largest eigenvalue can lie, by the recurrence itself."""
        # The part of the start in the eigenvector of λ is (β₁ ... β_j) / |(λ - θ₁) ... (λ - θ_j)| times a
        # number of at most one, and that part is at least t. The largest such λ is found by bisection.
        if self.beta == 0.0:
            return 0.0
        betas = np.array([*self.offdiagonal, self.beta])
        below = eigh_tridiagonal(np.asarray(self.diagonal), betas[:-1], eigvals_only=True)
        below = below[-1] - below
        allowed = np.log(odds) + np.log(betas).sum()
        low, high = 0.0, float(np.exp(allowed / betas.size))
        for _ in range(60):
            middle = 0.5 * (low + high)
            reached = middle > 0 and np.log(middle + below).sum() > allowed
            low, high = (low, middle) if reached else (middle, high)
        return high


def random_start_certificate(
    bound: ComplementBound, certified_below: float, smallest_seen: float, last_wanted: float
) -> Certificate:
    """Put the bound of a random start into words."""
    if smallest_seen < last_wanted:
        detail = (
            f"An eigenvalue of at most {smallest_seen:.3g} was missed; the last found is {last_wanted:.3g}."
        )
        return Certificate("random start", certified_below, 1.0, False, detail)
    complete = certified_below >= last_wanted
    products = f"{bound.steps} products from a random start"
    if certified_below > 0:
        detail = (
            f"No eigenvalue below {certified_below:.3g} was missed, but for a chance of "
            f"{bound.failure_probability:.0e} ({products})."
        )
    else:
        detail = f"No eigenvalue was seen to be missed, but {products} are too few to exclude it."
    if not complete:
        detail += (
            f" The last one asked for is {last_wanted:.3g}: others between the two may have as good a claim."
        )
    return Certificate("random start", certified_below, bound.failure_probability, complete, detail)
