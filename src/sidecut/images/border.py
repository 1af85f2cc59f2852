"""Exact pixels along a border: regions may be wrong by a few of them, and large pictures by a few more."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy import ndimage
from scipy.sparse.linalg import cg

from sidecut.arrays import BoolArray, FloatArray, IntArray
from sidecut.images.appearance import as_lab

#: Pixels so near to a border are decided again.
REACH = 3
#: Weights between pixels: exp(-s²/2) of the step s in units of the average step in the band.
DECAY = 0.5
#: How much the regions are believed, beside the four neighbours of a pixel.
BELIEF = 0.02
#: Relative residual of the walk; labels do not change below it.
TOLERANCE = 1e-3
#: Parts smaller than this share of the picture, and of this many pixels at least, need a mark to stay.
SPECK_SHARE = 1e-4
SPECK = 12


def band_around(codes: IntArray, reach: int = REACH) -> BoolArray:
    """Tell which pixels are near a border between classes.

    Parameters
    ----------
    codes : array of any number of dimensions
        The class of every pixel.
    reach : int
        In pixels.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.images.border import band_around
    >>> band_around(np.array([[0, 0, 0, 1, 1, 1]]), reach=1).astype(int)
    array([[0, 1, 1, 1, 1, 0]])
    """
    near = np.zeros(codes.shape, dtype=bool)
    for axis in range(codes.ndim):
        behind, ahead = _halves(codes.ndim, axis)
        differs = codes[behind] != codes[ahead]
        near[behind] |= differs
        near[ahead] |= differs
    return ndimage.binary_dilation(near, iterations=reach) if near.any() and reach > 0 else near


def decide_pixels(pixels: npt.NDArray, codes: IntArray, band: BoolArray, beliefs: FloatArray) -> FloatArray:
    """Return the probabilities of the classes for the pixels of a band, all others being known.

    A walk from a pixel over similar neighbours ends where the class is known, or, now and then, takes the
    belief where it is: (L + γ I) u = W z + γ p on the band, z being the classes around it.

    Parameters
    ----------
    pixels : array of shape (..., n_channels)
        The picture, between 0 and 1.
    codes : array
        The class of every pixel; those of the band do not matter.
    band : array of bool
        The pixels to decide.
    beliefs : array of shape (n_band, n_classes)
        p, in reading order.

    Returns
    -------
    array of shape (n_band, n_classes)
        In reading order.
    """
    first, second = _pairs_touching(band)
    weights = _weights(pixels, first, second)
    place = np.full(band.size, -1, dtype=np.int64)
    place[band.ravel()] = np.arange(beliefs.shape[0])
    inner, pull = _system(place, codes.ravel(), (first, second, weights), beliefs.shape)
    inner = inner + sp.diags_array(np.full(beliefs.shape[0], BELIEF))
    return _solve(inner.tocsr(), pull + BELIEF * beliefs, beliefs)


def remove_specks(codes: IntArray, marks: IntArray) -> IntArray:
    """Give small parts that nobody marked to the class around them.

    Parameters
    ----------
    codes : array
        The class of every pixel.
    marks : array of the same shape
        The class of marked pixels, -1 elsewhere.

    Returns
    -------
    array
        A copy.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.images.border import remove_specks
    >>> codes = np.zeros((9, 9), dtype=int)
    >>> codes[2, 2] = codes[6, 6] = 1
    >>> marks = np.where(np.arange(81).reshape(9, 9) == 60, 1, -1)
    >>> np.argwhere(remove_specks(codes, marks)).tolist()
    [[6, 6]]
    """
    least = max(SPECK, round(SPECK_SHARE * codes.size))
    cleaned = codes.copy()
    for code in range(int(codes.max()) + 1):
        parts, n_parts = ndimage.label(cleaned == code)
        sizes = np.bincount(parts.ravel(), minlength=n_parts + 1)
        has_mark = np.bincount(parts[marks == code], minlength=n_parts + 1) > 0
        places = ndimage.find_objects(parts)
        for part in np.flatnonzero((sizes < least) & ~has_mark):
            if part > 0:
                _give_away(cleaned, parts, int(part), places[part - 1])
    return cleaned


def _give_away(codes: IntArray, parts: IntArray, part: int, place: tuple[slice, ...]) -> None:
    """Give one part the class that most of the pixels around it have."""
    around = tuple(slice(max(0, side.start - 1), side.stop + 1) for side in place)
    inside = parts[around] == part
    rim = ndimage.binary_dilation(inside) & ~inside
    if rim.any():
        codes[around][inside] = np.bincount(codes[around][rim]).argmax()


def _halves(n_axes: int, axis: int) -> tuple[tuple[slice, ...], tuple[slice, ...]]:
    """Return slices of all pixels that have a neighbour ahead along an axis, and of these neighbours."""
    whole = [slice(None)] * n_axes
    behind, ahead = list(whole), list(whole)
    behind[axis], ahead[axis] = slice(None, -1), slice(1, None)
    return tuple(behind), tuple(ahead)


def _pairs_touching(band: BoolArray) -> tuple[IntArray, IntArray]:
    """Return the pairs of adjacent pixels of which at least one is in the band."""
    firsts, seconds = [], []
    places = np.flatnonzero(band)
    where = np.unravel_index(places, band.shape)
    steps = np.array([int(np.prod(band.shape[axis + 1 :])) for axis in range(band.ndim)])
    flat = band.ravel()
    for axis, step in enumerate(steps):
        ahead = places[where[axis] < band.shape[axis] - 1]
        firsts.append(ahead)
        seconds.append(ahead + step)
        behind = places[where[axis] > 0]
        behind = behind[~flat[behind - step]]
        firsts.append(behind - step)
        seconds.append(behind)
    return np.concatenate(firsts), np.concatenate(seconds)


def _weights(pixels: npt.NDArray, first: IntArray, second: IntArray) -> FloatArray:
    flat = pixels.reshape(-1, pixels.shape[-1])
    steps = ((as_lab(flat[first]) - as_lab(flat[second])) ** 2).sum(axis=1)
    return np.exp(-DECAY * steps / (steps.mean() or 1.0)) + 1e-6


def _system(
    place: IntArray,
    codes: IntArray,
    pairs: tuple[IntArray, IntArray, FloatArray],
    shape: tuple[int, ...],
) -> tuple[sp.csr_array, FloatArray]:
    """Return the Laplacian of the band, grounded where classes are known, and the pull of these classes."""
    first, second, weights = pairs
    rows, columns = place[first], place[second]
    is_inner = (rows >= 0) & (columns >= 0)
    size = (shape[0], shape[0])
    half = sp.coo_array((weights[is_inner], (rows[is_inner], columns[is_inner])), shape=size)
    pull = np.zeros(shape)
    for here, there in ((rows, second), (columns, first)):
        is_edge = (here >= 0) & ~is_inner
        np.add.at(pull, (here[is_edge], codes[there[is_edge]]), weights[is_edge])
    inner = (half + half.T).tocsr()
    degrees = inner.sum(axis=1) + pull.sum(axis=1)
    return sp.diags_array(degrees) - inner, pull


def _solve(matrix: sp.csr_array, right: FloatArray, start: FloatArray) -> FloatArray:
    """Solve for all classes but the last, which has the rest."""
    jacobi = sp.diags_array(1.0 / matrix.diagonal())
    found = [
        cg(matrix, right[:, column], x0=start[:, column], rtol=TOLERANCE, M=jacobi)[0]
        for column in range(right.shape[1] - 1)
    ]
    most = np.clip(np.stack(found, axis=1), 0.0, 1.0)
    rest = np.clip(1.0 - most.sum(axis=1, keepdims=True), 0.0, 1.0)
    return np.hstack([most, rest])
