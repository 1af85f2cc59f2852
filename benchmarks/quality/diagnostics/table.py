"""Means over draws, set by set and over all sets, as tables of the page on diagnostics."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.quality.diagnostics.sets import BUNDLED, OTHERS
from benchmarks.quality.diagnostics.wrong import KINDS, SHARES

Rows = list[dict[str, Any]]


def print_tables(rows: Rows) -> None:
    """Print how wrong knowledge is found and what dropping it brings; then where models err."""
    for kind in KINDS:
        mine = [row for row in rows if row["kind"] == kind]
        _print_wrong(kind, [row for row in mine if "share" in row])
    _print_tenths([row for row in rows if "confidence" in row])


def _print_wrong(kind: str, rows: Rows) -> None:
    print(
        f"\n| {kind}, 10 % wrong | AUC | one that knows all | wrong gone | right gone | ARI right | wrong | "
        "dropped | just the wrong ones dropped |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    for name in dict.fromkeys(row["set"] for row in rows):
        _print_row(name, [row for row in rows if row["set"] == name and row["share"] == 0.1])
    for share in SHARES:
        these = [row for row in rows if row["share"] == share]
        _print_row(f"the first four, {share:.0%}", [row for row in these if row["set"] in BUNDLED])
        _print_row(f"the other eight, {share:.0%}", [row for row in these if row["set"] in OTHERS])


def _print_row(name: str, rows: Rows) -> None:
    means = [_mean(rows, column) for column in ("auc", "ceiling", "right", "wrong", "dropped", "at best")]
    found = sum(row["n_dropped_wrong"] for row in rows)
    n_wrong = sum(row["n_wrong"] for row in rows)
    n_right = sum(row["n"] for row in rows) - n_wrong
    lost = sum(row["n_dropped"] for row in rows) - found
    words = ["–" if np.isnan(mean) else f"{mean:.3f}" for mean in means]
    gone = [f"{found / max(n_wrong, 1):.0%}", f"{lost / max(n_right, 1):.1%}"]
    print(f"| {name} | {' | '.join(words[:2] + gone + words[2:])} |")


def _mean(rows: Rows, column: str) -> float:
    """Return the mean over sets of the means over draws."""
    by_set: dict[str, list[float]] = {}
    for row in rows:
        if row.get(column) is not None:
            by_set.setdefault(row["set"], []).append(row[column])
    return float(np.mean([np.mean(values) for values in by_set.values()])) if by_set else float("nan")


def _print_tenths(rows: Rows) -> None:
    print("\n| errors in the least sure tenth | " + " | ".join(KINDS) + " | at most |")
    print("|---|" + "---|" * (len(KINDS) + 1))
    for name in dict.fromkeys(row["set"] for row in rows):
        _print_least(name, [row for row in rows if row["set"] == name])
    _print_least("the first four", [row for row in rows if row["set"] in BUNDLED])
    _print_least("the other eight", [row for row in rows if row["set"] in OTHERS])
    print("\n| tenth, least sure first | mean confidence | error rate | share of errors |\n|---|---|---|---|")
    tenths = np.mean([row["confidence"] for row in rows], axis=0)
    for place, (sure, error, share) in enumerate(tenths):
        print(f"| {place + 1} | {sure:.2f} | {error:.2f} | {share:.2f} |")


def _print_least(name: str, rows: Rows) -> None:
    shares = [np.mean([row["confidence"][0][2] for row in rows if row["kind"] == kind]) for kind in KINDS]
    # If every point of the least sure tenth is wrong, they are this share of all errors.
    rates = [np.mean([tenth[1] for tenth in row["confidence"]]) for row in rows]
    bound = np.mean([min(1.0, 0.1 / max(rate, 1e-12)) for rate in rates])
    print(f"| {name} | {' | '.join(f'{share:.2f}' for share in shares)} | {bound:.2f} |")
