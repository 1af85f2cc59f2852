"""How times grow with the number of points: fitted exponents, and the picture of them."""

from __future__ import annotations

from itertools import cycle
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from benchmarks.page_tables import DOCS

PICTURE = DOCS / "lab" / "growth.svg"
THEIRS = "scikit-learn lobpcg"
MARKS = "osD^vP*Xd<>h"


def exponent(points: np.ndarray, seconds: np.ndarray) -> float:
    """Return b of the power law seconds = a · points^b that fits best in the logarithms.

    Examples
    --------
    >>> round(exponent([1_000, 2_000, 4_000], [1.0, 4.0, 16.0]), 6)
    2.0
    """
    if len(np.unique(points)) < 2 or np.any(np.asarray(seconds) <= 0):
        raise ValueError("an exponent needs two or more sizes and times above zero.")
    return float(np.polyfit(np.log(points), np.log(seconds), 1)[0])


def on_one_sort(scaling: pd.DataFrame) -> pd.DataFrame:
    """Return the times on MNIST, or on blobs where it was not there."""
    has_digits = scaling["data"] == "mnist"
    return scaling[has_digits] if has_digits.any() else scaling


def series(scaling: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return points and seconds of each method that was measured at two sizes or more, slowest first.

    Parameters
    ----------
    scaling : DataFrame
        The results of `benchmarks.speed.scaling`, on one sort of data.
    """
    theirs = scaling.drop_duplicates("points").assign(solver=THEIRS, sidecut=scaling[THEIRS])
    rows = pd.concat([scaling, theirs]).rename(columns={"sidecut": "seconds"}).sort_values("points")
    found = {name: group[["points", "seconds"]] for name, group in rows.groupby("solver") if len(group) > 1}
    return dict(sorted(found.items(), key=lambda item: -_pace(item[1])))


def _pace(rows: pd.DataFrame) -> float:
    """Return the seconds per point at the largest size."""
    return float((rows["seconds"] / rows["points"]).iloc[-1])


def draw(scaling: pd.DataFrame, title: str, path: Path = PICTURE) -> None:
    """Draw all methods, log-log, each with its exponent, and a line of slope one to compare with."""
    # A fixed salt and no date: the same figures make the same file.
    with mpl.rc_context({"svg.hashsalt": "sidecut", "svg.fonttype": "none"}):
        figure = Figure(figsize=(9, 5), layout="constrained")
        axes = figure.add_subplot()
        lines = series(scaling)
        # From warm, the slowest, to cold.
        colors = mpl.colormaps["turbo_r"](np.linspace(0.05, 0.95, len(lines)))
        for mark, color, (name, rows) in zip(cycle(MARKS), colors, lines.items(), strict=False):
            points, seconds = rows["points"].to_numpy(), rows["seconds"].to_numpy()
            style = {"color": "black", "linestyle": "--"} if name == THEIRS else {"color": color}
            label = f"{name}, $n^{{{exponent(points, seconds):.2f}}}$"
            axes.loglog(points, seconds, marker=mark, markersize=5, label=label, **style)
        sizes = np.unique(scaling["points"])
        slope = scaling["sidecut"].min() / sizes[0] * sizes / 2
        axes.loglog(sizes, slope, ":", color="gray", label="slope one")
        axes.set(xlabel="points", ylabel="seconds", title="How the time of a fit grows")
        axes.set_xticks(sizes, [f"{size:,}" for size in sizes])
        axes.minorticks_off()
        axes.grid(True, alpha=0.2)
        axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1), fontsize="small", frameon=False)
        figure.text(0.01, -0.02, title, fontsize="x-small", color="gray")
        figure.savefig(path, metadata={"Date": None}, bbox_inches="tight")
