"""COP-k-means: constraints always hold, and where they cannot, it says why."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris, make_blobs
from sklearn.exceptions import ConvergenceWarning

from sidecut import Constraints, COPKMeans
from sidecut.constraints import sample_labels, sample_pairs
from sidecut.exceptions import ConflictError, ConstraintError, InfeasibleError, LabellingWarning
from sidecut.methods.baselines.lloyd import find_must_linked_sets


def cloud(n=80, n_features=3, seed=0):
    return np.random.default_rng(seed).normal(size=(n, n_features))


@pytest.mark.parametrize("seed", range(3))
def test_without_constraints_it_is_k_means(seed):
    X = cloud(300, 4, seed)
    init = X[:6]
    mine = COPKMeans(6, init=init, tol=0.0).fit(X)
    theirs = KMeans(6, init=init, n_init=1, tol=0.0, algorithm="lloyd").fit(X)
    np.testing.assert_array_equal(mine.labels_, theirs.labels_)
    np.testing.assert_allclose(mine.cluster_centers_, theirs.cluster_centers_, atol=1e-12)
    assert mine.inertia_ == pytest.approx(theirs.inertia_, rel=1e-12)
    np.testing.assert_array_equal(mine.predict(X), theirs.predict(X))


@given(seed=st.integers(0, 1000))
@settings(max_examples=25)
def test_every_constraint_holds_and_the_sum_of_squares_never_grows(seed):
    rng = np.random.default_rng(seed)
    n_clusters = int(rng.integers(2, 6))
    X, y = cloud(60, 2, seed), rng.integers(0, n_clusters, 60)
    known = sample_pairs(y, int(rng.integers(1, 150)), random_state=seed)
    model = COPKMeans(n_clusters, n_init=2, random_state=seed).fit(X, constraints=known)
    assert known.satisfaction(model.labels_) == 1.0
    assert (np.diff(model.objective_) <= 1e-9 * model.inertia_).all()
    squares = ((X - model.cluster_centers_[model.labels_]) ** 2).sum()
    assert model.inertia_ == pytest.approx(squares)


def test_an_order_that_leads_greedy_assignment_into_a_dead_end():
    """Point 2 is apart from 0 and 1, which like different clusters: one after the other, it has none left."""
    X = np.array([[0.0], [10.0], [5.0], [0.1], [9.9]])
    known = Constraints.from_pairs(5, cannot_link=[(0, 2), (1, 2)])
    for order in ([0, 1, 2, 3, 4], [2, 1, 0, 3, 4], [4, 3, 2, 1, 0]):
        model = COPKMeans(2, init=[[0.0], [10.0]]).fit(X[order], constraints=known.permuted(order))
        labels = np.empty(5, dtype=int)
        labels[order] = model.labels_
        assert labels[0] == labels[1] != labels[2]


def test_labels_are_never_listed_as_pairs():
    """Labels of thirty thousand points are 450 million pairs."""
    n = 30_000
    X, y = make_blobs(n, centers=[[0, 0], [5, 0], [0, 5]], random_state=0)
    known = Constraints.from_labels(y)
    model = COPKMeans(3, n_init=1, random_state=0).fit(X, constraints=known)
    assert known.satisfaction(model.labels_) == 1.0
    assert find_must_linked_sets(known).n_sets == 3


def test_a_contradiction_is_shown_with_its_chain():
    known = Constraints.from_pairs(6, [(0, 1), (1, 2)], [(0, 2)], on_conflict="weigh")
    with pytest.raises(ConflictError, match="0 - 1 - 2"):
        COPKMeans(2).fit(cloud(6), constraints=known)


def test_too_many_points_apart_are_named():
    known = Constraints.from_pairs(9, cannot_link=[(1, 4), (4, 7), (1, 7), (0, 8)], must_link=[(4, 5)])
    with pytest.raises(
        InfeasibleError, match=r"n_clusters=2 .* they set 3 points apart from each other"
    ) as caught:
        COPKMeans(2).fit(cloud(9), constraints=known)
    assert sorted(map(tuple, caught.value.cannot_link.tolist())) == [(1, 4), (1, 7), (4, 7)]
    assert isinstance(caught.value, ConstraintError)
    model = COPKMeans(3, random_state=0).fit(cloud(9), constraints=known)
    assert known.satisfaction(model.labels_) == 1.0


def test_an_odd_cycle_through_must_links_is_named():
    known = Constraints.from_pairs(
        8, must_link=[(1, 2)], cannot_link=[(0, 1), (2, 3), (3, 4), (4, 5), (0, 5)]
    )
    with pytest.raises(InfeasibleError, match="there is no way to colour them") as caught:
        COPKMeans(2).fit(cloud(8), constraints=known)
    assert len(caught.value.cannot_link) == 5
    assert known.satisfaction(COPKMeans(3, random_state=0).fit(cloud(8), constraints=known).labels_) == 1.0


def test_more_classes_than_clusters_are_refused():
    with pytest.raises(InfeasibleError, match=r"n_clusters=3 .* 4 points apart"):
        COPKMeans(3).fit(cloud(8), constraints=Constraints.from_labels([0, 1, 2, 3, -1, 0, 1, -1]))


def test_a_search_cut_short_does_not_claim_infeasibility():
    outer = [(i, (i + 1) % 5) for i in range(5)]
    middle = [(5 + i, (i + 1) % 5) for i in range(5)] + [(5 + i, (i - 1) % 5) for i in range(5)]
    known = Constraints.from_pairs(11, cannot_link=outer + middle + [(10, 5 + i) for i in range(5)])
    with pytest.raises(InfeasibleError, match="does not prove") as caught:
        COPKMeans(3, max_steps=4).fit(cloud(11), constraints=known)
    assert caught.value.cannot_link is None
    with pytest.raises(InfeasibleError, match="the 20 cannot-links"):
        COPKMeans(3).fit(cloud(11), constraints=known)


def test_constraints_help():
    X, y = load_iris(return_X_y=True)
    known = sample_labels(y, 60, random_state=0)
    told = COPKMeans(3, random_state=0).fit(X, constraints=known)
    alone = COPKMeans(3, random_state=0).fit(X)
    assert known.satisfaction(told.labels_) == 1.0 > known.satisfaction(alone.labels_)
    assert told.inertia_ > alone.inertia_


def test_fewer_groups_than_clusters_warn():
    known = Constraints.from_pairs(4, must_link=[(0, 1), (2, 3)])
    with pytest.warns(LabellingWarning, match="2 groups, fewer than n_clusters=3"):
        model = COPKMeans(3, random_state=0).fit(cloud(4), constraints=known)
    assert known.satisfaction(model.labels_) == 1.0


def test_sparse_points_are_the_same_points_and_stay_sparse():
    X = np.maximum(cloud(60, 5), 0.0)
    known = Constraints.from_pairs(60, must_link=[(0, 1), (2, 3)], cannot_link=[(0, 2), (4, 5)])
    dense = COPKMeans(4, init=X[:4]).fit(X, constraints=known)
    sparse = COPKMeans(4, init=X[:4]).fit(sp.csr_matrix(X), constraints=known)
    np.testing.assert_array_equal(sparse.labels_, dense.labels_)
    np.testing.assert_allclose(sparse.cluster_centers_, dense.cluster_centers_, atol=1e-12)
    assert sparse.inertia_ == pytest.approx(dense.inertia_)
    np.testing.assert_array_equal(sparse.predict(sp.csr_matrix(X)), dense.predict(X))


def test_single_precision_stays():
    X = cloud(50).astype(np.float32)
    known = Constraints.from_pairs(50, must_link=[(0, 1)], cannot_link=[(0, 2)])
    model = COPKMeans(3, random_state=0).fit(X, constraints=known)
    assert model.cluster_centers_.dtype == np.float32
    twice = COPKMeans(3, random_state=0).fit(X.astype(np.float64), constraints=known)
    assert model.inertia_ == pytest.approx(twice.inertia_, rel=1e-4)


def test_a_distant_origin_changes_nothing():
    X = cloud(60)
    near, far = (COPKMeans(4, random_state=0).fit(X + shift) for shift in (0.0, 1e7))
    np.testing.assert_array_equal(near.labels_, far.labels_)
    assert far.inertia_ == pytest.approx(near.inertia_, rel=1e-6)


def test_few_iterations_warn():
    with pytest.warns(ConvergenceWarning, match="max_iter=1 "):
        COPKMeans(5, max_iter=1, n_init=1, random_state=0).fit(cloud(300))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"init": "magic"}, r"init='magic': choose one of 'k-means\+\+', 'random'"),
        (
            {"init": np.zeros((3, 3))},
            r"init has shape \(3, 3\): give n_clusters=2 finite centres of 3 features",
        ),
        ({"init": np.full((2, 3), np.nan)}, "finite centres"),
        ({"n_init": 0}, "n_init=0 must be a whole number, at least 1"),
        ({"max_iter": 2.5}, "max_iter=2.5 must be a whole number"),
        ({"max_steps": True}, "max_steps=True must be a whole number"),
        ({"tol": -1.0}, "tol=-1.0 must be a finite number, not negative"),
        ({"tol": np.nan}, "tol=nan"),
    ],
)
def test_parameters_that_make_no_sense(settings, message):
    with pytest.raises(ValueError, match=message):
        COPKMeans(2, **settings).fit(cloud(10))


def test_a_centre_that_no_point_belongs_to_is_spoken_of():
    X = np.array([[9.0, 11.0], [6.0, 4.0], [6.0, 4.0], [1e12, 8.0]])
    with pytest.warns(LabellingWarning, match="found 2 clusters where n_clusters=3"):
        COPKMeans(3, random_state=0).fit(X)
