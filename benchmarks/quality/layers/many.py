"""77 and 150 classes, with no, one and five labels of each, and with 2,000 pairs.

    python -m benchmarks.quality.layers.many [--draws 2] [--points far near] [--classes 77] [--ours Layers]
    python -m benchmarks.quality.layers.many --points sentences --peers PYTHON

Far and near points are those of `benchmarks.quality.active.many`. Sentences are those of `sentences.py`;
PYTHON is the interpreter of an environment with wordllama. The score is the adjusted Rand index on the
points about which nothing is known. A method is left out where it can use nothing of what is known.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path

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
KEYS = ["points", "classes", "known", "draw", "method"]
OURS = {
    "AutoCut": AutoCut,
    "PoissonMBO": PoissonMBO,
    "PoissonLearning": PoissonLearning,
    "Layers": Layers,
    "NormalizedCut": NormalizedCut,
}
NOISES = {"far": 0.6, "near": 0.9}


def embedded(peers: Path) -> tuple[np.ndarray, np.ndarray]:
    """Return the sentences as numbers, and their classes, those with the most sentences first."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "sentences.npz")
        subprocess.run([peers, Path(__file__).with_name("sentences.py"), path], check=True)
        with np.load(path) as file:
            return file["X"].astype(float), file["y"]


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


def contenders(
    X: np.ndarray, k: int, known: Constraints, ours: list[str]
) -> Iterator[tuple[str, Callable[[], np.ndarray]]]:
    """Yield methods that can use what is known, and those that use nothing."""
    for name in ours:
        if known.is_empty or name != "NormalizedCut":
            kind = OURS[name]
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
    parser.add_argument("--points", nargs="+", choices=(*NOISES, "sentences"), default=list(NOISES))
    parser.add_argument("--classes", nargs="+", type=int, choices=(77, 150), default=[77, 150])
    parser.add_argument("--ours", nargs="+", choices=OURS, default=list(OURS))
    parser.add_argument("--known", nargs="+", help="only some kinds of knowledge, such as '5 per class'")
    parser.add_argument("--peers", type=Path)
    options = parser.parse_args()
    texts = embedded(options.peers) if "sentences" in options.points else None
    for draw, points, k in product(range(options.draws), options.points, options.classes):
        if texts is not None and points == "sentences":
            X, y = texts[0][texts[1] < k], texts[1][texts[1] < k]
        else:
            X, y = many_classes(k, draw, NOISES[points])
        for words, known in knowledge(y, draw):
            if options.known and words not in options.known:
                continue
            rows = []
            for name, fit in contenders(X, k, known, options.ours):
                start = time.process_time()
                score = adjusted_rand_index(y, fit(), constraints=known)
                spent = time.process_time() - start
                place = dict(zip(KEYS, (points, k, words, draw, name), strict=True))
                rows.append({**place, "ari": score, "seconds": round(spent, 2)})
                print(rows[-1], flush=True)
            stored.merge(rows, STORED, KEYS)


if __name__ == "__main__":
    main()
