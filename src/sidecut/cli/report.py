"""The report of a run: one HTML file that explains itself and loads nothing."""

from __future__ import annotations

import base64
import io
import platform
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidecut import __version__
from sidecut.cli.check import chance_words, list_suspects
from sidecut.cli.console import UsageError, counted, require
from sidecut.cli.evaluate import MAX_LISTED, listed_constraints
from sidecut.cli.preparation import Points, Preparation, learn_scale
from sidecut.cli.result import ClusterRun, clusters_words, sentences, solver_words
from sidecut.constraints import Constraints
from sidecut.methods.new_points import neighborhood
from sidecut.plots import (
    align_clusters,
    plot_before_after,
    plot_eigenvalues,
    plot_embedding,
    plot_update,
    project_for_picture,
)
from sidecut.plots.canvas import NOISE_STYLE, cluster_styles, new_figure
from sidecut.plots.links import are_labels

#: Colours of pictures on light and on dark paper.
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


def report_html(run: ClusterRun, command: str, messages: list[str], seconds: dict[str, float]) -> str:
    """Return the report of a run as one HTML page."""
    return render_page(
        "report.html",
        title=f"{run.points.source.name} in {clusters_words(run)}",
        sentences=sentences(run, messages),
        tiles=_tiles(run),
        candidates=_candidates(run),
        pictures=_points_pictures(run),
        comparison=_comparison(run),
        violations=_violations(run),
        sizes=_sizes(run),
        has_classes=bool(run.class_of_cluster),
        misplaced=_misplaced(run),
        columns=[(name, f"{share:.0%}") for name, share in run.column_shares[:20]],
        doubtful=_doubtful(run),
        suspects=_suspects(run),
        spectrum=_spectrum(run),
        messages=messages,
        command=command,
        parameters=[(name, repr(value)) for name, value in run.model.get_params(deep=False).items()],
        seconds=[(stage, f"{time:.2f}") for stage, time in seconds.items()],
    )


def predictions_html(
    points: Points,
    names: dict[int, str],
    labels: NDArray[np.intp],
    confidence: NDArray[np.float64],
    origin: str,
) -> str:
    """Return the report of new points that were put into the clusters of a model."""
    where, shows = coordinates_of(points)
    clusters, sizes = np.unique(labels, return_counts=True)
    least = np.argsort(confidence, kind="stable")[:10].tolist()
    said = f"The {points.n_samples:,} points of {points.source.name} were put into the clusters of {origin}."
    shown = {int(c): names.get(int(c), f"cluster {c}") for c in clusters}
    return render_page(
        "predictions.html",
        title=f"{points.source.name} in the clusters of {origin}",
        sentences=[said, points.used_words],
        picture=embed_figure(
            lambda: draw_clusters(where, labels, shown),
            f"Scatter plot of {points.n_samples:,} new points in {counted(len(clusters), 'cluster')}",
            f"Similar points are near each other: {shows}. Colours and shapes are clusters.",
        ),
        sizes=[
            (shown[c], f"{n:,}", f"{n / len(labels):.1%}", f"{confidence[labels == c].mean():.2f}")
            for c, n in zip(clusters.tolist(), sizes.tolist(), strict=True)
        ],
        doubtful=[(points.name(p), shown[int(labels[p])], f"{confidence[p]:.2f}") for p in least],
    )


def update_html(
    points: Points, model: Any, before: NDArray[np.intp], names: dict[int, str], origin: str
) -> str:
    """Return the report of an update: what changed, why, and a picture of it."""
    labels, changes, n_old = model.labels_, model.changes_, len(before)
    sure = np.asarray(model.confidence_)
    clusters = np.union1d(before, labels)
    called = {c: names.get(c, f"cluster {c}") for c in clusters.tolist()}
    where, shows = coordinates_of(replace(points, X=neighborhood(model).points))
    doubtful = changes.points("doubtful")
    return render_page(
        "update.html",
        title=f"{points.source.name} in the clusters of {origin}",
        sentences=str(changes).split("\n"),
        picture=embed_figure(
            lambda: plot_update(where, before, labels, doubtful=doubtful, names=called)[0].figure,
            f"Scatter plots of {n_old:,} points before the update and {len(labels):,} after it",
            f"Similar points are near each other: {shows}. A colour is a cluster, and stays. Large points "
            "with a rim are new, or changed their cluster; rings are doubtful.",
        ),
        changes=[
            (
                row.kind,
                f"{row.n_points:,}",
                "" if row.before is None else called[row.before],
                "" if row.cluster is None else called[row.cluster],
                row.why,
            )
            for row in changes.rows
        ],
        sizes=[
            (
                called[c],
                f"{np.count_nonzero(before == c):,}",
                f"{np.count_nonzero(labels == c):,}",
                f"{np.count_nonzero(labels[n_old:] == c):,}",
                f"{sure[labels == c].mean():.2f}" if (labels == c).any() else "",
            )
            for c in clusters.tolist()
        ],
        doubtful=[
            (points.name(p - n_old), called[int(labels[p])], f"{sure[p]:.2f}")
            for p in doubtful[np.argsort(sure[doubtful], kind="stable")[:10]].tolist()
        ],
    )


def render_page(template: str, **content: Any) -> str:
    """Return a page of a template beside this file, with the versions of the packages that made it."""
    jinja2 = require("jinja2", "Writing the report")
    loader = jinja2.PackageLoader("sidecut.cli", ".")
    # Names and classes come from files, so they are escaped.
    pages = jinja2.Environment(loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True)
    versions = [f"sidecut {__version__}", f"Python {platform.python_version()}"]
    versions += [f"{package} {version(package)}" for package in ("numpy", "scipy", "scikit-learn")]
    return pages.get_template(template).render(version=__version__, versions=", ".join(versions), **content)


def embed_figure(draw: Callable[[], Any], alt: str, caption: str) -> dict[str, str]:
    """Return a picture for light and one for dark screens, with a text for readers who cannot see it."""
    matplotlib = require("matplotlib", "Drawing pictures")
    embedded = {"alt": alt, "caption": caption}
    for theme, colours in THEMES.items():
        file = io.BytesIO()
        with matplotlib.rc_context(colours):
            draw().savefig(file, format="png", dpi=120)
        embedded[theme] = base64.b64encode(file.getvalue()).decode("ascii")
    return embedded


def _tiles(run: ClusterRun) -> list[tuple[str, str]]:
    tiles = [(f"{run.points.n_samples:,}", "points"), (str(run.n_clusters), "clusters")]
    before, after = run.baseline_score, run.score
    if run.constraints.labels is not None:
        tiles.append(("{:,} / {:,}".format(*run.placed), "labelled points in the cluster of their class"))
    elif after.total:
        tiles.append((f"{after.kept:,} / {after.total:,}", "constraints satisfied"))
    if before is not None and before.ari is not None and after.ari is not None:
        tiles.append((f"{before.ari:.2f} → {after.ari:.2f}", "ARI, without → with constraints"))
    elif after.ari is not None:
        tiles.append((f"{after.ari:.2f}", "adjusted Rand index"))
    return tiles


def _points_pictures(run: ClusterRun) -> list[dict[str, str]]:
    """Return the picture of the clusters, and beside it that of those without constraints."""
    where, shows = _coordinates(run)
    ringed = " Points whose label is known are ringed; a cross is one in the cluster of another class."
    lines = " Solid lines are must-links, dashed red lines cannot-links; bold ones are violated."
    said = f"Similar points are near each other: {shows}. Colours and shapes are clusters."
    if run.score.total:
        said += ringed if are_labels(run.constraints) else lines
    links = listed_constraints(run.constraints)
    alt = f"Scatter plot of {run.points.n_samples:,} points in {clusters_words(run)}"
    if run.score.total and not are_labels(run.constraints):
        alt += f"; {run.score.kept:,} of {run.score.total:,} constraints are satisfied"
    labels, shown = (
        run.labels,
        run.class_of_cluster or {c: run.cluster_name(c) for c in range(run.n_clusters)},
    )
    if run.baseline is None:
        return [embed_figure(lambda: draw_clusters(where, labels, shown, links), alt, said)]
    before, after = _aligned(run)
    # Aligned clusters have the colours of those without constraints that they share most points with.
    names = {int(after[labels == c][0]): name for c, name in shown.items() if (labels == c).any()}
    return [
        embed_figure(lambda: draw_clusters(where, after, names, links), alt, said),
        embed_figure(
            lambda: draw_clusters(where, before, {}, links),
            f"The same points in the clusters found without what you know: {len(run.sizes)} clusters",
            "The same points, clustered without what you know, in the colours of the clusters they match.",
        ),
    ]


def _aligned(run: ClusterRun) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the clusters without and with constraints, those that match numbered alike; noise is -1."""
    before = np.asarray(run.baseline.labels_)
    before = np.where(before < 0, -1, np.unique(before, return_inverse=True)[1]).astype(np.intp)
    return before, align_clusters(run.labels, before).astype(np.intp)


def draw_clusters(
    where: NDArray[np.float64],
    labels: NDArray[np.intp],
    names: dict[int, str],
    links: Constraints | None = None,
) -> Any:
    """Draw one clustering in a frame."""
    ax = new_figure(6.4, 5.4).subplots()
    plot_embedding(where, labels, links, ax, max_links=80, legend=False, names=names)
    for spine in ax.spines.values():
        spine.set_visible(True)
    return ax.figure


def _misplaced(run: ClusterRun) -> dict[str, Any] | None:
    """List the labelled points that are not in the cluster of their class; None without labels."""
    if run.constraints.known_classes is None:
        return None
    rows = [
        (run.points.name(point), name, run.cluster_name(cluster))
        for point, name, cluster in run.misplaced[:50]
    ]
    return {"words": "{:,} of {:,}".format(*run.placed), "rows": rows, "n": len(run.misplaced)}


def _comparison(run: ClusterRun) -> dict[str, Any] | None:
    """Return a table of the scores, beside those without constraints."""
    after = run.score
    if not after.total and after.ari is None:
        return None
    columns = [("with constraints" if after.total else "value", after)]
    if run.baseline_score is not None:
        columns.insert(0, ("without constraints", run.baseline_score))
    scores = [score for _, score in columns]
    rows: list[tuple[str, list[str]]] = []
    if run.constraints.known_classes is not None:
        right, total = run.placed
        cells = [f"{n:,} of {total:,}" for n in ([run.placed_before] if len(columns) > 1 else []) + [right]]
        rows.append(("labelled points in the cluster of their class", cells))
    elif after.total:
        rows += [
            ("constraints satisfied", [_kept_cell(s.kept, s.total) for s in scores]),
            ("must-links", [_kept_cell(s.must_kept, s.must_total) for s in scores]),
            ("cannot-links", [_kept_cell(s.cannot_kept, s.cannot_total) for s in scores]),
        ]
    if after.ari is not None:
        rows.append(("adjusted Rand index, all points", [f"{s.ari:.3f}" for s in scores]))
    if after.ari_unconstrained is not None and after.total:
        free = [f"{s.ari_unconstrained:.3f}" for s in scores]
        rows.append(("adjusted Rand index, unconstrained points", free))
    explains_ari = after.ari_unconstrained is not None and after.total
    return {"heads": [head for head, _ in columns], "rows": rows, "explains_ari": explains_ari}


def _kept_cell(kept: int | None, total: int) -> str:
    return f"{total:,} given" if kept is None else f"{kept:,} of {total:,}"


def _violations(run: ClusterRun) -> dict[str, Any] | None:
    """List up to 50 constraints that are violated, and the clusters of their points."""
    if not run.score.total or run.constraints.known_classes is not None:
        return None
    rows = []
    for violation in run.violations[:50]:
        first, second = violation.clusters
        here, there = run.cluster_name(first), run.cluster_name(second)
        where = f"both in {here}" if first == second else f"in {here} and {there}"
        names = (run.points.name(violation.first), run.points.name(violation.second))
        rows.append((violation.kind, *names, f"{abs(violation.strength):g}", where))
    words = _violation_words(run, len(rows)) if run.score.kept < run.score.total else ""
    return {"words": words, "rows": rows, "is_long": len(rows) > 10}


def _violation_words(run: ClusterRun, n_shown: int) -> str:
    """Count the violations, and name the points in most of them: a wrong label shows up here."""
    violated = run.score.total - run.score.kept
    verb = "is" if violated == 1 else "are"
    said = f"{violated:,} of {counted(run.score.total, 'constraint')} {verb} violated"
    if run.score.total > MAX_LISTED:
        said += f"; these {n_shown} are from a sample of the constrained points, the strongest first"
    elif n_shown < violated:
        said += f"; the first {n_shown}, the strongest first"
    counts = Counter(point for v in run.violations for point in (v.first, v.second))
    often = [f"{run.points.name(point)} ({n:,})" for point, n in counts.most_common(3) if n > 1]
    return (
        f"{said}. Points in most of them: {', '.join(often)}. Look at these first." if often else f"{said}."
    )


def _sizes(run: ClusterRun) -> list[dict[str, Any]]:
    total, colours = run.points.n_samples, _cluster_colours(run)
    # Points with labels are never noise.
    classes = run.constraints.known_classes
    known = [] if classes is None else [p for p, name in enumerate(classes) if name is not None]
    n_known = Counter(run.labels[np.array(known, dtype=np.intp)].tolist())
    sizes = list(enumerate(run.sizes)) + ([(-1, run.n_noise)] if run.n_noise else [])
    largest = max(size for _, size in sizes)
    return [
        {
            "cluster": cluster,
            "name": run.cluster_name(cluster),
            "known": f"{n_known[cluster]:,}",
            "size": f"{size:,}",
            "share": f"{size / total:.1%}",
            "width": f"{100 * size / largest:.1f}",
            "colour": colours[cluster] if cluster >= 0 else NOISE_STYLE[0],
        }
        for cluster, size in sizes
    ]


def _cluster_colours(run: ClusterRun) -> list[str]:
    """Return the colour of each cluster in the picture."""
    numbers = np.arange(len(run.sizes))
    if run.baseline is not None:
        drawn = _aligned(run)[1]
        numbers = np.array([drawn[run.labels == c][0] if size else 0 for c, size in enumerate(run.sizes)])
    styles = cluster_styles(int(numbers.max()) + 1)
    return [styles[number][0] for number in numbers]


def _candidates(run: ClusterRun) -> dict[str, Any] | None:
    """Return the table of the candidates, where the method was chosen."""
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
    """List the ten points of least confidence."""
    if run.confidence is None:
        return []
    least = np.argsort(run.confidence, kind="stable")[:10]
    clusters = [int(run.labels[point]) for point in least]
    return [
        (run.points.name(int(point)), run.cluster_name(cluster), f"{run.confidence[point]:.2f}")
        for point, cluster in zip(least, clusters, strict=True)
    ]


def _suspects(run: ClusterRun) -> dict[str, Any] | None:
    """List up to 20 labels or links that look wrong, with the reason."""
    if run.suspects is None:
        return None
    found = list_suspects(run.suspects, run.points)
    rows = [
        (" and ".join(one["points"]), one["said"], one["reason"], chance_words(one["score"]))
        for one in found[:20]
    ]
    kind, total = run.suspects.kind, len(run.suspects.scores)
    count = f"{counted(len(found), kind)} of {total:,} {'looks' if len(found) == 1 else 'look'} wrong"
    more = f"; the first {len(rows)} are shown" if len(found) > len(rows) else ""
    return {"kind": kind, "total": f"{total:,}", "words": f"{count}{more}.", "rows": rows}


def _spectrum(run: ClusterRun) -> dict[str, Any] | None:
    """Return the picture of the eigenvalues of the graph or of the embedding, and how they were found."""
    values = np.sort(run.spectrum or run.eigenvalues)
    if not len(values):
        return None
    solver, certificate = solver_words(run)
    words = _gap_words(values, run.n_clusters)
    figure = embed_figure(
        lambda: plot_eigenvalues(run.spectrum or run.eigenvalues, run.n_clusters).figure,
        f"Stem plot of {len(values)} eigenvalues. {words}",
        words,
    )
    how = "" if solver == "not reported" else f"Solver: {solver}. Certificate: {certificate.rstrip('.')}."
    return {"figure": figure, "how": how}


def _gap_words(values: NDArray[np.float64], k: int) -> str:
    if k >= len(values):
        return f"The {len(values)} eigenvalues of the embedding, from {values[0]:.3g} to {values[-1]:.3g}."
    gaps = np.diff(values)
    widest = int(np.argmax(gaps)) + 1
    said = f"The gap after eigenvalue {k} is {gaps[k - 1]:.2g}"
    if widest == k:
        return f"{said}, the widest of those shown: the graph itself suggests {k} clusters."
    return f"{said}; the widest gap ({gaps[widest - 1]:.2g}) is after eigenvalue {widest}."


def _coordinates(run: ClusterRun) -> tuple[NDArray[np.float64], str]:
    """Return where the points are drawn, and what that shows."""
    embedding = getattr(run.cut, "embedding_", None)
    if not run.points.is_graph or embedding is None:
        return coordinates_of(run.points)
    return project_for_picture(embedding), "the first two principal components of the graph's embedding"


def coordinates_of(points: Points) -> tuple[NDArray[np.float64], str]:
    """Return the data themselves where they are a plane, or else their principal components, in words too."""
    X = points.X
    if X.shape[1] <= 2:
        return project_for_picture(X), "the data themselves"
    if points.columns and isinstance(X, np.ndarray):
        # Columns of a table have units of their own.
        X = learn_scale(Preparation(columns=()), X).rescale(X)
    return project_for_picture(X), "the first two principal components of the data"


def draw_points(run: ClusterRun) -> Any:
    """Draw the clusters with their constraints, before and after if both are known."""
    require("matplotlib", "Drawing pictures")
    where, _ = _coordinates(run)
    links = listed_constraints(run.constraints)
    # Labels of a few points make many links; more than 80 lines hide the points.
    if run.baseline is None:
        title = f"{clusters_words(run)} by {type(run.model).__name__}"
        return plot_embedding(where, run.labels, links, title=title, max_links=80).figure
    titles = ["Without constraints", f"With constraints ({type(run.model).__name__})"]
    for place, score in enumerate((run.baseline_score, run.score)):
        if score is not None and score.ari is not None:
            titles[place] += f": ARI {score.ari:.2f}"
    axes = plot_before_after(
        where, run.baseline.labels_, run.labels, links, titles=(titles[0], titles[1]), max_links=80
    )
    return axes[0].figure


def save_picture(run: ClusterRun, path: Path) -> None:
    """Write the picture of the points to a file in the format of its suffix."""
    try:
        draw_points(run).savefig(path, dpi=160)
    except OSError as error:
        raise UsageError(f"{path} could not be written: {error.strerror}.") from error
