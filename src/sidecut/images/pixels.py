"""A picture as rows, columns and channels of finite floating-point numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sidecut.checks import FloatArray


def as_pixels(image: npt.ArrayLike, *, volume: bool = False) -> FloatArray:
    """Return a picture as floats of shape (height, width, channels), without its alpha channel.

    Parameters
    ----------
    image : array of shape (height, width) or (height, width, 1 to 4)
        Grey, grey with alpha, RGB or RGBA. Unsigned integers are divided by the largest number of their type,
        so that white is 1 whether a picture has 8 or 16 bits; other numbers are taken as they are.
    volume : bool, default=False
        Take it as a volume of shape (depth, height, width), with or without channels.

    Returns
    -------
    array of shape (height, width, 1 or 3)
        Grey or colour; volumes have one axis more.

    Raises
    ------
    ValueError
        If it has another shape, no pixels, or values that are not finite; the pixel is named.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.images import as_pixels
    >>> as_pixels(np.array([[0, 255]], dtype=np.uint8))[..., 0]
    array([[0., 1.]])
    """
    values = np.asarray(image)
    n_axes = 3 if volume else 2
    _check_shape(values.shape, n_axes)
    if values.dtype.kind not in "buif":
        raise ValueError(f"An image of {values.dtype} values: expected real numbers.")
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        where = tuple(int(index) for index in np.argwhere(~np.isfinite(values))[0])
        raise ValueError(
            f"image[{', '.join(map(str, where))}] = {values[where]}: every pixel must be a finite number. "
            "Replace missing pixels first, for example by the mean of their neighbours."
        )
    pixels = values[..., None] if values.ndim == n_axes else values
    if pixels.shape[-1] in (2, 4):
        pixels = pixels[..., :-1]
    return np.ascontiguousarray(pixels, dtype=np.float64) / white_of(values.dtype)


def white_of(dtype: np.dtype[Any]) -> float:
    """Return the value of white: the largest number of an unsigned integer type, 1 for any other."""
    return float(np.iinfo(dtype).max) if dtype.kind == "u" else 1.0


def as_rgb(image: npt.ArrayLike) -> FloatArray:
    """Return a picture as RGB between 0 and 1, to be looked at; values beyond are stretched to fit."""
    pixels = as_pixels(image)
    low, high = min(float(pixels.min()), 0.0), max(float(pixels.max()), 1.0)
    return np.broadcast_to((pixels - low) / (high - low), (*pixels.shape[:2], 3)).copy()


def _check_shape(shape: tuple[int, ...], n_axes: int) -> None:
    is_picture = len(shape) == n_axes or (len(shape) == n_axes + 1 and 1 <= shape[-1] <= 4)
    if not is_picture:
        axes = "height, width" if n_axes == 2 else "depth, height, width"
        raise ValueError(
            f"An image of shape {shape}: expected ({axes}) for grey or ({axes}, channels) with "
            "at most 4 channels, the last axis being the colours. A volume needs a label image of the same "
            "shape."
        )
    if 0 in shape:
        raise ValueError(f"An image of shape {shape} has no pixels.")
