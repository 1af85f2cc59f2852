"""How much of the constraints SCACS should insist on, as more points are labelled.

    python -m benchmarks.choices.scacs_beta0 --data FOLDER
    python -m benchmarks.choices.scacs_beta0 --stored        # only judge rules by the stored table

Accuracy on unlabelled points, mean over draws of labels and of landmarks (k-means, p = 500, r = 3); all
settings of a draw see the same labels and landmarks. The folder is one that `sidecut.datasets.load` reads;
without it only the digits bundled with scikit-learn are used.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks import stored
from sidecut import LSC, SCACS
from sidecut.constraints import sample_labels
from sidecut.datasets import load
from sidecut.evaluation import clustering_accuracy
from sidecut.exceptions import ConstraintError

RESULTS = stored.RESULTS / "choices"
SHARES = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
AMOUNTS = (50, 100, 200, 500, 1000, 2000, 5000)
#: β₀ by the number of labels c and of landmarks p.
RULES = {
    "0.1": lambda c, p: 0.1,
    "0.2": lambda c, p: 0.2,
    "0.5": lambda c, p: 0.5,
    "c / (c + p/2)": lambda c, p: c / (c + p / 2),
    "c / (c + p)": lambda c, p: max(c / (c + p), 0.1),
    "c / (c + 2p)": lambda c, p: c / (c + 2 * p),
}
DATA = ("digits", "segment", "usps", "pendigits", "letter")


def accuracies(X: np.ndarray, y: np.ndarray, amounts: list[int], draw: int) -> Iterator[dict[str, float]]:
    """Yield, for every amount, the accuracy at every share β₀ with the same landmarks and labels."""
    k = len(np.unique(y))
    landmarks = LSC(k, random_state=draw).fit(X).landmarks_
    for amount in amounts:
        known = sample_labels(y, amount, random_state=draw)
        free = np.setdiff1d(np.arange(len(y)), known.constrained_points)
        found: dict[str, float] = {"labels": amount}
        for share in SHARES:
            model = SCACS(k, landmarks=landmarks, beta0=share, random_state=draw)
            try:
                labels = model.fit(X, constraints=known).labels_
                found[str(share)] = clustering_accuracy(y[free], labels[free])
            except ConstraintError:
                found[str(share)] = np.nan
        yield found


def losses(table: pd.DataFrame, n_landmarks: int = 500) -> pd.DataFrame:
    """Return how much accuracy every rule loses against the best share of each row, interpolating shares."""
    scores = table[[str(share) for share in SHARES]].to_numpy(dtype=float)
    found = {}
    for name, rule in RULES.items():
        reached = [
            np.interp(rule(c, n_landmarks), SHARES, row) for c, row in zip(table.labels, scores, strict=True)
        ]
        lost = np.nanmax(scores, axis=1) - np.array(reached)
        found[name] = {"mean loss": lost.mean(), "greatest loss": lost.max()}
    return pd.DataFrame(found).T


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder that holds the data sets")
    parser.add_argument("--names", nargs="*", default=DATA)
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--stored", action="store_true", help="judge rules by the stored table, run nothing")
    args = parser.parse_args()
    if args.stored:
        print(
            losses(pd.read_csv(RESULTS / "scacs_beta0.csv").drop(columns=["date", "commit"]))
            .round(4)
            .to_string()
        )
        return
    warnings.simplefilter("ignore")
    tables = []
    for name in args.names if args.data else DATA[:1]:
        data = load(name, args.data)
        amounts = [amount for amount in AMOUNTS if amount <= len(data.y) // 2]
        drawn = pd.DataFrame(
            [row for draw in range(args.draws) for row in accuracies(data.X, data.y, amounts, draw)]
        )
        table = drawn.groupby("labels").mean().reset_index()
        table.insert(0, "data", name)
        print(table.round(3).to_string(index=False), flush=True)
        tables.append(table)
    stored.save(pd.concat(tables), RESULTS / "scacs_beta0.csv", 3)


if __name__ == "__main__":
    main()
