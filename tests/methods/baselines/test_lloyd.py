"""Lloyd's iteration on weighted points."""

import numpy as np
import pytest
from scipy import sparse

from sidecut.methods.baselines.lloyd import (
    Run,
    WeightedPoints,
    _fill_empty,
    best_run,
    run_lloyd,
    spread_centres,
)

NONE = np.empty(0, dtype=np.int64)


def test_a_heavy_point_is_as_many_points():
    rng = np.random.default_rng(0)
    places, weights = rng.normal(size=(30, 2)), rng.integers(1, 5, 30)
    heavy = WeightedPoints(places, weights.astype(float), NONE, None)
    light = WeightedPoints(np.repeat(places, weights, axis=0), np.ones(weights.sum()), NONE, None)
    one, other = (run_lloyd(points, places[:4], 50, 0.0) for points in (heavy, light))
    np.testing.assert_allclose(one.centres, other.centres, atol=1e-12)
    np.testing.assert_array_equal(np.repeat(one.clusters, weights), other.clusters)
    assert one.objective[-1] == pytest.approx(other.objective[-1])


def test_centres_are_the_means_of_their_clusters_at_rest():
    rng = np.random.default_rng(1)
    points = WeightedPoints(rng.normal(size=(50, 3)), rng.random(50) + 0.5, NONE, None)
    run = run_lloyd(points, points.places[:5], 200, 0.0)
    assert run.converged
    for cluster in range(5):
        mine = run.clusters == cluster
        expected = np.average(points.places[mine], axis=0, weights=points.weights[mine])
        np.testing.assert_allclose(run.centres[cluster], expected, atol=1e-12)


def test_empty_clusters_get_the_farthest_points():
    costs = np.array([[0.0, 9.0, 9.0], [4.0, 9.0, 9.0], [1.0, 9.0, 9.0], [9.0, 2.0, 9.0]])
    np.testing.assert_array_equal(_fill_empty(costs, np.array([0, 0, 0, 1])), [0, 2, 0, 1])


def test_no_cluster_is_emptied_to_fill_another_and_no_point_leaves_its_centre():
    costs = np.array([[9.0, 1.0, 1.0], [0.0, 1.0, 1.0], [0.0, 1.0, 1.0]])
    np.testing.assert_array_equal(_fill_empty(costs, np.array([1, 0, 0])), [1, 0, 0])


@pytest.mark.parametrize("n_clusters", [2, 6, 9])
def test_centres_to_start_from(n_clusters):
    points = WeightedPoints(np.arange(6.0)[:, None] ** 2, np.ones(6), NONE, None)
    starts = spread_centres(points, n_clusters, 3, np.random.RandomState(0))
    assert {start.shape for start in starts} == {(n_clusters, 1)}
    for start in starts:
        assert len(np.unique(start)) == min(n_clusters, 6)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_centres_move_to_the_weighted_means(form):
    rng = np.random.default_rng(0)
    places, weights = rng.normal(size=(40, 3)), rng.integers(1, 4, 40).astype(float)
    clusters = np.arange(40) % 5
    found = WeightedPoints(form(places), weights, NONE, None).moved(places[:5], clusters)
    means = [np.average(places[clusters == k], axis=0, weights=weights[clusters == k]) for k in range(5)]
    np.testing.assert_allclose(found, means, rtol=1e-12)


def test_the_centre_of_an_empty_cluster_stays():
    points = WeightedPoints(np.array([[0.0], [2.0], [9.0]]), np.ones(3), NONE, None)
    centres = points.moved(np.array([[5.0], [7.0]]), np.array([0, 0, 0]))
    np.testing.assert_allclose(centres, [[11 / 3], [7.0]])


def test_no_cluster_is_empty_where_the_iterations_end_too_early():
    for seed in range(400):
        rng = np.random.default_rng(seed)
        points = WeightedPoints(rng.normal(size=(8, 2)), np.ones(8), NONE, None)
        run = run_lloyd(points, rng.normal(size=(4, 2)), 1, 0.0)
        assert len(np.unique(run.clusters)) == 4
        assert (np.diff(run.objective) <= 1e-12).all()
        paid = ((points.places - run.centres[run.clusters]) ** 2).sum()
        assert run.objective[-1] == pytest.approx(paid)


def test_of_runs_that_differ_by_rounding_the_first_is_best():
    ends = [5.0, 4.0 + 1e-13, 4.0, 4.1]
    runs = [Run(np.array([0]), np.zeros((1, 1)), np.array([9.0, end]), True) for end in ends]
    assert best_run(runs) is runs[1]
