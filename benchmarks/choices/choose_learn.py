"""Learn what AutoCut expects of a method on a graph, and how far it trusts what held-out constraints show.

    python -m benchmarks.choices.choose_learn

A candidate's gain is its adjusted Rand index minus the mean of its cell. A ridge regression on the facts of
`sidecut.selection.expectation` predicts it; a second one weighs what the candidate shows on held-out
constraints. Both are judged on sets they were not learned from: each set is left out in turn. The numbers are
written to src/sidecut/selection/learned.py.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks import stored
from benchmarks.choices import choose_accuracy
from benchmarks.choices.choose_experiments import STORED
from benchmarks.page_tables import DOCS, Makers, rewrite
from sidecut.selection import expectation
from sidecut.selection.autocut import METHODS, ON_CLASSIFIER, ON_METRIC, WITH_LABELS
from sidecut.selection.expectation import facts_of, parts_of

PAGES = [DOCS / "which-method.md"]
LEARNED = Path(expectation.__file__).with_name("learned.py")
#: How much the regressions are drawn towards zero, and the numbers of held-out points that were tried at
#: which a score counts half.
RIDGE, HALVES = 200.0, (3.0, 10.0, 30.0, 100.0)


def read(candidate: str) -> tuple[str, str, bool, bool]:
    """Return method, form, and whether a metric and a classifier are used, of a candidate's name."""
    method, view = candidate.split(", ")
    uses_classifier = "learned" in view or method == "classifier"
    return method, view.split(" ")[0], "metric" in view, uses_classifier


def is_candidate(candidate: str) -> bool:
    """Return whether AutoCut may try it."""
    method, form, uses_metric, uses_classifier = read(candidate)
    if method == "classifier":
        return True
    if uses_classifier:
        return method in ON_CLASSIFIER and not (uses_metric and form == "numeric")
    return method in (ON_METRIC if uses_metric else {**METHODS, **WITH_LABELS})


def columns(cells: pd.DataFrame) -> list[str]:
    """Return all parts of all candidates."""
    return sorted({part for name in cells["candidate"].unique() for part in parts_of(*read(name))})


def design(cells: pd.DataFrame, parts: list[str]) -> np.ndarray:
    """Return the matrix of the regression: three columns for each part."""
    own = {name: set(parts_of(*read(name))) for name in cells["candidate"].unique()}
    ones = np.ones(len(cells))
    blocks = []
    for part in parts:
        here = cells["candidate"].map(lambda name, part=part: part in own[name]).to_numpy()
        blocks.append(np.column_stack([here * fact for fact in (ones, *facts_of(part, cells)[1:])]))
    return np.hstack(blocks)


def ridge(A: np.ndarray, target: np.ndarray, strength: float) -> np.ndarray:
    """Return the coefficients of a ridge regression: those of rare parts are drawn to zero no further."""
    strengths = np.minimum(strength, np.square(A).sum(axis=0) + 1e-9)
    return np.linalg.solve(A.T @ A + np.diag(strengths), A.T @ target)


def shown(cells: pd.DataFrame) -> np.ndarray:
    """Return by how much the score of a candidate is above the mean of its cell."""
    by_cell = cells.groupby(["set", "kind"])["score"]
    return (cells["score"] - by_cell.transform("mean")).fillna(0.0).to_numpy()


def learn(cells: pd.DataFrame, parts: list[str], A: np.ndarray) -> tuple[np.ndarray, float, float]:
    """Return coefficients, how far scores are trusted, and with how many points half as far."""
    target = (cells["ari"] - cells.groupby(["set", "kind"])["ari"].transform("mean")).to_numpy()
    names = cells["set"].map(base).to_numpy()
    left = np.zeros(len(cells))
    for name in np.unique(names):
        test = names == name
        left[test] = A[test] @ ridge(A[~test], target[~test], RIDGE)
    best, score = (np.inf, 0.0, 0.0), shown(cells)
    for half in HALVES:
        weight = cells["held_out"].to_numpy() / (cells["held_out"].to_numpy() + half)
        missing, said = target - (1.0 - weight) * left, weight * score
        trust = float(said @ missing / max(said @ said, 1e-12))
        best = min(best, (float(np.square(missing - trust * said).sum()), trust, half))
    return ridge(A, target, RIDGE), best[1], best[2]


def base(name: str) -> str:
    """Return the name of a set, whatever its size and form: all of one kind are left out together."""
    return name.split(" ", 1)[1].split(",")[0]


def believed_without(cells: pd.DataFrame, parts: list[str], A: np.ndarray) -> pd.DataFrame:
    """Return the cells with what is expected and believed, learned from all other sets."""
    names = cells["set"].map(base).to_numpy()
    expected, belief = np.zeros(len(cells)), np.zeros(len(cells))
    held_out = cells["held_out"].to_numpy()
    for name in np.unique(names):
        test = names == name
        c, trust, half = learn(cells[~test], parts, A[~test])
        expected[test] = A[test] @ c
        weight = held_out[test] / (held_out[test] + half)
        belief[test] = (1.0 - weight) * expected[test] + weight * trust * shown(cells)[test]
    return cells.assign(expected=expected, believed=belief)


def main() -> None:
    """Learn and write."""
    warnings.simplefilter("ignore")
    cells = pd.read_csv(STORED)
    cells = cells[cells["candidate"].map(is_candidate)]
    gains, trusts = {}, {}
    for kind, are_labels in (("labels", True), ("pairs", False)):
        some = cells[cells["are_labels"] == are_labels].reset_index(drop=True)
        parts = columns(some)
        A = design(some, parts)
        c, trust, half = learn(some, parts, A)
        gains[kind] = {
            part: tuple(np.round(block, 3).tolist())
            for part, block in zip(parts, np.split(c, len(parts)), strict=True)
        }
        trusts[kind] = (round(trust, 3), half)
        show(kind, believed_without(some, parts, A))
    for kind, other in (("labels", "pairs"), ("pairs", "labels")):
        # A part that was tried with one kind alone counts for both.
        gains[kind] |= {part: gain for part, gain in gains[other].items() if part not in gains[kind]}
    write(gains, trusts, {kind: learn_accuracy(kind == "labels") for kind in gains})
    rewrite(PAGES[0], makers())


def makers() -> Makers:
    """Return what makes the table of the page."""
    return {"methods": methods}


def methods() -> str:
    """Return by how much methods are better than the cut, on features as they are and in a learned metric."""
    cells = pd.read_csv(STORED)
    named = cells["candidate"].map(read)
    cells = cells.assign(method=named.str[0], form=named.str[1], metric=named.str[2], learned=named.str[3])
    cells = cells[
        cells["candidate"].map(is_candidate)
        & ~cells["learned"]
        & cells["form"].isin(["raw", "scaled", "columns"])
    ]
    keys = ["set", "kind", "form"]
    plain = cells[(cells["method"] == "NormalizedCut") & ~cells["metric"]].set_index(keys)["ari"]
    cells = cells.assign(
        gain=cells["ari"].to_numpy() - plain.reindex(pd.MultiIndex.from_frame(cells[keys])).to_numpy()
    )
    means = cells.groupby(["method", "are_labels", "metric"])["gain"].mean().unstack([1, 2])
    means = means[[(True, False), (True, True), (False, False), (False, True)]].drop("NormalizedCut")
    shown = means.sort_values((True, False), ascending=False).map(
        lambda gain: "" if np.isnan(gain) else f"{gain:+.3f}"
    )
    lines = ["| | labels | labels, learned metric | pairs | pairs, learned metric |", "|---|---|---|---|---|"]
    lines += [
        f"| `{name}` | {' | '.join(row)} |" for name, row in zip(shown.index, shown.to_numpy(), strict=True)
    ]
    return "\n".join([*lines, "", f"Measured on {stored.when(cells)}."])


def show(kind: str, cells: pd.DataFrame) -> None:
    """Print how well candidates are chosen on sets that were left out."""
    by = cells.groupby(["set", "kind"])
    print(f"{kind}: {by.ngroups} cells; best in hindsight {by['ari'].max().mean():.3f}")
    print(
        "  best single",
        cells.groupby("candidate")["ari"]
        .agg(["mean", "size"])
        .query("size > size.max() * .8")["mean"]
        .nlargest(4)
        .round(3)
        .to_dict(),
    )
    for n_tried in (1, 2, 3, 4, 5, 6, 8, 12, 99):
        some = cells[by["expected"].rank(ascending=False, method="first") <= n_tried]
        best = some.loc[some.groupby(["set", "kind"])["believed"].idxmax()]
        print(f"  of {n_tried} tried, the best believed: {best['ari'].mean():.3f}")


def learn_accuracy(are_labels: bool) -> tuple[float, ...]:
    """Return what is expected of methods that agree and are sure, and for how many held-out points it counts.

    By least squares over all cells, for each number of points; the number with the least error is taken, on
    sets that were left out.
    """
    rows = pd.read_csv(choose_accuracy.STORED).query("are_labels == @are_labels")
    facts = np.column_stack([np.ones(len(rows)), rows["agreement"] ** 2, rows["sure"]])
    names, accuracy, seen = (
        rows["set"].map(base).to_numpy(),
        rows["accuracy"].to_numpy(),
        rows["seen"].to_numpy(),
    )
    found: dict[float, tuple[float, np.ndarray]] = {}
    for more in HALVES:
        shown = seen * rows["right"].to_numpy() / (rows["held_out"].to_numpy() + more)
        weight = seen * more / (rows["held_out"].to_numpy() + more)
        A, target, expected = facts * weight[:, None], accuracy - shown, np.zeros(len(rows))
        for name in np.unique(names):
            test = names == name
            weights = np.linalg.lstsq(A[~test], target[~test], rcond=None)[0]
            expected[test] = (shown + weight * np.clip(facts @ weights, 0.02, 0.995))[test]
        found[more] = np.abs(expected - accuracy).mean(), np.linalg.lstsq(A, target, rcond=None)[0]
    print(f"  accuracy, {len(rows)} cells: errors", {m: round(error, 3) for m, (error, _) in found.items()})
    more = min(found, key=lambda each: found[each][0])
    return more, *np.round(found[more][1], 3).tolist()


def write(gains: dict[str, Any], trusts: dict[str, Any], accuracy: dict[str, Any]) -> None:
    """Write the numbers as a module."""
    lines = [
        '"""What experiments say of methods and graphs; written by benchmarks.choices.choose_learn."""',
        "",
        "#: The gain of each part of a candidate: for a constant, then for each of the facts it depends on.",
        f"GAINS: dict[str, dict[str, tuple[float, ...]]] = {gains!r}",
        "#: How far a score on held-out constraints is trusted, and with how many points half as far.",
        f"TRUST: dict[str, tuple[float, float]] = {trusts!r}",
        "#: What share of points is right: for how many held-out points it counts, then for a constant,",
        "#: for the square of the agreement of the methods that vote, and for how sure they are.",
        f"ACCURACY: dict[str, tuple[float, ...]] = {accuracy!r}",
        "",
    ]
    LEARNED.write_text("\n".join(lines))


if __name__ == "__main__":
    main()
