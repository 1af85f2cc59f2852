"""SCACS on a Dask cluster of two worker processes, against the same rows in memory and streamed.

    python -m benchmarks.speed.dask [--points 100000 1000000] [--landmarks 500] [--workers 2] [--quick]

Gaussian clusters in ten dimensions lie in a folder of Parquet files. In memory, the time is that of reading
them and of `fit`, on all processors; streamed, of `fit_chunks`; on the cluster, of `sidecut.distributed.fit`
until all labels are there. Workers have one thread each, are started beforehand, and have imported sidecut.
All three run in turn, `--repeats` times; medians are told, that of the cluster as "sidecut", and whether the
labels are the same.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dask.dataframe as dd
import numpy as np
import pandas as pd
from distributed import Client, LocalCluster
from sklearn.datasets import make_blobs

from benchmarks import stored
from benchmarks.speed.timing import alternately
from sidecut import SCACS, Constraints
from sidecut.constraints import sample_labels
from sidecut.distributed import fit

RESULTS = stored.RESULTS / "speed"
CLUSTERS, FEATURES, KNOWN = 10, 10, 100
ROWS_PER_FILE = 50_000


def written(folder: Path, n_points: int) -> Constraints:
    """Write the points as Parquet files, and return what is known of them."""
    X, y = make_blobs(n_points, n_features=FEATURES, centers=CLUSTERS, cluster_std=3.0, random_state=0)
    frame = pd.DataFrame(X, columns=[f"x{column}" for column in range(FEATURES)])
    for part, start in enumerate(range(0, n_points, ROWS_PER_FILE)):
        frame[start : start + ROWS_PER_FILE].to_parquet(folder / f"part-{part:05d}.parquet", index=False)
    return sample_labels(y, KNOWN, random_state=0)


def ways(folder: Path, known: Constraints, landmarks: int) -> dict[str, Callable[[], Any]]:
    """Return the three ways to labels."""

    def model() -> SCACS:
        return SCACS(CLUSTERS, n_landmarks=landmarks, random_state=0)

    return {
        "in memory": lambda: model().fit(pd.read_parquet(folder), constraints=known).labels_,
        "streamed": lambda: model().fit_chunks(folder, constraints=known).labels_,
        "sidecut": lambda: fit(model(), dd.read_parquet(folder), constraints=known).labels_.compute(),
    }


def measure(n_points: int, landmarks: int, repeats: int) -> dict[str, Any]:
    """Return one row of the table."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        work = ways(folder, written(folder, n_points), landmarks)
        labels = {}

        def keep(way: str) -> None:
            labels[way] = work[way]()

        taken = alternately([lambda way=way: keep(way) for way in work], repeats)
    median = dict(zip(work, taken, strict=True))
    same = all(np.array_equal(labels["in memory"], found) for found in labels.values())
    return {"points": n_points, "landmarks": landmarks, **median, "same labels": same}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--points", type=int, nargs="*", default=[100_000, 1_000_000])
    parser.add_argument("--landmarks", type=int, default=500)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="100,000 points, once")
    args = parser.parse_args()
    if args.quick:
        args.points, args.repeats = [100_000], 1
    rows = []
    with (
        LocalCluster(n_workers=args.workers, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster),
    ):
        # Workers import what they need.
        measure(20_000, 50, 1)
        for n_points in args.points:
            rows.append(measure(n_points, args.landmarks, args.repeats))
            print(rows[-1], flush=True)
    stored.merge(rows, RESULTS / "dask.csv", ["points", "landmarks"])


if __name__ == "__main__":
    main()
