"""Answers become groups: closure where they are certain, odds where they are not."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import logit

from sidecut.active.knowledge import Link, join, log_odds
from sidecut.constraints import Constraints
from sidecut.exceptions import ConflictError

NONE = np.empty(0, dtype=int)
INF = np.inf


def certain(y, pairs):
    return [Link(i, j, INF if y[i] == y[j] else -INF) for i, j in pairs if i != j]


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
    together = known.groups[:, None] == known.groups[None, :]
    apart = known.apart[np.ix_(known.groups, known.groups)]
    off = ~np.eye(len(y), dtype=bool)
    np.testing.assert_array_equal(together[off], closed[off] > 0)
    np.testing.assert_array_equal(apart[off], closed[off] < 0)


def test_certain_contradictions_are_refused_and_name_the_points():
    with pytest.raises(ConflictError, match=r"Points 0 and 2 .* undo\(\)"):
        join([Link(0, 1, INF), Link(1, 2, INF), Link(0, 2, -INF)], NONE, [])


def test_log_odds_add_the_answer_to_what_was_expected():
    # Bayes: odds after = odds before × likelihood ratio.
    before, right = 0.4, 0.9
    after = before * right / (before * right + (1 - before) * (1 - right))
    assert log_odds(True, right, before) == pytest.approx(logit(after))
    after = before * (1 - right) / (before * (1 - right) + (1 - before) * right)
    assert log_odds(False, right, before) == pytest.approx(logit(after))


def best_partition_odds(n, links):
    """The greatest sum of odds inside groups over all partitions, by brute force."""
    best = -INF
    for code in range(n**n):
        groups = [(code // n**k) % n for k in range(n)]
        best = max(best, sum(link.odds for link in links if groups[link.a] == groups[link.b]))
    return best


def test_wrong_answers_are_outvoted():
    # 0, 1, 2 belong together and 3, 4 do; one wrong yes joins 2 and 3, two noes speak against it.
    links = [
        Link(0, 1, 2.0),
        Link(1, 2, 2.0),
        Link(3, 4, 2.0),
        Link(2, 3, 1.5),
        Link(0, 4, -2.0),
        Link(1, 3, -2.0),
    ]
    known = join(links, NONE, [])
    assert known.groups.tolist() == [0, 0, 0, 1, 1]
    assert known.odds[0, 1] == pytest.approx(1.5 - 4.0)
    inside = sum(link.odds for link in links if known.groups[link.a] == known.groups[link.b])
    assert inside == pytest.approx(best_partition_odds(5, links))


def test_a_weak_no_is_not_settled_and_two_are():
    one = join([Link(0, 1, -2.2)], NONE, [])
    assert not one.apart.any()
    two = join([Link(0, 1, INF), Link(0, 2, -2.2), Link(1, 2, -2.2)], NONE, [])
    assert two.apart[two.group_of(0), two.group_of(2)]


def test_trust_is_the_chance_of_the_links_that_hold_a_node():
    known = join([Link(0, 1, 2.0), Link(1, 2, INF)], NONE, [])
    assert known.trust[0] == pytest.approx(1 / (1 + np.exp(-2.0)))
    assert known.trust[2] == 1.0


def test_what_was_expected_never_outvotes_an_answer():
    """It rests on earlier answers, wrong ones among them."""
    assert log_odds(False, 0.8, 0.99) < 0 < log_odds(True, 0.8, 0.01)


def test_a_contradiction_names_points_and_not_grains():
    said = [Link(0, 1, np.inf), Link(1, 0, -np.inf)]
    with pytest.raises(ConflictError, match="Points 700 and 300 are said to be apart"):
        join(said, np.array([2]), [], np.array([300, 700, 900]))
