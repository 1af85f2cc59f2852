"""The look of a class: densities of colour and texture over regions, and palettes of single pixels."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import numpy.typing as npt
from scipy import ndimage

from sidecut.checks import BoolArray, FloatArray

#: The width of the kernel, in units of Lab (black is 0, white 100).
WIDTH = 7.0
#: Added to densities, so that a look without any mark does not decide between classes.
FLOOR = 0.01
#: The power in `pool_alike`: a class half as probable as the true one hardly shares its density.
SHARPNESS = 4
#: How many regions of a class make its density, at most.
MAX_EXAMPLES = 100
#: Weight of texture beside colour in the look of a region (for edges, its weight is 1).
TEXTURE_WEIGHT = 2.0
#: Counts of colours are smoothed with this width, in bins.
BIN_WIDTH = 0.6
#: From linear RGB (sRGB primaries) to XYZ relative to daylight D65, IEC 61966-2-1.
_XYZ = np.array(
    [[0.412453, 0.357580, 0.180423], [0.212671, 0.715160, 0.072169], [0.019334, 0.119193, 0.950227]]
) / np.array([[0.95047], [1.0], [1.08883]])
#: From XYZ, after the cube root, to L, a and b (CIE 1976).
_LAB = np.array([[0.0, 116.0, 0.0], [500.0, -500.0, 0.0], [0.0, 200.0, -200.0]])


def texture(lightness: FloatArray) -> list[FloatArray]:
    """Return the standard deviation of the lightness around every pixel, at scales of 2 and 4 pixels."""
    deviations = []
    for scale in (2.0, 4.0):
        mean = ndimage.gaussian_filter(lightness, scale)
        square = ndimage.gaussian_filter(lightness**2, scale)
        deviations.append(np.sqrt(np.maximum(square - mean**2, 0.0)))
    return deviations


def class_densities(looks: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the density of every class at the look of every region."""
    # Single precision is twice as fast, and accurate enough for densities.
    places = (looks * (np.sqrt(0.5) / WIDTH)).astype(np.float32)
    squares = np.einsum("ij,ij->i", places, places)[:, None]
    ones = np.ones_like(squares)
    # -‖x - y‖² = 2 x·y - ‖y‖² - ‖x‖², as one product.
    here, there = np.hstack([2.0 * places, ones, -squares]), np.hstack([places, -squares, ones])
    densities = []
    for weight in weights.T:
        examples = np.flatnonzero(weight > 0)
        if examples.size > MAX_EXAMPLES:
            examples = examples[np.linspace(0, examples.size - 1, MAX_EXAMPLES).astype(np.intp)]
        share = weight[examples] / weight[examples].sum()
        kernel = here @ there[examples].T
        np.exp(np.minimum(kernel, 0.0, out=kernel), out=kernel)
        densities.append((kernel @ share.astype(np.float32)).astype(np.float64))
    return np.stack(densities, axis=1)


def pool_alike(densities: FloatArray, votes: FloatArray) -> FloatArray:
    """Return densities in which classes that look alike on their marks share theirs.

    M_cd is the mean probability of class d, by look alone, on the marks of class c. Where M_cd is as large as
    M_cc, small differences of the two densities are chance. So class c gets the mean of all densities,
    weighted by (M_cd / M_cc)^4.
    """
    likely = densities + FLOOR
    likely = likely / likely.sum(axis=1, keepdims=True)
    confusion = votes.T @ likely / votes.sum(axis=0)[:, None]
    alike = np.minimum(confusion / np.diag(confusion)[:, None], 1.0) ** SHARPNESS
    return densities @ (alike / alike.sum(axis=1, keepdims=True)).T


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
    # Pixels near a border may change their class, so they count less.
    weights = np.where(is_sure.reshape(-1), 1.0, 0.3)
    counts = np.bincount(which, weights, n_classes * n_bins).reshape(n_classes, *sizes)
    smooth = ndimage.gaussian_filter(counts, (0.0, *(BIN_WIDTH for _ in sizes))).reshape(n_classes, n_bins)
    return smooth / smooth.sum(axis=1, keepdims=True)


def how_distinct(palettes: FloatArray) -> float:
    """Return how well single colours separate the two classes that are most alike, from 0 to 1."""
    # The mean probability of the true class of a pixel by its colour: 1/2 is a guess.
    chances = [
        float(((one**2 + other**2) / np.maximum(one + other, np.finfo(float).tiny)).sum()) / 2.0
        for one, other in combinations(palettes, 2)
    ]
    return max(0.0, 2.0 * min(chances, default=0.5) - 1.0)


def with_colors(
    probabilities: FloatArray, palettes: FloatArray, bins: npt.NDArray[np.uint16], weight: float = 1.0
) -> FloatArray:
    """Return probabilities of classes times the share of a pixel's colour in each class, normalised."""
    # Neither factor may be zero and decide alone.
    joined = (probabilities + 0.02) * (palettes[:, bins].T + 1e-4) ** weight
    return joined / joined.sum(axis=1, keepdims=True)


def _bin_axes(n_channels: int) -> tuple[tuple[int, ...], FloatArray, FloatArray]:
    """Return how many bins there are along each channel, where they begin, and how far they reach."""
    if n_channels == 1:
        return (48,), np.array([0.0]), np.array([100.0])
    return (20, 24, 24), np.array([0.0, -64.0, -64.0]), np.array([100.0, 128.0, 128.0])


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
