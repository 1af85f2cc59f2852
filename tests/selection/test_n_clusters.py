"""How many clusters there are."""

import numpy as np
from sklearn.preprocessing import FunctionTransformer

from sidecut import AutoCut, Constraints
from sidecut.constraints import sample_pairs
from sidecut.graphs import Neighbors
from sidecut.selection import Transformed
from sidecut.selection.n_clusters import (
    choose_n_clusters,
    count_unseen,
    expected_classes,
    propose_by_gaps,
)


def test_classes_seen_once_tell_of_others():
    # f1 = 5, f2 = 0: Chao's estimate is 5 * 4 / 2 = 10. f1 = 2, f2 = 0: it is just 1. f1 = 2, f2 = 1: a half.
    assert expected_classes(Constraints.from_labels([0] * 12 + [1, 2, 3, 4, 5])) == 6 + 1
    assert expected_classes(Constraints.from_labels([0] * 12 + [1, 2])) == 3 + 1
    assert expected_classes(Constraints.from_labels([0] * 12 + [1, 2, 3, 3])) == 4
    assert expected_classes(Constraints.from_labels([0] * 12 + [1, 2, 3, 4, 5] * 2)) == 6


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


def test_few_labels_and_pairs_do_not_tell():
    assert expected_classes(Constraints.from_labels([0, 1, 2, -1])) is None
    assert expected_classes(Constraints.from_labels([0, 0, 0, -1])) is None
    assert expected_classes(Constraints.from_pairs(4, [(0, 1)])) is None


def test_gaps_are_relative_and_pieces_have_none():
    # Three pieces: no gap before the third; then the widest.
    assert propose_by_gaps(np.array([0.0, 0.0, 0.0, 0.2, 0.25]), fewest=1)[0] == 3
    assert propose_by_gaps(np.array([0.0, 0.01, 0.2, 0.9, 0.95]), fewest=3)[0] == 3
    assert propose_by_gaps(np.array([0.0, 0.5]), fewest=2) == [2]


def test_pairs_find_what_the_spectrum_proposes():
    rng = np.random.default_rng(0)
    centres = np.array([[0, 0], [7, 0], [0, 7], [7, 7]])
    y = np.repeat(np.arange(4), 20)
    X = centres[y] + rng.normal(size=(80, 2))
    known = sample_pairs(y, 40, random_state=0)
    assert AutoCut(budget=4, random_state=0).fit(X, constraints=known).n_clusters_ == 4
