import dataclasses

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sidecut.exceptions import GraphWarning
from sidecut.graphs import nearest_neighbors, search
from sidecut.graphs.recipes import as_rows_of_edges
from sidecut.graphs.search import as_points, neighbors_of_new

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
    assert found.indices.shape[1] == k


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
    np.testing.assert_array_equal(as_rows_of_edges(lists.indices, weights, 3).toarray(), expected)


def test_more_neighbours_than_points_are_cut_back_aloud():
    with pytest.warns(
        GraphWarning, match="n_neighbors=5 but each of the 3 points has only 2 others; using 2"
    ):
        assert nearest_neighbors(np.eye(3), 5).indices.shape[1] == 2


@pytest.mark.parametrize("n_neighbors", [0, -3, 1.5, True])
def test_n_neighbors_is_a_count(n_neighbors):
    with pytest.raises(ValueError, match="must be a whole number, at least 1"):
        nearest_neighbors(np.eye(3), n_neighbors)


def test_one_point_has_no_neighbours():
    with pytest.raises(ValueError, match="n_samples=1: a neighbour graph needs at least 2 points"):
        nearest_neighbors(np.eye(1), 1)


def test_unknown_names_list_the_choices():
    with pytest.raises(ValueError, match="search='annoy': choose 'auto', 'exact' or 'approximate'"):
        nearest_neighbors(np.eye(3), 1, search="annoy")
    with pytest.raises(ValueError, match="metric='cityblock': choose 'euclidean' or 'cosine'"):
        nearest_neighbors(np.eye(3), 1, metric="cityblock")


def crowded_points(n=1500, n_features=40):
    """Points near a plane of few dimensions, some of them many times over."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(n, 6)) @ rng.normal(size=(6, n_features)) + 0.1 * rng.normal(size=(n, n_features))
    X[600:660] = X[600]  # more duplicates than neighbours
    return X


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_approximate_search_measures_its_recall_and_repeats_itself(monkeypatch, metric):
    monkeypatch.setattr("sidecut.graphs.search.RECALL_SAMPLE", 10**6)
    X = crowded_points()
    scale = 1e150
    found = nearest_neighbors(scale * X, 8, metric=metric, search="approximate")
    again = nearest_neighbors(scale * X, 8, metric=metric, search="approximate")
    np.testing.assert_array_equal(found.indices, again.indices)
    assert (found.indices != np.arange(len(X))[:, None]).all()
    assert all(len(set(row)) == 8 for row in found.indices)

    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    true = 1 - unit @ unit.T if metric == "cosine" else scale * np.linalg.norm(X[:, None] - X[None], axis=2)
    np.fill_diagonal(true, np.inf)
    reached = np.take_along_axis(true, found.indices, axis=1)
    np.testing.assert_allclose(found.distances, reached, rtol=1e-6, atol=1e-8 * np.median(reached))
    assert (np.diff(found.distances, axis=1) >= 0).all()
    # Half of the points fit the search, the others measure it: here these are all there are.
    farthest = np.sort(true, axis=1)[:, 7:8]
    share = np.mean(reached <= farthest * (1 + 1e-6) + 1e-12)
    assert 0.98 <= found.recall < 1
    assert found.recall == pytest.approx(share, abs=0.01)


def test_recall_is_measured_on_points_the_search_was_not_fitted_to(monkeypatch):
    seen = {}

    def remember(coordinates, sample, neighbors, rng):
        seen["fitted"] = set(sample)
        return fit(coordinates, sample, neighbors, rng)

    fit = search.calibrate
    monkeypatch.setattr(search, "calibrate", remember)
    monkeypatch.setattr(search, "RECALL_SAMPLE", 700)
    X = crowded_points()
    found = nearest_neighbors(X, 8, search="approximate", random_state=1)
    others = np.setdiff1d(np.random.RandomState(1).choice(1500, 1400, replace=False), list(seen["fitted"]))
    assert others.size == 700
    truth = nearest_neighbors(X, 8, search="exact").distances[others, -1:]
    assert found.recall == np.mean(found.distances[others] <= truth * (1 + 1e-12))


def test_low_recall_is_named(monkeypatch):
    def careless(coordinates, sample, neighbors, rng):
        return dataclasses.replace(fit(coordinates, sample, neighbors, rng), n_cells=1)

    fit = search.calibrate
    monkeypatch.setattr(search, "calibrate", careless)
    with pytest.warns(
        GraphWarning, match=r"found \d+\.\d% of the true neighbours of 300 points; use search='exact'"
    ):
        found = nearest_neighbors(RNG.normal(size=(1500, 20)), 3, search="approximate")
    assert 0.1 < found.recall < 0.8


def test_points_in_cells_that_hold_too_few_are_searched_exactly(monkeypatch):
    def narrow(coordinates, sample, neighbors, rng):
        return dataclasses.replace(fit(coordinates, sample, neighbors, rng), n_cells=1, n_candidates=41)

    fit = search.calibrate
    monkeypatch.setattr(search, "calibrate", narrow)
    X = RNG.normal(size=(1500, 20))
    X[7] = 100.0  # a cell of its own
    with pytest.warns(GraphWarning, match="approximate search found"):
        found = nearest_neighbors(X, 20, search="approximate")
    np.testing.assert_array_equal(found.indices[7], nearest_neighbors(X, 20, search="exact").indices[7])
    assert (found.indices != np.arange(1500)[:, None]).all()


@pytest.mark.parametrize("form", ["few points", "sparse"])
def test_few_points_and_sparse_ones_are_searched_exactly(form):
    X = RNG.normal(size=(20, 3)) if form == "few points" else sp.random_array((1200, 9), density=0.5, rng=RNG)
    found = nearest_neighbors(X, 19, search="approximate")
    np.testing.assert_array_equal(found.indices, nearest_neighbors(X, 19, search="exact").indices)
    assert found.recall == 1.0


@pytest.mark.parametrize(
    ("shape", "limit", "exact"),
    [((1500, 20), 1e11, True), ((1500, 20), 1e3, False), ((1500, 8), 1e3, True), ((900, 20), 1e3, True)],
)
def test_auto_searches_exactly_where_that_is_cheap(monkeypatch, shape, limit, exact):
    monkeypatch.setattr(search, "EXACT_PRODUCTS", limit)
    monkeypatch.setattr(search, "LARGEST_SCAN", 10.0)
    X = RNG.normal(size=shape)
    found = nearest_neighbors(X, 8)
    same = np.array_equal(found.indices, nearest_neighbors(X, 8, search="exact").indices)
    assert same == exact
    assert (found.recall == 1.0) == exact


def test_auto_searches_exactly_what_would_be_scanned_anyway(monkeypatch):
    monkeypatch.setattr(search, "EXACT_PRODUCTS", 1e3)
    X = RNG.normal(size=(1200, 60))  # without clusters or directions, neighbours are everywhere
    found = nearest_neighbors(X, 8)
    np.testing.assert_array_equal(found.indices, nearest_neighbors(X, 8, search="exact").indices)
    assert found.recall == 1.0


@pytest.mark.parametrize("kind", ["normal", "duplicates", "lattice", "far from the origin"])
def test_single_precision_first_is_exact(monkeypatch, kind):
    rng = np.random.default_rng(0)
    X = {
        "normal": rng.normal(size=(400, 40)),
        "duplicates": np.repeat(rng.normal(size=(80, 40)), 5, axis=0),
        "lattice": rng.integers(0, 2, size=(400, 20)).astype(float),
        "far from the origin": 1e5 + rng.normal(size=(400, 20)) * 1e-3,
    }[kind]
    plain = nearest_neighbors(X, 7, search="exact")
    monkeypatch.setattr(search, "SINGLE_PRODUCTS", 0.0)
    monkeypatch.setattr(search, "DISTANCES_HELD", 40_000)
    quick = nearest_neighbors(X, 7, search="exact")
    true = np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2))
    np.fill_diagonal(true, np.inf)
    np.testing.assert_allclose(quick.distances, np.sort(true, axis=1)[:, :7], rtol=1e-12, atol=1e-14)
    np.testing.assert_array_equal(quick.distances, plain.distances)
    np.testing.assert_array_equal(quick.indices, plain.indices)


def test_whoever_single_precision_cannot_tell_is_left_open():
    rng = np.random.default_rng(0)
    apart = search._space(rng.normal(size=(300, 20)), "euclidean")
    assert search._nearest_in_single_precision(apart, 5, np.arange(300))[2].size == 0
    # Differences of a millionth of the norms are below what single precision sees.
    blurred = rng.choice([-1.0, 1.0], size=(1, 20)) + 1e-6 * rng.normal(size=(300, 20))
    points = np.concatenate([blurred, -blurred])
    close = search._space(points, "euclidean")
    assert search._nearest_in_single_precision(close, 5, np.arange(600))[2].size == 600


def test_all_pairs_of_some_points_and_their_others():
    X = np.random.default_rng(0).normal(size=(30, 4))
    points, others = np.array([3, 7]), np.array([[1, 2, 3], [0, 7, 29]])
    expected = ((X[points][:, None] - X[others]) ** 2).sum(axis=2)
    for form in (np.asarray, sp.csr_array):
        found = as_points(form(X))
        np.testing.assert_allclose(
            found.unit**2 * found.squared_lengths(points, others), expected, rtol=1e-12
        )


@pytest.mark.parametrize("unit", [1.0, 1e30, 1e-30])
def test_rows_that_ask_find_the_same_neighbours_by_single_precision(unit, monkeypatch):
    X = unit * RNG.normal(size=(900, 20)).round(1)
    X[100:150] = X[0]
    new = np.vstack([X[:5], unit * RNG.normal(size=(60, 20))])
    to = np.sqrt((((new[:, None] - X) / unit) ** 2).sum(axis=2))
    expected = unit * np.sort(to, axis=1)[:, :7]
    slow = search.neighbors_of_new(X, new, 7, "euclidean")
    monkeypatch.setattr(search, "SINGLE_PRODUCTS", 0)
    undecided = search._nearest_of_few(np.vstack([X, new]), len(X), 7)[2]
    assert len(undecided) == (1 if unit == 1.0 else len(new))
    indices, distances = search.neighbors_of_new(X, new, 7, "euclidean")
    np.testing.assert_array_equal(indices, slow[0])
    np.testing.assert_allclose(distances, expected, rtol=1e-9, atol=1e-9 * unit)


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_new_points_find_in_the_cells_of_a_search_what_comparing_all_finds(metric):
    X = 1e150 * crowded_points(2000)
    old, new = X[:1500], np.concatenate([X[1500:], X[590:610], X[:3] + 1e151])
    cells = nearest_neighbors(old, 8, metric=metric, search="approximate").cells
    indices, distances = neighbors_of_new(old, new, 8, metric, cells)
    assert all(len(set(row)) == 8 for row in indices)
    true = neighbors_of_new(old, new, 8, metric)[1]
    assert np.mean(distances <= true[:, -1:] * (1 + 1e-9) + 1e-15) > 0.96
    # Points that are there already find themselves or an equal one, however many there are.
    np.testing.assert_array_equal(old[indices[500:520, 0]], new[500:520])
    # More points in the cells: all of the new ones find themselves, and those from before are there still.
    everyone = np.concatenate([old, new])
    indices, distances = neighbors_of_new(everyone, everyone, 8, metric, cells.with_points(new))
    np.testing.assert_array_equal(everyone[indices[:, 0]], everyone)
    true = neighbors_of_new(everyone, everyone, 8, metric)[1]
    assert np.mean(distances <= true[:, -1:] * (1 + 1e-9) + 1e-15) > 0.96


def test_a_new_point_whose_cells_hold_too_few_compares_with_all():
    X = RNG.normal(size=(1500, 20))
    kept = nearest_neighbors(X, 20, search="approximate").cells
    narrow = dataclasses.replace(kept.search, n_cells=1, n_candidates=200)
    new = RNG.normal(size=(5, 20))
    found = neighbors_of_new(X, new, 20, "euclidean", dataclasses.replace(kept, search=narrow))[0]
    np.testing.assert_array_equal(found, neighbors_of_new(X, new, 20, "euclidean")[0])
