"""Walks from labels, the likeliest names of clusters, and pieces joined to clusters with names."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from scipy.linalg import expm
from sklearn.datasets import load_digits

from sidecut import Constraints, PoissonMBO
from sidecut.constraints.closure import find_seeds
from sidecut.graphs import Neighbors, as_graph
from sidecut.methods.poisson.descent import EnergyPath, size_rule
from sidecut.methods.poisson.equation import SignedGraph
from sidecut.methods.poisson.mbo import LABEL_WEIGHT, SIZE_WEIGHT, score_start
from sidecut.methods.poisson.starts import (
    MIN_WALK_CHANCE,
    WALK_TIME,
    LabelWalks,
    NamedJoining,
    walks_from_labels,
)

N_PIECES, N_CLUSTERS, N_LABELS = 6, 3, 4


@pytest.fixture
def weights():
    rng = np.random.RandomState(0)
    upper = np.triu(rng.rand(12, 12), 1)
    return upper + upper.T


@pytest.fixture
def walks():
    rng = np.random.RandomState(1)
    return LabelWalks(
        rng.dirichlet(np.ones(30), N_LABELS).T, np.array([0, 1, 2, 1]), np.array([1, 0.5, 1, 1])
    )


@pytest.fixture
def joining(walks):
    rng = np.random.RandomState(2)
    exchange, sizes = rng.rand(N_PIECES, N_PIECES), rng.randint(2, 9, N_PIECES).astype(float)
    ends = walks.shares(np.arange(30) % N_PIECES, N_PIECES)

    def objective(within, size):
        return within / np.maximum(size, 1.0)

    none = np.zeros((N_PIECES, N_PIECES))
    return NamedJoining(none, exchange + exchange.T, sizes, N_CLUSTERS, objective, walks, ends, 2.0)


def test_walks_are_rows_of_the_exponential(weights):
    """The chance to end at i from label j is (exp(-t (I - D^-1 W)))_ji, and 0 at labelled points."""
    known = np.full(12, -1)
    known[[2, 7, 9]] = [0, 1, 1]
    constraints = Constraints.from_labels(known)
    walks = walks_from_labels(SignedGraph(as_graph(weights)), find_seeds(constraints, 2))
    exact = expm(-WALK_TIME * (np.eye(12) - weights / weights.sum(axis=1, keepdims=True)))[[2, 7, 9]].T
    exact[[2, 7, 9]] = 0.0
    assert np.allclose(walks.ends, exact, atol=3e-3)
    assert walks.cluster.tolist() == [0, 1, 1]


def test_likelihood_is_the_sum_of_logarithms(walks):
    labels = np.arange(30) % N_CLUSTERS
    own = [walks.ends[labels == c, j].sum() for j, c in enumerate(walks.cluster)]
    expected = float(np.sum(walks.weight * np.log(np.array(own) + MIN_WALK_CHANCE)))
    assert walks.likelihood(labels, N_CLUSTERS) == pytest.approx(expected)


def test_no_names_are_likelier(walks):
    labels = np.random.RandomState(3).randint(0, N_CLUSTERS, 30)
    named = walks.names(walks.shares(labels, N_CLUSTERS))[labels]
    values = [
        walks.likelihood(np.array(names)[labels], N_CLUSTERS)
        for names in itertools.permutations(range(N_CLUSTERS))
    ]
    assert walks.likelihood(named, N_CLUSTERS) == pytest.approx(max(values))
    assert max(values) > min(values) + 0.01


def test_gains_are_differences_of_values(joining):
    cluster = np.array([0, 1, 2, 0, 1, 2])
    gains = joining.gains(cluster)
    for piece, target in itertools.product(range(N_PIECES), range(N_CLUSTERS)):
        moved = cluster.copy()
        moved[piece] = target
        assert gains[piece, target] == pytest.approx(joining.value(moved) - joining.value(cluster), abs=1e-9)


def test_the_best_named_joining_of_all_is_found(joining):
    best = joining.best(np.random.RandomState(0))
    values = [
        joining.value(np.array(cluster))
        for cluster in itertools.product(range(N_CLUSTERS), repeat=N_PIECES)
        if len(set(cluster)) == N_CLUSTERS
    ]
    assert joining.value(best) == pytest.approx(max(values))


def test_names_follow_the_labels_not_the_numbers(walks):
    shares = walks.shares(np.arange(30) % N_CLUSTERS, N_CLUSTERS)
    names = walks.names(shares)
    turned = walks.names(shares[:, [1, 2, 0]])
    assert np.array_equal(turned, names[[1, 2, 0]])


def test_the_score_of_a_start_is_diffusion_kept_less_unlike_sizes_and_unlikely_labels(walks):
    labels = np.repeat([0, 1, 2], [15, 9, 6])
    path = EnergyPath(labels, energy_without_sizes=-12.0)
    by_labels = LABEL_WEIGHT * walks.likelihood(labels, N_CLUSTERS)
    found, shares = np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.3, 0.5])
    unknown = replace(size_rule(None, 30, N_CLUSTERS, 0.8), shares=shares)
    expected = 12 / 30 - SIZE_WEIGHT * np.sum(found * np.log(found / shares)) + by_labels
    assert score_start(path, unknown, walks) == pytest.approx(expected)
    # Given sizes are kept by every start.
    assert score_start(path, replace(unknown, strength=0.0), walks) == pytest.approx(12 / 30 + by_labels)


def test_a_label_at_the_edge_does_not_take_the_name_of_another_class():
    """Of each class an eighth is less typical than its label, by the share of neighbours of its own class.

    From labels spread alone the answer is .80 without sizes and .79 with them.
    """
    X, y = load_digits(return_X_y=True)
    graph = Neighbors(20).build(X)
    own = np.asarray([graph.matrix[y == c].sum(axis=0) for c in range(10)])[y, np.arange(len(y))]
    share = own / graph.degrees
    known = np.full(len(y), -1)
    for c in range(10):
        members = np.flatnonzero(y == c)
        edge = members[np.argsort(share[members])[len(members) // 8]]
        known[edge] = c
    constraints = Constraints.from_labels(known)
    order = known[known >= 0]
    for sizes in (None, np.bincount(y)[order]):
        model = PoissonMBO(10, affinity="precomputed", sizes=sizes, random_state=0)
        found = order[model.fit(graph, constraints=constraints).labels_]
        assert np.mean(found == y) > 0.9
