import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecut.labelling import rename_by_first_appearance

labellings = st.lists(st.integers(0, 5), min_size=1, max_size=30)


@given(labellings)
def test_partition_is_kept_and_numbers_appear_in_order(labels):
    renamed = rename_by_first_appearance(labels)
    same = np.equal.outer(labels, labels)
    np.testing.assert_array_equal(np.equal.outer(renamed, renamed), same)
    newcomers = [label for i, label in enumerate(renamed) if label not in renamed[:i]]
    assert newcomers == list(range(len(set(labels))))


@given(labellings, st.permutations(range(6)))
def test_renaming_forgets_the_old_names(labels, names):
    other = [names[label] for label in labels]
    np.testing.assert_array_equal(rename_by_first_appearance(labels), rename_by_first_appearance(other))


def test_strings_are_welcome_and_matrices_are_not():
    np.testing.assert_array_equal(rename_by_first_appearance(["b", "a", "b"]), [0, 1, 0])
    with pytest.raises(ValueError, match=r"shape \(2, 2\)"):
        rename_by_first_appearance(np.eye(2))
