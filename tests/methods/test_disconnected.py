"""Graphs in several components: cuts between them cost nothing, and must not be lost as λ = 0."""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from scipy.linalg import block_diag

from sidecut import CSP, Constraints
from sidecut.constraints import sample_labels
from sidecut.exceptions import ConstraintError
from sidecut.graphs import as_graph
from sidecut.methods.csp import pencil as davidson
from sidecut.methods.csp.cuts import feasible_cuts
from sidecut.methods.csp.pencil import ConstrainedPencil, reached_null
from sidecut.spectral.laplacian import LaplacianProblem


@pytest.fixture(params=["dense", "fast"])
def path(request, monkeypatch):
    monkeypatch.setattr(davidson, "DENSE_NODES", {"dense": 10_000, "fast": 0}[request.param])
    return request.param


def pieces(make_clouds, n_pieces, bridge=0.0, size=60):
    """A graph of several pieces, joined in a chain by weak edges or not at all."""
    joined = sp.lil_array(sp.block_diag([make_clouds(size, 1, seed=k)[0].matrix for k in range(n_pieces)]))
    for k in range(n_pieces - 1):
        a, b = k * size, (k + 1) * size
        joined[a, b] = joined[b, a] = bridge
    return as_graph(sp.csr_array(joined)), np.repeat(np.arange(n_pieces), size)


def test_the_perfect_cut_comes_first_and_costs_nothing(path, make_clouds, matrices):
    graph, y = pieces(make_clouds, 2)
    # The indicator of the pieces satisfies c² of β = f λ vol, about f c n: enough labels, or a small f.
    known = sample_labels(y, 40, random_state=0)
    cuts = feasible_cuts(graph, known, ("fraction", 0.2))
    assert cuts.costs[0] == cuts.eigenvalues[0] == 0.0
    side = cuts.vectors[:, 0] / np.sqrt(graph.degrees)
    assert np.ptp(side[y == 0]) < 1e-9
    assert np.ptp(side[y == 1]) < 1e-9
    assert side[0] * side[-1] < 0
    # B-orthogonal to the trivial vector, with a positive surplus.
    _, beliefs = matrices(graph, known)
    weighed = beliefs @ cuts.vectors - cuts.beta / graph.volume * cuts.vectors
    np.testing.assert_allclose(np.sqrt(graph.degrees) @ weighed / graph.volume, 0, atol=1e-9)
    assert np.all(cuts.satisfactions > cuts.beta)


@pytest.mark.parametrize("n_pieces", [2, 3, 4])
def test_a_vanishing_bridge_leads_to_the_same_cuts(path, n_pieces, make_clouds):
    parted, y = pieces(make_clouds, n_pieces)
    bridged, _ = pieces(make_clouds, n_pieces, bridge=1e-7)
    # A label or two in the wrong piece, so that there are cuts that cost something too.
    y = y.copy()
    y[5], y[-5] = (y[5] + 1) % n_pieces, (y[-5] + 1) % n_pieces
    known = sample_labels(y, 40, random_state=1)
    beta = 0.3 * feasible_cuts(parted, known, ("fraction", 0.25), n_clusters=n_pieces).beta
    one, other = (feasible_cuts(graph, known, beta, tol=1e-9) for graph in (parted, bridged))
    assert one.n_feasible == other.n_feasible
    np.testing.assert_allclose(one.costs, other.costs, atol=1e-5)
    assert scipy.linalg.subspace_angles(one.vectors, other.vectors).max() < 1e-3


def test_the_count_is_exact_and_the_subspace_that_of_dense_algebra(path, make_clouds, matrices):
    graph, _ = pieces(make_clouds, 3)
    rng = np.random.default_rng(3)
    points = rng.choice(180, 30, replace=False)
    beliefs = np.zeros((180, 180))
    beliefs[np.ix_(points, points)] = rng.normal(size=(30, 30))
    known = Constraints.from_matrix(beliefs + beliefs.T)
    cuts = feasible_cuts(graph, known, ("fraction", 0.3), tol=1e-9)
    laplacian, normalized = matrices(graph, known)
    shifted = normalized - cuts.beta / graph.volume * np.eye(180)
    above = np.count_nonzero(np.linalg.eigvalsh(normalized) > cuts.beta / graph.volume)
    assert cuts.n_feasible == cuts.costs.size == above - int(known.as_matrix().sum() > cuts.beta)
    # A regularised pencil, (L̄ + εI) v = λ B v: its positive eigenvectors tend to those of λ ≥ 0.
    trivial = np.sqrt(graph.degrees)[:, None]
    free = scipy.linalg.null_space((shifted @ trivial).T)
    values, vectors = scipy.linalg.eigh(
        free.T @ shifted @ free, free.T @ laplacian @ free + 1e-11 * np.eye(179)
    )
    feasible = free @ vectors[:, values > 0]
    assert feasible.shape[1] == cuts.n_feasible
    assert scipy.linalg.subspace_angles(cuts.vectors, feasible).max() < 1e-4


def test_the_number_of_components_hardly_matters(path):
    # 300 triangles; labels on 20 of them, half against half.
    triangle = np.ones((3, 3)) - np.eye(3)
    graph = as_graph(sp.csr_array(block_diag(*[triangle] * 300)))
    labels = np.full(900, -1)
    labels[: 20 * 3 : 3] = np.arange(20) % 2
    known = Constraints.from_labels(labels)
    cuts = feasible_cuts(graph, known)
    assert cuts.n_feasible == 1
    side = cuts.vectors[:, 0].reshape(300, 3)
    assert np.ptp(side, axis=1).max() < 1e-9
    assert np.array_equal(side[:20, 0] > 0, labels[:60:3] == 0) or np.array_equal(
        side[:20, 0] > 0, labels[:60:3] == 1
    )
    np.testing.assert_allclose(side[20:], side[20, 0], atol=1e-9)


def test_components_without_constraints_are_one_column():
    triangle = np.ones((3, 3)) - np.eye(3)
    problem = LaplacianProblem(as_graph(sp.csr_array(block_diag(*[triangle] * 50))))
    beliefs = np.zeros((150, 150))
    beliefs[np.ix_([0, 3], [0, 3])] = [[0, -1], [-1, 0]]
    whole = ConstrainedPencil(problem, lambda x: beliefs @ x, 0.1, problem.null)
    reached = reached_null(problem.graph, np.array([0, 3]))
    small = ConstrainedPencil(problem, lambda x: beliefs @ x, 0.1, reached)
    assert (whole.null.shape[1], small.null.shape[1]) == (50, 3)
    np.testing.assert_allclose(np.linalg.norm(small.null.toarray(), axis=0), 1)
    np.testing.assert_allclose(whole.component_cuts()[0], small.component_cuts()[0], atol=1e-12)
    block = problem.project(np.random.default_rng(0).normal(size=(150, 4)))
    np.testing.assert_allclose(whole.complete(block), small.complete(block), atol=1e-12)


def test_isolated_points_take_no_part(make_clouds):
    inner, y = make_clouds(80, 2, seed=0)
    graph = as_graph(sp.csr_array(sp.block_diag([inner.matrix, sp.csr_array((3, 3))])))
    labels = np.full(83, -1)
    labels[:80:6] = y[::6]
    alone = feasible_cuts(inner, Constraints.from_labels(labels[:80]))
    labels[80:] = [0, 1, 1]
    cuts = feasible_cuts(graph, Constraints.from_labels(labels), alone.beta)
    np.testing.assert_allclose(cuts.costs, alone.costs, atol=1e-9)
    np.testing.assert_allclose(np.abs(cuts.vectors[:80]), np.abs(alone.vectors), atol=1e-6)
    np.testing.assert_array_equal(cuts.vectors[80:], 0.0)


def test_constraints_on_isolated_points_alone_say_nothing(make_clouds):
    inner, _ = make_clouds(60, 2, seed=0)
    graph = as_graph(sp.csr_array(sp.block_diag([inner.matrix, sp.csr_array((2, 2))])))
    with pytest.raises(ConstraintError, match="neighbours"):
        feasible_cuts(graph, Constraints.from_pairs(62, cannot_link=[(60, 61)]))


def test_the_estimator_finds_clusters_that_are_components(make_clouds):
    graph, y = pieces(make_clouds, 2)
    known = sample_labels(y, 60, random_state=0)
    # A small share, as above: β must be within reach of the indicator of the pieces.
    model = CSP(2, beta=("fraction", 0.2), affinity="precomputed", random_state=0)
    model.fit(graph.matrix, constraints=known)
    assert len({tuple(pair) for pair in zip(model.labels_, y, strict=True)}) == 2
    assert model.costs_[0] == 0.0
