"""The front door: what may be handed to fit."""

import numpy as np
import pytest
import scipy.sparse as sp

from sidecut import Constraints, NormalizedCut
from sidecut.checks import check_choice
from sidecut.exceptions import ConstraintError, LabellingWarning
from sidecut.graphs import Gaussian, SparseGraph, as_graph
from sidecut.methods.base import build_graph
from sidecut.methods.task import check_constraints, check_data, n_points, warn_about_duplicates


def test_points_become_arrays_and_graphs_stay_graphs():
    estimator = NormalizedCut(affinity="precomputed")
    graph = as_graph(np.ones((4, 4)))
    assert check_data(estimator, graph) is graph
    assert build_graph(estimator, graph) is graph
    assert estimator.n_features_in_ == n_points(graph) == 4
    points = check_data(NormalizedCut(), [[1, 2], [3, 4]])
    assert points.dtype == np.float64
    assert n_points(points) == 2


@pytest.mark.parametrize("matrix", [sp.coo_matrix(np.ones((4, 4))), sp.csc_array(np.ones((4, 4)))])
def test_sparse_weights_of_any_kind(matrix):
    assert isinstance(check_data(NormalizedCut(affinity="precomputed"), matrix), SparseGraph)


def test_a_recipe_builds_its_own_graph():
    X = np.array([[0.0], [1.0], [3.0]])
    graph = build_graph(NormalizedCut(affinity=Gaussian(2.0)), X)
    np.testing.assert_allclose(graph.toarray()[0], [0, np.exp(-1 / 8), np.exp(-9 / 8)])


def test_n_neighbors_is_the_degree_of_knn():
    X = np.random.default_rng(0).random((30, 2))
    sparser = build_graph(NormalizedCut(n_neighbors=3), X)
    denser = build_graph(NormalizedCut(n_neighbors=6), X)
    assert 3 * 30 <= sparser.matrix.nnz < 2 * 3 * 30
    assert denser.matrix.nnz > sparser.matrix.nnz


def test_no_constraints_are_empty_constraints():
    assert check_constraints(None, 5) == Constraints.none(5)
    known = Constraints.from_pairs(5, must_link=[(0, 1)])
    assert check_constraints(known, 5) is known


def test_a_choice_must_be_a_word_on_the_list():
    check_choice("taste", "sweet", ("sweet", "sour"))
    for wrong in ("bitter", None, ["sweet"], 3):
        with pytest.raises(ValueError, match=r"taste=.*: choose one of 'sweet', 'sour'"):
            check_choice("taste", wrong, ("sweet", "sour"))


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_equal_points_are_counted(kind):
    points = kind(np.array([[0.0, 1.0], [-0.0, 1.0], [2.0, 0.0], [0.0, 1.0]]))
    warn_about_duplicates(points, 2)
    with pytest.warns(LabellingWarning, match=r"n_clusters=3 .* different points in X, 2"):
        warn_about_duplicates(points, 3)


def test_the_normalized_cut_refuses_what_it_would_ignore():
    X = np.arange(10.0)[:, None]
    known = Constraints.from_pairs(10, must_link=[(0, 9)])
    for told, way_out in ((known, "SpectralLearning"), ([(0, 9)], r"a list: .* Constraints\.from_pairs")):
        with pytest.raises(ConstraintError, match=way_out):
            NormalizedCut(2, affinity="gaussian").fit(X, constraints=told)


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
@pytest.mark.parametrize(("value", "word"), [(np.nan, "NaN"), (np.inf, "infinity"), (-np.inf, "infinity")])
def test_gaps_are_refused_with_their_place_and_the_way_out(make, value, word):
    X = np.arange(1.0, 13.0).reshape(4, 3)
    X[2, 1] = X[2, 2] = X[3, 0] = value
    with pytest.raises(ValueError, match=f"X contains {word} in 2 of 4 rows, the first at row 2, column 1"):
        NormalizedCut(2).fit(make(X))


@pytest.mark.parametrize("number", ["auto", (2, 6)])
def test_a_number_is_needed_where_the_method_does_not_find_it(number):
    with pytest.raises(ValueError, match=r"must be a whole number, at least 1: AutoCut and Layers find"):
        NormalizedCut(number).fit(np.arange(10.0)[:, None])
