"""What correct knowledge costs at worst: every estimator against its own unconstrained form.

    python -m benchmarks.choices.harm [--draws 4] [--only CSAP CCSR]

The loss is the adjusted Rand index on unconstrained points without constraints less that with them, with the
same random_state; over draws of 2, 3 and 10 labels and of 1, 5 and 20 pairs in all.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator

import numpy as np
import pandas as pd
from sklearn.datasets import load_iris, load_wine, make_blobs, make_moons
from sklearn.preprocessing import StandardScaler

import sidecut
from benchmarks import stored
from sidecut.constraints import sample_labels, sample_pairs
from sidecut.evaluation import adjusted_rand_index

RESULTS = stored.RESULTS / "choices" / "harm.csv"
ESTIMATORS = [
    "CSAP",
    "NCSC",
    "LCSC",
    "CCSR",
    "SpectralLearning",
    "SSKK",
    "COPKMeans",
    "ConstrainedGMM",
    "MetricKMeans",
    "CSP",
    "E2CP",
    "SCACS",
]
KNOWLEDGE = [(sample_labels, count) for count in (2, 3, 10)] + [(sample_pairs, count) for count in (1, 5, 20)]


def data_sets() -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Yield the data by name; wine is brought to one scale."""
    yield "iris", *load_iris(return_X_y=True)
    X, y = load_wine(return_X_y=True)
    yield "wine", StandardScaler().fit_transform(X), y
    yield "moons", *make_moons(150, noise=0.1, random_state=0)
    yield "unbalanced", *make_blobs([100, 30, 20], n_features=4, cluster_std=1.8, random_state=3)


def losses(name: str, n_draws: int) -> dict[str, list[float]]:
    """Return what constraints cost an estimator, by data set."""
    found: dict[str, list[float]] = {}
    for data, X, y in data_sets():
        model = getattr(sidecut, name)(n_clusters=len(np.unique(y)), random_state=0)
        alone = model.fit(X).labels_
        for sample, count in KNOWLEDGE:
            for draw in range(n_draws):
                known = sample(y, count, random_state=draw)
                told = model.fit(X, constraints=known).labels_
                before, after = (
                    adjusted_rand_index(y, labels, constraints=known) for labels in (alone, told)
                )
                found.setdefault(data, []).append(before - after)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--draws", type=int, default=4)
    parser.add_argument("--only", nargs="+", choices=ESTIMATORS, default=ESTIMATORS)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    table = pd.read_csv(RESULTS, index_col=0) if RESULTS.exists() else pd.DataFrame()
    for name in args.only:
        found = losses(name, args.draws)
        every = np.concatenate(list(found.values()))
        row = {"fits": every.size, "mean loss": every.mean(), "share above .05": np.mean(every > 0.05)}
        row |= (
            {"worst": every.max()}
            | {data: np.mean(values) for data, values in found.items()}
            | stored.stamp()
        )
        table = pd.concat([table.drop(index=name, errors="ignore"), pd.DataFrame(row, index=[name])]).round(4)
        print(table.loc[[name]].to_string(), flush=True)
        table.to_csv(RESULTS, index_label="estimator")


if __name__ == "__main__":
    main()
