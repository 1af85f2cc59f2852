"""The papers' figures, redrawn from the stored tables as small SVG files."""

from __future__ import annotations

import re
from pathlib import Path

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks.papers.experiment import Experiment
from benchmarks.papers.tables import Results

DOCS = Path(__file__).parents[2] / "docs" / "results"
WORDS = {
    "ari": "adjusted Rand index",
    "rand": "Rand index",
    "acc": "accuracy",
    "err": "error",
    "kept": "constraints kept",
}
#: A colour per method throughout, told apart by colour-blind readers too (Okabe & Ito).
COLOURS = {
    "NCuts": "#999999",
    "NC": "#999999",
    "Baseline": "#999999",
    "LSC-R": "#999999",
    "English alone": "#999999",
    "SL": "#E69F00",
    "KKM": "#E69F00",
    "translation alone": "#E69F00",
    "SSKK": "#56B4E9",
    "LCSC": "#56B4E9",
    "CKmeans": "#56B4E9",
    "CKM": "#56B4E9",
    "AP": "#009E73",
    "CCSR": "#009E73",
    "ML": "#009E73",
    "FCSC": "#009E73",
    "CGMM": "#CC79A7",
    "CSP, k-NN": "#CC79A7",
    "E2CP": "#0072B2",
    "CSP": "#D55E00",
    "SCACS": "#D55E00",
    "SCACS, default": "#F0E442",
    "NCSC": "#000000",
}
STYLE = {
    "svg.fonttype": "none",
    "svg.hashsalt": "sidecut",
    "font.size": 8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.3,
    "legend.frameon": False,
}
PANEL_WIDTH, PANEL_HEIGHT, MOST_COLUMNS = 2.4, 1.9, 3


def numbers_of(figure: str) -> list[str]:
    """Return the numbers of the figures an experiment belongs to.

    >>> numbers_of("figs. 9 and 10"), numbers_of("fig. 1 a"), numbers_of("fig. 9n")
    (['9', '10'], ['1'], ['9n'])
    """
    return re.findall(r"\d+n?", figure)


def panels(paper: str, experiments: list[Experiment], results: Results) -> dict[str, list[Experiment]]:
    """Return for every figure the experiments that have been run, in order."""
    found: dict[str, list[Experiment]] = {}
    for experiment in experiments:
        for number in numbers_of(experiment.figure):
            if results.table(experiment.name) is not None:
                found.setdefault(number, []).append(experiment)
    return found


def colour(method: str) -> str:
    """Return a method's colour; the setting as printed shares that of the default."""
    plain = method.removesuffix(" (paper)")
    return COLOURS.get(plain, "#0072B2" if plain.startswith("English") else "#D55E00")


def draw_panel(ax: Axes, experiment: Experiment, results: Results, score: str, *, spread: bool) -> None:
    """Draw the curves of all methods of an experiment."""
    for contender in experiment.contenders:
        curve = results.curve(experiment.name, contender.label, score)
        if curve is None:
            continue
        is_printed = contender.label.endswith("(paper)")
        line = "--" if is_printed else ":" if not contender.uses_constraints else "-"
        ax.plot(curve.index, curve, line, color=colour(contender.label), label=contender.label, linewidth=1.3)
        if spread:
            shown = results.spread(experiment.name, contender.label, score)
            ax.fill_between(
                shown.index, shown["min"], shown["max"], color=colour(contender.label), alpha=0.07
            )
    ax.set_title(experiment.name.partition("-")[2].partition("-")[2], fontsize=8)
    ax.set_xlabel(experiment.sweep or ("labels" if experiment.kind == "labels" else _axis(experiment)))


def _axis(experiment: Experiment) -> str:
    words = {"must-links vary": "must-links", "cannot-links vary": "cannot-links", "second graph": "language"}
    return words.get(experiment.kind, "pairs")


def draw_figure(
    experiments: list[Experiment], results: Results, path: Path, score: str | None = None
) -> None:
    """Draw a figure with a panel per experiment, and save it.

    Parameters
    ----------
    experiments : list of Experiment
        The panels.
    results : Results
        The tables.
    path : Path
        An .svg file.
    score : str, optional
        What is drawn; by default what the paper reports.
    """
    score = score or experiments[0].metric
    n_columns = 2 if len(experiments) == 4 else min(len(experiments), MOST_COLUMNS)
    n_rows = -(-len(experiments) // n_columns)
    with mpl.rc_context(STYLE):
        figure = Figure((PANEL_WIDTH * n_columns + 1.7, PANEL_HEIGHT * n_rows + 0.2), layout="constrained")
        grid = figure.subplots(n_rows, n_columns, squeeze=False)
        for ax in grid.flat[len(experiments) :]:
            ax.set_axis_off()
        handles = {}
        for ax, experiment in zip(grid.flat, experiments, strict=False):
            draw_panel(ax, experiment, results, score, spread=score == "ari" and experiment.paper == "csp")
            handles.update(dict(zip(*ax.get_legend_handles_labels()[::-1], strict=True)))
        for row in grid:
            row[0].set_ylabel(WORDS[score])
        figure.legend(handles.values(), handles.keys(), loc="outside right upper")
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, metadata={"Date": None})
