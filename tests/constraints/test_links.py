import numpy as np
import pytest
from scipy import sparse

from sidecut.constraints import Constraints
from sidecut.constraints.groups import split_signs, strongest, symmetric_matrix
from sidecut.exceptions import ConstraintError


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([(0, 1), (1, 2), (2, 3), (7, 7)], r"must_link\[3\] = \(7, 7\): .*linked with itself; remove"),
        ([(0, 1), (3, 10)], r"must_link\[1\] = \(3, 10\): points are numbered 0 to 9"),
        ([(-1, 2)], r"must_link\[0\] = \(-1, 2\)"),
        ([(0, 1.5)], r"must_link\[0\] = \(0\.0, 1\.5\): indices must be whole numbers"),
        ([(0, np.nan)], r"must_link\[0\] = \(0\.0, nan\)"),
        ([(0, 1), (2, None)], r"must_link\[1\] = \(2, None\)"),
        ([("a", "b")], r"must_link\[0\] = \(a, b\)"),
        ([(True, False)], r"must_link\[0\] = \(True, False\)"),
        ([(0, 1), (1, 2, 3)], r"must_link\[1\] = \(1, 2, 3\)"),
        ([1, 2], r"must_link\[0\] = 1"),
        (np.zeros((2, 3), int), r"must_link has shape \(2, 3\)"),
        (np.zeros((2, 2, 2), int), r"must_link has shape \(2, 2, 2\)"),
        ("0,1", r"must_link = '0,1'"),
        (5, r"must_link = 5"),
    ],
)
def test_wrong_pairs_are_named(pairs, message):
    with pytest.raises(ConstraintError, match=message):
        Constraints.from_pairs(10, must_link=pairs)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (0, r"cannot_weight = 0"),
        (-2.0, r"cannot_weight = -2"),
        (np.inf, r"cannot_weight = inf"),
        ("heavy", r"cannot_weight = 'heavy'"),
        ([1.0], r"shape \(1,\) for 2 pairs"),
        ([1.0, np.nan], r"cannot_weight\[1\] = nan"),
        ([0.0, 1.0], r"cannot_weight\[0\] = 0\.0"),
    ],
)
def test_wrong_weights_are_named(weights, message):
    with pytest.raises(ConstraintError, match=message):
        Constraints.from_pairs(10, cannot_link=[(0, 1), (1, 2)], cannot_weight=weights)


@pytest.mark.parametrize("n_samples", [0, -3, 2.5, "7", True, None])
def test_a_number_of_samples_is_a_positive_integer(n_samples):
    with pytest.raises(ConstraintError, match=f"n_samples = {n_samples!r}"):
        Constraints.from_pairs(n_samples)


@pytest.mark.parametrize(
    "pairs",
    [
        [(1, 2), (3, 4)],
        np.array([[2.0, 1.0], [4.0, 3.0]]),
        {(1, 2), (3, 4)},
        zip([1, 3], [2, 4], strict=True),
        ((j, i) for i, j in [(1, 2), (3, 4)]),
        np.array([[1, 2], [3, 4]], dtype=np.uint8),
    ],
)
def test_pairs_come_in_many_forms(pairs):
    expected = Constraints.from_pairs(5, must_link=[[1, 2], [3, 4]])
    assert Constraints.from_pairs(5, must_link=pairs) == expected


@pytest.mark.parametrize("nothing", [None, [], np.empty((0, 2)), np.empty(0)])
def test_no_pairs_are_no_constraints(nothing):
    assert Constraints.from_pairs(5, nothing, nothing) == Constraints.none(5)


def test_repeats_collapse_and_the_strongest_weight_is_kept():
    c = Constraints.from_pairs(4, [(0, 1), (1, 0), (0, 1), (2, 3)], must_weight=[1.0, 3.0, 2.0, 0.5])
    np.testing.assert_array_equal(c.pairs, [[0, 1], [2, 3]])
    np.testing.assert_array_equal(c.strengths, [3.0, 0.5])


def test_pairs_have_a_zero_diagonal():
    c = Constraints.from_pairs(3, [(0, 1)], [(1, 2)])
    np.testing.assert_array_equal(c.as_matrix().toarray(), [[0, 1, 0], [1, 0, -1], [0, -1, 0]])


def test_splitting_a_matrix_by_sign_and_building_it_again():
    rng = np.random.default_rng(0)
    Q = np.round(rng.standard_normal((8, 8)))
    Q = np.triu(Q, 1) + np.triu(Q, 1).T
    must, cannot = split_signs(sparse.csr_array(Q))
    again = symmetric_matrix(
        8, np.concatenate([must.pairs, cannot.pairs]), np.concatenate([must.strengths, -cannot.strengths])
    )
    np.testing.assert_array_equal(again.toarray(), Q)
    assert len(must) == np.sum(np.triu(Q) > 0)


def test_strongest_sorts_lexicographically():
    links = strongest(np.array([[5, 2], [0, 9], [2, 3]]), np.array([1.0, 2.0, 3.0]))
    np.testing.assert_array_equal(links.pairs, [[0, 9], [2, 3], [2, 5]])
    np.testing.assert_array_equal(links.strengths, [2.0, 3.0, 1.0])
