"""Where results are kept: every cell in results/papers/raw (not versioned), summaries beside it (versioned).

A paper has one table of summaries, a row for each experiment, method, setting and size, and the
configurations of its experiments as JSON beside it. A cell is finished when the raw table has a row of the
same method, size, draw and fingerprint of the configuration; changing the settings of one method makes only
its cells run again.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks import stored
from benchmarks.papers.experiment import Contender, Experiment

RESULTS = stored.RESULTS / "papers"
#: Quick runs leave the stored results alone.
QUICK_RESULTS = RESULTS / "raw" / "quick"
COLUMNS = [
    "method",
    "setting",
    "size",
    "draw",
    "n_must",
    "n_cannot",
    "ari",
    "rand",
    "acc",
    "ari_free",
    "rand_free",
    "acc_free",
    "kept",
    "seconds",
    "failure",
    "config",
]
#: Scores told by mean, standard deviation, least and greatest; the rest by their mean.
SPREAD = ("ari", "rand", "acc", "kept")
MEANS = ("ari_free", "rand_free", "acc_free")


@dataclass(frozen=True)
class Store:
    """The results of all experiments, in a folder.

    Parameters
    ----------
    folder : Path
        Where they are.
    """

    folder: Path = RESULTS

    def raw_path(self, name: str) -> Path:
        """Where the cells of an experiment are."""
        return self.folder / "raw" / f"{name}.csv"

    def summary_path(self, name: str) -> Path:
        """Where the summary of an experiment is, among those of the same paper."""
        return self.folder / f"{name.partition('-')[0]}.csv"

    def read_summary(self, name: str) -> pd.DataFrame | None:
        """Return the summary of an experiment, or None if it was never run."""
        path = self.summary_path(name)
        table = read_summaries(path, path.stat().st_mtime_ns) if path.exists() else None
        rows = None if table is None else table[table.experiment == name]
        if rows is None or rows.empty:
            return None
        is_whole = (rows["size"] % 1 == 0).all()
        return (
            rows.drop(columns="experiment")
            .astype({"size": int if is_whole else float})
            .reset_index(drop=True)
        )

    def configuration(self, name: str) -> dict[str, Any]:
        """Return what an experiment was run with, as far as it is stored."""
        path = self.summary_path(name).with_suffix(".json")
        return json.loads(path.read_text()).get(name, {}) if path.exists() else {}

    def cells(self, name: str) -> pd.DataFrame:
        """Return all rows of an experiment, none if it was never run."""
        path = self.raw_path(name)
        if not path.exists():
            return pd.DataFrame(columns=COLUMNS)
        return pd.read_csv(path, dtype={"config": str, "setting": str}, keep_default_na=False, na_values=[""])

    def append(self, name: str, rows: list[dict[str, Any]]) -> None:
        """Add rows to an experiment; what was there stays."""
        path = self.raw_path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        is_new = not path.exists()
        table = pd.DataFrame(rows, columns=COLUMNS)
        table.to_csv(path, mode="a", header=is_new, index=False, lineterminator="\n")

    def missing(
        self, experiment: Experiment, contenders: list[Contender], *, retry: bool = False
    ) -> list[tuple[Any, int, list[Contender]]]:
        """Return the cells that are not finished, as size, draw and the contenders still to run.

        Draws are outermost, so that a run cut short has all sizes with fewer draws. Methods that failed have
        finished too, unless they are to be tried again.
        """
        done = self.cells(experiment.name)
        if retry:
            done = done[done.failure.isna()]
        keys = set(zip(done.method, done.config, done["size"].astype(float), done.draw, strict=True))
        marks = {contender.label: experiment.fingerprint(contender) for contender in contenders}
        cells = []
        for draw in range(experiment.draws):
            for size in experiment.sizes:
                left = [c for c in contenders if (c.label, marks[c.label], float(size), draw) not in keys]
                if left:
                    cells.append((size, draw, left))
        return cells

    def summarise(
        self, experiment: Experiment, checksum: str, methods: list[str] | None = None
    ) -> Path | None:
        """Write the summary of the cells that belong to the experiment as it is configured now.

        A clone comes with summaries but without cells: one of more draws than there are cells for stays. With
        labels of methods, their rows replace stored ones, and stored rows of all other methods stay.
        """
        cells = self.cells(experiment.name)
        order = [c.label for c in experiment.contenders]
        chosen = order if methods is None else methods
        marks = {c.label: experiment.fingerprint(c) for c in experiment.contenders if c.label in chosen}
        valid = cells[cells.method.map(marks) == cells.config]
        if valid.empty:
            return None
        table = summary(valid, order).assign(**stored.stamp())
        before = self.read_summary(experiment.name)
        if before is not None and before[before.method.isin(chosen)].draws.max() > table.draws.max():
            return None
        if methods is not None and before is not None:
            others = before[~before.method.isin(chosen)]
            others = others.assign(setting=others.setting.astype(object).fillna(""))
            table = _in_order(pd.concat([others, table]), order)
        # Sizes and draws are those of the table, which may come from several runs.
        lasting = {k: v for k, v in experiment.configuration().items() if k not in ("sizes", "draws")}
        made = {"data_checksum": checksum, "made_with": stored.facts(), **lasting}
        last = self.configuration(experiment.name)
        if methods is not None and last:
            again = {name: stored.facts() for name in sorted(marks)}
            made |= {"made_with": last["made_with"], "run_again": again}
        return self._write(experiment.name, table, made)

    def _write(self, name: str, table: pd.DataFrame, made: dict[str, Any]) -> Path:
        """Put a summary and its configuration in the place of those that are stored."""
        path = self.summary_path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        table = table.assign(experiment=name)[["experiment", *table.columns]]
        if path.exists():
            others = pd.read_csv(path, keep_default_na=False, na_values=[""], dtype=object)
            table = pd.concat([others[others.experiment != name], table.astype(object)])
            table = table.sort_values("experiment", kind="stable")
        table.to_csv(path, index=False, lineterminator="\n")
        configurations = path.with_suffix(".json")
        all_made = json.loads(configurations.read_text()) if configurations.exists() else {}
        text = json.dumps(dict(sorted((all_made | {name: made}).items())), indent=1, ensure_ascii=False)
        configurations.write_text(text + "\n")
        return path


@lru_cache(32)
def read_summaries(path: Path, _changed: int) -> pd.DataFrame:
    """Return all summaries of a paper; read again when the file has changed."""
    return pd.read_csv(path, keep_default_na=False, na_values=[""], dtype={"method": str})


def summary(cells: pd.DataFrame, order: list[str]) -> pd.DataFrame:
    """Return means and spreads over draws, a row per method, setting and size."""
    cells = cells.drop_duplicates(["method", "setting", "size", "draw"], keep="last")
    cells = cells.assign(setting=cells.setting.fillna(""), failed=cells.failure.notna())
    groups = cells.groupby(["method", "setting", "size"])
    table = pd.DataFrame({"draws": groups.size(), "failures": groups.failed.sum()})
    table["links"] = (groups.n_must.mean() + groups.n_cannot.mean()).round(1)
    for score in SPREAD:
        spread = groups[score].agg(["mean", "std", "min", "max"])
        for column in spread:
            table[f"{score}_{column}"] = spread[column].round(4)
    for score in MEANS:
        table[f"{score}_mean"] = groups[score].mean().round(4)
    # A machine that is busy for a while spoils a mean.
    table["seconds_median"] = groups.seconds.median().round(4)
    return _in_order(table.reset_index(), order)


def _in_order(table: pd.DataFrame, order: list[str]) -> pd.DataFrame:
    rank = {label: place for place, label in enumerate(order)}
    return table.sort_values(
        ["method", "setting", "size"], key=lambda c: c.map(rank) if c.name == "method" else c
    )
