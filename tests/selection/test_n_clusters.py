"""How many clusters there are."""

from itertools import combinations

import numpy as np
import pytest

from sidecut import AutoCut, Constraints
from sidecut.constraints import sample_pairs
from sidecut.selection.n_clusters import expected_classes, fewest_clusters, propose_by_gaps


def clique_number(n, edges):
    """The largest set of nodes all joined, by looking at all sets."""
    joined = {frozenset(edge) for edge in edges}
    for size in range(n, 1, -1):
        for nodes in combinations(range(n), size):
            if all(frozenset(pair) in joined for pair in combinations(nodes, 2)):
                return size
    return 1


@pytest.mark.parametrize("seed", range(8))
def test_the_bound_is_a_clique_and_nearly_the_largest(seed):
    rng = np.random.default_rng(seed)
    edges = [pair for pair in combinations(range(9), 2) if rng.random() < 0.5]
    bound = fewest_clusters(Constraints.from_pairs(9, cannot_link=edges).contracted())
    best = clique_number(9, edges)
    assert best - 1 <= bound <= best


def test_the_bound_of_labels_is_the_classes_seen():
    assert fewest_clusters(Constraints.from_labels([0, 1, 1, 2, 5, -1]).contracted()) == 4
    assert fewest_clusters(Constraints.none(5).contracted()) == 1
    assert fewest_clusters(Constraints.from_pairs(5, must_link=[(0, 1)]).contracted()) == 1


def test_classes_seen_once_tell_of_others():
    labels = [0] * 12 + [1, 2, 3, 4, 5]
    # f1 = 5, f2 = 0: half of 5 * 4 / 2.
    assert expected_classes(Constraints.from_labels(labels)) == 6 + 5
    assert expected_classes(Constraints.from_labels([*labels, 1, 2, 3, 4, 5])) == 6


def test_few_labels_and_pairs_do_not_tell():
    assert expected_classes(Constraints.from_labels([0, 1, 2, -1])) is None
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
