"""Landmarks: as many as asked for, different, and the same for the same seed."""

import numpy as np
import pytest
import scipy.sparse as sp

from sidecut.graphs import RowChunks, choose_landmarks
from sidecut.graphs import landmarks as module
from sidecut.graphs.landmarks import distinct

X = np.random.default_rng(0).normal(size=(300, 3))
RULES = ("random", "kmeans", "kmeans++")


def as_set(rows):
    return {row.tobytes() for row in rows}


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_gives_so_many_different_landmarks(rule):
    chosen = choose_landmarks(RowChunks(X), rule, 20, random_state=0)
    assert chosen.shape == (20, 3)
    assert len(as_set(chosen)) == 20
    if rule != "kmeans":
        assert as_set(chosen) <= as_set(X)


@pytest.mark.parametrize("rule", RULES)
def test_the_seed_decides_and_the_form_of_the_source_does_not(rule):
    first = choose_landmarks(RowChunks(X, chunk_rows=64), rule, 20, random_state=3)
    again = choose_landmarks(RowChunks([X[:11], X[11:]], chunk_rows=64), rule, 20, random_state=3)
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, choose_landmarks(RowChunks(X), rule, 20, random_state=4))


def test_every_row_is_drawn_as_often_as_any_other():
    rows, rng = RowChunks(np.arange(40.0)[:, None], chunk_rows=7), np.random.RandomState(0)
    drawn = np.zeros(40)
    for _ in range(2_000):
        sample, n_rows = rows.sampled(10, rng)
        assert sample.shape == (10, 1)
        assert n_rows == 40
        assert (np.diff(sample.ravel()) > 0).all()
        drawn[sample.ravel().astype(int)] += 1
    # Each is drawn 500 times, with a standard deviation of √(2000 ¼ ¾) = 19.
    assert np.abs(drawn - 500).max() < 5 * 19.4


def test_the_rule_kmeans_pp_spreads_landmarks_farther_than_chance():
    lumps = np.concatenate([X, X[:20] + 30.0])

    def farthest(rule, seed):
        chosen = choose_landmarks(RowChunks(lumps), rule, 20, random_state=seed)
        return np.sqrt(((lumps[:, None] - chosen) ** 2).sum(axis=2)).min(axis=1).max()

    assert np.mean([farthest("kmeans++", s) for s in range(5)]) < np.mean(
        [farthest("random", s) for s in range(5)]
    )


def test_given_rows_and_given_points_are_taken_as_they_are():
    np.testing.assert_array_equal(choose_landmarks(RowChunks(X), [5, 2, 9]), X[[5, 2, 9]])
    np.testing.assert_array_equal(choose_landmarks(RowChunks(X), X[:4] + 1), X[:4] + 1)


def test_equal_landmarks_count_once():
    twice = np.array([[1.0], [0.0], [-0.0], [1.0], [2.0]])
    np.testing.assert_array_equal(distinct(twice), [[1.0], [0.0], [2.0]])
    heap = np.repeat(X[:4], 50, axis=0)
    assert len(choose_landmarks(RowChunks(heap), "random", 60, random_state=0)) == 4


@pytest.mark.parametrize("n_copies", [0, 1, 30])
def test_equal_rows_are_found_among_many(n_copies):
    rng = np.random.default_rng(n_copies)
    rows = rng.integers(-1, 2, size=(400, 9)) * rng.choice([0.5, -0.0, 1e-300, 1e300], size=9)
    rows = rows if n_copies else np.unique(rows + 0.0, axis=0)
    rows = np.vstack([rows, rows[:n_copies]])
    found = distinct(rows)
    assert len(found) == len(np.unique(rows + 0.0, axis=0))


def test_no_more_than_half_the_points_become_landmarks():
    for rule in RULES:
        assert len(choose_landmarks(RowChunks(X[:30]), rule, 500, random_state=0)) == 15


def test_landmarks_of_sparse_points():
    matrix = sp.csr_array(np.maximum(X, 0))
    chosen = choose_landmarks(RowChunks(matrix), "random", 20, random_state=0)
    dense = choose_landmarks(RowChunks(np.maximum(X, 0)), "random", 20, random_state=0)
    np.testing.assert_array_equal(chosen.toarray(), dense)


@pytest.mark.parametrize(
    ("landmarks", "message"),
    [
        ("best", "landmarks='best': choose 'random', 'kmeans', 'kmeans\\+\\+'"),
        ([300], "row 300"),
        ([-1], "row -1"),
        ([0.5], r"shape \(1,\) and dtype float64"),
        (np.empty((0, 3)), r"shape \(0, 3\)"),
        ([["a", "b", "c"]], r"shape \(1, 3\) and dtype <U1"),
        ([[0.0, 1.0, 2.0], [0.0, np.nan, 2.0]], r"landmarks\[1, 1\] = nan"),
        (sp.csr_array([[0.0, 0.0, np.inf]]), r"landmarks\[0, 2\] = inf"),
    ],
)
def test_what_are_no_landmarks(landmarks, message):
    with pytest.raises(ValueError, match=message):
        choose_landmarks(RowChunks(X), landmarks)


@pytest.mark.parametrize("number", [0, -3, 2.5, True, "3"])
def test_what_is_no_number_of_landmarks(number):
    with pytest.raises(ValueError, match=r"n_landmarks=.* whole number"):
        choose_landmarks(RowChunks(X), "random", number)


def test_the_rule_kmeans_is_a_few_steps_of_k_means():
    lumps = np.concatenate([X + 1e5, X - 1e5])
    start = np.arange(0, 600, 15)
    centers = module._lloyd(lumps, start)
    expected = lumps[start].copy()
    for _ in range(module.KMEANS_STEPS):
        nearest = ((lumps[:, None] - expected) ** 2).sum(axis=2).argmin(axis=1)
        expected = np.array([lumps[nearest == k].mean(axis=0) for k in range(len(start))])
    np.testing.assert_allclose(centers, expected, rtol=1e-9)
    np.testing.assert_allclose(module._lloyd(sp.csr_array(lumps), start), expected, rtol=1e-9)


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_the_rule_kmeans_in_any_unit(scale):
    plain = choose_landmarks(RowChunks(X), "kmeans", 20, random_state=0)
    scaled = choose_landmarks(RowChunks(scale * X), "kmeans", 20, random_state=0)
    np.testing.assert_allclose(scaled / scale, plain, rtol=1e-6)


@pytest.mark.parametrize("rule", ["kmeans", "kmeans++"])
def test_landmarks_of_huge_points_are_those_of_small_ones(rule):
    points = np.random.default_rng(0).uniform(0.5, 1.0, size=(200, 3))
    small = choose_landmarks(RowChunks(points), rule, 10, random_state=0)
    huge = choose_landmarks(RowChunks(np.ldexp(points, 1024)), rule, 10, random_state=0)
    np.testing.assert_array_equal(np.ldexp(huge, -1024), small)
