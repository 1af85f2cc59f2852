"""The papers' figures, redrawn from the stored tables as small SVG files."""

from __future__ import annotations

import re
from pathlib import Path

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks.papers.claims import data_of
from benchmarks.papers.experiment import Contender, Experiment
from benchmarks.papers.tables import Results

DOCS = Path(__file__).parents[2] / "docs" / "lab" / "papers"
WORDS = {
    "ari": "adjusted Rand index",
    "rand": "Rand index",
    "acc": "accuracy",
    "err": "error",
    "kept": "constraints kept",
}
GREY, GOLD, SKY, GREEN = "#999999", "#E69F00", "#56B4E9", "#009E73"
ORANGE, BLUE, BLACK, PINK = "#D55E00", "#0072B2", "#000000", "#CC79A7"
WINE, OLIVE, TEAL, INDIGO, BROWN = "#882255", "#999933", "#44AA99", "#332288", "#8B5A2B"
#: A colour and a marker per method throughout, under whatever name a paper has for it. The first eight
#: colours are those of Okabe and Ito, the others of Tol, told apart by colour-blind readers; the marker
#: does without colour.
LOOKS = {
    **dict.fromkeys(("NCuts", "NC", "Baseline", "LSC-R", "English alone"), (GREY, "")),
    **dict.fromkeys(("SL", "KKM", "translation alone"), (GOLD, "s")),
    "SSKK": (SKY, "^"),
    "AP": (GREEN, "D"),
    **dict.fromkeys(("CSP", "FCSC"), (ORANGE, "o")),
    "E2CP": (BLUE, "v"),
    "NCSC": (BLACK, "P"),
    "SCACS": (PINK, "X"),
    "LCSC": (WINE, "<"),
    "CCSR": (OLIVE, ">"),
    **dict.fromkeys(("CKmeans", "CKM"), (BROWN, "p")),
    "CGMM": (INDIGO, "h"),
    "ML": (TEAL, "d"),
    "translation, English as constraints": (ORANGE, "o"),
    "English, translation as constraints": (WINE, "<"),
}
STYLE = {
    "svg.fonttype": "none",
    "svg.hashsalt": "sidecut",
    "font.size": 8,
    "lines.linewidth": 1.2,
    "lines.markersize": 3.6,
    "lines.markeredgewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.3,
    "legend.frameon": False,
    "legend.handlelength": 3.0,
}
PANEL_WIDTH, PANEL_HEIGHT, MOST_COLUMNS = 2.5, 2.1, 3
#: A figure of one panel has room.
SINGLE_WIDTH, SINGLE_HEIGHT = 3.8, 2.8
AXES = {
    "n_nearest": "r, nearest landmarks",
    "n_landmarks": "p, landmarks",
    "beta0": "β₀",
    "labels": "labels",
    "must-links vary": "must-links",
    "cannot-links vary": "cannot-links",
    "second graph": "",
}
LANGUAGES = {1: "French", 2: "German", 3: "Italian", 4: "Spanish"}


def numbers_of(figure: str) -> list[str]:
    """Return the numbers of the figures an experiment belongs to.

    >>> numbers_of("figs. 9 and 10"), numbers_of("fig. 1 a"), numbers_of("fig. 9n")
    (['9', '10'], ['1'], ['9n'])
    """
    return re.findall(r"\d+n?", figure)


def look(method: str) -> tuple[str, str]:
    """Return a method's colour and marker; its settings share them.

    >>> look("CSP (paper)") == look("CSP, k-NN") == look("CSP")
    True
    """
    plain = method.removesuffix(" (paper)")
    return LOOKS.get(plain) or LOOKS[plain.partition(",")[0]]


def line_of(contender: Contender) -> str:
    """Return the line: dotted without constraints, dashed as printed, dash-dotted for other settings."""
    if not contender.uses_constraints:
        return ":"
    if is_printed(contender.label):
        return "--"
    return "-." if contender.label.endswith(", default") else "-"


def is_printed(method: str) -> bool:
    """Tell whether a method is set as the paper prints it where there is another setting of it."""
    return method.endswith("(paper)") or method == "FCSC"


def title_of(experiment: Experiment) -> str:
    """Return the panel's letter, if it has one, and the data."""
    letter = experiment.figure.rpartition(" ")[2]
    data = data_of(experiment.name)
    return f"{letter}: {data}" if len(letter) == 1 and letter.isalpha() else data


def draw_panel(ax: Axes, experiment: Experiment, results: Results, score: str, *, spread: bool) -> None:
    """Draw the curves of all methods of an experiment, and with `spread` a band of all draws as printed."""
    failed = []
    for contender in experiment.contenders:
        curve = results.curve(experiment.name, contender.label, score)
        if curve is None:
            continue
        if curve.isna().all():
            failed.append(contender.label)
        colour, marker = look(contender.label)
        inside = "none" if is_printed(contender.label) else colour
        drawn = {"color": colour, "marker": marker, "markerfacecolor": inside, "label": contender.label}
        ax.plot(curve.index, curve, line_of(contender), **drawn)
        if spread and is_printed(contender.label):
            shown = results.spread(experiment.name, contender.label, score)
            ax.fill_between(shown.index, shown["min"], shown["max"], color=colour, alpha=0.12, linewidth=0)
    ax.set_title(title_of(experiment) + (f" ({', '.join(failed)} failed)" if failed else ""), fontsize=8)
    ax.set_xlabel(AXES.get(experiment.sweep or experiment.kind, "pairs"))
    if experiment.kind == "second graph":
        ax.set_xticks(list(LANGUAGES), list(LANGUAGES.values()))


def has_band(experiment: Experiment, score: str) -> bool:
    """Tell whether all draws are shown, as the CSP paper does: of the method as printed, for legibility."""
    drawn = any(is_printed(contender.label) for contender in experiment.contenders)
    return drawn and score == "ari" and experiment.paper == "csp"


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
    single = len(experiments) == 1
    width, height = (SINGLE_WIDTH, SINGLE_HEIGHT) if single else (PANEL_WIDTH, PANEL_HEIGHT)
    with mpl.rc_context(STYLE):
        figure = Figure((width * n_columns + 1.7, height * n_rows + 0.2), layout="constrained")
        grid = figure.subplots(n_rows, n_columns, squeeze=False)
        for ax in grid.flat[len(experiments) :]:
            ax.set_axis_off()
        handles = {}
        for ax, experiment in zip(grid.flat, experiments, strict=False):
            draw_panel(ax, experiment, results, score, spread=has_band(experiment, score))
            handles.update(dict(zip(*ax.get_legend_handles_labels()[::-1], strict=True)))
        for row in grid:
            row[0].set_ylabel(WORDS[score])
        figure.legend(handles.values(), handles.keys(), loc="outside right upper")
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, metadata={"Date": None})
