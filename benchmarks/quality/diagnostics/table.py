"""Means over draws, set by set and over all sets, as tables of the page on diagnostics."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from benchmarks import stored
from benchmarks.page_tables import Makers
from benchmarks.quality.diagnostics.sets import BUNDLED, OTHERS
from benchmarks.quality.diagnostics.wrong import KINDS, SHARES

Rows = list[dict[str, Any]]
GROUPS = {"the first four": list(BUNDLED), "the other eight": list(OTHERS)}


def makers(rows: Rows) -> Makers:
    """Return what makes the tables of the page, by the names of their marks."""
    return {"wrong": lambda: wrong(rows), "least": lambda: least(rows), "tenths": lambda: tenths(rows)}


def wrong(rows: Rows) -> str:
    """Return how wrong knowledge is found and what dropping it brings, by kind, sets and share."""
    lines = [
        "| known | sets | wrong | AUC | one that knows all | wrong gone | right gone | ARI right | wrong "
        "| dropped | just the wrong ones dropped |",
        "|---" * 11 + "|",
    ]
    rows = [row for row in rows if "share" in row]
    for kind, (group, names), share in product(KINDS, GROUPS.items(), SHARES):
        mine = [row for row in rows if (row["kind"], row["share"]) == (kind, share) and row["set"] in names]
        cells = " | ".join([f"{share:.0%}", *_cells(mine)]).replace("%", " %")
        lines.append(f"| {kind} | {group} | {cells} |")
    return "\n".join([*lines, "", _stamp(rows)])


def _stamp(rows: Rows) -> str:
    draws = len({row["draw"] for row in rows})
    return f"{draws} draws, measured {stored.measured(pd.DataFrame(rows)[['date', 'commit']])}."


def _cells(rows: Rows) -> list[str]:
    means = [_mean(rows, column) for column in ("auc", "ceiling", "right", "wrong", "dropped", "at best")]
    found = sum(row["n_dropped_wrong"] for row in rows)
    n_wrong = sum(row["n_wrong"] for row in rows)
    n_right = sum(row["n"] for row in rows) - n_wrong
    lost = sum(row["n_dropped"] for row in rows) - found
    words = ["–" if np.isnan(mean) else f"{mean:.3f}" for mean in means]
    gone = [f"{found / max(n_wrong, 1):.0%}", f"{lost / max(n_right, 1):.1%}"]
    return words[:2] + gone + words[2:]


def _mean(rows: Rows, column: str) -> float:
    """Return the mean over sets of the means over draws."""
    by_set: dict[str, list[float]] = {}
    for row in rows:
        if row.get(column) is not None:
            by_set.setdefault(row["set"], []).append(row[column])
    return float(np.mean([np.mean(values) for values in by_set.values()])) if by_set else float("nan")


def least(rows: Rows) -> str:
    """Return the share of all errors in the tenth of points that are least sure, set by set."""
    rows = [row for row in rows if "confidence" in row]
    lines = [
        "| errors in the least sure tenth | " + " | ".join(KINDS) + " | at most |",
        "|---" * (len(KINDS) + 2) + "|",
    ]
    groups = {name: [name] for name in dict.fromkeys(row["set"] for row in rows)} | GROUPS
    lines += [_least(name, [row for row in rows if row["set"] in sets]) for name, sets in groups.items()]
    return "\n".join([*lines, "", _stamp(rows)])


def tenths(rows: Rows) -> str:
    """Return confidence and errors of each tenth of the points."""
    rows = [row for row in rows if "confidence" in row]
    lines = ["| tenth, least sure first | mean confidence | error rate | share of errors |", "|---" * 4 + "|"]
    for place, (sure, error, share) in enumerate(np.mean([row["confidence"] for row in rows], axis=0)):
        lines.append(f"| {place + 1} | {sure:.2f} | {error:.2f} | {share:.2f} |")
    return "\n".join([*lines, "", _stamp(rows)])


def _least(name: str, rows: Rows) -> str:
    shares = [_mean_of([row["confidence"][0][2] for row in rows if row["kind"] == kind]) for kind in KINDS]
    # If every point of the least sure tenth is wrong, they are this share of all errors.
    rates = [np.mean([tenth[1] for tenth in row["confidence"]]) for row in rows]
    bound = _mean_of([min(1.0, 0.1 / max(rate, 1e-12)) for rate in rates])
    return f"| {name} | {' | '.join(f'{share:.2f}' for share in shares)} | {bound:.2f} |"


def _mean_of(values: list[float]) -> float:
    return float(np.mean(values)) if values else float("nan")
