import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecut.labelling import qr_labels, rename_by_first_appearance
from sidecut.labelling.labels import representatives

seeds = st.integers(0, 2**32 - 1)


def greedy_representatives(rows):
    """Pivoting by its definition: the longest row, deflate, repeat."""
    left, chosen = rows.copy(), []
    for _ in range(rows.shape[1]):
        chosen.append(int(np.argmax(np.linalg.norm(left, axis=1))))
        direction = left[chosen[-1]] / np.linalg.norm(left[chosen[-1]])
        left = left - np.outer(left @ direction, direction)
    return chosen


def labels_by_definition(rows):
    """The polar factor as B (BᵀB)^{-1/2}, from an eigendecomposition instead of an SVD."""
    block = rows[greedy_representatives(rows)].T
    values, vectors = np.linalg.eigh(block.T @ block)
    polar_factor = block @ vectors @ np.diag(values**-0.5) @ vectors.T
    return rename_by_first_appearance(np.argmax(np.abs(rows @ polar_factor), axis=1))


def orthonormal(seed, n=30, k=4):
    return np.linalg.qr(np.random.default_rng(seed).standard_normal((n, k)))[0]


@given(seeds)
def test_representatives_are_the_greedy_ones(seed):
    rows = orthonormal(seed)
    np.testing.assert_array_equal(representatives(rows), greedy_representatives(rows))


@given(seeds)
@pytest.mark.filterwarnings("ignore::sidecut.exceptions.LabellingWarning")
def test_labels_follow_the_definition(seed):
    rows = orthonormal(seed)
    np.testing.assert_array_equal(qr_labels(rows), labels_by_definition(rows))


def test_zero_rows_do_not_change_the_others():
    rows = np.repeat(np.eye(3), 5, axis=0) + 0.05 * np.random.default_rng(0).standard_normal((15, 3))
    labels = qr_labels(np.vstack([rows, np.zeros((40, 3))]))
    np.testing.assert_array_equal(labels[:15], np.repeat([0, 1, 2], 5))
    assert labels.max() == 2


def test_dependent_columns_are_refused():
    with pytest.raises(ValueError, match=r"2 columns .* span only 1"):
        qr_labels(np.ones((5, 2)))


def test_fewer_informative_rows_than_columns_are_refused():
    with pytest.raises(ValueError, match=r"3 columns .* span only 2"):
        qr_labels(np.vstack([np.eye(3)[:2], np.zeros((4, 3))]))


def test_nan_is_refused():
    rows = orthonormal(0)
    rows[3, 2] = np.nan
    with pytest.raises(ValueError, match=r"embedding\[3, 2\]"):
        qr_labels(rows)


def test_more_columns_than_rows_are_refused():
    with pytest.raises(ValueError, match="n_clusters=3"):
        qr_labels(np.ones((2, 3)))
