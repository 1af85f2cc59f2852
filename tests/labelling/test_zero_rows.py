import numpy as np

from sidecut.labelling.labels import cluster_sums, informative_rows, join_nearest_cluster


def test_sums_are_indicator_transposed_times_rows():
    rng = np.random.default_rng(0)
    rows, labels = rng.standard_normal((30, 4)), rng.integers(0, 3, 30)
    indicator = np.eye(5)[labels]
    np.testing.assert_allclose(cluster_sums(rows, labels, 5), indicator.T @ rows, atol=1e-13)


def test_only_exact_zeros_are_uninformative():
    np.testing.assert_array_equal(informative_rows(np.array([[0.0, -0.0], [0.0, 5e-324]])), [False, True])


def test_unplaced_rows_join_the_nearest_mean():
    rng = np.random.default_rng(1)
    rows = rng.standard_normal((50, 3))
    placed = rng.random(50) < 0.6
    labels = rng.integers(0, 4, placed.sum())
    joined = join_nearest_cluster(rows, labels, placed)
    np.testing.assert_array_equal(joined[placed], labels)
    means = np.array([rows[placed][labels == k].mean(axis=0) for k in range(4)])
    for i in np.flatnonzero(~placed):
        assert joined[i] == np.argmin([np.linalg.norm(rows[i] - mean) for mean in means])


def test_names_with_gaps_are_kept():
    rows = np.array([[1.0], [0.0], [-3.0]])
    joined = join_nearest_cluster(rows, np.array([4, 2]), np.array([True, False, True]))
    np.testing.assert_array_equal(joined, [4, 4, 2])
