"""Weighted kernel k-means against distances in the space of features, and its descent."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.linalg import ArpackNoConvergence
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

from sidecut.methods import sskk as sskk_kmeans
from sidecut.methods.sskk import WeightedKernel, kernel_kmeans


def as_kernel(similarities, weights=None):
    weights = np.ones(len(similarities)) if weights is None else weights
    return WeightedKernel(lambda block: similarities @ block, weights, np.abs(similarities).sum(axis=1))


def random_problem(seed, n=14, n_clusters=3):
    """Symmetric similarities of both signs, weights, and a start with no empty cluster."""
    rng = np.random.default_rng(seed)
    similarities = rng.normal(size=(n, n))
    similarities += similarities.T
    labels = rng.permutation(np.r_[np.arange(n_clusters), rng.integers(0, n_clusters, n - n_clusters)])
    return similarities, rng.uniform(0.5, 2.0, size=n), labels


def features_of(similarities, weights, shift):
    """Rows φ with φ φᵀ = w⁻¹ B w⁻¹ + σ w⁻¹."""
    kernel = similarities / np.outer(weights, weights) + np.diag(shift / weights)
    values, vectors = np.linalg.eigh(kernel)
    assert values[0] > -1e-9
    return vectors * np.sqrt(np.maximum(values, 0))


def means_of(features, weights, labels, n_clusters):
    return np.array(
        [np.average(features[labels == c], axis=0, weights=weights[labels == c]) for c in range(n_clusters)]
    )


def squared_distances(features, means):
    return ((features[:, None, :] - means[None, :, :]) ** 2).sum(axis=2)


seeds = st.integers(0, 10_000)


@given(seed=seeds)
@settings(max_examples=50, deadline=None)
def test_the_objective_is_the_sum_of_squared_distances(seed):
    similarities, weights, labels = random_problem(seed)
    shift = as_kernel(similarities, weights).bound
    features = features_of(similarities, weights, shift)
    partition = kernel_kmeans(as_kernel(similarities, weights), labels, 3, shift=shift, max_iter=1)
    distances = squared_distances(features, means_of(features, weights, partition.labels, 3))
    scatter = weights @ distances[np.arange(14), partition.labels]
    constants = (np.diag(similarities) / weights).sum() + shift * (14 - 3)
    assert partition.objective + constants == pytest.approx(scatter)


@given(seed=seeds)
@settings(max_examples=50, deadline=None)
def test_a_step_goes_to_the_nearest_mean(seed):
    similarities, weights, labels = random_problem(seed)
    shift = as_kernel(similarities, weights).full_shift(np.random.RandomState(0))
    features = features_of(similarities, weights, shift)
    nearest = squared_distances(features, means_of(features, weights, labels, 3)).argmin(axis=1)
    step = kernel_kmeans(as_kernel(similarities, weights), labels, 3, shift=shift, adaptive=False, max_iter=1)
    if len(np.unique(nearest)) == 3:
        np.testing.assert_array_equal(step.labels, nearest)
    else:
        assert len(np.unique(step.labels)) == 3


def test_on_a_linear_kernel_it_is_kmeans():
    X, _ = make_blobs(80, centers=4, cluster_std=2.5, random_state=0)
    start = np.random.default_rng(0).integers(0, 4, size=80)
    partition = kernel_kmeans(as_kernel(X @ X.T), start, 4, shift=0.0, adaptive=False)
    centres = np.array([X[start == c].mean(axis=0) for c in range(4)])
    known = KMeans(4, init=centres, n_init=1, tol=0.0).fit(X)
    np.testing.assert_array_equal(partition.labels, known.labels_)
    assert partition.objective + (X**2).sum() == pytest.approx(known.inertia_)
    assert partition.converged


@given(seed=seeds, adaptive=st.booleans(), share=st.sampled_from([0.0, 0.3, 1.0]))
@settings(max_examples=80, deadline=None)
def test_the_objective_falls_with_every_step(seed, adaptive, share):
    """Also where the shift is less than it should be: the certain bound takes over."""
    similarities, weights, labels = random_problem(seed)
    kernel = as_kernel(similarities, weights)
    partition = kernel_kmeans(
        kernel, labels, 3, shift=share * kernel.full_shift(np.random.RandomState(0)), adaptive=adaptive
    )
    assert (np.diff(partition.objective_trace) < 0).all()
    assert set(partition.labels) == {0, 1, 2}
    assert partition.converged
    masses = np.bincount(partition.labels, weights=weights)
    within = [
        similarities[np.ix_(c, c)].sum() for c in (np.flatnonzero(partition.labels == i) for i in range(3))
    ]
    assert partition.objective == pytest.approx(-(within / masses).sum())


@given(seed=seeds)
@settings(max_examples=40, deadline=None)
def test_bold_steps_end_where_the_full_shift_moves_nothing(seed):
    similarities, weights, labels = random_problem(seed)
    kernel = as_kernel(similarities, weights)
    shift = kernel.full_shift(np.random.RandomState(0))
    bold = kernel_kmeans(kernel, labels, 3, shift=shift)
    again = kernel_kmeans(kernel, bold.labels, 3, shift=shift, adaptive=False)
    np.testing.assert_array_equal(again.labels, bold.labels)


def test_bold_steps_leave_a_start_where_the_full_shift_is_stuck():
    """Two rings, and two neighbours of one in the cluster of the other, which the shift keeps there."""
    ring = np.roll(np.eye(6), 1, axis=1) + np.roll(np.eye(6), -1, axis=1)
    similarities = np.kron(np.eye(2), ring)
    start = np.repeat([0, 1], 6)
    start[:2] = 1
    kernel = as_kernel(similarities)
    shift = kernel.full_shift(np.random.RandomState(0))
    stuck = kernel_kmeans(kernel, start, 2, shift=shift, adaptive=False)
    free = kernel_kmeans(kernel, start, 2, shift=shift)
    np.testing.assert_array_equal(stuck.labels, start)
    np.testing.assert_array_equal(free.labels, np.repeat([0, 1], 6))
    assert free.objective == pytest.approx(-4.0)
    assert stuck.objective > -3.5


@given(seed=seeds)
@settings(max_examples=30, deadline=None)
def test_similarities_are_weighted_means(seed):
    similarities, weights, labels = random_problem(seed)
    partition = kernel_kmeans(as_kernel(similarities, weights), labels, 3, shift=1.0, max_iter=1)
    scaled = similarities / np.outer(weights, weights)
    for c in range(3):
        members = partition.labels == c
        expected = np.average(scaled[:, members], axis=1, weights=weights[members])
        np.testing.assert_allclose(partition.similarities[:, c], expected)


def test_an_emptied_cluster_gets_a_far_point():
    X = np.array([[0.0], [0.0], [10.0], [10.0], [10.0], [30.0]])
    # The middle of cluster 1 is 5, from where both its points leave for 0 and for 10.
    partition = kernel_kmeans(as_kernel(X @ X.T), [0, 1, 1, 2, 2, 2], 3, shift=0.0)
    assert set(partition.labels) == {0, 1, 2}
    assert partition.objective + (X**2).sum() == pytest.approx(0.0)


@pytest.mark.parametrize("n", [14, 120])
@pytest.mark.parametrize("seed", range(3))
def test_the_full_shift_makes_the_kernel_positive_semidefinite(n, seed):
    similarities, weights, _ = random_problem(seed, n)
    smallest = np.linalg.eigvalsh(similarities / np.sqrt(np.outer(weights, weights)))[0]
    kernel = as_kernel(similarities, weights)
    shift = kernel.full_shift(np.random.RandomState(0))
    assert -smallest <= shift <= 1.03 * -smallest
    assert shift <= kernel.bound


def test_a_positive_definite_kernel_needs_no_shift():
    X = np.random.default_rng(0).normal(size=(80, 100))
    assert as_kernel(X @ X.T).full_shift(np.random.RandomState(0)) == 0.0


def test_where_lanczos_fails_the_bound_is_used(monkeypatch):
    def fail(*args, **kwargs):
        raise ArpackNoConvergence("no convergence", np.empty(0), np.empty((0, 0)))

    monkeypatch.setattr(sskk_kmeans, "eigsh", fail)
    similarities, weights, _ = random_problem(0, n=60)
    kernel = as_kernel(similarities, weights)
    shift = kernel.full_shift(np.random.RandomState(0))
    assert shift == kernel.bound
    assert np.linalg.eigvalsh(similarities + shift * np.diag(weights))[0] >= 0


def test_too_few_steps_are_told():
    X, _ = make_blobs(200, centers=5, cluster_std=3.0, random_state=0)
    start = np.arange(200) % 5
    assert not kernel_kmeans(as_kernel(X @ X.T), start, 5, shift=0.0, max_iter=1).converged
    assert kernel_kmeans(as_kernel(X @ X.T), start, 5, shift=0.0).converged
