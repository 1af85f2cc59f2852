"""How knowledge chooses pieces of the tree, on trees of paths whose clusters are known."""

import numpy as np
import pytest

from sidecut import Constraints
from sidecut.methods.layers.estimator import choose_pieces, conflicts_within, join_by_links
from sidecut.methods.layers.tree import SpanningTree, grow_branches


@pytest.fixture
def branches():
    """Two clusters of 40 points, far apart: one is 34 and 6 points, the other 32 and 8."""
    lengths = np.ones(79)
    lengths[[33, 39, 71]] = 2.0, 9.0, 3.0
    ends = np.column_stack([np.arange(79), np.arange(1, 80)])
    order = np.argsort(lengths, kind="stable")
    return grow_branches(SpanningTree(ends[order], lengths[order]), min_size=5)


def brute_force(branches, constraints):
    """The sum of max(-Q, 0) within each branch, by its definition."""
    Q = constraints.with_diagonal(0.0).as_matrix().toarray()
    found = []
    for branch in range(len(branches.parent)):
        inside = branches.leaf == branch
        for leaf in np.unique(branches.leaf):
            above = leaf
            while above > 0:
                above = branches.parent[above]
                if above == branch:
                    inside |= branches.leaf == leaf
        found.append(np.maximum(-Q[np.ix_(inside, inside)], 0.0).sum())
    unit = np.abs(Q).max() + np.maximum(Q, 0.0).sum() / len(constraints.constrained_points)
    return np.array(found) / (2.0 * unit)


@pytest.mark.parametrize("kind", ["labels", "pairs"])
def test_conflicts_are_counted_within_every_branch(branches, kind):
    rng = np.random.default_rng(0)
    if kind == "labels":
        known = Constraints.from_labels(np.where(rng.random(80) < 0.3, rng.integers(0, 3, 80), -1))
    else:
        pairs = rng.permutation(80)[:60].reshape(30, 2)
        known = Constraints.from_pairs(80, must_link=pairs[:10], cannot_link=pairs[10:])
    np.testing.assert_allclose(conflicts_within(branches, known), brute_force(branches, known))


def test_must_links_leave_the_most_persistent_layer(branches):
    pieces = choose_pieces(branches, Constraints.from_pairs(80, must_link=[(0, 79), (3, 60)]), 2, 80)
    np.testing.assert_array_equal(pieces, np.arange(80) // 40)


def test_cannot_links_split_the_cluster_they_are_in_and_no_other(branches):
    known = Constraints.from_pairs(80, cannot_link=[(75, 50), (76, 60)])
    pieces = choose_pieces(branches, known, 2, 80)
    assert sorted(np.bincount(pieces)) == [8, 32, 40]
    assert len({pieces[0], pieces[50], pieces[75]}) == 3


def test_one_wrong_label_among_many_splits_nothing(branches):
    labels = np.full(80, -1)
    labels[:10], labels[40:50], labels[75] = 0, 1, 0
    pieces = choose_pieces(branches, Constraints.from_labels(labels), 2, 80)
    assert len(np.unique(pieces)) == 2


def test_pieces_are_joined_by_the_sum_of_what_is_known():
    piece = np.repeat([0, 1, 2, 3], 10)
    known = Constraints.from_pairs(
        40, must_link=[(0, 10), (1, 11), (20, 30)], cannot_link=[(2, 12), (21, 31), (22, 32)]
    )
    np.testing.assert_array_equal(join_by_links(piece, known), np.repeat([0, 0, 2, 3], 10))
