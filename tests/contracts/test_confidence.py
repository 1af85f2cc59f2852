"""Every estimator says how sure it is of every label."""

import pickle
import warnings

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.exceptions import NotFittedError

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


@pytest.mark.parametrize("name", ["CSP", "E2CP", "SCACS", "COPKMeans", "ConstrainedGMM", "AutoCut"])
def test_confidence_is_measured_when_asked_for_and_anew_after_another_fit(name):
    X, y = make_blobs(60, centers=3, cluster_std=2.0, random_state=1)
    known = sidecut.Constraints.from_labels(np.where(np.arange(60) < 24, y, -1))
    model = getattr(sidecut, name)(n_clusters=3, random_state=0)
    assert not hasattr(model, "confidence_")
    with pytest.raises(NotFittedError):
        model.confidence_
    with warnings.catch_warnings(action="ignore"):
        model.fit(X, constraints=known)
        restored = pickle.loads(pickle.dumps(model))
        first = model.confidence_
        np.testing.assert_array_equal(restored.confidence_, first)
        assert model.confidence_ is first
        model.fit(X[:40])
    assert model.confidence_.shape == (40,)


def test_rows_that_were_not_kept_leave_no_confidence():
    X, _ = make_blobs(200, centers=2, random_state=0)
    model = sidecut.LSC(n_clusters=2, n_landmarks=20, random_state=0).fit(X)
    assert hasattr(model, "confidence_")
    model.fit_chunks([X[:100], X[100:]])
    assert not hasattr(model, "confidence_")
