import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.model_selection import GridSearchCV

import sidecut.constraints
from sidecut.constraints import Constraints


def test_the_representation_counts_in_words():
    c = Constraints.from_pairs(150, [(0, 1), (1, 2)], [(2, 3)])
    assert repr(c) == "Constraints(n_samples=150, 2 must-links, 1 cannot-link)"
    assert repr(Constraints.none(4)) == "Constraints(n_samples=4, 0 must-links, 0 cannot-links)"


def test_large_labels_are_represented_without_listing_pairs():
    assert repr(Constraints.from_labels(np.zeros(10**6))) == (
        "Constraints(n_samples=1000000, 1000000 labels (0: 1000000))"
    )


def test_the_toy_of_csp_section_4_4():
    y = [0, 0, 0, -1, 1, 1]
    Q = Constraints.from_labels(y).as_matrix().toarray()
    a = np.array([1, 1, 1, 0, -1, -1])
    np.testing.assert_array_equal(Q, np.outer(a, a))


class Recorder(ClusterMixin, BaseEstimator):
    """Notes what scikit-learn passes on as constraints."""

    def __init__(self, strength=1.0):
        self.strength = strength

    def fit(self, X, y=None, *, constraints=None):
        self.constraints_ = constraints
        return self

    def score(self, X, y=None):
        return self.strength


def test_scikit_learn_does_not_slice_constraints():
    X = np.arange(12.0).reshape(6, 2)
    c = Constraints.from_pairs(6, must_link=[(i, i + 1) for i in range(5)] + [(0, 5)])
    search = GridSearchCV(Recorder(), {"strength": [1.0, 2.0]}, cv=2).fit(X, constraints=c)
    assert search.best_estimator_.constraints_ is c


def test_every_public_name_is_documented():
    for name in sidecut.constraints.__all__:
        assert getattr(sidecut.constraints, name).__doc__


def test_arrays_do_not_broadcast_over_constraints():
    with pytest.raises(TypeError):
        np.ones(3) * Constraints.none(3)
