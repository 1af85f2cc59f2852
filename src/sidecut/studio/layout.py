"""Where the points are on the map, and numbers that stay with a cluster while answers change it."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.manifold import TSNE

from sidecut.active.precomputed import Precomputed
from sidecut.checks import FloatArray, IntArray
from sidecut.graphs import Graph
from sidecut.labelling import unit_rows


def place_points(precomputed: Precomputed, graph: Graph, random_state: int = 0) -> FloatArray:
    """Return a place in the square [-1, 1]² for every point; similar points are near each other.

    The grains are placed by t-SNE, by their features or else by their spectral coordinates. Where grains have
    more than one point, each point goes to the mean place of the grains of its neighbours in the graph.
    """
    places = _place_grains(_coordinates(precomputed), random_state)
    grain = precomputed.micro_clusters.index_of
    if len(places) < len(grain):
        places = _spread(places, grain, sp.csr_array(graph.matrix), random_state)
    return fit_square(places)


def fit_square(places: FloatArray, keep_shape: bool = True) -> FloatArray:
    """Move and scale places into [-1, 1]²; both axes alike, unless they are different columns."""
    low, high = places.min(axis=0), places.max(axis=0)
    spans = np.where(high > low, high - low, 1.0)
    return 2.0 * (places - (low + high) / 2) / (spans.max() if keep_shape else spans)


def _coordinates(precomputed: Precomputed) -> FloatArray:
    features: Any = precomputed.features
    if features is None:
        return np.asarray(unit_rows(precomputed.eigenvectors), dtype=float)
    # t-SNE gets at most 30 dimensions.
    if features.shape[1] <= 30 and not sp.issparse(features):
        return np.asarray(features, dtype=float)
    n = min(30, min(features.shape) - 1)
    reduce = TruncatedSVD(n, random_state=0) if sp.issparse(features) else PCA(n, random_state=0)
    return np.asarray(reduce.fit_transform(features), dtype=float)


def _place_grains(coordinates: FloatArray, random_state: int) -> FloatArray:
    n = len(coordinates)
    if n < 8:
        return np.pad(coordinates, ((0, 0), (0, 2)))[:, :2]
    start = "pca" if coordinates.shape[1] > 1 else "random"
    # Fewer neighbours where there are few points, whose groups would otherwise shrink to dots.
    perplexity = min(30, max(0.07 * n, 5.0), (n - 1) / 3)
    tsne = TSNE(init=start, max_iter=400, perplexity=perplexity, random_state=random_state)
    return np.asarray(tsne.fit_transform(coordinates), dtype=float)


def _spread(places: FloatArray, grain: IntArray, weights: sp.csr_array, random_state: int) -> FloatArray:
    """Put every point near the mean place of its neighbours' grains, with noise to keep points apart."""
    degrees = np.asarray(weights.sum(axis=1)).ravel()
    means = (weights @ places[grain]) / np.maximum(degrees, 1e-12)[:, None]
    own = places[grain]
    around = np.where(degrees[:, None] > 0, (means + own) / 2, own)
    step = np.sqrt(np.prod(np.ptp(places, axis=0)) / len(places))
    return around + np.random.RandomState(random_state).normal(0.0, 0.3 * step, around.shape)


def first_numbers(labels: IntArray) -> IntArray:
    """Return a number for every cluster, the largest first; its colour follows from the number."""
    sizes = np.bincount(labels)
    numbers = np.empty(len(sizes), dtype=np.intp)
    numbers[np.argsort(-sizes, kind="stable")] = np.arange(len(sizes))
    return numbers


def carry_numbers(shown: IntArray, first: IntArray, labels: IntArray) -> IntArray:
    """Return numbers for new clusters: each takes the number most of its points had, if that is free.

    What a point had before the first answer counts as much as what it had last: a cluster that splits and
    grows together again gets its number back.
    """
    known = max(shown.max(), first.max()) + 1
    shared = np.zeros((known, int(labels.max()) + 1), dtype=np.intp)
    np.add.at(shared, (shown, labels), 1)
    np.add.at(shared, (first, labels), 1)
    numbers = np.full(shared.shape[1], -1, dtype=np.intp)
    for at in np.argsort(-shared, axis=None, kind="stable"):
        number, cluster = np.unravel_index(int(at), shared.shape)
        if shared[number, cluster] and numbers[cluster] < 0 and number not in numbers:
            numbers[cluster] = number
    free = (number for number in range(len(numbers) + known) if number not in numbers)
    for cluster in np.flatnonzero(numbers < 0):
        numbers[cluster] = next(free)
    return numbers
