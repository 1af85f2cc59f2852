"""Colours as eyes see them: distances in Lab are about as large as they look."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]

#: From linear RGB (sRGB primaries) to XYZ relative to daylight D65, IEC 61966-2-1.
_XYZ = np.array(
    [[0.412453, 0.357580, 0.180423], [0.212671, 0.715160, 0.072169], [0.019334, 0.119193, 0.950227]]
) / np.array([[0.95047], [1.0], [1.08883]])
#: From XYZ, after the cube root, to L, a and b (CIE 1976).
_LAB = np.array([[0.0, 116.0, 0.0], [500.0, -500.0, 0.0], [0.0, 200.0, -200.0]])


def as_lab(pixels: npt.NDArray) -> FloatArray:
    """Return pixels in Lab, where black is 0 and white 100; grey pixels keep one channel.

    Parameters
    ----------
    pixels : array of shape (..., 1 or 3)
        Grey, or RGB, between 0 and 1.

    Returns
    -------
    array of shape (..., 1 or 3)
        100 times the grey, or L, a and b.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.images.color import as_lab
    >>> as_lab(np.array([[1.0, 1.0, 1.0], [1.0, 0.0, 0.0]])).round() + 0.0
    array([[100.,   0.,   0.],
           [ 53.,  80.,  67.]])
    """
    values = np.asarray(pixels, dtype=np.float64)
    if values.shape[-1] != 3:
        return 100.0 * values
    light = np.where(values > 0.04045, ((values + 0.055) / 1.055) ** 2.4, values / 12.92)
    xyz = light @ _XYZ.T
    root = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16.0 / 116.0)
    lab = root @ _LAB.T
    lab[..., 0] -= 16.0
    return lab


def in_unit_range(pixels: FloatArray) -> FloatArray:
    """Return pixels between 0 and 1: as they are if they lie there, stretched to fit if they do not.

    Parameters
    ----------
    pixels : array
        Of `as_pixels`; floats and signed integers may have any range.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.images.color import in_unit_range
    >>> in_unit_range(np.array([-1000.0, 0.0, 3000.0]))
    array([0.  , 0.25, 1.  ])
    """
    low, high = float(pixels.min()), float(pixels.max())
    if low >= 0.0 and high <= 1.0:
        return pixels
    return (pixels - low) / max(high - low, np.finfo(float).tiny)
