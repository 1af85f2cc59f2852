"""What every labelling must do, whatever its rule."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import ortho_group

from sidecut.exceptions import LabellingWarning
from sidecut.labelling import assign_labels, rename_by_first_appearance

UP_TO_ROTATION = ["kmeans", "rotation", "qr"]


@st.composite
def partitions(draw):
    """Labels with every cluster present, in any order."""
    n_clusters = draw(st.integers(2, 5))
    extra = draw(st.lists(st.integers(0, n_clusters - 1), max_size=25))
    return np.array(draw(st.permutations([*range(n_clusters), *extra])))


def rotated_indicator(labels, seed):
    """Orthonormal columns spanning the indicators of the clusters: a perfect spectral embedding."""
    indicator = np.eye(labels.max() + 1)[labels]
    columns = indicator / np.sqrt(indicator.sum(axis=0))
    return columns @ ortho_group.rvs(columns.shape[1], random_state=seed)


@pytest.mark.parametrize("method", UP_TO_ROTATION)
@pytest.mark.parametrize("unit_rows", [False, True])
@given(labels=partitions(), seed=st.integers(0, 1000))
@settings(max_examples=25)
def test_perfect_embedding_gives_the_partition_back(method, unit_rows, labels, seed):
    embedding = rotated_indicator(labels, seed)
    found = assign_labels(embedding, labels.max() + 1, method=method, unit_rows=unit_rows, random_state=0)
    np.testing.assert_array_equal(found, rename_by_first_appearance(labels))


@given(labels=partitions())
def test_argmax_gives_an_unrotated_partition_back_with_its_numbers(labels):
    embedding = np.eye(labels.max() + 1)[labels] * 0.3
    np.testing.assert_array_equal(assign_labels(embedding, labels.max() + 1, method="argmax"), labels)


def test_sign_reads_one_column():
    np.testing.assert_array_equal(assign_labels([[0.5], [-0.5], [0.0]], 2, method="sign"), [1, 0, 0])


@pytest.mark.parametrize("method", [*UP_TO_ROTATION, "argmax"])
@given(seed=st.integers(0, 1000))
@settings(max_examples=20)
def test_reordering_the_points_reorders_the_labels(method, seed):
    rng = np.random.default_rng(seed)
    truth = np.repeat(np.arange(3), 10)
    embedding = np.eye(3)[truth] + 0.1 * rng.standard_normal((30, 3))
    order = rng.permutation(30)
    labels = assign_labels(embedding, 3, method=method, random_state=0)
    shuffled = assign_labels(embedding[order], 3, method=method, random_state=0)
    np.testing.assert_array_equal(
        rename_by_first_appearance(shuffled), rename_by_first_appearance(labels[order])
    )


@pytest.mark.parametrize("method", ["kmeans", "sign", "argmax", "rotation", "qr"])
def test_labels_are_intp_from_zero(method):
    embedding = np.array([[1.0], [-1.0], [2.0]]) if method == "sign" else np.eye(3)[[0, 1, 1, 2]]
    labels = assign_labels(embedding, 2 if method == "sign" else 3, method=method, random_state=0)
    assert labels.dtype == np.intp
    assert set(labels) == set(range(2 if method == "sign" else 3))


@pytest.mark.parametrize("method", ["kmeans", "sign", "argmax", "rotation", "qr"])
@pytest.mark.parametrize("unit_rows", [False, True])
def test_nan_never_reaches_a_label(method, unit_rows):
    embedding = np.ones((4, 1 if method == "sign" else 2))
    embedding[2, 0] = np.nan
    with pytest.raises(ValueError, match=r"embedding\[2, 0\] is nan"):
        assign_labels(embedding, 2, method=method, unit_rows=unit_rows)


@pytest.mark.parametrize("method", ["kmeans", "sign", "argmax", "rotation", "qr"])
def test_all_zero_embedding_is_an_error(method):
    with pytest.raises(ValueError, match="all 4 rows of the embedding are zero"):
        assign_labels(np.zeros((4, 1 if method == "sign" else 2)), 2, method=method)


@pytest.mark.parametrize(
    ("method", "columns", "n_clusters", "message"),
    [
        ("sign", 1, 3, "two clusters, not n_clusters=3"),
        ("sign", 2, 2, "2 columns"),
        ("argmax", 2, 3, "2 columns and n_clusters=3"),
        ("qr", 3, 2, "3 columns and n_clusters=2"),
        ("rotation", 1, 2, "1 columns and n_clusters=2"),
        ("median", 2, 2, "'kmeans', 'sign', 'argmax', 'rotation', 'qr'"),
    ],
)
def test_method_and_shape_must_fit(method, columns, n_clusters, message):
    with pytest.raises(ValueError, match=message):
        assign_labels(np.eye(5)[:, :columns], n_clusters, method=method)


@pytest.mark.parametrize(("method", "columns"), [("sign", 1), ("argmax", 2)])
def test_an_empty_cluster_is_reported(method, columns):
    embedding = np.ones((4, columns))
    with pytest.warns(LabellingWarning, match=f"'{method}' found 1 clusters where n_clusters=2"):
        assign_labels(embedding, 2, method=method)
