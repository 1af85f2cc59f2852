from collections import deque
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sidecut.constraints import Conflict, Constraints
from sidecut.exceptions import ConflictError, ConstraintError

quick = settings(deadline=None, max_examples=50)


@st.composite
def contradictory_pairs(draw):
    n = draw(st.integers(3, 9))
    pair = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)).filter(lambda p: p[0] < p[1])
    must = draw(st.sets(pair, max_size=10))
    cannot = draw(st.sets(pair, max_size=5)) - must
    return n, sorted(must), sorted(cannot)


def distance(must, start, end):
    """Number of must-links between two points, by breadth-first search; None if there is no chain."""
    seen, queue = {start: 0}, deque([start])
    while queue:
        point = queue.popleft()
        for i, j in must:
            for a, b in ((i, j), (j, i)):
                if a == point and b not in seen:
                    seen[b] = seen[point] + 1
                    queue.append(b)
    return seen.get(end)


@quick
@given(contradictory_pairs())
def test_every_contradicted_cannot_link_is_proved_by_a_shortest_chain(case):
    n, must, cannot = case
    c = Constraints.from_pairs(n, must, cannot, on_conflict="weigh")
    conflicts = c.conflicts(max_chains=None)
    expected = [pair for pair in cannot if distance(must, *pair) is not None]
    assert [conflict.cannot_link for conflict in conflicts] == expected
    assert c.n_conflicts == len(expected)
    for conflict in conflicts:
        chain = conflict.chain
        assert (chain[0], chain[-1]) == conflict.cannot_link
        links = [tuple(sorted(link)) for link in pairwise(chain)]
        assert set(links) <= set(must)
        assert len(links) == distance(must, *conflict.cannot_link)


@quick
@given(contradictory_pairs())
def test_conflicts_are_raised_exactly_when_there_are_any(case):
    n, must, cannot = case
    if any(distance(must, *pair) is not None for pair in cannot):
        with pytest.raises(ConflictError, match=r"contradicts the must-links .*on_conflict='drop'"):
            Constraints.from_pairs(n, must, cannot)
    else:
        assert Constraints.from_pairs(n, must, cannot).n_conflicts == 0


def test_the_message_shows_the_chain_and_the_number():
    with pytest.raises(ConflictError) as caught:
        Constraints.from_pairs(12, [(3, 5), (8, 5), (8, 9), (1, 2)], [(9, 3), (1, 2), (0, 1)])
    message = str(caught.value)
    assert "2 conflicts in all" in message
    assert "'weigh'" in message
    assert {str(conflict) for conflict in caught.value.conflicts} == {
        "cannot_link (3, 9) contradicts the must-links 3 - 5 - 8 - 9",
        "cannot_link (1, 2) contradicts the must-links 1 - 2",
    }


def test_a_long_chain_is_shortened_in_the_message_only():
    i = np.arange(1999)
    with pytest.raises(ConflictError, match=r"0 - 1 - 2 - 3 - 4 - \(1990 more\) - 1995") as caught:
        Constraints.from_pairs(2000, np.column_stack([i, i + 1]), [(0, 1999)])
    assert caught.value.conflicts[0].chain == tuple(range(2000))


def test_chains_are_proved_only_as_far_as_asked():
    c = Constraints.from_pairs(
        50, [(i, i + 1) for i in range(49)], [(0, j) for j in range(2, 42)], on_conflict="weigh"
    )
    assert c.n_conflicts == 40
    assert len(c.conflicts()) == 10
    assert len(c.conflicts(max_chains=3)) == 3
    assert len(c.conflicts(max_chains=None)) == 40


def test_a_must_link_between_classes_is_a_conflict_shown_at_the_link():
    labels = Constraints.from_labels([0, 0, 0, 1, 1, -1, -1])
    link = Constraints.from_pairs(7, must_link=[(2, 5), (5, 3)])
    with pytest.raises(ConflictError) as caught:
        labels | link
    assert caught.value.conflicts == (Conflict((2, 3), (2, 5, 3), 1.0),)


def test_a_cannot_link_within_a_class_is_a_conflict():
    labels = Constraints.from_labels([0, 0, 0, 1])
    both = labels.merged_with(Constraints.from_pairs(4, cannot_link=[(0, 2)], cannot_weight=3.0), "weigh")
    assert both.conflicts() == (Conflict((0, 2), (0, 2), 3.0),)


def test_a_chain_may_go_through_classes():
    labels = Constraints.from_labels([0, 0, 1, 1, -1])
    links = Constraints.from_pairs(5, must_link=[(1, 4)], cannot_link=[(4, 0)])
    both = labels.merged_with(links, on_conflict="weigh")
    assert both.conflicts() == (Conflict((0, 4), (0, 1, 4), 1.0),)


def test_no_cannot_links_no_conflicts():
    assert Constraints.from_pairs(3, [(0, 1), (1, 2)]).conflicts() == ()
    assert Constraints.none(3).n_conflicts == 0


def test_an_unknown_choice_is_named():
    with pytest.raises(ConstraintError, match="on_conflict = 'ignore': choose 'raise', 'drop' or 'weigh'"):
        Constraints.from_pairs(3, on_conflict="ignore")


def test_weighing_adds_opposite_strengths_of_a_pair():
    c = Constraints.from_pairs(
        4, [(0, 1), (1, 2)], [(0, 1), (0, 2)], [3.0, 1.0], [1.0, 1.0], on_conflict="weigh"
    )
    np.testing.assert_array_equal(c.pairs, [[0, 1], [0, 2], [1, 2]])
    np.testing.assert_array_equal(c.strengths, [2.0, -1.0, 1.0])


def test_equal_opposite_beliefs_leave_nothing():
    assert Constraints.from_pairs(2, [(0, 1)], [(0, 1)], on_conflict="weigh").is_empty
