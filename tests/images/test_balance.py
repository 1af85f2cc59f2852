import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecut import Constraints
from sidecut.images import Seeds, attainable_beta, pixel_graph
from sidecut.images.seeds import MAX_MARKS, balanced_constraints
from sidecut.methods import CSP


@given(st.lists(st.integers(-1, 3), min_size=2, max_size=40))
def test_every_class_has_the_same_weight_and_signs_are_those_of_labels(labels):
    codes = np.array(labels)
    classes = np.unique(codes[codes >= 0])
    Q = balanced_constraints(codes).as_matrix().toarray()
    np.testing.assert_array_equal(np.sign(Q), Constraints.from_labels(codes).as_matrix().toarray())
    n_known = np.count_nonzero(codes >= 0)
    for one in classes:
        for other in classes:
            total = Q[np.ix_(codes == one, codes == other)].sum()
            sign = 1 if one == other else -1
            assert total == pytest.approx(sign * (n_known / classes.size) ** 2)


def test_the_uniform_cut_satisfies_nothing_of_two_balanced_classes():
    codes = np.array([0] * 30 + [1] * 4 + [-1] * 10)
    ones = np.ones(codes.size)
    assert ones @ balanced_constraints(codes).apply(ones) == pytest.approx(0, abs=1e-9)
    assert ones @ Constraints.from_labels(codes).apply(ones) == 26**2


def test_large_marks_are_thinned_evenly():
    codes = np.zeros(4 * MAX_MARKS, dtype=int)
    codes[-10:] = 1
    constraints = balanced_constraints(codes)
    points = np.unique(constraints.pairs)
    assert points.size == MAX_MARKS + 10
    gaps = np.diff(points[points < codes.size - 10])
    assert set(gaps) <= {3, 4}


def test_two_large_marks_are_thinned_to_labels():
    codes = np.repeat([0, 1], [MAX_MARKS + 1, 3 * MAX_MARKS])
    constraints = balanced_constraints(codes)
    assert constraints.n_cannot_link == MAX_MARKS**2
    assert set(np.unique(constraints.strengths)) == {-1.0, 1.0}


@pytest.mark.parametrize("boxes", [[(1, 4, 2, 3, 3), (2, 4, 19, 3, 3)], [(1, 4, 2, 6, 6), (2, 4, 19, 3, 2)]])
def test_beta_is_half_of_what_a_perfect_cut_attains(boxes):
    image = np.zeros((24, 24))
    seeds = Seeds.from_boxes(boxes, image.shape)
    known = seeds.constraints(balanced=True)
    beta = attainable_beta(seeds.counts, image.size)
    model = CSP(2, beta=beta, affinity="precomputed").fit(pixel_graph(image, radius=1), constraints=known)
    u = (np.where(np.arange(24) < 12, 1.0, -1.0) * np.ones((24, 1))).ravel()
    attained = u @ known.apply(u)
    assert attained == pytest.approx(seeds.n_known**2)
    # Degrees at the rim of the picture are smaller, which is all that keeps this from being exact.
    assert model.beta_ == pytest.approx(0.5 * attained, rel=0.1)


def test_one_class_asks_for_what_the_paper_does():
    assert attainable_beta([9, 0], 100) == ("fraction", 0.5)


@pytest.mark.parametrize("counts", [[], [0, 0], [60, 60]])
def test_counts_that_cannot_be_are_refused(counts):
    with pytest.raises(ValueError, match=f"{sum(counts)} of 100 pixels"):
        attainable_beta(counts, 100)
