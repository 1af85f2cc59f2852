"""Strokes of colour on a picture: which pixels are marked, and which colours are classes."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sidecut.arrays import BoolArray
from sidecut.exceptions import ConstraintError
from sidecut.images.pixels import as_pixels, white_of

#: A colour is saturated if its strongest and weakest channel differ by at least this share of white.
SATURATED = 0.4
#: Two colours closer than this in every channel are the same: half a step of 8 bits.
SAME = 0.5 / 255
#: A layer pixel counts as drawn if it is at least half opaque.
OPAQUE = 0.5
#: More colours than this are not drawn by a person; they are blends.
MAX_COLORS = 16


def stroke_classes(
    strokes: npt.ArrayLike, image: npt.ArrayLike
) -> tuple[BoolArray, npt.NDArray[np.intp], tuple[str, ...]]:
    """Return which pixels are marked, the class of each of them, and the colours of the classes.

    Parameters
    ----------
    strokes : array of shape (height, width, 3 or 4)
        RGB or RGBA, of the size of the picture.
    image : array
        The picture; pixels equal to it are not marked.
    """
    layer = np.asarray(strokes)
    if layer.ndim != 3 or layer.shape[2] not in (3, 4):
        raise ConstraintError(f"Strokes of shape {layer.shape}: expected RGB or RGBA colours.")
    colors = as_pixels(layer)
    is_drawn = _differs(colors, image)
    if layer.shape[2] == 4:
        is_drawn &= layer[..., 3] >= OPAQUE * white_of(layer.dtype)
    is_saturated = np.ptp(colors, axis=2) >= SATURATED
    if layer.shape[2] == 4:
        _check_visible(colors, is_drawn, is_saturated)
    is_known = is_drawn & is_saturated
    bytes_ = np.round(255 * colors[is_known]).astype(np.int64)
    packed, codes = np.unique(bytes_ @ [65536, 256, 1], return_inverse=True)
    names = tuple(f"#{color:06x}" for color in packed)
    _check_count(names, codes)
    return is_known, codes, names


def _differs(colors: npt.NDArray[np.float64], image: npt.ArrayLike) -> BoolArray:
    return np.any(np.abs(colors - as_pixels(image)) > SAME, axis=2)


def _check_visible(colors: npt.NDArray[np.float64], is_drawn: BoolArray, is_saturated: BoolArray) -> None:
    """Refuse grey and white strokes on a layer with transparency: they were drawn on purpose."""
    has_layer = not is_drawn.all()
    pale = is_drawn & ~is_saturated & (colors.max(axis=2) > SATURATED)
    if has_layer and pale.any():
        row, column = np.argwhere(pale)[0]
        color = "".join(f"{round(255 * value):02x}" for value in colors[row, column])
        raise ConstraintError(
            f"The stroke at row {row}, column {column} has the colour #{color}, which is too pale to tell "
            "classes by: draw with plain colours such as #ff0000, #00ff00 and #0000ff."
        )


def _check_count(names: tuple[str, ...], codes: npt.NDArray[np.intp]) -> None:
    if len(names) <= MAX_COLORS:
        return
    counts = np.bincount(codes)
    most = ", ".join(f"{names[code]} ({counts[code]} pixels)" for code in np.argsort(-counts)[:3])
    raise ConstraintError(
        f"The strokes have {len(names)} different colours, the most frequent {most}: every colour is a "
        f"class, and at most {MAX_COLORS} are allowed. Draw with a hard brush (no anti-aliasing) on a "
        "transparent layer and save it as PNG, not JPEG."
    )
