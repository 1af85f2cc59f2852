"""Stored results: where they are, and how rows get the date and the commit they were measured at."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import scipy
import sklearn

#: All results, in a folder per subject; quick runs of everything have them elsewhere.
RESULTS = Path(os.environ.get("SIDECUT_RESULTS", Path(__file__).parent / "results"))


def facts() -> str:
    """Return the machine and the versions in one line."""
    return (
        f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}, "
        f"numpy {np.__version__}, scipy {scipy.__version__}, scikit-learn {sklearn.__version__}"
    )


def commit() -> str:
    """Return the commit of the run, or of the checkout, with a + if the code was changed since."""
    if of_run := os.environ.get("SIDECUT_COMMIT"):
        return of_run
    git = ("git", "-C", str(Path(__file__).parent))
    found = subprocess.run([*git, "rev-parse", "--short=7", "HEAD"], capture_output=True, text=True)
    changed = subprocess.run([*git, "diff", "--quiet", "HEAD", "--", "../src"]).returncode
    return found.stdout.strip() + ("+" if changed else "") if found.stdout else "unknown"


def stamp() -> dict[str, str]:
    """Return the date and the commit, the last two columns of every stored row."""
    return {"date": datetime.now(UTC).date().isoformat(), "commit": commit()}


def save(table: pd.DataFrame, path: Path, digits: int | None = None) -> None:
    """Write a table that was measured now."""
    path.parent.mkdir(parents=True, exist_ok=True)
    table = table if digits is None else table.round(digits)
    table.assign(**stamp()).to_csv(path, index=False, lineterminator="\n")


def merge(rows: list[dict], path: Path, keys: list[str]) -> None:
    """Write rows that were measured now, beside stored rows of other keys.

    Parameters
    ----------
    rows : list of dict
        What was measured.
    path : Path
        A csv.
    keys : list of str
        The columns that say what a row measures: a row replaces one with the same.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    table = pd.DataFrame(rows).assign(**stamp())
    if path.exists():
        table = pd.concat([pd.read_csv(path), table]).drop_duplicates(keys, keep="last")
        # Columns that only replaced rows had.
        table = table.dropna(axis=1, how="all")
    table = table[[*table.columns.drop(["date", "commit"]), "date", "commit"]]
    # Six digits, not six places: numbers of points are large, and errors are as small as 1e-16.
    table.sort_values(keys, kind="stable").to_csv(path, index=False, float_format="%.6g")


def keep_others(before: Path, path: Path, columns: list[str]) -> None:
    """Add the rows of an older csv or jsonl that differ from all new ones in some columns, if any."""
    if not columns:
        return
    if path.suffix == ".jsonl":
        old, new = before.read_text().splitlines(), path.read_text().splitlines()
        keys = [tuple(str(json.loads(line)[name]) for name in columns) for line in [*old, *new]]
        kept = [line for line, key in zip(old, keys, strict=False) if key not in set(keys[len(old) :])]
        path.write_text("\n".join([*kept, *new]) + "\n")
        return
    # As text, so that no figure changes.
    tables = [pd.read_csv(file, dtype=str, keep_default_na=False) for file in (before, path)]
    old_keys, new_keys = (pd.MultiIndex.from_frame(table[columns]) for table in tables)
    both = pd.concat([tables[0][~old_keys.isin(new_keys)], tables[1]])
    both.to_csv(path, index=False, lineterminator="\n")


def when(rows: pd.DataFrame | pd.Series) -> str:
    """Return when a row was measured and at which commit; of several rows, the first and the last of both.

    Examples
    --------
    >>> when(pd.DataFrame({"date": ["2026-01-02", "2026-01-05"], "commit": ["1234567", "89abcde"]}))
    '2026-01-02 `1234567` to 2026-01-05 `89abcde`'
    """
    rows = rows.to_frame().T if isinstance(rows, pd.Series) else rows
    if "date" not in rows:
        return ""
    stamps = rows[["date", "commit"]].dropna().drop_duplicates().sort_values("date", kind="stable")
    told = [f"{date} `{commit}`" for date, commit in zip(stamps["date"], stamps["commit"], strict=True)]
    return " to ".join(dict.fromkeys([told[0], told[-1]])) if told else ""


def measured(rows: pd.DataFrame | pd.Series) -> str:
    """Return the same, and `apart` after rows that are not of a run of `make evidence`."""
    said = when(rows)
    commits = set(np.atleast_1d(rows["commit"])) if said else set()
    return f"{said}, apart" if evidence_commits() and not commits <= evidence_commits() else said


@cache
def evidence_commits() -> frozenset[str]:
    """Return the commits on which `make evidence` ran; none before it ran whole."""
    if not (RESULTS / "evidence_run.json").exists():
        return frozenset()
    records = json.loads((RESULTS / "evidence.json").read_text(encoding="utf-8"))
    return frozenset(record["commit"] for record in records.values())
