"""What marks say about the look of a class: a density of colour and texture, and from it beliefs."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import numpy.typing as npt
from scipy import ndimage

from sidecut.checks import BoolArray, FloatArray

#: The width of the kernel, in units of Lab (black is 0, white 100).
WIDTH = 7.0
#: A look that nobody marked: a density so low that it says nothing against or for a class.
FLOOR = 0.01
#: The power in `pool_alike`: classes that are half as probable as the true one are told apart in full.
SHARPNESS = 4
#: How many regions of a class make its density, at most.
MOST_EXAMPLES = 100
#: The scales of texture, in pixels, and its weight beside colour (for edges, its weight is 1).
TEXTURE_SCALES = (2.0, 4.0)
TEXTURE_WEIGHT = 2.0


def texture(lightness: FloatArray) -> list[FloatArray]:
    """Return how much the lightness varies around every pixel, at several scales."""
    return [_deviation(lightness, scale) for scale in TEXTURE_SCALES]


def class_densities(looks: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the density of every class at the look of every region."""
    # Single precision is twice as fast, and much finer than what looks say.
    places = (looks * (np.sqrt(0.5) / WIDTH)).astype(np.float32)
    squares = np.einsum("ij,ij->i", places, places)[:, None]
    ones = np.ones_like(squares)
    # -‖x - y‖² = 2 x·y - ‖y‖² - ‖x‖², as one product.
    here, there = np.hstack([2.0 * places, ones, -squares]), np.hstack([places, -squares, ones])
    return np.stack([_density(here, there, weight) for weight in weights.T], axis=1)


def pool_alike(densities: FloatArray, votes: FloatArray) -> FloatArray:
    """Return densities in which classes that proved to look alike share theirs.

    Of marked regions the class is known: M_cd is how probable class d is by look on the marks of class c.
    Where M_cd is as large as M_cc, looks cannot tell the two apart, and small differences of their densities
    are chance; so class c gets the mean of the densities, weighed by (M_cd / M_cc)^4.
    """
    likely = densities + FLOOR
    likely = likely / likely.sum(axis=1, keepdims=True)
    told = votes.T @ likely / votes.sum(axis=0)[:, None]
    alike = np.minimum(told / np.diag(told)[:, None], 1.0) ** SHARPNESS
    return densities @ (alike / alike.sum(axis=1, keepdims=True)).T


def _density(
    here: npt.NDArray[np.float32], there: npt.NDArray[np.float32], weights: FloatArray
) -> FloatArray:
    """Return the density of one class, exp(here · there) being the kernel."""
    examples = np.flatnonzero(weights > 0)
    if examples.size > MOST_EXAMPLES:
        examples = examples[np.linspace(0, examples.size - 1, MOST_EXAMPLES).astype(np.intp)]
    share = weights[examples] / weights[examples].sum()
    kernel = here @ there[examples].T
    np.exp(np.minimum(kernel, 0.0, out=kernel), out=kernel)
    return (kernel @ share.astype(np.float32)).astype(np.float64)


def _deviation(values: npt.NDArray, scale: float) -> FloatArray:
    mean = ndimage.gaussian_filter(values, scale)
    square = ndimage.gaussian_filter(values**2, scale)
    return np.sqrt(np.maximum(square - mean**2, 0.0))


# The colours of single pixels, which are too many for a sum over examples: they are counted in bins.


#: How many bins lightness, a and b are divided into (a and b from -64 to 64), and a grey.
COLOR_BINS = (20, 24, 24)
GREY_BINS = (48,)
#: Counts are smoothed with this width, in bins.
BIN_WIDTH = 0.6
#: A pixel whose class is not yet sure counts as this part of one that is.
UNSURE = 0.3
#: Added to the shares of bins and to what is believed otherwise, so that neither decides alone.
RARE_COLOR, RARE_CLASS = 1e-4, 0.02


def color_bins(colors: npt.NDArray) -> npt.NDArray[np.uint16]:
    """Return the bin of every colour."""
    sizes, low, span = _bin_axes(colors.shape[-1])
    steps = np.floor((colors - low) * (np.array(sizes) / span)).astype(np.intp)
    inside = np.clip(steps, 0, np.array(sizes) - 1)
    return np.ravel_multi_index(tuple(np.moveaxis(inside, -1, 0)), sizes).astype(np.uint16)


def class_palettes(
    bins: npt.NDArray[np.uint16], codes: npt.NDArray, is_sure: BoolArray, n_classes: int, n_channels: int
) -> FloatArray:
    """Return the share of every bin among the pixels of each class."""
    sizes = _bin_axes(n_channels)[0]
    n_bins = int(np.prod(sizes))
    which = codes.reshape(-1).astype(np.intp) * n_bins + bins.reshape(-1)
    weights = np.where(is_sure.reshape(-1), 1.0, UNSURE)
    counts = np.bincount(which, weights, n_classes * n_bins).reshape(n_classes, *sizes)
    smooth = ndimage.gaussian_filter(counts, (0.0, *(BIN_WIDTH for _ in sizes))).reshape(n_classes, n_bins)
    return smooth / smooth.sum(axis=1, keepdims=True)


def how_distinct(palettes: FloatArray) -> float:
    """Return how well single colours separate the two classes that are most alike, from 0 to 1."""
    told = [
        float(((one**2 + other**2) / np.maximum(one + other, np.finfo(float).tiny)).sum()) / 2.0
        for one, other in combinations(palettes, 2)
    ]
    return max(0.0, 2.0 * min(told, default=0.5) - 1.0)


def with_colors(
    beliefs: FloatArray, palettes: FloatArray, bins: npt.NDArray[np.uint16], weight: float = 1.0
) -> FloatArray:
    """Return beliefs times how common the colour of a pixel is in each class, as probabilities."""
    joined = (beliefs + RARE_CLASS) * (palettes[:, bins].T + RARE_COLOR) ** weight
    return joined / joined.sum(axis=1, keepdims=True)


def _bin_axes(n_channels: int) -> tuple[tuple[int, ...], FloatArray, FloatArray]:
    """Return how many bins there are along each channel, where they begin, and how far they reach."""
    if n_channels == 1:
        return GREY_BINS, np.array([0.0]), np.array([100.0])
    return COLOR_BINS, np.array([0.0, -64.0, -64.0]), np.array([100.0, 128.0, 128.0])


# Colours as eyes see them: distances in Lab are about as large as they look.


#: From linear RGB (sRGB primaries) to XYZ relative to daylight D65, IEC 61966-2-1.
_XYZ = np.array(
    [[0.412453, 0.357580, 0.180423], [0.212671, 0.715160, 0.072169], [0.019334, 0.119193, 0.950227]]
) / np.array([[0.95047], [1.0], [1.08883]])
#: From XYZ, after the cube root, to L, a and b (CIE 1976).
_LAB = np.array([[0.0, 116.0, 0.0], [500.0, -500.0, 0.0], [0.0, 200.0, -200.0]])


def as_lab(pixels: npt.NDArray) -> FloatArray:
    """Return pixels in Lab, where black is 0 and white 100; grey pixels keep one channel."""
    values = np.asarray(pixels)
    if values.dtype != np.float32:
        values = values.astype(np.float64)
    if values.shape[-1] != 3:
        return 100.0 * values
    light = np.where(values > 0.04045, ((values + 0.055) / 1.055) ** 2.4, values / 12.92)
    xyz = light @ _XYZ.T.astype(values.dtype)
    root = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16.0 / 116.0)
    lab = root @ _LAB.T.astype(values.dtype)
    lab[..., 0] -= 16.0
    return lab


def in_unit_range(pixels: FloatArray) -> FloatArray:
    """Return pixels between 0 and 1: as they are if they lie there, stretched to fit if they do not."""
    low, high = float(pixels.min()), float(pixels.max())
    if low >= 0.0 and high <= 1.0:
        return pixels
    return (pixels - low) / max(high - low, np.finfo(float).tiny)
