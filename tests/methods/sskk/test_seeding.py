"""Seeds: which neighbourhoods, how far apart, and how clusters grow from them."""

from functools import partial

import numpy as np
import pytest

from sidecut import SSKK, Constraints
from sidecut.graphs import Gaussian, as_graph
from sidecut.methods.sskk import _next_seed, farthest_first, grow, neighbourhoods, seed_labels

# The methods themselves are tested here; the guard has tests of its own.
SSKK = partial(SSKK, safe=False)


def path_graph(*lengths):
    """Paths side by side, without an edge between them."""
    n = sum(lengths)
    weights = np.zeros((n, n))
    start = 0
    for length in lengths:
        for i in range(start, start + length - 1):
            weights[i, i + 1] = weights[i + 1, i] = 1.0
        start += length
    return as_graph(weights)


def test_neighbourhoods_are_must_link_components_of_two_or_more():
    links = Constraints.from_pairs(8, must_link=[(0, 7), (2, 3), (3, 4)], cannot_link=[(5, 6)])
    assert [members.tolist() for members in neighbourhoods(links)] == [[2, 3, 4], [0, 7]]
    assert neighbourhoods(Constraints.none(5)) == []
    labels = Constraints.from_labels([0, -1, 0, 1, 1, 1, 2])
    assert [members.tolist() for members in neighbourhoods(labels)] == [[3, 4, 5], [0, 2]]


def test_farthest_first_takes_the_farthest_of_the_means():
    X = np.array([[0.0], [0.1], [0.2], [1.0], [1.1], [9.0], [9.1], [4.0], [4.1]])
    sets = [np.array(members) for members in ([0, 1, 2], [3, 4], [5, 6], [7, 8])]
    kernel = X @ X.T
    chosen = farthest_first(lambda block: kernel @ block, sets, 3, 9)
    assert [members.tolist() for members in chosen] == [[0, 1, 2], [5, 6], [7, 8]]


def test_a_cannot_link_makes_sets_farther_apart():
    """Three sets equally far from one another, but for one cannot-link."""
    sets = [np.array([0, 1]), np.array([2, 3]), np.array([4, 5])]
    links = Constraints.from_pairs(6, must_link=[(0, 1), (2, 3), (4, 5)], cannot_link=[(0, 4)])
    chosen = farthest_first(lambda block: block + links.apply(block), sets, 2, 6)
    assert [members.tolist() for members in chosen] == [[0, 1], [4, 5]]


def test_more_neighbourhoods_than_are_looked_at(monkeypatch):
    monkeypatch.setattr("sidecut.methods.sskk.MAX_NEIGHBOURHOODS", 2)
    widths = []

    def apply(block):
        widths.append(block.shape[1])
        return block

    sets = [np.array([2 * i, 2 * i + 1]) for i in range(10)]
    assert len(farthest_first(apply, sets, 4, 20)) == 4
    assert widths == [4]


def test_clusters_grow_along_edges_and_meet_halfway():
    seeds = np.full(9, -1)
    seeds[[0, 8]] = 0, 1
    growth = grow(path_graph(9), seeds, 2)
    np.testing.assert_array_equal(growth.labels[[0, 1, 2, 3, 5, 6, 7, 8]], [0, 0, 0, 0, 1, 1, 1, 1])
    np.testing.assert_array_equal(growth.rounds, [0, 1, 2, 3, 4, 3, 2, 1, 0])


def test_a_point_goes_to_the_cluster_it_is_most_similar_to():
    weights = np.array([[0, 0, 1.0], [0, 0, 3.0], [1, 3, 0]])
    growth = grow(as_graph(weights), np.array([0, 1, -1]), 2)
    assert growth.labels.tolist() == [0, 1, 1]
    assert growth.affinities[2] == 3.0


def test_what_no_path_leads_to_is_farthest():
    seeds = np.full(7, -1)
    seeds[0] = 0
    growth = grow(path_graph(4, 3), seeds, 2)
    assert growth.labels.tolist() == [0, 0, 0, 0, -1, -1, -1]
    assert _next_seed(path_graph(4, 3), seeds, 2, np.random.RandomState(0)) in (4, 5, 6)
    assert _next_seed(path_graph(4), seeds[:4], 2, np.random.RandomState(0)) == 3


@pytest.mark.parametrize("seed", range(5))
def test_components_without_a_neighbourhood_get_seeds_of_their_own(seed):
    labels = seed_labels(path_graph(5, 4, 3), [np.array([0, 1])], 3, np.random.RandomState(seed))
    np.testing.assert_array_equal(np.bincount(labels), [5, *np.bincount(labels)[1:]])
    for component in (slice(0, 5), slice(5, 9), slice(9, 12)):
        assert len(set(labels[component])) == 1
    assert len(set(labels)) == 3


@pytest.mark.parametrize("seed", range(5))
def test_isolated_points_are_no_seeds(seed):
    weights = np.zeros((8, 8))
    weights[:6, :6] = path_graph(3, 3).toarray()
    labels = seed_labels(as_graph(weights), [], 2, np.random.RandomState(seed))
    assert len(set(labels[:3])) == len(set(labels[3:6])) == 1
    assert labels[0] != labels[3]


def test_on_a_dense_graph_one_round_is_enough():
    X = np.array([[0.0], [0.2], [5.0], [5.2], [9.0]])
    growth = grow(Gaussian(3.0).build(X), np.array([0, -1, 1, -1, -1]), 2)
    assert growth.labels.tolist() == [0, 0, 1, 1, 1]
    assert growth.rounds.tolist() == [0, 1, 0, 1, 1]


def test_must_links_that_join_all_points():
    path = as_graph(np.diag([1.0, 1.0, 1.0], 1) + np.diag([1.0, 1.0, 1.0], -1))
    labels = seed_labels(path, [np.arange(4)], 2, np.random.RandomState(0))
    np.testing.assert_array_equal(labels, 0)
    known = Constraints.from_pairs(4, must_link=[(0, 1), (1, 2), (2, 3)])
    model = SSKK(2, safe=False, init="farthest_first", affinity="precomputed", random_state=0)
    assert np.isin(model.fit(path, constraints=known).labels_, [0, 1]).all()
