import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ortho_group

from sidecut.exceptions import LabellingWarning
from sidecut.labelling import rotation_labels, unit_rows
from sidecut.labelling.labels import alternate, procrustes_rotation, starting_rotation

seeds = st.integers(0, 2**32 - 1)


def random_rows(seed, n=40, k=4):
    return unit_rows(np.random.default_rng(seed).standard_normal((n, k)))


@given(seeds)
def test_objective_never_decreases(seed):
    rows = random_rows(seed)
    _, objectives = alternate(rows, starting_rotation(rows, first=0), max_iter=100)
    assert np.all(np.diff(objectives) >= -1e-10)


@given(seeds)
def test_starting_rotation_is_orthogonal(seed):
    start = starting_rotation(random_rows(seed), first=5)
    np.testing.assert_allclose(start.T @ start, np.eye(4), atol=1e-12)


def test_starting_rotation_picks_orthogonal_rows_where_there_are_any():
    rows = unit_rows([[1, 1, 0], [1, 0, 0], [0, 1, 1], [0, 1, 0], [0, 0, 1]])
    start = starting_rotation(rows, first=3)
    np.testing.assert_allclose(start[:, 0], [0, 1, 0], atol=1e-15)
    np.testing.assert_allclose(np.sort(np.abs(start), axis=0), [[0, 0, 0], [0, 0, 0], [1, 1, 1]], atol=1e-15)


@given(seeds)
def test_procrustes_beats_every_other_rotation(seed):
    rng = np.random.default_rng(seed)
    rows, labels = random_rows(seed), rng.integers(0, 4, 40)
    rotation, objective = procrustes_rotation(rows, labels)
    indicator = np.eye(4)[labels]
    np.testing.assert_allclose(rotation.T @ rotation, np.eye(4), atol=1e-12)
    assert np.trace(indicator.T @ rows @ rotation) == pytest.approx(objective)
    for other in ortho_group.rvs(4, size=20, random_state=seed):
        assert np.trace(indicator.T @ rows @ other) <= objective + 1e-9


def test_reaches_the_global_optimum_over_all_partitions():
    rows = random_rows(seed=1, n=9, k=2)
    best = max(
        procrustes_rotation(rows, np.array(labels))[1] for labels in itertools.product(range(2), repeat=9)
    )
    labels = rotation_labels(rows, 2, n_init=20, random_state=0)
    # The numbers of the labels are free, and the objective does not depend on them.
    assert procrustes_rotation(rows, labels)[1] == pytest.approx(best)


def test_length_of_rows_does_not_matter():
    rows = random_rows(seed=2)
    lengths = np.random.default_rng(0).uniform(0.1, 10, (len(rows), 1))
    np.testing.assert_array_equal(
        rotation_labels(rows * lengths, 4, random_state=0), rotation_labels(rows, 4, random_state=0)
    )


def test_zero_rows_do_not_change_the_others():
    rows = np.repeat(np.eye(3), 5, axis=0) + 0.05 * np.random.default_rng(0).standard_normal((15, 3))
    labels = rotation_labels(np.vstack([rows, np.zeros((40, 3))]), 3, random_state=0)
    np.testing.assert_array_equal(labels[:15], np.repeat([0, 1, 2], 5))
    assert labels.max() == 2


def test_missing_clusters_are_reported():
    with pytest.warns(LabellingWarning, match="found 1 clusters where n_clusters=2"):
        rotation_labels(np.ones((5, 2)), 2, random_state=0)


@pytest.mark.parametrize("bad", [{"n_init": 0}, {"max_iter": 0}])
def test_at_least_one_start_and_one_step(bad):
    with pytest.raises(ValueError, match="at least 1"):
        rotation_labels(np.eye(3), 3, **bad)


def test_columns_must_be_clusters():
    with pytest.raises(ValueError, match=r"2 columns and n_clusters=3"):
        rotation_labels(np.eye(4)[:, :2], 3)
