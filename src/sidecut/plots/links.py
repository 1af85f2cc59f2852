"""Constraints, and what E2CP propagates from them, as lines, rings and matrices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sidecut.checks import FloatArray, IntArray
from sidecut.evaluation import best_matching
from sidecut.plots.canvas import CANNOT, axes_or_new, text_colour
from sidecut.plots.matrices import MAX_POINTS, frame_clusters, sorted_points

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from sidecut.constraints import Constraints
    from sidecut.methods.e2cp.propagation import PropagatedConstraints

#: More lines than this hide the points; a sample is drawn and the legend says so.
MAX_LINKS = 200
#: Cannot-links are dashed.
DASHES = (0, (4, 2.5))


class LinkGroup(NamedTuple):
    """Must-links or cannot-links, either all violated or all satisfied."""

    kind: str
    violated: bool
    pairs: IntArray
    total: int

    @property
    def caption(self) -> str:
        """The text in the legend."""
        drawn = len(self.pairs)
        count = f"{self.total:,}" if drawn == self.total else f"{drawn:,} of {self.total:,} drawn"
        return f"{self.kind}{' violated' if self.violated else ''} ({count})"


def group_links(
    constraints: Constraints, labels: NDArray | None = None, max_links: int = MAX_LINKS
) -> list[LinkGroup]:
    """Group links by kind and by whether they are violated, and draw a sample of at most `max_links`."""
    pairs, must = np.asarray(constraints.pairs), np.asarray(constraints.strengths) > 0
    violated = np.zeros(len(pairs), dtype=bool)
    if labels is not None and len(pairs):
        violated = ~np.asarray(constraints.satisfied_by(np.asarray(labels)), dtype=bool)
    shares = _shares(int(violated.sum()), len(pairs), max_links)
    groups = []
    for is_violated in (False, True):
        for is_must in (True, False):
            chosen = np.flatnonzero((violated == is_violated) & (must == is_must))
            drawn = _sample(chosen, shares[is_violated])
            kind = "must-link" if is_must else "cannot-link"
            groups.append(LinkGroup(kind, is_violated, pairs[drawn], chosen.size))
    return [group for group in groups if group.total]


def _shares(n_violated: int, n_links: int, max_links: int) -> dict[bool, float]:
    """Return the share of violated (True) and of kept (False) links that is drawn."""
    if n_links <= max_links:
        return {True: 1.0, False: 1.0}
    n_kept = n_links - n_violated
    room_violated = min(n_violated, max(max_links // 2, max_links - n_kept))
    room_kept = min(n_kept, max_links - room_violated)
    return {True: room_violated / max(n_violated, 1), False: room_kept / max(n_kept, 1)}


def _sample(chosen: IntArray, share: float) -> IntArray:
    # A fixed seed: the same constraints always give the same picture.
    size = int(share * chosen.size + 1e-9)
    if size == chosen.size:
        return chosen
    return np.sort(np.random.default_rng(0).choice(chosen, max(size, 1), replace=False))


def draw_links(ax: Axes, points: FloatArray, groups: list[LinkGroup]) -> list[Any]:
    """Draw groups of links between points."""
    from matplotlib.collections import LineCollection

    # The more lines, the fainter: a hundred strong ones would hide the points.
    faint = float(np.clip(3.0 / np.sqrt(max(sum(len(group.pairs) for group in groups), 1)), 0.18, 0.5))
    bold = 2.2 if sum(len(group.pairs) for group in groups if group.violated) <= 10 else 1.4
    drawn = []
    for group in groups:
        # The violated lie above the points, the kept below them.
        lines = LineCollection(
            list(points[group.pairs]),
            colors=text_colour() if group.kind == "must-link" else CANNOT,
            linestyles="solid" if group.kind == "must-link" else DASHES,
            linewidths=bold if group.violated else 0.8,
            alpha=1.0 if group.violated else faint,
            zorder=3 if group.violated else 1,
            label=group.caption,
        )
        drawn.append(ax.add_collection(lines))
    return drawn


def are_labels(constraints: Constraints) -> bool:
    """Return whether the constraints are labels of some points and nothing else."""
    if constraints.labels is None:
        return False
    n_labelled = int(np.count_nonzero(constraints.labels >= 0))
    return constraints.n_pairs == n_labelled * (n_labelled - 1) // 2


def misplaced(known: IntArray, clusters: IntArray) -> IntArray:
    """Return the labelled points that lie in the cluster of another class."""
    points = np.flatnonzero(known >= 0)
    matching = best_matching(known[points], clusters[points])
    expected = np.array([matching.get(cluster, -1) for cluster in clusters[points].tolist()])
    return points[expected != known[points]]


def draw_known_labels(
    ax: Axes, points: FloatArray, constraints: Constraints, clusters: IntArray
) -> list[Any]:
    """Ring the labelled points, and cross out those in the cluster of another class."""
    known = np.asarray(constraints.labels)
    labelled = np.flatnonzero(known >= 0)
    wrong = misplaced(known, clusters)
    # Smaller where there are many points, as the points are.
    style: dict[str, Any] = {"s": 90.0 if len(points) < 1000 else 45.0, "zorder": 4}
    rings = ax.scatter(
        points[labelled, 0],
        points[labelled, 1],
        facecolors="none",
        edgecolors=text_colour(),
        linewidths=1.4,
        label=f"label known ({labelled.size:,})",
        gid="known",
        **style,
    )
    if not wrong.size:
        return [rings]
    crosses = ax.scatter(
        points[wrong, 0],
        points[wrong, 1],
        c=CANNOT,
        marker="x",
        linewidths=2.2,
        label=f"in the cluster of another class ({wrong.size:,})",
        gid="misplaced",
        **style,
    )
    return [rings, crosses]


def plot_propagated(
    propagated: PropagatedConstraints | Constraints,
    labels: ArrayLike | None = None,
    ax: Axes | None = None,
    *,
    random_state: int = 0,
) -> Axes:
    """Draw the matrix F of propagated constraints, its points sorted by cluster.

    Blue pairs belong together, red ones apart, the fainter the less confidently. Clusters that agree with F
    are blue blocks on the diagonal with red around them. Confidences span orders of magnitude, so colours
    show the square root of |F_ij|. Of more than 1,000 points a random sample is drawn, and the title says so.

    Parameters
    ----------
    propagated : PropagatedConstraints or Constraints
        ``E2CP(...).fit(...).propagated_constraints_``, or the constraints that were given, for comparison.
    labels : array of shape (n_samples,), optional
        Clusters to sort by; without them the order of the points is kept.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.
    random_state : int
        Seed of the sample.

    Returns
    -------
    matplotlib.axes.Axes
        The axes drawn on.

    Raises
    ------
    ValueError
        If the labels are not one for each point.

    Examples
    --------
    >>> from sidecut.constraints import Constraints
    >>> ax = plot_propagated(Constraints.from_labels([0, 1, 0, 1]), [0, 1, 0, 1])
    >>> ax.images[0].get_array()[0].tolist()
    [1.0, 1.0, -1.0, -1.0]
    """
    n = propagated.n_samples
    shown, clusters = sorted_points(n, labels, MAX_POINTS, random_state)
    rows, columns = np.meshgrid(shown, shown, indexing="ij")
    values = propagated.entries(rows.ravel(), columns.ravel()).reshape(rows.shape)
    pixels = np.sign(values) * np.sqrt(np.abs(values))
    sizes = np.abs(pixels[pixels != 0])
    # The given pairs stand out so far that the others would be invisible beside them.
    ceiling = float(np.quantile(sizes, 0.99)) if sizes.size else 1.0
    ax = axes_or_new(ax, 5.0, 5.0)
    ax.imshow(pixels, cmap="RdBu", interpolation="nearest", vmin=-ceiling, vmax=ceiling)
    frame_clusters(ax, clusters, n, text_colour())
    return ax


def plot_propagated_links(
    points: ArrayLike,
    propagated: PropagatedConstraints,
    ax: Axes | None = None,
    *,
    n_pairs: int = 300,
    at_least: float = 0.0,
) -> Axes:
    """Draw the strongest propagated constraints as lines: solid for together, dashed red for apart.

    The fainter a line, the less confident; the strongest is opaque.

    Parameters
    ----------
    points : array of shape (n_samples, 2)
        Coordinates in the plane.
    propagated : PropagatedConstraints
        ``E2CP(...).fit(...).propagated_constraints_``.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.
    n_pairs : int, default=300
        Draw at most this many, the strongest.
    at_least : float, default=0.0
        Leave out pairs of less confidence, |F_ij|; fig. 3 of the paper has 0.1.

    Returns
    -------
    matplotlib.axes.Axes
        The axes drawn on.

    Raises
    ------
    ValueError
        If the points are not in the plane, or not those of F.

    Examples
    --------
    >>> from sidecut import Constraints
    >>> from sidecut.graphs import as_graph
    >>> from sidecut.methods.e2cp.propagation import propagate
    >>> path = as_graph(np.eye(4, k=1) + np.eye(4, k=-1))
    >>> F = propagate(path, Constraints.from_pairs(4, cannot_link=[(0, 3)]))
    >>> ax = plot_propagated_links(np.array([[0, 0], [1, 0], [2, 0], [3, 0]]), F, n_pairs=2)
    >>> [lines.get_label() for lines in ax.collections[1:]]
    ['apart (2)']
    """
    where = np.asarray(points, dtype=np.float64)
    if where.shape != (propagated.n_samples, 2):
        raise ValueError(
            f"points has shape {where.shape}: two coordinates for each of {propagated.n_samples} points. "
            "`project_for_picture` makes them of more."
        )
    pairs, strengths = propagated.strongest(n_pairs)
    pairs, strengths = pairs[np.abs(strengths) >= at_least], strengths[np.abs(strengths) >= at_least]
    ax = axes_or_new(ax)
    ax.scatter(where[:, 0], where[:, 1], s=12, color=text_colour(), zorder=2)
    for sign, word, color, style in ((1, "together", text_colour(), "solid"), (-1, "apart", CANNOT, DASHES)):
        here = np.sign(strengths) == sign
        if here.any():
            opacity = np.abs(strengths[here]) / np.abs(strengths).max()
            _draw(ax, where[pairs[here]], opacity, color, style, f"{word} ({here.sum():,})")
    if pairs.size:
        ax.legend(loc="best", fontsize="small")
    return ax


def _draw(ax: Axes, segments: FloatArray, opacity: FloatArray, color: str, style: Any, label: str) -> None:
    from matplotlib.collections import LineCollection
    from matplotlib.colors import to_rgba_array

    colors = np.repeat(to_rgba_array(color), len(segments), axis=0)
    # A line that cannot be seen is not there: the faintest keep a tenth.
    colors[:, 3] = 0.1 + 0.9 * opacity
    ax.add_collection(
        LineCollection(list(segments), colors=colors, linestyles=style, linewidths=0.9, zorder=1, label=label)
    )
