"""K-means in chunks against k-means of all rows."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

from sidecut.labelling import chunked_kmeans, nearest_centers
from sidecut.labelling import labels as labelling
from sidecut.labelling.labels import fill_empty


def inertia(rows, centers):
    return float(cdist(rows, centers, "sqeuclidean").min(axis=1).sum())


@pytest.fixture(scope="module")
def blobs():
    return make_blobs(3000, centers=6, n_features=4, cluster_std=1.5, random_state=0)[0]


def in_chunks(rows, size):
    return lambda function: (function(rows[start : start + size]) for start in range(0, len(rows), size))


def test_the_nearest_centre_is_nearest(blobs):
    centers = blobs[:7]
    np.testing.assert_array_equal(nearest_centers(blobs, centers), cdist(blobs, centers).argmin(axis=1))


def test_few_rows_are_clustered_as_they_are(blobs):
    centers = chunked_kmeans(in_chunks(blobs, 100), 3000, 6, random_state=0)
    model = KMeans(6, n_init=10, random_state=np.random.RandomState(0)).fit(blobs)
    assert inertia(blobs, centers) == pytest.approx(model.inertia_, rel=1e-9)


def test_many_rows_begin_from_a_sample_and_end_as_well(blobs, monkeypatch):
    monkeypatch.setattr(labelling, "SAMPLE_ROWS", 300)
    centers = chunked_kmeans(in_chunks(blobs, 128), 3000, 6, random_state=0)
    best = KMeans(6, n_init=20, random_state=0).fit(blobs).inertia_
    assert inertia(blobs, centers) == pytest.approx(best, rel=1e-4)
    monkeypatch.setattr(labelling, "MAX_STEPS", 0)
    rough = chunked_kmeans(in_chunks(blobs, 128), 3000, 6, random_state=0)
    assert inertia(blobs, rough) > inertia(blobs, centers)


def test_one_step_moves_centres_to_the_means(blobs):
    centers = blobs[:6].copy()
    labels = cdist(blobs, centers).argmin(axis=1)
    expected = np.array([blobs[labels == k].mean(axis=0) for k in range(6)])
    halves = labelling.center_sums(blobs[:1000], centers) + labelling.center_sums(blobs[1000:], centers)
    np.testing.assert_allclose(halves.moved(centers), expected, atol=1e-12)


def test_zero_rows_have_no_say_and_lonely_centres_stay():
    rows = np.array([[2.0, 0.0], [2.2, 0.0], [0.0, 0.0], [0.0, 0.0]])
    centers = np.array([[1.0, 0.0], [-9.0, 0.0]])
    moved = labelling.center_sums(rows, centers).moved(centers)
    np.testing.assert_allclose(moved, [[2.1, 0.0], [-9.0, 0.0]])


def test_fewer_different_rows_than_clusters_give_fewer_centres():
    rows = np.repeat(np.eye(3), 5, axis=0)
    centers = chunked_kmeans(lambda function: [function(rows)], 15, 5, random_state=0)
    assert sorted(map(tuple, centers.round(6))) == sorted(map(tuple, np.eye(3)))


def test_an_empty_cluster_takes_the_farthest_point_that_leaves_none_empty():
    labels, distances = np.array([0, 0, 0, 3]), np.array([0.2, 0.7, 0.4, 0.9])
    np.testing.assert_array_equal(fill_empty(labels, distances, 4), [0, 1, 2, 3])
    np.testing.assert_array_equal(fill_empty(labels, distances, 4, farther_than=0.5), [0, 1, 0, 3])
    np.testing.assert_array_equal(labels, [0, 0, 0, 3])
