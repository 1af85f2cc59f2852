"""COBRAS in its own environment: reads points and classes, writes labels after some questions, and the pairs.

Usage: python cobras_curve.py work.npz seed budgets...
"""

import json
import sys

import numpy as np
from cobras_ts.cobras_kmeans import COBRAS_kmeans


class Oracle:
    """Answers by the classes."""

    def __init__(self, classes):
        self.classes, self.pairs = classes, []

    def query_points(self, i, j):
        """Say whether two points belong together."""
        self.pairs.append([int(i), int(j)])
        return self.classes[i] == self.classes[j]

    def continue_cluster_process(self):
        """Never stop early."""
        return True

    def update_clustering(self, clustering):
        """Show nothing."""


def run():
    work = np.load(sys.argv[1])
    # The package draws from numpy's global state.
    np.random.seed(int(sys.argv[2]))  # noqa: NPY002
    budgets = [int(word) for word in sys.argv[3:]]
    oracle = Oracle(work["y"])
    model = COBRAS_kmeans(work["X"], oracle, max(budgets))
    _, labellings, *_ = model.cluster()
    # Where it stops early, its last clustering stays.
    kept = [np.asarray(labellings[min(budget, len(labellings)) - 1]).tolist() for budget in budgets]
    sys.stdout.write(json.dumps({"labels": kept, "pairs": oracle.pairs}))


if __name__ == "__main__":
    run()
