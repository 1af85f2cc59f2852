from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from sidecut.cli.console import UsageError
from sidecut.cli.inputs import read_points
from sidecut.cli.preparation import PreparationOptions
from sidecut.cli.tables import ColumnRoles


def test_standardizing_gives_mean_zero_and_variance_one_and_spares_constants(shell):
    shell.write("t.csv", "x,y\n1,5\n2,5\n9,5\n")
    X = read_points(Path("t.csv"), wanted=PreparationOptions(standardize=True)).X
    np.testing.assert_allclose(X.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(X.std(axis=0), [1, 0], atol=1e-12)


def test_a_suffix_can_be_overruled(shell):
    shell.write("graph.csv", "a,b,1\nb,c,1\n")
    assert read_points(Path("graph.csv"), kind="edges").names == ("a", "b", "c")


@pytest.mark.parametrize(
    ("name", "text", "options", "complaint"),
    [
        ("t.xyz", "1\n", {}, "suffix '.xyz'.*--input table|array|edges"),
        ("t.csv", "1,2\n3,4\n5,6\n", {"is_graph": True}, "3 rows and 2 columns; with --graph.*square"),
        (
            "t.csv",
            "1,2\n3,4\n",
            {"is_graph": True, "wanted": PreparationOptions(standardize=True)},
            "--standardize is for features",
        ),
        ("t.edges", "a b\n", {"roles": ColumnRoles(label="x")}, "edge list, which has no feature"),
    ],
)
def test_options_that_do_not_fit_the_file_are_refused(shell, name, text, options, complaint):
    with pytest.raises(UsageError, match=complaint):
        read_points(Path(shell.write(name, text)), **options)


def test_a_sparse_matrix_is_not_filled(shell):
    sparse.save_npz("s.npz", sparse.eye_array(3, format="csr"))
    with pytest.raises(UsageError, match="would fill a sparse matrix"):
        read_points(Path("s.npz"), wanted=PreparationOptions(standardize=True))


def test_a_missing_file_is_named_with_its_neighbours(shell):
    shell.write("points.csv", "x\n1\n")
    with pytest.raises(UsageError, match=r"no file points\.tsv; did you mean points\.csv\?"):
        read_points(Path("points.tsv"))


def test_a_directory_is_no_file(shell):
    with pytest.raises(UsageError, match="is a directory"):
        read_points(Path())
