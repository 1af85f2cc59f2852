"""Answers become groups: closure where they are certain, odds where they are not."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecut.active.belief import PairOdds, join
from sidecut.active.records import Answer, answer_odds
from sidecut.constraints import Constraints
from sidecut.exceptions import ConflictError

NONE = np.empty(0, dtype=int)
INF = np.inf


def certain(y, pairs):
    return [PairOdds(i, j, INF if y[i] == y[j] else -INF) for i, j in pairs if i != j]


@given(
    st.lists(st.integers(0, 2), min_size=4, max_size=9).flatmap(
        lambda y: st.tuples(
            st.just(y),
            st.lists(
                st.tuples(st.integers(0, len(y) - 1), st.integers(0, len(y) - 1)), min_size=1, max_size=12
            ),
        )
    )
)
def test_certain_answers_are_closed_as_constraints_are(drawn):
    y, pairs = drawn
    links = certain(y, pairs)
    if not links:
        return
    known = join(links, np.arange(len(y)), [])
    must = [(link.a, link.b) for link in links if link.odds > 0]
    cannot = [(link.a, link.b) for link in links if link.odds < 0]
    closed = Constraints.from_pairs(len(y), must or None, cannot or None).closed().as_matrix().toarray()
    together = known.group[:, None] == known.group[None, :]
    apart = known.apart[np.ix_(known.group, known.group)]
    off = ~np.eye(len(y), dtype=bool)
    np.testing.assert_array_equal(together[off], closed[off] > 0)
    np.testing.assert_array_equal(apart[off], closed[off] < 0)


def test_certain_contradictions_are_refused_and_name_the_points():
    with pytest.raises(ConflictError, match=r"Points 0 and 2 .* undo\(\)"):
        join([PairOdds(0, 1, INF), PairOdds(1, 2, INF), PairOdds(0, 2, -INF)], NONE, [])


def test_an_answer_gives_its_odds():
    # Bayes from even odds: the odds after are the likelihood ratio.
    said = Answer(0, 1, True, confidence=0.8)
    right = 0.8 * 0.9 + 0.2 * 0.1
    assert answer_odds(said, 0.9) == pytest.approx(np.log(right / (1 - right)))
    assert answer_odds(replace(said, same=False), 0.9) == pytest.approx(-np.log(right / (1 - right)))
    assert answer_odds(replace(said, strategy="given"), 0.9) == pytest.approx(np.log(4))
    assert answer_odds(Answer(0, 1, False), 1.0) == -INF


def test_a_weak_no_is_not_settled_and_two_are():
    one = join([PairOdds(0, 1, -3.6)], NONE, [])
    assert not one.apart.any()
    two = join([PairOdds(0, 1, INF), PairOdds(0, 2, -3.6), PairOdds(1, 2, -3.6)], NONE, [])
    assert two.apart[two.group_of(0), two.group_of(2)]


def test_a_contradiction_names_points_and_not_micro_clusters():
    said = [PairOdds(0, 1, np.inf), PairOdds(1, 0, -np.inf)]
    with pytest.raises(ConflictError, match="Points 700 and 300 are said to be apart"):
        join(said, np.array([2]), [], np.array([300, 700, 900]))
