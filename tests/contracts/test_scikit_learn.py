"""The estimators are scikit-learn estimators, in every company scikit-learn puts them in."""

import io
import pickle

import joblib
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator, estimator_checks_generator

from sidecut.exceptions import ConstraintError
from sidecut.graphs import Gaussian

#: The first needs a setting of the environment; the second hands over points, whatever the tags say; the
#: third looks for scikit-learn's phrase about negative values, where we name the entry.
NOT_FOR_GRAPHS = ("check_array_api_input", "check_clustering", "check_positive_only_tag_during_fit")

anything_goes = pytest.mark.filterwarnings("ignore::sidecut.exceptions.SidecutWarning")


@anything_goes
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.parametrize("affinity", ["knn", "gaussian"])
def test_check_estimator(case, affinity):
    check_estimator(case.make(2, affinity=affinity), on_skip=None)


@anything_goes
def test_check_estimator_on_graphs(graph_case):
    checks = estimator_checks_generator(graph_case.make(2, affinity="precomputed"))
    n_run = 0
    for estimator, check in checks:
        if check.func.__name__ in NOT_FOR_GRAPHS:
            continue
        check(estimator)
        n_run += 1
    assert n_run > 30


def test_data_frames(case, blobs, known):
    X, _ = blobs
    frame = pd.DataFrame(X, columns=["width", "height"], index=[f"flower {i}" for i in range(60)])
    model = case.make(n_neighbors=10).fit(frame, constraints=case.knows(known))
    assert list(model.feature_names_in_) == ["width", "height"]
    assert model.n_features_in_ == 2
    plain = case.make(n_neighbors=10).fit(X, constraints=case.knows(known))
    np.testing.assert_array_equal(model.labels_, plain.labels_)


def test_data_frames_of_weights(graph_case, known):
    weights = np.random.default_rng(0).random((60, 60))
    weights += weights.T
    names = [f"node {i}" for i in range(60)]
    frame = pd.DataFrame(weights, index=names, columns=names)
    model = graph_case.make(affinity="precomputed", safe=False)
    labels = model.fit(frame, constraints=graph_case.knows(known)).labels_
    plain = clone(model).fit(weights, constraints=graph_case.knows(known))
    np.testing.assert_array_equal(labels, plain.labels_)


def test_set_output_changes_nothing(case, blobs, known):
    X, _ = blobs
    with sklearn.config_context(transform_output="pandas"):
        labels = case.make(n_neighbors=10).fit_predict(X, constraints=case.knows(known))
    assert isinstance(labels, np.ndarray)
    expected = case.make(n_neighbors=10).fit_predict(X, constraints=case.knows(known))
    np.testing.assert_array_equal(labels, expected)


def test_fit_predict_is_fit_and_y_is_ignored(case, blobs, known):
    X, y = blobs
    model = case.make(n_neighbors=10).fit(X, constraints=case.knows(known))
    labels = case.make(n_neighbors=10).fit_predict(X, y[::-1], constraints=case.knows(known))
    np.testing.assert_array_equal(labels, model.labels_)


def test_sparse_points_are_the_same_points(sparse_case, blobs, known):
    X = np.maximum(blobs[0], 0.0)
    dense = sparse_case.make(affinity="gaussian").fit(X, constraints=sparse_case.knows(known))
    for kind in (sp.csr_array, sp.coo_matrix, sp.csc_array):
        model = sparse_case.make(affinity="gaussian").fit(kind(X), constraints=sparse_case.knows(known))
        assert adjusted_rand_score(model.labels_, dense.labels_) == 1.0


def test_pipeline(constrained, blobs, known):
    X, y = blobs
    pipeline = Pipeline([("scale", StandardScaler()), ("cut", constrained.make(n_neighbors=10))])
    labels = pipeline.fit_predict(X, cut__constraints=known)
    by_hand = constrained.make(n_neighbors=10).fit(StandardScaler().fit_transform(X), constraints=known)
    np.testing.assert_array_equal(labels, by_hand.labels_)
    assert adjusted_rand_score(labels, y) == 1.0


def test_metadata_routing(constrained, blobs, known):
    X, _ = blobs
    with sklearn.config_context(enable_metadata_routing=True):
        step = constrained.make(n_neighbors=10).set_fit_request(constraints=True)
        routed = make_pipeline(StandardScaler(), step).fit(X, constraints=known)[-1]
    by_hand = constrained.make(n_neighbors=10).fit(StandardScaler().fit_transform(X), constraints=known)
    np.testing.assert_array_equal(routed.labels_, by_hand.labels_)


def _separation(estimator, X, y=None):
    return 0.0


def test_grid_search_does_not_slice_constraints(constrained, blobs, known):
    """A fold holds other rows: constraints for all rows are refused, not cut to the fold's length."""
    search = GridSearchCV(
        constrained.make(n_neighbors=5),
        {"n_clusters": [2, 3]},
        scoring=_separation,
        cv=2,
        error_score="raise",
    )
    with pytest.raises(ConstraintError, match="constraints are for 60 samples, X has 30"):
        search.fit(blobs[0], constraints=known)


@anything_goes
def test_grid_search_on_all_rows(constrained, blobs, known):
    X, y = blobs
    everyone = np.arange(60)

    def agreement(estimator, X, y):
        return adjusted_rand_score(y, estimator.labels_)

    search = GridSearchCV(
        constrained.make(affinity=Gaussian(1.5)),
        {"n_clusters": [3, 4]},
        scoring=agreement,
        cv=[(everyone, everyone)],
        error_score="raise",
    )
    assert search.fit(X, y, constraints=known).best_params_ == {"n_clusters": 3}


def _through_pickle(model):
    return pickle.loads(pickle.dumps(model))


def _through_joblib(model):
    file = io.BytesIO()
    joblib.dump(model, file)
    file.seek(0)
    return joblib.load(file)


@pytest.mark.parametrize("trip", [_through_pickle, _through_joblib])
@pytest.mark.parametrize("affinity", ["knn", "gaussian", "heat"])
def test_fitted_models_travel(case, blobs, known, trip, affinity):
    X, _ = blobs
    model = case.make(affinity=affinity, n_neighbors=10).fit(X, constraints=case.knows(known))
    copy = trip(model)
    for name, value in vars(model).items():
        if isinstance(value, np.ndarray):
            np.testing.assert_array_equal(getattr(copy, name), value)
    if hasattr(model, "affinity_matrix_"):
        np.testing.assert_array_equal(copy.affinity_matrix_.toarray(), model.affinity_matrix_.toarray())
    again = copy.fit(X, constraints=case.knows(known))
    np.testing.assert_array_equal(again.labels_, model.labels_)
