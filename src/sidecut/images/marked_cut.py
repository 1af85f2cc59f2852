"""A picture cut by marks: regions first, then the pixels along the borders, from coarse to fine."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sidecut.images.border import band_around, decide_pixels, remove_specks
from sidecut.images.region_cut import cut_regions
from sidecut.images.region_graph import RegionGraph

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Cut:
    """Classes of pixels, at one level of a picture.

    Attributes
    ----------
    codes : array of the shape of the level
        The class of every pixel.
    probabilities : array of the shape of the level and one more axis
        Of every class.
    """

    codes: IntArray
    probabilities: npt.NDArray[np.float32]


@dataclass(frozen=True)
class RegionCut:
    """How the cut was made: by regions, then by the pixels along the borders.

    Attributes
    ----------
    n_clusters : int
        How many classes there are.
    n_regions : int
        How many regions there were to be told apart.
    """

    n_clusters: int
    n_regions: int


def cut_by_marks(graph: RegionGraph, marks: IntArray, n_classes: int) -> Cut:
    """Return the class of every pixel, those of marked pixels being what the marks say.

    Parameters
    ----------
    graph : RegionGraph
        The picture.
    marks : array of the shape of the picture
        The class of marked pixels, from 0; -1 elsewhere.
    n_classes : int
        How many classes there are; each has a mark.
    """
    levels = _marks_by_level(graph, marks)
    regions = graph.regions
    votes = _votes(graph, marks, n_classes)
    probabilities = cut_regions(graph, votes)
    is_split = np.count_nonzero(votes, axis=1) > 1
    cut = _exact(
        probabilities.astype(np.float32)[regions.numbers],
        levels[-1],
        graph.levels[-1],
        is_split[regions.numbers] if is_split.any() else None,
    )
    for pixels, known in zip(graph.levels[-2::-1], levels[-2::-1], strict=True):
        cut = _exact(_doubled(cut.probabilities, known.shape), known, pixels, None)
    return cut


def _exact(
    probabilities: npt.NDArray[np.float32],
    marks: IntArray,
    pixels: npt.NDArray,
    undecided: npt.NDArray[np.bool_] | None,
) -> Cut:
    """Decide the pixels along the borders, keep the marks, and remove specks."""
    is_marked = marks >= 0
    codes = np.where(is_marked, marks, probabilities.argmax(axis=-1))
    band = band_around(codes)
    if undecided is not None:
        band |= undecided
    band &= ~is_marked
    if band.any():
        probabilities[band] = decide_pixels(pixels, codes, band, probabilities[band].astype(np.float64))
        codes[band] = probabilities[band].argmax(axis=-1)
    codes = remove_specks(codes, marks)
    probabilities[is_marked] = np.eye(probabilities.shape[-1])[marks[is_marked]]
    _agree(probabilities, codes)
    return Cut(codes, probabilities)


def _agree(probabilities: npt.NDArray[np.float32], codes: IntArray) -> None:
    """Let the chosen class be the most probable where specks were removed, by a swap."""
    most = probabilities.argmax(axis=-1)
    where = np.nonzero(most != codes)
    if where[0].size:
        chosen, likely = (*where, codes[where]), (*where, most[where])
        probabilities[chosen], probabilities[likely] = probabilities[likely], probabilities[chosen]


def _votes(graph: RegionGraph, marks: IntArray, n_classes: int) -> FloatArray:
    """Count the marked pixels of every region by class, at the size of the picture."""
    places = np.nonzero(marks >= 0)
    coarse = graph.regions.numbers.shape
    shrink = 2 ** (len(graph.levels) - 1)
    there = tuple(
        np.minimum(place // (shrink if size > 1 else 1), small - 1)
        for place, size, small in zip(places, marks.shape, coarse, strict=True)
    )
    votes = np.zeros((graph.regions.n_regions, n_classes))
    np.add.at(votes, (graph.regions.numbers[there], marks[places]), 1.0)
    return votes


def _marks_by_level(graph: RegionGraph, marks: IntArray) -> list[IntArray]:
    """Return the marks at every level; where several pixels become one, one of their marks stays."""
    places, codes = np.nonzero(marks >= 0), marks[marks >= 0]
    result = [marks]
    for level in graph.levels[1:]:
        shape = level.shape[:-1]
        places = tuple(
            np.minimum(place // (2 if old > 1 else 1), new - 1)
            for place, old, new in zip(places, result[-1].shape, shape, strict=True)
        )
        coarse = np.full(shape, -1, dtype=np.intp)
        coarse[places] = codes
        result.append(coarse)
    return result


def _doubled(values: npt.NDArray[np.float32], shape: tuple[int, ...]) -> npt.NDArray[np.float32]:
    for axis, size in enumerate(shape):
        if values.shape[axis] != size:
            values = values.repeat(2, axis=axis).take(range(size), axis=axis)
    return values
