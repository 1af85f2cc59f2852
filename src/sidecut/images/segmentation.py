"""Cutting a picture: the pixel graph, the marks, a method, and the result as pictures."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment
from sklearn.base import clone

from sidecut.constraints import Constraints
from sidecut.graphs import NormalizedAffinity, SparseGraph
from sidecut.images.defaults import number_of_segments, usual_method, usual_radius
from sidecut.images.drawing import draw_heat, draw_overlay
from sidecut.images.files import write_labels
from sidecut.images.pixel_graph import pixel_graph
from sidecut.images.pixels import FloatArray
from sidecut.images.seeds import IntArray, Seeds, as_seeds
from sidecut.methods import CSP


@dataclass(frozen=True, eq=False)
class Segmentation:
    """A picture cut into segments.

    Attributes
    ----------
    labels : array of shape (height, width)
        The segment of every pixel. Segment k is the one that holds the marks of class ``seeds.classes[k]``.
    indicator : array of shape (height, width) or None
        The relaxed indicator of the best cut, u* for two segments, where it is positive in segment 1; None
        where the method has none.
    graph : SparseGraph
        The graph of the pixels.
    constraints : Constraints
        What the marks say about pairs of pixels, as the method was told.
    seeds : Seeds or None
        The marks.
    model : estimator
        The method, fitted.
    """

    labels: IntArray
    indicator: FloatArray | None
    graph: SparseGraph
    constraints: Constraints
    seeds: Seeds | None
    model: Any

    @property
    def shape(self) -> tuple[int, int]:
        """Height and width."""
        return self.labels.shape[0], self.labels.shape[1]

    @property
    def sizes(self) -> IntArray:
        """The number of pixels in each segment."""
        return np.bincount(self.labels.ravel(), minlength=self.model.n_clusters)

    def overlay(
        self, image: npt.ArrayLike, *, opacity: float = 0.4, enlarge: int = 1, show_seeds: bool = True
    ) -> npt.NDArray[np.uint8]:
        """Return the picture with its segments in colour, boundaries in white and marks outlined.

        Parameters
        ----------
        image : array
            The picture.
        opacity : float, default=0.4
            Of the colours, between 0 (the picture alone) and 1 (colours alone).
        enlarge : int, default=1
            Show every pixel as a square of so many, for small pictures.
        show_seeds : bool, default=True
            Show the marks.

        Returns
        -------
        array of uint8, shape (height * enlarge, width * enlarge, 3)
            RGB.
        """
        codes = self.seeds.codes if self.seeds is not None and show_seeds else None
        return draw_overlay(image, self.labels, codes, opacity, enlarge)

    def heat_map(self, *, enlarge: int = 1, show_seeds: bool = True) -> npt.NDArray[np.uint8]:
        """Return the relaxed indicator in colours: blue where negative, red where positive, white at zero.

        Parameters
        ----------
        enlarge : int, default=1
            Show every pixel as a square of so many.
        show_seeds : bool, default=True
            Outline the marks.

        Returns
        -------
        array of uint8, shape (height * enlarge, width * enlarge, 3)
            RGB, as in figure 5 of Wang, Qian and Davidson (2014).

        Raises
        ------
        ValueError
            If the method has no indicator.
        """
        if self.indicator is None:
            raise ValueError(f"{type(self.model).__name__} has no relaxed indicator; CSP has.")
        codes = self.seeds.codes if self.seeds is not None and show_seeds else None
        return draw_heat(self.indicator, codes, enlarge)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the label image, as ``.npy`` or as ``.png`` with one colour per segment.

        The pixels of the ``.png`` are the labels themselves, shown through a palette.
        """
        write_labels(path, self.labels)

    def __repr__(self) -> str:
        height, width = self.shape
        counts = ", ".join(f"{size:,}" for size in self.sizes)
        return f"Segmentation({height} x {width}, {type(self.model).__name__}, sizes {counts})"


def segment(
    image: npt.ArrayLike,
    scribbles: Any = None,
    *,
    boxes: Iterable[Any] | None = None,
    n_segments: int | None = None,
    method: Any = None,
    balance: bool | None = None,
    graph: SparseGraph | None = None,
    radius: float | None = None,
    n_neighbors: int | None = None,
    sigma_position: float | None = None,
    sigma_color: float | None = None,
    random_state: int | np.random.RandomState | None = 0,
) -> Segmentation:
    """Cut a picture into segments that keep what was marked on it.

    Parameters
    ----------
    image : array of shape (height, width) or (height, width, channels)
        Grey or colour.
    scribbles : array or Seeds, optional
        A label image (height, width), 0 where unknown; or strokes of plain colours (height, width, 3 or 4).
    boxes : iterable of (label, row, column, height, width), optional
        Rectangles of known class, instead of scribbles.
    n_segments : int, optional
        By default as many as there are classes among the marks, at least two.
    method : estimator, optional
        Any estimator of sidecut, such as ``CSP(beta="eq19")``; its `n_clusters` and `affinity` are set here.
        By default CSP with marks, its β from `attainable_beta`, and the normalised cut without.
    balance : bool, optional
        Let every class count alike, however many of its pixels are marked, see `Seeds.constraints`. By
        default for CSP only: other methods take labels as facts.
    graph : SparseGraph, optional
        The graph of the pixels, if it exists already: cutting again with more marks saves building it.
    radius : float, optional
        See `pixel_graph`; by default `usual_radius`.
    n_neighbors, sigma_position, sigma_color : optional
        See `pixel_graph`.
    random_state : int, RandomState or None, default=0
        For the methods chosen here.

    Returns
    -------
    Segmentation
        Labels, indicator, graph, constraints and the fitted method.

    Raises
    ------
    ConstraintError
        If the marks do not fit the picture, or are of more classes than there are segments.

    Examples
    --------
    Two discs of the same grey that touch: a box on each tells them apart.

    >>> from sidecut.images import segment, touching_discs
    >>> image, truth = touching_discs(random_state=0)
    >>> result = segment(image, boxes=[("left", 22, 22, 5, 5), ("right", 22, 50, 5, 5)])
    >>> result
    Segmentation(48 x 72, CSP, sizes ...)
    >>> bool(((result.labels == truth - 1)[truth > 0]).mean() > 0.95)
    True
    """
    seeds = as_seeds(scribbles, boxes, image)
    n_segments = number_of_segments(n_segments, seeds)
    if graph is None:
        graph = pixel_graph(
            image,
            radius=usual_radius(image, seeds) if radius is None else radius,
            n_neighbors=n_neighbors,
            sigma_position=sigma_position,
            sigma_color=sigma_color,
        )
    shape = np.shape(image)[:2]
    if graph.n_nodes != shape[0] * shape[1]:
        raise ValueError(
            f"graph has {graph.n_nodes} nodes, the image {shape[0]} x {shape[1]} pixels: they do not belong "
            "together."
        )
    if method is None:
        method = usual_method(seeds, n_segments, random_state)
    balanced = isinstance(method, CSP) if balance is None else balance
    constraints = Constraints.none(graph.n_nodes) if seeds is None else seeds.constraints(balanced=balanced)
    model = clone(method).set_params(n_clusters=n_segments, affinity="precomputed")
    model.fit(graph, constraints=constraints)
    names = _names_by_marks(model.labels_, seeds, n_segments)
    labels = names[model.labels_].reshape(shape)
    indicator = _indicator(model, graph)
    if indicator is not None:
        indicator = _positive_in_one(indicator.reshape(shape), labels)
    return Segmentation(labels, indicator, graph, constraints, seeds, model)


def _names_by_marks(labels: npt.NDArray, seeds: Seeds | None, n_segments: int) -> IntArray:
    """Return the new number of every segment: that of the class most of whose marks it holds."""
    if seeds is None:
        return np.arange(n_segments)
    codes = seeds.codes.ravel()
    is_known = codes >= 0
    held = np.zeros((n_segments, n_segments))
    np.add.at(held, (labels[is_known], codes[is_known]), 1.0)
    # Classes count alike, however many of their pixels are marked.
    held /= np.maximum(held.sum(axis=0), 1.0)
    return linear_sum_assignment(held, maximize=True)[1]


def _indicator(model: Any, graph: SparseGraph) -> FloatArray | None:
    if hasattr(model, "indicator_"):
        return np.asarray(model.indicator_)
    vectors = getattr(model, "eigenvectors_", None)
    if vectors is None or vectors.shape[1] < 2:
        return None
    return NormalizedAffinity(graph).scale * vectors[:, 1]


def _positive_in_one(indicator: FloatArray, labels: IntArray) -> FloatArray:
    """Return the indicator with the sign that makes it larger in segment 1 than elsewhere."""
    inside = labels == 1
    if inside.all() or not inside.any():
        return indicator
    return indicator if indicator[inside].mean() >= indicator[~inside].mean() else -indicator
