import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sidecut.constraints import Constraints
from sidecut.exceptions import ConflictError, ConstraintError

quick = settings(deadline=None, max_examples=50)
ANY = st.from_type(Constraints)


def dense(c):
    return c.as_matrix().toarray()


def stronger(first, second):
    return np.where(np.abs(first) >= np.abs(second), first, second)


@st.composite
def two_that_agree(draw):
    """Labels and pairs of one truth, in any combination of at most one set of labels."""
    n = draw(st.integers(2, 8))
    y = np.array(draw(st.lists(st.integers(0, 2), min_size=n, max_size=n)))
    pairs = []
    for _ in range(2):
        i, j = (
            np.array(
                draw(st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=8)), dtype=int
            )
            .reshape(-1, 2)
            .T
        )
        i, j = i[i != j], j[i != j]
        same = y[i] == y[j]
        weights = draw(st.sampled_from([0.5, 1.0, 2.0]))
        pairs.append(
            Constraints.from_pairs(
                n, np.column_stack([i, j])[same], np.column_stack([i, j])[~same], weights, weights
            )
        )
    if draw(st.booleans()):
        known = np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n)))
        pairs[0] = Constraints.from_labels(np.where(known, y, -1), draw(st.sampled_from([0.5, 1.0, 2.0])))
    return tuple(pairs)


@quick
@given(two_that_agree())
def test_a_pair_known_twice_keeps_its_greater_strength(two):
    a, b = two
    expected = stronger(dense(a), dense(b))
    np.testing.assert_allclose(dense(a | b), expected, atol=1e-15)
    np.testing.assert_allclose(dense(b | a), expected, atol=1e-15)
    assert (a | b).n_pairs == np.count_nonzero(np.triu(expected, 1))


@quick
@given(two_that_agree())
def test_weighing_adds(two):
    a, b = two
    np.testing.assert_allclose(dense(a.merged_with(b, "weigh")), dense(a) + dense(b), atol=1e-15)


@quick
@given(ANY)
def test_merging_with_nothing_changes_nothing(c):
    nothing = Constraints.none(c.n_samples)
    assert c.merged_with(nothing, "weigh") == c
    if c.n_conflicts == 0:
        assert dense(c | nothing).tolist() == dense(c).tolist()


def test_merging_with_itself_changes_nothing():
    pairs = Constraints.from_pairs(5, [(0, 1)], [(2, 3)], 2.0, 3.0)
    labels = Constraints.from_labels([0, 0, 1, -1, -1])
    for c in (pairs, labels, pairs.closed(), labels | pairs):
        assert c | c == c


def test_two_sets_of_labels_are_matched_through_common_samples():
    first = Constraints.from_labels(["a", "b", "a", None, None, None])
    second = Constraints.from_labels([None, 2, 1, 1, 3, None])
    both = first | second
    # Sample 1 makes b = 2 and sample 2 makes a = 1; class 3 is known to differ from 1 and 2, so from a and b.
    assert both == Constraints.from_labels([1, 2, 1, 1, 3, -1])


def test_classes_without_common_samples_stay_unrelated():
    both = Constraints.from_labels([0, 1, -1, -1]) | Constraints.from_labels([-1, -1, 0, 1])
    expected = np.kron(np.eye(2), [[1, -1], [-1, 1]])
    np.testing.assert_array_equal(dense(both), expected)


def test_contradictions_between_two_are_refused():
    a = Constraints.from_pairs(4, must_link=[(0, 1), (1, 2)])
    b = Constraints.from_pairs(4, cannot_link=[(0, 2)])
    with pytest.raises(ConflictError, match=r"cannot_link \(0, 2\) contradicts the must-links 0 - 1 - 2"):
        a | b


def test_labels_of_different_strength_are_refused_with_a_way_out():
    a, b = Constraints.from_labels([0, 1, -1]), Constraints.from_labels([-1, 0, 1], weight=2.0)
    with pytest.raises(ConstraintError, match=r"weight 1\.0 .* weight 2\.0 .*scaled\(\)"):
        a | b
    assert (a.scaled(2.0) | b).n_pairs == 2


def test_other_samples_are_refused():
    with pytest.raises(ConstraintError, match="for 3 samples with constraints for 4"):
        Constraints.none(3) | Constraints.none(4)


def test_only_constraints_can_be_merged():
    with pytest.raises(TypeError):
        Constraints.none(3) | [(0, 1)]


def test_too_many_relations_between_classes_are_refused():
    n = 15_000
    first, second = np.full(n, -1), np.full(n, -1)
    first[:10_000] = np.arange(10_000)
    second[5_000:] = np.arange(10_000)
    with pytest.raises(ConstraintError, match=r"more than 20000000 relations .* join the two label arrays"):
        Constraints.from_labels(first) | Constraints.from_labels(second)
