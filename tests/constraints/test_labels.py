import numpy as np
import pandas as pd
import pytest

from sidecut.constraints import Constraints
from sidecut.constraints.inputs import encode_clustering, read_labels
from sidecut.exceptions import ConstraintError

EXPECTED = [0, -1, 1, 0, -1]


@pytest.mark.parametrize(
    "y",
    [
        [3, -1, 7, 3, -1],
        np.array([3, -1, 7, 3, -1]),
        [3.5, np.nan, 7.0, 3.5, -1.0],
        np.array([3.5, np.nan, 7.0, 3.5, -1.0]),
        ["cat", None, "dog", "cat", float("nan")],
        np.array(["cat", None, "dog", "cat", -1], dtype=object),
        pd.Series(["cat", None, "dog", "cat", None]),
        pd.Series([3, pd.NA, 7, 3, pd.NA], dtype="Int64"),
        pd.Series(["cat", pd.NA, "dog", "cat", pd.NA], dtype="string"),
        pd.Categorical(["cat", None, "dog", "cat", None]),
        (b"a", None, b"b", b"a", None),
        ["cat", "", "dog", "cat", " "],
        np.array(["cat", "", "dog", "cat", ""]),
        np.ma.masked_array([3, 9, 7, 3, 9], mask=[0, 1, 0, 0, 1]),
        pd.to_datetime(["2020-01-01", None, "2021-01-01", "2020-01-01", "NaT"]),
        np.array([3, -1, 7, 3, -1], dtype=np.int8),
    ],
)
def test_classes_are_numbered_and_unknown_is_minus_one(y):
    np.testing.assert_array_equal(read_labels(y)[0], EXPECTED)


@pytest.mark.parametrize("marker", ["?", "unknown", "Unlabelled", "nan", "None", "-1", "NA", "-"])
def test_what_may_mean_unknown_is_asked_about(marker):
    for y in (["cat", marker, "dog"], np.array(["cat", marker, "dog"]), pd.Series(["cat", marker, "dog"])):
        with pytest.raises(ConstraintError, match=r"y\[1\] = .* unknown=\(\) if it is a class"):
            Constraints.from_labels(y)
        assert Constraints.from_labels(y, unknown=marker) == Constraints.from_labels(["cat", None, "dog"])
        assert Constraints.from_labels(y, unknown=[marker, "cow"]).n_pairs == 1
        assert Constraints.from_labels(y, unknown=()) == Constraints.from_labels([0, 1, 2])


def test_minus_one_in_an_unsigned_type_is_asked_about():
    y = np.array([1, -1, 2]).astype(np.uint8)
    with pytest.raises(ConstraintError, match=r"y\[1\] = 255 is what -1 becomes in uint8"):
        Constraints.from_labels(y)
    assert Constraints.from_labels(y, unknown=255) == Constraints.from_labels([1, -1, 2])
    assert Constraints.from_labels(y, unknown=()).n_cannot_link == 3


def test_other_negative_labels_are_classes():
    np.testing.assert_array_equal(read_labels([-2, -1, -3])[0], [0, -1, 1])


@pytest.mark.parametrize("missing", [np.nan, None, -1])
def test_missing_labels_that_numpy_made_text_are_refused(missing):
    y = np.array(["cat", str(missing), "dog"])
    with pytest.raises(ConstraintError, match=r"y\[1\] = '.*' is text that may mean unknown.*None"):
        Constraints.from_labels(y)


@pytest.mark.parametrize("y", [[[0, 1], [1, 0]], np.zeros((3, 1)), 5, []])
def test_labels_are_one_per_sample(y):
    with pytest.raises(ConstraintError, match="one label per sample"):
        Constraints.from_labels(y)


def test_unhashable_labels_are_named():
    with pytest.raises(ConstraintError, match=r"y\[1\] = \{'a'\} cannot be a label"):
        Constraints.from_labels([0, {"a"}])


def test_all_unknown_is_no_constraint():
    c = Constraints.from_labels([-1, -1, -1])
    assert c == Constraints.none(3)
    assert c.labels is None


def test_labels_are_the_matrix_2YYt_minus_one():
    y = np.array([0, 1, 2, 0, 1, 0])
    Y = np.eye(3)[y]
    Q = Constraints.from_labels(y, weight=2.0).as_matrix().toarray()
    np.testing.assert_array_equal(Q, 2.0 * (2 * Y @ Y.T - 1))


def test_one_labelled_sample_has_only_its_diagonal():
    c = Constraints.from_labels([-1, 4, -1])
    assert c.n_pairs == 0
    np.testing.assert_array_equal(c.diagonal(), [0, 1, 0])
    np.testing.assert_array_equal(c.labels, [-1, 0, -1])


@pytest.mark.parametrize("weight", [0, -1, np.nan, np.inf, None])
def test_the_weight_of_labels_is_positive(weight):
    with pytest.raises(ConstraintError, match="weight = "):
        Constraints.from_labels([0, 1], weight=weight)


def test_in_a_clustering_every_value_is_a_cluster():
    np.testing.assert_array_equal(encode_clustering(np.array([-1, 4, -1, 0]), 4), [0, 1, 0, 2])
    np.testing.assert_array_equal(encode_clustering(["x", None, "x"], 3), [0, 1, 0])


def test_a_clustering_of_other_samples_is_refused():
    with pytest.raises(ConstraintError, match="2 entries for constraints on 3 samples"):
        Constraints.none(3).satisfaction([0, 1])
