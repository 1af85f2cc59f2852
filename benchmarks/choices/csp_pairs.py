"""How many feasible cuts CSP has to compute where pairs are scattered: K + 4, or all up to 300.

    python -m benchmarks.choices.csp_pairs

Scattered pairs leave hundreds of feasible cuts, of which CSP uses the K - 1 of least cost. For each draw: how
many there are; how far down the list ordered by λ the dearest of those K - 1 lies; the adjusted Rand index on
unconstrained points with either number; seconds of CPU over those of NormalizedCut on the same graph.
"""

from __future__ import annotations

import time
import warnings
from unittest.mock import patch

import numpy as np
import pandas as pd

from benchmarks import stored
from sidecut import CSP, Constraints, NormalizedCut
from sidecut.constraints import sample_pairs
from sidecut.datasets import make_example
from sidecut.evaluation import adjusted_rand_index
from sidecut.graphs import Graph
from sidecut.methods.csp import estimator

RESULTS = stored.RESULTS / "choices"
N_DRAWS = 1


def seconds(model: object, graph: Graph, known: Constraints | None = None) -> float:
    """Return the CPU time a fit takes."""
    start = time.process_time()
    model.fit(graph, constraints=known)
    return time.process_time() - start


def main() -> None:
    warnings.simplefilter("ignore")
    table = []
    for name in ("digits", "wine", "moons"):
        example = make_example(name, standardize=name == "wine")
        X, y = example.X, example.y
        k, n = len(np.unique(y)), len(y)
        graph = NormalizedCut(k, random_state=0).fit(X).affinity_matrix_
        common = {"n_clusters": k, "affinity": "precomputed", "random_state": 0}
        unit = np.median([seconds(NormalizedCut(**common), graph) for _ in range(3)])
        for n_pairs in (n // 5, n):
            for draw in range(N_DRAWS):
                known = sample_pairs(y, n_pairs, random_state=draw)
                row = {"data": name, "pairs": n_pairs, "draw": draw}
                for label, spare in (("few", estimator.SPARE_CUTS), ("all", 300 - k + 1)):
                    with patch.object(estimator, "SPARE_CUTS", spare):
                        model = CSP(**common, safe=False)
                        taken = seconds(model, graph, known)
                    row[f"ARI {label}"] = adjusted_rand_index(y, model.labels_, constraints=known)
                    row[f"times {label}"] = taken / unit
                place = np.argsort(np.argsort(model.cuts_.eigenvalues))[: k - 1].max() + 1
                row |= {"K - 1": k - 1, "feasible": model.n_feasible_, "place by λ": place}
                row["times safe"] = seconds(CSP(**common), graph, known) / unit
                table.append(row)
                print(pd.DataFrame([row]).round(3).to_string(index=False, header=False), flush=True)
    stored.save(pd.DataFrame(table), RESULTS / "csp_pairs.csv", 3)


if __name__ == "__main__":
    main()
