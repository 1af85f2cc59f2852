"""k-means under a learned metric."""

from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris, make_blobs
from sklearn.metrics import adjusted_rand_score

from sidecut import Constraints, MetricKMeans
from sidecut.constraints import sample_labels, sample_pairs
from sidecut.exceptions import ConflictError, ConstraintError, ConstraintWarning
from sidecut.methods.baselines import learn_diagonal_metric

# The methods themselves are tested here; the guard has tests of its own.
MetricKMeans = partial(MetricKMeans, safe=False)


def noisy(seed=0, n=120):
    """Three clusters in two features, and two loud features that mean nothing."""
    X, y = make_blobs(n, centers=[[0, 0], [4, 0], [0, 4]], cluster_std=0.5, random_state=seed)
    return np.column_stack([X, 20.0 * np.random.default_rng(seed).normal(size=(n, 2))]), y


def test_without_constraints_it_is_k_means():
    X, _ = noisy()
    model = MetricKMeans(3, random_state=0).fit(X)
    theirs = KMeans(3, n_init=10, random_state=0).fit(X)
    np.testing.assert_array_equal(model.labels_, theirs.labels_)
    np.testing.assert_array_equal(model.metric_, 1.0)
    np.testing.assert_allclose(model.cluster_centers_, theirs.cluster_centers_, atol=1e-10)


@pytest.mark.parametrize("sample", [sample_pairs, sample_labels])
def test_links_tell_which_features_matter(sample):
    X, y = noisy()
    known = sample(y, 30, random_state=0)
    model = MetricKMeans(3, safe=False, random_state=0).fit(X, constraints=known)
    weight = model.metric_ * X.var(axis=0)
    assert weight[:2].min() > 10 * weight[2:].max()
    assert adjusted_rand_score(y, model.labels_) == 1.0
    assert adjusted_rand_score(y, MetricKMeans(3, random_state=0).fit(X).labels_) < 0.5


@pytest.mark.parametrize("links", ["must_link", "cannot_link"])
def test_one_kind_of_link_is_enough(links):
    X, y = noisy()
    known = sample_pairs(y, 60, random_state=0)
    one = Constraints.from_pairs(120, **{links: getattr(known, links)})
    weight = MetricKMeans(3, safe=False, random_state=0).fit(X, constraints=one).metric_ * X.var(axis=0)
    assert weight[:2].mean() > 2 * weight[2:].mean()


def test_the_learned_metric_is_used_even_where_equal_weights_satisfy_as_many_links():
    """Whether it is kept is for the guard to say; with safe=False every method gives its own answer."""
    X, y = make_blobs(60, centers=[[0, 0], [9, 0], [0, 9]], cluster_std=0.3, random_state=0)
    known = sample_pairs(y, 20, random_state=0)
    assert known.satisfaction(KMeans(3, n_init=10, random_state=0).fit_predict(X)) == 1.0
    own = MetricKMeans(3, random_state=0).fit(X, constraints=known)
    np.testing.assert_allclose(own.metric_, learn_diagonal_metric(X, known))
    assert not np.allclose(own.metric_, 1.0)
    guarded = MetricKMeans(3, safe=True, random_state=0).fit(X, constraints=known)
    assert guarded.decision_.kept == "unconstrained"
    np.testing.assert_array_equal(guarded.metric_, 1.0)


def test_iris_gains():
    X, y = load_iris(return_X_y=True)
    told = MetricKMeans(3, safe=False, random_state=0).fit(
        X, constraints=sample_pairs(y, 100, random_state=0)
    )
    alone = MetricKMeans(3, random_state=0).fit(X)
    assert adjusted_rand_score(y, told.labels_) > adjusted_rand_score(y, alone.labels_) + 0.05


def test_the_paper_s_own_problem():
    """regularization=0 is the paper's; every must-link there varies in every feature."""
    X, y = noisy()
    known = sample_pairs(y, 60, random_state=0)
    model = MetricKMeans(3, safe=False, regularization=0.0, random_state=0).fit(X, constraints=known)
    assert adjusted_rand_score(y, model.labels_) == 1.0
    quiet = X.copy()
    quiet[known.must_link[:, 0], 3] = quiet[known.must_link[:, 1], 3] = 1.0
    with pytest.raises(ConstraintError, match=r"feature 3 does not vary over any must-link"):
        MetricKMeans(3, safe=False, regularization=0.0).fit(quiet, constraints=known)
    told = MetricKMeans(3, safe=False, random_state=0).fit(quiet, constraints=known)
    assert np.isfinite(told.metric_).all()


def test_units_of_features_do_not_matter_where_links_speak():
    X, y = noisy()
    known = sample_pairs(y, 60, random_state=0)
    units = np.array([1.0, 1e3, 1e-4, 10.0])
    one = learn_diagonal_metric(X, known)
    other = learn_diagonal_metric(X * units, known)
    weight, scaled = one * X.var(axis=0), other * (X * units).var(axis=0)
    np.testing.assert_allclose(scaled / scaled.sum(), weight / weight.sum(), atol=1e-4)


def test_more_links_than_can_be_listed():
    X, y = noisy(n=9000)
    model = MetricKMeans(3, safe=False, n_init=1, random_state=0).fit(
        X, constraints=Constraints.from_labels(y)
    )
    assert adjusted_rand_score(y, model.labels_) == 1.0


def test_inertia_and_prediction_are_under_the_metric():
    X, y = noisy()
    model = MetricKMeans(3, safe=False, random_state=0).fit(
        X, constraints=sample_pairs(y, 40, random_state=0)
    )
    squares = (((X - model.cluster_centers_[model.labels_]) ** 2) @ model.metric_).sum()
    assert model.inertia_ == pytest.approx(squares, rel=1e-6)
    new, truth = noisy(7)
    assert adjusted_rand_score(truth, model.predict(new)) == 1.0


def test_inertia_is_that_of_labels_that_were_changed():
    X, y = noisy()
    wrong = sample_labels(np.roll(y, 1), 40, random_state=0)
    model = MetricKMeans(3, hard=True, random_state=0).fit(X, constraints=wrong)
    assert model.repair_.moved.size
    squares = (((X - model.cluster_centers_[model.labels_]) ** 2) @ model.metric_).sum()
    assert model.inertia_ == pytest.approx(squares, rel=1e-6)


def test_sparse_points_are_the_same_points():
    X, y = make_blobs(90, centers=[[4, 0, 0], [0, 4, 0], [0, 0, 4]], cluster_std=0.4, random_state=0)
    X = np.maximum(X, 0.0)
    known = sample_pairs(y, 60, random_state=0)
    dense = MetricKMeans(3, hard=True, random_state=0).fit(X, constraints=known)
    sparse = MetricKMeans(3, hard=True, random_state=0).fit(sp.csr_matrix(X), constraints=known)
    np.testing.assert_allclose(sparse.metric_, dense.metric_, rtol=1e-3, atol=1e-6)
    assert adjusted_rand_score(sparse.labels_, dense.labels_) == 1.0
    np.testing.assert_array_equal(sparse.predict(sp.csr_matrix(X)), sparse.predict(X))


def test_single_precision_stays():
    X, y = noisy()
    model = MetricKMeans(3, safe=False, random_state=0)
    model.fit(X.astype(np.float32), constraints=sample_pairs(y, 40, random_state=0))
    assert model.cluster_centers_.dtype == np.float32
    assert adjusted_rand_score(y, model.labels_) == 1.0


def test_hard_labels_satisfy_all_links():
    X, y = noisy()
    wrong = Constraints.from_labels(np.where(np.arange(120) % 10 == 0, (y + np.arange(120) // 10) % 3, -1))
    model = MetricKMeans(3, hard=True, random_state=0).fit(X, constraints=wrong)
    assert wrong.satisfaction(model.labels_) == 1.0
    assert model.repair_.violated_before > 0 == model.repair_.violated


def test_contradictions_matter_only_if_links_are_hard():
    X, _ = noisy(n=30)
    told = Constraints.from_pairs(30, [(0, 1), (1, 2)], [(0, 2)], on_conflict="weigh")
    assert MetricKMeans(3, safe=False, random_state=0).fit(X, constraints=told).labels_.shape == (30,)
    with pytest.raises(ConflictError, match="0 - 1 - 2"):
        MetricKMeans(3, hard=True).fit(X, constraints=told)


def test_equal_points_apart_teach_nothing():
    X = np.repeat(np.eye(3), 4, axis=0)
    with pytest.warns(ConstraintWarning, match="no two points that are apart differ"):
        model = MetricKMeans(3, safe=False, random_state=0).fit(
            X, constraints=Constraints.from_pairs(12, None, [(0, 1)])
        )
    np.testing.assert_array_equal(model.metric_, 1.0)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"regularization": -0.1}, "regularization=-0.1 must be a finite number, not negative"),
        ({"regularization": np.inf}, "regularization=inf must be a finite number"),
        ({"max_pairs": 0}, "max_pairs=0 must be a whole number"),
        ({"n_init": "auto"}, "n_init='auto' must be a whole number"),
        ({"max_iter": 1.0}, "max_iter=1.0 must be a whole number"),
        ({"hard": 1}, "hard=1 must be True or False"),
    ],
)
def test_parameters_that_make_no_sense(settings, message):
    with pytest.raises(ValueError, match=message):
        MetricKMeans(2, **settings).fit(noisy()[0])
