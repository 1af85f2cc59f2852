"""Exact pixels along a border: regions may be wrong by a few of them, and large pictures by a few more."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import cg

from sidecut.arrays import BoolArray, FloatArray, IntArray
from sidecut.images.appearance import as_lab

#: Two pixels next to each other, of many such pairs.
Pairs = tuple[IntArray, IntArray]

#: Pixels so near to a border are decided again.
REACH = 4
#: Weights between pixels: exp(-s²/2) of the step s in units of the average step in the band.
DECAY = 0.5
#: How much beliefs count beside the four neighbours of a pixel: the second is added where single colours tell
#: classes apart.
BELIEF = 0.02
COLOR_BELIEF = 0.3
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
    # Borders are few: setting the pixels around each of them is faster than a dilation of the picture.
    places = np.nonzero(near)
    for offset in np.ndindex(*(2 * reach + 1 for _ in codes.shape)):
        step = np.subtract(offset, reach)
        if 0 < np.abs(step).sum() <= reach:
            moved = zip(places, step, codes.shape, strict=True)
            near[tuple((place + by).clip(0, size - 1) for place, by, size in moved)] = True
    return near


def decide_pixels(
    pixels: npt.NDArray, codes: IntArray, band: BoolArray, beliefs: FloatArray, belief: float = BELIEF
) -> FloatArray:
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
    belief : float
        γ.

    Returns
    -------
    array of shape (n_band, n_classes)
        In reading order.
    """
    first, second = _pairs_touching(band)
    ranks = _ranks(np.flatnonzero(band), band, (first, second))
    weights = _weights(pixels, first, second)
    inner, pull = _system(ranks, codes.ravel(), (first, second, weights), beliefs.shape)
    inner = inner + sp.diags_array(np.full(beliefs.shape[0], belief))
    return _solve(inner.tocsr(), pull + belief * beliefs, beliefs)


def remove_specks(codes: npt.NDArray, band: BoolArray) -> None:
    """Give small parts that nobody marked to the class around them.

    Parameters
    ----------
    codes : array
        The class of every pixel; changed in place.
    band : array of bool
        The pixels that may change. A part that goes on outside it is not small, or is marked there.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.images.border import remove_specks
    >>> codes = np.zeros((9, 9), dtype=int)
    >>> codes[2, 2] = codes[6, 6] = 1
    >>> remove_specks(codes, np.arange(81).reshape(9, 9) != 60)  # all but the pixel at 6, 6, which is marked
    >>> np.argwhere(codes).tolist()
    [[6, 6]]
    """
    least = max(SPECK, round(SPECK_SHARE * codes.size))
    flat, places = codes.reshape(-1), np.flatnonzero(band)
    pairs = _pairs_touching(band)
    ranks = _ranks(places, band, pairs)
    for code in np.unique(flat[places]):
        parts, is_speck = _specks(flat, pairs, ranks, places.size, least)
        if not is_speck.any():
            break
        is_lost = is_speck[parts] & (flat[places] == code)
        if is_lost.any():
            around = _classes_around(flat, pairs, ranks, parts)
            is_lost &= (around >= 0)[parts]
            flat[places[is_lost]] = around[parts[is_lost]]


def _specks(
    flat: npt.NDArray, pairs: Pairs, ranks: Pairs, n_band: int, least: int
) -> tuple[IntArray, BoolArray]:
    """Return the part of every pixel of the band, and which parts are specks."""
    is_same = flat[pairs[0]] == flat[pairs[1]]
    is_inner = is_same & (ranks[0] >= 0) & (ranks[1] >= 0)
    links = (np.ones(np.count_nonzero(is_inner)), (ranks[0][is_inner], ranks[1][is_inner]))
    n_parts, parts = connected_components(sp.coo_array(links, shape=(n_band, n_band)), directed=False)
    goes_on = np.zeros(n_parts, dtype=bool)
    for rank in ranks:
        goes_on[parts[rank[is_same & ~is_inner & (rank >= 0)]]] = True
    return parts, (np.bincount(parts, minlength=n_parts) < least) & ~goes_on


def _classes_around(flat: npt.NDArray, pairs: Pairs, ranks: Pairs, parts: IntArray) -> IntArray:
    """Return the class that most pixels around each part have, -1 where there are none."""
    n_parts, n_classes = int(parts.max()) + 1, int(flat[np.concatenate(pairs)].max()) + 1
    votes = np.zeros(n_parts * n_classes, dtype=np.intp)
    differs = flat[pairs[0]] != flat[pairs[1]]
    for rank, other in (ranks, pairs[::-1]), (ranks[::-1], pairs):
        is_rim = differs & (rank[0] >= 0)
        around = parts[rank[0][is_rim]] * n_classes + flat[other[0][is_rim]]
        votes += np.bincount(around, minlength=votes.size)
    table = votes.reshape(n_parts, n_classes)
    return np.where(table.any(axis=1), table.argmax(axis=1), -1)


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


def _ranks(places: IntArray, band: BoolArray, pairs: Pairs) -> Pairs:
    """Return the position of the pixels of pairs among those of the band, -1 where they are not in it."""
    flat = band.reshape(-1)
    first, second = (np.where(flat[pixel], np.searchsorted(places, pixel), -1) for pixel in pairs)
    return first, second


def _weights(pixels: npt.NDArray, first: IntArray, second: IntArray) -> FloatArray:
    flat = pixels.reshape(-1, pixels.shape[-1])
    steps = ((as_lab(flat[first]) - as_lab(flat[second])) ** 2).sum(axis=1)
    return np.exp(-DECAY * steps / (steps.mean() or 1.0)) + 1e-6


def _system(
    ranks: Pairs,
    codes: npt.NDArray,
    pairs: tuple[IntArray, IntArray, FloatArray],
    shape: tuple[int, ...],
) -> tuple[sp.csr_array, FloatArray]:
    """Return the Laplacian of the band, grounded where classes are known, and the pull of these classes."""
    first, second, weights = pairs
    rows, columns = ranks
    is_inner = (rows >= 0) & (columns >= 0)
    size = (shape[0], shape[0])
    half = sp.coo_array((weights[is_inner], (rows[is_inner], columns[is_inner])), shape=size)
    pull = np.zeros(shape)
    for here, there in ((rows, second), (columns, first)):
        is_edge = (here >= 0) & ~is_inner
        ends = here[is_edge] * shape[1] + codes[there[is_edge]]
        pull += np.bincount(ends, weights[is_edge], pull.size).reshape(shape)
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
