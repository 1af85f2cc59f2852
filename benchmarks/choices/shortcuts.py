"""What shortcuts on large graphs do to the clusters: each method as it is, and with its shortcut taken back.

    python -m benchmarks.choices.shortcuts [--data FOLDER] [--methods CSP ...] [--sets widths ...]

The adjusted Rand index, means of five draws, and seconds of the processor per fit, on 3,000 and 20,000
points of sets that the page of speed does not report on.

- NCSC takes its clusters to be settled when ten steps move no more than a thousandth of the nodes; without,
  it goes on until a step gains next to nothing.
- CSP with scattered pairs finds its cuts to a residual of 1e-4; without, to 1e-6.
- E2CP keeps as many eigenvectors as clusters where these stand out; without, twice as many, or twenty.
- CSAP looks for eigenvalues near known ones with twelve products; without, with 21.
"""

from __future__ import annotations

import argparse
import time
import warnings
from contextlib import ExitStack
from itertools import product
from pathlib import Path
from types import ModuleType
from unittest.mock import patch

import numpy as np

from benchmarks import stored
from benchmarks.choices import other_sets
from benchmarks.speed import knowledge
from benchmarks.speed.few_labels import per_class
from benchmarks.speed.pairs import few, many
from sidecut.evaluation import adjusted_rand_index
from sidecut.graphs import Neighbors, SparseGraph
from sidecut.methods.csap import graph as prior
from sidecut.methods.csp import cuts
from sidecut.methods.e2cp import propagation
from sidecut.methods.ncsc import descents as projected

RESULTS = stored.RESULTS / "choices"
SIZES, N_DRAWS = (3_000, 20_000), 5
#: What each constant was before.
BEFORE: dict[str, list[tuple[ModuleType, str, float]]] = {
    "NCSC": [(projected, "SETTLED_SHARE", -1.0)],
    "CSP": [(cuts, "SCATTERED_TOLERANCE", 1)],
    "E2CP": [(propagation, "MIN_GAP", np.inf)],
    "CSAP": [(prior, "FIRST_PRODUCTS", 21)],
}
KNOWN = {
    "n/5 pairs": few,
    "n pairs": many,
    "2 labels per class": lambda y, seed: per_class(y, 2, seed),
    "10 labels per class": lambda y, seed: per_class(y, 10, seed),
}


def measure(graph: SparseGraph, y: np.ndarray, method: str, told: str) -> tuple[float, float]:
    """Return the mean agreement with the classes and the mean seconds of the draws."""
    agreements, start = [], time.process_time()
    for seed in range(N_DRAWS):
        model = knowledge.METHODS[method](int(y.max()) + 1, affinity="precomputed", random_state=0)
        model.fit(graph, constraints=KNOWN[told](y, 20 + seed))
        agreements.append(adjusted_rand_index(y, model.labels_))
    return float(np.mean(agreements)), (time.process_time() - start) / N_DRAWS


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder of .npz files; sets made here without")
    parser.add_argument("--methods", nargs="+", default=list(BEFORE))
    parser.add_argument("--sets", nargs="+", default=[*other_sets.MADE, *other_sets.STORED])
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    for name, size in product(args.sets, SIZES):
        drawn = other_sets.sample(name, size, args.data)
        if drawn is None or (name in other_sets.STORED and size > min(SIZES)):
            continue
        graph, y = Neighbors(20).build(drawn[0]), drawn[1]
        for method in args.methods:
            rows = compare(graph, y, method)
            rows = [{"data": name, "points": len(y), "method": method} | row for row in rows]
            stored.merge(rows, RESULTS / "shortcuts.csv", ["data", "points", "method", "known"])


def compare(graph: SparseGraph, y: np.ndarray, method: str) -> list[dict]:
    """Return a row for every kind of knowledge."""
    rows = []
    for told in KNOWN if method == "NCSC" else list(KNOWN)[:2]:
        with ExitStack() as stack:
            for module, constant, value in BEFORE[method]:
                stack.enter_context(patch.object(module, constant, value))
            without, seconds_without = measure(graph, y, method, told)
        with_it, seconds = measure(graph, y, method, told)
        row = {"known": told, "ARI without": without, "ARI": with_it}
        rows.append(row | {"seconds without": seconds_without, "seconds": seconds})
        print(method, len(y), rows[-1], flush=True)
    return rows


if __name__ == "__main__":
    main()
