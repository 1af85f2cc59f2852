"""The report of a run: one HTML file that explains itself and loads nothing."""

from __future__ import annotations

import platform
from html import escape
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from string import Template

from sidecut import __version__
from sidecut.cli.clustering import ClusterRun
from sidecut.cli.markup import paragraph, section, table, tile
from sidecut.cli.report_constraints import comparison_section, violations_section
from sidecut.cli.report_pictures import eigenvalue_section, picture_section, size_section
from sidecut.cli.summary import clusters_words

__all__ = ["report_html", "write_report"]


def write_report(
    path: Path, run: ClusterRun, command: str, messages: list[str], seconds: dict[str, float]
) -> None:
    """Write the report of a run.

    Parameters
    ----------
    path : Path
        Where to write.
    run : ClusterRun
        What was computed.
    command : str
        The command line that did it.
    messages : list of str
        What was warned of.
    seconds : dict of str to float
        How long each stage took.
    """
    path.write_text(report_html(run, command, messages, seconds), encoding="utf-8")


def report_html(run: ClusterRun, command: str, messages: list[str], seconds: dict[str, float]) -> str:
    """Return the report of a run as one HTML page; see `write_report`."""
    sections = [
        picture_section(run),
        comparison_section(run),
        violations_section(run),
        size_section(run),
        eigenvalue_section(run),
        _warning_section(messages),
        _provenance_section(run, command, seconds),
    ]
    page = Template(files("sidecut.cli").joinpath("report.html").read_text(encoding="utf-8"))
    return page.substitute(
        title=escape(f"{run.points.source.name} in {clusters_words(run)}"),
        lead=escape(_lead(run)),
        tiles="\n".join(_tiles(run)),
        sections="\n".join(filter(None, sections)),
        version=escape(__version__),
    )


def _lead(run: ClusterRun) -> str:
    what = "nodes" if run.points.is_graph else "points"
    said = f"{run.points.n_samples:,} {what}, clustered by {type(run.model).__name__}"
    if not run.score.total:
        return f"{said} without constraints."
    known = len(run.constraints.constrained_points)
    pairs = f"{run.score.total:,} constraint{'s' * (run.score.total != 1)}"
    return f"{said} with {pairs} on {known:,} of them."


def _tiles(run: ClusterRun) -> list[str]:
    tiles = [tile(f"{run.points.n_samples:,}", "points"), tile(str(run.model.n_clusters), "clusters")]
    before, after = run.baseline_score, run.score
    if after.total:
        tiles.append(tile(f"{after.kept:,} / {after.total:,}", "constraints satisfied"))
    if before is not None and before.ari is not None and after.ari is not None:
        tiles.append(tile(f"{before.ari:.2f} → {after.ari:.2f}", "ARI, without → with constraints"))
    elif after.ari is not None:
        tiles.append(tile(f"{after.ari:.2f}", "adjusted Rand index"))
    return tiles


def _warning_section(messages: list[str]) -> str:
    if not messages:
        return ""
    items = "\n".join(f"<li>{escape(message)}</li>" for message in messages)
    return section("Warnings", f"<ul>\n{items}\n</ul>")


def _provenance_section(run: ClusterRun, command: str, seconds: dict[str, float]) -> str:
    packages = ("numpy", "scipy", "scikit-learn")
    versions = [("sidecut", __version__), ("Python", platform.python_version())]
    versions += [(package, version(package)) for package in packages]
    parameters = run.model.get_params(deep=False).items()
    return section(
        "How to do it again",
        paragraph("The command:"),
        f"<pre>{escape(command)}</pre>",
        table(["parameter", "value"], [(name, repr(value)) for name, value in parameters], "All parameters"),
        table(["stage", "seconds"], [(s, f"{t:.2f}") for s, t in seconds.items()], "Time taken", [1]),
        paragraph(", ".join(f"{name} {number}" for name, number in versions), "note"),
    )
