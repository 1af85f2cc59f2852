"""Links that follow from the others."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sidecut import Constraints
from sidecut.diagnostics import find_redundant

PAIRS = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)).filter(lambda p: p[0] < p[1]), unique=True)


@given(PAIRS, st.lists(st.integers(0, 2), min_size=7, max_size=7))
def test_what_is_left_has_the_same_closure_and_nothing_less(pairs, classes):
    must = [p for p in pairs if classes[p[0]] == classes[p[1]]]
    cannot = [p for p in pairs if classes[p[0]] != classes[p[1]]]
    known = Constraints.from_pairs(7, must_link=must, cannot_link=cannot)
    keep = ~find_redundant(known)
    assert keep.shape == (len(pairs),)
    kept = known.pairs[keep], known.strengths[keep] > 0
    left = Constraints.from_pairs(7, must_link=kept[0][kept[1]], cannot_link=kept[0][~kept[1]])
    np.testing.assert_array_equal(
        left.closed().as_matrix().toarray() > 0, known.closed().as_matrix().toarray() > 0
    )
    np.testing.assert_array_equal(
        left.closed().as_matrix().toarray() < 0, known.closed().as_matrix().toarray() < 0
    )
    assert not find_redundant(left).any()
