"""77 and 150 classes, with no, one and five labels of each, and with 2,000 pairs.

    python -m benchmarks.quality.layers.many [--draws 2]

Points are those of `benchmarks.quality.active.many`, near and far apart. The score is the adjusted Rand index
on the points about which nothing is known. A method is left out where it can use nothing of what is known.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator

import numpy as np
from sklearn.cluster import KMeans
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks import stored
from benchmarks.label_spreading import spread
from benchmarks.quality.active.many import many_classes
from sidecut import AutoCut, Constraints, Layers, NormalizedCut, PoissonLearning, PoissonMBO
from sidecut.constraints import sample_pairs
from sidecut.evaluation import adjusted_rand_index
from sidecut.graphs import Neighbors

STORED = stored.RESULTS / "quality" / "layers_many.csv"
KEYS = ["classes", "noise", "known", "draw", "method"]
OURS = {
    "AutoCut": AutoCut,
    "PoissonMBO": PoissonMBO,
    "PoissonLearning": PoissonLearning,
    "Layers": Layers,
    "NormalizedCut": NormalizedCut,
}
NOISES = (0.6, 0.9)


def knowledge(y: np.ndarray, draw: int) -> Iterator[tuple[str, Constraints]]:
    """Yield what is known."""
    order = np.random.default_rng(draw).permutation(len(y))
    yield "nothing", Constraints.none(len(y))
    for each in (1, 5):
        labels = np.full(len(y), -1)
        for number in np.unique(y):
            labels[order[y[order] == number][:each]] = number
        yield f"{each} per class", Constraints.from_labels(labels)
    yield "2,000 pairs", sample_pairs(y, 2_000, random_state=draw)


def contenders(X: np.ndarray, k: int, known: Constraints) -> Iterator[tuple[str, Callable[[], np.ndarray]]]:
    """Yield methods that can use what is known, and those that use nothing."""
    for name, kind in OURS.items():
        if known.is_empty or name != "NormalizedCut":
            yield name, lambda kind=kind: kind(k, random_state=0).fit(X, constraints=known).labels_
    labels = known.labels
    if labels is None:
        yield "k-means", lambda: KMeans(k, n_init=10, random_state=0).fit(X).labels_
        return
    given = labels >= 0
    means = np.array([X[labels == number].mean(axis=0) for number in range(k)])
    graph = Neighbors(20).build(X).matrix
    learner = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1_000))
    yield "logistic regression", lambda: learner.fit(X[given], labels[given]).predict(X)
    yield "k-means from class means", lambda: KMeans(k, init=means, n_init=1).fit(X).labels_
    for alpha in (0.2, 0.8, 0.99):
        yield f"LabelSpreading {alpha}", lambda alpha=alpha: spread(graph, labels, 300, alpha)


def main() -> None:
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality.layers.many", description=__doc__)
    parser.add_argument("--draws", type=int, default=2)
    for draw in range(parser.parse_args().draws):
        for k in (77, 150):
            for noise in NOISES:
                X, y = many_classes(k, draw, noise)
                rows = []
                for words, known in knowledge(y, draw):
                    for name, fit in contenders(X, k, known):
                        start = time.process_time()
                        score = adjusted_rand_index(y, fit(), constraints=known)
                        spent = time.process_time() - start
                        place = dict(zip(KEYS, (k, noise, words, draw, name), strict=True))
                        rows.append({**place, "ari": score, "seconds": round(spent, 2)})
                        print(rows[-1], flush=True)
                stored.merge(rows, STORED, KEYS)


if __name__ == "__main__":
    main()
