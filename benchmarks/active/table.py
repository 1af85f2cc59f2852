"""The stored curves as the tables of docs/asking.md."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.active.sets import BUDGETS, LARGE, SETS, SMALL

#: Budgets of right answers, each beside twice as many answers of which some are wrong.
RIGHT, TWICE = (25, 50, 100), (50, 100, 200)
#: Shares of wrong answers, and how far behind right answers they may be.
ERRORS, NEAR = (0.1, 0.2), 0.05
#: The names of strategies on the page; others as they are.
NAMES = {"controller": "`controller` (default)", "neighbourhoods": "`neighbourhoods` (NPU)"}


def mean_curve(rows: list[dict], name: str, strategy: str, error: float = 0.0) -> np.ndarray | None:
    """Return the mean over draws of the adjusted Rand index after each number of questions."""
    curves = [
        [row["ari"][str(budget)] for budget in BUDGETS]
        for row in rows
        if (row["set"], row["strategy"], row["error"]) == (name, strategy, error)
    ]
    return np.mean(curves, axis=0) if curves else None


def count_draws(rows: list[dict], name: str, strategy: str, error: float = 0.0) -> int:
    """Return how many draws are stored."""
    return sum((row["set"], row["strategy"], row["error"]) == (name, strategy, error) for row in rows)


def print_tables(rows: list[dict]) -> None:
    """Print all tables."""
    for table in tables(rows):
        print("\n" + "\n".join(table))
    for error in ERRORS:
        met = [gap <= NEAR for gap in gaps(rows, error)]
        print(f"{error:.0%} wrong: within {NEAR} in {sum(met)} of {len(met)} cells")


def tables(rows: list[dict]) -> list[list[str]]:
    """Return all tables as lines."""
    strategies = [list(strategies_table(rows, names)) for names in (SMALL, LARGE)]
    return [list(curves_table(rows)), *strategies, list(wrong_answers_table(rows))]


def curves_table(rows: list[dict]) -> Iterator[str]:
    """Give the default beside COBRAS, line by line."""
    budgets = " | ".join(map(str, BUDGETS))
    yield f"| ARI after | draws | {budgets} | COBRAS: draws | {budgets} |"
    yield "|---" * (2 * len(BUDGETS) + 3) + "|"
    for name in SETS:
        cells = [name]
        for strategy in ("controller", "COBRAS"):
            curve = mean_curve(rows, name, strategy)
            cells.append(str(count_draws(rows, name, strategy)))
            cells += ["–"] * len(BUDGETS) if curve is None else [_short(score, 3) for score in curve]
        yield "| " + " | ".join(cells) + " |"


def strategies_table(rows: list[dict], names: tuple[str, ...]) -> Iterator[str]:
    """Give all strategies side by side, line by line; a number in brackets is the number of draws."""
    strategies = {row["strategy"] for row in rows if not row["error"] and row["set"] in names}
    yield "| | " + " | ".join(names) + " |"
    yield "|---" * (len(names) + 1) + "|"
    for strategy in sorted(strategies, key=lambda each: (each != "controller", each)):
        cells = []
        for name in names:
            curve = mean_curve(rows, name, strategy)
            draws = count_draws(rows, name, strategy)
            cells.append("–" if curve is None else f"{_at(curve, RIGHT)} ({draws})")
        title = NAMES.get(strategy, strategy if strategy[0].isupper() else f"`{strategy}`")
        yield f"| {title} | " + " | ".join(cells) + " |"


def wrong_answers_table(rows: list[dict]) -> Iterator[str]:
    """Give wrong answers beside right ones at half the budgets, line by line."""
    after = " / ".join(map(str, TWICE))
    yield (
        f"| set | right answers, after {' / '.join(map(str, RIGHT))} | "
        + " | ".join(f"{error:.0%} wrong, after {after} | draws".replace("%", " %") for error in ERRORS)
        + " |"
    )
    yield "|---" * (2 + 2 * len(ERRORS)) + "|"
    for name in SETS:
        right = mean_curve(rows, name, "controller")
        cells = [name, "–" if right is None else _at(right, RIGHT)]
        for error in ERRORS:
            curve = mean_curve(rows, name, "controller", error)
            cells += ["–" if curve is None else _at(curve, TWICE)]
            cells += [str(count_draws(rows, name, "controller", error))]
        yield "| " + " | ".join(cells) + " |"


def gaps(rows: list[dict], error: float) -> list[float]:
    """Return how far wrong answers are behind right ones with half the questions, for each set and budget."""
    found = []
    for name in SETS:
        right, wrong = mean_curve(rows, name, "controller"), mean_curve(rows, name, "controller", error)
        if right is not None and wrong is not None:
            for half, twice in zip(RIGHT, TWICE, strict=True):
                found.append(float(right[BUDGETS.index(half)] - wrong[BUDGETS.index(twice)]))
    return found


def _short(score: float, digits: int) -> str:
    words = f"{score:.{digits}f}"
    return f"{score:.2f}" if abs(float(words)) >= 1 else words.replace("0.", ".", 1)


def _at(curve: np.ndarray, budgets: tuple[int, ...]) -> str:
    return " / ".join(_short(curve[BUDGETS.index(budget)], 2) for budget in budgets)
