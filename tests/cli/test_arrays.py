from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from sidecut.cli.console import UsageError
from sidecut.cli.inputs import points_from_array
from sidecut.cli.tables import ColumnRoles

X = np.arange(6.0).reshape(3, 2)


def test_npy_npz_and_sparse_files_hold_the_same_points(shell):
    np.save("a.npy", X)
    np.savez("b.npz", X=X, other=1)
    np.savez("c.npz", only=X)
    np.savez("d.npz", points=X, y=[0, 1, 0])
    sparse.save_npz("e.npz", sparse.csr_array(X))
    np.testing.assert_array_equal(points_from_array(Path("a.npy")).X, X)
    np.testing.assert_array_equal(points_from_array(Path("b.npz")).X, X)
    np.testing.assert_array_equal(points_from_array(Path("c.npz")).X, X)
    np.testing.assert_array_equal(points_from_array(Path("d.npz"), key="points").X, X)
    np.testing.assert_array_equal(points_from_array(Path("e.npz")).X.toarray(), X)


def test_arrays_beside_the_points_can_be_labels_truth_and_names(shell):
    np.savez("a.npz", X=X, seen=[1, -1, 0], true=["u", "v", "u"], who=["p", "q", "r"])
    points = points_from_array(Path("a.npz"), roles=ColumnRoles("seen", "true", "who"))
    assert points.known_labels == ("1", "", "0")
    assert points.truth.tolist() == [0, 1, 0]
    assert points.names == ("p", "q", "r")


@pytest.mark.parametrize(
    ("arrays", "options", "complaint"),
    [
        ({"A": X, "B": X}, {}, "no array 'X'; it holds 'A', 'B'.*--key"),
        ({"X": X}, {"roles": ColumnRoles(label="y")}, "no array 'y'"),
        ({"X": X, "y": [0]}, {"roles": ColumnRoles(label="y")}, r"shape \(1,\); one entry for each of the 3"),
        ({"X": X}, {"roles": ColumnRoles(drop=("x",))}, "--columns and --drop need a table"),
        ({"X": X[0]}, {}, r"shape \(2,\)"),
        ({"X": np.array([["a"]])}, {}, "not numbers"),
        ({"X": np.array([[1.0, np.nan]])}, {}, "1 missing or infinite values, the first in row 0, column 1"),
    ],
)
def test_unusable_arrays_are_refused(shell, arrays, options, complaint):
    np.savez("a.npz", **arrays)
    with pytest.raises(UsageError, match=complaint):
        points_from_array(Path("a.npz"), **options)


def test_a_file_that_is_no_array_is_refused(shell):
    shell.write("a.npy", "x,y\n1,2\n")
    with pytest.raises(UsageError, match=r"a\.npy is no NumPy file, whatever its name says"):
        points_from_array(Path("a.npy"))
