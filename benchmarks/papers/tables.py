"""Read the stored summaries: curves of a method over sizes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from benchmarks import stored
from benchmarks.papers.storing import RESULTS, Store, read_summaries


@dataclass(frozen=True)
class Extra:
    """A table that a script of its own makes, for a figure or table that is no experiment of the catalogue.

    Parameters
    ----------
    title : str
        What it shows.
    file : str
        Its name in the folder of results.
    command : str
        What makes it.
    """

    title: str
    file: str
    command: str


def merge(table: pd.DataFrame, path: Path, keys: list[str]) -> pd.DataFrame:
    """Write a table beside the rows a file has of other keys, so that a run of some leaves the rest."""
    table = table.assign(**stored.stamp())
    if path.exists():
        before = pd.read_csv(path)
        is_new = before.set_index(keys).index.isin(table.set_index(keys).index)
        table = pd.concat([before[~is_new], table], ignore_index=True)
        # Rows of the same first key stay together, in the order in which keys came.
        places = {key: place for place, key in enumerate(dict.fromkeys(before[keys[0]]))}
        table = table.sort_values(keys[0], key=lambda k: k.map(places).fillna(len(places)), kind="stable")
    path.parent.mkdir(parents=True, exist_ok=True)
    table.to_csv(path, index=False, lineterminator="\n")
    return table


def reasons_of(paper: str) -> Extra:
    """Return the table that the reasons of a paper's page rest on."""
    return Extra(
        "what the reasons rest on",
        f"{paper}_reasons.csv",
        f"python -m benchmarks.papers.reasons --data FOLDER --only {paper}",
    )


@dataclass(frozen=True)
class Results:
    """The stored summaries, read only.

    Parameters
    ----------
    folder : Path
        Where they are.
    free : bool
        Score only the points the constraints say nothing about.
    """

    folder: Path = RESULTS
    free: bool = False

    def table(self, name: str) -> pd.DataFrame | None:
        """Return the summary of an experiment, or None if it was never run."""
        return Store(self.folder).read_summary(name)

    def other(self, file: str) -> pd.DataFrame | None:
        """Return a table that another script has made, or None if it never was."""
        path = self.folder / file
        return read_summaries(path, path.stat().st_mtime_ns) if path.exists() else None

    def curve(self, name: str, method: str, score: str) -> pd.Series | None:
        """Return the mean of a score by size; of a tuned method, of the best setting at each size.

        "err" is 1 - "acc"; "kept" is a score too, and so are "seconds", of which it is the median.
        """
        table = self.table(name)
        if table is None or method not in set(table.method):
            return None
        rows = table[table.method == method]
        if score == "seconds":
            return rows.groupby("size").seconds_median.min()
        column = f"{'acc' if score == 'err' else score}{self._suffix(score)}_mean"
        means = rows.groupby("size")[column].max()
        return 1 - means if score == "err" else means

    def runs(self, name: str, method: str) -> set[str]:
        """Return the commits at which a method was measured in an experiment."""
        table = self.table(name)
        return set() if table is None or "commit" not in table else set(table.commit[table.method == method])

    def spread(self, name: str, method: str, score: str) -> pd.DataFrame | None:
        """Return mean, std, min and max by size, of the best setting, where any fit was successful."""
        table = self.table(name)
        if table is None or method not in set(table.method):
            return None
        kind = "acc" if score == "err" else score
        rows = table[table.method == method].dropna(subset=f"{kind}_mean")
        best = rows.loc[rows.groupby("size")[f"{kind}_mean"].idxmax()].set_index("size")
        return best[[f"{kind}_{part}" for part in ("mean", "std", "min", "max")]].rename(
            columns=lambda column: column.removeprefix(f"{kind}_")
        )

    def mean(self, names: list[str], method: str, score: str) -> float | None:
        """Return the mean of a score over experiments and sizes, or None if any is missing."""
        curves = [self.curve(name, method, score) for name in names]
        if not curves or any(curve is None for curve in curves):
            return None
        return float(pd.concat(curves).mean())  # type: ignore[arg-type]

    def _suffix(self, score: str) -> str:
        return "_free" if self.free and score in ("ari", "rand", "acc", "err") else ""
