"""Where cuts lie between cost and satisfaction: the joint numerical range of L̄ and Q̄ (CSP, figure 4)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.linalg
from scipy.sparse.linalg import LinearOperator, eigsh

from sidecut.arrays import FloatArray
from sidecut.constraints import Constraints
from sidecut.plots.canvas import axes_or_new, cluster_styles, ink
from sidecut.spectral import laplacian_eigenpairs
from sidecut.spectral.problem import LaplacianProblem

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_numerical_range", "range_boundary"]

Extreme = Callable[[float, float], FloatArray]

#: Graphs up to this size are decomposed as a whole.
DENSE_NODES = 400


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
    >>> ax = plot_numerical_range(CSP(2, n_neighbors=8).fit(X, constraints=known), known)
    >>> ax.get_xlabel()
    'cost  vᵀL̄v'
    """
    if not hasattr(model, "cuts_"):
        raise ValueError("The model has no feasible cuts: fit a CSP with constraints first.")
    problem = LaplacianProblem(model.affinity_matrix_)
    scale = _scale(model, problem, constraints)

    def apply_Q(block: FloatArray) -> FloatArray:
        factor = scale if block.ndim == 1 else scale[:, None]
        return factor * constraints.apply(factor * block)

    ax = axes_or_new(ax, 6.4, 4.8)
    boundary = range_boundary(problem.apply_laplacian, apply_Q, problem.n, n_directions)
    _draw_region(ax, boundary, model.beta_ / problem.graph.volume)
    _draw_cuts(ax, model, problem, apply_Q)
    _finish(ax, boundary, title)
    return ax


def range_boundary(apply_L: Any, apply_Q: Any, n: int, n_directions: int = 72) -> FloatArray:
    """Return points on the boundary of {(vᵀLv, vᵀQv) : vᵀv = 1}, in order around it.

    In the direction θ the range reaches furthest at an eigenvector of the largest eigenvalue of
    cos θ L + sin θ Q, here with L and Q in units of their largest values. Where the boundary is straight or
    has a corner, neighbouring directions share a point.

    Parameters
    ----------
    apply_L, apply_Q : callable
        Block -> symmetric matrix @ block.
    n : int
        Order of the matrices.
    n_directions : int, default=72
        How many directions.

    Returns
    -------
    array of shape (n_directions, 2)
        The boundary, counterclockwise.

    Examples
    --------
    The range of two diagonal matrices is the convex hull of their entries.

    >>> import numpy as np
    >>> from sidecut.plots.numerical_range import range_boundary
    >>> L, Q = np.diag([0.0, 1.0, 1.0]), np.diag([0.0, 0.0, 1.0])
    >>> corners = range_boundary(lambda x: L @ x, lambda x: Q @ x, 3, 40)
    >>> sorted({tuple(point) for point in corners.round(9).tolist()})
    [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0)]
    """
    extreme = (
        _dense_extreme(apply_L, apply_Q, n) if n <= DENSE_NODES else _iterated_extreme(apply_L, apply_Q, n)
    )
    # Directions in units of the reach of either form, so that points are spread evenly around the range.
    wide = max(abs(_form(apply_L, extreme(sign, 0.0))) for sign in (1.0, -1.0))
    high = max(abs(_form(apply_Q, extreme(0.0, sign))) for sign in (1.0, -1.0))
    # Half a step off the axes, where eigenvalues coincide by symmetry.
    angles = np.linspace(0.0, 2 * np.pi, n_directions, endpoint=False) + np.pi / n_directions
    vectors = [extreme(np.cos(a) / (wide or 1.0), np.sin(a) / (high or 1.0)) for a in angles]
    return np.array([[_form(apply_L, v), _form(apply_Q, v)] for v in vectors])


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


def _scale(model: Any, problem: LaplacianProblem, constraints: Constraints) -> FloatArray:
    if model.normalization == "target":
        return problem.affinity.scale
    degrees = constraints.apply(np.ones(problem.n))
    return np.divide(1.0, np.sqrt(degrees), out=np.zeros(problem.n), where=degrees > 0)


def _form(apply: Any, vector: FloatArray) -> float:
    return float(vector @ apply(vector))


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
    plain = unconstrained.vectors[:, 1:]
    ax.scatter(
        unconstrained.values[1:],
        _forms(apply_Q, plain),
        marker="x",
        s=26,
        linewidths=1.1,
        c=ink(),
        alpha=0.6,
        zorder=3,
        gid="unconstrained",
        label="unconstrained cuts",
    )
    green = cluster_styles(3)[2][0]
    ax.scatter(
        cuts.costs,
        cuts.satisfactions / volume,
        s=30,
        c=green,
        zorder=4,
        gid="feasible",
        label="feasible cuts",
    )
    ax.scatter(
        cuts.costs[:1],
        cuts.satisfactions[:1] / volume,
        marker="*",
        s=190,
        c=green,
        edgecolors=ink(),
        linewidths=0.8,
        zorder=5,
        gid="best",
        label="the best cut",
    )


def _finish(ax: Axes, boundary: FloatArray, title: str | None) -> None:
    ax.set_xlabel("cost  vᵀL̄v")
    ax.set_ylabel("satisfaction  vᵀQ̄v")
    ax.set_xlim(left=min(-0.03, float(boundary[:, 0].min()) - 0.03))
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=3, frameon=False, fontsize="small")
    if title:
        ax.set_title(title, loc="left", fontweight="bold")
