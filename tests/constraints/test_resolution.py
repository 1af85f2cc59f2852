import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sidecut.constraints import Constraints
from sidecut.exceptions import ConflictError, ConstraintWarning

quick = settings(deadline=None, max_examples=50)


def consistent(n, links):
    component = Constraints.from_pairs(n, [pair for sign, pair in links if sign > 0]).must_link_components()
    return all(component[i] != component[j] for sign, (i, j) in links if sign < 0)


def greedy(n, links):
    """Accept (weight, sign, pair) from the strongest, checking everything accepted each time."""
    kept = []
    for _, sign, pair in sorted(links, key=lambda link: (-link[0], -link[1], link[2])):
        if consistent(n, [*kept, (sign, pair)]):
            kept.append((sign, pair))
    return kept


@st.composite
def weighted_links(draw):
    n = draw(st.integers(3, 8))
    pair = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)).filter(lambda p: p[0] < p[1])
    weight = st.sampled_from([0.5, 1.0, 2.0])
    keys = draw(st.dictionaries(st.tuples(st.sampled_from([1, -1]), pair), weight, max_size=14))
    return n, [(weight, sign, pair) for (sign, pair), weight in keys.items()]


def signed_pairs(c):
    return {(int(np.sign(s)), tuple(p)) for p, s in zip(c.pairs.tolist(), c.strengths, strict=True)}


def build(n, links, on_conflict):
    sides = [[(pair, weight) for weight, sign, pair in links if sign == s] for s in (1, -1)]
    (must, must_weight), (cannot, cannot_weight) = (
        ([pair for pair, _ in side], [weight for _, weight in side]) for side in sides
    )
    return Constraints.from_pairs(n, must, cannot, must_weight, cannot_weight, on_conflict)


@quick
@given(weighted_links())
def test_dropping_is_the_greedy_choice_by_strength(case):
    n, links = case
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConstraintWarning)
        c = build(n, links, "drop")
    kept = greedy(n, links)
    assert c.n_conflicts == 0
    assert sorted(map(tuple, c.must_link.tolist())) == sorted(pair for sign, pair in kept if sign > 0)
    assert sorted(map(tuple, c.cannot_link.tolist())) == sorted(pair for sign, pair in kept if sign < 0)
    weight_of = {(sign, pair): weight for weight, sign, pair in links}
    for pair, strength in zip(map(tuple, c.pairs.tolist()), c.strengths, strict=True):
        assert abs(strength) == weight_of[int(np.sign(strength)), pair]


def test_dropped_links_are_named_in_a_warning():
    with pytest.warns(ConstraintWarning, match=r"dropped 1 of 3 links .*: cannot_link \(0, 2\)$") as caught:
        Constraints.from_pairs(3, [(0, 1), (1, 2)], [(0, 2)], on_conflict="drop")
    assert caught[0].filename == __file__


def test_many_dropped_links_are_counted():
    must = [(i, i + 1) for i in range(20)]
    with pytest.warns(ConstraintWarning, match=r"dropped 8 of 28 .* and 3 more"):
        Constraints.from_pairs(21, must, [(0, j) for j in range(2, 10)], on_conflict="drop")


def test_consistent_links_are_kept_without_a_warning():
    c = Constraints.from_pairs(4, [(0, 1)], [(1, 2)], on_conflict="drop")
    assert c == Constraints.from_pairs(4, [(0, 1)], [(1, 2)])


def test_without_conflicts_keeps_the_strong_and_the_diagonal():
    Q = np.array([[2.0, 1.0, -1.5], [1.0, 0.0, 3.0], [-1.5, 3.0, 0.0]])
    with pytest.warns(ConstraintWarning, match=r"must_link \(0, 1\)"):
        c = Constraints.from_matrix(Q).without_conflicts()
    Q[0, 1] = Q[1, 0] = 0
    np.testing.assert_array_equal(c.as_matrix().toarray(), Q)


def test_labels_are_kept_before_links():
    labels = Constraints.from_labels([0, 0, 1, 1, -1])
    links = Constraints.from_pairs(5, [(1, 4), (4, 2)], [(0, 1)], [5.0, 6.0], 9.0)
    with pytest.warns(ConstraintWarning, match=r"dropped 2 of 3 links"):
        c = labels.merged_with(links, on_conflict="drop")
    np.testing.assert_array_equal(
        c.restricted_to([0, 1, 2, 3]).as_matrix().toarray(),
        labels.restricted_to([0, 1, 2, 3]).as_matrix().toarray(),
    )
    np.testing.assert_array_equal(c.as_matrix().toarray()[4], [0, 0, 6, 0, 0])


def test_thousands_of_classes_joined_by_links_are_counted_and_resolved():
    n = 5000
    labels = Constraints.from_labels(np.arange(n))
    i = np.arange(n - 1)
    links = Constraints.from_pairs(n, must_link=np.column_stack([i, i + 1]))
    assert labels.merged_with(links, "weigh").n_conflicts == n * (n - 1) // 2
    with pytest.warns(ConstraintWarning, match="dropped 4999 of 4999 links"):
        assert labels.merged_with(links, "drop") == labels


@quick
@given(weighted_links(), st.integers(0, 999))
def test_links_beside_labels_are_dropped_as_beside_stronger_links(case, seed):
    n, links = case
    links = list({link[2]: link for link in links}.values())
    labels = Constraints.from_labels(np.random.default_rng(seed).integers(-1, 3, n))
    told = signed_pairs(labels)
    others = [link for link in links if link[2] not in {pair for _, pair in told}]
    kept = greedy(n, [*((9.0, sign, pair) for sign, pair in told), *others])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConstraintWarning)
        merged = labels.merged_with(build(n, links, "weigh"), "drop")
    assert signed_pairs(merged) == set(kept)


def test_labels_that_contradict_labels_are_refused_whatever_is_asked():
    first, second = Constraints.from_labels([0, 0, 1]), Constraints.from_labels([0, 1, 1])
    for on_conflict in ("raise", "drop", "weigh"):
        with pytest.raises(ConflictError, match="correct the labels"):
            first.merged_with(second, on_conflict)


def test_a_long_torn_chain_is_resolved_without_recursion():
    i = np.arange(49_999)
    weights = np.ones(49_999)
    weights[25_000] = 0.5
    with pytest.warns(ConstraintWarning, match=r"must_link \(25000, 25001\)"):
        c = Constraints.from_pairs(
            50_000, np.column_stack([i, i + 1]), [(0, 49_999)], weights, on_conflict="drop"
        )
    assert c.n_must_link == 49_998
    assert c.n_cannot_link == 1
