"""COBRAS in its own environment: reads points and classes, writes the labels after each number of questions.

Usage: python cobras_curve.py work.npz seed budgets...
"""

import json
import sys

import numpy as np
from cobras_ts.cobras_kmeans import COBRAS_kmeans


class Oracle:
    """Answers by the classes."""

    def __init__(self, classes):
        self.classes = classes

    def query_points(self, i, j):
        """Say whether two points belong together."""
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
    model = COBRAS_kmeans(work["X"], Oracle(work["y"]), max(budgets))
    _, labellings, *_ = model.cluster()
    # Where it stops early, its last clustering stays.
    kept = [np.asarray(labellings[min(budget, len(labellings)) - 1]).tolist() for budget in budgets]
    sys.stdout.write(json.dumps(kept))


if __name__ == "__main__":
    run()
