import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecut import Constraints
from sidecut.exceptions import ConflictError


def test_nothing_known_contracts_to_nothing():
    seen = Constraints.none(4).components
    assert seen.n_components == 0
    assert seen.points.size == seen.apart.size == seen.strengths.size == 0


def test_labels_and_links_are_contracted_together():
    known = Constraints.from_labels([0, 0, 1, -1, -1]) | Constraints.from_pairs(5, must_link=[(2, 3)])
    seen = known.components
    assert seen.points.tolist() == [0, 1, 2, 3]
    assert seen.component.tolist() == [0, 0, 1, 1]
    assert seen.apart.tolist() == [[0, 1]]
    assert seen.strengths.tolist() == [2.0]  # the pairs (0, 2) and (1, 2)


def test_strengths_of_links_and_of_groups_add():
    labels = Constraints.from_labels([0, 0, 1, -1, -1], weight=0.5)
    links = Constraints.from_pairs(5, cannot_link=[(0, 3), (1, 3)], cannot_weight=[2.0, 3.0])
    seen = (labels | links).components
    strengths = dict(zip(map(tuple, seen.apart.tolist()), seen.strengths, strict=True))
    assert strengths == {(0, 1): 1.0, (0, 2): 5.0}


def test_contradictions_are_refused():
    known = Constraints.from_pairs(3, [(0, 1), (1, 2)], [(0, 2)], on_conflict="weigh")
    with pytest.raises(ConflictError, match="0 - 1 - 2"):
        known.components


@given(truth=st.lists(st.integers(0, 3), min_size=2, max_size=12), seed=st.integers(0, 99))
def test_it_says_what_listing_all_pairs_says(truth, seed):
    truth, rng = np.array(truth), np.random.default_rng(seed)
    pairs = rng.integers(0, len(truth), size=(8, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    same = truth[pairs[:, 0]] == truth[pairs[:, 1]]
    known = Constraints.from_pairs(len(truth), pairs[same], pairs[~same])
    seen = known.components
    component = dict(zip(seen.points.tolist(), seen.component.tolist(), strict=True))
    assert all(component[i] == component[j] for i, j in known.must_link.tolist())
    expected = {}
    for i, j in known.cannot_link.tolist():
        key = tuple(sorted((component[i], component[j])))
        expected[key] = expected.get(key, 0.0) + 1.0
    assert dict(zip(map(tuple, seen.apart.tolist()), seen.strengths.tolist(), strict=True)) == expected
    given_pairs = set(map(tuple, known.cannot_link.tolist()))
    assert {tuple(sorted(pair)) for pair in seen.example_pairs.tolist()} <= given_pairs


def test_sums_over_components():
    seen = Constraints.from_pairs(4, must_link=[(0, 2)], cannot_link=[(0, 3)]).components
    values = np.array([[1.0, 2.0], [10.0, 20.0], [5.0, 7.0]])  # of points 0, 2 and 3
    assert np.array_equal(seen.summed(values), [[11.0, 22.0], [5.0, 7.0]])
