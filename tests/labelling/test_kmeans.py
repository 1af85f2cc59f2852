import warnings

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from sidecut.exceptions import LabellingWarning
from sidecut.labelling import assign_labels, kmeans_labels, rename_by_first_appearance, unit_rows
from sidecut.labelling import labels as labels_module


def blobs(seed=0, n_each=20, noise=0.05):
    rng = np.random.default_rng(seed)
    truth = np.repeat(np.arange(3), n_each)
    return np.eye(3)[truth] + noise * rng.standard_normal((3 * n_each, 3)), truth


def test_labels_are_a_fixed_point_of_lloyd():
    rows = np.random.default_rng(3).standard_normal((200, 2))
    labels = kmeans_labels(rows, 4, random_state=0)
    means = np.array([rows[labels == k].mean(axis=0) for k in range(4)])
    # scikit-learn stops when the centres move little, so a point near a border may be one step behind.
    assert np.mean(np.argmin(cdist(rows, means), axis=1) == labels) > 0.97


@pytest.mark.parametrize("scale", [1e-250, 1e-30, 1e200])
def test_scale_of_the_embedding_does_not_matter(scale):
    rows, truth = blobs()
    np.testing.assert_array_equal(kmeans_labels(rows * scale, 3, random_state=0), truth)


def test_unit_rows_equals_normalising_beforehand():
    rows, truth = blobs()
    stretched = rows * np.random.default_rng(1).uniform(0.01, 100, (len(rows), 1))
    labels = kmeans_labels(stretched, 3, unit_rows=True, random_state=0)
    np.testing.assert_array_equal(labels, kmeans_labels(unit_rows(stretched), 3, random_state=0))
    np.testing.assert_array_equal(labels, truth)


def test_zero_rows_neither_move_the_others_nor_form_a_cluster():
    # Two of the clusters are close: if the zeros took part, a centre of their own would be cheaper.
    rows, truth = blobs(noise=0.02)
    rows = rows @ np.array([[1.0, 0.0], [1.0, 0.5], [0.0, 1.0]])
    with_zeros = np.vstack([rows, np.zeros((500, 2))])
    labels = kmeans_labels(with_zeros, 3, random_state=0)
    np.testing.assert_array_equal(labels[: len(rows)], truth)
    means = np.array([rows[truth == k].mean(axis=0) for k in range(3)])
    assert set(labels[len(rows) :]) == {np.argmin(np.linalg.norm(means, axis=1))}


def test_zero_rows_count_when_the_others_are_too_few_to_make_the_clusters():
    labels = kmeans_labels([[0.0], [0.0], [1.0], [1.0], [0.0]], 2, random_state=0)
    np.testing.assert_array_equal(labels, [0, 0, 1, 1, 0])
    np.testing.assert_array_equal(kmeans_labels([[0.0], [0.0], [1.0]], 2, random_state=0), [0, 0, 1])


def test_fit_rows_choose_who_decides():
    rows = np.array([[0.0], [0.1], [1.0], [1.1], [500.0]])
    mask = np.array([True, True, True, True, False])
    np.testing.assert_array_equal(kmeans_labels(rows, 2, fit_rows=mask, random_state=0), [0, 0, 1, 1, 1])
    np.testing.assert_array_equal(kmeans_labels(rows, 2, random_state=0), [0, 0, 0, 0, 1])


@pytest.mark.parametrize("mask", [[0, 1, 2], [True, False], [True, False, False]])
def test_bad_fit_rows_are_refused(mask):
    with pytest.raises(ValueError, match="fit_rows"):
        kmeans_labels([[0.0], [1.0], [2.0]], 2, fit_rows=mask)


def test_too_few_distinct_rows_are_reported_with_both_numbers():
    rows = np.repeat([[1.0, 0.0], [0.0, 1.0]], 4, axis=0)
    with pytest.warns(LabellingWarning, match=r"n_clusters=3 .* only 2 distinct rows"):
        labels = kmeans_labels(rows, 3, random_state=0)
    np.testing.assert_array_equal(labels, np.repeat([0, 1], 4))


def test_scikit_learn_warnings_do_not_leak():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        kmeans_labels(np.repeat([[1.0, 0.0], [0.0, 1.0]], 4, axis=0), 3, random_state=0)
    assert [warning.category for warning in caught] == [LabellingWarning]


def test_more_clusters_than_points_is_an_error():
    with pytest.raises(ValueError, match="n_clusters=4"):
        kmeans_labels(np.eye(3), 4)


def test_same_seed_same_labels():
    rows = np.random.default_rng(0).standard_normal((300, 4))
    first, second = (kmeans_labels(rows, 5, n_init=1, random_state=7) for _ in range(2))
    np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(first, rename_by_first_appearance(first))


@pytest.mark.parametrize("n_init", [0, 1.5, "auto"])
def test_numbers_of_starts_that_are_none(n_init):
    rows = np.random.default_rng(0).normal(size=(9, 2))
    for labels in (kmeans_labels, assign_labels):
        with pytest.raises(ValueError, match=f"n_init={n_init!r} must be a whole number, at least 1"):
            labels(rows, 2, n_init=n_init)


@pytest.fixture
def many():
    """Unit rows around forty directions."""
    rng = np.random.default_rng(0)
    centers = unit_rows(rng.standard_normal((40, 12)))
    return unit_rows(centers[rng.integers(40, size=2_000)] + 0.15 * rng.standard_normal((2_000, 12)))


def sum_of_squares(rows, labels):
    return sum(np.square(rows[labels == k] - rows[labels == k].mean(axis=0)).sum() for k in np.unique(labels))


def test_many_clusters_of_many_rows_are_as_good_in_single_precision(many, monkeypatch):
    exact = kmeans_labels(many, 40, random_state=0)
    seen = []
    monkeypatch.setattr(labels_module, "THREADED_DISTANCES", 0)
    monkeypatch.setattr(labels_module.KMeans, "fit", _watched(labels_module.KMeans.fit, seen))
    single = kmeans_labels(many, 40, random_state=0)
    kmeans_labels(many, 31, random_state=0)
    far = np.vstack([many, 1e6 * many[:1]])
    kmeans_labels(far, 40, random_state=0)
    # Few clusters, or one row far larger than the others: double precision.
    assert seen == [np.float32, np.float64, np.float64]
    assert sum_of_squares(many, single) == pytest.approx(sum_of_squares(many, exact), rel=0.01)


def _watched(fit, seen):
    def watch(self, X, *args, **kwargs):
        seen.append(X.dtype)
        return fit(self, X, *args, **kwargs)

    return watch
