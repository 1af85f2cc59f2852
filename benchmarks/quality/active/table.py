"""The tables of docs/lab/asking.md, from stored results: ``python -m benchmarks.quality.active.table``."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd

from benchmarks.page_tables import DOCS, rewrite
from benchmarks.quality.active.sets import BUDGETS, LARGE, SETS, SMALL
from benchmarks.stored import RESULTS as FOLDER
from benchmarks.stored import measured

PAGES = [DOCS / "lab" / "asking.md"]
RESULTS = FOLDER / "quality"

#: Budgets of right answers, each beside twice as many answers of which some are wrong.
RIGHT, TWICE = (25, 50, 100), (50, 100, 200)
#: Shares of wrong answers, and how far behind right answers they may be.
ERRORS, NEAR = (0.1, 0.2), 0.05
#: The names of strategies on the page; others as they are.
NAMES = {"default_strategy": "`default_strategy` (default)", "neighbourhoods": "`neighbourhoods` (NPU)"}


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


def stored() -> list[dict]:
    """Return the stored runs."""
    path = RESULTS / "active_curves.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def measured_of(rows: list[dict], **same: object) -> str:
    """Return when the rows with some values were measured."""
    return measured(pd.DataFrame([row for row in rows if all(row[key] == same[key] for key in same)]))


def makers() -> dict[str, Callable[[], str]]:
    """Return what makes the tables of the page, by the names of their marks."""
    rows = stored()
    return {
        "curves": lambda: "\n".join(curves_table(rows)),
        "strategies-small": lambda: "\n".join(strategies_table(rows, SMALL)),
        "strategies-large": lambda: "\n".join(strategies_table(rows, LARGE)),
        "kinds": lambda: "\n".join(kinds_table()),
        "certificates": lambda: "\n".join(certificates_table()),
        "promise": lambda: "\n".join(promise_table()),
        "wrong-kinds": lambda: "\n".join(wrong_kinds_table()),
        "many": lambda: "\n".join(many_table()),
        "wrong-known": lambda: "\n".join(wrong_known_table()),
        "wrong-answers": lambda: "\n".join(wrong_answers_table(rows)),
        "near": lambda: near_words(rows),
        "slips": slips_table,
        "seconds": seconds_table,
    }


def near_words(rows: list[dict]) -> str:
    """Say in how many cells wrong answers come near right ones, and what the means are."""
    met = {error: [gap <= NEAR for gap in gaps(rows, error)] for error in ERRORS}
    cells = " and ".join(
        f"in {sum(each)} of {len(each)} cells with {error:.0%} wrong answers" for error, each in met.items()
    )
    means = "; ".join(
        f"{error:.0%} wrong {_at(np.mean(_curves(rows, error), axis=0), TWICE)}" for error in ERRORS
    )
    right = _at(np.mean(_curves(rows, 0.0), axis=0), RIGHT)
    after = f"after {' / '.join(map(str, TWICE))} questions"
    said = (
        f"The aim is met {cells}. In the mean of the eleven sets, {after}: {means}; right answers {right} "
        "with half as many."
    )
    return said.replace("%", " %")


def _curves(rows: list[dict], error: float) -> list[np.ndarray]:
    found = [mean_curve(rows, name, "default_strategy", error) for name in SETS]
    return [curve for curve in found if curve is not None]


def slips_table() -> str:
    """Return what one wrong answer of fifty costs, believed and with a reliability of 0.95."""
    kinds = ("all right", "one wrong, mean", "one wrong, least")
    lines = [
        "| | believed: none wrong | one wrong, mean | worst place | 0.95: none wrong | one wrong, mean | "
        "worst place |",
        "|---" * 7 + "|",
    ]
    found = json.loads((RESULTS / "active_slips.json").read_text())
    rows = found["rows"]
    scores = [[row[reliability][kind] for reliability in ("1.0", "0.95") for kind in kinds] for row in rows]
    for name, cells in zip(
        [*(row["set"] for row in rows), "mean"], [*scores, np.mean(scores, axis=0)], strict=True
    ):
        lines.append(f"| {name} | " + " | ".join(_short(score, 2) for score in cells) + " |")
    return "\n".join([*lines, "", f"Measured on {measured(pd.Series(found))}."])


def seconds_table() -> str:
    """Return the seconds to the next question, believed and weighed."""
    lines = [
        "| points | start | next question: median | longest | with `reliability=0.9`: median | longest |",
        "|---" * 6 + "|",
    ]
    found = json.loads((RESULTS / "active_seconds.json").read_text())
    rows = found["rows"]
    for points in sorted({row["points"] for row in rows}):
        sure, unsure = sorted(
            (row for row in rows if row["points"] == points), key=lambda r: -r["reliability"]
        )
        times = [row[f"{kind}_processor_seconds"] for row in (sure, unsure) for kind in ("median", "longest")]
        started = f"{sure['start_processor_seconds']} s"
        lines.append(f"| {points:,} | {started} | " + " | ".join(f"{time:.3f} s" for time in times) + " |")
    return "\n".join([*lines, "", f"Measured on {measured(pd.Series(found))}."])


def curves_table(rows: list[dict]) -> Iterator[str]:
    """Give the default beside COBRAS, line by line."""
    budgets = " | ".join(map(str, BUDGETS))
    yield f"| ARI after | draws | {budgets} | measured | COBRAS: draws | {budgets} | measured |"
    yield "|---" * (2 * len(BUDGETS) + 5) + "|"
    for name in SETS:
        cells = [name]
        for strategy in ("default_strategy", "COBRAS"):
            curve = mean_curve(rows, name, strategy)
            cells.append(str(count_draws(rows, name, strategy)))
            cells += ["–"] * len(BUDGETS) if curve is None else [_short(score, 3) for score in curve]
            cells.append(measured_of(rows, set=name, strategy=strategy, error=0.0))
        yield "| " + " | ".join(cells) + " |"


def strategies_table(rows: list[dict], names: tuple[str, ...]) -> Iterator[str]:
    """Give all strategies side by side, line by line; a number in brackets is the number of draws."""
    strategies = {row["strategy"] for row in rows if not row["error"] and row["set"] in names}
    yield "| | " + " | ".join(names) + " | measured |"
    yield "|---" * (len(names) + 2) + "|"
    for strategy in sorted(strategies, key=lambda each: (each != "default_strategy", each)):
        cells = []
        for name in names:
            curve = mean_curve(rows, name, strategy)
            draws = count_draws(rows, name, strategy)
            cells.append("–" if curve is None else f"{_at(curve, RIGHT)} ({draws})")
        title = NAMES.get(strategy, strategy if strategy[0].isupper() else f"`{strategy}`")
        mine = [row for row in rows if row["set"] in names]
        cells.append(measured_of(mine, strategy=strategy, error=0.0))
        yield f"| {title} | " + " | ".join(cells) + " |"


def wrong_answers_table(rows: list[dict]) -> Iterator[str]:
    """Give wrong answers beside right ones at half the budgets, line by line."""
    after = " / ".join(map(str, TWICE))
    yield (
        f"| set | right answers, after {' / '.join(map(str, RIGHT))} | "
        + " | ".join(f"{error:.0%} wrong, after {after} | draws".replace("%", " %") for error in ERRORS)
        + " | measured |"
    )
    yield "|---" * (3 + 2 * len(ERRORS)) + "|"
    for name in SETS:
        right = mean_curve(rows, name, "default_strategy")
        cells = [name, "–" if right is None else _at(right, RIGHT)]
        for error in ERRORS:
            curve = mean_curve(rows, name, "default_strategy", error)
            cells += ["–" if curve is None else _at(curve, TWICE)]
            cells += [str(count_draws(rows, name, "default_strategy", error))]
        cells.append(measured_of(rows, set=name, strategy="default_strategy"))
        yield "| " + " | ".join(cells) + " |"


def gaps(rows: list[dict], error: float) -> list[float]:
    """Return how far wrong answers are behind right ones with half the questions, for each set and budget."""
    found = []
    for name in SETS:
        right, wrong = (
            mean_curve(rows, name, "default_strategy"),
            mean_curve(rows, name, "default_strategy", error),
        )
        if right is not None and wrong is not None:
            for half, twice in zip(RIGHT, TWICE, strict=True):
                found.append(float(right[BUDGETS.index(half)] - wrong[BUDGETS.index(twice)]))
    return found


def kinds_table() -> Iterator[str]:
    """Yield the table of pairs, labels and sets by seconds, and in how many sets the choice keeps up."""
    rows = [row for row in _lines("active_kinds.jsonl") if not row["error"]]
    budgets = list(rows[0]["ari"])
    curves = {}
    for row in rows:
        curves.setdefault((row["set"], row["prices"]), []).append([row["ari"][budget] for budget in budgets])
    means = {key: np.mean(found, axis=0) for key, found in curves.items()}
    ways = ("pairs", "labels", "sets", "all")
    yield f"| ARI after {' / '.join(budgets)} s | draws | {' | '.join(ways)} | measured |"
    yield "|---" * (len(ways) + 3) + "|"
    names = [name for name in SETS if (name, "all") in means]
    for name in names:
        cells = [" / ".join(_short(score, 2) for score in means[name, way]) for way in ways]
        yield f"| {name} | {len(curves[name, 'all'])} | {' | '.join(cells)} | {measured_of(rows, set=name)} |"
    yield ""
    for way in ways[:3]:
        behind = [means[name, way] - means[name, "all"] for name in names]
        everywhere = sum((gap < 0.005).all() for gap in behind)
        mean = sum(gap.mean() < 0.0005 for gap in behind)
        worst = max(gap.max() for gap in behind)
        yield (
            f"Against {way} alone, the choice among all is at or above at every budget on {everywhere} of "
            f"{len(names)} sets (to two digits), and in the mean over the budgets on {mean}; at most it is "
            f"{_short(worst, 2)} behind."
        )


def wrong_kinds_table() -> Iterator[str]:
    """Yield all kinds with wrong answers beside right ones in half the time, and how often these are near."""
    rows = [row for row in _lines("active_kinds.jsonl") if row["prices"] == "all"]
    budgets = list(rows[0]["ari"])
    curves: dict[tuple, list] = {}
    for row in rows:
        curves.setdefault((row["set"], row["error"]), []).append(list(row["ari"].values()))
    means = {key: np.mean(found, axis=0) for key, found in curves.items()}
    errors = [error for error in ERRORS if any(key[1] == error for key in means)]
    titles = " | ".join(f"{error:.0%} wrong, after {' / '.join(budgets[1:])} s | draws" for error in errors)
    yield f"| set | right answers, after {' / '.join(budgets[:-1])} s | {titles} | measured |".replace(
        "%", " %"
    )
    yield "|---" * (3 + 2 * len(errors)) + "|"
    met: dict[float, list[bool]] = {error: [] for error in errors}
    for name in [name for name in SETS if all((name, error) in means for error in (0.0, *errors))]:
        right = means[name, 0.0][:-1]
        cells = [name, " / ".join(_short(score, 2) for score in right)]
        for error in errors:
            wrong = means[name, error][1:]
            met[error] += (right - wrong <= NEAR).tolist()
            cells += [" / ".join(_short(score, 2) for score in wrong), str(len(curves[name, error]))]
        yield f"| {' | '.join(cells)} | {measured_of(rows, set=name)} |"
    yield ""
    counts = ", ".join(f"in {sum(each)} of {len(each)} with {error:.0%} wrong" for error, each in met.items())
    yield f"Within .05 of right answers in half the time: {counts}.".replace("%", " %")


#: How the page names what is known of wrong answers.
KNOWN = {
    "mean": "how many are wrong",
    "nothing": "nothing: it is estimated",
    "each": "the chance of each answer",
    "gain": "joint expected information gain",
}


def wrong_known_table() -> Iterator[str]:
    """Yield what is reached where more or less is known of wrong answers, means over draws."""
    rows = _lines("active_wrong.jsonl")
    counts = list(rows[0]["ari"])
    yield (
        "| set | wrong | known | draws | wrong in the dialogues | estimate | "
        f"ARI after {' / '.join(counts)} | each draw at the end | measured |"
    )
    yield "|---" * 9 + "|"
    for name, kind, known in dict.fromkeys((row["set"], row["kind"], row["known"]) for row in rows):
        mine = [row for row in rows if (row["set"], row["kind"], row["known"]) == (name, kind, known)]
        cells = [name, f"{mine[0]['error']:.0%}, {kind}".replace("%", " %"), KNOWN[known], len(mine)]
        for key in ("wrong", "estimate"):
            shares = [row[key] for row in mine if key in row]
            shown = key == "wrong" or known != "each"
            cells.append(_short(float(np.mean(shares)), 2) if shares and shown else "–")
        cells.append(" / ".join(_short(np.mean([row["ari"][count] for row in mine]), 2) for count in counts))
        cells.append(" ".join(_short(row["ari"][counts[-1]], 2) for row in mine))
        yield f"| {' | '.join(map(str, cells))} | {measured(pd.DataFrame(mine))} |"


def promise_table() -> Iterator[str]:
    """Yield how many certificates are wrong in many short dialogues."""
    yield "| asked | dialogues | certified | of these wrong | questions, median | measured |"
    yield "|---|---|---|---|---|---|"
    for row in _lines("active_promise.jsonl"):
        cells = [
            row["way"],
            row["dialogues"],
            row["certified"],
            row["wrong"],
            f"{row['median_questions']:.0f}",
        ]
        yield f"| {' | '.join(map(str, cells))} | {row['date']} `{row['commit']}` |"


def certificates_table() -> Iterator[str]:
    """Yield the table of certified clusters, by pairs and by all kinds of question."""
    yield "| set | points | asked | draws | certified | of these right | questions, median | measured |"
    yield "|---" * 8 + "|"
    files = {"": "pairs", "_all": "all", "_large": "all"}
    for name, way in ((f"active_certificates{end}.json", way) for end, way in files.items()):
        found = json.loads((RESULTS / name).read_text()) if (RESULTS / name).exists() else {"rows": []}
        for row in found["rows"]:
            cells = [row["set"], row["points"], way, row["draws"], row["certified"], row["right"]]
            cells += [f"{row['median_questions']:.0f}", measured(pd.Series(found))]
            yield f"| {' | '.join(map(str, cells))} |"


def many_table() -> Iterator[str]:
    """Yield the table of classes found, means over draws."""
    rows = _lines("active_many.jsonl")
    counts = list(rows[0]["found"])
    yield (
        f"| classes | points | asked | draws | found after {' / '.join(counts)} questions | with a cluster | "
        "ARI | next question: median, longest | measured |"
    )
    yield "|---" * 9 + "|"
    for k, way in dict.fromkeys((row["classes"], row["way"]) for row in rows):
        mine = [row for row in rows if (row["classes"], row["way"]) == (k, way)]
        found, clusters, scores = (
            np.mean([[row[key].get(count, np.nan) for count in counts] for row in mine], axis=0)
            for key in ("found", "clusters", "ari")
        )
        waits = [
            np.mean([row.get(f"{which}_processor_seconds", np.nan) for row in mine])
            for which in ("median", "longest")
        ]
        cells = [
            k,
            f"{np.mean([row['points'] for row in mine]):,.0f}",
            way,
            len(mine),
            " / ".join(f"{count:.0f}" for count in found),
            " / ".join("–" if np.isnan(count) else f"{count:.0f}" for count in clusters),
            " / ".join(_short(score, 2) for score in scores),
            "–" if np.isnan(waits[0]) else f"{waits[0]:.2f} s, {waits[1]:.2f} s",
        ]
        yield f"| {' | '.join(map(str, cells))} | {measured(pd.DataFrame(mine))} |"


def _lines(name: str) -> list[dict]:
    return [json.loads(line) for line in (RESULTS / name).read_text().splitlines()]


def _short(score: float, digits: int) -> str:
    words = f"{score:.{digits}f}"
    return f"{score:.2f}" if abs(float(words)) >= 1 else words.replace("0.", ".", 1)


def _at(curve: np.ndarray, budgets: tuple[int, ...]) -> str:
    return " / ".join(_short(curve[BUDGETS.index(budget)], 2) for budget in budgets)


def main() -> None:
    """Write the tables of the page."""
    rewrite(PAGES[0], makers())


if __name__ == "__main__":
    main()
