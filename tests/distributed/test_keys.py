"""Constraints by key and by label equal those on row numbers."""

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

from sidecut import Constraints
from sidecut.distributed import constraints_by_key, constraints_by_label
from sidecut.exceptions import ConflictError, ConstraintError

RNG = np.random.default_rng(0)
KEYS = RNG.permutation(np.arange(100, 200))
CLASSES = np.where(RNG.random(100) < 0.2, RNG.integers(3, size=100), -1)


def table(n_partitions=7):
    columns = {"id": KEYS, "name": [f"n{key}" for key in KEYS], "known": CLASSES}
    return dd.from_pandas(pd.DataFrame(columns), npartitions=n_partitions)


def matrix(constraints):
    return constraints.as_matrix().toarray()


@pytest.mark.parametrize("column", ["id", "name"])
def test_pairs_of_keys_are_pairs_of_rows(column):
    frame = table()
    key_of = frame[column].compute().to_numpy()
    must, cannot = np.array([[3, 99], [50, 12]]), np.array([[0, 51], [99, 50]])
    known = constraints_by_key(
        frame[column],
        must_link=key_of[must].tolist(),
        cannot_link=key_of[cannot].tolist(),
        must_weight=[0.5, 2.0],
    )
    expected = Constraints.from_pairs(100, must_link=must, cannot_link=cannot, must_weight=[0.5, 2.0])
    np.testing.assert_array_equal(matrix(known), matrix(expected))


def test_labels_of_keys_are_labels_of_rows():
    classes = pd.Series(CLASSES, index=KEYS)
    known = constraints_by_key(table()["id"], labels=classes[classes >= 0])
    np.testing.assert_array_equal(matrix(known), matrix(Constraints.from_labels(CLASSES)))
    np.testing.assert_array_equal(
        matrix(constraints_by_key(table()["id"], labels=dict(classes))), matrix(known)
    )


def test_pairs_and_labels_together():
    known = constraints_by_key(
        da.from_array(KEYS, chunks=30), must_link=[KEYS[[1, 2]]], labels={KEYS[5]: "a"}
    )
    expected = np.zeros((100, 100))
    expected[1, 2] = expected[2, 1] = expected[5, 5] = 1.0
    np.testing.assert_array_equal(matrix(known), expected)
    with pytest.raises(ConflictError):
        constraints_by_key(table()["id"], must_link=[KEYS[[1, 2]]], labels={KEYS[1]: "a", KEYS[2]: "b"})


@pytest.mark.parametrize("classes", [CLASSES, np.where(CLASSES < 0, None, CLASSES.astype(str))])
def test_a_column_of_labels_is_the_labels(classes):
    column = dd.from_pandas(pd.Series(classes), npartitions=4)
    np.testing.assert_array_equal(
        matrix(constraints_by_label(column)), matrix(Constraints.from_labels(CLASSES))
    )


def test_a_key_that_is_not_there_is_named():
    with pytest.raises(
        ConstraintError, match=r"no row has the key 5, 6 \(2 of 3 keys\); keys are of dtype int"
    ):
        constraints_by_key(table()["id"], must_link=[(5, 6)], labels={int(KEYS[0]): 1})


def test_a_key_that_is_there_twice_is_named_with_its_rows():
    keys = da.from_array(np.array([7, 8, 9, 8, 7]), chunks=2)
    assert constraints_by_key(keys, labels={9: 0}).n_samples == 5
    with pytest.raises(ConstraintError, match="rows 1 and 3 both have the key 8"):
        constraints_by_key(keys, cannot_link=[(9, 8)])


@pytest.mark.parametrize(
    ("keys", "pairs", "error", "message"),
    [
        (table(), [(1, 2)], TypeError, "keys must be a dask Series"),
        ([1, 2], [(1, 2)], TypeError, "not list"),
        (da.from_array([1, 2]), [(1, 2, 3)], ConstraintError, r"must_link holds \(1, 2, 3\)"),
    ],
)
def test_other_forms_are_refused(keys, pairs, error, message):
    with pytest.raises(error, match=message):
        constraints_by_key(keys, must_link=pairs)


def test_what_contradicts_is_settled_as_asked():
    keys = da.from_array(np.array([7, 8, 9]), chunks=2)
    links = {"must_link": [(7, 8)], "labels": {7: "a", 8: "b"}}
    with pytest.raises(ConflictError, match="on_conflict='drop'"):
        constraints_by_key(keys, **links)
    weighed = constraints_by_key(keys, **links, on_conflict="weigh", must_weight=3.0)
    assert weighed.pairs.tolist() == [[0, 1]]
    assert weighed.strengths.tolist() == [2.0]
    circle = {"must_link": [(7, 8), (8, 9)], "cannot_link": [(7, 9)]}
    assert constraints_by_key(keys, **circle, on_conflict="weigh").n_pairs == 3
