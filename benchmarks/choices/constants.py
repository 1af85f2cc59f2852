"""The constants that decide labels: `python -m benchmarks.choices.constants` writes docs/lab/constants.md.

constants.csv says of each what it is, on which data it was set, and what twice its value changes; where
`benchmarks.choices.doubled` measured that, its result stands instead. Values come from the code. A constant
that is gone, or whose value is not the one that was recorded, is an error: change the line, and say what the
new value was set on.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pandas as pd

from benchmarks.choices import doubled
from benchmarks.page_tables import DOCS, Makers, rewrite

TABLE = Path(__file__).with_name("constants.csv")
PAGES = [DOCS / "lab" / "constants.md"]


def read() -> pd.DataFrame:
    """Return the table as it is written down."""
    return pd.read_csv(TABLE, dtype=str, keep_default_na=False)


def value_of(module: str, name: str) -> object:
    """Return the value of a constant in the code.

    Parameters
    ----------
    module, name : str
        The module below `sidecut`, and the constant in it.
    """
    return getattr(import_module(f"sidecut.{module}"), name)


def faults() -> list[str]:
    """Return which constants are gone, and which have another value than was recorded."""
    found = []
    for row in read().itertuples():
        try:
            value = value_of(row.module, row.name)
        except (ImportError, AttributeError):
            found.append(f"{row.module}.{row.name} is gone")
            continue
        if str(value) != row.value:
            found.append(f"{row.module}.{row.name} is {value}, and {row.value} was recorded")
    return found


def table() -> str:
    """Return the table of the page, in parts for every folder of the package."""
    rows, parts = read(), []
    measured = doubled.in_words()
    for room, group in rows.groupby(rows["module"].str.rpartition(".")[0], sort=False):
        lines = [f"## {room}", "", "| constant | value | what it is | set on | twice its value |"]
        lines.append("|---|---|---|---|---|")
        for row in group.itertuples():
            name = f"`{row.module.rpartition('.')[2]}.{row.name}`"
            twice = measured.get(f"{row.module}.{row.name}", row.twice)
            lines.append(f"| {name} | {row.value} | {row.what} | {row.set_on} | {twice} |")
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def makers() -> Makers:
    """Return what makes the table of the page, by the name of its mark."""
    return {"constants": table}


def main() -> None:
    if faults():
        raise SystemExit("\n".join(faults()))
    rewrite(PAGES[0], makers())


if __name__ == "__main__":
    main()
