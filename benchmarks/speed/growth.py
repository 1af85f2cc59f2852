"""How times grow with the number of points: fitted exponents, and the picture of them."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

PICTURE = Path(__file__).parents[2] / "docs" / "growth.svg"


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


def growing(table: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return the series of a suite's table that were measured at three or more sizes.

    A line through two always fits, and says nothing.

    Parameters
    ----------
    table : DataFrame
        In the form of `benchmarks.speed.suite.tidy`.
    """
    once = table.drop_duplicates(["name", "points"]).sort_values("points")
    timed = once[once["seconds"] > 0]
    return {name: rows for name, rows in timed.groupby("name", sort=False) if len(rows) > 2}


def draw(table: pd.DataFrame, title: str, path: Path = PICTURE) -> None:
    """Draw all series that grow, log-log, each with its exponent."""
    # A fixed salt and no date: the same figures make the same file.
    with mpl.rc_context({"svg.hashsalt": "sidecut", "svg.fonttype": "none"}):
        figure = Figure(figsize=(9, 5), layout="constrained")
        axes = figure.add_subplot()
        for name, rows in growing(table).items():
            points, seconds = rows["points"].to_numpy(), rows["seconds"].to_numpy()
            axes.loglog(points, seconds, "o-", label=f"{name}: n^{exponent(points, seconds):.2f}")
        axes.set(xlabel="points", ylabel="seconds", title="How the time of each measurement grows")
        axes.grid(True, which="both", alpha=0.2)
        axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1), fontsize="small", frameon=False)
        figure.text(0.01, -0.02, title, fontsize="x-small", color="gray")
        figure.savefig(path, metadata={"Date": None}, bbox_inches="tight")
