"""Codes over landmarks against the textbook: all distances, sorted, eq. 3."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.spatial.distance import cdist

from sidecut import Constraints
from sidecut.graphs import LandmarkCoder, code_points, constraint_gram, landmark_sums
from sidecut.graphs import landmark_codes as module
from sidecut.graphs.landmark_codes import mean_distance

rng = np.random.default_rng(0)
X, U = rng.normal(size=(700, 5)), rng.normal(size=(40, 5))


def textbook(X, U, r, sigma):
    """Eq. 3 by sorting all distances, ties to the lower position."""
    distances = cdist(X, U)
    Z = np.zeros_like(distances)
    for i, row in enumerate(distances):
        near = np.argsort(row, kind="stable")[:r]
        weights = np.exp(-(row[near] ** 2) / (2 * sigma**2))
        Z[i, near] = weights / weights.sum()
    return Z


@pytest.mark.parametrize("r", [1, 3, 12, 13, 40, 99])
def test_codes_are_those_of_the_textbook(r):
    near = LandmarkCoder(U, r).nearest(X)
    sigma = near.mean
    assert sigma == pytest.approx(cdist(X, U).mean(), rel=1e-13)
    np.testing.assert_allclose(
        code_points(near, sigma, 40).toarray(), textbook(X, U, min(r, 40), sigma), atol=1e-13
    )


def test_the_width_does_not_depend_on_the_chunks():
    chunks = [LandmarkCoder(U, 3).nearest(X[rows]) for rows in (slice(0, 1), slice(1, 300), slice(300, 700))]
    assert mean_distance([(near.mean, near.n_rows) for near in chunks]) == pytest.approx(
        cdist(X, U).mean(), rel=1e-13
    )


def test_the_nearest_comes_first_with_its_exact_distance():
    near = LandmarkCoder(U, 4).nearest(X)
    distances = np.sort(cdist(X, U), axis=1)[:, :4]
    np.testing.assert_allclose(near.distances, distances, rtol=1e-13)
    np.testing.assert_array_equal(near.indices[:, 0], cdist(X, U).argmin(axis=1))


def test_a_landmark_is_at_distance_zero_of_itself_wherever_it_lies():
    for far in (0.0, 1e6, 1e12):
        near = LandmarkCoder(U + far, 2).nearest(U + far)
        np.testing.assert_array_equal(near.indices[:, 0], np.arange(40))
        np.testing.assert_array_equal(near.distances[:, 0], 0.0)


@given(
    points=hnp.arrays(
        np.int64, st.tuples(st.integers(2, 12), st.integers(1, 3)), elements=st.integers(-3, 3)
    ),
    far=st.sampled_from([0, 1000, 2**40]),
    r=st.integers(1, 4),
)
@settings(max_examples=60, deadline=None)
def test_ties_go_to_the_landmark_that_comes_first(points, far, r):
    # Distances between whole numbers are exact, so that ties are ties.
    points = points + far
    landmarks = np.unique(points, axis=0)[::-1].astype(float)
    exact = ((points[:, None, :] - landmarks[None].astype(np.int64)) ** 2).sum(axis=2)
    expected = np.argsort(exact, axis=1, kind="stable")[:, :r]
    coder = LandmarkCoder(landmarks, r)
    near = coder.nearest(points)
    np.testing.assert_array_equal(near.distances, np.sqrt(np.take_along_axis(exact, expected, 1)))
    if r <= len(landmarks) and np.unique(exact[0]).size == exact.shape[1]:
        np.testing.assert_array_equal(near.indices[0], expected[0])


@pytest.mark.parametrize("r", [3, 12, 13, 20, 49])
def test_of_equally_near_landmarks_the_first_are_taken(r):
    """The points of a lattice around its middle: shells of equal distances, all exact."""
    side = np.arange(-3.0, 4.0)
    lattice = np.random.default_rng(1).permutation(np.array([[a, b] for a in side for b in side]))
    middle = np.zeros((1, 2))
    exact = (lattice**2).sum(axis=1)
    near = LandmarkCoder(lattice, r).nearest(middle)
    np.testing.assert_array_equal(near.indices[0], np.argsort(exact, kind="stable")[:r])


@pytest.mark.parametrize("scale", [1e-200, 1e-8, 1e8, 1e150, 1e300, 1e307])
def test_units_do_not_matter(scale):
    near = LandmarkCoder(scale * U, 3).nearest(scale * X)
    plain = LandmarkCoder(U, 3).nearest(X)
    np.testing.assert_array_equal(near.indices, plain.indices)
    sigma = plain.mean
    np.testing.assert_allclose(near.mean, scale * plain.mean, rtol=1e-12)
    np.testing.assert_allclose(
        code_points(near, scale * sigma, 40).toarray(), code_points(plain, sigma, 40).toarray(), atol=1e-10
    )


@pytest.mark.parametrize("dtype", [np.float32, np.int16, np.uint8])
def test_numbers_of_any_type(dtype):
    whole = np.round(20 * np.abs(X)).astype(dtype)
    near = LandmarkCoder(whole[:40].astype(float), 3).nearest(whole)
    plain = LandmarkCoder(whole[:40].astype(float), 3).nearest(whole.astype(float))
    np.testing.assert_array_equal(near.distances, plain.distances)


def test_sparse_rows_are_the_same_rows():
    rows = np.where(rng.random(X.shape) < 0.4, X, 0.0)
    for landmarks in (sp.csr_array(rows[:40]), rows[:40]):
        near = LandmarkCoder(landmarks, 3).nearest(sp.csr_array(rows))
        plain = LandmarkCoder(rows[:40], 3).nearest(rows)
        np.testing.assert_allclose(near.distances, plain.distances, atol=1e-14)
        assert near.mean == pytest.approx(plain.mean, rel=1e-12)


def test_rows_do_not_depend_on_their_neighbours_in_the_chunk():
    whole = LandmarkCoder(U, 3).nearest(X)
    part = LandmarkCoder(U, 3).nearest(X[77:301])
    np.testing.assert_array_equal(part.indices, whole.indices[77:301])
    np.testing.assert_array_equal(part.distances, whole.distances[77:301])


def test_far_rows_keep_a_code_that_sums_to_one():
    near = LandmarkCoder(U, 3).nearest(1e8 * X)
    codes = code_points(near, 1.0, 40)
    np.testing.assert_allclose(codes.sum(axis=1), 1.0, atol=1e-15)


def test_equal_points_have_equal_weights():
    near = LandmarkCoder(np.zeros((1, 2)), 3).nearest(np.zeros((5, 2)))
    np.testing.assert_array_equal(code_points(near, 0.0, 1).toarray(), np.ones((5, 1)))


def test_sums_add_up_over_chunks():
    Z = textbook(X, U, 3, 1.5)
    parts = [landmark_sums(sp.csr_array(part)) for part in np.split(Z, [100, 650])]
    sums = parts[0] + parts[1] + parts[2]
    np.testing.assert_allclose(sums.degrees, Z.sum(axis=0), atol=1e-12)
    np.testing.assert_allclose(sums.gram, Z.T @ Z, atol=1e-12)
    assert sums.n_rows == 700
    assert sums.degrees.sum() == pytest.approx(700)
    some = sums.restricted(np.array([3, 7]))
    np.testing.assert_array_equal(some.gram, sums.gram[[[3], [7]], [3, 7]])


@pytest.mark.parametrize("block", [1, 37, 4_000_000])
def test_the_constraint_matrix_needs_constrained_rows_only(block, monkeypatch):
    monkeypatch.setattr(module, "BLOCK_NUMBERS", block)
    Z = textbook(X, U, 3, 1.5)
    known = Constraints.from_labels(np.where(np.arange(700) % 9 == 0, np.arange(700) % 4, -1))
    known = known | Constraints.from_pairs(700, must_link=[(1, 9)], cannot_link=[(4, 690)])
    inside, points = known.restricted()
    expected = Z.T @ known.as_matrix().toarray() @ Z
    np.testing.assert_allclose(constraint_gram(sp.csr_array(Z[points]), inside), expected, atol=1e-11)


def test_other_features_are_refused():
    with pytest.raises(ValueError, match="the rows have 4 features, the landmarks have 5"):
        LandmarkCoder(U).nearest(X[:, :4])


def test_rows_beyond_all_measure_are_refused():
    with pytest.raises(ValueError, match="distances overflow"), np.errstate(all="ignore"):
        LandmarkCoder(U).nearest(1e200 * X)


@pytest.mark.parametrize("number", [0, 1.5, True])
def test_what_is_no_number_of_nearest_landmarks(number):
    with pytest.raises(ValueError, match=r"n_nearest=.* whole number"):
        LandmarkCoder(U, number)
