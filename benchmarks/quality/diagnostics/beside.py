"""Wrong labels beside cleanlab: `python -m benchmarks.quality.diagnostics.beside --data FOLDER`.

The same labels, one in ten of them wrong, on the sets of `benchmarks.quality.diagnostics`. cleanlab judges by
the chances of a classifier that was trained on the other labels, in five folds: a logistic regression, a
random forest and nearest neighbours, each with its three scores. The best of the nine on each set and kind is
taken in hindsight. `--table` writes the table of docs/lab/diagnostics.md.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.neighbors import KNeighborsClassifier

from benchmarks import stored
from benchmarks.page_tables import DOCS, Makers, rewrite
from benchmarks.quality.diagnostics import table as tables
from benchmarks.quality.diagnostics.__main__ import stored as stored_rows
from benchmarks.quality.diagnostics.sets import BUNDLED, OTHERS, load_set
from benchmarks.quality.diagnostics.wrong import Case, area, flip_labels
from benchmarks.quality.peers import environments
from benchmarks.quality.peers.registry import Peer
from sidecut.graphs import Neighbors

STORED = stored.RESULTS / "quality" / "diagnostics_peer.csv"
PAGES = [DOCS / "lab" / "diagnostics.md"]
KEYS = ["set", "kind", "draw", "method"]
KINDS = ("labels of 5 %", "labels of 20 %")
WRONG = 0.1
OURS = "find_suspects"
CLEANLAB = Peer("cleanlab", (), ("cleanlab",))


def classifiers() -> dict[str, Any]:
    """Return the classifiers that give chances to cleanlab."""
    return {
        "logistic regression": LogisticRegression(max_iter=1_000),
        "random forest": RandomForestClassifier(100, random_state=0),
        "neighbours": KNeighborsClassifier(3),
    }


def rows(name: str, folder: Path, n_draws: int, python: Path) -> Iterator[dict[str, Any]]:
    """Yield the area under the curve of every score, draw by draw."""
    X, y = load_set(name, folder)
    graph = Neighbors(20).build(X)
    for draw in range(n_draws):
        for kind in KINDS:
            case = Case(X, graph, y, kind, draw, None)
            told, wrong = flip_labels(case, case.know(), WRONG, np.random.default_rng([draw, 10]))
            suspects = case.judge(told)
            found = {OURS: suspects.scores} | judged(X, told, suspects.points, python)
            is_wrong = np.isin(suspects.points, sorted(wrong))
            for method, scores in found.items():
                yield {
                    "set": name,
                    "kind": kind,
                    "draw": draw,
                    "method": method,
                    "auc": area(is_wrong, scores),
                }


def judged(X: Any, told: Any, points: Any, python: Path) -> dict[str, Any]:
    """Return how wrong cleanlab finds the labels of some points, by classifier and score."""
    labels = np.unique(told.labels[points], return_inverse=True)[1]
    folds = StratifiedKFold(int(min(5, max(2, np.bincount(labels).min()))), shuffle=True, random_state=0)
    chances = {
        name: cross_val_predict(model, X[points], labels, cv=folds, method="predict_proba")
        for name, model in classifiers().items()
    }
    with tempfile.TemporaryDirectory() as folder:
        given, found = Path(folder, "given.npz"), Path(folder, "found.npz")
        np.savez(given, labels=labels, **chances)
        script = Path(environments.__file__).parent / "runners" / "cleanlab.py"
        subprocess.run([python, "-P", script, given, found], check=True)
        with np.load(found) as file:
            return {f"cleanlab, {name}": -scores for name, scores in dict(file).items()}


def makers() -> Makers:
    """Return what makes the table of the page."""
    return {"cleanlab": table, **tables.makers(stored_rows())}


def table() -> str:
    """Return ours, cleanlab as most people would use it, and the best of its nine scores in hindsight."""
    cells = pd.read_csv(STORED)
    usual = "cleanlab, logistic regression, self_confidence"
    lines = [
        f"| AUC, 10 % wrong | labels | `{OURS}` | cleanlab, logistic regression | cleanlab, the best of nine "
        "in hindsight | draws | measured |",
        "|---|---|---|---|---|---|---|",
    ]
    groups = {"the first four": list(BUNDLED), "the other eight": list(OTHERS)}
    for kind in KINDS:
        for shown, names in groups.items():
            part = cells[(cells["kind"] == kind) & cells["set"].isin(names)]
            means = part.groupby(["set", "method"])["auc"].mean().unstack()
            best = means.drop(columns=OURS).max(axis=1).mean()
            lines.append(
                f"| {shown} | {kind} | {means[OURS].mean():.3f} | {means[usual].mean():.3f} | {best:.3f} | "
                f"{part['draw'].nunique()} | {stored.measured(part)} |"
            )
    return "\n".join(lines)


def main() -> None:
    """Measure, or write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path())
    parser.add_argument("--cache", type=Path, default=Path(".peers"))
    parser.add_argument("--sets", nargs="+", default=[*BUNDLED, *OTHERS])
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--table", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if not options.table:
        python = environments.python_of(CLEANLAB, options.cache).absolute()
        for name in options.sets:
            stored.merge(list(rows(name, options.data, options.draws, python)), STORED, KEYS)
            print(name, flush=True)
    rewrite(PAGES[0], makers())


if __name__ == "__main__":
    main()
