import sys

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sidecut.exceptions import GraphWarning
from sidecut.graphs import nearest_neighbors

RNG = np.random.default_rng(0)
FORMS = {"dense": np.asarray, "csr": sp.csr_array, "csc": sp.csc_matrix}


def brute_force(X, k, metric="euclidean"):
    """For every point the k others that are nearest, ties to the lower index, by two loops."""
    if metric == "cosine":
        X = X / np.linalg.norm(X, axis=1, keepdims=True)
    indices, distances = [], []
    for i, x in enumerate(X):
        to = [1 - x @ y if metric == "cosine" else np.sqrt(np.sum((x - y) ** 2)) for y in X]
        order = sorted((j for j in range(len(X)) if j != i), key=lambda j: (to[j], j))[:k]
        indices.append(order)
        distances.append([to[j] for j in order])
    return np.array(indices), np.array(distances)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.parametrize("n_features", [3, 40])
@pytest.mark.parametrize("k", [1, 5, 29])
def test_exact_search_is_brute_force(form, metric, n_features, k):
    X = RNG.normal(size=(30, n_features))
    found = nearest_neighbors(FORMS[form](X), k, metric=metric)
    indices, distances = brute_force(X, k, metric)
    np.testing.assert_array_equal(found.indices, indices)
    np.testing.assert_allclose(found.distances, distances, rtol=1e-10, atol=1e-15)
    assert found.recall == 1.0
    assert found.n_neighbors == k


@pytest.mark.parametrize("n_features", [2, 40])
def test_neighbours_very_close_together_are_told_apart(n_features):
    centres = 10 * RNG.normal(size=(4, n_features))
    X = np.repeat(centres, 15, axis=0) + 1e-9 * RNG.normal(size=(60, n_features))
    found = nearest_neighbors(X, 5)
    indices, distances = brute_force(X, 5)
    np.testing.assert_array_equal(found.indices, indices)
    np.testing.assert_allclose(found.distances, distances, rtol=1e-12)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("n_features", [2, 40])
@pytest.mark.parametrize("scale", [2.0**-520, 2.0**520])
def test_the_scale_of_the_data_does_not_change_the_neighbours(form, n_features, scale):
    X = RNG.normal(size=(25, n_features))
    plain, scaled = nearest_neighbors(FORMS[form](X), 4), nearest_neighbors(FORMS[form](scale * X), 4)
    np.testing.assert_array_equal(plain.indices, scaled.indices)
    np.testing.assert_array_equal(scale * plain.distances, scaled.distances)


@settings(max_examples=30, deadline=None)
@given(
    arrays(np.float64, st.tuples(st.integers(2, 12), st.sampled_from([2, 20])), elements=st.integers(0, 2)),
    st.integers(1, 11),
    st.sampled_from(["euclidean", "cosine"]),
)
def test_duplicates_never_make_a_point_its_own_neighbour(X, k, metric):
    k = min(k, len(X) - 1)
    for form in FORMS.values():
        found = nearest_neighbors(form(X), k, metric=metric)
        assert (found.indices != np.arange(len(X))[:, None]).all()
        assert all(len(set(row)) == k for row in found.indices)
        assert (np.diff(found.distances, axis=1) >= 0).all()
        if metric == "euclidean":
            np.testing.assert_allclose(found.distances, brute_force(X, k)[1], rtol=1e-12)


@pytest.mark.parametrize("data", [X := np.arange(12).reshape(6, 2), X.astype(np.float32), X.tolist()])
def test_integers_single_precision_and_lists_are_taken(data):
    found = nearest_neighbors(data, 2)
    assert found.distances.dtype == np.float64
    np.testing.assert_allclose(found.distances[0], [np.sqrt(8), np.sqrt(32)])


def test_directed_weights_stay_on_their_edges():
    lists = nearest_neighbors(np.array([[0.0], [1.0], [3.0]]), 2)
    expected = np.zeros((3, 3))
    for i in range(3):
        for place, j in enumerate(lists.indices[i]):
            expected[i, j] = 10 * i + place + 1
    weights = np.array([[10.0 * i + place + 1 for place in range(2)] for i in range(3)])
    np.testing.assert_array_equal(lists.with_weights(weights).toarray(), expected)


def test_more_neighbours_than_points_are_cut_back_aloud():
    with pytest.warns(
        GraphWarning, match="n_neighbors=5 but each of the 3 points has only 2 others; using 2"
    ):
        assert nearest_neighbors(np.eye(3), 5).n_neighbors == 2


@pytest.mark.parametrize("n_neighbors", [0, -3, 1.5, True])
def test_n_neighbors_is_a_count(n_neighbors):
    with pytest.raises(ValueError, match="must be a whole number, at least 1"):
        nearest_neighbors(np.eye(3), n_neighbors)


def test_one_point_has_no_neighbours():
    with pytest.raises(ValueError, match="n_samples=1: a neighbour graph needs at least 2 points"):
        nearest_neighbors(np.eye(1), 1)


def test_unknown_names_list_the_choices():
    with pytest.raises(ValueError, match="search='annoy': choose 'exact' or 'approximate'"):
        nearest_neighbors(np.eye(3), 1, search="annoy")
    with pytest.raises(ValueError, match="metric='cityblock': choose 'euclidean' or 'cosine'"):
        nearest_neighbors(np.eye(3), 1, metric="cityblock")


def test_approximate_search_measures_its_recall_and_repeats_itself(monkeypatch):
    monkeypatch.setattr("sidecut.graphs.search.RECALL_SAMPLE", 10**6)
    X = RNG.normal(size=(1200, 12))
    X[600:660] = X[600]  # more duplicates than neighbours
    found = nearest_neighbors(1e150 * X, 8, search="approximate", random_state=3)
    again = nearest_neighbors(1e150 * X, 8, search="approximate", random_state=3)
    np.testing.assert_array_equal(found.indices, again.indices)
    assert (found.indices != np.arange(1200)[:, None]).all()

    true = np.sqrt(((X[:, None, :] - X[None, :, :]) ** 2).sum(-1))
    np.fill_diagonal(true, np.inf)
    reached = np.take_along_axis(true, found.indices, axis=1)
    np.testing.assert_allclose(found.distances, 1e150 * reached, rtol=1e-12, atol=1e130)
    farthest = np.sort(true, axis=1)[:, 7:8]
    assert found.recall == pytest.approx(np.mean(reached <= farthest * (1 + 1e-10)), abs=1e-12)
    assert found.recall > 0.9


def test_low_recall_is_named(monkeypatch):
    class Careless:
        """Lists the point itself, one arbitrary other, and gives up on the rest now and then."""

        def __init__(self, X, metric, n_neighbors, random_state):
            n = X.shape[0]
            found = (np.arange(n)[:, None] + 37 * np.arange(n_neighbors)[None, :]) % n
            found[::5, -1] = -1
            self.neighbor_graph = found, np.zeros(found.shape)

    monkeypatch.setattr("pynndescent.NNDescent", Careless)
    X = RNG.normal(size=(1000, 2))
    with pytest.warns(GraphWarning, match=r"found \d+\.\d% of the true neighbours; use search='exact'"):
        found = nearest_neighbors(X, 3, search="approximate", random_state=0)
    assert found.indices.min() >= 0
    # Lists that were given up are searched again; the others are as bad as they were.
    np.testing.assert_array_equal(found.indices[::5], nearest_neighbors(X, 3).indices[::5])
    assert 0.1 < found.recall < 0.4


def test_few_points_are_searched_exactly():
    X = RNG.normal(size=(20, 3))
    found = nearest_neighbors(X, 19, search="approximate")
    np.testing.assert_array_equal(found.indices, nearest_neighbors(X, 19).indices)
    assert found.recall == 1.0


def test_without_pynndescent_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "pynndescent", None)
    with pytest.raises(ImportError, match=r"sidecut\[approximate\].*search='exact'"):
        nearest_neighbors(np.eye(3), 1, search="approximate")
