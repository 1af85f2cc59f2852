"""A picture to try things on: two discs that no unsupervised cut would tell apart."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_random_state

from sidecut.images.pixels import FloatArray


def touching_discs(
    height: int = 48,
    width: int = 72,
    *,
    noise: float = 0.03,
    random_state: int | np.random.RandomState | None = None,
) -> tuple[FloatArray, npt.NDArray[np.intp]]:
    """Make a picture of two dark discs that touch, on a background that grows brighter, with noise.

    The discs have the same grey and a common border: like two animals side by side, they can be told apart
    only by someone who knows that they are two.

    Parameters
    ----------
    height, width : int
        The size in pixels; the discs grow with it.
    noise : float, default=0.03
        Standard deviation of the noise; white is 1.
    random_state : int, RandomState or None
        For the noise.

    Returns
    -------
    image : array of shape (height, width)
        Grey values between 0 and 1.
    truth : array of shape (height, width)
        0 background, 1 left disc, 2 right disc.

    Examples
    --------
    >>> from sidecut.images import touching_discs
    >>> image, truth = touching_discs(random_state=0)
    >>> image.shape, [int((truth == part).sum()) > 500 for part in range(3)]
    ((48, 72), [True, True, True])
    """
    rows, columns = np.mgrid[:height, :width]
    radius = 0.3 * min(height, 0.72 * width)
    # A little closer than two radii: the discs share a border a third as long as they are high.
    apart = 1.9 * radius
    centers = [((height - 1) / 2, (width - 1) / 2 + side * apart / 2) for side in (-1, 1)]
    distances = np.stack([np.hypot(rows - row, columns - column) for row, column in centers])
    truth = np.where(distances.min(axis=0) <= radius, 1 + distances.argmin(axis=0), 0)
    background = 0.55 + 0.35 * columns / max(width - 1, 1)
    image = np.where(truth > 0, 0.3, background)
    image = image + noise * check_random_state(random_state).normal(size=image.shape)
    return np.clip(image, 0.0, 1.0), truth
