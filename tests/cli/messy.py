"""Ten tables as people have them: each is written by a function, with what is to be read from it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

N = 40


def _customers(seed: int = 0) -> pd.DataFrame:
    """Forty customers of two kinds: turnover, orders and discount tell them apart, the region does not."""
    rng = np.random.default_rng(seed)
    kind = np.arange(N) % 2
    return pd.DataFrame(
        {
            "turnover": np.round(1500 + 6000 * kind + rng.normal(size=N) * 200, 2),
            "orders": 5 + 30 * kind + rng.integers(0, 4, N),
            "discount": np.round(2 + 9 * kind + rng.random(N), 1),
            "region": rng.choice(["North", "South", "East", "West"], N),
        }
    )


def german(value: float) -> str:
    """Write a number as 3.945,25."""
    return f"{value:,.2f}".translate(str.maketrans(",.", ".,"))


def write_german(folder: Path) -> Path:
    """Semicolons, decimal commas, points for thousands, dates and gaps."""
    frame = _customers()
    rows = [
        f"{german(t)};{o};{str(d).replace('.', ',')};{day:02}.03.2024"
        for t, o, d, day in zip(
            frame.turnover, frame.orders, frame.discount, np.arange(N) % 28 + 1, strict=True
        )
    ]
    path = folder / "kunden.csv"
    path.write_text(
        "Umsatz (€);Bestellungen;Rabatt %;Erstbestellung\n" + "\n".join(rows) + "\n", encoding="utf-8"
    )
    return path


def write_windows(folder: Path) -> Path:
    """The same in the encoding of Windows, where the sign of the euro is byte 0x80."""
    path = folder / "windows.csv"
    path.write_bytes(write_german(folder).read_text(encoding="utf-8").encode("cp1252"))
    return path


def write_swiss(folder: Path) -> Path:
    """Apostrophes for thousands, and blanks in another column."""
    frame = _customers()
    rows = [
        f"{t:,.2f}".replace(",", "'") + f",{1000 * o:,}".replace(",", " ").replace(" ", ",", 1)
        for t, o in zip(frame.turnover, frame.orders, strict=True)
    ]
    path = folder / "swiss.csv"
    path.write_text("turnover,orders\n" + "\n".join(rows) + "\n", encoding="utf-8")
    return path


def write_money(folder: Path) -> Path:
    """Dollars with commas, and percent."""
    frame = _customers()
    frame["turnover"] = [f"${value:,.2f}" for value in frame["turnover"]]
    frame["discount"] = [f"{value} %" for value in frame["discount"]]
    path = folder / "money.csv"
    frame.drop(columns="region").to_csv(path, index=False)
    return path


def write_excel(folder: Path) -> Path:
    """A workbook of two sheets, with numbers, dates and an id column."""
    frame = _customers()
    frame.insert(0, "customer id", np.arange(7_000_000, 7_000_000 + 3 * N, 3))
    path = folder / "book.xlsx"
    with pd.ExcelWriter(path) as book:
        frame.drop(columns="region").to_excel(book, sheet_name="customers", index=False)
        pd.DataFrame({"note": ["made in March"]}).to_excel(book, sheet_name="notes", index=False)
    return path


def write_json(folder: Path) -> Path:
    """A list of objects, some numbers in quotes."""
    path = folder / "list.json"
    frame = _customers().drop(columns="region")
    frame["orders"] = frame["orders"].astype(str)
    frame.to_json(path, orient="records")
    return path


def write_gaps(folder: Path) -> Path:
    """Gaps written in five ways, a column without any value, and blanks around cells."""
    frame = _customers().drop(columns="region").astype(object)
    for row, word in enumerate(["NA", "n/a", "-", "", "?"]):
        frame.loc[row, "discount"] = word
    frame["remark"] = ""
    frame["orders"] = [f" {value} " for value in frame["orders"]]
    path = folder / "gaps.csv"
    frame.to_csv(path, index=False)
    return path


def write_ids(folder: Path) -> Path:
    """An id column, a category, dates and gaps: much to say at once."""
    frame = _customers()
    frame.insert(0, "customer_id", np.arange(7_000_000, 7_000_000 + 7 * N, 7))
    frame["signup"] = pd.date_range("2024-01-01", periods=N, freq="13D").strftime("%Y-%m-%d")
    frame.loc[3, "turnover"] = np.nan
    path = folder / "ids.csv"
    frame.to_csv(path, index=False)
    return path


def write_unclear(folder: Path) -> Path:
    """Numbers that may be read in two ways, and nothing in the table that would tell."""
    frame = _customers()
    path = folder / "unclear.csv"
    rows = [f"{1 + o},{100 + i};{o}" for i, o in enumerate(frame.orders)]
    path.write_text("weight;orders\n" + "\n".join(rows) + "\n", encoding="utf-8")
    return path


def write_doubles(folder: Path) -> Path:
    """Names that occur twice, in three rows."""
    frame = _customers().drop(columns="region")
    frame.insert(0, "name", [f"c{min(i, 36)}" for i in range(N)])
    path = folder / "doubles.csv"
    frame.to_csv(path, index=False)
    return path


def truth() -> np.ndarray:
    """Return the kind of each customer."""
    return np.arange(N) % 2


def numbers() -> pd.DataFrame:
    """Return the numbers that are in all the files."""
    return _customers()[["turnover", "orders", "discount"]]
