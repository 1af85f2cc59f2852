"""What knowledge costs: methods with constraints against NormalizedCut without, on many kinds of data."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
from sklearn.datasets import make_blobs, make_circles, make_moons

from benchmarks.speed.timing import alternately, timed
from sidecut import (
    CCSR,
    CSAP,
    CSP,
    E2CP,
    LCSC,
    NCSC,
    Constraints,
    NormalizedCut,
    PoissonMBO,
    SpectralLearning,
)
from sidecut.evaluation import adjusted_rand_index
from sidecut.exceptions import SpectralError
from sidecut.graphs import Neighbors, SparseGraph

Sample = tuple[np.ndarray, np.ndarray]

METHODS = {
    method.__name__: method for method in (SpectralLearning, CSP, E2CP, CSAP, NCSC, LCSC, CCSR, PoissonMBO)
}
#: Methods whose graph is exact, but not the vectors they find on it, and how to find these exactly.
EXACTLY = {CSP: {"tol": 1e-10}, CCSR: {"eigen_solver": "lanczos"}}
#: Sets made here; those of a data folder are asked for by the names of their files.
MADE = ("blobs", "unbalanced", "moons", "rings", "duplicates", "components")
STORED = ("mnist", "covtype", "letter", "pendigits", "usps")


def blobs(n: int) -> Sample:
    """Ten overlapping clusters in 30 dimensions."""
    return make_blobs(n, 30, centers=10, cluster_std=6.0, random_state=0)


def unbalanced(n: int) -> Sample:
    """Six clusters, each half as large as the one before it."""
    shares = 0.5 ** np.arange(6)
    sizes = np.maximum((n * shares / shares.sum()).astype(int), 20)
    sizes[0] += n - sizes.sum()
    X, y = make_blobs(sizes.tolist(), 10, cluster_std=4.0, random_state=0)
    return X, y


def moons(n: int) -> Sample:
    """Two moons in the plane."""
    return make_moons(n, noise=0.15, random_state=0)


def rings(n: int) -> Sample:
    """A ring around another, in the plane."""
    return make_circles(n, noise=0.08, factor=0.6, random_state=0)


def duplicates(n: int) -> Sample:
    """Blobs in which every third point is a copy of another."""
    X, y = blobs(n)
    copied = np.arange(0, n - 1, 3)
    X[copied], y[copied] = X[copied + 1], y[copied + 1]
    return X, y


def components(n: int) -> Sample:
    """Six classes, each of many groups that lie far apart: the graph falls into as many components."""
    X, group = make_blobs(n, 5, centers=max(20, n // 100), center_box=(-100.0, 100.0), random_state=0)
    return X, group % 6


def sample(name: str, n_points: int, data: Path | None) -> Sample | None:
    """Return some points of a data set and their classes, or None where it has fewer."""
    made: dict[str, Callable[[int], Sample]] = {
        "blobs": blobs,
        "unbalanced": unbalanced,
        "moons": moons,
        "rings": rings,
        "duplicates": duplicates,
        "components": components,
    }
    if name in made:
        return made[name](n_points)
    if data is None:
        return None
    with np.load(data / f"{name}.npz") as file:
        X, y = file["X"], file["y"].astype(int)
    if len(y) < n_points:
        return None
    chosen = np.random.default_rng(0).permutation(len(y))[:n_points]
    X = X[chosen].reshape(n_points, -1).astype(np.float64)
    spread = X.std(axis=0)
    # The features of CoverType have units of their own.
    return (X / np.where(spread > 0, spread, 1.0) if name == "covtype" else X), y[chosen]


def compare(
    name: str,
    drawn: Sample,
    known: dict[str, Callable[[np.ndarray, int], Constraints]],
    methods: Iterable[str],
    repeats: int,
    slowest: float,
) -> list[dict]:
    """Return a row for every method and kind of knowledge, in processor time beside NormalizedCut's.

    A method that took longer than `slowest` seconds is run once; one that finds no eigenvectors has no row.
    """
    X, y = drawn
    graph, n_clusters = Neighbors(20).build(X), int(y.max()) + 1
    plain = NormalizedCut(n_clusters, affinity="precomputed", random_state=0)
    plain.fit(graph)
    rows = []
    for told, draw in known.items():
        constraints = draw(y, 0)
        for method in methods:
            model = METHODS[method](n_clusters, affinity="precomputed", random_state=0)
            work = lambda m=model, c=constraints: m.fit(graph, constraints=c)  # noqa: E731
            row = {"data": name, "points": len(y), "known": told, "method": method}
            try:
                _, ours = timed(work, time.process_time)
            except SpectralError as error:
                print(row, error, flush=True)
                continue
            _, theirs = timed(lambda: plain.fit(graph), time.process_time)
            if ours <= slowest:
                ours, theirs = alternately([work, lambda: plain.fit(graph)], repeats, time.process_time)
            row |= {"sidecut": ours, "NormalizedCut": theirs}
            row |= {"ARI": adjusted_rand_index(y, model.labels_), "ARI without": _plain_ari(y, plain)}
            rows.append(row)
            print(row, flush=True)
    return rows


def _plain_ari(y: np.ndarray, plain: NormalizedCut) -> float:
    return float(adjusted_rand_index(y, plain.labels_))


def beside_exact(
    name: str,
    drawn: Sample,
    known: dict[str, Callable[[np.ndarray, int], Constraints]],
    methods: Iterable[str],
    n_draws: int,
) -> list[dict]:
    """Return for every method its ARI beside the exact method's and the errors of its graph, means of draws.

    The stated error is the one the model tells, the true one the mean over all points of the share of the
    degree by which their rows of the graph differ. CSP's graph is exact, and CCSR's.
    """
    X, y = drawn
    graph, n_clusters = Neighbors(20).build(X), int(y.max()) + 1
    rows = []
    for told, draw in known.items():
        for method in methods:
            found = [
                _one_beside_exact(METHODS[method], graph, y, n_clusters, draw(y, 10 + k))
                for k in range(n_draws)
            ]
            means = {key: float(np.mean([one[key] for one in found])) for key in found[0]}
            worst = max(one["exact ARI"] - one["ARI"] for one in found)
            row = {"data": name, "points": len(y), "known": told, "method": method, "draws": n_draws}
            rows.append(row | means | {"most lost": worst})
            print(rows[-1], flush=True)
    return rows


def _one_beside_exact(
    method: type, graph: SparseGraph, y: np.ndarray, n_clusters: int, constraints: Constraints
) -> dict:
    exactly = EXACTLY.get(method, {"approximate": False})
    quick = method(n_clusters, affinity="precomputed", random_state=0)
    exact = method(n_clusters, affinity="precomputed", random_state=0, **exactly)
    for model in (quick, exact):
        model.fit(graph, constraints=constraints)
    row = {"ARI": adjusted_rand_index(y, quick.labels_), "exact ARI": adjusted_rand_index(y, exact.labels_)}
    if method in EXACTLY:
        return row
    weights = exact.affinity_matrix_.toarray()
    wrong = np.abs(quick.affinity_matrix_.toarray() - weights).sum(axis=0)
    true_error = float(np.mean(wrong / np.maximum(weights.sum(axis=0), 1e-300)))
    stated = quick.approximation_error_ if method is E2CP else true_error
    return row | {"stated error": stated, "true error": true_error}
