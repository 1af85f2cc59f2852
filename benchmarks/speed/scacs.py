"""SCACS: against LSC, against k-means on the raw points, against its own distances, and how it grows.

    python -m benchmarks.speed.scacs --data FOLDER

(a) whole fits on the six data sets of the paper with 100 labels, p = 500, r = 3, with landmarks by k-means
    and at random: against LSC with the same settings, and against scikit-learn's KMeans(n_init=1) on X;
(b) where the time of a fit goes, against the bare cost of multiplying all points with all landmarks;
(c) fits on 0.1, 1 and 10 million points x 2 features, each in a process of its own, with its peak of memory;
(d) the p x p problem alone, in processor time, which a busy machine hardly changes: the feasible cuts, for
    which all eigenvectors are computed, against the first k eigenvectors, which LSC takes;
(e) a fit with ten more labels that keeps landmarks and codes, against one from nothing.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from threadpoolctl import threadpool_limits

from benchmarks import stored
from benchmarks.speed.e2cp_once import peak
from benchmarks.speed.timing import alternately, seconds, timed
from sidecut import LSC, SCACS, Constraints
from sidecut.constraints import sample_labels
from sidecut.graphs import LandmarkCoder, RowChunks, choose_landmarks, code_rows, each_chunk
from sidecut.labelling import chunked_kmeans
from sidecut.methods.scacs.cuts import landmark_basis, landmark_cuts, pose_problem

RESULTS = stored.RESULTS / "speed"
NAMES = ("segment", "usps", "pendigits", "letter", "mnist", "covtype")
N_LABELS = 100


def points_of(data: Path, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the points and classes of a data set."""
    with np.load(data / f"{name}.npz") as file:
        return file["X"], file["y"].astype(int)


def whole_fits(data: Path, names: list[str], repeats: int) -> list[dict]:
    """(a)."""
    rows = []
    for name in names:
        X, y = points_of(data, name)
        k, known = len(np.unique(y)), sample_labels(y, N_LABELS, random_state=0)
        raw = seconds(lambda X=X, k=k: KMeans(k, n_init=1, random_state=0).fit(X), repeats)
        for rule in ("kmeans", "random"):
            common = {"n_clusters": k, "landmarks": rule, "random_state": 0}
            fits = [
                lambda X=X, c=common: LSC(**c).fit(X),
                lambda X=X, c=common, q=known: SCACS(**c).fit(X, constraints=q),
            ]
            plain, ours = alternately(fits, repeats)
            row = {"part": f"a {name}", "landmarks": rule, "points": len(y), "sidecut": ours, "LSC": plain}
            row |= {"scikit-learn KMeans": raw, "SCACS / LSC": ours / plain, "ratio": ours / raw}
            rows.append(row)
            print(row, flush=True)
    return rows


def bare_products(rows: RowChunks, landmarks: np.ndarray) -> float:
    """Return how long it takes to multiply all points with all landmarks, in double precision."""

    def product(chunk: np.ndarray) -> float:
        total = 0.0
        for start in range(0, len(chunk), 512):
            total += (chunk[start : start + 512].astype(np.float64) @ landmarks.T)[0, 0]
        return total

    with threadpool_limits(limits=1):
        return seconds(lambda: sum(each_chunk(product, rows)), 3)


def where_time_goes(data: Path, names: list[str]) -> list[dict]:
    """(b)."""
    return [_stages(name, *points_of(data, name)) for name in names if name in ("mnist", "covtype", "letter")]


def _stages(name: str, X: np.ndarray, y: np.ndarray) -> dict:
    k, known = len(np.unique(y)), sample_labels(y, N_LABELS, random_state=0)
    rows, laps = RowChunks(X), {}

    def lap(stage: str, work: Callable[[], object]) -> object:
        result, laps[stage] = timed(work)
        return result

    with threadpool_limits(limits=1):
        landmarks = lap("landmarks", lambda: choose_landmarks(rows, "kmeans", 500, 0))
        codes = lap("coding", lambda: code_rows(rows, LandmarkCoder(landmarks, 3)))
        inside, points = known.restricted()
        problem = lap("p x p problem", lambda: pose_problem(codes.sums, codes.take(points), inside))
        cuts = lap("feasible cuts", lambda: landmark_cuts(problem, k))
        projection = cuts.first(k - 1).vectors / np.sqrt(codes.sums.degrees)[:, None]
        parts = lap("embedding", lambda: list(codes.each(lambda chunk: chunk @ projection)))
        lap(
            "k-means",
            lambda: chunked_kmeans(lambda function: each_chunk(function, parts), len(y), k, random_state=0),
        )
    row = {"part": f"b {name}", "points": len(y), "sidecut": sum(laps.values())}
    row["bare products"] = bare_products(rows, landmarks)
    row |= {f"{stage}, seconds": spent for stage, spent in laps.items()}
    print(row, flush=True)
    return row


def small_problems(data: Path, names: list[str], repeats: int) -> list[dict]:
    """(d)."""
    rows = []
    for name in names:
        X, y = points_of(data, name)
        k, (known, points) = len(np.unique(y)), sample_labels(y, N_LABELS, random_state=0).restricted()
        with threadpool_limits(limits=1):
            chunks = RowChunks(X)
            codes = code_rows(chunks, LandmarkCoder(choose_landmarks(chunks, "kmeans", 500, 0), 3))
            sums, inside = codes.sums, codes.take(points)
            works = [
                lambda s=sums, c=inside, q=known, k=k: landmark_cuts(pose_problem(s, c, q), k),
                lambda s=sums, k=k: landmark_basis(s, k),
            ]
            ours, plain = alternately(works, repeats, time.process_time)
        row = {
            "part": f"d {name}",
            "points": len(y),
            "sidecut": ours,
            "LSC": plain,
            "all eigenvectors": ours,
        }
        rows.append(row | {"SCACS / LSC": ours / plain})
        print(rows[-1], flush=True)
    return rows


def warm_fits(data: Path, names: list[str], repeats: int) -> list[dict]:
    """(e)."""
    rows = []
    for name in names:
        X, y = points_of(data, name)
        k = len(np.unique(y))
        few, more = (sample_labels(y, n, random_state=0) for n in (N_LABELS, N_LABELS + 10))
        warm = SCACS(k, warm_start=True, random_state=0).fit(X, constraints=few)
        fits = [
            lambda X=X, model=warm, q=more: model.fit(X, constraints=q),
            lambda X=X, k=k, q=more: SCACS(k, random_state=0).fit(X, constraints=q),
        ]
        again, cold = alternately(fits, repeats)
        row = {"part": f"e {name}", "points": len(y), "sidecut": again, "cold": cold}
        rows.append(row | {"ratio": again / cold})
        print(rows[-1], flush=True)
    return rows


def growth(sizes: list[int]) -> list[dict]:
    """(c)."""
    rows = []
    for n in sizes:
        command = [sys.executable, "-m", "benchmarks.speed.scacs", "--fit-one", str(n)]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        spent, megabytes = map(float, done.stdout.split())
        rows.append({"part": "c", "points": n, "sidecut": spent, "megabytes": megabytes})
        print(rows[-1], flush=True)
    return rows


def fit_one(n: int) -> None:
    """Print the median seconds of three fits on n points x 2 features, and the peak of memory in MB."""
    X, y = make_blobs(n, 2, centers=10, cluster_std=1.5, random_state=0)
    known = np.full(n, -1)
    known[:1_000] = y[:1_000]
    constraints = Constraints.from_labels(known)
    spent = seconds(lambda: SCACS(10, random_state=0).fit(X, constraints=constraints), 3)
    print(spent, peak())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder of the data sets; without it only part (c) runs")
    parser.add_argument("--names", nargs="*", default=list(NAMES), choices=NAMES)
    parser.add_argument("--parts", default="abcde", help="which of the parts (a) to (e); all by default")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--sizes", type=int, nargs="*", default=[100_000, 1_000_000, 10_000_000])
    parser.add_argument("--fit-one", type=int, help=argparse.SUPPRESS)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    if args.fit_one:
        fit_one(args.fit_one)
        return
    names = [name for name in args.names if args.data and (args.data / f"{name}.npz").exists()]
    if args.data and len(names) < len(args.names):
        print(f"not in {args.data}, left out: {', '.join(sorted(set(args.names) - set(names)))}")
    rows = whole_fits(args.data, names, args.repeats) if "a" in args.parts else []
    if "b" in args.parts:
        rows += where_time_goes(args.data, names)
    if "d" in args.parts:
        rows += small_problems(args.data, names, 5 * args.repeats)
    if "e" in args.parts:
        rows += warm_fits(args.data, names, args.repeats)
    if "c" in args.parts:
        rows += growth(args.sizes)
    rows = [{"landmarks": None} | row for row in rows]
    stored.merge(rows, RESULTS / "scacs.csv", ["part", "points", "landmarks"])


if __name__ == "__main__":
    main()
