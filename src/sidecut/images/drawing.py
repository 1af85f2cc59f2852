"""Segments and indicators as arrays of RGB, and strokes of colour read from them."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.ndimage import binary_dilation

from sidecut.checks import BoolArray, FloatArray, IntArray
from sidecut.exceptions import ConstraintError
from sidecut.images.pixel_graph import as_pixels, as_rgb, white_of

RGB = npt.NDArray[np.uint8]

#: Colours that stay apart for colour-blind eyes (Okabe & Ito, 2008), blue and vermillion first: they are the
#: two ends of the heat map.
SEGMENT_COLORS = (
    *((0, 114, 178), (213, 94, 0), (0, 158, 115), (240, 228, 66)),
    *((204, 121, 167), (86, 180, 233), (230, 159, 0), (60, 60, 60)),
)
_BLUE, _RED = np.array([0.02, 0.22, 0.58]), np.array([0.70, 0.05, 0.10])
#: A colour is saturated if its strongest and weakest channel differ by at least this share of white.
MIN_SATURATION = 0.4
#: More colours than this are not drawn by a person; they are blends.
MAX_COLORS = 16


def segment_colors(n_segments: int) -> RGB:
    """Return one colour per segment; after eight they repeat, lighter each time."""
    numbers = np.arange(n_segments)
    base = np.array(SEGMENT_COLORS, dtype=np.float64)[numbers % len(SEGMENT_COLORS)]
    light = 1.0 - 0.75 ** (numbers // len(SEGMENT_COLORS))
    return np.round(base + (255.0 - base) * light[:, None]).astype(np.uint8)


def class_colors(classes: tuple[Any, ...], n_segments: int) -> RGB:
    """Return one colour per segment: that of its strokes, if classes are strokes of colour."""
    colors = segment_colors(n_segments)
    for number, name in enumerate(classes):
        if isinstance(name, str) and re.fullmatch("#[0-9a-f]{6}", name):
            colors[number] = list(bytes.fromhex(name[1:]))
    return colors


def draw_overlay(
    image: npt.ArrayLike,
    labels: IntArray,
    codes: IntArray | None,
    opacity: float,
    enlarge: int,
    colors: RGB | None = None,
) -> RGB:
    """Return a picture with its segments in colour, the boundaries between them in white, and the marks."""
    if not 0 <= opacity <= 1:
        raise ValueError(f"opacity={opacity!r} must lie between 0 and 1.")
    rgb = as_rgb(image)
    if rgb.shape[:2] != labels.shape:
        raise ValueError(f"The image has {rgb.shape[:2]} pixels, the segmentation {labels.shape}.")
    if colors is None:
        colors = segment_colors(int(labels.max()) + 1)
    # Colours on grey: the hue shows the segment, the lightness the picture.
    grey = rgb.mean(axis=2, keepdims=True)
    mixed = (1.0 - opacity) * (0.5 * rgb + 0.5 * grey) + opacity * colors[labels] / 255.0
    mixed, labels = _enlarged(mixed, enlarge), _enlarged(labels, enlarge)
    # White where the pixel to the right, or below, has another label.
    mixed[:-1][labels[:-1] != labels[1:]] = 1.0
    mixed[:, :-1][labels[:, :-1] != labels[:, 1:]] = 1.0
    return _as_bytes(_with_marks(mixed, codes, enlarge, colors))


def draw_heat(indicator: FloatArray, codes: IntArray | None, enlarge: int) -> RGB:
    """Return an indicator in colours: dark blue, white at zero, dark red."""
    # The largest 2 % are shown in full colour.
    full = float(np.quantile(np.abs(indicator), 0.98)) or float(np.abs(indicator).max()) or 1.0
    share = np.clip(indicator / full, -1.0, 1.0)[..., None]
    # The square root lets small values show their sign, which decides the segment.
    strength = np.sqrt(np.abs(share))
    mixed = 1.0 - strength * (1.0 - np.where(share < 0, _BLUE, _RED))
    return _as_bytes(_with_marks(_enlarged(mixed, enlarge), codes, enlarge))


def _enlarged(values: npt.NDArray, enlarge: int) -> npt.NDArray:
    if enlarge < 1 or int(enlarge) != enlarge:
        raise ValueError(f"enlarge={enlarge!r} must be a whole number, at least 1.")
    return np.repeat(np.repeat(values, enlarge, axis=0), enlarge, axis=1)


def _with_marks(
    rgb: FloatArray, codes: IntArray | None, enlarge: int, colors: RGB | None = None
) -> FloatArray:
    """Draw the marks in the colour of their class, with a black rim inside and a white one around."""
    if codes is None or codes.max() < 0:
        return rgb
    marks = _enlarged(codes, enlarge)
    inside = marks >= 0
    if colors is None or len(colors) <= codes.max():
        colors = segment_colors(int(codes.max()) + 1)
    rgb[binary_dilation(inside) & ~inside] = 1.0
    rgb[inside] = colors[marks[inside]] / 255.0
    rgb[inside & binary_dilation(~inside)] = 0.0
    return rgb


def _as_bytes(rgb: FloatArray) -> RGB:
    return np.round(255.0 * np.clip(rgb, 0.0, 1.0)).astype(np.uint8)


def stroke_classes(
    strokes: npt.ArrayLike, image: npt.ArrayLike
) -> tuple[BoolArray, npt.NDArray[np.intp], tuple[str, ...]]:
    """Return which pixels are marked, the class of each of them, and the colours of the classes."""
    layer = np.asarray(strokes)
    if layer.ndim != 3 or layer.shape[2] not in (3, 4):
        raise ConstraintError(f"Strokes of shape {layer.shape}: expected RGB or RGBA colours.")
    colors = as_pixels(layer)
    # Two colours are the same if no channel differs by more than half a step of 8 bits.
    is_drawn: BoolArray = np.any(np.abs(colors - as_pixels(image)) > 0.5 / 255, axis=2)
    is_saturated = np.ptp(colors, axis=2) >= MIN_SATURATION
    if layer.shape[2] == 4:
        is_drawn &= layer[..., 3] >= 0.5 * white_of(layer.dtype)
        _check_visible(colors, is_drawn, is_saturated)
    is_known = is_drawn & is_saturated
    bytes_ = np.round(255 * colors[is_known]).astype(np.int64)
    packed, codes = np.unique(bytes_ @ [65536, 256, 1], return_inverse=True)
    if len(packed) > MAX_COLORS and (is_meant := _meant_colors(np.bincount(codes))).any():
        # Strokes over a photograph saved as JPEG: what differs from it besides is noise.
        is_known[is_known] = is_meant[codes]
        numbers = np.cumsum(is_meant) - 1
        packed, codes = packed[is_meant], numbers[codes[is_meant[codes]]]
    names = tuple(f"#{color:06x}" for color in packed)
    if len(names) > MAX_COLORS:
        counts = np.bincount(codes)
        most = ", ".join(f"{names[code]} ({counts[code]} pixels)" for code in np.argsort(-counts)[:3])
        raise ConstraintError(
            f"The strokes have {len(names)} different colours, the most frequent {most}: every colour is a "
            f"class, and at most {MAX_COLORS} are allowed. Draw with a hard brush (no anti-aliasing) on a "
            "transparent layer and save it as PNG, not JPEG."
        )
    return is_known, codes, names


def _meant_colors(counts: IntArray) -> BoolArray:
    """Tell the few colours that are a hundred times as frequent as the next from blends and noise."""
    order = np.argsort(-counts)[: MAX_COLORS + 1]
    ratios = counts[order[:-1]] / counts[order[1:]]
    n_meant = int(np.argmax(ratios)) + 1 if ratios.max() >= 100 else 0
    return np.isin(np.arange(len(counts)), order[:n_meant])


def _check_visible(colors: npt.NDArray[np.float64], is_drawn: BoolArray, is_saturated: BoolArray) -> None:
    """Refuse grey and white strokes on a layer with transparency: they were drawn on purpose."""
    has_layer = not is_drawn.all()
    pale = is_drawn & ~is_saturated & (colors.max(axis=2) > MIN_SATURATION)
    if has_layer and pale.any():
        row, column = np.argwhere(pale)[0]
        color = "".join(f"{round(255 * value):02x}" for value in colors[row, column])
        raise ConstraintError(
            f"The stroke at row {row}, column {column} has the colour #{color}, which is too pale to "
            "distinguish classes: draw with plain colours such as #ff0000, #00ff00 and #0000ff."
        )
