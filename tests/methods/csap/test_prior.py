"""K is a covariance as a whole, so that no affinity exceeds √(K_ii K_jj)."""

from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import make_moons

from sidecut import CSAP, Constraints
from sidecut.constraints import sample_labels, sample_pairs
from sidecut.datasets import make_example
from sidecut.evaluation import adjusted_rand_index
from sidecut.graphs import Cosine, Gaussian, Heat, Neighbors, Resolvent, SelfTuning, as_graph
from sidecut.methods import Task
from sidecut.methods.csap import graph as priors
from sidecut.methods.csap.graph import make_prior, smallest_eigenpair

# The methods themselves are tested here; the guard has tests of its own.
CSAP = partial(CSAP, safe=False)

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
RECIPES = {
    "neighbours": Neighbors(6),
    "binary": Neighbors(4, weights="binary"),
    "self-tuning": SelfTuning(),
    "gaussian": Gaussian(),
    "loops": Gaussian(0.5, self_loops=True),
    "heat": Heat(3.0),
    "resolvent": Resolvent(0.3),
    "cosine": Cosine(),
}


def covariance(graph, prior):
    kernel = graph.toarray()
    kernel[np.diag_indices(len(kernel))] += prior.added
    return kernel


def dense(columns):
    return columns.toarray() if sp.issparse(columns) else columns


@pytest.mark.parametrize("n_points", [2, 12, 60])
@pytest.mark.parametrize("name", RECIPES)
def test_the_whole_is_positive_semidefinite(name, n_points):
    data = np.abs(X) if name == "cosine" else X
    graph = RECIPES[name].build(data)
    points = RNG.permutation(60)[:n_points]
    prior = make_prior(graph, points)
    columns = dense(prior.columns)
    # Heat and resolvent are only applied: their loops are in the columns and nothing is added.
    kernel = graph.toarray() if name in ("heat", "resolvent") else covariance(graph, prior)
    np.testing.assert_allclose(columns, kernel[:, points], atol=1e-12)
    assert np.linalg.eigvalsh(kernel)[0] > -1e-10


@given(seed=st.integers(0, 10_000), lanczos=st.booleans())
@settings(max_examples=40, deadline=None)
def test_any_graph_and_any_links(seed, lanczos):
    """|K̄_ij| ≤ √(K_ii K_jj) for random sparse graphs and correct or random labels, hard as they come."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(5, 40))
    weights = np.triu(rng.random((n, n)) * (rng.random((n, n)) < rng.uniform(0.1, 0.6)), 1)
    graph = as_graph(sp.csr_array(weights + weights.T))
    labels = np.where(rng.random(n) < 0.5, rng.integers(0, 3, n), -1)
    labels[:2] = 0
    known = Constraints.from_labels(labels)
    small = priors.DENSE_NODES
    try:
        priors.DENSE_NODES = 4 if lanczos and n > 25 else small
        prior = make_prior(graph, np.flatnonzero(labels >= 0))
        model = CSAP(2, affinity="precomputed", algorithm="B", n_affinities=None, random_state=0)
        task = Task(None, graph, known, model.n_clusters, seed=0)
        affinity = model._condition(task)[0].toarray()
    finally:
        priors.DENSE_NODES = small
    kernel = covariance(graph, prior)
    assert np.linalg.eigvalsh(kernel)[0] > -1e-9
    bound = np.sqrt(np.outer(np.diagonal(kernel), np.diagonal(kernel)))
    assert (affinity <= bound * (1 + 1e-9)).all()


def test_five_nodes():
    """The smallest case where it is not enough that K is a covariance on the linked points."""
    weights = np.zeros((5, 5))
    for i, j in ((0, 1), (1, 2), (0, 3), (1, 4)):
        weights[i, j] = weights[j, i] = 1.0
    known = Constraints.from_pairs(5, must_link=[(0, 1), (1, 2), (0, 2)])
    for algorithm in "AB":
        for form in (weights, sp.csr_array(weights)):
            model = CSAP(2, safe=False, algorithm=algorithm, affinity="precomputed", random_state=0)
            affinity = model.fit(form, constraints=known).affinity_matrix_.toarray()
            prior = make_prior(as_graph(weights), np.array([0, 1, 2]))
            kernel = covariance(as_graph(weights), prior)
            assert np.linalg.eigvalsh(kernel)[0] > 0
            assert affinity.max() <= np.diagonal(kernel).max()
            assert affinity[3, 4] < 1.0


def test_linked_points_are_raised_by_no_more_than_is_needed():
    graph = Neighbors(6).build(X)
    points = np.arange(20)
    prior = make_prior(graph, points)
    whole = -smallest_eigenpair(graph, np.ones(60))[0]
    assert 0 < prior.shift < whole
    kernel = covariance(graph, prior)
    kernel[points, points] -= 2 * priors.MARGIN * whole
    assert np.linalg.eigvalsh(kernel)[0] < 0


def test_lanczos_finds_the_smallest_eigenvalue(monkeypatch):
    graph = Neighbors(6).build(X)
    expected = np.linalg.eigvalsh(graph.toarray() + np.diag(np.linspace(0, 1, 60)))[0]
    monkeypatch.setattr(priors, "DENSE_NODES", 5)
    value, vector = smallest_eigenpair(graph, np.linspace(0, 1, 60))
    assert value == pytest.approx(expected, abs=1e-5)
    assert np.linalg.norm(vector) == pytest.approx(1.0)
    # A start near another eigenvector leads there as well.
    other = np.linalg.eigh(graph.toarray() + np.diag(np.linspace(0, 1, 60)))[1][:, 3]
    again, _ = smallest_eigenpair(graph, np.linspace(0, 1, 60), near=other)
    assert again == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize(
    ("name", "least"), [("wine", 0.88), ("iris", 0.80), ("moons", 0.90), ("digits", 0.88)]
)
def test_sixty_labels(name, least):
    """Wine had .40 with sixty labels when only the linked points were a covariance, iris .64."""
    example = make_example(name, standardize=name in ("wine", "iris"))
    points, classes = example.X[:600], example.y[:600]
    graph = Neighbors(20).build(points)
    model = CSAP(len(np.unique(classes)), safe=False, affinity="precomputed", random_state=0)
    scores = []
    for draw in range(4):
        known = sample_labels(classes, 60, random_state=draw)
        labels = model.fit(graph, constraints=known).labels_
        scores.append(adjusted_rand_index(classes, labels, constraints=known))
    assert np.mean(scores) > least


@pytest.mark.parametrize("algorithm", ["A", "B"])
def test_two_hundred_pairs_on_two_moons(algorithm):
    """Algorithm A had .01: half a million affinities next to nothing outweighed the graph."""
    moons, side = make_moons(2_000, noise=0.1, random_state=0)
    known = sample_pairs(side, 200, random_state=1)
    model = CSAP(2, safe=False, algorithm=algorithm, random_state=0).fit(moons, constraints=known)
    assert adjusted_rand_index(side, model.labels_, constraints=known) > 0.98
