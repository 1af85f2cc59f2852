"""Every estimator says how sure it is of every label."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs

import sidecut

ESTIMATORS = [name for name in sidecut.__all__ if hasattr(getattr(sidecut, name), "fit")]


@pytest.mark.parametrize("name", ESTIMATORS)
def test_confidence_is_one_number_per_point_and_lowest_between_clusters(name):
    X, _ = make_blobs(60, centers=[[0, 0], [8, 0]], cluster_std=0.5, random_state=0)
    # A point half-way between the two.
    X = np.vstack([X, [[4.0, 0.0]]])
    model = getattr(sidecut, name)(n_clusters=2, random_state=0).fit(X)
    assert model.confidence_.shape == (61,)
    assert np.all((model.confidence_ >= 0) & (model.confidence_ <= 1))
    assert model.confidence_[60] < np.median(model.confidence_)
