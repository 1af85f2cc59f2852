"""Layers beside other tools.

    python -m benchmarks.quality.layers nothing --data FOLDER --peers PYTHON [--sets usps] [--methods ...]
    python -m benchmarks.quality.layers each --data FOLDER [--sets usps]
    python -m benchmarks.quality.layers labels --data FOLDER [--sets usps] [--draws 5]
    python -m benchmarks.quality.layers counts [--draws 100]

PYTHON is the interpreter of an environment with evoc, umap-learn and scikit-learn. Sets other than digits
come from FOLDER. Results go to benchmarks/results/quality/layers_*.csv.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.cluster import contingency_matrix

from benchmarks import stored
from benchmarks.label_spreading import spread
from sidecut import Constraints, Layers, PoissonLearning, PoissonMBO
from sidecut.constraints import sample_labels
from sidecut.datasets import load
from sidecut.graphs import Neighbors

FOLDER = stored.RESULTS / "quality"
SETS = ("digits", "usps", "pendigits", "segment", "letter", "mnist")
OURS = ("Layers", "AutoCut")
METHODS = (*OURS, "EVoC", "HDBSCAN", "UMAP + HDBSCAN")
PER_CLASS = (1, 5, 10)
ALPHAS = (0.5, 0.8, 0.9, 0.95, 0.99)


def points_of(name: str, data: Path | None) -> tuple[np.ndarray, np.ndarray]:
    """Return points and classes."""
    if name == "digits":
        return load_digits(return_X_y=True)
    loaded = load(name, folder=data)
    return np.asarray(loaded.X, dtype=float), np.asarray(loaded.y)


def accuracy(truth: np.ndarray, labels: np.ndarray) -> float:
    """Return the share of right points, clusters matched with classes; noise is wrong."""
    counts = contingency_matrix(truth[labels >= 0], labels[labels >= 0])
    return float(counts[linear_sum_assignment(-counts)].sum() / len(truth))


def purity(truth: np.ndarray, labels: np.ndarray) -> float:
    """Return the share of points of the most frequent class of their cluster; noise is wrong."""
    return float(contingency_matrix(truth[labels >= 0], labels[labels >= 0]).max(axis=0).sum() / len(truth))


def with_nothing(options: argparse.Namespace) -> None:
    """Measure all methods without knowledge."""
    for name in options.sets or SETS:
        X, y = points_of(name, options.data)
        for method in options.methods or METHODS:
            for seed in range(options.draws or 3):
                with tempfile.TemporaryDirectory() as folder:
                    points, found = Path(folder, "points.npy"), Path(folder, "labels.npy")
                    np.save(points, X)
                    python = sys.executable if method in OURS else options.peers
                    script = Path(__file__).with_name("fit_once.py")
                    command = [python, script, method, points, found, str(seed)]
                    done = subprocess.run(command, capture_output=True, text=True, check=True)
                    labels = np.load(found)
                row = {
                    "set": name,
                    "method": method,
                    "seed": seed,
                    "clusters": int(labels.max()) + 1,
                    "accuracy": accuracy(y, labels),
                    "ari": adjusted_rand_score(y, labels),
                    "purity": purity(y, labels),
                    "clustered": float(np.mean(labels >= 0)),
                    **json.loads(done.stdout.splitlines()[-1]),
                }
                stored.merge([row], FOLDER / "layers_nothing.csv", ["set", "method", "seed"])
                sys.stderr.write(f"{row}\n")


def each_layer(options: argparse.Namespace) -> None:
    """Measure every layer that is found without knowledge."""
    for name in options.sets or SETS:
        X, y = points_of(name, options.data)
        model = Layers(random_state=0).fit(X)
        rows = [
            {
                "set": name,
                "clusters": int(labels.max()) + 1,
                "persistence": value,
                "accuracy": accuracy(y, labels),
                "ari": adjusted_rand_score(y, labels),
                "purity": purity(y, labels),
            }
            for labels, value in zip(model.layers_, model.persistence_, strict=True)
        ]
        stored.merge(rows, FOLDER / "layers_each.csv", ["set", "clusters"])


def named_accuracy(y: np.ndarray, known: np.ndarray, labels: np.ndarray) -> float:
    """Return the accuracy on points without a label; cluster i is the i-th class that labels meet."""
    met = known[known >= 0]
    classes = met[np.sort(np.unique(met, return_index=True)[1])]
    hidden = known < 0
    return float(np.mean(classes[labels[hidden]] == y[hidden]))


def draw(y: np.ndarray, per_class: int, seed: int) -> np.ndarray:
    """Return the labels that are given away, -1 elsewhere."""
    rng, known = np.random.default_rng(seed), np.full(len(y), -1)
    for one in np.unique(y):
        known[rng.choice(np.flatnonzero(y == one), per_class, replace=False)] = one
    return known


def with_labels(options: argparse.Namespace) -> None:
    """Measure what few labels bring, on one graph for all."""
    for name in options.sets or SETS:
        X, y = points_of(name, options.data)
        graph, k = Neighbors(20).build(X), len(np.unique(y))
        for per_class in PER_CLASS:
            for seed in range(options.draws or 5):
                known = draw(y, per_class, seed)
                constraints, rows = Constraints.from_labels(known), []
                for model in (Layers, PoissonMBO, PoissonLearning):
                    fitted = model(k, affinity="precomputed", random_state=seed)
                    start = time.process_time()
                    labels = fitted.fit(graph, constraints=constraints).labels_
                    seconds = time.process_time() - start
                    score = named_accuracy(y, known, labels)
                    rows.append({"method": model.__name__, "accuracy": score, "cpu_seconds": seconds})
                for alpha in ALPHAS:
                    score = float(np.mean(spread(graph.matrix, known, 100, alpha)[known < 0] == y[known < 0]))
                    rows.append({"method": f"LabelSpreading {alpha:g}", "accuracy": score})
                where = {"set": name, "per_class": per_class, "draw": seed}
                rows = [where | row for row in rows]
                stored.merge(rows, FOLDER / "layers_labels.csv", ["set", "per_class", "draw", "method"])


def made(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return points of 2 to 100 round classes, uneven in size, the nearest 4 to 8 widths apart."""
    rng = np.random.default_rng(seed)
    k = int(np.round(np.exp(rng.uniform(np.log(2), np.log(100)))))
    n_features, per_class = int(rng.choice([5, 10, 20, 50])), int(rng.integers(20, 150))
    shares = rng.dirichlet(np.full(k, rng.choice([3.0, 10.0, 100.0])))
    y = rng.choice(k, max(k * per_class, 200), p=shares)
    centres = rng.normal(size=(k, n_features))
    apart = np.median((cdist(centres, centres) + np.diag(np.full(k, np.inf))).min(axis=1))
    X = centres[y] + apart / rng.uniform(4, 8) * rng.normal(size=(len(y), n_features))
    return X, np.unique(y, return_inverse=True)[1]


def counted(options: argparse.Namespace) -> None:
    """Measure how many clusters are found in made sets; those with seeds below 1,000 set the constants."""
    for seed in range(1_000, 1_000 + (options.draws or 100)):
        X, y = made(seed)
        labels = sample_labels(y, max(2, round(0.05 * len(y))), random_state=seed)
        rows, at = [], {"seed": seed, "points": len(y), "classes": int(y.max()) + 1}
        for known in (Constraints.none(len(y)), labels):
            model = Layers(random_state=seed).fit(X, constraints=known)
            words = "nothing" if known.is_empty else "5 % of labels"
            found = {"layers": model.n_clusters_, "ari": adjusted_rand_score(y, model.labels_)}
            rows.append({**at, "known": words, **found})
        stored.merge(rows, FOLDER / "layers_counts.csv", ["seed", "known"])


def main() -> None:
    """Run one of them."""
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=("nothing", "each", "labels", "counts"))
    parser.add_argument("--data", type=Path)
    parser.add_argument("--peers", type=Path)
    parser.add_argument("--sets", nargs="*")
    parser.add_argument("--methods", nargs="*")
    parser.add_argument("--draws", type=int)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    work = {"nothing": with_nothing, "each": each_layer, "labels": with_labels, "counts": counted}
    work[options.what](options)


if __name__ == "__main__":
    main()
