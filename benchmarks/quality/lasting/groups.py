"""What 10,000, 30,000 and 70,000 rows in groups of 2 to 50 cost.

python -m benchmarks.quality.lasting.groups [--methods A,B] [--sizes 70000] [--store]: each method runs in a
process of its own, since memory is the largest that a process ever held.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
import warnings

import numpy as np
import pandas as pd
from sklearn.datasets import make_blobs

import sidecut
from benchmarks.stored import RESULTS, merge
from sidecut import Constraints
from sidecut.checks import IntArray
from sidecut.labelling import satisfy_links

METHODS = ("repair", "CSP", "E2CP", "NCSC", "PoissonMBO")
SIZES = (10_000, 30_000, 70_000)
CLUSTERS = {"repair": 50}


def sources(n: int) -> IntArray:
    """Return the source of each of n rows; a source has 2 to 50 of them, in any order."""
    rng = np.random.default_rng(0)
    sizes = rng.integers(2, 51, size=n)
    return rng.permutation(np.repeat(np.arange(n), sizes)[:n])


def measure(method: str, n: int) -> dict:
    """Return processor seconds and memory of one method."""
    k = CLUSTERS.get(method, 10)
    X, y = make_blobs(n, n_features=8, centers=k, cluster_std=1.5, random_state=0)
    known = Constraints.from_groups(sources(n), apart=True)
    start = time.process_time()
    with warnings.catch_warnings(action="ignore"):
        if method == "repair":
            labels, _ = satisfy_links(y, X, known, k)
        else:
            labels = getattr(sidecut, method)(k, safe=False, random_state=0).fit(X, constraints=known).labels_
    seconds = time.process_time() - start
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    satisfied = known.satisfaction(labels)
    return {
        "method": method,
        "n": n,
        "pairs": known.n_pairs,
        "seconds": round(seconds, 2),
        "megabytes": round(megabytes),
        "satisfied": round(satisfied, 3),
    }


def main() -> None:
    """Measure all methods at all sizes, or one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--one", nargs=2)
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)))
    parser.add_argument("--store", action="store_true")
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measure(options.one[0], int(options.one[1]))))
        return
    command = [sys.executable, "-m", "benchmarks.quality.lasting.groups", "--one"]
    rows = [
        json.loads(
            subprocess.run([*command, method, str(n)], capture_output=True, text=True, check=True).stdout
        )
        for method in options.methods.split(",")
        for n in map(int, options.sizes.split(","))
    ]
    print(pd.DataFrame(rows).to_string())
    if options.store:
        merge(rows, RESULTS / "quality" / "lasting_groups.csv", ["method", "n"])


if __name__ == "__main__":
    main()
