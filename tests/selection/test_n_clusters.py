"""How many clusters there are."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.preprocessing import FunctionTransformer

from sidecut import AutoCut, Constraints
from sidecut.constraints import sample_pairs
from sidecut.exceptions import ConstraintWarning
from sidecut.graphs import Neighbors
from sidecut.selection import Transformed
from sidecut.selection.n_clusters import (
    choose_n_clusters,
    count_unseen,
    leading_eigenvalues,
    propose_by_gaps,
    weigh_n_clusters,
)


def blobs(sizes):
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(len(sizes)), sizes)
    return 12.0 * y[:, None] + rng.normal(size=(len(y), 2)), y


def test_a_large_cluster_without_a_label_is_a_class_nobody_labelled():
    X, y = blobs([60, 60, 60, 60, 12])
    every_tenth = np.arange(len(y)) % 10 == 0
    graph = Neighbors(8).build(X)
    # The last cluster should hold 1.2 labels: chance may leave it without one.
    for unseen, expected in (({4}, 0), ({3, 4}, 1), ({2, 3, 4}, 2)):
        labels = np.where(every_tenth & ~np.isin(y, [*unseen]), y, -1)
        assert count_unseen([graph], labels, seed=0) == expected


@pytest.mark.parametrize("dimensions", [2, 5])
def test_one_cloud_shows_no_groups_and_that_is_said(dimensions):
    """A cloud without groups came out as 15 clusters, and no word said that there may be none."""
    cloud = np.random.default_rng(0).normal(size=(300, dimensions))
    model = AutoCut(random_state=0).fit(cloud)
    assert not model.n_clusters_curve_.is_clear
    assert "No groups stand out in these data" in model.explanation_
    groups, y = blobs([60, 60, 60])
    clear = AutoCut(random_state=0).fit(groups)
    assert clear.n_clusters_curve_.is_clear
    assert "No groups" not in clear.explanation_
    # Labels say that there are groups.
    known = Constraints.from_labels(np.where(np.arange(180) % 9, -1, y))
    named = AutoCut(random_state=0).fit(cloud[:180], constraints=known)
    assert named.n_clusters_curve_.is_clear


def test_one_label_of_every_class_tells_how_many_there_are():
    """In one broad cloud the spectrum shows nothing; with clear groups it shows those without a label."""
    cloud = np.random.default_rng(0).normal(size=(200, 2))
    labels = np.full(200, -1)
    labels[:6] = np.arange(6)
    graph = Neighbors(8).build(cloud)
    assert choose_n_clusters([graph], Constraints.none(200), 0) != 6
    assert choose_n_clusters([graph], Constraints.from_labels(labels), 0) == 6
    X, _ = blobs([60, 60, 60, 60])
    clear, labels = Neighbors(30).build(X), np.full(240, -1)
    labels[[0, 60]] = 0, 1
    assert choose_n_clusters([clear], Constraints.from_labels(labels), 0) == 4
    labels[[1, 61]] = 0, 1
    assert choose_n_clusters([clear], Constraints.from_labels(labels), 0) == 2


def test_a_class_is_unseen_only_if_all_graphs_show_it():
    X, y = blobs([60, 60, 60])
    labels = np.where((np.arange(len(y)) % 10 == 0) & (y < 2), y, -1)
    known, telling = Constraints.from_labels(labels), Neighbors(8)
    noise = np.random.default_rng(1).normal(size=X.shape)
    says_nothing = Transformed(telling, FunctionTransformer(lambda _: noise))
    assert choose_n_clusters([telling.build(X)], known, 0) == 3
    assert choose_n_clusters([telling.build(X), says_nothing.build(X)], known, 0) == 2


def test_two_graphs_must_show_the_same_cluster():
    """Both have a cluster of 60 points without a label, but only half of its points are the same."""
    X, y = blobs([60, 60, 60])
    labels = np.where((np.arange(180) % 10 == 0) & (y < 2), y, -1)
    other = y.copy()
    other[150:] = np.arange(150, 180) % 2
    other[np.flatnonzero((labels < 0) & (y < 2))[:30]] = 2
    elsewhere = np.column_stack([12.0 * other, np.zeros(180)]) + X - np.column_stack([12.0 * y, 12.0 * y])
    graphs = [Neighbors(8).build(X), Neighbors(8).build(elsewhere)]
    assert [count_unseen([graph], labels, seed=0) for graph in graphs] == [1, 1]
    assert count_unseen(graphs, labels, seed=0) == 0
    assert count_unseen([graphs[0], graphs[0]], labels, seed=0) == 1


def test_the_widest_gap_among_small_eigenvalues_proposes():
    assert propose_by_gaps(np.array([0.0, 0.0, 0.0, 0.2, 0.25]), fewest=1)[:2] == [3, 4]
    assert propose_by_gaps(np.array([0.0, 0.01, 0.05, 0.2, 0.21, 0.35, 0.9]), fewest=1)[0] == 3
    assert propose_by_gaps(np.array([0.0, 0.01, 0.05, 0.2, 0.21, 0.26, 0.27]), fewest=4)[0] == 5
    assert propose_by_gaps(np.array([0.0, 0.5]), fewest=2) == [2]


def test_pairs_find_what_the_spectrum_proposes():
    rng = np.random.default_rng(0)
    centres = np.array([[0, 0], [7, 0], [0, 7], [7, 7]])
    y = np.repeat(np.arange(4), 20)
    X = centres[y] + rng.normal(size=(80, 2))
    known = sample_pairs(y, 40, random_state=0)
    assert AutoCut(budget=4, random_state=0).fit(X, constraints=known).n_clusters_ == 4


def test_many_clusters_are_found_without_a_label():
    X, y = make_blobs([30] * 40, n_features=8, cluster_std=1.0, random_state=0)
    assert choose_n_clusters([Neighbors(20).build(X)], Constraints.none(len(y)), 0) == 40


def test_eigenvalues_are_computed_as_far_as_clusters_come_apart():
    X, _ = make_blobs([30] * 40, n_features=8, cluster_std=1.0, random_state=0)
    graph = Neighbors(20).build(X)
    assert 41 <= len(leading_eigenvalues(graph, 1, graph.n_nodes, 0)) <= 121
    assert len(leading_eigenvalues(graph, 1, 6, 0)) == 7


def test_bounds_hold_whatever_is_known():
    X, y = blobs([60, 60, 60, 60])
    graph, nothing = Neighbors(8).build(X), Constraints.none(240)
    known = Constraints.from_labels(np.where(np.arange(240) % 10 == 0, y, -1))
    assert choose_n_clusters([graph], nothing, 0) == choose_n_clusters([graph], known, 0) == 4
    for given in (nothing, known, sample_pairs(y, 60, random_state=0)):
        assert choose_n_clusters([graph], given, 0, (2, 9)) == 4
        assert 6 <= choose_n_clusters([graph], given, 0, (6, 9)) <= 9
    assert choose_n_clusters([graph], nothing, 0, (2, 3)) in (2, 3)
    with pytest.warns(ConstraintWarning, match="4"):
        assert choose_n_clusters([graph], known, 0, (2, 3)) == 3


def test_the_curve_shows_the_evidence():
    X, y = blobs([60, 60, 60, 60])
    curve = weigh_n_clusters([Neighbors(8).build(X)], sample_pairs(y, 60, random_state=0), 0)
    frame = curve.to_frame()
    assert curve.best == 4
    assert frame["n_clusters"].tolist() == list(range(1, len(frame) + 1))
    assert frame.loc[frame["chosen"], "n_clusters"].tolist() == [4]
    assert frame["agreement"].max() == frame.loc[3, "agreement"] == 1.0
    assert frame["agreement"].notna().sum() >= 2
    assert frame.loc[3, "eigengap"] > 0.02


def test_autocut_keeps_within_bounds_and_shows_the_curve():
    X, y = blobs([60, 60, 60, 60])
    known = Constraints.from_labels(np.where(np.arange(240) % 20 == 0, y, -1))
    for given in (None, known):
        model = AutoCut((2, 6), random_state=0).fit(X, constraints=given)
        assert model.n_clusters_ == model.n_clusters_curve_.best == 4
        assert AutoCut((5, 6), random_state=0).fit(X, constraints=given).n_clusters_ in (5, 6)
    assert not hasattr(AutoCut(4, random_state=0).fit(X), "n_clusters_curve_")


@pytest.mark.parametrize("bounds", [(3, 2), (0, 4), (2, 3, 4), (2.0, 4), ("2", "4"), (True, 4)])
def test_bounds_that_make_no_sense_are_refused(bounds):
    X, _ = blobs([20, 20])
    with pytest.raises(ValueError, match=r"two whole numbers, such as \(2, 6\)"):
        AutoCut(bounds).fit(X)


def test_more_clusters_than_points_are_refused():
    X, _ = blobs([20, 20])
    with pytest.raises(ValueError, match="more than the n_samples=40 points"):
        AutoCut((41, 60)).fit(X)
