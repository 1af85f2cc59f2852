"""Scattered pairs leave hundreds of feasible cuts: the few that are used are found without the others."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris, make_blobs
from sklearn.preprocessing import StandardScaler

from sidecut import CSP
from sidecut.constraints import sample_labels, sample_pairs
from sidecut.evaluation import adjusted_rand_index
from sidecut.graphs import Neighbors, NormalizedAffinity, as_graph
from sidecut.methods.csp.cuts import choose_beta, constraint_spectrum, feasible_cuts
from sidecut.spectral import laplacian_eigenpairs


@pytest.fixture(scope="module")
def scattered():
    X, y = make_blobs(1_500, 6, centers=4, cluster_std=3.5, random_state=0)
    return Neighbors(15).build(X), y, sample_pairs(y, 900, random_state=0)


@pytest.fixture(scope="module")
def two_clusters():
    X, y = make_blobs(1_000, 2, centers=2, cluster_std=3.0, random_state=0)
    return Neighbors(15).build(X), sample_pairs(y, 600, random_state=0)


def angle(first, second):
    """The smallest cosine between two subspaces."""
    bases = (np.linalg.qr(vectors)[0] for vectors in (first, second))
    return np.linalg.svd(np.matmul(*(basis if k else basis.T for k, basis in enumerate(bases))))[1].min()


def test_the_cuts_of_least_cost_are_those_of_all(scattered):
    graph, _, known = scattered
    smooth = laplacian_eigenpairs(graph, 4, random_state=0).vectors
    few = feasible_cuts(graph, known, n_clusters=4, max_cuts=8, smooth=lambda: smooth)
    many = feasible_cuts(graph, known, n_clusters=4, max_cuts=60, tol=1e-8)
    assert few.beta == pytest.approx(many.beta, rel=1e-6)
    assert angle(few.vectors[:, :3], many.vectors[:, :3]) > 0.99999
    np.testing.assert_allclose(few.costs[:3], many.costs[:3], rtol=1e-4)
    assert (few.residuals[:3] < 1e-4).all()
    assert (few.satisfactions > few.beta).all()
    assert not few.complete


def test_start_vectors_are_asked_for_only_where_cuts_are_many(scattered):
    graph, y, _ = scattered

    def unexpected():
        raise AssertionError("Labels leave few cuts.")

    known = sample_labels(y, 1_200, random_state=0)
    cuts = feasible_cuts(graph, known, n_clusters=4, max_cuts=8, smooth=unexpected)
    assert cuts.complete
    assert cuts.count_is_exact


def test_leading_eigenvalues_of_many_points_are_those_of_the_whole_spectrum(scattered):
    graph, _, known = scattered
    assert known.constrained_points.size > 1_000
    scale = NormalizedAffinity(graph).scale
    some, _ = constraint_spectrum(known, scale, graph.degrees, "auto", 4, 8)
    whole, _ = constraint_spectrum(known, scale, graph.degrees, "auto", 4)
    assert whole.is_exact
    assert not some.is_exact
    assert some.values.size == 10 < whole.values.size
    np.testing.assert_allclose(some.values, whole.values[:10], rtol=0.02)
    assert (some.values <= whole.values[:10] * (1 + 1e-12)).all()


def tried(graph, known, k, score):
    """The cuts of the usual β, those that a score chooses, and all that it was asked about."""
    smooth = laplacian_eigenpairs(graph, k, random_state=0).vectors
    common = {"n_clusters": k, "max_cuts": k + 4, "smooth": lambda: smooth}
    seen = []

    def note(cuts):
        seen.append(cuts)
        return score(cuts)

    return feasible_cuts(graph, known, **common), feasible_cuts(graph, known, **common, score=note), seen


def test_the_bound_of_the_highest_score_is_taken_and_its_cuts_are_exact(scattered):
    graph, _, known = scattered
    usual, lowered, seen = tried(graph, known, 4, score=lambda cuts: 0.5 - 1e-4 * cuts.beta)
    assert lowered.beta == pytest.approx(usual.beta / 8)
    exact = feasible_cuts(graph, known, lowered.beta, n_clusters=4, max_cuts=20)
    assert angle(lowered.vectors[:, :3], exact.vectors[:, :3]) > 0.9999
    # No score is asked for cuts that are known roughly.
    assert all(np.sort(cuts.residuals)[:3].max() < 1e-4 for cuts in seen)


def test_the_bound_of_eq_19_is_tried_with_two_clusters(two_clusters):
    graph, known = two_clusters
    spectrum, _ = constraint_spectrum(known, graph.scale, graph.degrees, "eq19", 2, 6)
    eq19 = choose_beta("eq19", spectrum, 2)
    usual, taken, seen = tried(graph, known, 2, score=lambda cuts: 0.5 + 0.1 * (cuts.beta == eq19))
    assert [cuts.beta for cuts in seen[:2]] == [usual.beta, eq19]
    assert taken.beta == eq19


def test_a_small_gain_does_not_raise_the_bound(two_clusters):
    usual, kept, seen = tried(*two_clusters, 2, score=lambda cuts: 0.5 + 1e-6 * cuts.beta)
    assert kept.beta == usual.beta
    assert len(seen) == 3


def test_nothing_else_is_tried_where_nothing_can_be_gained(scattered):
    graph, _, known = scattered
    _, _, seen = tried(graph, known, 4, score=lambda cuts: 0.99)
    assert len(seen) == 1


def test_two_clusters_may_have_a_larger_bound(two_clusters):
    usual, raised, _ = tried(*two_clusters, 2, score=lambda cuts: 0.1 + 1e-4 * cuts.beta)
    assert raised.beta > 2 * usual.beta
    assert (raised.satisfactions > raised.beta).all()


def test_a_bound_that_clusters_cannot_reach_is_not_tried():
    """Fifteen clusters satisfy few of the pairs, even the true ones: larger bounds follow single pairs."""
    X, y = make_blobs(900, 2, centers=15, random_state=0)
    graph, known = Neighbors(15).build(X), sample_pairs(y, 300, random_state=0)
    usual, _, seen = tried(graph, known, 15, score=lambda cuts: 0.5)
    assert max(cuts.beta for cuts in seen) == usual.beta


@pytest.mark.parametrize("draw", [2, 3])
def test_two_overlapping_clusters_gain_from_a_larger_bound(draw):
    """On wdbc, twice and four times the usual β are worse than that of eq. 19, which was not tried."""
    X, y = load_breast_cancer(return_X_y=True)
    known = sample_pairs(y, len(y), random_state=draw)
    model = CSP(2, random_state=0).fit(StandardScaler().fit_transform(X), constraints=known)
    assert adjusted_rand_index(y, model.labels_) > 0.9


def test_a_bound_is_not_left_because_its_cuts_are_known_roughly():
    """On iris the second cut cost .886 in the span of rough vectors, and costs .059."""
    X, y = load_iris(return_X_y=True)
    model = CSP(3, random_state=0).fit(X, constraints=sample_pairs(y, 150, random_state=0))
    assert adjusted_rand_index(y, model.labels_) > 0.93


def test_on_a_small_graph_the_cheapest_cuts_are_those_of_all():
    """Of the K + 4 cuts of smallest λ, the K - 1 cheapest need not be the cheapest of all."""
    rng = np.random.default_rng(30)
    weights = np.triu(rng.random((40, 40)) * (rng.random((40, 40)) < 0.3), 1)
    known = sample_pairs(rng.integers(0, 3, 40), 40, random_state=0)
    graph = as_graph(weights + weights.T)
    model = CSP(3, affinity="precomputed", safe=False, random_state=0).fit(graph, constraints=known)
    every = feasible_cuts(graph, known, model.beta_, n_clusters=3)
    assert every.complete
    np.testing.assert_allclose(model.costs_, every.costs[:2], rtol=1e-3)
