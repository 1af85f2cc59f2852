import numpy as np
import pytest

from sidecut import CSP, NormalizedCut
from sidecut.exceptions import ConstraintError
from sidecut.images import Seeds
from sidecut.images.spectral_cut import number_of_segments, usual_method, usual_radius

SEEDS = Seeds.from_boxes([("a", 0, 0, 1, 4), ("b", 2, 0, 1, 2)], (10, 10))


def test_marks_decide_the_method():
    method = usual_method(SEEDS, 2, 5)
    assert isinstance(method, CSP)
    # Two classes of 4 and 2 marks: twice their harmonic mean, halved, of 100 pixels.
    assert method.beta == ("fraction", pytest.approx(0.5 * 2 * (8 / 3) / 100))
    assert method.random_state == 5
    assert isinstance(usual_method(None, 2), NormalizedCut)


def test_beta_counts_the_marks_that_take_part():
    codes = np.full((200, 200), -1)
    codes[:50], codes[100:150] = 0, 1
    seeds = Seeds(codes, ("a", "b"))
    assert seeds.constraints(balanced=True).n_entries() == 1_000**2
    assert usual_method(seeds, 2).beta == ("fraction", pytest.approx(0.5 * 1_000 / 40_000))


def test_classes_decide_the_number_of_segments():
    assert number_of_segments(None, SEEDS) == 2
    assert number_of_segments(None, Seeds.from_boxes([("a", 0, 0, 1, 1)], (2, 2))) == 2
    assert number_of_segments(4, SEEDS) == 4
    with pytest.raises(ConstraintError, match=r"2 classes \(a, b\), and 1 segments"):
        number_of_segments(1, SEEDS)


def test_only_large_pictures_without_marks_are_linked_less():
    large = np.broadcast_to(0, (201, 200))
    assert usual_radius(large, None) == 2
    assert usual_radius(large, SEEDS) == 5
    assert usual_radius(large[1:], None) == 5
