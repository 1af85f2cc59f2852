"""The stored curves as tables."""

from __future__ import annotations

import numpy as np

from benchmarks.active.sets import BUDGETS, SETS


def mean_curve(rows: list[dict], name: str, strategy: str, error: float) -> np.ndarray | None:
    """Return the mean over draws of the adjusted Rand index after each number of questions."""
    curves = [
        [row["ari"][str(budget)] for budget in BUDGETS]
        for row in rows
        if (row["set"], row["strategy"], row["error"]) == (name, strategy, error)
    ]
    return np.mean(curves, axis=0) if curves else None


def print_tables(rows: list[dict]) -> None:
    kinds = sorted({(row["strategy"], row["error"]) for row in rows})
    for strategy, error in kinds:
        title = strategy if not error else f"{strategy}, {error:.0%} of the answers wrong"
        print(f"\n| {title} | " + " | ".join(map(str, BUDGETS)) + " | draws |")
        print("|---" * (len(BUDGETS) + 2) + "|")
        for name in SETS:
            curve = mean_curve(rows, name, strategy, error)
            if curve is not None:
                draws = sum((r["set"], r["strategy"], r["error"]) == (name, strategy, error) for r in rows)
                print(f"| {name} | " + " | ".join(f"{score:.3f}" for score in curve) + f" | {draws} |")
