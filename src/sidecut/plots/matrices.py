"""Matrices over pairs of points as pictures, and the numerical range of a cut."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.sparse.linalg import LinearOperator, eigsh
from sklearn.metrics import pairwise_distances

from sidecut.checks import FloatArray, IntArray
from sidecut.constraints import Constraints
from sidecut.graphs.graph import Graph
from sidecut.methods.csap.kernel import equivalent_kernel
from sidecut.plots.canvas import CANNOT, OPEN, axes_or_new, cluster_styles, text_colour
from sidecut.spectral import laplacian_eigenpairs
from sidecut.spectral.laplacian import LaplacianProblem

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Extreme = Callable[[float, float], FloatArray]

#: Graphs up to this size are decomposed as a whole.
MAX_DENSE_NODES = 400
#: A picture has no more pixels than this to show; of more points a sample is drawn.
MAX_POINTS = 1000


def plot_numerical_range(
    model: Any,
    constraints: Constraints,
    ax: Axes | None = None,
    *,
    n_directions: int = 72,
    title: str | None = None,
) -> Axes:
    """Draw all cuts of a graph by cost and satisfaction, and which of them were feasible (CSP, figure 4).

    Every unit vector v is a point (vᵀL̄v, vᵀQ̄v). All of them fill a convex region; the constraints ask for the
    part above the line β/vol, and the method takes the leftmost of its cuts there.

    Parameters
    ----------
    model : CSP
        Fitted with constraints.
    constraints : Constraints
        Those it was fitted with.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.
    n_directions : int, default=72
        How many points of the boundary are computed.
    title : str, optional
        Title of the picture.

    Returns
    -------
    matplotlib.axes.Axes
        The axes drawn on.

    Raises
    ------
    ValueError
        If the model was not fitted with constraints.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut import CSP, Constraints
    >>> from sidecut.plots import plot_numerical_range
    >>> X = np.random.default_rng(0).normal(size=(40, 2))
    >>> known = Constraints.from_pairs(40, cannot_link=[(0, 1), (2, 3)])
    >>> ax = plot_numerical_range(CSP(2, n_neighbors=8, safe=False).fit(X, constraints=known), known)
    >>> ax.get_xlabel()
    'cost  vᵀL̄v'
    """
    if not hasattr(model, "cuts_"):
        raise ValueError("The model has no feasible cuts: fit a CSP with constraints first.")
    problem = LaplacianProblem(model.affinity_matrix_)
    scale = problem.affinity.scale
    if model.normalization != "target":
        degrees = constraints.apply(np.ones(problem.n))
        scale = np.divide(1.0, np.sqrt(degrees), out=np.zeros(problem.n), where=degrees > 0)

    def apply_Q(block: FloatArray) -> FloatArray:
        factor = scale if block.ndim == 1 else scale[:, None]
        return factor * constraints.apply(factor * block)

    ax = axes_or_new(ax, 6.4, 4.8, OPEN)
    boundary = range_boundary(problem.apply_laplacian, apply_Q, problem.n, n_directions)
    _draw_region(ax, boundary, model.beta_ / problem.graph.volume)
    _draw_cuts(ax, model, problem, apply_Q)
    ax.set_xlabel("cost  vᵀL̄v")
    ax.set_ylabel("satisfaction  vᵀQ̄v")
    ax.set_xlim(left=min(-0.03, float(boundary[:, 0].min()) - 0.03))
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=3, frameon=False, fontsize="small")
    if title:
        ax.set_title(title, loc="left", fontweight="bold")
    return ax


def range_boundary(apply_L: Any, apply_Q: Any, n: int, n_directions: int = 72) -> FloatArray:
    """Return points on the boundary of {(vᵀLv, vᵀQv) : vᵀv = 1}, in order around it."""
    # In the direction θ the range reaches furthest at an eigenvector of the largest eigenvalue of cos θ L +
    # sin θ Q, here with L and Q in units of their largest values. Where the boundary is straight or has a
    # corner, neighbouring directions share a point.
    extreme = (_dense_extreme if n <= MAX_DENSE_NODES else _iterated_extreme)(apply_L, apply_Q, n)
    # Directions in units of the largest values, so that points are spread evenly around the range.
    wide = np.abs(_forms(apply_L, np.stack([extreme(sign, 0.0) for sign in (1.0, -1.0)], axis=1))).max()
    high = np.abs(_forms(apply_Q, np.stack([extreme(0.0, sign) for sign in (1.0, -1.0)], axis=1))).max()
    # Half a step off the axes, where eigenvalues coincide by symmetry.
    angles = np.linspace(0.0, 2 * np.pi, n_directions, endpoint=False) + np.pi / n_directions
    directions = [(np.cos(a) / (wide or 1.0), np.sin(a) / (high or 1.0)) for a in angles]
    vectors = np.stack([extreme(c, s) for c, s in directions], axis=1)
    return np.stack([_forms(apply_L, vectors), _forms(apply_Q, vectors)], axis=1)


def _dense_extreme(apply_L: Any, apply_Q: Any, n: int) -> Extreme:
    """Return the map (c, s) -> an eigenvector of the largest eigenvalue of c L + s Q."""
    L, Q = apply_L(np.eye(n)), apply_Q(np.eye(n))
    L, Q = 0.5 * (L + L.T), 0.5 * (Q + Q.T)
    return lambda c, s: scipy.linalg.eigh(c * L + s * Q, subset_by_index=(n - 1, n - 1))[1][:, 0]


def _iterated_extreme(apply_L: Any, apply_Q: Any, n: int) -> Extreme:
    """Return the same map by Lanczos iteration; a picture needs three digits."""
    start = np.random.default_rng(0).standard_normal(n)

    def extreme(c: float, s: float) -> FloatArray:
        operator = LinearOperator((n, n), matvec=lambda x: c * apply_L(x.ravel()) + s * apply_Q(x.ravel()))
        return eigsh(operator, 1, which="LA", v0=start, tol=1e-3)[1][:, 0]

    return extreme


def _forms(apply: Any, vectors: FloatArray) -> FloatArray:
    return np.einsum("ij,ij->j", vectors, apply(vectors))


def _draw_region(ax: Axes, boundary: FloatArray, threshold: float) -> None:
    blue = cluster_styles(1)[0][0]
    ax.fill(*boundary.T, facecolor=blue, alpha=0.10, edgecolor="none", zorder=0, gid="range")
    ax.plot(*np.vstack([boundary, boundary[:1]]).T, color=blue, linewidth=1.2, alpha=0.7, gid="boundary")
    orange = cluster_styles(2)[1][0]
    ax.axhline(threshold, color=orange, linewidth=1.6, linestyle=(0, (5, 3)), gid="threshold")
    ax.annotate(
        "β / vol",
        (1.0, threshold),
        xycoords=("axes fraction", "data"),
        xytext=(-4, 4),
        textcoords="offset points",
        ha="right",
        color=orange,
        fontsize="small",
    )


def _draw_cuts(ax: Axes, model: Any, problem: LaplacianProblem, apply_Q: Any) -> None:
    cuts, volume = model.cuts_, problem.graph.volume
    unconstrained = laplacian_eigenpairs(model.affinity_matrix_, min(12, problem.n), random_state=0)
    ax.scatter(
        unconstrained.values[1:],
        _forms(apply_Q, unconstrained.vectors[:, 1:]),
        marker="x",
        s=26,
        linewidths=1.1,
        c=text_colour(),
        alpha=0.6,
        zorder=3,
        gid="unconstrained",
        label="unconstrained cuts",
    )
    green = cluster_styles(3)[2][0]
    x, y = cuts.costs, cuts.satisfactions / volume
    ax.scatter(x, y, s=30, c=green, zorder=4, gid="feasible", label="feasible cuts")
    star: dict[str, Any] = {"marker": "*", "s": 190, "edgecolors": text_colour(), "linewidths": 0.8}
    ax.scatter(x[:1], y[:1], c=green, zorder=5, gid="best", label="the best cut", **star)


def sorted_points(
    n: int, labels: ArrayLike | None, at_most: int, random_state: int
) -> tuple[IntArray, NDArray]:
    """Return the points to show, sorted by cluster, and their clusters."""
    clusters = np.zeros(n, dtype=np.intp) if labels is None else np.asarray(labels)
    if clusters.shape != (n,):
        raise ValueError(f"labels has shape {clusters.shape}: one label for each of {n} points.")
    shown = np.arange(n, dtype=np.intp)
    if n > at_most:
        shown = np.sort(np.random.default_rng(random_state).choice(n, at_most, replace=False)).astype(np.intp)
    shown = shown[np.argsort(clusters[shown], kind="stable")]
    return shown, clusters[shown]


def frame_clusters(ax: Axes, clusters: NDArray, n: int, colour: str) -> None:
    """Draw lines between clusters, and write into the title if not all of n points are shown."""
    for boundary in np.flatnonzero(np.diff(np.unique(clusters, return_inverse=True)[1])) + 0.5:
        ax.axhline(boundary, color=colour, linewidth=0.7)
        ax.axvline(boundary, color=colour, linewidth=0.7)
    ax.set_xticks([])
    ax.set_yticks([])
    if clusters.size < n:
        ax.set_title(f"{clusters.size:,} of {n:,} points", loc="left", fontsize="small", color=text_colour())


def plot_affinity(
    affinity: Any, labels: ArrayLike | None = None, ax: Axes | None = None, *, random_state: int = 0
) -> Axes:
    """Draw an affinity matrix, its points sorted by cluster.

    Good clusters are dark blocks on the diagonal with little outside them. Above a thousand points a
    random sample is drawn, and the title says so. Weights are shown on a square-root scale, since a few
    heavy edges would otherwise leave the rest invisible.

    Parameters
    ----------
    affinity : Graph, array or sparse matrix of shape (n, n)
        Weights between points.
    labels : array of shape (n,), optional
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
        If the matrix is not square or the labels do not fit it.

    Examples
    --------
    >>> ax = plot_affinity(np.eye(4), [1, 0, 1, 0])
    >>> ax.images[0].get_array().shape
    (4, 4)
    """
    weights = affinity if isinstance(affinity, Graph) or sparse.issparse(affinity) else np.asarray(affinity)
    shape = (weights.n_nodes, weights.n_nodes) if isinstance(weights, Graph) else weights.shape
    if len(shape) != 2 or shape[0] != shape[1]:
        raise ValueError(f"An affinity must be a square matrix; this one has shape {tuple(shape)}.")
    shown, clusters = sorted_points(shape[0], labels, MAX_POINTS, random_state)
    pixels = np.sqrt(np.maximum(_block(weights, shown), 0.0))
    # The diagonal (self-loops) says nothing about clusters and must not set the scale.
    positive = pixels[(pixels > 0) & ~np.eye(len(pixels), dtype=bool)]
    ceiling = float(np.quantile(positive, 0.99)) if positive.size else 1.0
    ax = axes_or_new(ax, 5.0, 5.0)
    ax.imshow(pixels, cmap="cividis", interpolation="nearest", vmin=0.0, vmax=ceiling)
    frame_clusters(ax, clusters, shape[0], "white")
    return ax


def _block(weights: Any, rows: IntArray) -> FloatArray:
    """Return some rows and columns of the weights, without making all of them dense."""
    if isinstance(weights, Graph) and weights.matrix is not None:
        weights = weights.matrix
    if isinstance(weights, Graph):
        # A graph without a matrix still multiplies unit vectors, which pick its columns.
        units = np.zeros((weights.n_nodes, rows.size))
        units[rows, np.arange(rows.size)] = 1.0
        return weights.apply(units)[rows]
    if sparse.issparse(weights):
        return np.asarray(sparse.csr_array(weights)[rows][:, rows].toarray(), dtype=float)
    return np.asarray(weights[np.ix_(rows, rows)], dtype=float)


def plot_distances(
    embedding: ArrayLike, labels: ArrayLike | None = None, ax: Axes | None = None, *, random_state: int = 0
) -> Axes:
    """Draw the distances between the rows of an embedding, sorted by cluster (fig. 7 of Lu & Ip, 2010).

    The darker, the closer. Compact clusters far from one another are dark blocks on the diagonal of a light
    picture. Of more than a thousand points a random sample is drawn, and the title says so.

    Parameters
    ----------
    embedding : array of shape (n, d)
        One row per point, such as the `embedding_` of an estimator.
    labels : array of shape (n,), optional
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
        If the embedding has no rows and columns, or the labels are not one for each row.

    Examples
    --------
    >>> ax = plot_distances([[0.0], [3.0], [1.0]], labels=[0, 1, 0])
    >>> ax.images[0].get_array().tolist()
    [[0.0, 1.0, 3.0], [1.0, 0.0, 2.0], [3.0, 2.0, 0.0]]
    """
    points = np.asarray(embedding, dtype=np.float64)
    if points.ndim != 2:
        raise ValueError(f"embedding has shape {points.shape}: one row for each point, one column or more.")
    n = points.shape[0]
    shown, clusters = sorted_points(n, labels, MAX_POINTS, random_state)
    ax = axes_or_new(ax, 5.0, 5.0)
    ax.imshow(pairwise_distances(points[shown]), cmap="cividis", interpolation="nearest", vmin=0.0)
    frame_clusters(ax, clusters, n, "white")
    return ax


def plot_equivalent_kernel(
    K: ArrayLike,
    link: tuple[int, int],
    kind: str = "must",
    ax: Axes | None = None,
    *,
    eps: float = 0.0,
    change: bool = False,
) -> Axes:
    """Draw the kernel that one link makes of K, in the order of the points.

    Blue affinities are positive, red ones negative; a cannot-link makes negative ones between the
    surroundings of its two ends. Lines mark the linked points: solid for a must-link, dashed red for a
    cannot-link.

    Parameters
    ----------
    K : array of shape (n, n)
        The kernel, its points in an order that means something, for instance along a line.
    link : tuple of two ints
        The points linked.
    kind : {"must", "cannot"}, default="must"
        What links them.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.
    eps : float, default=0.0
        ε of eq. 3; zero is the hard link.
    change : bool, default=False
        Draw the change, K' - K, in place of K'.

    Returns
    -------
    matplotlib.axes.Axes
        The axes drawn on.

    Examples
    --------
    >>> ax = plot_equivalent_kernel(np.eye(3), (0, 1), "cannot")
    >>> ax.images[0].get_array()[0].tolist()
    [0.5, -0.5, 0.0]
    """
    K = np.asarray(K, dtype=np.float64)
    pixels = equivalent_kernel(K, link, kind, eps) - (K if change else 0.0)
    ceiling = float(np.abs(pixels).max(initial=0.0)) or 1.0
    ax = axes_or_new(ax, 5.0, 5.0)
    ax.imshow(pixels, cmap="RdBu", interpolation="nearest", vmin=-ceiling, vmax=ceiling)
    color, style = (text_colour(), "-") if kind == "must" else (CANNOT, "--")
    for point in link:
        ax.axhline(point, linewidth=0.6, alpha=0.6, color=color, linestyle=style)
        ax.axvline(point, linewidth=0.6, alpha=0.6, color=color, linestyle=style)
    ax.set_title(f"{'change by a' if change else 'after a'} {kind}-link", fontsize="medium")
    return ax
