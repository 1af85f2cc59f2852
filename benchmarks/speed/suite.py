"""The speed scripts as one suite: which there are, how to run them, and their results in one form."""

from __future__ import annotations

import importlib
import sys
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from benchmarks import stored

RESULTS = stored.RESULTS / "speed"
#: Quick runs leave the stored results alone.
QUICK_RESULTS = RESULTS / "raw" / "quick"
COLUMNS = ["name", "points", "seconds", "against", "ratio"]
#: How the columns begin that hold the seconds of something else.
OTHERS = (
    "scikit-learn",
    "dense",
    "stack",
    "spectralcluster",
    "LSC",
    "NormalizedCut",
    "cold",
    "in memory",
    "streamed",
)
#: Columns of a script's table that tell what was measured rather than how long it took.
LABELS = (
    "data",
    "part",
    "graph",
    "known",
    "labels",
    "cannot-links",
    "landmarks",
    "solver",
    "method",
    "search",
)


@dataclass(frozen=True)
class Script:
    """A speed script of this folder.

    Parameters
    ----------
    name : str
        Its module, and the name of its results.
    quick : str
        Arguments that make it end within a minute or so.
    takes_data : bool
        Whether it has a --data argument for the folder that holds mnist.npz.
    """

    name: str
    quick: str
    takes_data: bool = True

    def arguments(self, quick: bool, data: Path | None) -> list[str]:
        """Return the arguments of a run; a quick one does without data from elsewhere."""
        if quick:
            return self.quick.split()
        return ["--data", str(data)] if data and self.takes_data else []


SCRIPTS = [
    Script("normalized_cut", "--families blobs moons --sizes 2000 4000 8000 --repeats 1"),
    Script("scaling", "--sizes 2000 4000 8000 --repeats 1"),
    Script("csp", "--parts a --dense-sizes 250 500 1000"),
    Script("e2cp", "--parts a --dense-sizes 250 500 1000"),
    Script("csap", "--points 250 500 1000 --links 100 --tiled", takes_data=False),
    Script("scacs", "--parts c --sizes 20000 200000"),
    Script("ncsc", ""),
    Script("dask", "--quick", takes_data=False),
    Script("pairs", "--sizes 1000 --sets blobs moons --methods CSP E2CP --repeats 1"),
    Script("few_labels", "--sizes 1000 --sets blobs moons --methods CSP E2CP --repeats 1"),
    Script("raw_points", "--parts a --sets blobs --searches sidecut"),
    Script("large_graphs", "--nodes 20000 40000", takes_data=False),
]


def chosen(names: list[str] | None) -> list[Script]:
    """Return the scripts of some names, or all."""
    known = {script.name: script for script in SCRIPTS}
    unknown = sorted(set(names or ()) - set(known))
    if unknown:
        raise ValueError(f"no speed script is called {', '.join(unknown)}: choose from {', '.join(known)}.")
    return [known[name] for name in names] if names else SCRIPTS


def run(script: Script, quick: bool, data: Path | None) -> pd.DataFrame:
    """Run a script, and return its results in the common form."""
    module = importlib.import_module(f"benchmarks.speed.{script.name}")
    if quick:
        QUICK_RESULTS.mkdir(parents=True, exist_ok=True)
        module.RESULTS = QUICK_RESULTS
    before, sys.argv = sys.argv, [script.name, *script.arguments(quick, data)]
    try:
        module.main()
    finally:
        sys.argv = before
    return tidy(script.name, pd.read_csv(module.RESULTS / f"{script.name}.csv"))


def tidy(name: str, table: pd.DataFrame) -> pd.DataFrame:
    """Return a script's table in the common form: one row per time of ours and thing it is compared with.

    The scripts print ratios whichever way reads best; here a ratio is always our time over the other's, so
    that less is better. A row that is compared with nothing has no ratio.

    Parameters
    ----------
    name : str
        The script.
    table : DataFrame
        With a column "sidecut" of our seconds and columns of other seconds, or with a row per "solver".
    """
    wide = by_solver(table) if {"graph", "solver"} <= set(table) else table
    wide = wide[wide["sidecut"].notna() & wide["points"].notna()]
    others = [column for column in wide if column.startswith(OTHERS)]
    rows = []
    for _, row in wide.iterrows():
        shared = {"name": series_name(name, row), "points": int(row["points"]), "seconds": row["sidecut"]}
        compared = [other for other in others if pd.notna(row[other])]
        rows += [shared | {"against": other, "ratio": row["sidecut"] / row[other]} for other in compared]
        if not compared:
            rows.append(shared | {"against": "", "ratio": float("nan")})
    return pd.DataFrame(rows, columns=COLUMNS)


def collected(folder: Path) -> pd.DataFrame:
    """Return all results that a folder holds, in the common form."""
    paths = {script.name: folder / f"{script.name}.csv" for script in SCRIPTS}
    tables = [tidy(name, pd.read_csv(path)) for name, path in paths.items() if path.exists()]
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=COLUMNS)


def by_solver(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table of one row per solver as one of one column per solver."""
    return table.pivot(index=["graph", "points"], columns="solver", values="seconds").reset_index()


def series_name(script: str, row: pd.Series) -> str:
    """Return what a row measures, but for the number of points."""
    told = (label for label in LABELS if label in row and pd.notna(row[label]))
    return ", ".join([script, *(described(label, row[label]) for label in told)])


def described(label: str, value: object) -> str:
    """Return a setting in words: "500 labels", "part a", "moons"."""
    if label in ("data", "graph", "known", "solver", "method", "search"):
        return str(value)
    if label == "landmarks" and isinstance(value, str):
        return f"landmarks {value}"
    return f"part {value}" if label == "part" else f"{value:g} {label}"
