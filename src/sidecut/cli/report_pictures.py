"""The report's pictures, and what they show in words."""

from __future__ import annotations

from html import escape

import numpy as np

from sidecut.cli.clustering import ClusterRun
from sidecut.cli.markup import figure, paragraph, section
from sidecut.cli.pictures import cluster_colours, coordinates, draw_eigenvalues, draw_points, render
from sidecut.cli.summary import clusters_words, solver_words
from sidecut.plots.known import are_labels

__all__ = ["eigenvalue_section", "picture_section", "size_section"]


def picture_section(run: ClusterRun) -> str:
    """Show the points, their clusters and the constraints."""
    _, shown = coordinates(run)
    caption = f"The picture shows {shown}; colours and shapes are clusters.{_explained(run)}"
    alt = f"Scatter plot of {run.points.n_samples:,} points in {clusters_words(run)}"
    if run.baseline is not None:
        alt += ", without constraints on the left and with constraints on the right"
    if run.score.total:
        alt += f"; {run.score.kept:,} of {run.score.total:,} constraints are satisfied"
    return section("The clusters", figure(*_both(draw_points, run), alt, caption))


def _explained(run: ClusterRun) -> str:
    """Say how the constraints are drawn."""
    if not run.score.total:
        return ""
    if are_labels(run.constraints):
        return " Points whose label is known are ringed; a cross is one in the cluster of another class."
    return " Solid lines are must-links, dashed red lines cannot-links; bold ones are violated."


def size_section(run: ClusterRun) -> str:
    """Show the sizes of the clusters as bars."""
    largest, total = max(run.sizes), sum(run.sizes)
    colours = cluster_colours(run)
    rows = "\n".join(
        f'<tr><th scope="row">{cluster}</th><td class="number">{size:,}</td>'
        f'<td class="number">{size / total:.1%}</td>'
        f'<td style="width:60%"><span class="bar" style="width:{100 * size / largest:.1f}%;'
        f'background:{escape(colours[cluster])}"></span></td></tr>'
        for cluster, size in enumerate(run.sizes)
    )
    heads = '<th scope="col">cluster</th><th scope="col" class="number">points</th>'
    heads += '<th scope="col" class="number">share</th><td></td>'
    body = f"<thead><tr>{heads}</tr></thead>\n<tbody>\n{rows}\n</tbody>"
    return section("Sizes", f'<div class="scroll"><table style="width:100%">\n{body}</table></div>')


def eigenvalue_section(run: ClusterRun) -> str:
    """Show the eigenvalues, and say how they were found and how sure that is."""
    shown = run.spectrum or run.eigenvalues
    if not shown:
        return ""
    solver, certificate = solver_words(run)
    words = _gap_words(run)
    alt = f"Stem plot of {len(shown)} eigenvalues. {words}"
    how = f"Solver: {solver}. Certificate: {certificate.rstrip('.')}."
    picture = figure(*_both(draw_eigenvalues, run), alt, words, "small")
    return section("The spectrum", picture, paragraph(how))


def _gap_words(run: ClusterRun) -> str:
    values, k = np.sort(run.spectrum or run.eigenvalues), run.model.n_clusters
    if k >= len(values):
        return f"The {len(values)} eigenvalues of the embedding, from {values[0]:.3g} to {values[-1]:.3g}."
    gaps = np.diff(values)
    widest = int(np.argmax(gaps)) + 1
    said = f"The gap after eigenvalue {k} is {gaps[k - 1]:.2g}"
    if widest == k:
        return f"{said}, the widest of those shown: the graph itself suggests {k} clusters."
    return f"{said}; the widest gap ({gaps[widest - 1]:.2g}) is after eigenvalue {widest}."


def _both(draw: object, run: ClusterRun) -> tuple[bytes, bytes]:
    return render(draw, run, "light"), render(draw, run, "dark")  # type: ignore[arg-type]
