"""Points in the plane, coloured by cluster, with the constraints between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.decomposition import PCA

from sidecut.checks import BoolArray, FloatArray, IntArray, to_points
from sidecut.plots.canvas import (
    NOISE_STYLE,
    align_clusters,
    axes_or_new,
    cluster_styles,
    new_figure,
    text_colour,
)
from sidecut.plots.links import MAX_LINKS, are_labels, draw_known_labels, draw_links, group_links

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from sidecut.constraints import Constraints

#: More points than this are drawn as pixels and half transparent, so that files stay small.
MAX_SHARP_POINTS = 5000


def plot_embedding(
    X2d: ArrayLike,
    labels: ArrayLike,
    constraints: Constraints | None = None,
    ax: Axes | None = None,
    *,
    title: str | None = None,
    max_links: int = MAX_LINKS,
    legend: bool = True,
    names: Mapping[int, str] | None = None,
) -> Axes:
    """Draw points coloured by cluster, and the constraints between them.

    Must-links are thin solid lines, cannot-links thin dashed red ones; those that the labels violate
    are drawn bold, above the points. Constrained points have a rim. Where labels of points are known rather
    than pairs, these points are ringed, and crossed out if they lie in the cluster of another class.

    Parameters
    ----------
    X2d : array of shape (n, 2)
        Coordinates; `project_for_picture` makes them from anything wider.
    labels : array of shape (n,)
        Cluster of each point; -1 is noise, and grey.
    constraints : Constraints, optional
        Links to draw.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.
    title : str, optional
        Title of the picture.
    max_links : int
        Draw at most this many links; the legend says when it is a sample.
    legend : bool
        Whether to explain the lines below the picture.
    names : mapping of int to str, optional
        What clusters are called: written where most of their points are.

    Returns
    -------
    matplotlib.axes.Axes
        The axes drawn on; ``ax.figure.savefig("picture.png")`` writes them.

    Raises
    ------
    ValueError
        If the shapes of `X2d`, `labels` and `constraints` do not fit each other.

    Examples
    --------
    >>> from sidecut.constraints import Constraints
    >>> known = Constraints.from_pairs(3, must_link=[(0, 1)])
    >>> ax = plot_embedding([[0, 0], [1, 0], [5, 5]], [0, 0, 1], known, title="Three points")
    >>> ax.get_title(loc="left")
    'Three points'
    """
    points, clusters = _checked(X2d, labels, constraints)
    ax = axes_or_new(ax, spines=())
    known = constraints if constraints is not None and constraints.n_pairs else None
    has_rim = np.zeros(len(points), dtype=bool)
    if known is not None and not are_labels(known):
        has_rim[known.constrained_points] = True
    _draw_points(ax, points, clusters, has_rim)
    if known is not None:
        if are_labels(known):
            marks = draw_known_labels(ax, points, known, clusters)
        else:
            marks = draw_links(ax, points, group_links(known, clusters, max_links))
        if legend:
            # Below the picture, where it hides no points.
            place: dict[str, Any] = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.01), "ncols": 2}
            ax.legend(handles=marks, frameon=False, fontsize="small", handlelength=2.8, **place)
    ax.set_xticks([])
    ax.set_yticks([])
    ax.margins(0.03)
    ax.autoscale_view()
    for cluster, name in (names or {}).items():
        _write_name(ax, points[clusters == cluster], name)
    if title:
        ax.set_title(title, loc="left", fontweight="bold")
    return ax


def _write_name(ax: Axes, members: FloatArray, name: str) -> None:
    """Write the name of a cluster at its point nearest to the median, on a ground that keeps it readable."""
    if not len(members):
        return
    nearest = np.argmin(np.hypot(*(members - np.median(members, axis=0)).T))
    from matplotlib.colors import to_rgb

    ground = "#14161a" if np.mean(to_rgb(text_colour())) > 0.5 else "#ffffff"
    box = {"boxstyle": "round,pad=0.2", "facecolor": ground, "edgecolor": "none", "alpha": 0.75}
    shown = name if len(name) <= 24 else f"{name[:23]}…"
    left, right = ax.get_xlim()
    place = (members[nearest][0] - left) / (right - left)
    ax.annotate(
        shown,
        members[nearest],
        # Near an edge the name goes inwards.
        ha="left" if place < 0.2 else "right" if place > 0.8 else "center",
        va="center",
        fontweight="bold",
        fontsize="large",
        bbox=box,
        zorder=6,
    )


def plot_before_after(
    X2d: ArrayLike,
    before: ArrayLike,
    after: ArrayLike,
    constraints: Constraints | None = None,
    axes: Sequence[Axes] | None = None,
    *,
    titles: tuple[str, str] = ("Without constraints", "With constraints"),
    max_links: int = MAX_LINKS,
) -> tuple[Axes, Axes]:
    """Draw two clusterings of the same points side by side, in the same colours.

    The clusters on the right are renamed after those on the left, so a point that changes colour has changed
    cluster.

    Parameters
    ----------
    X2d : array of shape (n, 2)
        Coordinates of the points.
    before, after : array of shape (n,)
        The two clusterings.
    constraints : Constraints, optional
        Links to draw in both pictures.
    axes : pair of matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.
    titles : pair of str
        Titles of the two pictures.
    max_links : int
        Draw at most this many links in each.

    Returns
    -------
    pair of matplotlib.axes.Axes
        The axes drawn on.

    Examples
    --------
    >>> left, right = plot_before_after([[0, 0], [1, 0], [5, 5]], [0, 1, 1], [1, 1, 0])
    >>> left.get_title(loc="left"), right.get_title(loc="left")
    ('Without constraints', 'With constraints')
    """
    left, right = new_figure(11.0, 5.0).subplots(1, 2) if axes is None else axes
    first = _checked(X2d, before, constraints)[1]
    second = align_clusters(np.asarray(after), first)
    plot_embedding(X2d, first, constraints, left, title=titles[0], max_links=max_links)
    plot_embedding(X2d, second, constraints, right, title=titles[1], max_links=max_links)
    return left, right


def plot_update(
    X2d: ArrayLike,
    before: ArrayLike,
    after: ArrayLike,
    *,
    doubtful: ArrayLike = (),
    names: Mapping[int, str] | None = None,
    axes: Sequence[Axes] | None = None,
) -> tuple[Axes, Axes]:
    """Draw clusters before and after an update: a colour is the number of a cluster, and stays.

    On the right, new points and old ones that changed their cluster are large, with a rim; those that stayed
    are small and pale.

    Parameters
    ----------
    X2d : array of shape (n, 2)
        Coordinates of all points, the old ones first.
    before : array of shape (n_old,)
        Clusters of the old points before.
    after : array of shape (n,)
        Clusters of all points.
    doubtful : array of int
        Rows of points that are drawn as rings, such as ``changes_.points("doubtful")``.
    names : mapping of int to str, optional
        What clusters are called: written where most of their points are.
    axes : pair of matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    pair of matplotlib.axes.Axes
        The axes drawn on.

    Examples
    --------
    >>> left, right = plot_update([[0, 0], [1, 0], [5, 5]], [0, 0], [0, 0, 1])
    >>> left.get_title(loc="left"), right.get_title(loc="left")
    ('Before: 2 points', 'After: 1 new point')
    """
    points, clusters = _checked(X2d, after, None)
    earlier = np.asarray(before, dtype=np.intp)
    n_old, n = len(earlier), len(points)
    left, right = new_figure(11.0, 5.0).subplots(1, 2, sharex=True, sharey=True) if axes is None else axes
    plot_embedding(points[:n_old], earlier, ax=left, names=names, title=f"Before: {_counted(n_old, 'point')}")
    is_marked = np.append(clusters[:n_old] != earlier, np.ones(n - n_old, dtype=bool))
    is_ring = np.zeros(n, dtype=bool)
    is_ring[np.asarray(doubtful, dtype=np.intp)] = True
    axes_or_new(right, spines=())
    styles = cluster_styles(int(max(clusters.max(initial=0), earlier.max(initial=0))) + 1)
    size = float(np.clip(9000.0 / max(n, 1), 3.0, 36.0))
    for cluster in np.unique(clusters).tolist():
        colour, marker = styles[cluster] if cluster >= 0 else NOISE_STYLE
        here = clusters == cluster
        for chosen, style in (
            (here & ~is_marked, {"s": size / 2, "alpha": 0.35, "facecolors": colour, "linewidths": 0.0}),
            (here & is_marked & ~is_ring, {"s": 1.5 * size, "facecolors": colour, "linewidths": 0.6}),
            (here & is_marked & is_ring, {"s": 1.5 * size, "facecolors": "none", "linewidths": 1.2}),
        ):
            rim = colour if style["facecolors"] == "none" else text_colour()
            x, y = points[chosen].T
            right.scatter(x, y, marker=marker, edgecolors=rim, rasterized=n > MAX_SHARP_POINTS, **style)
        if names and cluster in names:
            _write_name(right, points[here], names[cluster])
    right.set(xticks=[], yticks=[])
    right.margins(0.03)
    right.set_title(f"After: {_counted(n - n_old, 'new point')}", loc="left", fontweight="bold")
    return left, right


def _counted(count: int, thing: str) -> str:
    return f"{count:,} {thing}{'' if count == 1 else 's'}"


def _checked(
    X2d: ArrayLike, labels: ArrayLike, constraints: Constraints | None
) -> tuple[FloatArray, IntArray]:
    points, clusters = np.asarray(X2d, dtype=float), np.asarray(labels)
    if points.ndim != 2 or points.shape[1] != 2:
        rule = "X2d must have two columns; sidecut.plots.project_for_picture makes them"
        raise ValueError(f"X2d has shape {points.shape}: {rule}.")
    if clusters.shape != (len(points),):
        raise ValueError(f"labels has shape {clusters.shape}: one label for each of {len(points)} points.")
    if constraints is not None and constraints.n_samples != len(points):
        raise ValueError(
            f"The constraints are about {constraints.n_samples} points and the picture has {len(points)}."
        )
    # Integer labels keep their number, and with it their colour; -1 is noise; other names are numbered.
    if not np.issubdtype(clusters.dtype, np.integer) or clusters.min(initial=0) < -1:
        clusters = np.unique(clusters, return_inverse=True)[1]
    return points, clusters.astype(np.intp)


def _draw_points(ax: Axes, points: FloatArray, clusters: IntArray, has_rim: BoolArray) -> None:
    many = len(points) > MAX_SHARP_POINTS
    size = float(np.clip(9000.0 / max(len(points), 1), 3.0, 36.0))
    style: dict[str, Any] = {"s": size, "alpha": 0.5 if many else 0.85, "rasterized": many, "zorder": 2}
    styles = cluster_styles(int(clusters.max(initial=-1)) + 1)
    for cluster in np.unique(clusters):
        colour, marker = styles[cluster] if cluster >= 0 else NOISE_STYLE
        members = clusters == cluster
        x, y = points[members].T
        ax.scatter(
            x,
            y,
            c=colour,
            marker=marker,
            linewidths=np.where(has_rim[members], min(0.9, 0.2 * np.sqrt(size)), 0.0).tolist(),
            edgecolors=text_colour(),
            gid=f"cluster-{cluster}",
            **style,
        )


def project_for_picture(X: Any) -> FloatArray:
    """Turn data or an embedding into two coordinates for a picture.

    Two columns are shown as they are and one column gets a second coordinate of zero. Wider data is
    turned by principal components, which drops directions in which nothing varies, such as the
    constant eigenvector of a Laplacian. The same data always gives the same picture.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, d)
        Rows are points.

    Returns
    -------
    array of shape (n, 2)
        Coordinates of the points.

    Raises
    ------
    ValueError
        If `X` does not have two dimensions, or has no columns.

    Examples
    --------
    >>> project_for_picture([[1, 2], [3, 4]]).tolist()
    [[1.0, 2.0], [3.0, 4.0]]
    >>> project_for_picture([[1], [3]]).tolist()
    [[1.0, 0.0], [3.0, 0.0]]
    >>> wide = [[0, 0, 5], [3, 0, 5], [0, 1, 5], [3, 1, 5]]
    >>> np.abs(project_for_picture(wide)).round(6).tolist()
    [[1.5, 0.5], [1.5, 0.5], [1.5, 0.5], [1.5, 0.5]]
    """
    X = to_points(X)
    values: Any = X if sparse.issparse(X) else np.asarray(X, dtype=float)
    if values.ndim != 2 or values.shape[1] == 0:
        raise ValueError(f"A picture needs an array (points, columns); this one has shape {values.shape}.")
    if values.shape[1] <= 2:
        return _pad_to_two(values)
    n_components = min(2, values.shape[0])
    # arpack centres a sparse matrix implicitly; the dense solvers are exact and need no start vector.
    is_large = sparse.issparse(values) and min(values.shape) > n_components
    if sparse.issparse(values) and not is_large:
        values = values.toarray()
    pca = PCA(n_components, svd_solver="arpack" if is_large else "auto", random_state=0)
    # Points that are all alike have no variance to explain; their coordinates are zero all the same.
    with np.errstate(invalid="ignore"):
        return _pad_to_two(pca.fit_transform(values))


def _pad_to_two(values: Any) -> FloatArray:
    dense = values.toarray() if sparse.issparse(values) else values
    missing = 2 - dense.shape[1]
    return np.asarray(np.pad(dense, ((0, 0), (0, missing))), dtype=float)
