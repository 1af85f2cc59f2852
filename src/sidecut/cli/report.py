"""The report of a run: one HTML file that explains itself and loads nothing."""

from __future__ import annotations

import base64
import io
import platform
from collections import Counter
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidecut import __version__
from sidecut.cli.console import UsageError, require
from sidecut.cli.evaluate import MAX_LISTED, Score, listed_constraints
from sidecut.cli.result import ClusterRun, chance_words, list_suspects
from sidecut.cli.summary import clusters_words, counted, sentences, solver_words
from sidecut.plots import (
    align_clusters,
    plot_before_after,
    plot_eigenvalues,
    plot_embedding,
    project_for_picture,
)
from sidecut.plots.canvas import cluster_styles
from sidecut.plots.links import are_labels

__all__ = ["embed_figure", "render_page", "report_html", "write_report"]


SHOWN_VIOLATIONS = 50
OPEN_VIOLATIONS = 10
SHOWN_DOUBTFUL = 10
SHOWN_SUSPECTS = 20

DRAWN_LINKS = 80


def write_report(
    path: Path, run: ClusterRun, command: str, messages: list[str], seconds: dict[str, float]
) -> None:
    """Write the report of a run."""
    path.write_text(report_html(run, command, messages, seconds), encoding="utf-8")


def report_html(run: ClusterRun, command: str, messages: list[str], seconds: dict[str, float]) -> str:
    """Return the report of a run as one HTML page; see `write_report`."""
    return render_page(
        "report.html",
        title=f"{run.points.source.name} in {clusters_words(run)}",
        sentences=sentences(run, messages),
        tiles=_tiles(run),
        candidates=_candidates(run),
        picture=_points_picture(run),
        comparison=_comparison(run),
        violations=_violations(run),
        sizes=_sizes(run),
        has_classes=bool(run.class_of_cluster),
        doubtful=_doubtful(run),
        suspects=_suspects(run),
        spectrum=_spectrum(run),
        messages=messages,
        command=command,
        parameters=[(name, repr(value)) for name, value in run.model.get_params(deep=False).items()],
        seconds=[(stage, f"{time:.2f}") for stage, time in seconds.items()],
    )


def render_page(template: str, **content: Any) -> str:
    """Return a page of a template beside this file; every page is told the versions of what made it."""
    jinja2 = require("jinja2", "Writing the report")
    loader = jinja2.PackageLoader("sidecut.cli", ".")
    # Whatever comes from files (names, classes) is escaped.
    pages = jinja2.Environment(loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True)
    return pages.get_template(template).render(version=__version__, versions=_versions(), **content)


def _tiles(run: ClusterRun) -> list[tuple[str, str]]:
    tiles = [(f"{run.points.n_samples:,}", "points"), (str(run.n_clusters), "clusters")]
    before, after = run.baseline_score, run.score
    if after.total:
        tiles.append((f"{after.kept:,} / {after.total:,}", "constraints satisfied"))
    if before is not None and before.ari is not None and after.ari is not None:
        tiles.append((f"{before.ari:.2f} → {after.ari:.2f}", "ARI, without → with constraints"))
    elif after.ari is not None:
        tiles.append((f"{after.ari:.2f}", "adjusted Rand index"))
    return tiles


def embed_figure(draw: Callable[[Any], Any], run: Any, alt: str, caption: str) -> dict[str, str]:
    """Return a picture for light and one for dark screens, with words for those who cannot see it."""
    themes = {
        theme: base64.b64encode(render(draw, run, theme)).decode("ascii") for theme in ("light", "dark")
    }
    return {**themes, "alt": alt, "caption": caption}


def _points_picture(run: ClusterRun) -> dict[str, str]:
    _, shown = coordinates(run)
    caption = f"The picture shows {shown}; colours and shapes are clusters.{_explained(run)}"
    alt = f"Scatter plot of {run.points.n_samples:,} points in {clusters_words(run)}"
    if run.baseline is not None:
        alt += ", without constraints on the left and with constraints on the right"
    if run.score.total:
        alt += f"; {run.score.kept:,} of {run.score.total:,} constraints are satisfied"
    return embed_figure(draw_points, run, alt, caption)


def _explained(run: ClusterRun) -> str:
    """Say how the constraints are drawn."""
    if not run.score.total:
        return ""
    if are_labels(run.constraints):
        return " Points whose label is known are ringed; a cross is one in the cluster of another class."
    return " Solid lines are must-links, dashed red lines cannot-links; bold ones are violated."


def _comparison(run: ClusterRun) -> dict[str, Any] | None:
    """Set the clustering beside the one without constraints."""
    if not run.score.total and run.score.ari is None:
        return None
    columns = [("with constraints" if run.score.total else "value", run.score)]
    if run.baseline_score is not None:
        columns.insert(0, ("without constraints", run.baseline_score))
    return {
        "heads": [head for head, _ in columns],
        "rows": [(name, [_cell(score, key) for _, score in columns]) for name, key in _compared(run.score)],
        "explains_ari": run.score.ari_unconstrained is not None and run.score.total,
    }


def _compared(score: Score) -> list[tuple[str, str]]:
    rows = []
    if score.total:
        rows += [("constraints satisfied", "all"), ("must-links", "must"), ("cannot-links", "cannot")]
    if score.ari is not None:
        rows.append(("adjusted Rand index, all points", "ari"))
    if score.ari_unconstrained is not None and score.total:
        rows.append(("adjusted Rand index, unconstrained points", "ari_unconstrained"))
    return rows


def _cell(score: Score, key: str) -> str:
    counts = {
        "all": (score.kept, score.total),
        "must": (score.must_kept, score.must_total),
        "cannot": (score.cannot_kept, score.cannot_total),
    }
    if key in counts:
        kept, total = counts[key]
        return f"{total:,} given" if kept is None else f"{kept:,} of {total:,}"
    value = getattr(score, key)
    return "unknown" if value is None else f"{value:.3f}"


def _violations(run: ClusterRun) -> dict[str, Any] | None:
    """List the constraints that are not kept, and where their points are instead."""
    if not run.score.total:
        return None
    shown = run.violations[:SHOWN_VIOLATIONS]
    ends = [(run.points.name(v.first), run.points.name(v.second)) for v in shown]
    rows = [
        (v.kind, *names, f"{abs(v.strength):g}", _where(v.clusters))
        for v, names in zip(shown, ends, strict=True)
    ]
    violated = run.score.total - run.score.kept
    words = f"{_violation_count(run, violated, len(rows))} {_culprits(run)}" if violated else ""
    return {"words": words, "rows": rows, "is_long": len(rows) > OPEN_VIOLATIONS}


def _violation_count(run: ClusterRun, violated: int, shown: int) -> str:
    verb = "is" if violated == 1 else "are"
    said = f"{violated:,} of {counted(run.score.total, 'constraint')} {verb} violated"
    if run.score.total > MAX_LISTED:
        return f"{said}; these {shown} are from a sample of the constrained points, the strongest first."
    return f"{said}; the first {shown}, the strongest first." if shown < violated else f"{said}."


def _culprits(run: ClusterRun) -> str:
    """Name the points that take part in most violations: a mistake in one label shows up here."""
    counts = Counter(point for v in run.violations for point in (v.first, v.second))
    often = [(point, count) for point, count in counts.most_common(3) if count > 1]
    if not often:
        return ""
    named = ", ".join(f"{run.points.name(point)} ({count:,})" for point, count in often)
    return f"Points in most of them: {named}. Look at these first."


def _where(clusters: tuple[int, int]) -> str:
    first, second = clusters
    return f"both in cluster {first}" if first == second else f"in clusters {first} and {second}"


def _sizes(run: ClusterRun) -> list[dict[str, Any]]:
    largest, total, colours = max(run.sizes), sum(run.sizes), cluster_colours(run)
    known = run.constraints.known_classes
    is_known = (
        np.zeros(total, dtype=bool) if known is None else np.array([name is not None for name in known])
    )
    n_known = np.bincount(run.labels[is_known], minlength=len(run.sizes))
    return [
        {
            "cluster": cluster,
            "class": run.class_of_cluster.get(cluster, ""),
            "known": f"{n_known[cluster]:,}",
            "size": f"{size:,}",
            "share": f"{size / total:.1%}",
            "width": f"{100 * size / largest:.1f}",
            "colour": colours[cluster],
        }
        for cluster, size in enumerate(run.sizes)
    ]


def _candidates(run: ClusterRun) -> dict[str, Any] | None:
    """Return the table of what was tried, where the method was chosen."""
    columns = getattr(run.model, "candidates_", None)
    if columns is None:
        return None
    rows = [[_candidate_cell(value) for value in row] for row in zip(*columns.values(), strict=True)]
    numeric = [place for place, name in enumerate(columns) if name in ("score", "spread", "folds", "seconds")]
    return {"heads": list(columns), "rows": rows, "numeric": numeric}


def _candidate_cell(value: Any) -> str:
    if value is None or value != value:
        return ""
    return f"{value:.2f}" if isinstance(value, float | np.floating) else str(value)


def _doubtful(run: ClusterRun) -> list[tuple[str, str, str]]:
    """List the points whose cluster is least sure: the ones to look at, or to label next."""
    if run.confidence is None:
        return []
    return [
        (run.points.name(point), _called(run, int(run.labels[point])), f"{run.confidence[point]:.2f}")
        for point in run.least_sure(SHOWN_DOUBTFUL)
    ]


def _suspects(run: ClusterRun) -> dict[str, Any] | None:
    """List what was said that looks wrong, with the reason."""
    if run.suspects is None:
        return None
    found = list_suspects(run.suspects, run.points)
    rows = [
        (" and ".join(one["points"]), one["said"], one["reason"], chance_words(one["score"]))
        for one in found[:SHOWN_SUSPECTS]
    ]
    kind, total = run.suspects.kind, len(run.suspects.scores)
    count = f"{counted(len(found), kind)} of {total:,} {'looks' if len(found) == 1 else 'look'} wrong"
    more = f"; the first {len(rows)} are shown" if len(found) > len(rows) else ""
    return {"kind": kind, "total": f"{total:,}", "words": f"{count}{more}.", "rows": rows}


def _called(run: ClusterRun, cluster: int) -> str:
    name = run.class_of_cluster.get(cluster)
    return f"{cluster}" if name is None else f"{cluster} ({name})"


def _spectrum(run: ClusterRun) -> dict[str, Any] | None:
    """Show the eigenvalues, and say how they were found and how sure that is."""
    shown = run.spectrum or run.eigenvalues
    if not shown:
        return None
    solver, certificate = solver_words(run)
    words = _gap_words(run)
    figure = embed_figure(draw_eigenvalues, run, f"Stem plot of {len(shown)} eigenvalues. {words}", words)
    return {"figure": figure, "how": f"Solver: {solver}. Certificate: {certificate.rstrip('.')}."}


def _gap_words(run: ClusterRun) -> str:
    values, k = np.sort(run.spectrum or run.eigenvalues), run.n_clusters
    if k >= len(values):
        return f"The {len(values)} eigenvalues of the embedding, from {values[0]:.3g} to {values[-1]:.3g}."
    gaps = np.diff(values)
    widest = int(np.argmax(gaps)) + 1
    said = f"The gap after eigenvalue {k} is {gaps[k - 1]:.2g}"
    if widest == k:
        return f"{said}, the widest of those shown: the graph itself suggests {k} clusters."
    return f"{said}; the widest gap ({gaps[widest - 1]:.2g}) is after eigenvalue {widest}."


def _versions() -> str:
    packages = ("numpy", "scipy", "scikit-learn")
    versions = [("sidecut", __version__), ("Python", platform.python_version())]
    versions += [(package, version(package)) for package in packages]
    return ", ".join(f"{name} {number}" for name, number in versions)


# The pictures of a run, on light and on dark paper.
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
    """Draw the clusters with their constraints, before and after if both are known."""
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
    """Draw the eigenvalues of the graph, or those of the embedding where the graph's are not known."""
    require("matplotlib", "Drawing pictures")
    return plot_eigenvalues(run.spectrum or run.eigenvalues, run.n_clusters).figure


def render(draw: Callable[[Any], Any], run: Any, theme: str = "light") -> bytes:
    """Draw a picture in a theme and return it as PNG."""
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
