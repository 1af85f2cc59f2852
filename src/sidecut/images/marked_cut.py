"""A picture cut by marks: regions first, then the pixels along the borders, from coarse to fine.

Most pixels of a large picture are far from any border and have the class of their region. Only the others
are decided one by one, and probabilities of all pixels are computed on first access.

The class of a region depends on three things (`cut_regions`):

1. Place. A random walk over the regions that hardly ever crosses a strong edge ends at a mark of class c with
   probability q_c: L q = 0 on regions without marks (Grady, 2006). On the best way to a mark of class c the
   strongest edge has strength s_c.
2. Look. Marks give the density d_c of colour and texture of each class.
3. Neighbours. All three give a prior, p_c ∝ (q_c + ε)^a exp(-e s_c) (d_c + δ)^b, which is smoothed on the
   graph: u minimises Σ_ij w_ij (u_i - u_j)² / 2 + γ Σ_i n_i (u_i - p_i)², n_i the pixels of region i.

Then regions with a clear class are further examples of it, and steps 2 and 3 are repeated.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np
import numpy.typing as npt
from scipy.special import softmax

from sidecut.checks import BoolArray, FloatArray, IntArray
from sidecut.images.border import (
    COLOR_PRIOR_WEIGHT,
    PIXEL_PRIOR_WEIGHT,
    Band,
    band_around,
    decide_pixels,
    remove_specks,
    touches_border,
)
from sidecut.images.region_graph import (
    FLOOR,
    REGION_PRIOR_WEIGHT,
    SHARPNESS,
    RegionGraph,
    as_lab,
    class_densities,
    class_palettes,
    color_bins,
    doubled,
    how_distinct,
    pool_alike,
    with_colors,
)

#: a, e and b of step 3.
PLACE_WEIGHT = 0.5
BARRIER_WEIGHT = 0.6
LOOK_WEIGHT = 2.0


@dataclass(frozen=True, eq=False)
class Level:
    """Marks and decided pixels at one level of a picture; all others have the class of the smaller level."""

    shape: tuple[int, ...]
    marked: IntArray
    marks: IntArray
    band: IntArray
    probabilities: FloatArray


@dataclass(frozen=True, eq=False)
class Cut:
    """Classes of pixels, at one level of a picture."""

    codes: npt.NDArray
    regions: IntArray
    by_region: FloatArray
    palettes: FloatArray | None = None
    levels: tuple[Level, ...] = ()

    @cached_property
    def probabilities(self) -> npt.NDArray[np.float32]:
        """The probability of every class for every pixel."""
        values = self.by_region.astype(np.float32)[self.regions]
        for level in self.levels:
            values = doubled(values, level.shape)
            flat = values.reshape(-1, values.shape[-1])
            flat[level.band] = level.probabilities
            flat[level.marked] = np.eye(values.shape[-1])[level.marks]
        return values

    def priors(self, places: tuple[IntArray, ...]) -> FloatArray:
        """Return `probabilities`, doubled, at some pixels of the next larger level."""
        n_levels = len(self.levels)
        n_classes = self.by_region.shape[1]
        values = np.empty((places[0].size, n_classes))
        unknown = np.arange(places[0].size)
        # The largest level with a value for a pixel is right, and that is almost always the last.
        for halvings, level in enumerate(reversed(self.levels), start=1):
            here = np.ravel_multi_index(tuple(axis[unknown] >> halvings for axis in places), level.shape)
            for known, what in ((level.band, level.probabilities), (level.marked, level.marks)):
                if known.size and here.size:
                    rank = np.searchsorted(known, here).clip(max=known.size - 1)
                    is_known = known[rank] == here
                    found = what[rank[is_known]]
                    values[unknown[is_known]] = found if what.ndim == 2 else np.eye(n_classes)[found]
                    unknown, here = unknown[~is_known], here[~is_known]
        values[unknown] = self.by_region[self.regions[tuple(axis[unknown] >> n_levels for axis in places)]]
        return values


@dataclass(frozen=True)
class RegionCut:
    """How the cut was made: by regions, then by the pixels along the borders.

    Attributes
    ----------
    n_clusters : int
        How many classes there are.
    n_regions : int
        How many regions the picture was divided into.
    """

    n_clusters: int
    n_regions: int


def cut_by_marks(graph: RegionGraph, marks: IntArray, n_classes: int) -> Cut:
    """Return the class of every pixel; marked pixels keep the class of their mark."""
    regions = graph.regions
    levels = _marks_by_level(graph, marks)
    votes = _votes(graph, levels[0], n_classes)
    by_region = cut_regions(graph, votes)
    # Few bits per pixel: most of the time at a large picture is spent on moving them.
    codes = by_region.argmax(axis=1).astype(np.uint8 if n_classes <= 256 else np.intp)[regions.numbers]
    is_split = np.count_nonzero(votes, axis=1) > 1
    undecided = is_split[regions.numbers] if is_split.any() else None
    cut = Cut(codes, regions.numbers, by_region)
    for pixels, known in zip(reversed(graph.levels), reversed(levels), strict=True):
        cut = _exact(cut, graph, pixels, known, undecided)
        undecided = None
    return cut


def _exact(
    coarse: Cut,
    graph: RegionGraph,
    pixels: npt.NDArray,
    known: tuple[IntArray, IntArray],
    undecided: BoolArray | None,
) -> Cut:
    """Decide the pixels along the borders one level up, keep the marks, and remove specks."""
    shape, (marked, marks) = pixels.shape[:-1], known
    codes, near = _one_level_up(coarse, shape, known)
    if undecided is not None:
        near |= undecided
    near.reshape(-1)[marked] = False
    flat, band = codes.reshape(-1), Band.of(near)
    probabilities = coarse.priors(np.unravel_index(band.places, shape))
    palettes = coarse.palettes
    if palettes is None:
        palettes = class_palettes(graph.bins, codes, ~near, probabilities.shape[1], pixels.shape[-1])
    if band.places.size:
        colors = as_lab(pixels.reshape(-1, pixels.shape[-1])[band.places])
        # Colours count as far as they separate the classes.
        distinct = how_distinct(palettes)
        priors = with_colors(probabilities, palettes, color_bins(colors), distinct)
        weight = PIXEL_PRIOR_WEIGHT + COLOR_PRIOR_WEIGHT * distinct**SHARPNESS
        probabilities = decide_pixels(pixels, codes, band, priors, weight, colors)
        most = probabilities.argmax(axis=1)
        flat[band.places] = most
        remove_specks(codes, band)
        # Where a speck was removed, its class and the new one swap their probabilities.
        changed = np.flatnonzero(most != flat[band.places])
        new, old = (changed, flat[band.places[changed]]), (changed, most[changed])
        probabilities[new], probabilities[old] = probabilities[old], probabilities[new]
    level = Level(shape, marked, marks, band.places, probabilities)
    return Cut(codes, coarse.regions, coarse.by_region, palettes, (*coarse.levels, level))


def _one_level_up(
    coarse: Cut, shape: tuple[int, ...], known: tuple[IntArray, IntArray]
) -> tuple[npt.NDArray, BoolArray]:
    """Return the classes of a level by the smaller one and the marks, and which pixels are near borders."""
    marked, marks = known
    if not coarse.levels:
        codes = coarse.codes.copy()
        codes.reshape(-1)[marked] = marks
        return codes, band_around(codes)
    codes = doubled(coarse.codes, shape)
    flat = codes.reshape(-1)
    differs = flat[marked] != marks
    flat[marked[differs]] = marks[differs]
    # Borders come from borders of the smaller level, and from marks that it had lost.
    touches = touches_border(coarse.codes)
    lost = [axis >> 1 for axis in np.unravel_index(marked[differs], shape)]
    for move in product((-1, 0, 1), repeat=len(shape)):
        moved = zip(lost, move, touches.shape, strict=True)
        touches[tuple((where + by).clip(0, size - 1) for where, by, size in moved)] = True
    # The smaller level is off by one pixel, which is two here; those at the border are in the band anyway.
    return codes, band_around(codes, 1, _children(touches, shape))


def _children(cells: BoolArray, shape: tuple[int, ...]) -> IntArray:
    """Return the pixels of a level that lie in some pixels of the smaller one."""
    axes = np.nonzero(cells)
    found = []
    for corner in product((0, 1), repeat=len(shape)):
        places = [2 * axis + side for axis, side in zip(axes, corner, strict=True)]
        fits = np.logical_and.reduce([axis < size for axis, size in zip(places, shape, strict=True)])
        found.append(np.ravel_multi_index(tuple(axis[fits] for axis in places), shape))
    return np.concatenate(found)


def _votes(graph: RegionGraph, known: tuple[IntArray, IntArray], n_classes: int) -> FloatArray:
    """Count the marked pixels of every region by class, at the size of the picture."""
    marked, marks = known
    n_halvings = len(graph.levels) - 1
    places = tuple(axis >> n_halvings for axis in np.unravel_index(marked, graph.shape))
    pairs = graph.regions.numbers[places] * n_classes + marks
    n_regions = graph.regions.n_regions
    return np.bincount(pairs, minlength=n_regions * n_classes).reshape(n_regions, n_classes).astype(float)


def _marks_by_level(graph: RegionGraph, marks: IntArray) -> list[tuple[IntArray, IntArray]]:
    """Return the marked pixels and their classes at every level, from the picture to the smallest."""
    # Where several pixels become one, one of their marks stays.
    marked: IntArray = np.flatnonzero(marks >= 0)
    result: list[tuple[IntArray, IntArray]] = [(marked, marks.reshape(-1)[marked].astype(np.intp))]
    for fine, coarse in zip(graph.levels, graph.levels[1:], strict=False):
        marked, codes = result[-1]
        places = tuple(axis >> 1 for axis in np.unravel_index(marked, fine.shape[:-1]))
        there = np.full(coarse.shape[:-1], -1, dtype=marks.dtype)
        there[places] = codes
        marked = np.flatnonzero(there >= 0)
        result.append((marked, there.reshape(-1)[marked].astype(np.intp)))
    return result


def cut_regions(graph: RegionGraph, votes: FloatArray) -> FloatArray:
    """Return the probability of every class for every region."""
    sizes = graph.regions.sizes[:, None]
    place = PLACE_WEIGHT * np.log(walk_to_marks(graph, votes) + 1e-3)
    place -= BARRIER_WEIGHT * lowest_barriers(graph, votes)
    problem = graph.joining.grounded(votes)
    examples = votes
    for _ in range(3):
        densities = pool_alike(class_densities(graph.looks, examples), votes)
        priors = softmax(place + LOOK_WEIGHT * np.log(densities + FLOOR), axis=1)
        probabilities = problem.solve(REGION_PRIOR_WEIGHT * sizes * priors)
        # Regions of a clear class are examples, too; a marked pixel counts as five of theirs.
        sure = np.where(probabilities > 0.8, probabilities, 0.0)
        examples = 5.0 * votes + sizes * sure
    return probabilities


def lowest_barriers(graph: RegionGraph, votes: FloatArray) -> FloatArray:
    """Return the strength of the strongest edge on the best way from each region to a mark of each class."""
    # The best way is the one whose strongest edge is weakest: where a flood from the marks comes from.
    barriers = np.where(votes > 0, 0.0, np.inf)
    for out, one, other, to_one, to_other in graph.tree:
        np.minimum.at(barriers, one, np.maximum(barriers[out], to_one[:, None]))
        np.minimum.at(barriers, other, np.maximum(barriers[out], to_other[:, None]))
    for out, one, other, to_one, to_other in reversed(graph.tree):
        best = np.minimum(
            np.maximum(barriers[one], to_one[:, None]), np.maximum(barriers[other], to_other[:, None])
        )
        barriers[out] = np.minimum(barriers[out], best)
    return barriers


def walk_to_marks(graph: RegionGraph, votes: FloatArray) -> FloatArray:
    """Return the probability that a walk from each region first meets a mark of each class."""
    return np.clip(graph.walking.grounded(votes).solve(np.zeros_like(votes)), 0.0, 1.0)
