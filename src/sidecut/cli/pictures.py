"""The pictures of a run, on light and on dark paper."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidecut.cli.errors import UsageError, require
from sidecut.cli.result import ClusterRun
from sidecut.cli.scores import listed_constraints
from sidecut.cli.summary import clusters_words
from sidecut.plots import (
    align_clusters,
    plot_before_after,
    plot_eigenvalues,
    plot_embedding,
    project_for_picture,
)
from sidecut.plots.canvas import cluster_styles

__all__ = [
    "THEMES",
    "cluster_colours",
    "coordinates",
    "draw_eigenvalues",
    "draw_points",
    "render",
    "save_picture",
]

DRAWN_LINKS = 80
"""Labels of a few points make many links; more lines than this hide the points."""

THEMES: dict[str, dict[str, Any]] = {
    "light": {"text.color": "#1d2129", "axes.labelcolor": "#1d2129", "axes.edgecolor": "#8a919e"},
    "dark": {
        "text.color": "#e8eaee",
        "axes.labelcolor": "#e8eaee",
        "axes.edgecolor": "#8a919e",
        "xtick.color": "#b4bac5",
        "ytick.color": "#b4bac5",
        "figure.facecolor": "none",
        "axes.facecolor": "none",
        "savefig.facecolor": "none",
    },
}


def coordinates(run: ClusterRun) -> tuple[NDArray[np.float64], str]:
    """Choose where the points are drawn, and say in words what is seen.

    Data of one or two features is shown as it is. Anything else is shown by the principal components of the
    embedding the labels were read from, or of the data where a method has none.

    Parameters
    ----------
    run : ClusterRun
        What was computed.

    Returns
    -------
    points : array of shape (n, 2)
        Coordinates.
    words : str
        What they are.
    """
    X = run.points.X
    if not run.points.is_graph and X.shape[1] <= 2:
        return project_for_picture(X), "the data itself"
    embedding = getattr(run.cut, "embedding_", None)
    if embedding is None:
        return project_for_picture(X), "the data's first two principal components"
    words = "the embedding" if embedding.shape[1] <= 2 else "the embedding's first two principal components"
    return project_for_picture(embedding), words


def draw_points(run: ClusterRun) -> Any:
    """Draw the clusters with their constraints, before and after if both are known.

    Returns
    -------
    matplotlib.figure.Figure
        The picture.
    """
    require("matplotlib", "Drawing pictures")
    where, _ = coordinates(run)
    links = listed_constraints(run.constraints)
    if run.baseline is None:
        title = f"{clusters_words(run)} by {type(run.model).__name__}"
        return plot_embedding(where, run.labels, links, title=title, max_links=DRAWN_LINKS).figure
    axes = plot_before_after(
        where, run.baseline.labels_, run.labels, links, titles=_titles(run), max_links=DRAWN_LINKS
    )
    return axes[0].figure


def _titles(run: ClusterRun) -> tuple[str, str]:
    names = ("Without constraints", f"With constraints ({type(run.model).__name__})")
    scores = (run.baseline_score, run.score)
    return tuple(_with_ari(name, score) for name, score in zip(names, scores, strict=True))  # type: ignore[return-value]


def _with_ari(name: str, score: Any) -> str:
    return name if score is None or score.ari is None else f"{name}: ARI {score.ari:.2f}"


def cluster_colours(run: ClusterRun) -> list[str]:
    """Return the colour each cluster has in the picture."""
    if run.baseline is None:
        numbers = np.arange(len(run.sizes))
    else:
        before = np.unique(run.baseline.labels_, return_inverse=True)[1]
        drawn = align_clusters(run.labels, before)
        numbers = np.array([drawn[run.labels == c][0] if size else 0 for c, size in enumerate(run.sizes)])
    styles = cluster_styles(int(numbers.max()) + 1)
    return [styles[number][0] for number in numbers]


def draw_eigenvalues(run: ClusterRun) -> Any:
    """Draw the eigenvalues of the graph, or those of the embedding where the graph's are not known.

    Returns
    -------
    matplotlib.figure.Figure
        The picture.
    """
    require("matplotlib", "Drawing pictures")
    return plot_eigenvalues(run.spectrum or run.eigenvalues, run.n_clusters).figure


def render(draw: Callable[[Any], Any], run: Any, theme: str = "light") -> bytes:
    """Draw a picture in a theme and return it as PNG.

    Parameters
    ----------
    draw : callable
        One of the ``draw_`` functions.
    run : object
        What to draw.
    theme : {"light", "dark"}
        Colours of text and paper.

    Returns
    -------
    bytes
        A PNG file.
    """
    matplotlib = require("matplotlib", "Drawing pictures")
    file = io.BytesIO()
    with matplotlib.rc_context(THEMES[theme]):
        draw(run).savefig(file, format="png", dpi=120)
    return file.getvalue()


def save_picture(run: ClusterRun, path: Path) -> None:
    """Write the picture of the points to a file, its format told by the suffix."""
    try:
        draw_points(run).savefig(path, dpi=160)
    except OSError as error:
        raise UsageError(f"{path} could not be written: {error.strerror}.") from error
