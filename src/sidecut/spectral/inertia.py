"""Where to put a shift so that a count of eigenvalues below it says most."""

from __future__ import annotations

import numpy as np

from sidecut.spectral.result import FloatArray

#: Eigenvalues closer than this, relative to the last one asked for, are taken to coincide.
COINCIDENCE = 1e-6
#: Where in the gap the shift is put. Not in the middle: where the spectrum is symmetric that would often be
#: 1, where the diagonal of L̄ - 1 and with it every pivot is zero.
PLACE = 0.45
#: Where no gap follows the wanted values, the shift is put this close before the value they share.
CLOSE = 1e-3


def separating_shift(
    values: FloatArray, wanted: int, *, error: float = 0.0, bottom: float = -np.inf
) -> tuple[int, float]:
    """Return how many values lie below a shift, and the shift, in the widest gap past the wanted values.

    Where the last wanted value coincides with all that follow it, the problem does not single it out: the
    shift is put right before that value.

    Parameters
    ----------
    values : array of shape (k,)
        Eigenvalues, ascending.
    wanted : int
        How many of them should lie below.
    error : float, default=0.0
        How far off they may be.
    bottom : float, default=-inf
        An eigenvalue known to lie below all of them.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.spectral.inertia import separating_shift
    >>> separating_shift(np.array([0.0, 1.0, 5.0]), 1)
    (2, 2.8)
    >>> separating_shift(np.array([1.0, 2.0, 2.0, 2.0]), 2)
    (1, 1.998)
    """
    resolution = max(COINCIDENCE * abs(values[wanted - 1]), 4 * error)
    gaps = np.diff(values)
    past = gaps[wanted - 1 :]
    if past.size and past.max() > resolution:
        below = wanted + int(np.argmax(past))
        return below, float((1 - PLACE) * values[below - 1] + PLACE * values[below])
    apart = np.flatnonzero(gaps[: wanted - 1] > resolution)
    below = int(apart[-1]) + 1 if apart.size else 0
    lower = values[below - 1] if below else bottom
    # The shared value may be zero up to rounding; the others say what is close to it.
    scale = max(abs(values[below]), CLOSE * float(np.abs(values).max())) or 1.0
    return below, float(values[below] - min(CLOSE * scale, 0.5 * (values[below] - lower)))
