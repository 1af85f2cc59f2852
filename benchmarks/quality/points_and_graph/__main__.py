"""Points and a graph of them: `python -m benchmarks.quality.points_and_graph`.

Made sets of 1,200 to 1,400 points with a graph; 5 and 20 labels of each class, in two draws. E2CP is given
the features alone, the graph alone, the sum of both graphs, and both by `fit(X, graph=W)`, which averages the
features along the graph. AutoCut is given both. Beside them logistic regression on scaled features, as they
are and averaged over two steps of the graph. Accuracy is on the points without a label. `--table` makes only
the table of docs/lab/points-and-graph.md; `--sets` measures some sets.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from benchmarks.page_tables import DOCS, rewrite, short
from benchmarks.quality.parts.measure import score
from benchmarks.quality.parts.shapes import draw_labels
from benchmarks.quality.points_and_graph.sets import SETS
from benchmarks.stored import RESULTS, merge
from sidecut import E2CP, AutoCut, Constraints
from sidecut.graphs import Neighbors, as_graph, average_along, sum_graphs

STORED = RESULTS / "quality" / "points_and_graph.csv"
PAGE = DOCS / "lab" / "points-and-graph.md"
PER_CLASS, N_DRAWS = (5, 20), 2
COLUMNS = (
    "E2CP, features", "E2CP, graph", "E2CP, sum", "E2CP, both", "AutoCut, both",
    "logistic regression, features", "logistic regression, averages",
)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.quality.points_and_graph", description=__doc__
    )
    parser.add_argument("--table", action="store_true", help="make the table of stored results")
    parser.add_argument("--sets", nargs="+", default=tuple(SETS), help="the sets to measure")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    for name in () if arguments.table else arguments.sets:
        for per_class in PER_CLASS:
            rows = [measure(name, per_class, draw) for draw in range(N_DRAWS)]
            means = pd.DataFrame(rows).mean().round(4)
            found = [
                {"set": name, "per_class": per_class, "method": m, "accuracy": a} for m, a in means.items()
            ]
            merge(found, STORED, ["set", "per_class", "method"])
        print(name, flush=True)
    if set(SETS) <= set(pd.read_csv(STORED)["set"]):
        rewrite(PAGE, {"table": table})


def measure(name: str, per_class: int, draw: int) -> dict[str, float]:
    """Return the accuracy of all methods on one draw of a set."""
    rng = np.random.RandomState(draw)
    X, W, y = SETS[name](rng)
    known = draw_labels(y, per_class, rng)
    k, given = int(y.max()) + 1, Constraints.from_labels(known)
    both = sum_graphs(Neighbors(20).build(X), as_graph(W))
    labels = {
        "E2CP, features": E2CP(k, random_state=0).fit(X, constraints=given).labels_,
        "E2CP, graph": E2CP(k, affinity="precomputed", random_state=0).fit(W, constraints=given).labels_,
        "E2CP, sum": E2CP(k, affinity="precomputed", random_state=0).fit(both, constraints=given).labels_,
        "E2CP, both": E2CP(k, random_state=0).fit(X, graph=W, constraints=given).labels_,
        "AutoCut, both": AutoCut(k, random_state=0).fit(X, graph=W, constraints=given).labels_,
    }
    found = {method: score(answer, known, y)[0] for method, answer in labels.items()}
    for name, points in (("features", X), ("averages", average_along(as_graph(W), X))):
        Z, hidden = StandardScaler().fit_transform(points), known < 0
        model = LogisticRegression(max_iter=500).fit(Z[~hidden], known[~hidden])
        found[f"logistic regression, {name}"] = float(np.mean(model.predict(Z[hidden]) == y[hidden]))
    return found


def table() -> str:
    """Return the accuracy on every set."""
    stored = pd.read_csv(STORED).set_index(["set", "per_class", "method"])["accuracy"]
    lines = ["| set | labels per class | " + " | ".join(COLUMNS) + " |", "|---" * (len(COLUMNS) + 2) + "|"]
    for name in SETS:
        for per_class in PER_CLASS:
            cells = [short(stored[name, per_class, method]) for method in COLUMNS]
            lines.append(f"| {name} | {per_class} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
