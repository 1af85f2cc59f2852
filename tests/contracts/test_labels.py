"""What labels look like."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from sidecut.exceptions import SidecutWarning
from sidecut.graphs import Gaussian


@pytest.mark.parametrize("n_clusters", [2, 3, 5])
def test_labels_are_whole_numbers_from_zero(counting, blobs, known, n_clusters):
    model = counting.make(n_clusters, affinity=Gaussian(1.5)).fit(blobs[0])
    assert model.labels_.shape == (60,)
    assert model.labels_.dtype.kind == "i"
    assert set(model.labels_) == set(range(n_clusters))


def test_embeddings_are_numbers(embedding, blobs, known):
    model = embedding.make(affinity=Gaussian(1.5)).fit(blobs[0], constraints=known)
    assert np.isfinite(model.embedding_).all()
    assert model.embedding_.shape[0] == 60


def test_clusters_are_found(case, blobs, known):
    X, y = blobs
    model = case.make(affinity=Gaussian(1.5)).fit(X, constraints=case.knows(known))
    assert adjusted_rand_score(model.labels_, y) == 1.0
    assert set(model.labels_) == {0, 1, 2}


def test_one_cluster(counting, blobs, known):
    model = counting.make(1, affinity=Gaussian(1.5)).fit(blobs[0])
    np.testing.assert_array_equal(model.labels_, np.zeros(60))


def test_as_many_clusters_as_points(counting, blobs):
    X = blobs[0][:12]
    model = counting.make(12, affinity=Gaussian(1.5)).fit(X)
    assert sorted(model.labels_) == list(range(12))


def test_more_clusters_than_points(case, blobs):
    with pytest.raises(ValueError, match=r"n_clusters=13 .* n_samples=12"):
        case.make(13, affinity=Gaussian(1.5)).fit(blobs[0][:12])


@pytest.mark.parametrize("n_clusters", [0, -1, 2.0, "3", True, None])
def test_numbers_of_clusters_that_are_none(case, blobs, n_clusters):
    with pytest.raises(ValueError, match=r"n_clusters=.* must be a whole number"):
        case.make(n_clusters, affinity=Gaussian(1.5)).fit(blobs[0])


@pytest.mark.parametrize("n_init", [0, -3, 2.0, "auto", True])
def test_numbers_of_starts_that_are_none(starting, blobs, n_init):
    with pytest.raises(ValueError, match=f"n_init={n_init!r} must be a whole number, at least 1"):
        starting.make(3, affinity=Gaussian(1.5), n_init=n_init).fit(blobs[0])


@pytest.mark.parametrize("unit_rows", ["no", 1, None])
def test_rows_are_scaled_or_not(scaling, blobs, unit_rows):
    with pytest.raises(ValueError, match=f"unit_rows={unit_rows!r} must be True or False"):
        scaling.make(3, affinity=Gaussian(1.5), unit_rows=unit_rows).fit(blobs[0])


def test_numpy_integers_count(counting, blobs):
    X, _ = blobs
    np.testing.assert_array_equal(
        counting.make(np.int32(3), affinity=Gaussian(1.5)).fit_predict(X),
        counting.make(3, affinity=Gaussian(1.5)).fit_predict(X),
    )


# That clusters are empty follows; some methods say so as well.
@pytest.mark.filterwarnings("ignore:.* found 3 clusters where n_clusters=5")
@pytest.mark.parametrize("affinity", [Gaussian(1.5), "knn"])
def test_more_clusters_than_different_points_warn(case, affinity):
    X = np.repeat(np.eye(3), 10, axis=0)
    with pytest.warns(SidecutWarning, match="n_clusters=5 .* different points in X, 3"):
        model = case.make(5, affinity=affinity, n_neighbors=12).fit(X)
    assert model.labels_.min() >= 0
    assert model.labels_.max() < 5
