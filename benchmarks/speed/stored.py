"""The results of a speed script, as csv and as text."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from benchmarks.machine import facts


def write(path: Path, rows: list[dict], keys: list[str]) -> None:
    """Write results beside what is stored of other parts and sizes.

    Parameters
    ----------
    path : Path
        Where, without suffix: the csv has the numbers, the txt the machine too.
    rows : list of dict
        What was measured.
    keys : list of str
        The columns that tell what a row measures: a row replaces one with the same.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    table, file = pd.DataFrame(rows), path.with_suffix(".csv")
    if file.exists():
        table = pd.concat([pd.read_csv(file), table]).drop_duplicates(keys, keep="last")
        # Columns that only replaced rows had.
        table = table.dropna(axis=1, how="all")
    # Six digits, not so many places: numbers of points are large, and errors are as small as 1e-16.
    table.sort_values(keys, kind="stable").to_csv(file, index=False, float_format="%.6g")
    text = table.to_string(index=False, na_rep="", float_format="{:.4g}".format)
    path.with_suffix(".txt").write_text(f"{facts()}\n\n{text}\n")
