"""NCSC as a whole: its limits, its prices, its starts, and what it refuses."""

import warnings
from functools import partial

import numpy as np
import pytest
import scipy.linalg
from scipy.linalg import subspace_angles
from sklearn.base import clone
from sklearn.datasets import make_blobs

from sidecut import LCSC, NCSC, Constraints
from sidecut.constraints import sample_labels, sample_pairs
from sidecut.datasets import make_example
from sidecut.evaluation import clustering_accuracy
from sidecut.exceptions import ConflictError, ConvergenceWarning, GraphWarning
from sidecut.graphs import DenseGraph, Gaussian, GaussianGraph, Neighbors
from sidecut.methods.ncsc.ncsc import mean_degree

# The methods themselves are tested here; the guard has tests of its own.
NCSC = partial(NCSC, safe=False)
LCSC = partial(LCSC, safe=False)

IRIS = make_example("iris")
GRAPH = Neighbors(20).build(IRIS.X)


def model(**more):
    return NCSC(**{"n_clusters": 3, "affinity": "precomputed", "random_state": 0, **more})


# Its limits


def test_the_eigenvectors_of_the_start_minimise_eq_6_without_nonnegativity():
    """The eigenvectors of (L + γ_m (Dᵐ - Qᵐ), D), by LAPACK."""
    links = sample_pairs(IRIS.y, 60, random_state=0)
    weights, Q = GRAPH.toarray(), links.as_matrix().toarray()
    must, degrees = np.maximum(Q, 0.0), GRAPH.degrees
    G = np.diag(degrees) - weights + 3.0 * (np.diag(must.sum(axis=1)) - must)
    values, Y = scipy.linalg.eigh(G, np.diag(degrees), subset_by_index=(0, 2))
    found = model(gamma_must=3.0).fit(GRAPH, constraints=links)
    np.testing.assert_allclose(found.eigenvalues_, values, atol=1e-9)
    assert subspace_angles(found.eigenvectors_, np.sqrt(degrees)[:, None] * Y).max() < 1e-6


def test_proposition_1_the_gap_to_lcsc_shrinks_as_one_over_gamma():
    links = Constraints.from_pairs(150, must_link=sample_pairs(IRIS.y, 80, random_state=1).must_link)
    limit = LCSC(3, affinity="precomputed", safe=False, random_state=0).fit(GRAPH, constraints=links)
    gaps = []
    for gamma in (1e2, 1e3, 1e4):
        near = model(gamma_must=gamma).fit(GRAPH, constraints=links)
        gaps.append(np.sin(subspace_angles(near.eigenvectors_, limit.eigenvectors_).max()))
    assert gaps[0] / gaps[1] == pytest.approx(10.0, rel=0.1)
    assert gaps[1] / gaps[2] == pytest.approx(10.0, rel=0.1)
    exact = model(gamma_must=np.inf).fit(GRAPH, constraints=links)
    np.testing.assert_allclose(exact.eigenvalues_, limit.eigenvalues_, atol=1e-12)


def test_a_very_large_price_is_the_infinite_one():
    links = Constraints.from_labels(np.where(np.arange(150) % 10 == 0, IRIS.y, -1))
    one = model(gamma_must=np.inf, gamma_cannot=5.0).fit(GRAPH, constraints=links)
    other = model(gamma_must=300.0, gamma_cannot=5.0, tol=1e-7, max_iter=5000).fit(GRAPH, constraints=links)
    assert links.satisfaction(other.labels_) == 1.0
    assert np.mean(one.labels_ == other.labels_) > 0.97
    assert other.objective_ == pytest.approx(one.objective_, rel=0.05)


# What it returns


@pytest.mark.parametrize("solver", ["projected", "exchange"])
@pytest.mark.parametrize(
    "known", [sample_labels(IRIS.y, 20, random_state=0), sample_pairs(IRIS.y, 100, random_state=0)]
)
def test_results_are_what_they_are_called(known, solver):
    found = model(solver=solver).fit(GRAPH, constraints=known)
    Y = found.indicators_
    np.testing.assert_allclose(Y.T @ (GRAPH.degrees[:, None] * Y), np.eye(3), atol=1e-10)
    assert (Y >= 0).all()
    np.testing.assert_array_equal(found.labels_, found.embedding_.argmax(axis=1))
    inside = Y.max(axis=1) > 0
    np.testing.assert_array_equal(found.labels_[inside], Y.argmax(axis=1)[inside])
    assert (np.diff(found.objective_trace_) <= 0).all()
    assert len(found.objective_trace_) == found.n_iter_ + 1
    assert found.gamma_must_ == np.inf
    assert found.gamma_cannot_ == pytest.approx(GRAPH.degrees.mean())


def test_the_objective_is_eq_6():
    known = sample_labels(IRIS.y, 20, random_state=0)
    found = model(gamma_must=1.5, gamma_cannot=0.5, tol=1e-3).fit(GRAPH, constraints=known)
    Q = known.with_diagonal(0.0).as_matrix().toarray()
    must, cannot = np.maximum(Q, 0.0), np.maximum(-Q, 0.0)
    G = np.diag(GRAPH.degrees) - GRAPH.toarray() + 1.5 * (np.diag(must.sum(axis=1)) - must) + 0.5 * cannot
    assert found.objective_ == pytest.approx(np.trace(found.indicators_.T @ G @ found.indicators_))


@pytest.mark.parametrize("solver", ["projected", "exchange", "multiplicative"])
def test_sparse_dense_and_applied_agree(solver):
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(25, 2)), rng.normal(size=(25, 2)) + 4.0])
    known = Constraints.from_labels(np.where(np.arange(50) % 5 == 0, np.arange(50) // 25, -1))
    lazy = GaussianGraph(X, 1.0)
    settings = {"n_clusters": 2, "solver": solver, "gamma_must": 1.0, "gamma_cannot": 1.0, "max_iter": 3000}
    one = model(**settings).fit(lazy, constraints=known)
    other = model(**settings).fit(DenseGraph(lazy.toarray()), constraints=known)
    np.testing.assert_allclose(one.indicators_, other.indicators_, atol=1e-2 * one.indicators_.max())
    np.testing.assert_array_equal(one.labels_, other.labels_)


# Solvers and starts


def test_the_printed_price_freezes_the_printed_updates_and_says_so():
    """γ_m = 1e4, section 5: the result is its start."""
    known = sample_pairs(IRIS.y, 100, random_state=0)
    printed = {"solver": "multiplicative", "gamma_must": 1e4, "gamma_cannot": 1.0, "init": "kmeans"}
    with pytest.warns(ConvergenceWarning, match=r"d_min/σ = .*e-0[4-9] of its way.*solver='projected'"):
        frozen = model(**printed, max_iter=300).fit(GRAPH, constraints=known)
    with pytest.warns(ConvergenceWarning):
        start = model(**printed, max_iter=1).fit(GRAPH, constraints=known)
    np.testing.assert_array_equal(frozen.labels_, start.labels_)
    moved = model(gamma_must=np.inf, gamma_cannot=10.0).fit(GRAPH, constraints=known)
    assert known.satisfaction(moved.labels_) > known.satisfaction(frozen.labels_)


def test_too_few_iterations_are_said():
    known = sample_pairs(IRIS.y, 100, random_state=0)
    for solver in ("projected", "exchange"):
        with pytest.warns(ConvergenceWarning, match=f"{solver} solver did not converge in 1 iterations"):
            model(solver=solver, max_iter=1, tol=1e-12).fit(GRAPH, constraints=known)


def test_exchanges_end_lowest():
    known = sample_labels(IRIS.y, 24, random_state=0)
    for gamma_must in (10.0, np.inf):
        by_steps = model(gamma_must=gamma_must).fit(GRAPH, constraints=known)
        by_moves = model(gamma_must=gamma_must, solver="exchange").fit(GRAPH, constraints=known)
        assert by_moves.objective_ <= by_steps.objective_
        assert by_moves.objective_ == pytest.approx(by_moves.objective_trace_[-1])
        assert by_moves.overlap_ == np.inf
        assert known.satisfaction(by_moves.labels_) == 1.0


def test_a_start_of_ones_own():
    known = sample_labels(IRIS.y, 10, random_state=0)
    Y0 = np.eye(3)[IRIS.y] + 0.01
    before = Y0.copy()
    found = model(init=Y0).fit(GRAPH, constraints=known)
    np.testing.assert_array_equal(Y0, before)
    assert clustering_accuracy(IRIS.y, found.labels_) > 0.93
    # Label k means column k of the start.
    assert np.mean(found.labels_ == IRIS.y) > 0.93


@pytest.mark.parametrize("solver", ["projected", "exchange", "multiplicative"])
@pytest.mark.parametrize("gamma_must", [10.0, np.inf])
def test_the_start_of_another_fit_saves_the_eigenvectors_and_changes_nothing(solver, gamma_must):
    known = sample_labels(IRIS.y, 24, random_state=0)
    settings = {"solver": solver, "gamma_must": gamma_must, "gamma_cannot": 1.0, "max_iter": 50, "tol": 0.01}
    with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):
        first = model(**settings).fit(GRAPH, constraints=known)
        again = clone(first).set_params(init=first.start_).fit(GRAPH, constraints=known)
    assert hasattr(first, "eigenvalues_")
    assert not hasattr(again, "eigenvalues_")
    np.testing.assert_allclose(again.start_, first.start_, rtol=1e-14)
    np.testing.assert_allclose(again.objective_, first.objective_, rtol=1e-4)
    np.testing.assert_array_equal(again.labels_, first.labels_)


def test_seeds_find_what_k_means_cannot():
    """Digits with 50 labels: k-means on eigenvectors holds two classes in one cluster."""
    digits = make_example("digits")
    known = sample_labels(digits.y, 50, random_state=1)
    graph = Neighbors(20).build(digits.X)
    by_seeds = model(n_clusters=10).fit(graph, constraints=known)
    by_kmeans = model(n_clusters=10, init="kmeans").fit(graph, constraints=known)
    assert known.satisfaction(by_seeds.labels_) == 1.0 > known.satisfaction(by_kmeans.labels_)
    assert (
        clustering_accuracy(digits.y, by_seeds.labels_)
        > clustering_accuracy(digits.y, by_kmeans.labels_) + 0.03
    )


# Hard cases


def test_beliefs_of_different_strength_are_weighed():
    known = Constraints.from_pairs(150, [(0, 1), (2, 3)], [(0, 100)], must_weight=[1.0, 0.2])
    assert model().fit(GRAPH, constraints=known).gamma_must_ == pytest.approx(GRAPH.degrees.mean())


def test_contradictions_are_weighed_or_refused():
    known = Constraints.from_pairs(150, [(0, 1), (1, 60)], [(0, 60)], [3.0, 1.0], 2.0, on_conflict="weigh")
    found = model().fit(GRAPH, constraints=known)
    assert np.isfinite(found.gamma_must_)
    assert found.labels_[0] == found.labels_[1] != found.labels_[60]
    with pytest.raises(ConflictError, match=r"cannot_link \(0, 60\) contradicts .*gamma_must=inf"):
        model(gamma_must=np.inf).fit(GRAPH, constraints=known)


def test_points_without_neighbours_follow_their_links():
    rng = np.random.default_rng(0)
    X = np.vstack(
        [rng.normal(size=(20, 2)), rng.normal(size=(20, 2)) + 8.0, [[1e3, 0]], [[0, 1e3]], [[-1e3, 0]]]
    )
    known = Constraints.from_pairs(43, must_link=[(40, 30)], cannot_link=[(41, 30)])
    for more in ({}, {"gamma_must": 2.0}, {"solver": "exchange"}, {"solver": "multiplicative"}):
        with pytest.warns(GraphWarning, match="1 of 43 points have no neighbours"):
            found = model(n_clusters=2, affinity=Gaussian(1.0), **more).fit(X, constraints=known)
        assert np.isfinite(found.embedding_).all()
        assert found.labels_[40] == found.labels_[30] != found.labels_[41]
        assert len(set(found.labels_[:20])) == len(set(found.labels_[20:40])) == 1


def test_a_graph_in_pieces():
    X = np.concatenate([np.zeros(10), np.full(10, 50.0), np.full(10, 100.0)])[:, None]
    X = X + np.random.default_rng(0).normal(size=X.shape)
    y = np.repeat([0, 1, 2], 10)
    found = model(affinity=Gaussian(1.0)).fit(X, constraints=Constraints.from_pairs(30, [(0, 1)], [(0, 15)]))
    assert clustering_accuracy(y, found.labels_) == 1.0
    assert found.objective_ == pytest.approx(0.0, abs=1e-6)


def test_many_links_against_the_points_do_not_empty_the_clusters():
    """At the full price of each pair eq. 6 is lowest where most points are in no cluster."""
    X, _ = make_blobs(600, n_features=4, centers=6, cluster_std=0.5, random_state=0)
    source = np.random.default_rng(0).permutation(np.arange(600) // 25)
    known = Constraints.from_groups(source, apart=True)
    usual = NCSC(6, random_state=0).fit(X, constraints=known)
    full = NCSC(6, gamma_cannot=mean_degree(usual.affinity_matrix_), random_state=0).fit(X, constraints=known)
    started = known.satisfaction(usual.start_.argmax(axis=1))
    assert known.satisfaction(full.labels_) < started - 0.1
    assert known.satisfaction(usual.labels_) >= started
    assert usual.gamma_cannot_ < full.gamma_cannot_


def test_a_clique_of_more_cannot_links_than_clusters_leaves_some_violated():
    """Four classes told apart, three clusters: what cannot be satisfied is not, and labels stay whole."""
    told = np.full(150, -1)
    told[[0, 60, 110, 140]] = [0, 1, 2, 3]
    known = Constraints.from_labels(told)
    found = model().fit(GRAPH, constraints=known)
    assert known.satisfaction(found.labels_) == pytest.approx(5 / 6)
    assert set(found.labels_) == {0, 1, 2}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"gamma_must": -1.0}, r"gamma_must=-1\.0: choose 'auto' or a number >= 0"),
        ({"gamma_must": "large"}, "gamma_must='large': choose 'auto'"),
        ({"gamma_cannot": np.inf}, r"gamma_cannot=inf: choose 'degree' or a finite number"),
        ({"gamma_cannot": np.nan}, "gamma_cannot=nan"),
        ({"gamma_cannot": True}, "gamma_cannot=True"),
        ({"solver": "newton"}, "solver='newton': choose one of 'projected', 'exchange', 'multiplicative'"),
        ({"init": "guess"}, "init='guess': choose one of 'seeds', 'kmeans'"),
        ({"init": np.ones((3, 3))}, r"init has shape \(3, 3\): .*\(150, 3\)"),
        ({"init": -np.ones((150, 3))}, r"init\[0, 0\] = -1\.0: .* not negative"),
        ({"init": np.eye(3)[np.zeros(150, dtype=int)]}, "column 1 of init is zero"),
        ({"max_iter": 0}, "max_iter=0 must be a whole number"),
        ({"tol": -1.0}, "tol=-1.0 must be at least 0"),
    ],
)
def test_bad_parameters(settings, message):
    with pytest.raises(ValueError, match=message):
        model(**settings).fit(GRAPH, constraints=sample_pairs(IRIS.y, 20, random_state=0))


def test_hard_finishes_with_every_link_satisfied():
    known = sample_pairs(IRIS.y, 100, random_state=5)
    found = model(gamma_cannot=0.01, hard=True).fit(GRAPH, constraints=known)
    assert known.satisfaction(found.labels_) == 1.0
    assert found.repair_.violated == 0


# Its results


@pytest.mark.parametrize("solver", ["exchange", "projected"])
def test_results_belong_to_the_parameters_of_the_fit(solver):
    """Indicators are computed when they are first asked for, and not with the tolerance of that day."""
    X, y = make_blobs(300, 4, centers=5, cluster_std=4.0, random_state=1)
    known = sample_labels(y, 30, random_state=0)
    first, second = (NCSC(5, solver=solver, random_state=0).fit(X, constraints=known) for _ in range(2))
    first.set_params(n_clusters=3, tol=0.9, gamma_must=7.0, solver="exchange")
    assert first.objective_ == second.objective_
    np.testing.assert_array_equal(first.indicators_, second.indicators_)
