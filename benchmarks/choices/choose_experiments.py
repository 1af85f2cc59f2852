"""Every method on every graph of every development set: what AutoCut may expect of them.

    python -m benchmarks.choices.choose_experiments --data FOLDER [--methods PoissonLearning] [--minutes 10]

A cell is a set with some labels or pairs. Each candidate, a method on a graph, gets all of them, then two
thirds of them twice. A row holds its adjusted Rand index, and its score on what was held out. Rows that are
stored are not measured again, so a run that was stopped goes on where it was.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from functools import reduce
from operator import add
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

import sidecut
from benchmarks import stored
from benchmarks.choices.choice_sets import load_sets
from benchmarks.label_spreading import spread
from sidecut import Constraints
from sidecut.constraints import ConstraintFolds, sample_labels, sample_pairs
from sidecut.graphs import Neighbors, SparseGraph
from sidecut.methods.task import Task
from sidecut.selection.autocut import N_FOLDS
from sidecut.selection.expectation import read_facts
from sidecut.selection.views import (
    MustLinkMetric,
    NumericColumns,
    ScaledColumns,
    can_train,
    find_categories,
    make_classifier,
    weigh,
)

STORED = stored.RESULTS / "choices" / "choose_experiments.csv"
KEYS = ["set", "kind", "candidate"]
#: Methods that AutoCut does not try: with them, what it chose was no better on sets that were left out.
NOT_TAKEN = ("Layers", "CCSR", "LabelSpreading")
ALL = ("NormalizedCut", "E2CP", "CSAP", "NCSC", "CSP", "PoissonMBO", "PoissonLearning", *NOT_TAKEN)
METHODS = {
    "raw": ALL,
    "scaled": ALL,
    "columns": ("NormalizedCut", "E2CP", "PoissonMBO", "PoissonLearning", *NOT_TAKEN),
    "numeric": ("NormalizedCut", "PoissonMBO"),
    "angles": ALL,
    "raw metric": ("E2CP", "CSP", "PoissonMBO", "PoissonLearning"),
    "scaled metric": ("E2CP", "CSP", "PoissonMBO", "PoissonLearning"),
    "columns metric": ("E2CP", "PoissonMBO", "PoissonLearning"),
}
#: Methods on graphs that a classifier weighs.
ON_LEARNED = ("PoissonMBO",)
#: Methods that run where every cluster has a label.
BY_LABELS = ("PoissonLearning", "LabelSpreading")
#: How many points a set has: small, and large for those with more than this.
SMALL, LARGE, LARGE_FROM = 400, 1_600, 1_500


def knowledge(y: np.ndarray, large: bool) -> Iterator[tuple[str, Constraints]]:
    """Yield what is known."""
    n, k = len(y), int(y.max()) + 1
    kinds = {
        "1 per class": lambda: per_class(y, 1),
        "2k labels": lambda: sample_labels(y, 2 * k, random_state=0),
        "5 per class": lambda: per_class(y, 5),
        "5 %": lambda: sample_labels(y, max(n // 20, 3), random_state=1),
        "20 %": lambda: sample_labels(y, n // 5, random_state=0),
        "n/20 pairs": lambda: sample_pairs(y, max(n // 20, 3), random_state=0),
        "n/5 pairs": lambda: sample_pairs(y, n // 5, random_state=0),
        "n pairs": lambda: sample_pairs(y, n, random_state=0),
    }
    for name in ("1 per class", "2k labels", "5 per class", "n/5 pairs") if large else kinds:
        yield name, kinds[name]()


def per_class(y: np.ndarray, count: int) -> Constraints:
    """Return labels, the same number of every class."""
    order = np.random.default_rng(count).permutation(len(y))
    rows = np.concatenate([order[y[order] == c][:count] for c in np.unique(y)])
    labels = np.full(len(y), -1)
    labels[rows] = y[rows]
    return Constraints.from_labels(labels)


class Bench:
    """One set: its graphs, and its candidates."""

    def __init__(self, X: Any, y: np.ndarray) -> None:
        self.X, self.y, self.k, n = X, y, int(y.max()) + 1, len(y)
        self.neighbors = Neighbors(min(20, n - 1))
        self.forms: dict[str, Any] = {"raw": X}
        if not sp.issparse(X):
            if np.ptp(X.std(axis=0)) > 0.01:
                self.forms["scaled"] = StandardScaler().fit_transform(X)
            encoded = find_categories(X)
            if encoded:
                self.forms["columns"] = ScaledColumns().fit_transform(X)
                if sum(map(len, encoded)) < X.shape[1]:
                    self.forms["numeric"] = NumericColumns().fit_transform(X)
        self.graphs = {name: self.neighbors.build(form) for name, form in self.forms.items()}
        if sp.issparse(X):
            self.graphs["angles"] = Neighbors(min(20, n - 1), weights="cosine").build(X)

    def candidates(self, known: Constraints) -> Iterator[tuple[str, Callable[[Constraints], np.ndarray]]]:
        """Yield every candidate: its name, and what returns its labels, given all that is known or some."""
        for view, methods in METHODS.items():
            if view.split(" ")[0] not in self.graphs or (sp.issparse(self.X) and "metric" in view):
                continue
            for method in methods:
                if can_train(known, self.k) or method not in BY_LABELS:
                    yield (
                        f"{method}, {view}",
                        lambda given, m=method, v=view: self.solve(m, self.graph(v, given), given),
                    )
            for method in ON_LEARNED if known.labels is not None and view != "numeric" else ():
                yield (
                    f"{method}, {view} learned",
                    lambda given, m=method, v=view: self.solve(m, self.weighed(v, given), given),
                )
        if known.labels is not None:
            yield "classifier, raw", lambda given: self.chances(given).argmax(axis=1)

    def graph(self, view: str, given: Constraints) -> Any:
        """Return a graph, in a metric learned from must-links where the view says so."""
        if "metric" not in view:
            return self.graphs[view]
        return self.neighbors.build(MustLinkMetric(given).fit_transform(self.forms[view.split(" ")[0]]))

    def chances(self, given: Constraints) -> np.ndarray:
        """Return the chances of the classes that a classifier gives; those of labelled points are certain."""
        labels = np.asarray(given.labels)
        rows = np.flatnonzero(labels >= 0)
        classifier = make_classifier(self.X, 0).fit(self.X[rows], labels[rows])
        chances = np.zeros((len(labels), self.k))
        chances[:, classifier.classes_] = classifier.predict_proba(self.X)
        chances[rows] = labels[rows, None] == np.arange(self.k)
        return chances

    def weighed(self, view: str, given: Constraints) -> SparseGraph:
        """Return a graph whose edges are weighed by a classifier."""
        chances = self.chances(given)
        return SparseGraph(weigh(self.graph(view, given).tosparse(), chances, chances))

    def solve(self, method: str, graph: Any, given: Constraints) -> np.ndarray:
        """Return the labels of a method on a graph."""
        if method == "LabelSpreading":
            return spread(sp.csr_matrix(graph.tosparse()), np.asarray(given.labels), 300, 0.9)
        model = getattr(sidecut, method)(self.k, affinity="precomputed", random_state=0)
        if method == "NormalizedCut":
            given = Constraints.none(len(self.y))
        task = Task(None, graph, given, self.k, 0)
        return model._finish(task, model._solve(task)).labels


def measure(bench: Bench, known: Constraints, wanted: Callable[[str], bool]) -> Iterator[dict[str, Any]]:
    """Yield a row for each candidate that is wanted and does not fail."""
    y, free = bench.y, np.setdiff1d(np.arange(len(bench.y)), known.constrained_points)
    has_folds = known.n_independent_pairs >= 3
    folds = list(ConstraintFolds(3, random_state=0).split(known))[:N_FOLDS] if has_folds else []
    for name, answer in bench.candidates(known):
        if not wanted(name):
            continue
        try:
            found = answer(known)
            counts = [fold.count(answer(fold.train)) for fold in folds]
        except Exception:
            continue
        yield {
            # Words as they are have a form of their own: their lengths differ, not their units.
            "candidate": name.replace("raw", "words") if sp.issparse(bench.X) else name,
            "ari": round(adjusted_rand_score(y[free], found[free]), 4),
            "score": round(reduce(add, counts).balanced_accuracy, 4) if counts else np.nan,
            "held_out": sum(len(fold.held_out) for fold in folds),
        }


def load_cells(folder: Path) -> Iterator[tuple[str, str, Any, np.ndarray, Constraints]]:
    """Yield every cell: the set, the kind of what is known, points, classes and what is known."""
    for size, most in (("small", SMALL), ("large", LARGE)):
        for name, X, y in load_sets(folder, most):
            if size == "small" or len(y) > LARGE_FROM:
                called = f"small {name}" if size == "small" else f"large {name}, {most}"
                for kind, known in knowledge(y, size == "large"):
                    yield called, kind, X, y, known


def main() -> None:
    """Run what is missing."""
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--methods", nargs="+", help="these alone")
    parser.add_argument("--kinds", nargs="+", help="these kinds of knowledge alone")
    parser.add_argument("--sets", default="", help="sets whose name has this in it")
    parser.add_argument("--views", nargs="+", help="these forms of the features alone")
    parser.add_argument("--stored-cells", action="store_true", help="cells alone of which rows are stored")
    parser.add_argument("--minutes", type=float, default=10.0)
    options = parser.parse_args()
    end = time.monotonic() + 60 * options.minutes
    table = pd.read_csv(STORED)
    done = set(zip(table["set"], table["kind"], table["candidate"], strict=True))
    cells = list(load_cells(options.data))
    benches: dict[str, Bench] = {}
    rows: list[dict[str, Any]] = []

    def is_wanted(candidate: str) -> bool:
        method, view = candidate.split(", ")
        own = candidate.replace("raw", "words") if sp.issparse(X) else candidate
        return (
            (not options.methods or method in options.methods)
            and (not options.views or view in options.views)
            and (name, kind, own) not in done
        )

    known_cells = {cell[:2] for cell in done}
    for place in np.random.default_rng(0).permutation(len(cells)):
        name, kind, X, y, known = cells[place]
        if options.sets not in name or (options.kinds and kind not in options.kinds):
            continue
        if options.stored_cells and (name, kind) not in known_cells:
            continue
        if time.monotonic() > end:
            print("time is up")
            break
        if name not in benches:
            benches[name] = Bench(X, y)
        about = {"set": name, "kind": kind, "points": len(y), "classes": int(y.max()) + 1}
        facts = vars(read_facts(X, known, int(y.max()) + 1))
        rows += [{**about, **facts, **row} for row in measure(benches[name], known, is_wanted)]
    if rows:
        stored.merge(rows, STORED, KEYS)
    print(f"{len(rows)} rows")


if __name__ == "__main__":
    main()
