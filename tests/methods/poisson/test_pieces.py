from itertools import product

import numpy as np
import pytest
from scipy.linalg import expm
from sklearn.datasets import load_digits, make_blobs
from sklearn.metrics import adjusted_rand_score

from sidecut import Constraints, NormalizedCut, PoissonLearning, PoissonMBO
from sidecut.constraints import sample_pairs
from sidecut.exceptions import GraphWarning
from sidecut.graphs import Neighbors, as_graph
from sidecut.methods.poisson import starts as pieces
from sidecut.methods.poisson.descent import SizeRule
from sidecut.methods.poisson.equation import SignedGraph
from sidecut.methods.poisson.starts import (
    Joining,
    diffusion_between,
    find_pieces,
    join_pieces,
    number_of_pieces,
    objectives,
    predict_links,
    pull_of_links,
)

N_PIECES, N_CLUSTERS = 7, 3
OBJECTIVES = objectives(100, N_CLUSTERS)


def a_joining(seed, objective):
    rng = np.random.default_rng(seed)
    pull, exchange = rng.normal(size=(2, N_PIECES, N_PIECES))
    sizes = rng.multinomial(93, np.full(N_PIECES, 1 / N_PIECES)) + 1.0
    return Joining(10 * (pull + pull.T), 2 * np.abs(exchange + exchange.T), sizes, N_CLUSTERS, objective)


def all_joinings():
    return [np.array(z) for z in product(range(N_CLUSTERS), repeat=N_PIECES) if len(set(z)) == N_CLUSTERS]


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_the_worth_of_a_joining_is_that_of_its_clusters(objective):
    joining = a_joining(0, objective)
    cluster = np.array([0, 1, 2, 0, 1, 0, 2])
    expected = 0.0
    for c in range(N_CLUSTERS):
        members = np.flatnonzero(cluster == c)
        for a in members:
            expected += 0.5 * sum(joining.pull[a, b] for b in members)
        expected += objective(joining.exchange[np.ix_(members, members)].sum(), joining.sizes[members].sum())
    assert joining.value(cluster) == pytest.approx(expected)


def test_both_worths_agree_where_sizes_are_even():
    """Apart from a constant: the price is that of the energy, with even shares."""
    rule = SizeRule(90, np.zeros(3, int), np.full(3, 90), np.full(3, 1 / 3), pieces.SIZE_PENALTY)
    energy, association = objectives(90, 3)
    for sizes in ([30, 30, 30], [60, 20, 10]):
        cost = -sum(energy(0.0, float(n)) for n in sizes)
        assert cost == pytest.approx(rule.cost(np.array(sizes)))
    assert energy(12.0, 30.0) - energy(0.0, 30.0) == pytest.approx(association(12.0, 30.0))
    assert association(12.0, 15.0) == pytest.approx(2 * association(12.0, 30.0))


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_gains_are_differences_of_worth(objective):
    joining = a_joining(1, objective)
    cluster = np.array([0, 0, 1, 1, 1, 0, 2])
    gains = joining.gains(cluster)
    for piece, target in product(range(N_PIECES), range(N_CLUSTERS)):
        if piece == 6:
            assert gains[piece, target] == -np.inf
            continue
        moved = cluster.copy()
        moved[piece] = target
        assert gains[piece, target] == pytest.approx(joining.value(moved) - joining.value(cluster))


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_the_best_of_all_joinings_is_found(objective):
    for seed in range(6):
        joining = a_joining(seed, objective)
        best = max(joining.value(z) for z in all_joinings())
        start = joining.greedy()
        assert set(start) == set(range(N_CLUSTERS))
        assert joining.value(joining.raised(start)) >= joining.value(start)
        assert joining.value(joining.best(np.random.RandomState(0))) == pytest.approx(best)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_the_first_groups_joined_are_those_that_gain_most(objective):
    joining = a_joining(2, objective)
    one_less = Joining(joining.pull, joining.exchange, joining.sizes, N_PIECES - 1, objective)
    together = one_less.greedy()
    apart = Joining(joining.pull, joining.exchange, joining.sizes, N_PIECES, objective).value(
        np.arange(N_PIECES)
    )
    values = []
    for a in range(N_PIECES):
        for b in range(a):
            z = np.arange(N_PIECES)
            z[a] = b
            values.append(one_less.value(np.unique(z, return_inverse=True)[1]) - apart)
    assert one_less.value(together) - apart == pytest.approx(max(values))


def test_pieces_exchange_by_diffusion(monkeypatch):
    monkeypatch.setattr(pieces, "MAX_COLUMNS", 3)
    rng = np.random.default_rng(0)
    weights = np.triu(rng.random((12, 12)), 1)
    graph = as_graph(weights + weights.T)
    piece = np.arange(12) % 4
    members = np.eye(4)[piece]
    laplacian = SignedGraph(graph).laplacian(np.eye(12))
    expected = members.T @ expm(-pieces.EXCHANGE_TIME * laplacian) @ members
    np.testing.assert_allclose(diffusion_between(graph, piece), expected, atol=0.01)


def test_beliefs_pull_by_their_share():
    known = Constraints.from_pairs(
        6, must_link=[(0, 2)], cannot_link=[(1, 4), (3, 5)], cannot_weight=[0.5, 0.5]
    )
    pull = pull_of_links(np.array([0, 0, 1, 1, 2, 2]), known)
    np.testing.assert_allclose(pull, [[0, 0.5, -0.25], [0.5, 0, -0.25], [-0.25, -0.25, 0]])


@pytest.mark.parametrize(
    ("n_points", "n_clusters", "n_pairs", "expected"),
    [(5000, 10, 20, 50), (5000, 10, 700, 70), (5000, 10, 4000, 100), (100, 10, 4000, 20), (8, 4, 5, 4)],
)
def test_more_knowledge_makes_more_pieces(n_points, n_clusters, n_pairs, expected):
    assert number_of_pieces(n_points, n_clusters, n_pairs) == expected


def test_pieces_are_purer_than_clusters_and_pairs_join_them_rightly():
    X, y = load_digits(return_X_y=True)
    graph = Neighbors(20).build(X)
    rng = np.random.RandomState(0)
    piece = find_pieces(graph, 10, 0, "auto", rng).piece
    assert piece.max() == 49
    counts = np.zeros((50, 10))
    np.add.at(counts, (piece, y), 1)
    assert counts.max(axis=1).sum() > 0.95 * len(y)
    cut = NormalizedCut(10, affinity="precomputed", random_state=0).fit(graph)
    known = sample_pairs(y, 300, random_state=0)
    pieces = find_pieces(graph, 10, known.n_independent_pairs, "auto", rng)
    joined = join_pieces(pieces, known, 10, rng)
    assert len(joined) == 2
    assert all(predict_links(pieces, known, 10, cut.labels_))
    for labels in joined:
        assert adjusted_rand_score(y, labels) > adjusted_rand_score(y, cut.labels_) + 0.08


def test_points_that_look_alike_make_fewer_pieces_than_clusters():
    graph = as_graph(np.ones((6, 6)) - np.eye(6))
    known = Constraints.from_pairs(6, cannot_link=[(0, 1)])
    rng = np.random.RandomState(0)
    joined = join_pieces(find_pieces(graph, 3, 1, "auto", rng), known, 3, rng)
    assert all(len(np.unique(labels)) == 3 for labels in joined)


def test_joinings_by_links_that_predict_no_other_links_are_no_start():
    """Overlapping clusters in many dimensions: pieces are not pure, and pairs join what is not alike."""
    X, y = make_blobs(1500, 64, centers=20, cluster_std=4.0, center_box=(-3, 3), random_state=0)
    graph, known = Neighbors(20).build(X), sample_pairs(y, 500, random_state=0)
    cut = NormalizedCut(20, affinity="precomputed", random_state=0).fit(graph).labels_
    rng = np.random.RandomState(0)
    pieces = find_pieces(graph, 20, known.n_independent_pairs, "auto", rng)
    assert max(known.agreement(labels) for labels in join_pieces(pieces, known, 20, rng)) > 0.9
    assert not any(predict_links(pieces, known, 20, cut))
    for method in (PoissonMBO, PoissonLearning):
        model = method(20, affinity="precomputed", safe=False, random_state=0)
        found = model.fit(graph, constraints=known).labels_
        assert adjusted_rand_score(y, found) > adjusted_rand_score(y, cut) - 0.02


def test_links_of_one_kind_are_held_out_too():
    X, y = make_blobs(600, 64, centers=10, cluster_std=5.0, center_box=(-3, 3), random_state=0)
    graph, links = Neighbors(20).build(X), sample_pairs(y, 3_000, random_state=0)
    known = Constraints.from_pairs(len(y), must_link=links.must_link)
    pieces = find_pieces(graph, 10, known.n_independent_pairs, "auto", np.random.RandomState(0))
    assert not any(predict_links(pieces, known, 10, y))
    # One large cluster satisfies most must-links, and says nothing: the second joining is such.
    assert predict_links(pieces, known, 10, np.arange(600) % 10) == [True, False]


def test_components_are_pieces_and_pairs_join_them():
    """Sixty groups far apart, of three classes: eigenvectors know nothing of the classes, pairs do."""
    X, group = make_blobs(1_200, 3, centers=60, center_box=(-500.0, 500.0), random_state=0)
    y, graph = group % 3, Neighbors(8).build(X)
    assert graph.n_components >= 60
    known = sample_pairs(y, 1_200, random_state=0)
    found = find_pieces(graph, 3, known.n_independent_pairs, "auto", np.random.RandomState(0))
    np.testing.assert_array_equal(found.piece, graph.components)
    np.testing.assert_allclose(found.exchange, diffusion_between(graph, found.piece), atol=1e-9)
    model = PoissonMBO(3, affinity="precomputed", random_state=0)
    with pytest.warns(GraphWarning, match="60 connected components"):
        model.fit(graph, constraints=known)
    assert adjusted_rand_score(y, model.labels_) > 0.99
