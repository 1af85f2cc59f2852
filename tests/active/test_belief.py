"""The belief is Gaussian process regression; left-out forecasts are those of a refit."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_blobs
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF
from sklearn.metrics import pairwise_distances

from sidecut.active.belief import (
    NOISE,
    TRUSTS,
    Indicators,
    PairOdds,
    as_shares,
    class_counts,
    indicate,
    infer,
    join,
    learn_new_rate,
    left_out_scores,
    place,
    regress,
)
from sidecut.active.precomputed import gaussian_kernel, graph_kernel, precompute
from sidecut.graphs import Neighbors

INF = np.inf


@pytest.fixture(scope="module")
def blobs():
    X, y = make_blobs(60, 2, centers=3, cluster_std=1.5, random_state=0)
    return X, y, precompute(Neighbors(8).build(X), X, np.empty(0, int), None, np.random.RandomState(0))


def knowledge_of(y, precomputed, others=()):
    """Compare all centres, and some others, with the first point of each class."""
    nodes = [*precomputed.centers, *others]
    first = {}
    links = []
    for node in nodes:
        for c, anchor in first.items():
            if anchor != node:
                links.append(PairOdds(int(node), int(anchor), INF if y[node] == c else -INF))
        first.setdefault(y[node], node)
    return join(links, precomputed.centers, [])


def test_with_no_trust_the_forecast_is_that_of_a_gaussian_process(blobs):
    X, y, precomputed = blobs
    known = knowledge_of(y, precomputed, others=[3, 17, 40])
    is_class = np.ones(known.n_groups, dtype=bool)
    belief = regress(precomputed, known, is_class, precomputed.kernels[1], trust=0.0, new_rate=0.1)
    seen = indicate(known, is_class)

    gram = precomputed.kernels[1]
    textbook = gram[:, seen.known] @ np.linalg.solve(
        gram[np.ix_(seen.known, seen.known)] + NOISE * np.eye(len(seen.known)), seen.rows
    )
    # A route of its own: scikit-learn's regressor with the same Gaussian kernel.
    squares = pairwise_distances(X) ** 2
    width = np.sqrt(np.median(squares[squares > 0]) / 2)
    model = GaussianProcessRegressor(RBF(width), alpha=NOISE, optimizer=None).fit(X[seen.known], seen.rows)
    np.testing.assert_allclose(model.predict(X), textbook, atol=1e-8)
    positive = np.clip(textbook, 0, None)
    outside = ~belief.is_placed
    np.testing.assert_array_equal(belief.labels[outside], positive[outside].argmax(axis=1))
    _, deviation = model.predict(X, return_std=True)
    np.testing.assert_allclose(belief.variances, deviation[:, 0] ** 2, atol=1e-8)


@pytest.mark.parametrize("trust", TRUSTS)
def test_left_out_forecasts_are_those_of_a_refit(blobs, trust):
    _, y, precomputed = blobs
    known = knowledge_of(y, precomputed, others=[3, 17, 40, 51])
    is_class = np.ones(known.n_groups, dtype=bool)
    seen = indicate(known, is_class)
    kernel, total = precomputed.kernels[2], 0.0
    for out in range(len(seen.known)):
        rest = np.delete(np.arange(len(seen.known)), out)
        part = Indicators(seen.known[rest], seen.rows[rest], seen.noise[rest])
        gram = kernel[np.ix_(part.known, part.known)] + NOISE * np.eye(len(rest))
        # The prior of every known point is that of the others of its initial cluster.
        clusters = precomputed.initial_clusters[seen.known]
        counts = class_counts(clusters, seen.rows, clusters.max() + 1)[clusters] - seen.rows
        prior = trust * as_shares(counts)
        weights = np.linalg.solve(gram, part.rows - prior[rest])
        forecast = prior[out] + kernel[seen.known[out], part.known] @ weights
        chances = np.clip(forecast, 0, None)
        chances = chances / max(1.0, chances.sum())
        total += np.log(0.95 * chances[seen.columns[out]] + 0.05 / len(chances))
    scores = left_out_scores(precomputed, kernel, seen, np.arange(len(seen.known)))
    assert scores[TRUSTS.index(trust)] == pytest.approx(total)


def test_covariances_are_those_after_the_known_points(blobs):
    _, y, precomputed = blobs
    belief = infer(precomputed, knowledge_of(y, precomputed))
    gram, seen = belief.kernel, belief.known
    textbook = gram - gram[:, seen] @ np.linalg.solve(
        gram[np.ix_(seen, seen)] + NOISE * np.eye(len(seen)), gram[seen]
    )
    np.testing.assert_allclose(belief.covariances(np.arange(60)), textbook, atol=1e-9)


def test_linkage_is_the_cut_over_the_weight_inside_the_smaller_class(blobs):
    _, y, precomputed = blobs
    belief = infer(precomputed, knowledge_of(y, precomputed))
    W = precomputed.weights.toarray()
    a, b = belief.labels == 0, belief.labels == 1
    inside = min(W[np.ix_(a, a)].sum(), W[np.ix_(b, b)].sum())
    assert belief.linkage[0, 1] == pytest.approx(W[np.ix_(a, b)].sum() / inside)


def test_a_point_apart_from_all_classes_is_a_new_one(blobs):
    _, _, precomputed = blobs
    first, *others = (int(c) for c in precomputed.centers)
    x = next(k for k in range(60) if k not in precomputed.centers)
    links = [PairOdds(first, c, INF) for c in others] + [PairOdds(x, first, -INF)]
    belief = infer(precomputed, join(links, precomputed.centers, []))
    assert belief.n_classes == 2
    assert belief.labels[x] != belief.labels[first]


def test_places_after_a_no_to_all_are_new():
    assert place(np.array([0.5, 0.5]), np.array([-INF, -INF]), 0.0).tolist() == [0, 0, 1]


def test_chances_are_chances(blobs):
    _, y, precomputed = blobs
    belief = infer(precomputed, knowledge_of(y, precomputed, others=[5, 9]))
    assert np.all(belief.chances >= 0)
    np.testing.assert_allclose(belief.chances.sum(axis=1), 1.0)


# Kernels


def test_graph_kernel_counts_walks():
    # (I - αĀ)⁻¹ is the sum of the walks α^t Ā^t.
    rng = np.random.RandomState(0)
    W = np.triu(rng.rand(6, 6), 1)
    W = W + W.T
    degrees = W.sum(axis=1)
    affinity = W / np.sqrt(np.outer(degrees, degrees))
    walks = sum(0.7**t * np.linalg.matrix_power(affinity, t) for t in range(200))
    scale = np.sqrt(np.diag(walks))
    np.testing.assert_allclose(graph_kernel(sp.csr_array(W), 0.7), walks / np.outer(scale, scale), atol=1e-10)


def test_gaussian_kernel_of_equal_rows_is_one():
    assert np.all(gaussian_kernel(np.ones((3, 2))) == 1.0)


def test_the_rate_of_new_classes_is_the_mode_of_its_posterior():
    """Groups of two kinds: a new class explains some better than the known ones, and others worse."""
    likelihood = np.array([0.05, 0.1, 0.3, 2.0, 3.0])  # of the known classes, that of a new one being 1
    rates = np.linspace(0.001, 0.999, 9_981)
    log_chance = np.log(rates[:, None] + (1 - rates[:, None]) * likelihood).sum(axis=1)
    log_chance += (2 + 1) * np.log(rates) + (10 - 2 + 4) * np.log(1 - rates)
    first = 0.2
    of_new = first / (first + (1 - first) * likelihood)
    found = learn_new_rate(first, of_new, n_new=2, n_placed=10)
    assert found == pytest.approx(rates[np.argmax(log_chance)], abs=1e-3)
