"""What `safe=True` of most methods costs and saves: how its rule was set.

    python -m benchmarks.choices.caution [--draws 3]

Every method beside its own unconstrained form, told little, on sets that the law in tests/laws and
`benchmarks.choices.harm` do not use. A cell holds the adjusted Rand index on unconstrained points of both
answers, how well both agree with what is known, how many facts that is, and how alike the answers are;
`sidecut.methods.safeguard.weigh` decides by these. The table shows for some values of its constant ALIKE the
mean loss, and the share of cells that lose more than .05.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_digits, make_blobs, make_circles, make_classification
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

import sidecut
from sidecut import Constraints
from sidecut.constraints import sample_labels, sample_pairs
from sidecut.evaluation import adjusted_rand_index
from sidecut.methods.safeguard.judgement import FEWEST_FOR_GAIN, FEWEST_MUST_LINKS
from sidecut.methods.safeguard.pairs import KnownPairs

RESULTS = Path(__file__).parent / "results" / "caution.csv"
METHODS = (
    "E2CP",
    "NCSC",
    "CCSR",
    "SpectralLearning",
    "CSAP",
    "SSKK",
    "COPKMeans",
    "ConstrainedGMM",
    "MetricKMeans",
    "PoissonLearning",
    "PoissonMBO",
    "LCSC",
)
COLUMNS = ["method", "data", "kind", "draw", "plain", "told", "facts", "agree_plain", "agree_told", "between"]


def data_sets() -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Yield points of one scale, and classes, by name."""
    X, y = load_breast_cancer(return_X_y=True)
    digits, numbers = load_digits(return_X_y=True)
    sets = {
        "cancer": (X[::2], y[::2]),
        "circles": make_circles(200, noise=0.08, factor=0.5, random_state=1),
        "blobs4": make_blobs(200, n_features=6, centers=4, cluster_std=3.0, random_state=11),
        "uneven3": make_blobs([120, 40, 15], n_features=5, cluster_std=2.0, random_state=12),
        "weights": make_classification(
            200,
            12,
            n_informative=4,
            n_redundant=0,
            n_classes=3,
            n_clusters_per_class=1,
            class_sep=1.5,
            random_state=13,
        ),
        "digits6": (digits[numbers < 6][:240], numbers[numbers < 6][:240]),
    }
    for name, (points, classes) in sets.items():
        yield name, StandardScaler().fit_transform(points), classes


def knowledge(y: np.ndarray, draw: int) -> Iterator[tuple[str, Constraints]]:
    """Yield little knowledge of every kind."""
    for count in (1, 2, 3, 10, 25):
        yield f"{count} labels", sample_labels(y, count, random_state=draw)
    for count in (1, 10, 25):
        yield f"{count} pairs", sample_pairs(y, count, random_state=draw)
    for count in (3, 6):
        yield f"{count} of one class", labels_of_one_class(y, count, draw)


def labels_of_one_class(y: np.ndarray, count: int, draw: int) -> Constraints:
    """Return labels of a single class."""
    rng = np.random.RandomState(draw)
    labels = np.full(len(y), -1)
    labels[rng.permutation(np.flatnonzero(y == rng.choice(y)))[:count]] = 0
    return Constraints.from_labels(labels)


def measure(method: str, n_draws: int) -> Iterator[list]:
    """Yield the cells of a method."""
    for data, X, y in data_sets():
        model = getattr(sidecut, method)(len(np.unique(y)), safe=False, random_state=0)
        if method == "LCSC":
            model.set_params(cannot_links="ignore")
        plain = model.fit(X).labels_
        for draw in range(n_draws):
            for kind, known in knowledge(y, draw):
                told = model.fit(X, constraints=known).labels_
                pairs = KnownPairs(known, np.random.RandomState(0))
                scores = [adjusted_rand_index(y, labels, constraints=known) for labels in (plain, told)]
                agreement = [pairs.agreement(labels) for labels in (plain, told)]
                yield [
                    method,
                    data,
                    kind,
                    draw,
                    *scores,
                    pairs.n_facts,
                    *agreement,
                    adjusted_rand_score(plain, told),
                ]


def table(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the mean loss and the share of large losses of each method, without the rule and with it."""
    gain = cells.agree_told - cells.agree_plain
    fewest = np.where(cells.kind.str.endswith("one class"), FEWEST_MUST_LINKS, FEWEST_FOR_GAIN)
    speaks = (cells.agree_plain < 1) & (gain > 0) & (cells.facts >= fewest)
    rules = {"unguarded": np.ones(len(cells), dtype=bool)}
    for alike in (0.6, 0.7, 0.8, 0.9):
        rules[str(alike)] = speaks & ((cells.between > alike) | (gain * np.sqrt(cells.facts) > 1))
    columns = {}
    for name, follows in rules.items():
        loss = (cells.plain - cells.told).where(follows, 0.0).groupby(cells.method, sort=False)
        columns[f"{name} mean"], columns[f"{name} > .05"] = (
            loss.mean(),
            loss.apply(lambda v: (v > 0.05).mean()),
        )
    return pd.DataFrame(columns).round(3)


def main() -> None:
    """Measure, store and show."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--draws", type=int, default=3)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = [row for method in METHODS for row in measure(method, args.draws)]
    cells = pd.DataFrame(rows, columns=COLUMNS).round(4)
    cells.to_csv(RESULTS, index=False)
    print(table(cells).to_string())


if __name__ == "__main__":
    main()
