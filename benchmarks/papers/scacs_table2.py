"""Table 2 of SCACS (Li, Xia, Shan & Liu, 2015): c = 100 labels, p = 500 landmarks, r = 3, six data sets.

    python -m benchmarks.papers.scacs_table2 --data FOLDER

The paper prints seconds (its accuracies are curves, figure 1 e to j, without numbers). Here are, over draws
of labels and landmarks, the mean and deviation of the accuracy and the median of the seconds of

- SCACS as we set it, and as the paper does: landmarks at random, β₀ = 0.1, Q_ii = 1 for all points;
- LSC with the landmarks of either, k-means on the points, constrained k-means (CKM) and k-means under a
  metric learned from the labels (ML), each with one start, and on all but the two largest sets CSP on a
  20-nearest-neighbour graph, graph included.

The published seconds are from another machine and MATLAB; what can be compared is how they relate.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.cluster import KMeans

from benchmarks import stored
from benchmarks.papers.side_information import with_printed_diagonal
from benchmarks.papers.tables import merge
from sidecut import CSP, LSC, SCACS, Constraints, COPKMeans, MetricKMeans
from sidecut.constraints import sample_labels
from sidecut.evaluation import clustering_accuracy
from sidecut.exceptions import ConstraintError

RESULTS = stored.RESULTS / "papers"
N_LABELS = 100
#: Seconds in table 2.
PUBLISHED = {
    "segment": {"LSC-R": 0.41, "CKM": 0.01, "ML": 3.46, "SCACS": 2.35, "FCSC": 153},
    "usps": {"LSC-R": 0.96, "CKM": 0.82, "ML": 21.05, "SCACS": 3.29, "FCSC": 14_461},
    "pendigits": {"LSC-R": 0.82, "CKM": 0.31, "ML": 5.42, "SCACS": 3.22, "FCSC": 39_948},
    "letter": {"LSC-R": 4.12, "CKM": 4.10, "ML": 15.17, "SCACS": 6.59, "FCSC": 212_600},
    "mnist": {"LSC-R": 9.32, "CKM": 56.70, "ML": 492.9, "SCACS": 12.02},
    "covtype": {"LSC-R": 49.12, "CKM": 33.31, "ML": 190.58, "SCACS": 64.47},
}
#: Which of the published columns each of ours is to be read beside.
BESIDE = {
    "SCACS": "SCACS",
    "SCACS (paper)": "SCACS",
    "LSC, random": "LSC-R",
    "CKM": "CKM",
    "ML": "ML",
    "CSP": "FCSC",
}
LARGE = ("mnist", "covtype")

Fit = Callable[[np.ndarray, Constraints], np.ndarray]


def contenders(name: str, k: int, draw: int) -> dict[str, Fit]:
    """Return the methods, as functions from points and constraints to labels."""
    seed = {"n_clusters": k, "random_state": draw}
    paper = SCACS(**seed, landmarks="random", beta0=0.1, diagonal="given")
    found: dict[str, Fit] = {
        "SCACS": lambda X, known: SCACS(**seed, safe=False).fit(X, constraints=known).labels_,
        "SCACS (paper)": lambda X, known: paper.fit(X, constraints=with_printed_diagonal(known)).labels_,
        "LSC": lambda X, known: LSC(**seed).fit(X).labels_,
        "LSC, random": lambda X, known: LSC(**seed, landmarks="random").fit(X).labels_,
        "k-means": lambda X, known: KMeans(k, n_init=1, random_state=draw).fit(X).labels_,
        "CKM": lambda X, known: COPKMeans(**seed, safe=False, n_init=1).fit(X, constraints=known).labels_,
        "ML": lambda X, known: MetricKMeans(**seed, safe=False, n_init=1).fit(X, constraints=known).labels_,
    }
    if name not in LARGE:
        found["CSP"] = lambda X, known: (
            CSP(**seed, safe=False).fit(X.astype(float), constraints=known).labels_
        )
    return found


def measured(X: np.ndarray, y: np.ndarray, fit: Fit, known: Constraints) -> tuple[float, float]:
    """Return accuracy and seconds of one fit; no accuracy where nothing is feasible."""
    start = time.perf_counter()
    try:
        labels = fit(X, known)
    except ConstraintError:
        return np.nan, np.nan
    return clustering_accuracy(y, labels), time.perf_counter() - start


def rows_of(name: str, X: np.ndarray, y: np.ndarray, draws: int, methods: list[str] | None) -> list[dict]:
    """Return one row per method."""
    k, found = len(np.unique(y)), {}
    for draw in range(draws):
        known = sample_labels(y, N_LABELS, random_state=draw)
        for method, fit in contenders(name, k, draw).items():
            if methods is None or method in methods:
                found.setdefault(method, []).append(measured(X, y, fit, known))
    rows = []
    for method, results in found.items():
        accuracy, spent = np.array(results).T
        row = {"data": name, "method": method, "ACC": np.nanmean(accuracy), "deviation": np.nanstd(accuracy)}
        row |= {
            "seconds": np.nanmedian(spent),
            "published seconds": PUBLISHED[name].get(BESIDE.get(method, "")),
        }
        row["draws"] = draws
        rows.append(row)
        print(pd.DataFrame([row]).round(3).to_string(index=False, header=False), flush=True)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder that holds segment.npz and so on")
    parser.add_argument("--parts", nargs="*", default=list(PUBLISHED), choices=list(PUBLISHED))
    parser.add_argument("--methods", nargs="*", help="some of the columns; all by default")
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--out", type=Path, default=RESULTS / "scacs_table2.csv")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = []
    for name in args.parts:
        with np.load(args.data / f"{name}.npz") as file:
            X, y = file["X"], file["y"].astype(int)
        rows += rows_of(name, X, y, args.draws, args.methods)
    merge(pd.DataFrame(rows).round(4), args.out, ["data", "method"])


if __name__ == "__main__":
    main()
