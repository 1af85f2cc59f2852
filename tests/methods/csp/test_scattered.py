"""Scattered pairs leave hundreds of feasible cuts: the few that are used are found without the others."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs, make_circles

from sidecut.constraints import sample_labels, sample_pairs
from sidecut.graphs import Neighbors, NormalizedAffinity
from sidecut.methods.csp import cuts as cuts_module
from sidecut.methods.csp.cuts import constraint_spectrum, feasible_cuts
from sidecut.spectral import laplacian_eigenpairs


@pytest.fixture(scope="module")
def scattered():
    X, y = make_blobs(1_500, 6, centers=4, cluster_std=3.5, random_state=0)
    return Neighbors(15).build(X), y, sample_pairs(y, 900, random_state=0)


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
    assert angle(few.vectors[:, :3], many.vectors[:, :3]) > 0.995
    np.testing.assert_allclose(few.costs[:3], many.costs[:3], rtol=1e-2)
    assert (few.residuals[:3] < 1e-2).all()
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


def tried(scattered, better):
    """The cuts where a judge finds those of one share of the usual bound better, and the usual bound."""
    graph, _, known = scattered
    smooth = laplacian_eigenpairs(graph, 4, random_state=0).vectors
    common = {"n_clusters": 4, "max_cuts": 8, "smooth": lambda: smooth}
    usual = feasible_cuts(graph, known, **common)
    seen = []

    def score(vectors, costs):
        seen.append(costs)
        return float(len(seen) == better)

    return feasible_cuts(graph, known, **common, score=score), usual, seen


def test_where_cuts_are_dear_a_smaller_bound_is_tried_and_taken_if_better(scattered, monkeypatch):
    monkeypatch.setattr(cuts_module, "MAX_COST", 0.0)
    lowered, usual, seen = tried(scattered, better=2)
    assert lowered.beta == pytest.approx(usual.beta / 8)
    assert len(seen) == 2
    assert seen[1].max() < seen[0].max()
    graph, _, known = scattered
    exact = feasible_cuts(graph, known, lowered.beta, n_clusters=4, max_cuts=60, tol=1e-8)
    assert angle(lowered.vectors[:, :3], exact.vectors[:, :3]) > 0.999


def test_the_usual_bound_stays_where_it_is_better_or_its_cuts_are_cheap(scattered, monkeypatch):
    monkeypatch.setattr(cuts_module, "MAX_COST", 0.0)
    kept, usual, _ = tried(scattered, better=1)
    assert kept.beta == usual.beta
    monkeypatch.setattr(cuts_module, "MAX_COST", 2.0)
    kept, usual, seen = tried(scattered, better=2)
    assert kept.beta == usual.beta
    assert len(seen) == 1


def test_two_clusters_may_have_a_larger_bound():
    X, y = make_blobs(1_500, 2, centers=2, cluster_std=3.0, random_state=0)
    graph, known = Neighbors(15).build(X), sample_pairs(y, 900, random_state=0)
    smooth = laplacian_eigenpairs(graph, 2, random_state=0).vectors
    scores = iter([0.5, 0.6, 0.55])
    common = {"n_clusters": 2, "max_cuts": 6, "smooth": lambda: smooth}
    usual = feasible_cuts(graph, known, **common)
    raised = feasible_cuts(graph, known, **common, score=lambda vectors, costs: next(scores))
    assert raised.beta == pytest.approx(2 * usual.beta)
    assert (raised.satisfactions > raised.beta).all()


def test_a_dear_cut_in_two_is_no_reason_for_a_larger_bound():
    X, y = make_circles(3_000, noise=0.08, factor=0.6, random_state=0)
    graph, known = Neighbors(20).build(X), sample_pairs(y, 600, random_state=0)
    smooth = laplacian_eigenpairs(graph, 2, random_state=0).vectors
    common = {"n_clusters": 2, "max_cuts": 6, "smooth": lambda: smooth}
    seen = []

    def score(vectors, costs):
        seen.append(costs[0])
        return float(len(seen))

    cuts = feasible_cuts(graph, known, **common, score=score)
    assert len(seen) == 1
    assert seen[0] > 0.25 > cuts.costs[0]
