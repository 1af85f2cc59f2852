import itertools
import warnings

import numpy as np
import pytest

from sidecut import Constraints
from sidecut.constraints.closure import points_apart, too_few_clusters, warn_about_too_few_clusters
from sidecut.exceptions import ConstraintWarning


def largest_clique(n, pairs):
    """By trying all sets."""
    edges = {frozenset(pair) for pair in pairs}
    for size in range(n, 0, -1):
        for nodes in itertools.combinations(range(n), size):
            if all(frozenset(pair) in edges for pair in itertools.combinations(nodes, 2)):
                return size
    return 0


@pytest.mark.parametrize("seed", range(20))
def test_the_points_found_are_a_clique_and_nearly_the_largest(seed):
    rng = np.random.default_rng(seed)
    pairs = [pair for pair in itertools.combinations(range(9), 2) if rng.random() < 0.5]
    found = points_apart(Constraints.from_pairs(9, cannot_link=pairs))
    assert all(pair in pairs for pair in itertools.combinations(found.tolist(), 2))
    assert largest_clique(9, pairs) - 1 <= len(found) <= largest_clique(9, pairs)


@pytest.mark.parametrize("n_classes", [1, 2, 7])
def test_labels_need_as_many_clusters_as_classes(n_classes):
    y = np.arange(40) % n_classes
    y[::3] = -1
    assert len(points_apart(Constraints.from_labels(y))) == n_classes


def test_without_cannot_links_one_component_is_the_clique():
    assert Constraints.none(5).components.clique == []
    assert Constraints.from_pairs(5, must_link=[(0, 1)]).components.clique == [0]


def test_a_clique_grows_by_what_leaves_most_others_and_not_by_hubs():
    """Node 0 is in a clique of four; its neighbour of most links, 9, is in none larger than three."""
    four = list(itertools.combinations(range(4), 2))
    hub = [(9, other) for other in (0, 4, 5, 6, 7, 8)]
    assert sorted(Constraints.from_pairs(10, cannot_link=four + hub).components.clique) == [0, 1, 2, 3]


def test_must_links_carry_cannot_links_over():
    links = Constraints.from_pairs(6, must_link=[(0, 1), (2, 3)], cannot_link=[(0, 2), (3, 4), (1, 4)])
    assert len(points_apart(links)) == 3


def test_beliefs_held_with_reserve_and_contradictions_need_nothing():
    soft = Constraints.from_pairs(3, cannot_link=[(0, 1), (1, 2), (0, 2)], cannot_weight=0.5)
    assert len(points_apart(soft)) <= 1
    torn = Constraints.from_pairs(3, [(0, 1), (1, 2)], [(0, 2)], on_conflict="weigh")
    assert len(points_apart(torn)) == 0


@pytest.mark.parametrize("seed", range(20))
def test_no_search_is_left_out_that_would_find_too_many_points_apart(seed):
    """What is told without a search is what the search tells."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 4, 12)
    pairs = [pair for pair in itertools.combinations(range(12), 2) if rng.random() < 0.4]
    together = [(i, j) for i, j in pairs if y[i] == y[j]]
    links = Constraints.from_pairs(12, together, [(i, j) for i, j in pairs if y[i] != y[j]])
    for n_clusters in range(1, 6):
        assert bool(too_few_clusters(links, n_clusters)) == (len(points_apart(links)) > n_clusters)


def test_names_of_points_may_be_given():
    triangle = Constraints.from_pairs(3, cannot_link=[(0, 1), (1, 2), (0, 2)])
    assert "The points a, b, c are all apart" in too_few_clusters(triangle, 2, "abc".__getitem__)


def test_only_too_few_clusters_are_warned_of():
    known = Constraints.from_labels([0, 1, 2, -1])
    with pytest.warns(ConstraintWarning, match="name 3 classes"):
        warn_about_too_few_clusters(known, 2)
    with warnings.catch_warnings(action="error"):
        warn_about_too_few_clusters(known, 3)
        warn_about_too_few_clusters(Constraints.none(4), 1)
