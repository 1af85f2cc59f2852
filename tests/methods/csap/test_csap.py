"""CSAP against the algorithms as printed: inverses, and a stack of matrices."""

from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score

from sidecut import CSAP, Constraints, NormalizedCut
from sidecut.constraints import sample_labels, sample_pairs
from sidecut.exceptions import ConstraintError, GraphWarning
from sidecut.graphs import (
    DenseGraph,
    Gaussian,
    GaussianGraph,
    Heat,
    JoinedResolventGraph,
    Neighbors,
    NormalizedAffinity,
    Resolvent,
    ResolventGraph,
    SelfTuning,
    TiledGraph,
    as_graph,
)
from sidecut.methods.csap import graph as linking
from sidecut.methods.csap.graph import ObservedLinks, condition_graph, make_prior, reconnect_isolated
from sidecut.methods.csap.kernel import condition_kernel

# The methods themselves are tested here; the guard has tests of its own.
CSAP = partial(CSAP, safe=False)


class OnlyTiles(TiledGraph):
    """A graph whose weights are computed in tiles, for any weights."""

    def __init__(self, weights):
        self.hidden = weights
        self.n_nodes = len(weights)

    def tile(self, rows):
        return self.hidden[rows].copy()


X, Y = make_blobs(36, centers=[[0, 0], [3, 0], [0, 3]], cluster_std=0.7, random_state=0)
LOOPS = Gaussian(0.7, self_loops=True)
K = LOOPS.build(X).toarray()
PAIRS = sample_pairs(Y, 20, random_state=0)
SOME = Constraints.from_labels(np.where(np.arange(36) % 4 == 0, Y, -1))
SOFT = Constraints.from_pairs(
    36, PAIRS.must_link, PAIRS.cannot_link, 0.5, np.linspace(0.2, 3, PAIRS.n_cannot_link)
)


def affinity_of(constraints, algorithm, eps_must=1e-2, eps_cannot=2e-2, affinity=LOOPS, data=X):
    model = CSAP(
        3,
        algorithm=algorithm,
        eps_must=eps_must,
        eps_cannot=eps_cannot,
        n_affinities=None,
        affinity=affinity,
        random_state=0,
    )
    return model.fit(data, constraints=constraints).affinity_matrix_.toarray()


def noise(constraints, eps_must=1e-2, eps_cannot=2e-2):
    must, cannot = constraints.strengths > 0, constraints.strengths < 0
    return (
        eps_must / np.sqrt(constraints.strengths[must]),
        eps_cannot / np.sqrt(-constraints.strengths[cannot]),
    )


def literal_a(kernel, constraints):
    return np.maximum(
        condition_kernel(kernel, constraints.must_link, constraints.cannot_link, *noise(constraints)), 0.0
    )


def literal_b(kernel, constraints):
    """Steps 1a to 2 of Algorithm B, with one matrix for every cannot-link."""
    eps_must, eps_cannot = noise(constraints)
    first = condition_kernel(kernel, constraints.must_link, eps_must=eps_must)
    stack = [
        condition_kernel(first, cannot_link=[pair], eps_cannot=eps)
        for pair, eps in zip(constraints.cannot_link, eps_cannot, strict=True)
    ]
    return np.maximum(np.min(stack, axis=0), 0.0) if stack else np.maximum(first, 0.0)


KNOWLEDGE = {"pairs": PAIRS, "labels": SOME, "soft": SOFT, "must": PAIRS.must_part()}


@pytest.mark.parametrize("name", KNOWLEDGE)
@pytest.mark.parametrize(("algorithm", "literal"), [("A", literal_a), ("B", literal_b)])
def test_the_algorithms_as_printed(algorithm, literal, name):
    known = KNOWLEDGE[name]
    np.testing.assert_allclose(affinity_of(known, algorithm), literal(K, known), atol=1e-9)


@pytest.mark.parametrize("algorithm", ["A", "B"])
def test_a_graph_without_loops_has_the_same_affinities_between_points(algorithm):
    bare = affinity_of(PAIRS, algorithm, affinity=Gaussian(0.7))
    expected = affinity_of(PAIRS, algorithm)
    np.fill_diagonal(expected, 0.0)
    np.testing.assert_allclose(bare, expected, atol=1e-12)


def test_one_cannot_link_is_the_same_for_both_algorithms():
    known = Constraints.from_pairs(36, PAIRS.must_link, PAIRS.cannot_link[:1])
    np.testing.assert_allclose(affinity_of(known, "B"), affinity_of(known, "A"), atol=1e-12)


def test_no_cannot_link_is_the_same_for_both_algorithms():
    known = Constraints.from_pairs(36, PAIRS.must_link)
    np.testing.assert_allclose(affinity_of(known, "B"), affinity_of(known, "A"), atol=1e-15)


@pytest.mark.parametrize(("n_clusters", "chosen"), [(1, "A"), (2, "A"), (3, "B"), (5, "B")])
def test_auto(n_clusters, chosen):
    auto, named = (
        CSAP(n_clusters, safe=False, algorithm=name, affinity=LOOPS, random_state=0).fit(X, constraints=PAIRS)
        for name in ("auto", chosen)
    )
    np.testing.assert_array_equal(auto.affinity_matrix_.toarray(), named.affinity_matrix_.toarray())


# Hard links may cut a kernel into pieces, which is another matter.
@pytest.mark.filterwarnings("ignore::sidecut.exceptions.GraphWarning")
@given(seed=st.integers(0, 10_000), algorithm=st.sampled_from("AB"))
@settings(max_examples=25, deadline=None)
def test_any_links_against_the_literal_algorithms(seed, algorithm):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 3, 36)
    known = sample_pairs(labels, int(rng.integers(1, 15)), random_state=seed)
    literal = literal_a if algorithm == "A" else literal_b
    expected = literal(K, known)
    got = affinity_of(known, algorithm)
    np.testing.assert_allclose(got, expected, atol=1e-9)
    assert (got >= 0).all()
    np.testing.assert_array_equal(got, got.T)


def test_stronger_beliefs_are_harder_links():
    pair = [(0, 1)]
    twice = Constraints.from_pairs(36, must_link=pair, must_weight=4.0)
    once = Constraints.from_pairs(36, must_link=pair)
    np.testing.assert_allclose(
        affinity_of(twice, "A", eps_must=0.6), affinity_of(once, "A", eps_must=0.3), atol=1e-13
    )


def test_loose_links_change_nothing_and_hard_ones_make_points_one():
    loose = affinity_of(PAIRS, "B", eps_must=1e7, eps_cannot=1e7)
    np.testing.assert_allclose(loose, K, atol=1e-12)
    hard = affinity_of(PAIRS.must_part(), "A", eps_must=1e-5)
    i, j = PAIRS.must_link[0]
    np.testing.assert_allclose(hard[i], hard[j], atol=1e-4)


def test_beyond_the_limit_one_cannot_link_speaks_for_two_groups(monkeypatch):
    labels = Constraints.from_labels(np.where(np.arange(36) % 2 == 0, Y, -1))
    listed = affinity_of(labels, "B", 1e-5, 1e-5)
    monkeypatch.setattr(linking, "MAX_CANNOT_LINKS", 5)
    monkeypatch.setattr(linking, "MAX_SOFT_CANNOT_LINKS", 5)
    links = ObservedLinks.of(labels, 1e-5, 1e-5)
    assert links.cannot_observations_apart().size == 3 < len(links.cannot)
    np.testing.assert_allclose(affinity_of(labels, "B", 1e-5, 1e-5), listed, atol=1e-8)
    with pytest.raises(ConstraintError, match=r"one by one; there are 1\d\d, more than 5.*algorithm='A'"):
        affinity_of(labels, "B", 0.1, 1e-5)


def test_the_hardest_cannot_link_speaks(monkeypatch):
    monkeypatch.setattr(linking, "MAX_CANNOT_LINKS", 1)
    known = Constraints.from_pairs(6, [(0, 1), (2, 3)], [(0, 2), (1, 3), (4, 5)], 1.0, [1.0, 9.0, 1.0])
    seen = ObservedLinks.of(known, 1e-5, 1.0).cannot_observations_apart()
    np.testing.assert_allclose(np.sort(seen.variances), [1 / 9, 1.0])
    assert set(np.flatnonzero(seen.directions[:, seen.variances.argmin()])) == {1, 3}


def test_links_reach_no_further_than_the_graph_does():
    graph = Neighbors(5).build(X)
    known = Constraints.from_pairs(36, must_link=[(0, 1)], cannot_link=[(2, 3)])
    model = CSAP(3, safe=False, affinity="precomputed", random_state=0).fit(graph, constraints=known)
    near = (graph.matrix[[0, 1, 2, 3]].sum(axis=0) > 0) | (np.arange(36) < 4)
    assert sp.issparse(model.affinity_matrix_.matrix)
    np.testing.assert_array_equal(
        model.affinity_matrix_.toarray()[~near][:, ~near], graph.toarray()[~near][:, ~near]
    )


def test_points_too_many_for_memory(monkeypatch):
    monkeypatch.setattr("sidecut.graphs.graph.TILE_BYTES", 5 * 36 * 8)
    lazy = GaussianGraph(X, 0.7, self_loops=True)
    for algorithm in "AB":
        model = CSAP(3, safe=False, algorithm=algorithm, affinity="precomputed", random_state=0)
        tiles = model.fit(lazy, constraints=PAIRS).affinity_matrix_
        assert tiles.matrix is None
        expected = model.fit(DenseGraph(K), constraints=PAIRS).affinity_matrix_.matrix
        np.testing.assert_allclose(tiles.toarray(), expected, atol=1e-10)


def test_heat_is_a_covariance_and_neighbours_need_not_be():
    points = np.arange(36)
    assert make_prior(Heat(5.0).build(X), points).shift == 0.0
    for recipe in (Neighbors(8, weights="binary"), SelfTuning()):
        prior = make_prior(recipe.build(X), points)
        assert prior.shift > 0
        columns = prior.columns.toarray() if sp.issparse(prior.columns) else prior.columns
        # All points are linked: the least shift, and the hundredth of it that rounding is given.
        assert np.linalg.eigvalsh(columns)[0] == pytest.approx(0.01 / 1.01 * prior.shift, rel=1e-6)
        model = CSAP(3, safe=False, affinity=recipe, random_state=0).fit(
            X, constraints=Constraints.from_labels(Y)
        )
        assert model.diagonal_shift_ == pytest.approx(prior.shift)
        assert adjusted_rand_score(Y, model.labels_) == 1.0
    assert CSAP(3, random_state=0, n_neighbors=8).fit(X).diagonal_shift_ == 0.0


@pytest.mark.parametrize("algorithm", ["A", "B"])
def test_the_kernel_with_a_sparse_inverse(algorithm):
    """K = (Δ + σI)⁻¹: links add to its inverse, which stays as sparse as the graph and the links are."""
    graph = Neighbors(6).build(X)
    scale = NormalizedAffinity(graph).matrix.toarray()
    known = Constraints.from_pairs(36, PAIRS.must_link, PAIRS.cannot_link[:1])
    precision = 1.3 * np.eye(36) - scale
    for pairs, sign in ((known.must_link, -1), (known.cannot_link, 1)):
        for i, j in pairs:
            a = np.eye(36)[i] + sign * np.eye(36)[j]
            precision += np.outer(a, a) / (1e-2 if sign < 0 else 2e-2) ** 2
    expected = np.maximum(np.linalg.inv(precision), 0.0)
    got = affinity_of(known, algorithm, affinity=Resolvent(0.3, neighbors=Neighbors(6)))
    np.testing.assert_allclose(got, expected, atol=1e-9)


def test_a_kernel_that_is_only_applied_and_too_large_for_memory(monkeypatch):
    heat = Heat(3.0, neighbors=Neighbors(6))
    expected = affinity_of(PAIRS, "B", affinity=heat)
    monkeypatch.setattr(linking, "MAX_DENSE_POINTS", 10)
    model = CSAP(3, safe=False, eps_must=1e-2, eps_cannot=2e-2, affinity=heat, random_state=0).fit(
        X, constraints=PAIRS
    )
    assert model.affinity_matrix_.matrix is None
    np.testing.assert_allclose(model.affinity_matrix_.toarray(), expected, atol=1e-11)


def test_a_point_left_without_affinity_keeps_the_one_it_had():
    """Point 0 lies between 1 and 2 and can be with neither: clipped to nothing, it would have no label."""
    weights = np.array(
        [[0.0, 0.5, 0.5, 0.1], [0.5, 0.0, 0.0, 0.4], [0.5, 0.0, 0.0, 0.4], [0.1, 0.4, 0.4, 0.0]]
    )
    known = Constraints.from_pairs(4, cannot_link=[(0, 1), (0, 2)])
    model = CSAP(2, safe=False, algorithm="B", affinity="precomputed", random_state=0).fit(
        weights, constraints=known
    )
    affinity = model.affinity_matrix_.toarray()
    np.testing.assert_allclose(affinity[0], [0.0, 0.0, 0.0, 0.1], atol=1e-12)
    np.testing.assert_array_equal(affinity, affinity.T)
    links = ObservedLinks.of(known, 1e-5, 1e-5)
    columns = make_prior(as_graph(weights), links.points).columns
    for graph in (as_graph(sp.csr_array(weights)), OnlyTiles(weights)):
        again = reconnect_isolated(condition_graph(graph, columns, links, "B"), graph, links)
        np.testing.assert_allclose(again.toarray(), affinity, atol=1e-12)


def test_equal_points_that_cannot_be_together():
    twins = np.vstack([X, X[:1]])
    known = Constraints.from_pairs(37, cannot_link=[(0, 36)])
    model = CSAP(2, safe=False, affinity=Gaussian(0.7, self_loops=True), random_state=0).fit(
        twins, constraints=known
    )
    assert np.isfinite(model.embedding_).all()
    assert model.affinity_matrix_.toarray()[0].max() < 1e-4


def test_links_between_parts_without_any_affinity():
    """Exact zeros stay: two parts far apart are joined by a must-link and by nothing else."""
    far = np.vstack([X, X + 1e3])
    inside = Constraints.from_pairs(72, must_link=[(0, 3), (36, 40)])
    across = Constraints.from_pairs(72, must_link=[(0, 3), (0, 40)])
    apart, joined = (
        CSAP(2, safe=False, split_parts=False, affinity=Gaussian(2.0), random_state=0)
        .fit(far, constraints=known)
        .affinity_matrix_
        for known in (inside, across)
    )
    assert apart.n_components == 2
    assert joined.n_components == 1


def test_moons_with_a_few_labels():
    moons, side = make_moons(300, noise=0.1, random_state=0)
    known = sample_labels(side, 20, random_state=0)
    alone = NormalizedCut(2, random_state=0).fit(moons)
    told = CSAP(2, safe=False, random_state=0).fit(moons, constraints=known)
    rest = known.labels < 0
    assert adjusted_rand_score(side[rest], told.labels_[rest]) > 0.95
    assert adjusted_rand_score(side[rest], alone.labels_[rest]) < 0.8


def test_a_class_of_several_blobs_is_one_cluster():
    """Labels join blobs far apart only if their points keep affinities beyond those of their own blob."""
    points, blob = make_blobs(1000, n_features=10, centers=12, cluster_std=4.0, random_state=0)
    side = blob % 2
    known = sample_labels(side, 200, random_state=0)
    rest = known.labels < 0
    default, paper = (
        adjusted_rand_score(side[rest], model.fit(points, constraints=known).labels_[rest])
        for model in (CSAP(2, random_state=0), CSAP(2, n_affinities=None, random_state=0))
    )
    assert default > paper - 0.02
    assert default > 0.85


def test_a_label_on_its_own_says_nothing():
    lone = Constraints.from_labels([0] + [-1] * 35)
    np.testing.assert_array_equal(affinity_of(lone, "B"), K)


@pytest.mark.parametrize("eps", [0, -1.0, np.inf, np.nan, "soft", None])
@pytest.mark.parametrize("name", ["eps_must", "eps_cannot"])
def test_noise_must_be_a_positive_number(name, eps):
    with pytest.raises(ValueError, match=rf"{name}=.*must be a finite number, more than 0"):
        CSAP(3, **{name: eps}).fit(X)


def test_algorithms_there_are():
    with pytest.raises(ValueError, match="algorithm='C': choose one of 'auto', 'A', 'B'"):
        CSAP(3, algorithm="C").fit(X)


def test_links_of_one_graph_do_not_change_it():
    weights = K.copy()
    CSAP(3, safe=False, affinity="precomputed", random_state=0).fit(as_graph(weights), constraints=PAIRS)
    np.testing.assert_array_equal(weights, K)


def test_must_links_on_a_large_resolvent_are_never_formed(monkeypatch):
    """(Δ + σI + M)⁻¹ is the inverse of an M-matrix: nothing is clipped, and it need not exist."""
    kernel = Resolvent(0.3, neighbors=Neighbors(6))
    known = PAIRS.must_part()
    expected = affinity_of(known, "B", affinity=kernel)
    monkeypatch.setattr(linking, "MAX_DENSE_POINTS", 10)
    model = CSAP(3, safe=False, eps_must=1e-2, affinity=kernel, random_state=0).fit(X, constraints=known)
    assert isinstance(model.affinity_matrix_, JoinedResolventGraph)
    np.testing.assert_allclose(model.affinity_matrix_.toarray(), expected, atol=1e-11)
    both = CSAP(3, safe=False, eps_must=1e-2, affinity=kernel, random_state=0).fit(X, constraints=PAIRS)
    assert not isinstance(both.affinity_matrix_, JoinedResolventGraph)


def test_must_links_join_the_parts_of_a_resolvent(monkeypatch):
    monkeypatch.setattr(linking, "MAX_DENSE_POINTS", 10)
    parts = np.concatenate([np.linspace(0, 1, 8) + 50 * k for k in range(4)] + [np.array([1e6])])[:, None]
    weights = (np.abs(parts - parts.T) < 0.5) * (1.0 - np.eye(33))
    kernel = ResolventGraph(as_graph(sp.csr_array(weights)), 0.3)
    known = Constraints.from_pairs(33, must_link=[(0, 8), (17, 25)])
    with pytest.warns(GraphWarning):
        model = CSAP(2, safe=False, split_parts=False, affinity="precomputed", random_state=0).fit(
            kernel, constraints=known
        )
    assert isinstance(model.affinity_matrix_, JoinedResolventGraph)
    np.testing.assert_array_equal(model.affinity_matrix_.components, np.repeat([0, 1, -1], [16, 16, 1]))
    lonely = CSAP(2, safe=False, split_parts=False, affinity="precomputed", random_state=0).fit(
        kernel, constraints=Constraints.from_pairs(33, must_link=[(0, 32)])
    )
    assert not isinstance(lonely.affinity_matrix_, JoinedResolventGraph)
