"""Wrong knowledge: `python -m benchmarks.diagnostics --data FOLDER`.

On eight data sets, on none of which any constant was set, 5 % of the points are labelled, or n/5 pairs are
known, and 5, 10 or 20 % of these are made wrong. Measured are the area under the curve of the suspicion
score; the adjusted Rand index on points nothing is known about, with the right knowledge, with the wrong
knowledge, and with suspects dropped (CSP for labels, E2CP for pairs); and the share of the errors that the
least sure tenth of the points holds. Results are stored beside this file.
"""

from __future__ import annotations

import argparse
import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import confusion_matrix, roc_auc_score

from sidecut import CSP, E2CP, Constraints
from sidecut.constraints import sample_labels, sample_pairs
from sidecut.diagnostics import drop_suspects, find_suspects
from sidecut.evaluation import adjusted_rand_index
from sidecut.graphs import Graph, Neighbors

STORED = Path(__file__).with_name("results.json")
SETS = ("glass", "ionosphere", "sonar", "segment", "pendigits", "usps", "letter", "mnist")
SHARES = (0.05, 0.10, 0.20)
MOST_POINTS = 1_000


def main() -> None:
    arguments = _read_arguments()
    warnings.simplefilter("ignore")
    rows = []
    for name in SETS:
        X, y = load(Path(arguments.data), name)
        graph = Neighbors(20).build(X)
        for draw in range(arguments.draws):
            for share in SHARES:
                rows += [{"set": name, "draw": draw, **row} for row in measure(graph, y, share, draw)]
        print(name, flush=True)
    STORED.write_text(json.dumps(rows, indent=0) + "\n")
    print_tables(rows)


def load(folder: Path, name: str) -> tuple[Any, Any]:
    """Return at most 1,000 points of a set, drawn with a fixed seed, their features standardised."""
    data = np.load(folder / f"{name}.npz", allow_pickle=False)
    X, y = np.asarray(data["X"], dtype=float).reshape(len(data["y"]), -1), np.asarray(data["y"])
    if len(y) > MOST_POINTS:
        chosen = np.random.default_rng(0).choice(len(y), MOST_POINTS, replace=False)
        X, y = X[chosen], y[chosen]
    y = np.unique(y, return_inverse=True)[1]
    if name in ("usps", "mnist"):
        return X, y
    return (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-12), y


def measure(graph: Graph, y: Any, share: float, draw: int) -> list[dict[str, Any]]:
    """Return one row for labels and one for pairs."""
    rng = np.random.default_rng([draw, int(100 * share)])
    n = len(y)
    right = sample_labels(y, max(round(0.05 * n), 3 * len(set(y))), random_state=draw)
    labels, wrong = flip_labels(y, right.constrained_points, share, rng)
    told = Constraints.from_labels(labels)
    known = Constraints.from_labels(np.where(labels >= 0, y, -1))
    rows = [judge("labels", CSP, graph, y, known, told, np.isin, wrong)]
    pairs = sample_pairs(y, n // 5, random_state=draw)
    is_wrong = rng.random(len(pairs.pairs)) < share
    strengths = np.where(is_wrong, -pairs.strengths, pairs.strengths)
    told = Constraints.from_pairs(
        n, must_link=pairs.pairs[strengths > 0], cannot_link=pairs.pairs[strengths < 0]
    )
    rows.append(judge("pairs", E2CP, graph, y, pairs, told, _are_among, pairs.pairs[is_wrong]))
    return [{"share": share, **row} for row in rows]


def flip_labels(y: Any, points: Any, share: float, rng: np.random.Generator) -> tuple[Any, Any]:
    """Return labels of some points, a share of them of another class, and which."""
    labels, n_classes = np.full(len(y), -1), int(y.max()) + 1
    labels[points] = y[points]
    wrong = points[rng.random(len(points)) < share]
    labels[wrong] = (y[wrong] + rng.integers(1, n_classes, size=len(wrong))) % n_classes
    return labels, wrong


def judge(
    kind: str, method: Any, graph: Graph, y: Any, right: Any, told: Any, is_among: Any, wrong: Any
) -> dict[str, Any]:
    """Return how well the wrong ones are found, and what they cost."""
    k = int(y.max()) + 1
    suspects = find_suspects(graph, told, n_clusters=k, affinity="precomputed")
    bad = is_among(suspects.points, wrong)
    left = drop_suspects(told, suspects)

    def score(constraints: Constraints) -> float:
        model = method(k, affinity="precomputed", random_state=0).fit(graph, constraints=constraints)
        return float(adjusted_rand_index(y, model.labels_, constraints=told))

    fitted = method(k, affinity="precomputed", random_state=0).fit(graph, constraints=right)
    return {
        "kind": kind,
        "auc": float(roc_auc_score(bad, suspects.scores)) if 0 < bad.sum() < len(bad) else None,
        "right": score(right),
        "wrong": score(told),
        "dropped": score(left),
        "deciles": share_of_errors(fitted, y, right),
    }


def share_of_errors(model: Any, y: Any, known: Constraints) -> list[float]:
    """Return how many errors each tenth of the points has, least sure first, as shares of all errors."""
    free = np.setdiff1d(np.arange(len(y)), known.constrained_points)
    table = confusion_matrix(y, model.labels_)
    classes, clusters = linear_sum_assignment(-table)
    named = np.full(table.shape[1], -1)
    named[clusters] = classes
    errors = (named[model.labels_] != y)[free][np.argsort(model.confidence_[free], kind="stable")]
    return [float(part.sum() / max(errors.sum(), 1)) for part in np.array_split(errors, 10)]


def print_tables(rows: list[dict[str, Any]]) -> None:
    """Print the means over draws, set by set at 10 %, and over all sets for each share."""
    for kind in ("labels", "pairs"):
        print(f"\n| {kind}, 10 % wrong | AUC | ARI right | wrong | dropped | errors, least sure tenth |")
        print("|---|---|---|---|---|---|")
        for name in SETS:
            _print_row(name, [r for r in rows if (r["set"], r["kind"], r["share"]) == (name, kind, 0.1)])
        for share in SHARES:
            _print_row(f"all, {share:.0%}", [r for r in rows if (r["kind"], r["share"]) == (kind, share)])


def _print_row(name: str, rows: list[dict[str, Any]]) -> None:
    auc = np.mean([row["auc"] for row in rows if row["auc"] is not None])
    means = [np.mean([row[column] for row in rows]) for column in ("right", "wrong", "dropped")]
    least = np.mean([row["deciles"][0] for row in rows])
    print(f"| {name} | {auc:.3f} | " + " | ".join(f"{mean:.3f}" for mean in means) + f" | {least:.2f} |")


def _are_among(pairs: Any, wrong: Any) -> Any:
    gone = {tuple(pair) for pair in wrong.tolist()}
    return np.array([tuple(pair) in gone for pair in pairs.tolist()])


def _read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", required=True, help="a folder of .npz files with X and y")
    parser.add_argument("--draws", type=int, default=10)
    return parser.parse_args()


if __name__ == "__main__":
    main()
