"""Tables of known numbers, written as people write them, and read back.

``python -m benchmarks.code.fuzz.tables``. A column is read rightly, left as text or asked about. A number
that comes back as another one is a fault, and so is any error but the one sentence of a `UsageError`.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks import stored
from sidecut.cli.console import UsageError
from sidecut.cli.reading import has_unclear_numbers, read_table

RESULT = stored.RESULTS / "code" / "fuzz_tables.json"
THOUSANDS = {"": "", ".": ".", ",": ",", "'": "'", " ": " ", "narrow": "\u202f", "hard": "\xa0"}
UNITS = ("{}", "{}", "{} %", "{}%", "€ {}", "{} €", "$ {}", "CHF {}")
GAPS = ("", "-", "?", "NA", "n/a", "null", "missing", "k.A.", "#DIV/0!")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--output", type=Path, default=RESULT)
    asked = parser.parse_args()
    asked_on, ends, faults = stored.stamp(), Counter[str](), []
    for seed in range(asked.count):
        end, fault = try_one(seed)
        ends[end] += 1
        faults += [{"seed": seed, "fault": fault}] if fault else []
    result = {**asked_on, "count": asked.count, "columns": dict(sorted(ends.items())), "faults": faults}
    asked.output.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    print(json.dumps(result, indent=2))


def try_one(seed: int) -> tuple[str, str]:
    """Write a table of one column of numbers and one of text; return how it was read, and what is wrong."""
    rng = np.random.default_rng(seed)
    values, cells = draw_column(rng)
    names = [f"row {row}" for row in range(len(cells))]
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = write_file(rng, Path(folder), cells, names)
        try:
            frame = read_table(path)
        except UsageError as error:
            return "refused", "" if len(str(error)) < 600 else "the message is long"
        except Exception as error:
            return "failed", f"{type(error).__name__}: {error}"
    read = frame.iloc[:, 0]
    if read.dtype.kind not in "iufb":
        return ("asked about" if has_unclear_numbers(read) else "left as text"), ""
    found = read.to_numpy(dtype=float)

    if len(found) != len(values) or not np.allclose(found, values, equal_nan=True):
        return "misread", f"{cells[:4]} became {found[:4].tolist()}, not {values[:4].tolist()}"
    return "right", ""


def draw_column(rng: np.random.Generator) -> tuple[np.ndarray, list[str]]:
    """Return numbers, and how somebody wrote them."""
    n = int(rng.integers(8, 30))
    decimals = int(rng.integers(0, 4))
    values = np.round(rng.normal(size=n) * 10.0 ** rng.integers(0, 7), decimals)
    decimal = str(rng.choice([".", ","]))
    thousands = THOUSANDS[str(rng.choice([sign for sign in THOUSANDS if sign != decimal]))]
    unit = str(rng.choice(UNITS))
    gap = str(rng.choice(GAPS))
    is_gap = rng.random(n) < rng.choice([0.0, 0.2])
    cells = []
    for value, is_missing in zip(values, is_gap, strict=True):
        plain = f"{value:,.{decimals}f}".replace(",", "T").replace(".", decimal).replace("T", thousands)
        cells.append(gap if is_missing else unit.format(plain))
    values = np.where(is_gap, np.nan, values)
    return values, cells


def write_file(rng: np.random.Generator, folder: Path, cells: list[str], names: list[str]) -> Path:
    """Write a table in one of the formats."""
    writers: dict[str, Callable[[Path], None]] = {
        "table.csv": lambda path: write_text(rng, path, cells, names),
        "table.xlsx": lambda path: pd.DataFrame({"size": cells, "name": names}).to_excel(path, index=False),
        "table.json": lambda path: pd.DataFrame({"size": cells, "name": names}).to_json(
            path, orient="records"
        ),
    }
    name = str(rng.choice(list(writers), p=[0.8, 0.1, 0.1]))
    writers[name](folder / name)
    return folder / name


def write_text(rng: np.random.Generator, path: Path, cells: list[str], names: list[str]) -> None:
    """Write text with some separator and in some encoding, cells quoted where they hold the separator."""
    separator = str(rng.choice([",", ";", "\t"]))
    encoding = str(rng.choice(["utf-8", "utf-8-sig", "cp1252"]))
    quoted = [f'"{cell}"' if separator in cell else cell for cell in cells]
    rows = [f"{cell}{separator}{name}" for cell, name in zip(quoted, names, strict=True)]
    text = "\n".join([f"size{separator}name", *rows]) + "\n"
    path.write_bytes(text.encode(encoding, errors="replace" if encoding == "cp1252" else "strict"))


if __name__ == "__main__":
    main()
