"""Cutting a picture: the marks, a graph, a cut, and the result as pictures."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from typing import Any

import numpy as np
import numpy.typing as npt

from sidecut.checks import FloatArray, IntArray
from sidecut.constraints import Constraints
from sidecut.graphs import SparseGraph
from sidecut.images.drawing import class_colors, draw_heat, draw_overlay
from sidecut.images.files import write_labels
from sidecut.images.marked_cut import Cut, RegionCut, cut_by_marks
from sidecut.images.pixel_graph import as_rgb, pixel_graph
from sidecut.images.region_graph import RegionGraph, region_graph
from sidecut.images.seeds import Seeds, as_seeds, is_volume
from sidecut.images.spectral_cut import (
    SpectralCut,
    cut_pixel_graph,
    cut_region_graph,
    is_cut_by_regions,
    mark_other_segments,
    number_of_segments,
    usual_radius,
)


@dataclass(frozen=True, eq=False)
class Segmentation:
    """A picture cut into segments.

    Attributes
    ----------
    cut : Cut or SpectralCut
        The cut itself: by regions and marks, or of a graph of pixels or regions.
    graph : RegionGraph or SparseGraph
        The graph of the regions, or of the pixels.
    seeds : Seeds or None
        The marks.
    model : RegionCut or estimator
        What made the cut.
    """

    cut: Cut | SpectralCut
    graph: RegionGraph | SparseGraph
    seeds: Seeds | None
    model: Any

    @cached_property
    def codes(self) -> IntArray:
        """The segment of every pixel, from 0; segment k holds the marks of class ``seeds.classes[k]``."""
        return self.cut.codes.astype(np.intp, copy=False)

    @property
    def probabilities(self) -> npt.NDArray[np.float32] | None:
        """The probability of every class for every pixel, on one axis more than the picture has.

        None where a method of spectral clustering made the cut.
        """
        return self.cut.probabilities if isinstance(self.cut, Cut) else None

    @property
    def indicator(self) -> FloatArray | None:
        """Positive in segment 1: u* of CSP and the like, or the difference of two probabilities; or None."""
        if isinstance(self.cut, SpectralCut):
            return self.cut.indicator
        likely = self.cut.probabilities
        return (likely[..., 1] - likely[..., 0]).astype(np.float64) if likely.shape[-1] == 2 else None

    @cached_property
    def constraints(self) -> Constraints:
        """The constraints between marked pixels."""
        if isinstance(self.cut, SpectralCut):
            return self.cut.constraints
        return Constraints.none(self.codes.size) if self.seeds is None else self.seeds.constraints()

    @property
    def labels(self) -> IntArray:
        """A label image: numbers and type of the label image that was given, `codes` if none was."""
        if self.seeds is None or not self.seeds.is_label_image:
            return self.codes
        numbers = self.seeds.numbers
        n_more = self.model.n_clusters - numbers.size
        if n_more:
            numbers = np.concatenate([numbers, int(numbers.max()) + 1 + np.arange(n_more)])
        if int(numbers[-1]) - int(numbers[0]) == numbers.size - 1:
            # Numbers without a gap need no lookup for every pixel.
            return np.add(self.cut.codes, numbers[0], dtype=numbers.dtype, casting="unsafe")
        return numbers[self.cut.codes]

    @property
    def shape(self) -> tuple[int, ...]:
        """Height and width; depth, height and width of a volume."""
        return self.cut.codes.shape

    @property
    def sizes(self) -> IntArray:
        """The number of pixels in each segment."""
        return np.bincount(self.codes.ravel(), minlength=self.model.n_clusters)

    @property
    def n_marks_lost(self) -> int:
        """How many marked pixels are not in the segment of their class: none where regions were cut."""
        if self.seeds is None:
            return 0
        return int(np.count_nonzero((self.seeds.codes >= 0) & (self.seeds.codes != self.codes)))

    def overlay(
        self, image: npt.ArrayLike, *, opacity: float = 0.4, enlarge: int = 1, show_seeds: bool = True
    ) -> npt.NDArray[np.uint8]:
        """Return the picture with its segments in colour, boundaries in white and marks outlined.

        Strokes of colour keep their colours, and segments have those of their strokes.

        Parameters
        ----------
        image : array
            The picture.
        opacity : float, default=0.4
            Of the colours, between 0 (the picture alone) and 1 (colours alone).
        enlarge : int, default=1
            Side of the square that shows a pixel, for small pictures.
        show_seeds : bool, default=True
            Show the marks.

        Returns
        -------
        array of uint8, shape (height * enlarge, width * enlarge, 3)
            RGB.
        """
        if self.codes.ndim != 2:
            raise ValueError("A volume is drawn slice by slice: draw_overlay(image[i], labels[i]) does one.")
        codes = self.seeds.codes if self.seeds is not None and show_seeds else None
        colors = class_colors(() if self.seeds is None else self.seeds.classes, self.model.n_clusters)
        return draw_overlay(image, self.codes, codes, opacity, enlarge, colors)

    def cutout(self, image: npt.ArrayLike, segment: Any = None) -> npt.NDArray[np.uint8]:
        """Return one segment of the picture on transparent ground, to be saved as PNG.

        Parameters
        ----------
        image : array
            The picture; an opacity of its own is not kept.
        segment : optional
            The class of its marks, or without marks its number; by default the first one.

        Returns
        -------
        array of uint8, shape (height, width, 4)
            RGB and opacity.

        Examples
        --------
        >>> from sidecut.images import Box, segment, touching_discs
        >>> image, _ = touching_discs(random_state=0)
        >>> cut = segment(image, boxes=[Box("disc", 22, 20, 4, 4), Box("rest", 0, 0, 4, 70)])
        >>> cut.cutout(image, "disc")[24, 22].tolist(), cut.cutout(image, "disc")[0, 0, 3].item()
        ([..., 255], 0)
        """
        names = range(self.model.n_clusters) if self.seeds is None else self.seeds.classes
        called = [str(name) for name in names]
        if segment is not None and str(segment) not in called:
            raise ValueError(f"segment={segment!r} must be one of {', '.join(called)}.")
        number = 0 if segment is None else called.index(str(segment))
        rgb = np.round(255 * as_rgb(image)).astype(np.uint8)
        return np.dstack([rgb, np.where(self.codes == number, 255, 0).astype(np.uint8)])

    def heat_map(self, *, enlarge: int = 1, show_seeds: bool = True) -> npt.NDArray[np.uint8]:
        """Return the indicator in colours: blue where negative, red where positive, white at zero.

        Parameters
        ----------
        enlarge : int, default=1
            Side of the square that shows a pixel.
        show_seeds : bool, default=True
            Outline the marks.

        Returns
        -------
        array of uint8, shape (height * enlarge, width * enlarge, 3)
            RGB, as in figure 5 of Wang, Qian and Davidson (2014).

        Raises
        ------
        ValueError
            If there is no indicator.
        """
        if self.indicator is None:
            raise ValueError(
                f"{type(self.model).__name__} has no indicator of {self.model.n_clusters} segments: an "
                "indicator separates two. `probabilities` has one value per class."
            )
        codes = self.seeds.codes if self.seeds is not None and show_seeds else None
        return draw_heat(self.indicator, codes, enlarge)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the label image, as ``.npy`` or as ``.png`` with one colour per segment.

        The pixels of the ``.png`` are the labels themselves, shown through a palette.
        """
        write_labels(path, self.labels)

    def __repr__(self) -> str:
        size = " x ".join(map(str, self.shape))
        counts = ", ".join(f"{size:,}" for size in self.sizes)
        return f"Segmentation({size}, {type(self.model).__name__}, sizes {counts})"


def segment(
    image: npt.ArrayLike,
    scribbles: Any = None,
    *,
    boxes: Iterable[Any] | None = None,
    n_segments: int | None = None,
    method: Any = None,
    balance: bool | None = None,
    graph: RegionGraph | SparseGraph | None = None,
    radius: float | None = None,
    n_neighbors: int | None = None,
    sigma_position: float | None = None,
    sigma_color: float | None = None,
    random_state: int | np.random.RandomState | None = 0,
) -> Segmentation:
    """Cut a picture into segments that keep the marks on it.

    With marks of two classes or more, the picture is cut by regions and then by the pixels along the borders,
    see `RegionCut`, and every marked pixel ends in its class. If `n_segments` exceeds the number of marked
    classes, the graph of pixels finds the other segments first; then they are cut as if they were marked.

    With a method, a graph of pixels, any parameter of `pixel_graph`, no marks, or marks of one class, the
    graph of pixels is cut instead, as in the papers, which may lose marks. Large pictures without marks are
    cut by regions all the same: a graph of their pixels takes half a minute.

    Parameters
    ----------
    image : array of shape (height, width) or (height, width, channels)
        Grey or colour, of floats or integers. A volume (depth, height, width), with channels or without,
        needs a label image of its shape.
    scribbles : array or Seeds, optional
        A label image (height, width), 0 where unknown; or strokes of plain colours (height, width, 3 or 4).
    boxes : iterable of (label, row, column, height, width), optional
        Rectangles of known class; together with scribbles, classes of the same name are one.
    n_segments : int, optional
        By default as many as there are classes among the marks, at least two.
    method : estimator, optional
        Any estimator of sidecut, such as ``CSP(beta="eq19")``; its `n_clusters` and `affinity` are set here.
        By default, on a graph of pixels, CSP with β from `attainable_beta`, and the normalised cut where
        nothing is marked.
    balance : bool, optional
        For a method: let every class count alike, however many of its pixels are marked, see
        `Seeds.constraints`. By default for CSP only: other methods take labels as facts.
    graph : RegionGraph or SparseGraph, optional
        The graph of the same picture, such as ``first.graph`` of an earlier result: cutting again with more
        marks then takes a fraction of the time.
    radius : float, optional
        See `pixel_graph`; by default 5, and 2 for pictures of more than 40,000 pixels that a method cuts
        without marks.
    n_neighbors, sigma_position, sigma_color : optional
        See `pixel_graph`.
    random_state : int, RandomState or None, default=0
        For the methods chosen here.

    Returns
    -------
    Segmentation
        Labels, probabilities, graph, constraints and what made the cut.

    Raises
    ------
    ConstraintError
        If the marks do not fit the picture, contradict each other, or are of more classes than there are
        segments.

    Examples
    --------
    Two discs of the same grey that touch; marks on each separate them.

    >>> from sidecut.images import segment, touching_discs
    >>> image, truth = touching_discs(random_state=0)
    >>> marks = 0 * truth
    >>> marks[24, 20:26], marks[24, 50:56], marks[2, 10:60] = 1, 2, 3
    >>> result = segment(image, marks)
    >>> result
    Segmentation(48 x 72, RegionCut, sizes ...)
    >>> int(result.labels[24, 22]), int(result.labels[24, 52]), int(result.labels[2, 2])
    (1, 2, 3)
    """
    seeds = as_seeds(scribbles, boxes, image)
    n_segments = number_of_segments(n_segments, seeds)
    for_pixels = (method, radius, n_neighbors, sigma_position, sigma_color, balance)
    wants_pixels = any(option is not None for option in for_pixels) or isinstance(graph, SparseGraph)
    if seeds is not None and not wants_pixels and len(seeds.classes) >= 2:
        if len(seeds.classes) == n_segments:
            return _segment_regions(image, seeds, graph, is_volume(seeds, image))
        if graph is None and not is_volume(seeds, image):
            return _segment_beyond_marks(image, seeds, n_segments, random_state)
    if not wants_pixels and is_cut_by_regions(image, seeds):
        graph = region_graph(image) if graph is None else graph
        found = cut_region_graph(graph, n_segments, random_state=random_state)
        return Segmentation(found, graph, seeds, found.model)
    if isinstance(graph, RegionGraph) or is_volume(seeds, image):
        raise ValueError(
            "A graph of regions, or a volume, is cut by marks of two classes or more, into as many segments, "
            "and by no other method: leave out method, balance, n_segments and parameters of pixel graphs."
        )
    if graph is None:
        graph = pixel_graph(
            image,
            radius=usual_radius(image, seeds) if radius is None else radius,
            n_neighbors=n_neighbors,
            sigma_position=sigma_position,
            sigma_color=sigma_color,
        )
    cut = cut_pixel_graph(
        graph,
        np.shape(image)[:2],
        seeds,
        n_segments,
        method=method,
        balance=balance,
        random_state=random_state,
    )
    return Segmentation(cut, graph, seeds, cut.model)


def _segment_regions(image: npt.ArrayLike, seeds: Seeds, graph: Any, volume: bool) -> Segmentation:
    if not isinstance(graph, RegionGraph):
        graph = region_graph(image, volume=volume)
    if graph.shape != seeds.codes.shape:
        raise ValueError(
            f"graph is of a picture of {' x '.join(map(str, graph.shape))} pixels, the marks of "
            f"{' x '.join(map(str, seeds.codes.shape))}: they do not belong together."
        )
    n_classes = len(seeds.classes)
    model = RegionCut(n_classes, graph.regions.n_regions)
    return Segmentation(cut_by_marks(graph, seeds.codes, n_classes), graph, seeds, model)


def _segment_beyond_marks(
    image: npt.ArrayLike, seeds: Seeds, n_segments: int, random_state: int | np.random.RandomState | None
) -> Segmentation:
    """Cut a picture into more segments than were marked, and keep every mark."""
    # A cut of the graph of pixels finds the other segments but may lose marks. Its pixels become marks of
    # these segments, and regions are cut by all marks.
    pixels = pixel_graph(image, radius=usual_radius(image, seeds))
    found = cut_pixel_graph(pixels, np.shape(image)[:2], seeds, n_segments, random_state=random_state)
    marks = mark_other_segments(found.codes, seeds.codes, len(seeds.classes))
    graph = region_graph(image)
    cut = cut_by_marks(graph, marks, n_segments)
    return Segmentation(cut, graph, seeds, RegionCut(n_segments, graph.regions.n_regions))
