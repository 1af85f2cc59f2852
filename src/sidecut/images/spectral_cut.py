"""A picture cut as a graph of pixels by one of the methods: CSP as in its paper, or any other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment
from sklearn.base import clone

from sidecut.constraints import Constraints
from sidecut.graphs import SparseGraph
from sidecut.images.defaults import usual_method
from sidecut.images.pixels import FloatArray
from sidecut.images.seeds import IntArray, Seeds
from sidecut.methods import CSP


@dataclass(frozen=True, eq=False)
class SpectralCut:
    """What a method made of the graph of the pixels.

    Attributes
    ----------
    codes : array of shape (height, width)
        The segment of every pixel; segment k holds most marks of class k.
    indicator : array of shape (height, width) or None
        The relaxed indicator, if the method has one.
    constraints : Constraints
        What the method was told.
    model : estimator
        The method, fitted.
    """

    codes: IntArray
    indicator: FloatArray | None
    constraints: Constraints
    model: Any


def cut_pixel_graph(
    graph: SparseGraph,
    shape: tuple[int, ...],
    seeds: Seeds | None,
    n_segments: int,
    *,
    method: Any = None,
    balance: bool | None = None,
    random_state: int | np.random.RandomState | None = 0,
) -> SpectralCut:
    """Return the segments a method finds in the graph of the pixels.

    Parameters
    ----------
    graph : SparseGraph
        Of `pixel_graph`.
    shape : tuple of int
        Height and width.
    seeds : Seeds or None
        The marks.
    n_segments : int
        K.
    method, balance, random_state
        As for `segment`.
    """
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
    codes = names[model.labels_].reshape(shape)
    indicator = _indicator(model, graph)
    if indicator is not None:
        indicator = _positive_in_one(indicator.reshape(shape), codes)
    return SpectralCut(codes, indicator, constraints, model)


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
    return graph.scale * vectors[:, 1]


def _positive_in_one(indicator: FloatArray, labels: IntArray) -> FloatArray:
    """Return the indicator with the sign that makes it larger in segment 1 than elsewhere."""
    inside = labels == 1
    if inside.all() or not inside.any():
        return indicator
    return indicator if indicator[inside].mean() >= indicator[~inside].mean() else -indicator
