import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecut.spectral.inverse import separating_shift


@given(st.lists(st.floats(0.01, 2.0), min_size=1, max_size=12), st.data())
def test_the_shift_separates_what_it_says(values, data):
    values = np.sort(values)
    wanted = data.draw(st.integers(1, len(values)))
    below, shift = separating_shift(values, wanted, bottom=0.0)
    assert shift > 0
    assert np.count_nonzero(values < shift) == below
    # All wanted values lie below, or those that do not coincide with the last wanted one.
    assert below >= wanted or values[wanted - 1] - values[below] <= 1e-6 * values[wanted - 1] * len(values)


def test_the_widest_gap_is_taken():
    assert separating_shift(np.array([1.0, 1.1, 1.5, 1.6]), 1) == (2, pytest.approx(1.28))


def test_ties_are_cut_right_before():
    below, shift = separating_shift(np.array([0.1, 0.5, 0.5, 0.5]), 3, bottom=0.0)
    assert below == 1
    assert 0.5 * 0.998 < shift < 0.5


def test_a_gap_narrower_than_the_error_is_none():
    values = np.array([0.1, 0.2, 0.201, 0.2015])
    assert separating_shift(values, 2, bottom=0.0)[0] == 2
    assert separating_shift(values, 2, error=1e-2, bottom=0.0)[0] == 1


def test_without_a_bottom_there_is_room_below():
    below, shift = separating_shift(np.array([-3.0, -3.0]), 1)
    assert below == 0
    assert shift < -3.0
    assert separating_shift(np.zeros(3), 2)[1] < 0


def test_a_shared_value_of_zero_up_to_rounding():
    below, shift = separating_shift(np.array([-5.0, -1e-17, 0.0, 1e-17]), 3, error=1e-12)
    assert below == 1
    assert -1e-3 < shift < -1e-8
