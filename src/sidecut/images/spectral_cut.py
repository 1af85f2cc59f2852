"""A picture cut as a graph of pixels by one of the methods, and what `segment` chooses by default."""

from __future__ import annotations

from collections.abc import Sequence
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
from sidecut.images.region_graph import RegionGraph
from sidecut.images.seeds import Seeds, max_marks
from sidecut.methods import CSP, NormalizedCut

#: Pictures with more pixels than this are cut by regions where nothing is marked, and linked less where a
#: method is chosen.
MAX_PIXELS = 40_000


@dataclass(frozen=True, eq=False)
class SpectralCut:
    """The segments that a method found in the graph of the pixels, or of the regions."""

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
    if "safe" in model.get_params():
        # Marks are to be followed.
        model.set_params(safe=False)
    model.fit(graph, constraints=constraints)
    names = _names_by_marks(model.labels_, seeds, n_segments)
    codes = names[model.labels_].reshape(shape)
    return SpectralCut(codes, _indicator(model, graph, codes), constraints, model)


def cut_region_graph(
    graph: RegionGraph, n_segments: int, *, random_state: int | np.random.RandomState | None = 0
) -> SpectralCut:
    """Return the normalised cut of the graph of the regions, which need no marks."""
    model = NormalizedCut(n_segments, affinity="precomputed", random_state=random_state)
    nodes = graph.graph()
    model.fit(nodes)
    codes = graph.spread(model.labels_)
    indicator = _indicator(model, nodes, model.labels_)
    constraints = Constraints.none(codes.size)
    return SpectralCut(codes, None if indicator is None else graph.spread(indicator), constraints, model)


def is_cut_by_regions(image: npt.ArrayLike, seeds: Seeds | None) -> bool:
    """Return whether `segment` cuts a picture without marks by regions: a graph of its pixels is too slow."""
    height, width = np.shape(image)[:2]
    return seeds is None and height * width > MAX_PIXELS


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
    """Return the marks, together with pixels of all segments that have no class as marks of these."""
    # Only pixels at least two away from the border of a segment, and from any mark, are taken. Parts of a
    # segment that hold a mark of some class may belong to that class, so they are taken only if there are no
    # others.
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


def _indicator(model: Any, graph: SparseGraph, codes: IntArray) -> FloatArray | None:
    """Return u of the method or of its second eigenvector, larger in segment 1 than elsewhere."""
    vectors = getattr(model, "eigenvectors_", None)
    if hasattr(model, "indicator_"):
        indicator = np.asarray(model.indicator_).reshape(codes.shape)
    elif vectors is None or vectors.shape[1] < 2:
        return None
    else:
        indicator = (graph.scale * vectors[:, 1]).reshape(codes.shape)
    inside = codes == 1
    is_positive = inside.all() or not inside.any() or indicator[inside].mean() >= indicator[~inside].mean()
    return indicator if is_positive else -indicator


def usual_radius(image: npt.ArrayLike, seeds: Seeds | None) -> float:
    """Return the default radius of `segment`: 5, and 2 for large pictures without marks, cut by a method."""
    # Without marks the eigenvalues of a large picture crowd near zero. Only an exact factorisation separates
    # them in reasonable time, and it is affordable where few pixels are linked.
    return 2.0 if is_cut_by_regions(image, seeds) else 5.0


def usual_method(
    seeds: Seeds | None, n_segments: int, random_state: int | np.random.RandomState | None = 0
) -> CSP | NormalizedCut:
    """Return the default method of `segment` on a graph of pixels."""
    if seeds is None:
        return NormalizedCut(n_segments, random_state=random_state)
    # The sign of the cut does not change below this residual, and pixels are many.
    method = CSP(n_segments, tol=1e-5, random_state=random_state)
    if n_segments <= max(len(seeds.classes), 2):
        counts = np.minimum(seeds.counts, max_marks(len(seeds.classes)))
        # With more segments than classes, this β would leave the cuts between classes and no others.
        method.beta = attainable_beta(counts, seeds.codes.size)
    return method


def attainable_beta(counts: Sequence[int] | IntArray, n_pixels: int) -> tuple[str, float]:
    """Return the rule for CSP's β: half the satisfaction of a cut into flat segments that keeps all marks.

    A cut u = ±1 that keeps the marks of c pixels has uᵀQu = c², while λ_max vol, the bound of eq. 19, is
    about c N: only a cut with all its weight on the marked pixels comes near it. A fixed share of that bound
    therefore asks for spikes around the marks where N is much larger than c, and leaves the sign of all other
    pixels to an exponentially small tail. With c / N times the bound, segments can be flat. Where classes are
    balanced by weights, c is K times the harmonic mean of their numbers of marks.

    Parameters
    ----------
    counts : sequence of int
        The number of marks of every class that take part.
    n_pixels : int
        N.

    Returns
    -------
    ("fraction", float)
        For ``CSP(beta=...)``. It is 0.5, the least that eq. 19 asks for, where only one class is marked: the
        uniform cut attains c² as well then, and others have to exceed it by far.

    Examples
    --------
    >>> from sidecut.images import attainable_beta
    >>> attainable_beta([50, 50], 10_000)
    ('fraction', 0.005)
    >>> attainable_beta([25], 10_000)
    ('fraction', 0.5)
    """
    marked = np.array([count for count in counts if count > 0], dtype=np.float64)
    if not 1 <= marked.sum() <= n_pixels:
        raise ValueError(
            f"{int(marked.sum())} of {n_pixels} pixels are marked: at least one must be, at most all."
        )
    if marked.size == 1:
        return "fraction", 0.5
    return "fraction", float(0.5 * marked.size**2 / np.sum(1.0 / marked) / n_pixels)


def number_of_segments(n_segments: int | None, seeds: Seeds | None) -> int:
    """Return the number of segments: the one given, or the number of classes, at least two."""
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
