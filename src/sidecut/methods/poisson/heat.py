"""Functions of a Laplacian with its eigenvalues between 0 and 2, by Chebyshev polynomials.

Diffusion for a time t takes a block X to e^{-tA} X; sources Y that are switched on all the while add ∫₀ᵗ
e^{-sA} Y ds = φ_t(A) Y with φ_t(λ) = (1 - e^{-tλ}) / λ. Both are smooth on [0, 2], so that polynomials of a
degree of about √t give them to any accuracy, with products as the only work.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.polynomial import chebyshev

from sidecut.arrays import FloatArray

Apply = Callable[[FloatArray], FloatArray]

#: Functions are matched to this; scores lie between 0 and 1.
ACCURACY = 1e-3


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
    >>> from sidecut.methods.poisson.heat import heat_filter
    >>> heat = heat_filter(10.0)
    >>> len(heat.coefficients) - 1
    11
    >>> laplacian = np.diag([0.0, 0.1, 2.0])
    >>> abs(np.diag(heat(lambda X: laplacian @ X, np.eye(3))) - np.exp([0, -1, -20])).max() < heat.error
    np.True_
    """

    coefficients: FloatArray
    error: float

    def __call__(self, laplacian: Apply, block: FloatArray) -> FloatArray:
        """Return p(A) @ block, by Chebyshev's recurrence."""
        # T_0 = 1, T_1 = x, T_{j+1} = 2 x T_j - T_{j-1} with x = A - I.
        before, current = block, laplacian(block) - block
        result = self.coefficients[0] * before + self.coefficients[1] * current
        for coefficient in self.coefficients[2:]:
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
