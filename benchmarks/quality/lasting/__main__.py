"""Measure it: python -m benchmarks.quality.lasting --data FOLDER [--sets a,b] [--methods A,B] [--store].

Without --data it writes the tables of the page from the stored rows.
"""

from __future__ import annotations

import argparse
import random
import time
import warnings
from pathlib import Path
from typing import Any

import igraph
import numpy as np
import pandas as pd
import scipy.sparse as sp
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.cluster import contingency_matrix

from benchmarks.page_tables import rewrite
from benchmarks.quality.lasting.scenarios import SCENARIOS, Scenario
from benchmarks.quality.lasting.table import PAGES, makers
from benchmarks.stored import RESULTS, merge
from sidecut import CSP, AutoCut, Constraints, NormalizedCut, PoissonMBO
from sidecut.checks import IntArray
from sidecut.datasets import load
from sidecut.graphs import Neighbors

SETS = ("iris", "wine", "glass", "wdbc", "segment", "digits", "pendigits", "usps", "mnist")
METHODS = {"PoissonMBO": PoissonMBO, "NormalizedCut": NormalizedCut, "CSP": CSP, "AutoCut": AutoCut}
PIXELS = ("digits", "usps", "mnist")
#: Points of a set that take part.
AT_MOST = 5_000
LABELS_PER_CLASS = 10
KEYS = ["set", "scenario", "method", "way", "draw"]


def main() -> None:
    """Run all sets and scenarios, and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data")
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--methods", default="PoissonMBO")
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--store", action="store_true")
    options = parser.parse_args()
    if options.data is None:
        rewrite(PAGES[0], makers())
        return
    for name in options.sets.split(","):
        X, y = read(name, options.data)
        rows = [
            {"method": method, **row}
            for method in options.methods.split(",")
            for draw in range(options.draws)
            for row in measure(method, name, X, y, draw)
        ]
        # Leiden is measured once, whichever methods are.
        rows = [row | {"method": "Leiden"} if row["way"] == "Leiden" else row for row in rows]
        print(summary(pd.DataFrame(rows)).to_string(), flush=True)
        if options.store:
            merge(rows, RESULTS / "quality" / "lasting.csv", KEYS)


def read(name: str, folder: str | None) -> tuple[Any, IntArray]:
    """Return points and classes; features that are no pixels are scaled."""
    if name.startswith("table_"):
        # For setting constants only.
        tables = np.load(Path(str(folder)) / "tables.npz", allow_pickle=False)
        X, y = tables[f"{name}_X"], np.unique(tables[f"{name}_y"], return_inverse=True)[1]
        return (X - X.mean(axis=0)) / np.where(X.std(axis=0) > 0, X.std(axis=0), 1.0), y
    data = load(name, folder).scaled("none" if name in PIXELS else "standard")
    return np.asarray(data.X, dtype=np.float64), data.y


def measure(method: str, name: str, X: Any, y: IntArray, draw: int) -> list[dict]:
    """Return a row for each scenario and way."""
    some = np.random.default_rng(draw).permutation(len(X))[:AT_MOST]
    rows = []
    with warnings.catch_warnings(action="ignore"):
        for scenario, make in SCENARIOS.items():
            made = make(X[some], y[some], np.random.default_rng(draw))
            for way, found in run(method, made, draw).items():
                rows.append({"set": name, "scenario": scenario, "way": way, "draw": draw, **found})
        for kind in WRONG:
            found = wrong(method, kind, X[some], y[some], draw)
            rows.append({"set": name, "scenario": kind, "way": "update", "draw": draw, **found})
    return rows


def known_of(y: IntArray, rng: np.random.Generator) -> IntArray:
    """Return labels of ten points of each class, -1 for the others."""
    labels = np.full(len(y), -1)
    for c in np.unique(y):
        chosen = rng.permutation(np.flatnonzero(y == c))[:LABELS_PER_CLASS]
        labels[chosen] = c
    return labels


def fitted(method: str, X: Any, labels: IntArray, n_clusters: int, seed: int) -> Any:
    """Return a fit with the labels, if the method takes any."""
    knows = {} if method == "NormalizedCut" else {"constraints": Constraints.from_labels(labels)}
    return METHODS[method](n_clusters, random_state=seed).fit(X, **knows)


def run(method: str, made: Scenario, draw: int) -> dict[str, dict]:
    """Return what an update, a fit from scratch with the same knowledge and Leiden make of a scenario."""
    labels = known_of(made.y_old, np.random.default_rng(draw))
    k = len(np.unique(made.y_old))
    model = fitted(method, made.old, labels, k, 0)
    before = model.labels_.copy()
    start = time.process_time()
    model.update(made.new)
    found = {"update": judge(made, before, model.labels_, time.process_time() - start)}
    everyone = np.concatenate([made.old, made.new])
    start = time.process_time()
    again = fitted(method, everyone, np.append(labels, np.full(len(made.y_new), -1)), k, 1)
    found["fit from scratch"] = judge(made, before, again.labels_, time.process_time() - start)
    if method == "PoissonMBO":
        start = time.process_time()
        after = leiden(everyone, draw + 1)
        found["Leiden"] = judge(made, leiden(made.old, draw), after, time.process_time() - start)
    return found


def leiden(X: Any, seed: int) -> IntArray:
    """Return the communities that igraph's Leiden method finds by modularity in the graph of the points."""
    random.seed(seed)
    edges = sp.triu(Neighbors().build(X).matrix, k=1).tocoo()
    graph = igraph.Graph(len(X), list(zip(edges.row.tolist(), edges.col.tolist(), strict=True)))
    found = graph.community_leiden("modularity", weights=edges.data.tolist(), n_iterations=-1)
    return np.array(found.membership)


def judge(made: Scenario, before: IntArray, after: IntArray, seconds: float) -> dict[str, float]:
    """Return the share of old points that kept their cluster, the agreement with the truth, and the rest."""
    n_old = len(made.y_old)
    unchanged = np.ones(n_old, dtype=bool)
    if made.replaced is not None:
        unchanged[made.replaced] = False
    found = {
        "kept": kept(before[unchanged], after[:n_old][unchanged]),
        "ari": adjusted_rand_score(made.y, after),
        "n_new_clusters": len(np.setdiff1d(after, before)),
        "seconds": seconds,
    }
    if made.new_class is not None:
        found["found"] = float(is_found(made.y == made.new_class, after))
    return found


def kept(before: IntArray, after: IntArray) -> float:
    """Return the share of points that keep their cluster, clusters matched as well as they can be."""
    table = contingency_matrix(before, after)
    return float(table[linear_sum_assignment(-table)].sum() / len(before))


def is_found(theirs: IntArray, labels: IntArray) -> bool:
    """Whether most points of the new class are in one cluster, most of which they are."""
    cluster = np.bincount(labels[theirs]).argmax()
    inside = labels == cluster
    return bool(2 * (inside & theirs).sum() > theirs.sum() and 2 * (inside & theirs).sum() > inside.sum())


#: What a person says wrongly when 5 % new points come.
WRONG = ("a wrong must-link", "a wrong cannot-link", "ten wrong labels", "a wrong move")


def wrong(method: str, kind: str, X: Any, y: IntArray, draw: int) -> dict[str, float]:
    """Return how much of what was not mentioned a wrong statement changes."""
    rng = np.random.default_rng(draw)
    made = SCENARIOS["5 % new"](X, y, rng)
    n_old, n = len(made.y_old), len(made.y)
    labels = known_of(made.y_old, np.random.default_rng(draw))
    model = fitted(method, made.old, labels, len(np.unique(y)), 0)
    before, said = model.labels_.copy(), Constraints.none(n)
    free = np.flatnonzero(labels < 0)
    first = int(rng.choice(free))
    is_same = made.y_old[free] == made.y_old[first]
    if kind == "a wrong move":
        home = np.bincount(before[free[is_same]]).argmax()
        named = free[is_same & (before[free] == home)][:5]
        model.apply(model.corrections().move(named, to=int(rng.choice(before[before != home]))))
    elif kind == "ten wrong labels":
        named = np.arange(n_old, min(n_old + 10, n))
        classes = np.full(n, -1)
        classes[named] = (made.y[named] + 1) % (made.y.max() + 1)
        known = Constraints.none(n) if method == "NormalizedCut" else Constraints.from_labels(classes)
        said = known
    else:
        same = kind == "a wrong cannot-link"
        named = np.array([first, rng.choice(free[(is_same == same) & (free != first)])])
        pair = [tuple(named.tolist())]
        said = Constraints.from_pairs(n, cannot_link=pair) if same else Constraints.from_pairs(n, pair)
    model.update(made.new, constraints=said)
    found = judge(made, before, model.labels_, 0.0)
    others = np.setdiff1d(np.arange(n_old), named)
    return found | {"kept": kept(before[others], model.labels_[others])}


def summary(rows: pd.DataFrame) -> pd.DataFrame:
    """Return means over draws and sets."""
    columns = [c for c in ("kept", "ari", "n_new_clusters", "found", "seconds") if c in rows]
    return rows.groupby(["method", "scenario", "way"], sort=False)[columns].mean().round(4)


if __name__ == "__main__":
    main()
