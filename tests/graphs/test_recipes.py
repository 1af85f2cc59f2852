import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.base import clone

from sidecut.exceptions import GraphWarning
from sidecut.graphs import (
    Cosine,
    DenseGraph,
    FactorGraph,
    Gaussian,
    GaussianGraph,
    GraphRecipe,
    Heat,
    HeatGraph,
    Neighbors,
    SelfTuning,
    SparseGraph,
    recipe,
    warn_about_graph,
)

RECIPES = [
    Neighbors(4),
    Neighbors(4, weights="gaussian"),
    Neighbors(4, weights="gaussian", sigma="mean", symmetrize="union"),
    Neighbors(4, weights="gaussian", sigma=0.7, symmetrize="mutual"),
    Neighbors(4, weights="cosine"),
    Neighbors(4, weights="binary"),
    Gaussian(),
    Gaussian(0.5, self_loops=True),
    Gaussian("mean"),
    Gaussian("feature_std"),
    Gaussian([1.0, 2.0, 0.5]),
    SelfTuning(),
    SelfTuning(3),
    Heat(2.0),
    Heat(neighbors=Neighbors(3, weights="binary")),
    Cosine(),
]
every_recipe = pytest.mark.parametrize("maker", RECIPES, ids=repr)
X = np.random.default_rng(0).gamma(2.0, size=(24, 3))


def quietly(maker, X):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GraphWarning)
        return maker.build(X)


@every_recipe
def test_permuting_the_points_permutes_the_graph(maker):
    order = np.random.default_rng(1).permutation(len(X))
    expected = maker.build(X).toarray()[np.ix_(order, order)]
    np.testing.assert_allclose(maker.build(X[order]).toarray(), expected, rtol=1e-9, atol=1e-14)


@every_recipe
@pytest.mark.parametrize("form", [sp.csr_array, sp.csc_matrix, sp.coo_array])
def test_sparse_data_give_the_graph_of_the_dense_ones(maker, form):
    # Heat's usual neighbours are chosen by the kind of data; here both get the same.
    maker = Heat(neighbors=Neighbors(5)) if isinstance(maker, Heat) and maker.neighbors is None else maker
    data = np.where(X < 1, 0.0, X) + 0.01 * X
    np.testing.assert_allclose(
        maker.build(form(data)).toarray(), maker.build(data).toarray(), rtol=1e-9, atol=1e-14
    )


@every_recipe
def test_weights_are_symmetric_nonnegative_and_degrees_are_their_sums(maker):
    graph = maker.build(X)
    weights = graph.toarray()
    np.testing.assert_array_equal(weights, weights.T)
    assert weights.min() >= 0
    np.testing.assert_allclose(graph.degrees, weights.sum(axis=1), rtol=1e-12)


@every_recipe
@pytest.mark.parametrize("dtype", [np.float32, np.int64])
def test_other_number_types_give_the_graph_of_their_values(maker, dtype):
    data = (3 * X).astype(dtype)
    np.testing.assert_array_equal(maker.build(data).toarray(), maker.build(data.astype(float)).toarray())


@every_recipe
@pytest.mark.parametrize("scale", [1e-150, 1e150])
def test_scale_free_recipes_give_the_same_graph_at_any_scale(maker, scale):
    graph = quietly(maker, scale * X)
    assert np.isfinite(graph.toarray()).all()
    assert np.isfinite(graph.degrees).all()
    if isinstance(getattr(maker, "sigma", "rule"), str):
        np.testing.assert_allclose(graph.toarray(), maker.build(X).toarray(), rtol=1e-9, atol=1e-13)


@every_recipe
@settings(max_examples=25, deadline=None)
@given(
    data=arrays(
        np.float64,
        st.tuples(st.integers(2, 9), st.just(3)),
        elements=st.sampled_from([0.0, 1e-9, 1.0, 1.0, 4e7]),
    )
)
def test_duplicates_constants_and_outliers_never_give_nan(maker, data):
    for form in (np.asarray, sp.csr_array):
        graph = quietly(maker, form(data))
        weights = graph.toarray()
        assert np.isfinite(weights).all()
        assert weights.min() >= 0
        assert np.isfinite(graph.degrees).all()
        assert (graph.components[graph.isolated] == -1).all()


@every_recipe
def test_equal_points_are_equally_linked(maker):
    weights = quietly(maker, np.full((4, 3), 0.1)).toarray()
    np.testing.assert_allclose(weights[~np.eye(4, dtype=bool)], weights[0, 1], rtol=1e-12)
    assert weights[0, 1] > 0.2


@every_recipe
def test_building_does_not_change_the_recipe_and_it_can_be_cloned(maker):
    before = repr(maker.get_params())
    copy = clone(maker)
    first = maker.build(X).toarray()
    assert repr(maker.get_params()) == before
    assert vars(maker).keys() == copy.get_params(deep=False).keys()
    np.testing.assert_array_equal(copy.build(X).toarray(), first)


@every_recipe
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_values_that_are_not_finite_are_named(maker, value):
    data = X.copy()
    data[3, 1] = value
    for form in (np.asarray, sp.csr_array):
        with pytest.raises(ValueError, match=rf"X\[3, 1\] = {value}"):
            maker.build(form(data))


@pytest.mark.parametrize("maker", [Neighbors(3), SelfTuning(), Heat()])
def test_one_point_has_no_neighbours(maker):
    with pytest.raises(ValueError, match="n_samples=1"):
        maker.build(np.ones((1, 3)))


@pytest.mark.parametrize("maker", [Gaussian(), Cosine()])
def test_one_point_alone_is_an_isolated_node(maker):
    graph = maker.build(np.ones((1, 3)))
    np.testing.assert_array_equal(graph.toarray(), [[0.0]])
    with pytest.raises(ValueError, match="None of the 1 points"):
        warn_about_graph(graph, 1)


def brute_force_graph(X, k, weight, rule):
    """A k-NN graph by two loops: directed weights first, then the rule entry by entry."""
    n = len(X)
    distance = [[np.sqrt(np.sum((x - y) ** 2)) for y in X] for x in X]
    directed = np.zeros((n, n))
    for i in range(n):
        for j in sorted((j for j in range(n) if j != i), key=lambda j: distance[i][j])[:k]:
            directed[i, j] = weight(distance[i][j], i, j)
    combine = {"mean": lambda a, b: (a + b) / 2, "union": max, "mutual": min}[rule]
    return np.array([[combine(directed[i, j], directed[j, i]) for j in range(n)] for i in range(n)])


@pytest.mark.parametrize("rule", ["mean", "union", "mutual"])
def test_neighbour_graphs_are_brute_force_double_loops(rule):
    distances = np.sort(np.sqrt(((X[:, None] - X[None]) ** 2).sum(-1)), axis=1)[:, 1:]
    width = np.median(distances[:, :9])
    seventh = distances[:, 6]
    kernels = {
        "binary": lambda d, i, j: 1.0,
        "gaussian": lambda d, i, j: np.exp(-(d**2) / (2 * width**2)),
        "self_tuning": lambda d, i, j: np.exp(-(d**2) / (seventh[i] * seventh[j])),
    }
    for weights, kernel in kernels.items():
        graph = Neighbors(9, weights=weights, symmetrize=rule).build(X)
        np.testing.assert_allclose(graph.toarray(), brute_force_graph(X, 9, kernel, rule), rtol=1e-10)


def test_a_one_sided_edge_has_half_its_weight():
    graph = Neighbors(1, weights="binary").build(np.array([[0.0], [1.0], [3.0]]))
    np.testing.assert_array_equal(graph.toarray(), [[0, 1, 0], [1, 0, 0.5], [0, 0.5, 0]])


def test_cosine_neighbours_leave_negative_cosines_out():
    rays = np.array([[1.0, 0.0], [2.0, 0.2], [-1.0, 0.0], [-3.0, 0.1], [0.0, 0.0]])
    weights = Neighbors(4, weights="cosine").build(rays).toarray()
    unit = rays / np.maximum(np.linalg.norm(rays, axis=1, keepdims=True), 1e-300)
    expected = np.maximum(unit @ unit.T, 0.0)
    np.fill_diagonal(expected, 0.0)
    np.testing.assert_allclose(weights, expected, atol=1e-15)


def test_the_full_cosine_graph_is_every_pairs_cosine():
    counts = sp.random(20, 30, density=0.3, random_state=0, format="csr")
    unit = counts.toarray() / np.linalg.norm(counts.toarray(), axis=1, keepdims=True)
    expected = unit @ unit.T - np.eye(20)
    graph = Cosine().build(counts)
    assert isinstance(graph, FactorGraph)
    np.testing.assert_allclose(graph.toarray(), expected, atol=1e-14)
    block = np.random.default_rng(0).normal(size=(20, 3))
    np.testing.assert_allclose(graph.apply(block), expected @ block, atol=1e-13)


def test_cosines_of_negative_features_point_to_neighbours():
    with pytest.raises(ValueError, match=r"smallest value is -2.*Neighbors\(weights='cosine'\)"):
        Cosine().build(np.array([[1.0, -2.0], [1.0, 1.0]]))


def test_full_affinities_are_kept_in_memory_only_while_small(monkeypatch):
    assert isinstance(Gaussian().build(X), DenseGraph)
    small = {maker: maker.build(X).toarray() for maker in (Gaussian(0.7), SelfTuning())}
    monkeypatch.setattr("sidecut.graphs.recipes.IN_MEMORY", 10)
    assert isinstance(Gaussian().build(X), GaussianGraph)
    for maker, weights in small.items():
        np.testing.assert_allclose(maker.build(X).toarray(), weights, rtol=1e-12)


def test_heat_takes_cosines_of_sparse_data_and_self_tuning_of_dense():
    dense, sparse = Heat().build(X), Heat().build(sp.csr_array(X))
    assert isinstance(dense, HeatGraph)
    for graph, weights in ((dense, "self_tuning"), (sparse, "cosine")):
        expected = Neighbors(10, weights=weights).build(X).toarray()
        np.testing.assert_allclose(graph.graph.toarray(), expected, rtol=1e-12)


@pytest.mark.parametrize("sigma", [1e-3, 1e-200])
def test_underflowing_edges_are_named(sigma):
    with pytest.warns(
        GraphWarning, match=rf"\d+ of 96 edges underflow to weight zero with sigma={sigma:.3g}"
    ):
        graph = Neighbors(4, weights="gaussian", sigma=sigma).build(X)
    with pytest.raises(ValueError, match=r"None of the 24 points has a neighbour.*larger sigma"):
        warn_about_graph(graph, 2)


def test_a_full_gaussian_that_underflows_is_named_by_its_health():
    data = np.array([[0.0], [0.1], [0.2], [50.0]])
    with pytest.warns(GraphWarning, match=r"1 of 4 points have no neighbours \(3\)"):
        warn_about_graph(Gaussian(sigma=0.5).build(data), 2)


def test_separated_groups_are_components():
    data = np.concatenate([X, X + 1000.0, X - 5000.0])
    graph = Neighbors(5).build(data)
    with pytest.warns(GraphWarning, match="3 connected components"):
        warn_about_graph(graph, 2)
    np.testing.assert_array_equal(graph.components, np.repeat([0, 1, 2], 24))


@pytest.mark.parametrize(
    ("maker", "message"),
    [
        (
            Neighbors(3, weights="rbf"),
            "weights='rbf': choose 'self_tuning', 'gaussian', 'cosine' or 'binary'",
        ),
        (Neighbors(3, symmetrize="or"), "symmetrize='or': choose"),
        (Neighbors(3, search="fast"), "search='fast': choose"),
        (Neighbors(3, weights="gaussian", sigma="scott"), "sigma='scott' is not a rule"),
        (Neighbors(3, weights="gaussian", sigma=-1.0), r"sigma=-1\.0 is not a width"),
        (Neighbors(0), "n_neighbors=0 must be a whole number"),
        (Gaussian("scott"), "sigma='scott' is not a rule"),
        (Gaussian(0.0), r"sigma=0\.0 is not a width"),
        (Gaussian([1.0, 2.0]), "2 widths for 3 features"),
        (Gaussian([[1.0, 2.0, 3.0]]), "one per feature"),
        (SelfTuning(0), "neighbor=0 must be a whole number"),
        (Heat(-1.0), "positive finite time"),
    ],
    ids=str,
)
def test_bad_settings_are_refused_by_name(maker, message):
    with pytest.raises(ValueError, match=message):
        maker.build(X)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("knn", Neighbors),
        ("gaussian", Gaussian),
        ("self_tuning", SelfTuning),
        ("heat", Heat),
        ("cosine", Cosine),
    ],
)
def test_names_stand_for_recipes(name, kind):
    assert type(recipe(name)) is kind


def test_knn_takes_the_number_of_neighbours_and_recipes_pass_through():
    assert recipe("knn", 7).n_neighbors == 7
    maker = Gaussian(2.0)
    assert recipe(maker) is maker


@pytest.mark.parametrize("affinity", ["spline", None, 3])
def test_an_unknown_affinity_lists_the_choices(affinity):
    message = (
        f"affinity={affinity!r}: choose 'knn', 'gaussian', 'self_tuning', 'heat', 'cosine', 'precomputed'"
    )
    with pytest.raises(ValueError, match=message):
        recipe(affinity)


def test_a_recipe_must_say_how_to_build():
    with pytest.raises(TypeError, match="abstract"):
        GraphRecipe()


def test_an_exact_search_has_full_recall():
    graph = Neighbors(3).build(X)
    assert isinstance(graph, SparseGraph)
    assert graph.recall == 1.0
