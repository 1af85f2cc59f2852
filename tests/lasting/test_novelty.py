"""A class that lies among old points, on one side of a plane through them."""

import numpy as np
import pytest
import scipy.sparse as sp

from sidecut import NormalizedCut
from sidecut.lasting.novelty import RIDGE, _permuted, has_drifted, left_out_scores, points_of_a_new_class


def without_each_row(rows, targets, penalty):
    """Fit ridge regressions with a free intercept, each without one row, and predict that row."""
    scores = np.empty_like(targets)
    for i in range(len(rows)):
        others = np.arange(len(rows)) != i
        mean, level = rows[others].mean(axis=0), targets[others].mean(axis=0)
        X, y = rows[others] - mean, targets[others] - level
        weights = np.linalg.solve(X.T @ X + penalty * np.eye(X.shape[1]), X.T @ y)
        scores[i] = level + (rows[i] - mean) @ weights
    return scores


@pytest.mark.parametrize(("n", "d"), [(30, 4), (12, 25)], ids=["narrow", "wide"])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_scores_are_those_of_regressions_without_each_row(n, d, form):
    rng = np.random.default_rng(0)
    rows, targets = rng.normal(size=(n, d)) + 5.0, rng.normal(size=(n, 3))
    targets -= targets.mean(axis=0)
    penalty = RIDGE * np.square(rows - rows.mean(axis=0)).sum() / min(n, d)
    expected = without_each_row(rows, targets, penalty)
    np.testing.assert_allclose(left_out_scores(form(rows), targets), expected, atol=1e-9)


def test_draws_take_as_many_points_of_each_cluster():
    groups, is_new = np.array([0, 0, 0, 1, 1, 1, 1, 2]), np.array([1, 0, 0, 1, 1, 0, 0, 0], dtype=bool)
    drawn = [_permuted(groups, is_new, np.random.default_rng(seed)) for seed in range(20)]
    assert all(np.bincount(groups[some], minlength=3).tolist() == [1, 2, 0] for some in drawn)
    assert np.all(np.any(drawn, axis=0) == (groups < 2))


def batch(seed, n_strange, away=2.5, d=6):
    """Two clusters of 200 points, 20 more of them, and strangers beside the first in one direction."""
    rng = np.random.default_rng(seed)
    clusters = np.concatenate([np.repeat([0, 1], 200), np.repeat([0, 1], 10), np.zeros(n_strange, int)])
    points = rng.normal(size=(len(clusters), d))
    points[:, 0] += 20.0 * clusters
    points[420:, 1] += away
    return points[:400], points[400:], clusters


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_a_class_on_one_side_is_found_and_usual_points_are_not_in_it(form):
    old, new, clusters = batch(2, 30)
    found = points_of_a_new_class(form(old), form(new), clusters, np.ones(50, dtype=bool))
    assert np.count_nonzero(found >= 20) >= 25
    assert np.count_nonzero(found < 20) <= 3


def test_points_that_take_no_part_are_not_found():
    old, new, clusters = batch(0, 30)
    is_free = np.arange(50) % 2 == 0
    assert np.all(points_of_a_new_class(old, new, clusters, is_free) % 2 == 0)


@pytest.mark.parametrize("n_more", [0, 30, 100])
def test_more_of_the_same_is_no_class(n_more):
    for seed in range(20):
        old, new, clusters = batch(seed, n_more, away=0.0)
        assert not len(points_of_a_new_class(old, new, clusters, np.ones(20 + n_more, dtype=bool)))


def test_a_cluster_has_drifted_where_none_of_its_usual_points_came():
    assert has_drifted(np.array([100, 100]), np.array([0, 10]), 0)
    assert not has_drifted(np.array([100, 100]), np.array([8, 10]), 0)
    # With one cluster alone nothing says how many should have come.
    assert not has_drifted(np.array([100]), np.array([0]), 0)


def test_an_update_founds_a_class_whose_neighbors_are_old_points():
    old, new, _ = batch(0, 30)
    model = NormalizedCut(2, random_state=0).fit(old)
    before = model.labels_.copy()
    model.update(new)
    np.testing.assert_array_equal(model.labels_[:400], before)
    labels = model.labels_[400:]
    assert np.count_nonzero(labels[20:] == 2) > 15
    assert np.count_nonzero(labels[:20] == 2) <= 5
    assert "one side" in model.changes_.of("new")[0].why


def test_an_update_without_usual_points_says_that_the_cluster_has_drifted():
    old, new, clusters = batch(0, 30)
    came = (clusters[400:] == 1) | (np.arange(50) >= 20)
    model = NormalizedCut(2, random_state=0).fit(old).update(new[came])
    assert model.n_clusters_ == 2
    assert any(row.why.endswith("the cluster has drifted") for row in model.changes_.of("strange"))


def test_a_class_that_is_found_in_two_ways_is_one_cluster():
    old, new, _ = batch(3, 30, away=3.0)
    model = NormalizedCut(2, random_state=0).fit(old).update(new)
    # Distances find a part of it, and a direction the rest.
    assert model.n_clusters_ == 3
    assert np.count_nonzero(model.labels_[420:] == 2) >= 25


def test_a_stream_founds_such_a_class_too():
    old, new, _ = batch(0, 30)
    stream = NormalizedCut(2, random_state=0).fit(old).stream().partial_fit(new)
    assert np.count_nonzero(stream.labels_[20:] == 2) > 15
