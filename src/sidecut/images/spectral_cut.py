"""A picture cut as a graph of pixels by one of the methods: CSP as in its paper, or any other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.ndimage import binary_erosion, label
from scipy.optimize import linear_sum_assignment
from sklearn.base import clone

from sidecut.checks import BoolArray, FloatArray, IntArray
from sidecut.constraints import Constraints
from sidecut.exceptions import ConstraintError
from sidecut.graphs import SparseGraph
from sidecut.images.border import attainable_beta, most_of_a_class
from sidecut.images.seeds import Seeds
from sidecut.methods import CSP, NormalizedCut


@dataclass(frozen=True, eq=False)
class SpectralCut:
    """What a method made of the graph of the pixels."""

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
    """Return the segments a method finds in the graph of the pixels."""
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


def mark_other_segments(segments: IntArray, marks: IntArray, n_classes: int) -> IntArray:
    """Return the marks, together with pixels of all segments that have no class as marks of these.

    Only pixels at least two away from the border of a segment, and from any mark, are taken. Parts of a
    segment that hold a mark of some class may belong to that class, so they are taken only if there are no
    others.
    """
    marks = marks.copy()
    is_marked = marks >= 0
    for segment in range(n_classes, int(segments.max(initial=-1)) + 1):
        inside = segments == segment
        parts = label(inside)[0]
        doubtful = np.isin(parts, parts[inside & is_marked])
        sure = inside & ~doubtful
        marks[_inner_pixels((sure if sure.any() else inside) & ~is_marked)] = segment
    return marks


def _inner_pixels(mask: BoolArray) -> BoolArray:
    """Return the pixels at least two away from the border of a mask, or one, or all where there are none."""
    for steps in (2, 1):
        inner = binary_erosion(mask, iterations=steps, border_value=1)
        if inner.any():
            return inner
    return mask


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


# What `segment` chooses where nothing is said: how far pixels are linked, the method, how many segments.


#: Relative residual of the cut: its sign does not change below this, and pixels are many.
TOLERANCE = 1e-5
#: Pictures with more pixels than this are linked less where nothing is marked.
LARGE = 40_000


def usual_radius(image: npt.ArrayLike, seeds: Seeds | None) -> float:
    """Return the radius `segment` uses when none is given: 5, and 2 for large pictures without marks.

    Without marks the eigenvalues of a large picture crowd near zero, and only an exact factorisation tells
    them apart in reasonable time; it is affordable where few pixels are linked.
    """
    height, width = np.shape(image)[:2]
    return 2.0 if seeds is None and height * width > LARGE else 5.0


def usual_method(
    seeds: Seeds | None, n_segments: int, random_state: int | np.random.RandomState | None = 0
) -> CSP | NormalizedCut:
    """Return the method `segment` uses when none is given."""
    if seeds is None:
        return NormalizedCut(n_segments, random_state=random_state)
    if n_segments > max(len(seeds.classes), 2):
        # A β near its bound leaves only the cuts between classes, and none for the other segments.
        return CSP(n_segments, tol=TOLERANCE, random_state=random_state)
    counts = np.minimum(seeds.counts, most_of_a_class(len(seeds.classes)))
    beta = attainable_beta(counts, seeds.codes.size)
    return CSP(n_segments, beta=beta, tol=TOLERANCE, random_state=random_state)


def number_of_segments(n_segments: int | None, seeds: Seeds | None) -> int:
    """Return how many segments are wanted: the number asked for, or that of the classes, at least two."""
    n_classes = 0 if seeds is None else len(seeds.classes)
    if seeds is not None and n_classes == 0:
        raise ConstraintError(
            "Nothing is marked: every pixel of the scribbles is unknown. Draw with plain saturated colours, "
            "or give class numbers from 1."
        )
    if n_segments is None:
        return max(n_classes, 2)
    if seeds is not None and n_segments < n_classes:
        raise ConstraintError(
            f"The marks are of {n_classes} classes ({', '.join(map(str, seeds.classes))}), and {n_segments} "
            f"segments are fewer: ask for at least {n_classes}, or mark fewer classes."
        )
    return n_segments
