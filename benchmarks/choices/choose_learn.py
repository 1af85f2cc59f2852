"""Learn what AutoCut expects of a method on a graph, and how far it trusts what held-out constraints show.

    python -m benchmarks.choices.choose_learn --data FOLDER --answers FOLDER ...   (tabulates, then learns)
    python -m benchmarks.choices.choose_learn                                      (learns from the table)

A candidate's gain is its adjusted Rand index minus the mean of its cell. A ridge regression on the facts of
`sidecut.selection.expectation` predicts it; a second one weighs what the candidate shows on held-out
constraints. Both are judged on sets they were not learned from: each set is left out in turn. The numbers are
written to src/sidecut/selection/learned.py.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from functools import reduce
from operator import add
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn.metrics import adjusted_rand_score

from benchmarks import stored
from benchmarks.choices.choice_sets import load_sets
from benchmarks.choices.choose_experiments import knowledge
from benchmarks.page_tables import DOCS, Makers, rewrite
from sidecut.constraints import ConstraintFolds
from sidecut.selection import expectation
from sidecut.selection.autocut import METHODS, N_FOLDS, ON_CLASSIFIER, ON_METRIC
from sidecut.selection.expectation import parts_of, read_facts
from sidecut.selection.views import FORMS

PAGES = [DOCS / "which-method.md"]
STORED = stored.RESULTS / "choices" / "choose_experiments.csv"
STORED_ACCURACY = STORED.with_name("choose_accuracy.csv")
LEARNED = Path(expectation.__file__).with_name("learned.py")
#: How much the regressions are drawn towards zero, and the numbers of held-out points that were tried at
#: which a score counts half.
RIDGE, HALVES = 200.0, (3.0, 10.0, 30.0, 100.0)


def load_all(data: Path) -> dict[str, tuple[Any, np.ndarray]]:
    """Return points and classes of all sets, in all sizes that were used."""
    sets = {f"small {name}": (X, y) for name, X, y in load_sets(data, 400)}
    for most in (2_000, 1_600):
        sets |= {f"large {name}, {most}": (X, y) for name, X, y in load_sets(data, most) if len(y) > 1_500}
    return sets


def find_answers(folders: list[Path]) -> dict[tuple[str, str], Path]:
    """Return the file of every cell, by set and kind; the first folder that has a cell counts."""
    found: dict[tuple[str, str], Path] = {}
    for path in (path for folder in folders for path in sorted(folder.glob("*.npz"))):
        name, kind = path.stem.split("--")
        if name.startswith("large"):
            name += f", {2_000 if np.load(path)['labels'].shape[2] > 1_600 else 1_600}"
        found.setdefault((name, kind.replace("_", "/")), path)
    return found


def tabulate(data: Path, folders: list[Path]) -> Iterator[dict[str, Any]]:
    """Yield a row for each candidate of each cell: its index, and its score on held-out constraints."""
    sets = load_all(data)
    for (name, kind), path in find_answers(folders).items():
        if name in sets:
            yield from _rows(name, kind, *sets[name], dict(np.load(path)))


def _rows(
    name: str, kind: str, X: Any, y: np.ndarray, found: dict[str, np.ndarray]
) -> Iterator[dict[str, Any]]:
    known = dict(knowledge(y, False))[kind]
    free = np.setdiff1d(np.arange(len(y)), known.constrained_points)
    labels, k = found["labels"].astype(int), int(y.max()) + 1
    if labels.shape[2] != len(y):
        return
    facts = read_facts(X, known)
    folds = list(ConstraintFolds(3, random_state=0).split(known))[: min(labels.shape[1] - 1, N_FOLDS)]
    for candidate, answers in zip(map(str, found["names"]), labels, strict=True):
        if candidate.startswith(("spread", "PoissonLearning", "Metric", "Constrained", "forest", "linear")):
            continue
        counts = [fold.count(answer) for fold, answer in zip(folds, answers[1:], strict=False)]
        yield {
            "set": name,
            "kind": kind,
            "points": len(y),
            "classes": k,
            **vars(facts),
            # Words as they are have a form of their own: their lengths differ, not their units.
            "candidate": candidate.replace("raw", "words") if sp.issparse(X) else candidate,
            "ari": round(adjusted_rand_score(y[free], answers[0][free]), 4),
            "score": round(reduce(add, counts).balanced_accuracy, 4) if counts else np.nan,
            "held_out": sum(len(fold.held_out) for fold in folds),
        }


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
    return method in (ON_METRIC if uses_metric else METHODS)


def columns(cells: pd.DataFrame) -> list[str]:
    """Return all parts of all candidates."""
    return sorted({part for name in cells["candidate"].unique() for part in parts_of(*read(name))})


def width(part: str) -> int:
    """Return how many numbers a part has: those of forms depend on the units and number of features."""
    return 3 if part.split(" ")[-1] in FORMS else 1


def design(cells: pd.DataFrame, parts: list[str]) -> np.ndarray:
    """Return the matrix of the regression: one or three columns for each part."""
    known = np.column_stack([np.ones(len(cells)), cells["units"], cells["width"]])
    own = {name: set(parts_of(*read(name))) for name in cells["candidate"].unique()}
    has = [cells["candidate"].map(lambda name, part=part: part in own[name]).to_numpy() for part in parts]
    return np.column_stack(
        [known[:, : width(part)] * here[:, None] for part, here in zip(parts, has, strict=True)]
    )


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
    best = (np.inf, 0.0, 0.0)
    for half in HALVES:
        weight = cells["held_out"].to_numpy() / (cells["held_out"].to_numpy() + half) * shown(cells)
        trust = float(weight @ (target - left) / max(weight @ weight, 1e-12))
        error = float(np.square(target - left - trust * weight).sum())
        best = min(best, (error, trust, half))
    return ridge(A, target, RIDGE), best[1], best[2]


def base(name: str) -> str:
    """Return the name of a set, whatever its size and form: all of one kind are left out together."""
    return name.split(" ", 1)[1].split(",")[0]


def believed_without(cells: pd.DataFrame, parts: list[str], A: np.ndarray) -> pd.DataFrame:
    """Return the cells with what is expected and believed, learned from all other sets."""
    names = cells["set"].map(base).to_numpy()
    expected, belief = np.zeros(len(cells)), np.zeros(len(cells))
    weigh = cells["held_out"].to_numpy()
    for name in np.unique(names):
        test = names == name
        c, trust, half = learn(cells[~test], parts, A[~test])
        expected[test] = A[test] @ c
        belief[test] = expected[test] + trust * weigh[test] / (weigh[test] + half) * shown(cells)[test]
    return cells.assign(expected=expected, believed=belief)


def main() -> None:
    """Tabulate where folders of answers are given; learn and write."""
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--answers", type=Path, nargs="+")
    options = parser.parse_args()
    if options.answers:
        stored.merge(list(tabulate(options.data, options.answers)), STORED, ["set", "kind", "candidate"])
    cells = pd.read_csv(STORED)
    cells = (
        cells[cells["candidate"].map(is_candidate)]
        .reset_index(drop=True)
        .assign(width=cells["width"].clip(upper=3))
    )
    gains, trusts = {}, {}
    for kind, are_labels in (("labels", True), ("pairs", False)):
        some = cells[cells["are_labels"] == are_labels].reset_index(drop=True)
        parts = columns(some)
        A = design(some, parts)
        c, trust, half = learn(some, parts, A)
        ends = np.cumsum([width(part) for part in parts])
        gains[kind] = {
            part: tuple(np.round(block, 3).tolist())
            for part, block in zip(parts, np.split(c, ends[:-1]), strict=True)
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
    return "\n".join([*lines, "", f"Measured on {stored.measured(cells)}."])


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
    """Return the numbers of `expect_accuracy`, and print its error on sets that were left out."""
    rows = pd.read_csv(STORED_ACCURACY)
    rows = rows[rows["are_labels"] == are_labels]
    names, target = rows["set"].map(base).to_numpy(), rows["accuracy"].to_numpy()
    best: tuple[float, tuple[float, ...]] = (np.inf, ())
    for trust in HALVES:
        held_out, agreement = rows["held_out"].fillna(0), rows["agreement"]
        checked = (rows["right"].fillna(0) + trust * agreement**2) / (held_out + trust)
        A = np.column_stack([np.ones(len(rows)), checked, agreement])
        errors = [
            A[names == name] @ ridge(A[names != name], target[names != name], 0.05) - target[names == name]
            for name in set(names)
        ]
        error = float(np.abs(np.concatenate(errors)).mean())
        best = min(best, (error, (trust, *ridge(A, target, 0.05).round(3).tolist())))
    print(f"  accuracy: error {best[0]:.3f} on sets that were left out, {best[1]}")
    return best[1]


def write(gains: dict[str, Any], trusts: dict[str, Any], accuracies: dict[str, Any]) -> None:
    """Write the numbers as a module."""
    lines = [
        '"""What experiments say of methods and graphs; written by benchmarks.choices.choose_learn."""',
        "",
        "#: The gain of each part of a candidate: for a constant, then for each of the facts it depends on.",
        f"GAINS: dict[str, dict[str, tuple[float, ...]]] = {gains!r}",
        "#: How far a score on held-out constraints is trusted, and with how many points half as far.",
        f"TRUST: dict[str, tuple[float, float]] = {trusts!r}",
        "#: Of the share of points that are right: how many held-out points the agreement of the voters",
        "#: counts for, a constant, and what the share that was found and the agreement count.",
        f"ACCURACY: dict[str, tuple[float, ...]] = {accuracies!r}",
        "",
    ]
    LEARNED.write_text("\n".join(lines))


if __name__ == "__main__":
    main()
