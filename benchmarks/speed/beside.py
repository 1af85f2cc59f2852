"""The code of another checkout beside this one: the same fits in turn, their time and their accuracy.

    python -m benchmarks.speed.beside OTHER --data FOLDER [--only CSP E2CP] [--sets digits] [--repeats 3]

OTHER is the folder of a checkout with a src folder, such as one that `git worktree add` makes of an older
commit. Each checkout has a process of its own. Both do the same fit one after the other, so what disturbs one
disturbs the other; times are of the processor, ratios are medians of the repeats. Graphs are given, so that
only methods are compared. `safe=False` leaves the guard out, except where a kind of constraints is "guarded".
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np

from benchmarks import stored

RESULTS = stored.RESULTS / "speed" / "beside.csv"
KEY = ["method", "data", "kind"]
METHODS = (
    "NormalizedCut",
    "CSP",
    "E2CP",
    "CSAP",
    "CCSR",
    "NCSC",
    "LCSC",
    "SpectralLearning",
    "PoissonLearning",
    "PoissonMBO",
    "SSKK",
    "SCACS",
    "COPKMeans",
    "MetricKMeans",
)
#: Methods that take points, and no graph.
ON_POINTS = ("SCACS", "COPKMeans", "MetricKMeans")
#: Sets, with how many points are taken, and on which all methods are run.
SETS = {"usps": 3_000, "pendigits": 3_000}
KINDS = ("2 labels per class", "n/5 pairs", "n/5 pairs, guarded")
#: Draws of constraints, for the accuracy.
DRAWS = 3


def fit(folder: Path, request: dict[str, Any]) -> dict[str, float]:
    """Do one fit with whatever version of the package is installed or on the path; return its results."""
    import sidecut
    from sidecut import Constraints
    from sidecut.constraints import sample_pairs
    from sidecut.evaluation import adjusted_rand_index
    from sidecut.graphs import Neighbors, as_graph

    X, y = load(folder, request["data"])
    k, kind, name = len(np.unique(y)), request["kind"], request["method"]
    if kind == "2 labels per class":
        draw, labels = np.random.default_rng(request["draw"]), np.full(len(y), -1)
        for cluster in range(k):
            labels[draw.choice(np.flatnonzero(y == cluster), 2, replace=False)] = cluster
        known = Constraints.from_labels(labels)
    else:
        known = sample_pairs(y, len(y) // 5, random_state=request["draw"])
    settings: dict[str, Any] = {"cannot_links": "ignore"} if name == "LCSC" else {}
    data: Any = X
    if name not in ON_POINTS:
        # A graph that remembers nothing of the fit before.
        data = as_graph(cached(request["data"], lambda: Neighbors(20).build(X).matrix).copy())
        settings["affinity"] = "precomputed"
    model = getattr(sidecut, name)(k, random_state=0, **settings)
    if "safe" in model.get_params():
        model.set_params(safe=kind.endswith("guarded"))
    start = time.process_time()
    model.fit(data, constraints=None if name == "NormalizedCut" else known)
    seconds = time.process_time() - start
    return {"seconds": seconds, "index": float(adjusted_rand_index(y, model.labels_))}


_CACHE: dict[str, Any] = {}


def cached(name: str, make: Any) -> Any:
    """Return what was made for a set, or make it."""
    if name not in _CACHE:
        _CACHE[name] = make()
    return _CACHE[name]


def load(folder: Path, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return some points of a set, and their classes."""
    with np.load(folder / f"{name}.npz", allow_pickle=True) as file:
        X, y = np.asarray(file["X"], dtype=float), np.unique(file["y"], return_inverse=True)[1]
    rows = np.sort(np.random.default_rng(7).permutation(len(y))[: SETS[name]])
    return X[rows], y[rows]


def serve(folder: Path) -> None:
    """Answer requests, one on each line, until there are no more."""
    warnings.simplefilter("ignore")
    for line in sys.stdin:
        try:
            answer: dict[str, Any] = fit(folder, json.loads(line))
        except (ValueError, RuntimeError) as error:
            answer = {"error": str(error)}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


class Checkout:
    """A process that fits with the code of a checkout."""

    def __init__(self, folder: Path, data: Path) -> None:
        here = Path(__file__).parents[2]
        path = os.pathsep.join([str(folder / "src"), str(here)])
        command = [sys.executable, "-m", "benchmarks.speed.beside", "--serve", "--data", str(data)]
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=here,
            env={**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1"},
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, _: object, __: TracebackType | None) -> None:
        self.process.communicate()

    def ask(self, request: dict[str, Any]) -> dict[str, float]:
        """Return the results of a fit."""
        questions, answers = self.process.stdin, self.process.stdout
        if questions is None or answers is None:
            raise RuntimeError("the process of the checkout has no pipes.")
        questions.write(json.dumps(request) + "\n")
        questions.flush()
        return json.loads(answers.readline())


def compare(args: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Yield a row for each method, set and kind of constraints."""
    with Checkout(args.other, args.data) as old, Checkout(Path(__file__).parents[2], args.data) as new:
        for data in args.sets:
            for name in args.only:
                for kind in KINDS[:1] if name == "NormalizedCut" else KINDS:
                    row: dict[str, Any] = {"method": name, "data": data, "kind": kind}
                    request, found = {**row, "draw": 0}, []
                    old.ask(request), new.ask(request)
                    for repeat in range(max(args.repeats, DRAWS)):
                        request["draw"] = repeat % DRAWS
                        found.append((old.ask(request), new.ask(request)))
                    if any("error" in answer for both in found for answer in both):
                        continue
                    ratios = [after["seconds"] / before["seconds"] for before, after in found]
                    row |= {"ratio": float(np.median(ratios)), "least": min(ratios), "most": max(ratios)}
                    for at, version in enumerate(("before", "now")):
                        row[f"seconds {version}"] = float(np.median([both[at]["seconds"] for both in found]))
                        row[f"index {version}"] = float(
                            np.mean([both[at]["index"] for both in found[:DRAWS]])
                        )
                    yield row


def main() -> None:
    """Run, or serve."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("other", type=Path, nargs="?", help="folder of the other checkout")
    parser.add_argument("--data", type=Path)
    parser.add_argument("--only", nargs="+", choices=METHODS, default=METHODS)
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS))
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.serve:
        serve(args.data)
        return
    for row in compare(args):
        sys.stderr.write(json.dumps(row) + "\n")
        stored.merge([row], RESULTS, KEY)


if __name__ == "__main__":
    main()
