"""Do FAST-GE-2.0 and SPONGE add anything? Two signed spectral cuts beside the methods of this library.

    python -m benchmarks.quality.few_labels.signed_cuts --data FOLDER [--draws 3]
    python -m benchmarks.quality.few_labels.signed_cuts --stored

Both are solved densely here, so that nothing but the form of the problem is compared: the graph is the same
for all (20 neighbours), and so is k-means on the rows of the k eigenvectors. Random pairs, n/20, n/5 and n of
them; the adjusted Rand index on points that no pair names.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.linalg import eigh
from sklearn.cluster import KMeans
from sklearn.preprocessing import StandardScaler

from benchmarks import stored
from sidecut import CSAP, E2CP, NCSC, Constraints, NormalizedCut, PoissonMBO
from sidecut.constraints import sample_pairs
from sidecut.datasets import load
from sidecut.evaluation import adjusted_rand_index
from sidecut.graphs import Graph, Neighbors

RESULTS = stored.RESULTS / "quality" / "few_labels_signed_cuts.csv"
DATA_SETS = ("iris", "wine", "glass", "ionosphere", "sonar", "wdbc", "digits", "segment")
#: More points than this are thinned out: dense eigenvectors of everything are computed.
MOST_POINTS = 600

Method = Callable[[Graph, Constraints, int], np.ndarray]


def sponge(graph: Graph, known: Constraints, n_clusters: int) -> np.ndarray:
    """(L⁺ + D⁻) x = λ (L⁻ + D⁺) x (Cucuringu et al., 2019, with τ = 1), both sides scaled by degrees."""
    attract, repel = _signed_weights(graph, known)
    left = _laplacian(attract) + np.diag(repel.sum(axis=1))
    right = _laplacian(repel) + np.diag(attract.sum(axis=1))
    return _cluster(eigh(left, right, subset_by_index=[0, n_clusters - 1])[1], n_clusters)


def fast_ge_2(graph: Graph, known: Constraints, n_clusters: int) -> np.ndarray:
    """L_G x = λ L_H x as K x = σ M x, K = -L_H, M = L_G + μ L_H + Z Zᵀ (Jiang, Xie & Bai).

    H holds the cannot-links; Z spans the null space that both have in common: the constant vector.
    """
    attract, repel = _signed_weights(graph, known)
    return _ratio(attract, repel, n_clusters)


def fast_ge(graph: Graph, known: Constraints, n_clusters: int) -> np.ndarray:
    """The same with the demand d_i d_j / vol beside the cannot-links (Cucuringu et al., 2016)."""
    attract, repel = _signed_weights(graph, known)
    degrees = graph.degrees
    return _ratio(attract, repel + np.outer(degrees, degrees) / degrees.sum(), n_clusters)


def _ratio(attract: np.ndarray, repel: np.ndarray, n_clusters: int) -> np.ndarray:
    left, right = _laplacian(attract), _laplacian(repel)
    constant = np.full((len(left), 1), np.trace(left) / len(left) ** 1.5)
    stiff = left + right + constant @ constant.T + 1e-10 * np.trace(left) * np.eye(len(left)) / len(left)
    return _cluster(eigh(-right, stiff, subset_by_index=[0, n_clusters - 1])[1], n_clusters)


def _signed_weights(graph: Graph, known: Constraints) -> tuple[np.ndarray, np.ndarray]:
    """Return edges with must-links, and cannot-links; a link weighs √(d_i d_j)."""
    beliefs = known.with_diagonal(0.0).as_matrix().toarray()
    weights = np.sqrt(np.outer(graph.degrees, graph.degrees)) * beliefs
    return graph.toarray() + np.maximum(weights, 0.0), np.maximum(-weights, 0.0)


def _laplacian(weights: np.ndarray) -> np.ndarray:
    return np.diag(weights.sum(axis=1)) - weights


def _cluster(vectors: np.ndarray, n_clusters: int) -> np.ndarray:
    rows = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    return KMeans(n_clusters, n_init=10, random_state=0).fit_predict(rows)


def ours(estimator: type) -> Method:
    """A method of this library with its defaults."""

    def run(graph: Graph, known: Constraints, n_clusters: int) -> np.ndarray:
        model = estimator(n_clusters, affinity="precomputed", random_state=0)
        return model.fit(graph, constraints=known).labels_

    return run


def cut(graph: Graph, known: Constraints, n_clusters: int) -> np.ndarray:
    """The normalised cut, which knows nothing."""
    return NormalizedCut(n_clusters, affinity="precomputed", random_state=0).fit(graph).labels_


METHODS: dict[str, Method] = {
    "NormalizedCut": cut,
    "SPONGE": sponge,
    "FAST-GE": fast_ge,
    "FAST-GE-2.0": fast_ge_2,
    "E2CP": ours(E2CP),
    "CSAP": ours(CSAP),
    "NCSC": ours(NCSC),
    "PoissonMBO": ours(PoissonMBO),
}


def rows(data: Path, draws: int) -> Iterator[dict]:
    """Yield the score of every method on every set, amount and draw."""
    for name in DATA_SETS:
        loaded = load(name, folder=data)
        X, y = (
            StandardScaler().fit_transform(loaded.X.astype(float)),
            np.unique(loaded.y, return_inverse=True)[1],
        )
        if len(y) > MOST_POINTS:
            kept = np.random.RandomState(0).permutation(len(y))[:MOST_POINTS]
            X, y = X[kept], y[kept]
        graph = Neighbors(20).build(X)
        for part in (20, 5, 1):
            for draw in range(draws):
                known = sample_pairs(y, len(y) // part, random_state=draw)
                for method, run in METHODS.items():
                    start = time.process_time()
                    labels = run(graph, known, int(y.max()) + 1)
                    seconds = time.process_time() - start
                    score = adjusted_rand_index(y, labels, constraints=known)
                    pairs = "n" if part == 1 else f"n/{part}"
                    yield {"data": name, "pairs": pairs, "draw": draw, "method": method} | {
                        "ari": round(score, 4),
                        "seconds": round(seconds, 3),
                    }


def show() -> None:
    """Print the means by amount of pairs, and by data set."""
    table = pd.read_csv(RESULTS)
    for columns in (["pairs"], ["data"]):
        means = table.pivot_table(index="method", columns=columns, values="ari", sort=False)
        print(means.assign(mean=means.mean(axis=1)).round(3).to_string(), "\n")


def main() -> None:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--stored", action="store_true")
    options = parser.parse_args()
    if not options.stored:
        warnings.simplefilter("ignore")
        stored.save(pd.DataFrame(rows(options.data, options.draws)), RESULTS)
    show()


if __name__ == "__main__":
    main()
