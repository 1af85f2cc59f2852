"""How much linked points differ, against all pairs listed."""

import numpy as np
import pytest
import scipy.sparse as sp

from sidecut import Constraints
from sidecut.constraints import sample_labels, sample_pairs
from sidecut.methods.baselines.metric_kmeans import must_spread, pairs_apart, squared_differences, variances


def drawn(n=40, n_features=5):
    rng = np.random.default_rng(0)
    return 100.0 + rng.normal(size=(n, n_features)), rng.integers(0, 3, n)


def knowledge(y):
    return {
        "pairs": sample_pairs(y, 50, random_state=0),
        "labels": sample_labels(y, 20, random_state=0),
        "both": sample_labels(y, 20, random_state=0) | sample_pairs(y, 50, random_state=1),
        "beliefs": Constraints.from_matrix(sample_pairs(y, 50, random_state=0).as_matrix() * 0.3),
    }


@pytest.mark.parametrize("kind", ["pairs", "labels", "both", "beliefs"])
@pytest.mark.parametrize("as_matrix", [np.asarray, sp.csr_array])
def test_the_spread_of_must_links_is_that_of_all_pairs(kind, as_matrix):
    X, y = drawn(n_features=600)
    known = knowledge(y)[kind]
    together = known.strengths > 0
    listed = ((X[known.pairs[together, 0]] - X[known.pairs[together, 1]]) ** 2).T @ known.strengths[together]
    np.testing.assert_allclose(must_spread(as_matrix(X), known), listed, rtol=1e-9)


def test_equal_points_have_no_spread_whatever_the_rounding():
    X, _ = drawn()
    X[:, 1] = np.pi * 1e5
    known = Constraints.from_labels(np.zeros(40, dtype=int))
    spread = must_spread(X, known)
    assert spread[1] == 0.0
    assert (spread[[0, 2, 3, 4]] > 0).all()
    assert variances(X)[1] == 0.0
    assert (must_spread(X, Constraints.from_pairs(40, cannot_link=[(0, 1)])) == 0).all()


def test_differences_of_sparse_points_stay_sparse():
    X = np.maximum(np.random.default_rng(0).normal(size=(10, 6)), 0.0)
    pairs = np.array([[0, 3], [2, 9]])
    expected = (X[pairs[:, 0]] - X[pairs[:, 1]]) ** 2
    np.testing.assert_allclose(squared_differences(X, pairs), expected)
    sparse = squared_differences(sp.csr_array(X), pairs)
    assert sp.issparse(sparse)
    np.testing.assert_allclose(sparse.toarray(), expected)


def test_few_cannot_links_are_all_taken():
    _, y = drawn()
    known = sample_pairs(y, 50, random_state=0)
    pairs, strengths = pairs_apart(known.scaled(2.0), 1000, np.random.RandomState(0))
    np.testing.assert_array_equal(pairs, known.cannot_link)
    assert (strengths == 2.0).all()


@pytest.mark.parametrize("max_pairs", [20, 200])
def test_samples_are_cannot_links(max_pairs):
    y = np.random.default_rng(0).integers(0, 3, 5000)
    known = Constraints.from_labels(y)
    pairs, strengths = pairs_apart(known, max_pairs, np.random.RandomState(0))
    assert 0 < len(pairs) <= max_pairs
    assert len(pairs) > max_pairs / 3
    assert (y[pairs[:, 0]] != y[pairs[:, 1]]).all()
    assert (strengths == 1.0).all()


def test_without_cannot_links_all_other_pairs_stand_in():
    known = Constraints.from_pairs(6, must_link=[(0, 1), (1, 2)])
    pairs, _ = pairs_apart(known, 100, np.random.RandomState(0))
    assert len(pairs) == 15 - 3
    assert not {(0, 1), (0, 2), (1, 2)} & set(map(tuple, pairs.tolist()))
    some, _ = pairs_apart(Constraints.from_pairs(600, must_link=[(0, 1)]), 50, np.random.RandomState(0))
    assert 40 <= len(some) <= 50
    assert (some[:, 0] != some[:, 1]).all()
