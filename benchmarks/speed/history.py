"""The ratios of all runs so far: ``python -m benchmarks.speed.history`` says which got worse.

A ratio is our time over that of something measured in the same run, so runs on different days and machines
can be compared, more or less; times could not.
"""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path

import pandas as pd

from benchmarks import stored

HISTORY = stored.RESULTS / "speed" / "history.csv"
COLUMNS = ["date", "commit", "name", "ratio"]
#: A ratio this much above the best one stored is a regression; less is noise.
TOLERANCE = 0.2


def entries(table: pd.DataFrame, date: str, commit: str) -> pd.DataFrame:
    """Return the rows that a suite's table adds to the history.

    Parameters
    ----------
    table : DataFrame
        In the form of `benchmarks.speed.suite.tidy`.
    date, commit : str
        When, and of what.
    """
    known = table[table["ratio"].notna()]
    names = [
        f"{name}, {points:,} points, against {against}"
        for name, points, against in zip(known["name"], known["points"], known["against"], strict=True)
    ]
    added = pd.DataFrame({"name": names, "ratio": [float(f"{ratio:.4g}") for ratio in known["ratio"]]})
    return added.assign(date=date, commit=commit)[COLUMNS]


def append(table: pd.DataFrame, measured: str, path: Path = HISTORY) -> None:
    """Add a run of some commit to the stored history."""
    added = entries(table, datetime.now(UTC).date().isoformat(), measured)
    added.to_csv(path, mode="a", header=not path.exists(), index=False)


def regressions(history: pd.DataFrame, tolerance: float = TOLERANCE) -> pd.DataFrame:
    """Return what is worse in its last run than in its best one, worst first.

    Parameters
    ----------
    history : DataFrame
        Rows in the order they were measured.
    tolerance : float
        How much worse counts: 0.2 is 20 %.

    Returns
    -------
    DataFrame
        With columns name, best, best commit, last, last commit and worse (the factor).

    Examples
    --------
    >>> runs = pd.DataFrame({"date": "2026-01-01", "commit": ["a", "b"], "name": "cut", "ratio": [0.5, 1.0]})
    >>> regressions(runs)[["name", "best", "last", "worse"]].to_dict("records")
    [{'name': 'cut', 'best': 0.5, 'last': 1.0, 'worse': 2.0}]
    """
    groups = history.groupby("name", sort=False)
    last = groups.tail(1).set_index("name")
    best = history.loc[groups["ratio"].idxmin()].set_index("name")
    table = pd.DataFrame(
        {
            "best": best["ratio"],
            "best commit": best["commit"],
            "last": last["ratio"],
            "last commit": last["commit"],
            "worse": last["ratio"] / best["ratio"],
        }
    )
    worse = table[table["worse"] > 1 + tolerance].sort_values("worse", ascending=False)
    return worse.rename_axis("name").reset_index()


def main() -> None:
    if not HISTORY.exists():
        sys.exit("no history is stored yet: run `make bench` first.")
    history = pd.read_csv(HISTORY, dtype={"commit": str})
    worse = regressions(history)
    if worse.empty:
        print(f"{history['name'].nunique()} ratios, none more than {TOLERANCE:.0%} above its best.")
        return
    print(worse.round(3).to_string(index=False))
    sys.exit(1)


if __name__ == "__main__":
    main()
