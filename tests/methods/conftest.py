"""Eq. 13 as it is printed, and cases to try it on."""

from dataclasses import dataclass

import numpy as np
import pytest
import scipy.linalg

from sidecut import Constraints
from sidecut.constraints import sample_labels, sample_pairs
from sidecut.graphs import Neighbors
from sidecut.methods.ncsc import PenalizedCut
from sidecut.methods.ncsc.descents import descend_multiplicatively
from sidecut.methods.ncsc.ncsc import start_indicators
from sidecut.methods.ncsc.objective import best_indicators


@dataclass(frozen=True)
class Printed:
    """The feasible eigenvectors of eq. 13, those of least cost first."""

    eigenvalues: np.ndarray
    costs: np.ndarray
    vectors: np.ndarray


def printed_matrices(graph, constraints, normalization="target"):
    """L̄ and Q̄ as dense arrays, by their definitions."""
    weights, beliefs = graph.toarray(), constraints.as_matrix().toarray()
    root = 1.0 / np.sqrt(weights.sum(axis=1))
    source = root if normalization == "target" else 1.0 / np.sqrt(beliefs.sum(axis=1))
    laplacian = np.eye(len(weights)) - root[:, None] * weights * root
    return laplacian, source[:, None] * beliefs * source


def solve_as_printed(graph, constraints, beta, normalization="target"):
    """Solve L̄ v = λ (Q̄ - β/vol I) v by the nonsymmetric QZ algorithm and keep λ > 0."""
    laplacian, beliefs = printed_matrices(graph, constraints, normalization)
    surplus = beliefs - beta / graph.volume * np.eye(graph.n_nodes)
    values, vectors = scipy.linalg.eig(laplacian, surplus)
    values, vectors = values.real, vectors.real / np.linalg.norm(vectors.real, axis=0)
    satisfied = np.einsum("ij,ij->j", vectors, surplus @ vectors) > 1e-9
    kept = satisfied & (values > 1e-10) & np.isfinite(values)
    values, vectors = values[kept], vectors[:, kept]
    costs = np.einsum("ij,ij->j", vectors, laplacian @ vectors)
    order = np.argsort(costs)
    return Printed(values[order], costs[order], vectors[:, order])


def clouds(n, n_clusters, seed, separation=2.0, n_neighbors=8):
    """A connected k-NN graph of Gaussian clouds, and which point is in which."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_clusters, n)
    centres = separation * rng.normal(size=(n_clusters, 3))
    graph = Neighbors(n_neighbors).build(rng.normal(size=(n, 3)) + centres[y])
    return (graph, y) if graph.n_components == 1 else clouds(n, n_clusters, seed, separation, n_neighbors + 8)


def beliefs_of(kind, y, seed):
    """Constraints of one kind among points of known clusters."""
    n, rng = len(y), np.random.default_rng(seed)
    if kind == "labels":
        return sample_labels(y, n // 5, random_state=seed)
    if kind == "pairs":
        return sample_pairs(y, 20, random_state=seed)
    if kind == "must":
        return Constraints.from_pairs(n, must_link=sample_pairs(y, 60, random_state=seed).must_link)
    if kind == "cannot":
        return Constraints.from_pairs(n, cannot_link=sample_pairs(y, 25, random_state=seed).cannot_link)
    if kind == "soft":
        return Constraints.from_matrix(_symmetric_block(rng, n, rng.normal(size=(15, 15))))
    if kind == "low rank":
        factor = np.zeros((n, 2))
        factor[: n // 3] = rng.normal(size=(n // 3, 2))
        return Constraints.from_matrix(factor @ factor.T)
    if kind == "graph":
        other = rng.normal(size=(n, 2)) + 3.0 * np.eye(max(y) + 2)[y][:, :2]
        return Constraints.from_graph(Neighbors(10).build(other).matrix)
    raise AssertionError(kind)


def _symmetric_block(rng, n, block):
    beliefs = np.zeros((n, n))
    points = rng.choice(n, len(block), replace=False)
    beliefs[np.ix_(points, points)] = block + block.T
    return beliefs


KINDS = ("labels", "pairs", "must", "cannot", "soft", "low rank", "graph")


@pytest.fixture(scope="session")
def as_printed():
    return solve_as_printed


@pytest.fixture(scope="session")
def matrices():
    return printed_matrices


@pytest.fixture(scope="session")
def make_clouds():
    return clouds


@pytest.fixture(scope="session")
def make_beliefs():
    return beliefs_of


@pytest.fixture(params=KINDS)
def kind(request):
    return request.param


@dataclass(frozen=True)
class PrintedUpdates:
    """A problem of NCSC, clusters to start from, and where the updates of eq. 11 lead from there."""

    cut: PenalizedCut
    labels: np.ndarray
    n_iter: int
    objective: float


def descend_as_printed(seed):
    """Three clouds with some labels, by eq. 11; its objective is eq. 6 with its clusters made feasible."""
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(3), 20)
    X = rng.normal(size=(60, 2)) + 3.0 * np.array([[0, 0], [1, 0], [0, 1.0]])[y]
    known = Constraints.from_labels(np.where(rng.random(60) < 0.2, y, -1))
    cut = PenalizedCut(Neighbors(10).build(X), known, 1.0, 1.0)
    labels = np.where(rng.random(60) < 0.1, rng.integers(0, 3, 60), y)
    slow = descend_multiplicatively(
        cut, start_indicators(cut, labels, 3), tol=1e-6, max_iter=3000, rng=np.random.RandomState(0)
    )
    V = np.sqrt(cut.degrees)[:, None] * slow.indicators
    feasible = best_indicators(cut, V.argmax(axis=1), V.max(axis=1), 3, 1e-12).block()
    return PrintedUpdates(cut, labels, slow.n_iter, float(np.sum(feasible * cut.apply_normalized(feasible))))


@pytest.fixture
def printed_updates():
    return descend_as_printed
