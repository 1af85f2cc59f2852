"""Every method on every graph of every development set: what AutoCut may expect of them.

    python -m benchmarks.choices.choose_experiments --data FOLDER --answers FOLDER [--minutes 25]

A cell is a set with some labels or pairs. Each candidate, a method on a graph, gets all of them, then two
thirds of them three times. Its labels are kept in a file per cell in the folder of answers, so that votes
and measures can be tried later; a run that was stopped goes on where it was.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import StandardScaler

import sidecut
from benchmarks.choices.choice_sets import load_sets
from sidecut import Constraints
from sidecut.constraints import ConstraintFolds, sample_labels, sample_pairs
from sidecut.graphs import Neighbors, SparseGraph
from sidecut.methods.task import Task
from sidecut.selection.features import MustLinkMetric, NumericColumns, ScaledColumns, find_categories
from sidecut.selection.views import make_classifier, weigh

#: Methods that AutoCut does not try: with them, what it chose was no better on sets that were left out.
NOT_TAKEN = ("Layers", "CCSR")
METHODS = {
    "raw": ("NormalizedCut", "E2CP", "CSAP", "NCSC", "CSP", "PoissonMBO", *NOT_TAKEN),
    "scaled": ("NormalizedCut", "E2CP", "CSAP", "NCSC", "CSP", "PoissonMBO", *NOT_TAKEN),
    "columns": ("NormalizedCut", "E2CP", "PoissonMBO", *NOT_TAKEN),
    "numeric": ("NormalizedCut", "PoissonMBO"),
    "angles": ("NormalizedCut", "E2CP", "CSAP", "NCSC", "CSP", "PoissonMBO", *NOT_TAKEN),
    "raw metric": ("E2CP", "CSP", "PoissonMBO"),
    "scaled metric": ("E2CP", "CSP", "PoissonMBO"),
    "columns metric": ("E2CP", "PoissonMBO"),
}
#: Methods on graphs that a classifier weighs.
ON_LEARNED = ("PoissonMBO",)
SPREADING = {"spread .99": 0.99}


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
    for name in ("2k labels", "n/5 pairs") if large else kinds:
        yield name, kinds[name]()


def per_class(y: np.ndarray, count: int) -> Constraints:
    """Return labels, the same number of every class."""
    order = np.random.default_rng(count).permutation(len(y))
    rows = np.concatenate([order[y[order] == c][:count] for c in np.unique(y)])
    labels = np.full(len(y), -1)
    labels[rows] = y[rows]
    return Constraints.from_labels(labels)


def spread_labels(graph: Any, labels: np.ndarray, alpha: float) -> np.ndarray:
    """Return the classes that labels spread to (Zhou et al., 2004)."""
    known = np.flatnonzero(labels >= 0)
    seeds = np.zeros((len(labels), labels.max() + 1))
    seeds[known, labels[known]] = 1.0
    matrix = graph.tosparse()
    degrees = np.maximum(np.asarray(matrix.sum(axis=1)).ravel(), 1e-300)
    half = sp.diags_array(1.0 / np.sqrt(degrees))
    S = (half @ matrix @ half).tocsr()
    F = seeds.copy()
    for _ in range(60 if alpha < 0.9 else 300):
        F = alpha * (S @ F) + (1 - alpha) * seeds
    return F.argmax(axis=1)


class Bench:
    """One set: its graphs, and its candidates."""

    def __init__(self, X: Any, y: np.ndarray) -> None:
        self.X, self.y, self.k, n = X, y, int(y.max()) + 1, len(y)
        self.neighbors = Neighbors(min(20, n - 1))
        self.forms: dict[str, Any] = {"raw": X}
        if sp.issparse(X):
            self.angles = self.neighbors.set_params(weights="self_tuning")
        else:
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
        self.plain: dict[str, np.ndarray] = {}

    def answers(self, known: Constraints) -> Iterator[tuple[str, np.ndarray | None]]:
        """Yield the labels of every candidate."""
        graphs = self.graphs | self.metrics(known)
        for view, graph in graphs.items():
            for method in METHODS[view]:
                if method == "NormalizedCut" and "metric" not in view:
                    if view not in self.plain:
                        self.plain[view] = self.solve(method, graph, Constraints.none(len(self.y)))
                    yield f"{method}, {view}", self.plain[view]
                else:
                    yield f"{method}, {view}", self.solve(method, graph, known)
            if known.labels is not None:
                for name, alpha in SPREADING.items():
                    yield f"{name}, {view}", spread_labels(graph, np.asarray(known.labels), alpha)
        if known.labels is not None and len(np.unique(known.labels)) > 2:
            yield from self.learned(known, graphs)

    def metrics(self, known: Constraints) -> dict[str, Any]:
        """Return the graphs in metrics learned from must-links."""
        forms = (
            []
            if sp.issparse(self.X)
            else [form for form in ("raw", "scaled", "columns") if form in self.forms]
        )
        learned = {form: MustLinkMetric(known).fit_transform(self.forms[form]) for form in forms}
        return {f"{form} metric": self.neighbors.build(X) for form, X in learned.items()}

    def learned(self, known: Constraints, graphs: dict[str, Any]) -> Iterator[tuple[str, np.ndarray | None]]:
        """Yield the answers of the classifier, and of methods on graphs that it weighs."""
        labels = np.asarray(known.labels)
        rows = np.flatnonzero(labels >= 0)
        voting = make_classifier(self.X, 0).fit(self.X[rows], labels[rows])
        found = voting.predict_proba(self.X)
        yield "classifier, raw", voting.classes_[found.argmax(axis=1)]
        chances = found
        chances[rows] = labels[rows, None] == voting.classes_
        for view, graph in graphs.items():
            if view == "numeric":
                continue
            weighed = SparseGraph(weigh(graph.tosparse(), chances, chances))
            for method in ON_LEARNED:
                yield f"{method}, {view} learned", self.solve(method, weighed, known)

    def solve(self, method: str, graph: Any, known: Constraints) -> np.ndarray | None:
        """Return labels, or None where a method fails."""
        model = getattr(sidecut, method)(self.k, affinity="precomputed", random_state=0)
        return self.run(model, Task(None, graph, known, self.k, 0))

    @staticmethod
    def run(model: Any, task: Task) -> np.ndarray | None:
        """Return labels, or None where a method fails."""
        try:
            return model._finish(task, model._solve(task)).labels
        except Exception:
            return None


def measure(bench: Bench, known: Constraints, n_folds: int) -> dict[str, np.ndarray]:
    """Return the labels of all candidates, given all and given the folds, and their seconds."""
    folds = (
        list(ConstraintFolds(3, random_state=0).split(known))[:n_folds]
        if known.n_independent_pairs >= 3
        else []
    )
    found: dict[str, list[np.ndarray]] = {}
    seconds: dict[str, float] = {}
    for number, given in enumerate([known, *(fold.train for fold in folds)]):
        start = time.process_time()
        for name, labels in bench.answers(given):
            if number == 0:
                seconds[name] = time.process_time() - start
            if labels is not None and (number == 0 or name in found):
                found.setdefault(name, []).append(labels.astype(np.uint8))
            start = time.process_time()
    names = [name for name in found if len(found[name]) == 1 + len(folds)]
    return {
        "names": np.array(names),
        "labels": np.array([found[name] for name in names]),
        "seconds": np.array([seconds[name] for name in names]),
    }


def main() -> None:
    """Run what is missing."""
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--answers", type=Path, required=True)
    parser.add_argument("--minutes", type=float, default=25.0)
    options = parser.parse_args()
    options.answers.mkdir(exist_ok=True)
    end = time.monotonic() + 60 * options.minutes
    work = []
    for size, most in (("small", 400), ("large", 1_600)):
        for name, X, y in load_sets(options.data, most):
            if size == "small" or len(y) > 1_500:
                work.append((f"{size} {name}", X, y, size == "large"))
    benches: dict[str, Bench] = {}
    cells = [
        (name, X, y, large, kind, known) for name, X, y, large in work for kind, known in knowledge(y, large)
    ]
    for place in np.random.default_rng(0).permutation(len(cells)):
        name, X, y, large, kind, known = cells[place]
        path = options.answers / f"{name}--{kind.replace('/', '_')}.npz"
        if path.exists():
            continue
        if time.monotonic() > end:
            break
        if name not in benches:
            benches[name] = Bench(X, y)
        start = time.process_time()
        np.savez_compressed(path, **measure(benches[name], known, 1 if large else 2))
        print(path.stem, round(time.process_time() - start, 1), flush=True)


if __name__ == "__main__":
    main()
