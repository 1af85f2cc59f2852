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
    """Print one table for each strategy and share of wrong answers, then all strategies side by side."""
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
    print_strategies(rows)


def print_strategies(rows: list[dict], budgets: tuple[int, ...] = (25, 50, 100)) -> None:
    """Print all strategies side by side: the adjusted Rand index after so many questions."""
    clean = [row for row in rows if not row["error"]]
    names = [
        name
        for name in SETS
        if {row["strategy"] for row in clean if row["set"] == name} > {"controller", "COBRAS"}
    ]
    print(f"\n| after {' / '.join(map(str, budgets))} questions | " + " | ".join(names) + " |")
    print("|---" * (len(names) + 1) + "|")
    for strategy in dict.fromkeys(row["strategy"] for row in clean):
        curves = [mean_curve(clean, name, strategy, 0.0) for name in names]
        if all(curve is None for curve in curves):
            continue
        cells = ["–" if curve is None else _at(curve, budgets) for curve in curves]
        print(f"| {strategy} | " + " | ".join(cells) + " |")


def _at(curve: np.ndarray, budgets: tuple[int, ...]) -> str:
    return " / ".join(f"{curve[BUDGETS.index(budget)]:.2f}".replace("0.", ".") for budget in budgets)
