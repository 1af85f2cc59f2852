"""How SCACS and LSC should choose landmarks, and how much of the constraints SCACS should insist on.

    python -m benchmarks.choices.scacs_landmarks --data FOLDER

Accuracy, mean over draws of 100 labels and of landmarks, p = 500, r = 3; all settings of a draw see the same
labels. The folder holds segment.npz, pendigits.npz and so on, each with X and y; without it only the digits
bundled with scikit-learn are used.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_digits

from benchmarks import stored
from sidecut import LSC, SCACS
from sidecut.constraints import sample_labels
from sidecut.evaluation import clustering_accuracy
from sidecut.exceptions import ConstraintError

RESULTS = stored.RESULTS / "choices"
RULES = ("random", "kmeans", "kmeans++")
#: β₀ is 0.1 where nothing else is said, as in section 5.3 of the paper.
SETTINGS = {
    "beta0 0.1": {},
    "beta0 0.02": {"beta0": 0.02},
    "beta0 0.2": {"beta0": 0.2},
    "beta0 known_share": {"beta0": "labelled_share"},
    "step9 project": {"orthogonal": True},
    "weighting none": {"weighting": "none"},
}


def data_sets(folder: Path | None, names: list[str]) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Yield name, points and classes."""
    yield "digits", *load_digits(return_X_y=True)
    for name in names if folder else []:
        stored = np.load(folder / f"{name}.npz")
        yield name, stored["X"], stored["y"].astype(int)


def accuracies(X: np.ndarray, y: np.ndarray, rule: str, draw: int) -> dict[str, float]:
    """Return the accuracy of every setting with the same landmarks and labels."""
    k, known = len(np.unique(y)), sample_labels(y, 100, random_state=draw)
    common = {"n_clusters": k, "landmarks": rule, "random_state": draw}
    plain = LSC(**common).fit(X)
    found = {"LSC": clustering_accuracy(y, plain.labels_)}
    for name, settings in SETTINGS.items():
        model = SCACS(**{**common, "landmarks": plain.landmarks_, "beta0": 0.1, **settings})
        try:
            found[name] = clustering_accuracy(y, model.fit(X, constraints=known).labels_)
        except ConstraintError:
            found[name] = np.nan
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder that holds the data sets")
    parser.add_argument("--names", nargs="*", default=["segment", "usps", "pendigits", "letter"])
    parser.add_argument("--draws", type=int, default=10)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = []
    for name, X, y in data_sets(args.data, args.names):
        for rule in RULES:
            drawn = pd.DataFrame([accuracies(X, y, rule, draw) for draw in range(args.draws)])
            rows.append(
                {"data": name, "landmarks": rule, **drawn.mean(), "deviation": drawn["beta0 0.1"].std()}
            )
            print(pd.DataFrame(rows[-1:]).round(3).to_string(index=False), flush=True)
    stored.save(pd.DataFrame(rows), RESULTS / "scacs_landmarks.csv", 3)


if __name__ == "__main__":
    main()
