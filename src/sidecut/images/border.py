"""Exact pixels along a border: regions may be wrong by a few of them, and large pictures by a few more."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from sidecut.arrays import BoolArray, FloatArray, IntArray
from sidecut.images.appearance import as_lab
from sidecut.spectral.problem import solve_columns

#: Pairs of pixels, or of ranks in a band.
Pairs = tuple[IntArray, IntArray]

#: Pixels so near to a border are decided again. In a picture that was cut at half its size before, fewer
#: are enough: that cut is wrong by a pixel, which is two here, and those at the border are in the band.
REACH = 4
REACH_AFTER = 1
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
#: In place of a class or a pixel that is not there.
NONE = -1


@dataclass(frozen=True, eq=False)
class Band:
    """Pixels to decide, and what lies next to each of them.

    Attributes
    ----------
    places : array of shape (n_band,)
        The pixels, as positions in reading order, ascending.
    pairs : list of two arrays
        For every axis the neighbours that are both in the band, by their ranks in it, ascending.
    rim : list of two arrays
        For every axis and both directions, ranks of pixels, and the neighbours that are not in the band.
    """

    places: IntArray
    pairs: list[Pairs]
    rim: list[Pairs]

    @classmethod
    def of(cls, mask: BoolArray) -> Band:
        """Return the band of the pixels that are True.

        Parameters
        ----------
        mask : array of bool
            Of the shape of the picture.

        Examples
        --------
        >>> import numpy as np
        >>> from sidecut.images.border import Band
        >>> band = Band.of(np.array([[True, True, False]]))
        >>> band.places, band.pairs[1], band.rim[3]
        (array([0, 1]), (array([0]), array([1])), (array([1]), array([2])))
        """
        places: IntArray = np.flatnonzero(mask)
        flat, last = mask.reshape(-1), mask.size - 1
        pairs: list[Pairs] = []
        rim: list[Pairs] = []
        for step, size, where in zip(_steps(mask.shape), mask.shape, _axes(places, mask.shape), strict=True):
            has_ahead, has_behind = where < size - 1, where > 0
            is_inner = flat[np.minimum(places + step, last)]
            first = np.flatnonzero(has_ahead & is_inner)
            # Along the last axis the next pixel of the band is the neighbour.
            second = first + 1 if step == 1 else np.searchsorted(places, places[first] + step)
            pairs.append((first, second))
            has_ahead &= ~is_inner
            has_behind[second] = False
            for has_rim, by in ((has_behind, -step), (has_ahead, step)):
                here = np.flatnonzero(has_rim)
                rim.append((here, places[here] + by))
        return cls(places, pairs, rim)

    @property
    def n_pixels(self) -> int:
        """How many pixels are in the band."""
        return self.places.size


def band_around(codes: npt.NDArray, reach: int = REACH, candidates: IntArray | None = None) -> BoolArray:
    """Tell which pixels are near a border between classes.

    Parameters
    ----------
    codes : array of any number of dimensions
        The class of every pixel.
    reach : int
        In pixels.
    candidates : array, optional
        Pixels in reading order, among which are all that have a neighbour of another class, if it is known:
        few pixels of a large picture are, and to look at all takes longer than all else.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.images.border import band_around
    >>> band_around(np.array([[0, 0, 0, 1, 1, 1]]), reach=1).astype(int)
    array([[0, 1, 1, 1, 1, 0]])
    """
    if candidates is None:
        near = touches_border(codes)
        for _ in range(reach):
            near = _grown(near)
        return near
    near = np.zeros(codes.shape, dtype=bool)
    axes = _axes(_at_border(codes, candidates), codes.shape)
    for move in product(range(-reach, reach + 1), repeat=codes.ndim):
        if sum(map(abs, move)) <= reach:
            moved = zip(axes, move, codes.shape, strict=True)
            near[tuple((where + by).clip(0, size - 1) for where, by, size in moved)] = True
    return near


def _grown(mask: BoolArray) -> BoolArray:
    """Return a mask with the neighbours of its pixels."""
    wide = mask.copy()
    for axis in range(mask.ndim):
        behind, ahead = _halves(mask.ndim, axis)
        wide[behind] |= mask[ahead]
        wide[ahead] |= mask[behind]
    return wide


def touches_border(codes: npt.NDArray) -> BoolArray:
    """Tell which pixels have a neighbour of another class.

    Parameters
    ----------
    codes : array of any number of dimensions
        The class of every pixel.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.images.border import touches_border
    >>> touches_border(np.array([[0, 0, 0, 1, 1, 1]])).astype(int)
    array([[0, 0, 1, 1, 0, 0]])
    """
    touches = np.zeros(codes.shape, dtype=bool)
    for axis in range(codes.ndim):
        behind, ahead = _halves(codes.ndim, axis)
        differs = codes[behind] != codes[ahead]
        touches[behind] |= differs
        touches[ahead] |= differs
    return touches


def decide_pixels(
    pixels: npt.NDArray,
    codes: npt.NDArray,
    band: Band,
    beliefs: FloatArray,
    belief: float = BELIEF,
    colors: npt.NDArray | None = None,
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
    band : Band
        The pixels to decide.
    beliefs : array of shape (n_band, n_classes)
        p, in reading order.
    belief : float
        γ.
    colors : array of shape (n_band, n_channels), optional
        The pixels of the band in Lab, if they are known.

    Returns
    -------
    array of shape (n_band, n_classes)
        In reading order.
    """
    flat = pixels.reshape(-1, pixels.shape[-1])
    if colors is None:
        colors = as_lab(flat[band.places])
    inner, outer = _weights(colors, [as_lab(flat[there]) for _, there in band.rim], band)
    pull, n_classes = np.zeros(beliefs.size), beliefs.shape[1]
    for (here, there), weights in zip(band.rim, outer, strict=True):
        pull += np.bincount(here * n_classes + codes.reshape(-1)[there], weights, beliefs.size)
    right = pull.reshape(beliefs.shape)
    matrix, diagonal = _system(band, inner, right.sum(axis=1) + belief)
    right += belief * beliefs
    return _solve(matrix, diagonal, right, beliefs)


def _weights(
    colors: npt.NDArray, outside: list[npt.NDArray], band: Band
) -> tuple[list[FloatArray], list[FloatArray]]:
    """Return the weights between pixels of the band along each axis, and those of the pairs of the rim."""
    inner = [_squares(colors[first], colors[second]) for first, second in band.pairs]
    outer = [_squares(colors[here], there) for (here, _), there in zip(band.rim, outside, strict=True)]
    steps = [*inner, *outer]
    mean = sum(float(step.sum()) for step in steps) / max(sum(step.size for step in steps), 1) or 1.0
    weights = [np.exp(step * (-DECAY / mean)) + 1e-6 for step in steps]
    return weights[: len(inner)], weights[len(inner) :]


def _squares(one: npt.NDArray, other: npt.NDArray) -> FloatArray:
    gaps = (one - other).astype(np.float64)
    return np.einsum("ij,ij->i", gaps, gaps)


def _system(band: Band, inner: list[FloatArray], grounded: FloatArray) -> tuple[sp.csr_array, FloatArray]:
    """Return the Laplacian of the band, grounded, and its diagonal."""
    n_axes, n_pixels = len(band.pairs), band.n_pixels
    entries = np.zeros((2 * n_axes + 1, n_pixels))
    columns = np.full(entries.shape, NONE, dtype=np.int32)
    for axis, ((first, second), weights) in enumerate(zip(band.pairs, inner, strict=True)):
        # Rows are in order: what is before the pixel, itself, and what comes after it.
        columns[axis, second], entries[axis, second] = first, -weights
        columns[-1 - axis, first], entries[-1 - axis, first] = second, -weights
    diagonal = grounded - entries.sum(axis=0)
    columns[n_axes], entries[n_axes] = np.arange(n_pixels), diagonal
    is_entry = (columns != NONE).T
    starts = np.concatenate([[0], np.cumsum(np.count_nonzero(is_entry, axis=1))]).astype(np.int32)
    matrix = sp.csr_array((entries.T[is_entry], columns.T[is_entry], starts), shape=(n_pixels, n_pixels))
    return matrix, diagonal


def _solve(matrix: sp.csr_array, diagonal: FloatArray, right: FloatArray, start: FloatArray) -> FloatArray:
    """Solve for all classes but the last, which has the rest."""
    scale = 1.0 / np.sqrt(diagonal)[:, None]
    # From a good start on, and with the same diagonal everywhere (Jacobi's preconditioner).
    whole, missing = scale * right[:, :-1], scale * (right[:, :-1] - matrix @ start[:, :-1])
    ratio = float(np.linalg.norm(whole)) / max(float(np.linalg.norm(missing)), np.finfo(float).tiny)
    steps = solve_columns(
        lambda block, _: scale * (matrix @ (scale * block)), missing, TOLERANCE * ratio, 10 * diagonal.size
    )
    most = np.clip(start[:, :-1] + scale * steps, 0.0, 1.0)
    rest = np.clip(1.0 - most.sum(axis=1, keepdims=True), 0.0, 1.0)
    return np.hstack([most, rest])


def remove_specks(codes: npt.NDArray, band: Band) -> None:
    """Give small parts that nobody marked to the class around them.

    Parameters
    ----------
    codes : array
        The class of every pixel; changed in place.
    band : Band
        The pixels that may change. A part that goes on outside it is not small, or is marked there.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.images.border import Band, remove_specks
    >>> codes = np.zeros((9, 9), dtype=int)
    >>> codes[2, 2] = codes[6, 6] = 1
    >>> marked = np.arange(81).reshape(9, 9) == 60  # the pixel at 6, 6
    >>> remove_specks(codes, Band.of(~marked))
    >>> np.argwhere(codes).tolist()
    [[6, 6]]
    """
    least = max(SPECK, round(SPECK_SHARE * codes.size))
    flat = codes.reshape(-1)
    for code in np.unique(flat[band.places]):
        parts, is_speck = _specks(flat, band, least)
        if not is_speck.any():
            break
        lost = np.flatnonzero(is_speck[parts] & (flat[band.places] == code))
        if lost.size:
            around = _classes_around(flat, codes.shape, band.places[lost], parts[lost])
            lost = lost[around[parts[lost]] != NONE]
            flat[band.places[lost]] = around[parts[lost]]


def _specks(flat: npt.NDArray, band: Band, least: int) -> tuple[IntArray, BoolArray]:
    """Return the part of every pixel of the band, and which parts are specks."""
    codes = flat[band.places]
    parts = _parts(codes, band)
    sizes = np.bincount(parts)
    goes_on = np.zeros(sizes.size, dtype=bool)
    for here, there in band.rim:
        goes_on[parts[here[codes[here] == flat[there]]]] = True
    return parts, (sizes < least) & ~goes_on


def _parts(codes: npt.NDArray, band: Band) -> IntArray:
    """Return the connected part of one class that every pixel is in: first runs, then their links."""
    *others, (first, second) = band.pairs
    begins = np.ones(codes.size, dtype=bool)
    begins[second] = codes[first] != codes[second]
    runs = np.cumsum(begins) - 1
    firsts, seconds = [], []
    for first, second in others:
        is_same = codes[first] == codes[second]
        one, other = runs[first[is_same]], runs[second[is_same]]
        # Pixels of the same two runs say the same.
        is_new = np.ones(one.size, dtype=bool)
        is_new[1:] = (one[1:] != one[:-1]) | (other[1:] != other[:-1])
        firsts.append(one[is_new])
        seconds.append(other[is_new])
    n_runs = int(runs[-1]) + 1
    ends = (np.concatenate([*firsts, []]).astype(np.intp), np.concatenate([*seconds, []]).astype(np.intp))
    links = sp.coo_array((np.ones(ends[0].size, dtype=np.int8), ends), shape=(n_runs, n_runs))
    return connected_components(links, directed=False)[1][runs]


def _classes_around(flat: npt.NDArray, shape: tuple[int, ...], places: IntArray, parts: IntArray) -> IntArray:
    """Return the class that most pixels around each part have, given the pixels of some, -1 elsewhere."""
    n_parts, n_classes = int(parts.max()) + 1, int(flat.max()) + 1
    votes = np.zeros(n_parts * n_classes, dtype=np.intp)
    for step, size, where in zip(_steps(shape), shape, _axes(places, shape), strict=True):
        for has_neighbor, by in ((where > 0, -step), (where < size - 1, step)):
            here, there = places[has_neighbor], flat[places[has_neighbor] + by]
            is_rim = there != flat[here]
            votes += np.bincount(
                parts[has_neighbor][is_rim] * n_classes + there[is_rim], minlength=votes.size
            )
    table = votes.reshape(n_parts, n_classes)
    return np.where(table.any(axis=1), table.argmax(axis=1), NONE)


def _at_border(codes: npt.NDArray, candidates: IntArray) -> IntArray:
    """Return those of some pixels that have a neighbour of another class."""
    flat, differs = codes.reshape(-1), np.zeros(candidates.size, dtype=bool)
    here, last = flat[candidates], codes.size - 1
    axes = _axes(candidates, codes.shape)
    for where, size, step in zip(axes, codes.shape, _steps(codes.shape), strict=True):
        differs |= (where > 0) & (flat[np.maximum(candidates - step, 0)] != here)
        differs |= (where < size - 1) & (flat[np.minimum(candidates + step, last)] != here)
    return candidates[differs]


def _axes(places: IntArray, shape: tuple[int, ...]) -> list[IntArray]:
    """Return row, column and so on of pixels."""
    return list(np.unravel_index(places, shape))


def _steps(shape: tuple[int, ...]) -> list[int]:
    """Return how far apart neighbours along each axis are in reading order."""
    return [int(np.prod(shape[axis + 1 :])) for axis in range(len(shape))]


def _halves(n_axes: int, axis: int) -> tuple[tuple[slice, ...], tuple[slice, ...]]:
    """Return slices of all pixels that have a neighbour ahead along an axis, and of these neighbours."""
    whole = [slice(None)] * n_axes
    behind, ahead = list(whole), list(whole)
    behind[axis], ahead[axis] = slice(None, -1), slice(1, None)
    return tuple(behind), tuple(ahead)
