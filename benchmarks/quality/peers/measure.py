"""Measure one method of one peer on one piece of work; the only part that runs in the peer's environment.

    python -P measure.py runners/PEER.py WORK.npz METHOD CPU_SECONDS

Nothing is imported but the standard library and numpy (and scipy where a runner asks for the graph), so that
any peer can be measured whatever it needs. The answer is one line of JSON: the labels, the times, the memory
and the versions. Scores are computed by the caller, alike for all.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import platform
import resource
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

#: A method is repeated while it has run fewer times than this, and for less than that many seconds of
#: processor time in all: what is compiled at the first call does not count.
REPEATS, ENOUGH = 3, 30.0
SHOWN_VERSIONS = ("numpy", "scipy", "scikit-learn")


class Work:
    """What a method is given: the points, the graph, what is known, and the number of clusters.

    Parameters
    ----------
    path : str
        A file written by `benchmarks.quality.peers.work`.
    """

    def __init__(self, path: str) -> None:
        with np.load(path) as file:
            self._arrays = dict(file)
        self.X = self._arrays["X"]
        #: Pairs of points that belong together, and pairs that do not: arrays of shape (n_pairs, 2).
        self.must_link, self.cannot_link = self._arrays["must_link"], self._arrays["cannot_link"]
        #: The class of the few points whose class is told, -1 elsewhere: for methods that take no pairs.
        self.told = self._arrays["told"]
        #: All classes, only for methods that ask questions of their own.
        self.answers = self._arrays["y"]
        self.n_clusters = int(self._arrays["n_clusters"])
        self.n_questions = len(self.must_link) + len(self.cannot_link)

    def graph(self) -> Any:
        """Return the k-NN graph, a scipy sparse matrix."""
        from scipy.sparse import csr_matrix

        parts = (self._arrays[f"graph_{part}"] for part in ("data", "indices", "indptr"))
        return csr_matrix(tuple(parts), shape=(len(self.X), len(self.X)))

    def pairs(self, kind: str) -> list[tuple[int, int]]:
        """Return the "must_link" or the "cannot_link" pairs as a list of tuples of int."""
        return [(int(i), int(j)) for i, j in getattr(self, kind)]

    def signs(self) -> np.ndarray:
        """Return the dense matrix of pairs, +1 for must-links and -1 for cannot-links."""
        matrix = np.zeros((len(self.X), len(self.X)))
        for sign, pairs in ((1.0, self.must_link), (-1.0, self.cannot_link)):
            matrix[pairs[:, 0], pairs[:, 1]] = matrix[pairs[:, 1], pairs[:, 0]] = sign
        return matrix


def loaded(path: str) -> Any:
    """Import a runner from its file, so that its name may be the name of its package."""
    spec = importlib.util.spec_from_file_location("runner", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def peak_megabytes() -> float:
    """Return the largest resident size of this process so far."""
    # Linux hands ru_maxrss on from the process that started this one; the mark in /proc begins anew.
    status = Path("/proc/self/status")
    if status.exists():
        marks = [line.split()[1] for line in status.read_text().splitlines() if line.startswith("VmHWM")]
        return int(marks[0]) / 2**10
    unit = 2**20 if platform.system() == "Darwin" else 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def measured(method: Any, work: Work) -> dict[str, Any]:
    """Run a method up to three times, and return the labels of the first run and the best of the times."""
    before, walls, busy, labels = peak_megabytes(), [], [], None
    while len(busy) < REPEATS and sum(busy) < ENOUGH:
        np.random.seed(0)  # noqa: NPY002 - most peers draw from the global generator
        wall, cpu = time.perf_counter(), time.process_time()
        found = method(work)
        walls.append(time.perf_counter() - wall)
        busy.append(time.process_time() - cpu)
        labels = found if labels is None else labels
    return {
        "labels": np.asarray(labels).astype(int).tolist(),
        "seconds": min(walls),
        "cpu_seconds": min(busy),
        "first_seconds": walls[0],
        "megabytes": peak_megabytes(),
        "rise_megabytes": peak_megabytes() - before,
    }


def versions(package: str) -> dict[str, str]:
    """Return the versions of the package and of what its speed depends on."""
    found = {"python": platform.python_version()}
    for name in (package, *SHOWN_VERSIONS):
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def main() -> None:
    path, work, method, limit = sys.argv[1:]
    # Processor time, so that what else runs on the machine does not decide who is stopped.
    resource.setrlimit(resource.RLIMIT_CPU, (int(limit), int(limit) + 5))
    warnings.simplefilter("ignore")
    runner = loaded(path)
    answer = measured(runner.METHODS[method], Work(work))
    print(json.dumps(answer | {"versions": versions(runner.PACKAGE)}))


if __name__ == "__main__":
    main()
