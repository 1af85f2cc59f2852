"""The tree against Kruskal's algorithm on all pairs, and layers against their definition."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import cdist, squareform
from sklearn.metrics import adjusted_rand_score

from sidecut.methods.layers.tree import (
    N_NEIGHBORS,
    POINTS_PER_NEIGHBOR,
    REACH_NEIGHBOR,
    SpanningTree,
    grow_branches,
    persistent_layers,
    spanning_tree,
)


def reachability(places):
    """Mutual reachability of all pairs."""
    distances = cdist(places, places)
    neighbor = int(np.clip(len(places) // POINTS_PER_NEIGHBOR, 1, REACH_NEIGHBOR))
    reach = np.sort(distances, axis=1)[:, neighbor]
    mutual = np.maximum(distances, np.maximum(reach[:, None], reach))
    np.fill_diagonal(mutual, 0.0)
    return mutual


@pytest.mark.parametrize("n_points", [2, 3, N_NEIGHBORS + 1])
def test_few_points_have_the_exact_tree(n_points):
    places = np.random.default_rng(n_points).normal(size=(n_points, 4))
    single = linkage(squareform(reachability(places)), "single")
    np.testing.assert_allclose(spanning_tree(places).lengths, single[:, 2], rtol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_clusters_far_apart_are_joined_at_their_distance(seed):
    rng = np.random.default_rng(seed)
    centres = 20 * rng.normal(size=(7, 4))
    places = np.concatenate([centre + rng.normal(size=(40, 4)) for centre in centres])
    tree, mutual = spanning_tree(places), reachability(places)
    single = linkage(squareform(mutual), "single")
    np.testing.assert_allclose(tree.lengths[-6:], single[-6:, 2], rtol=1e-12)
    expected = fcluster(single, 7, "maxclust")
    assert adjusted_rand_score(tree.labels(7), expected) == 1.0


def test_equal_places_are_joined_at_almost_no_distance():
    tree = spanning_tree(np.repeat(np.eye(4), 30, axis=0))
    np.testing.assert_array_equal(np.sort(tree.sizes)[-3:], [30, 30, 30])
    assert len(np.unique(tree.labels(4))) == 4
    assert tree.lengths[:116].max() < 1e-300


def path(lengths):
    """Points on a line, each joined to the next."""
    lengths = np.array(lengths, dtype=float)
    ends = np.column_stack([np.arange(len(lengths)), np.arange(1, len(lengths) + 1)])
    order = np.argsort(lengths, kind="stable")
    return SpanningTree(ends[order], lengths[order])


def test_the_size_of_an_edge_is_that_of_the_smaller_side():
    # 3 points, 2 points, 1 point.
    tree = path([1, 1, 5, 1, 9])
    np.testing.assert_array_equal(tree.lengths, [1, 1, 1, 5, 9])
    np.testing.assert_array_equal(tree.sizes, [1, 1, 1, 2, 1])
    np.testing.assert_array_equal(tree.labels(2), [0, 0, 0, 1, 1, 1])
    # Of equal sizes, the longest edge is cut first.
    np.testing.assert_array_equal(tree.labels(3), [0, 0, 0, 1, 1, 2])


def test_a_point_that_joins_late_is_noise():
    labels = path([1, 1, 1, 5, 1, 1, 1, 9]).labels(2)
    np.testing.assert_array_equal(labels, [0, 0, 0, 0, 1, 1, 1, 1, 1])
    np.testing.assert_array_equal(path([1, 1, 1, 5, 1, 1, 1, 9]).noise(labels, 2), [8])
    np.testing.assert_array_equal(path([1, 1, 1, 5, 1, 1, 1, 4]).noise(labels, 2), [])


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 60), st.integers(0, 10_000), st.integers(1, 6))
def test_branches_are_the_clusters_of_all_layers(n_points, seed, min_size):
    rng = np.random.default_rng(seed)
    tree = spanning_tree(rng.normal(size=(n_points, 2)) + 5 * rng.integers(0, 3, (n_points, 1)))
    branches = grow_branches(tree, min_size)
    n_leaves = int((tree.sizes >= min_size).sum()) + 1
    assert len(branches.parent) == 2 * n_leaves - 1
    assert branches.size[0] == n_points
    for count in range(1, n_leaves + 1):
        labels, alive = tree.labels(count), branches.layer(count)
        np.testing.assert_array_equal(np.sort(np.bincount(labels)), np.sort(branches.size[alive]))
        pieces = branches.pieces(alive)
        assert adjusted_rand_score(labels, pieces) == 1.0
        np.testing.assert_array_equal(branches.size[alive][pieces], np.bincount(labels)[labels])
        assert branches.layer_persistence[count - 1] == pytest.approx(branches.persistence[alive].sum())
        if count > 1:
            # Finer layers divide the clusters of coarser ones.
            assert len(np.unique(tree.labels(count - 1) * n_points + labels)) == count


def test_a_branch_exists_between_the_split_that_makes_it_and_its_own():
    # Twice 6 points, each of 2 x 3.
    tree = path([1, 1, 2, 1, 1, 4, 1, 1, 3, 1, 1])
    branches = grow_branches(tree, min_size=2)
    np.testing.assert_array_equal(
        branches.parent, [-1, 0, 0, *[branches.parent[3]] * 2, *[branches.parent[5]] * 2]
    )
    np.testing.assert_array_equal(branches.size, [12, 6, 6, 3, 3, 3, 3])
    np.testing.assert_array_equal(branches.death, [12, 6, 6, 3, 3, 3, 3])
    np.testing.assert_array_equal(branches.birth, [6, 3, 3, 2, 2, 2, 2])
    np.testing.assert_allclose(branches.layer_persistence, np.array([6, 6, 5, 4]) / 12)


def test_a_layer_that_trees_agree_on_is_before_one_that_they_cut_elsewhere():
    # Halves of 40 points; the second one is 20 and 20 points, or 26 and 14.
    def tree(last):
        lengths = np.ones(79)
        lengths[[39, 19, 40 + last]] = 9.0, 5.0, 5.0
        return grow_branches(path(lengths), min_size=5)

    same, other = tree(19), tree(25)
    # Quarters exist while the smallest size is in (5, 20], halves in (20, 40].
    assert persistent_layers([same]) == (0, {4: 4 * (20 - 5) / 80})
    three = [(2 * 15 + 20) / 80, (2 * 15 + 26) / 80]
    four = [4 * 15 / 80, (2 * 15 + 2 * 9) / 80]
    assert np.mean(four) > np.mean(three)
    assert adjusted_rand_score(same.tree.labels(4), other.tree.labels(4)) * np.mean(four) < np.mean(three)
    assert persistent_layers([same, other]) == (1, {3: pytest.approx(np.mean(three))})
    # One tree of three may be wrong: two agree on four.
    layers = persistent_layers([same, other, same])[1]
    assert layers == {4: pytest.approx((2 * four[0] + four[1]) / 3)}
    # Asked for four clusters, they are most persistent in the first.
    assert persistent_layers([same, other], 4)[0] == 0
