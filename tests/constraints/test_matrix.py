import copy
import pickle
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sidecut.constraints import Constraints
from sidecut.exceptions import ConstraintError

quick = settings(deadline=None, max_examples=50)
ANY = st.from_type(Constraints)


def dense(constraints):
    return constraints.as_matrix().toarray()


@quick
@given(ANY, st.integers(0, 2**32 - 1))
def test_apply_is_the_product_with_the_matrix(c, seed):
    X = np.random.default_rng(seed).standard_normal((c.n_samples, 3))
    np.testing.assert_allclose(c.apply(X), dense(c) @ X, atol=1e-12)
    np.testing.assert_allclose(c @ X[:, 0], dense(c) @ X[:, 0], atol=1e-12)
    np.testing.assert_allclose(c.quadratic(X), np.diag(X.T @ dense(c) @ X), atol=1e-12)


@quick
@given(ANY)
def test_counts_and_sums_agree_with_the_listed_matrix(c):
    Q = dense(c)
    upper = Q[np.triu_indices(c.n_samples, 1)]
    assert c.n_must_link == np.sum(upper > 0) == len(c.must_link)
    assert c.n_cannot_link == np.sum(upper < 0) == len(c.cannot_link)
    assert c.n_pairs == len(c.pairs) == len(c.strengths)
    assert c.n_entries() == np.count_nonzero(Q)
    assert c.is_empty == (not Q.any())
    assert c.total() == pytest.approx(Q.sum())
    np.testing.assert_array_equal(c.diagonal(), np.diag(Q))


@quick
@given(ANY)
def test_matrix_is_symmetric_and_pairs_are_its_sorted_upper_entries(c):
    Q = dense(c)
    np.testing.assert_array_equal(Q, Q.T)
    rows, columns = np.nonzero(np.triu(Q, 1))
    np.testing.assert_array_equal(c.pairs, np.column_stack([rows, columns]))
    np.testing.assert_array_equal(c.strengths, Q[rows, columns])


@quick
@given(ANY)
def test_all_that_is_known_is_among_the_constrained_points(c):
    Q = dense(c)
    points = c.constrained_points
    assert set(np.flatnonzero(Q.any(axis=1))) <= set(points)
    assert np.array_equal(points, np.unique(points))


@quick
@given(ANY, st.randoms(use_true_random=False))
def test_restricted_to_takes_the_submatrix(c, random):
    rows = random.sample(range(c.n_samples), random.randint(1, c.n_samples))
    np.testing.assert_array_equal(dense(c.restricted_to(rows)), dense(c)[np.ix_(rows, rows)])


@quick
@given(ANY)
def test_restricted_keeps_everything(c):
    if c.is_empty:
        return
    small, points = c.restricted()
    Q = np.zeros((c.n_samples, c.n_samples))
    Q[np.ix_(points, points)] = dense(small)
    np.testing.assert_array_equal(Q, dense(c))


@quick
@given(ANY, st.randoms(use_true_random=False))
def test_permuting_there_and_back_changes_nothing(c, random):
    order = list(range(c.n_samples))
    random.shuffle(order)
    assert c.permuted(order).permuted(np.argsort(order)) == c


@quick
@given(ANY)
def test_the_must_part_is_the_positive_part_and_the_diagonal(c):
    expected = np.maximum(dense(c), 0)
    np.fill_diagonal(expected, np.diag(dense(c)))
    np.testing.assert_allclose(dense(c.must_part()), expected, atol=1e-15)
    assert c.must_part().n_cannot_link == 0


@quick
@given(ANY, st.sampled_from([0.0, 1.0, -2.5]))
def test_with_diagonal_changes_only_the_diagonal_of_constrained_points(c, value):
    expected = dense(c)
    points = c.constrained_points
    expected[points, points] = value
    np.testing.assert_array_equal(dense(c.with_diagonal(value)), expected)


@quick
@given(ANY)
def test_scaling_scales_the_matrix(c):
    np.testing.assert_allclose(dense(c.scaled(2.5)), 2.5 * dense(c), rtol=1e-15)
    assert c.scaled(1.0) == c


@quick
@given(ANY)
def test_copies_and_pickles_are_equal_with_equal_hash(c):
    for other in (copy.copy(c), copy.deepcopy(c), pickle.loads(pickle.dumps(c))):
        assert other == c
        assert hash(other) == hash(c)
        assert repr(other) == repr(c)


def test_what_differs_is_not_equal():
    c = Constraints.from_pairs(4, must_link=[(0, 1)])
    assert c != Constraints.from_pairs(5, must_link=[(0, 1)])
    assert c != Constraints.from_pairs(4, cannot_link=[(0, 1)])
    assert c != Constraints.from_pairs(4, must_link=[(0, 2)])
    assert c != Constraints.from_labels([0, 0, -1, -1])
    assert Constraints.from_labels([0, 1]) != Constraints.from_labels([0, 1], weight=2)
    assert c != "constraints"


def test_labels_are_equal_whatever_their_names():
    assert Constraints.from_labels([5, 5, -1, 3]) == Constraints.from_labels(["b", "b", None, "a"])


def test_nothing_can_slice_or_change_it():
    c = Constraints.from_labels([0, 0, 1])
    for attribute in ("__len__", "shape", "__iter__", "__getitem__", "__array__"):
        assert not hasattr(c, attribute)
    with pytest.raises(AttributeError, match="immutable"):
        c.n_samples = 7
    with pytest.raises(AttributeError, match="immutable"):
        c.colour = "red"
    with pytest.raises(AttributeError, match="immutable"):
        del c._links
    for array in (
        c.pairs,
        c.strengths,
        c.must_link,
        c.cannot_link,
        c.constrained_points,
        c.labels,
        c.diagonal(),
    ):
        with pytest.raises(ValueError, match="read-only"):
            array[:] = 0


def test_changing_the_users_matrix_afterwards_changes_nothing():
    from scipy import sparse

    Q = sparse.csr_array(np.array([[0.0, 2.0], [2.0, 0.0]]))
    c = Constraints.from_matrix(Q)
    Q.data[:] = -1
    np.testing.assert_array_equal(c.strengths, [2.0])
    matrix = c.as_matrix()
    matrix.data[:] = 9
    np.testing.assert_array_equal(c.strengths, [2.0])


def test_a_matrix_for_other_samples_is_refused():
    c = Constraints.none(150)
    c.check_matches(150)
    with pytest.raises(ConstraintError, match=r"for 150 samples, X has 120: .*restricted_to"):
        c.check_matches(120)
    with pytest.raises(ConstraintError, match=r"shape \(3,\).*150 samples"):
        c.apply(np.ones(3))


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([0, 9], r"indices\[1\] = 9: rows are 0 to 3"),
        ([-1], r"indices\[0\] = -1"),
        ([2, 1, 2], "row 2 more than once"),
        ([0.5], r"indices\[0\] = .*0\.5"),
        ([], "at least one"),
        ([True, False], "2 entries"),
    ],
)
def test_wrong_rows_are_named(rows, message):
    with pytest.raises(ConstraintError, match=message):
        Constraints.from_labels([0, 0, 1, 1]).restricted_to(rows)


def test_a_permutation_names_every_row():
    with pytest.raises(ConstraintError, match="2 rows of 4"):
        Constraints.none(4).permuted([1, 0])


def test_nothing_to_restrict_to_is_said():
    with pytest.raises(ConstraintError, match="nothing is constrained"):
        Constraints.none(4).restricted()


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_diagonal_must_be_finite(value):
    with pytest.raises(ConstraintError, match=f"value = {value}"):
        Constraints.from_labels([0, 1]).with_diagonal(value)


def test_too_many_pairs_are_counted_but_not_listed():
    c = Constraints.from_labels(np.arange(20_000) % 10)
    assert c.n_pairs == 20_000 * 19_999 // 2
    assert c.n_entries() == 20_000**2
    for listing in (c.as_matrix, lambda: c.pairs, lambda: c.strengths, lambda: c.cannot_link):
        with pytest.raises(ConstraintError, match=r"199990000 pairs .* apply\(\)"):
            listing()


def test_twenty_thousand_labels_cost_memory_for_twenty_thousand_labels():
    rng = np.random.default_rng(0)
    y = np.full(70_000, -1)
    y[rng.choice(70_000, 20_000, replace=False)] = rng.integers(0, 10, 20_000)
    X, scale = rng.standard_normal((70_000, 8)), rng.random(70_000)
    tracemalloc.start()
    try:
        c = Constraints.from_labels(y)
        c.apply(X)
        c.restricted()
        c.permuted(rng.permutation(70_000))
        c.with_diagonal(0.0).apply(X)
        c.satisfaction(rng.integers(0, 10, 70_000))
        c.closed()
        c.merged_with(c)
        c.merged_with(Constraints.from_pairs(70_000, must_link=np.flatnonzero(y == 3)[:2][None]))
        c.conflicts()
        c.positive_spectrum(scale)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 50e6


def test_labels_all_different_are_as_cheap():
    c = Constraints.from_labels(np.arange(20_000))
    tracemalloc.start()
    try:
        np.testing.assert_allclose(c.apply(np.ones(20_000)), 2.0 - 20_000)
        assert c.closed() == c
        assert c.satisfaction(np.arange(20_000)) == 1.0
        assert c.total() == 2 * 20_000 - 20_000.0**2
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 50e6
