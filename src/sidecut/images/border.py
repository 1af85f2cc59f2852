"""Exact pixels along a border: the border of a region, or of a smaller picture, is off by a few pixels."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from sidecut.checks import BoolArray, FloatArray, IntArray
from sidecut.images.region_graph import as_lab
from sidecut.spectral.conjugate_gradients import solve_columns

#: Pairs of pixels, or of ranks in a band.
Pairs = tuple[IntArray, IntArray]

#: How much the probabilities a pixel starts with count beside its four neighbours. The second is added where
#: single colours separate the classes.
PIXEL_PRIOR_WEIGHT = 0.02
COLOR_PRIOR_WEIGHT = 0.3
#: Relative residual of the walk; labels do not change below it.
TOLERANCE = 1e-3


@dataclass(frozen=True, eq=False)
class Band:
    """Pixels to decide, and what lies next to each of them."""

    places: IntArray
    pairs: list[Pairs]
    rim: list[Pairs]

    @classmethod
    def of(cls, mask: BoolArray) -> Band:
        """Return the band of the pixels that are True."""
        places: IntArray = np.flatnonzero(mask)
        flat, last = mask.reshape(-1), mask.size - 1
        pairs: list[Pairs] = []
        rim: list[Pairs] = []
        axes = np.unravel_index(places, mask.shape)
        for step, size, where in zip(_steps(mask.shape), mask.shape, axes, strict=True):
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


def band_around(codes: npt.NDArray, reach: int = 4, candidates: IntArray | None = None) -> BoolArray:
    """Return which pixels are within `reach` of a border between classes, given those that may be at one."""
    if candidates is None:
        near = touches_border(codes)
        for _ in range(reach):
            near = _grown(near)
        return near
    near = np.zeros(codes.shape, dtype=bool)
    axes = np.unravel_index(_at_border(codes, candidates), codes.shape)
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
    """Return which pixels have a neighbour of another class."""
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
    priors: FloatArray,
    weight: float = PIXEL_PRIOR_WEIGHT,
    colors: npt.NDArray | None = None,
) -> FloatArray:
    """Return the probabilities of the classes for the pixels of a band, all others being known."""
    # A walk from a pixel over similar neighbours ends where the class is known, or, at a rate γ, where it is,
    # with the prior p there: (L + γ I) u = W z + γ p on the band, z being the classes around it.
    flat = pixels.reshape(-1, pixels.shape[-1])
    if colors is None:
        colors = as_lab(flat[band.places])
    inner, outer = _weights(colors, [as_lab(flat[there]) for _, there in band.rim], band)
    pull, n_classes = np.zeros(priors.size), priors.shape[1]
    for (here, there), weights in zip(band.rim, outer, strict=True):
        pull += np.bincount(here * n_classes + codes.reshape(-1)[there], weights, priors.size)
    right = pull.reshape(priors.shape)
    matrix, diagonal = _system(band, inner, right.sum(axis=1) + weight)
    right += weight * priors
    return _solve(matrix, diagonal, right, priors)


def _weights(
    colors: npt.NDArray, outside: list[npt.NDArray], band: Band
) -> tuple[list[FloatArray], list[FloatArray]]:
    """Return the weights between pixels of the band along each axis, and those of the pairs of the rim."""
    inner = [_squares(colors[first], colors[second]) for first, second in band.pairs]
    outer = [_squares(colors[here], there) for (here, _), there in zip(band.rim, outside, strict=True)]
    steps = [*inner, *outer]
    mean = sum(float(step.sum()) for step in steps) / max(sum(step.size for step in steps), 1) or 1.0
    # exp(-s²/2) of the step s in units of the average step; the last term keeps the band connected.
    weights = [np.exp(step * (-0.5 / mean)) + 1e-6 for step in steps]
    return weights[: len(inner)], weights[len(inner) :]


def _squares(one: npt.NDArray, other: npt.NDArray) -> FloatArray:
    gaps = (one - other).astype(np.float64)
    return np.einsum("ij,ij->i", gaps, gaps)


def _system(band: Band, inner: list[FloatArray], grounded: FloatArray) -> tuple[sp.csr_array, FloatArray]:
    """Return the Laplacian of the band, grounded, and its diagonal."""
    n_axes, n_pixels = len(band.pairs), band.places.size
    entries = np.zeros((2 * n_axes + 1, n_pixels))
    columns = np.full(entries.shape, -1, dtype=np.int32)
    for axis, ((first, second), weights) in enumerate(zip(band.pairs, inner, strict=True)):
        # Columns in ascending order: the pixels before this one, itself, and those after it.
        columns[axis, second], entries[axis, second] = first, -weights
        columns[-1 - axis, first], entries[-1 - axis, first] = second, -weights
    diagonal = grounded - entries.sum(axis=0)
    columns[n_axes], entries[n_axes] = np.arange(n_pixels), diagonal
    is_entry = (columns >= 0).T
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
    """Give small parts without a mark to the class around them."""
    # Of fewer than 12 pixels, and of less than 1/10,000 of a large picture.
    least = max(12, round(1e-4 * codes.size))
    flat = codes.reshape(-1)
    for code in np.unique(flat[band.places]):
        parts, is_speck = _specks(flat, band, least)
        if not is_speck.any():
            break
        lost = np.flatnonzero(is_speck[parts] & (flat[band.places] == code))
        if lost.size:
            around = _classes_around(flat, codes.shape, band.places[lost], parts[lost])
            lost = lost[around[parts[lost]] >= 0]
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
        # Two runs that touch along several pixels are linked once.
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
    for step, size, where in zip(_steps(shape), shape, np.unravel_index(places, shape), strict=True):
        for has_neighbor, by in ((where > 0, -step), (where < size - 1, step)):
            here, there = places[has_neighbor], flat[places[has_neighbor] + by]
            is_rim = there != flat[here]
            votes += np.bincount(
                parts[has_neighbor][is_rim] * n_classes + there[is_rim], minlength=votes.size
            )
    table = votes.reshape(n_parts, n_classes)
    return np.where(table.any(axis=1), table.argmax(axis=1), -1)


def _at_border(codes: npt.NDArray, candidates: IntArray) -> IntArray:
    """Return those of some pixels that have a neighbour of another class."""
    flat, differs = codes.reshape(-1), np.zeros(candidates.size, dtype=bool)
    here, last = flat[candidates], codes.size - 1
    axes = np.unravel_index(candidates, codes.shape)
    for where, size, step in zip(axes, codes.shape, _steps(codes.shape), strict=True):
        differs |= (where > 0) & (flat[np.maximum(candidates - step, 0)] != here)
        differs |= (where < size - 1) & (flat[np.minimum(candidates + step, last)] != here)
    return candidates[differs]


def _steps(shape: tuple[int, ...]) -> list[int]:
    """Return how far apart neighbours along each axis are in reading order."""
    return [int(np.prod(shape[axis + 1 :])) for axis in range(len(shape))]


def _halves(n_axes: int, axis: int) -> tuple[tuple[slice, ...], tuple[slice, ...]]:
    """Return slices of all pixels that have a neighbour ahead along an axis, and of these neighbours."""
    whole = [slice(None)] * n_axes
    behind, ahead = list(whole), list(whole)
    behind[axis], ahead[axis] = slice(None, -1), slice(1, None)
    return tuple(behind), tuple(ahead)
