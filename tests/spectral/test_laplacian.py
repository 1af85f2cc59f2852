import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import block_diag
from scipy.sparse.linalg import eigsh
from sklearn.datasets import make_moons

from sidecut.datasets import stochastic_block_graph
from sidecut.exceptions import SpectralError, SpectralWarning
from sidecut.graphs import DenseGraph, GaussianGraph, Neighbors, SparseGraph, TiledGraph, as_graph
from sidecut.spectral import laplacian as front_door
from sidecut.spectral import laplacian_eigenpairs

SOLVERS = ["dense", "lanczos", "factorized", "iterated"]


@st.composite
def weighted_graphs(draw, max_nodes=16):
    """Weights over several orders of magnitude, components, isolated nodes and self-loops."""
    n = draw(st.integers(1, max_nodes))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    present = rng.random((n, n)) < draw(st.floats(0, 0.6))
    upper = np.triu(present * 10.0 ** rng.uniform(-2, 2, (n, n)), 1)
    loops = np.diag(rng.random(n) * (rng.random(n) < 0.2))
    return upper + upper.T + loops


def certified(graph, n_vectors, **options):
    """Solve; a warning that the certificate falls short is an answer too, as long as it is given."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", SpectralWarning)
        pairs = laplacian_eigenpairs(graph, n_vectors, random_state=0, **options)
    return pairs, bool(caught)


@pytest.mark.parametrize("solver", ["auto", *SOLVERS])
@settings(max_examples=40, deadline=None)
@given(weights=weighted_graphs(), data=st.data())
def test_random_graphs_have_the_eigenpairs_of_lapack(solver, weights, data, textbook):
    graph = SparseGraph(sp.csr_array(weights))
    n_vectors = data.draw(st.integers(1, graph.n_nodes))
    laplacian = textbook.dense_laplacian(weights)
    values, vectors = np.linalg.eigh(laplacian)
    try:
        pairs, warned = certified(graph, n_vectors, solver=solver)
    except SpectralError:
        # Lanczos cannot work where its whole operator is a multiple of the identity; it must say so.
        assert solver == "lanczos"
        return
    textbook.assert_truthful(pairs, laplacian)
    if not warned:
        textbook.assert_same_eigenspaces(pairs.values, pairs.vectors, values, vectors, gap=1e-5, atol=1e-5)


@pytest.mark.parametrize("form", ["dense", "applied"])
@settings(max_examples=30, deadline=None)
@given(weights=weighted_graphs(), data=st.data())
def test_every_form_of_a_graph(form, weights, data, textbook):
    graph = DenseGraph(weights) if form == "dense" else textbook.AppliedGraph(weights)
    n_vectors = data.draw(st.integers(1, graph.n_nodes))
    laplacian = textbook.dense_laplacian(weights)
    pairs = laplacian_eigenpairs(graph, n_vectors)
    values, vectors = np.linalg.eigh(laplacian)
    textbook.assert_truthful(pairs, laplacian)
    textbook.assert_same_eigenspaces(pairs.values, pairs.vectors, values, vectors, gap=1e-5, atol=1e-5)
    assert pairs.certificate.is_proof


DEGENERATE = {
    "complete": lambda t: np.ones((40, 40)) - np.eye(40),
    "ring": lambda t: t.ring(60).toarray(),
    "identical cliques in a ring": lambda t: identical_cliques(6, 8),
    "star": lambda t: star(50),
    "bipartite": lambda t: sp.block_array([[None, np.ones((20, 30))], [np.ones((30, 20)), None]]).toarray(),
    "torus": lambda t: (sp.kronsum(t.ring(8), t.ring(8))).toarray(),
}  # fmt: skip


def identical_cliques(n_cliques, size):
    weights = np.kron(np.eye(n_cliques), np.ones((size, size)) - np.eye(size))
    for c in range(n_cliques):
        i, j = c * size, ((c + 1) % n_cliques) * size + 1
        weights[i, j] = weights[j, i] = 0.1
    return weights


def star(n):
    weights = np.zeros((n, n))
    weights[0, 1:] = weights[1:, 0] = 1.0
    return weights


@pytest.mark.parametrize("n_vectors", [2, 3, 4, 7])
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("name", DEGENERATE)
def test_multiple_eigenvalues(name, solver, n_vectors, textbook):
    weights = DEGENERATE[name](textbook)
    laplacian = textbook.dense_laplacian(weights)
    pairs, warned = certified(as_graph(sp.csr_array(weights)), n_vectors, solver=solver)
    textbook.assert_truthful(pairs, laplacian)
    if not warned:
        values, vectors = np.linalg.eigh(laplacian)
        textbook.assert_same_eigenspaces(pairs.values, pairs.vectors, values, vectors, gap=1e-5, atol=1e-4)


@pytest.mark.parametrize("n_vectors", [1, 3, 4])
def test_null_vectors_are_exact_and_the_largest_components_come_first(n_vectors):
    blocks = [np.ones((size, size)) for size in (3, 5, 4)]
    graph = SparseGraph(sp.csr_array(block_diag(*blocks, 0.0)))
    pairs = laplacian_eigenpairs(graph, n_vectors)
    for column, members in zip(pairs.vectors.T[:3], [slice(3, 8), slice(8, 12), slice(0, 3)], strict=False):
        expected = np.zeros(13)
        expected[members] = 1 / np.sqrt(members.stop - members.start)
        np.testing.assert_allclose(column, expected, rtol=1e-15)
    assert np.all(pairs.values[:3] == 0)
    assert pairs.certificate.is_proof
    if n_vectors <= 3:
        assert pairs.certificate.method == "components"
        assert "3 connected components" in str(pairs.certificate)


def test_thirty_components(textbook):
    graph = SparseGraph(sp.block_diag([textbook.ring(40) for _ in range(30)], format="csr"))
    pairs = laplacian_eigenpairs(graph, 34, random_state=0)
    assert np.all(pairs.values[:30] == 0)
    np.testing.assert_allclose(pairs.values[30:], 1 - np.cos(2 * np.pi / 40), rtol=1e-7)
    np.testing.assert_allclose(pairs.vectors.T @ pairs.vectors, np.eye(34), atol=1e-8)


def test_a_graph_without_edges():
    pairs = laplacian_eigenpairs(SparseGraph(sp.csr_array((5, 5))), 5)
    np.testing.assert_array_equal(pairs.values, np.ones(5))
    np.testing.assert_allclose(pairs.vectors.T @ pairs.vectors, np.eye(5), atol=1e-14)


def ring_values(n, count):
    return np.sort(1 - np.cos(2 * np.pi * np.arange(n) / n))[:count]


@pytest.mark.parametrize("n_vectors", [2, 3, 6])
def test_a_long_ring_has_pairs_of_eigenvalues(n_vectors, textbook):
    pairs = laplacian_eigenpairs(SparseGraph(textbook.ring(3_000)), n_vectors, random_state=0)
    np.testing.assert_allclose(pairs.values, ring_values(3_000, n_vectors), rtol=1e-6, atol=1e-15)
    assert pairs.certificate.is_proof


def test_a_long_path(textbook):
    n = 5_000
    pairs = laplacian_eigenpairs(SparseGraph(textbook.grid(n)), 8, random_state=0)
    expected = 1 - np.cos(np.pi * np.arange(8) / (n - 1))
    np.testing.assert_allclose(pairs.values, expected, rtol=1e-6, atol=1e-15)
    assert pairs.certificate.is_proof
    assert "exactly" in pairs.certificate.detail


def test_a_large_star():
    n = 2_000
    graph = SparseGraph(sp.csr_array(star(n)))
    pairs = laplacian_eigenpairs(graph, 4, random_state=0)
    np.testing.assert_allclose(pairs.values, [0, 1, 1, 1], atol=1e-9)
    assert np.abs(pairs.vectors[0, 1:]).max() < 1e-7  # the hub takes no part in them


@pytest.fixture(scope="module")
def moons():
    # Three near-zero eigenvalues beside one exact one for each component.
    X, _ = make_moons(20_000, noise=0.08, random_state=3)
    return Neighbors(10).build(X)


def test_two_moons_of_many_points(moons):
    pairs = laplacian_eigenpairs(moons, 5, random_state=0)
    scale = sp.diags_array(1 / np.sqrt(moons.degrees))
    laplacian = sp.csc_array(sp.eye_array(20_000) - scale @ moons.matrix @ scale)
    start = np.random.default_rng(1).standard_normal(20_000)
    values, vectors = eigsh(laplacian, 5, sigma=-1e-7, v0=start, tol=1e-12)
    order = np.argsort(values)
    assert values[order][3] < 1e-3
    np.testing.assert_allclose(pairs.values, values[order], rtol=1e-5, atol=1e-12)
    cosines = np.linalg.svd(vectors.T @ pairs.vectors, compute_uv=False)
    np.testing.assert_allclose(cosines, 1.0, atol=1e-6)
    assert pairs.certificate.is_proof
    assert pairs.residuals.max() < 1e-9


def blocks_on_weak_bridges(textbook, n_blocks=6, size=400, weight=1e-4):
    return textbook.chained([textbook.regular(size, 8, b) for b in range(n_blocks)], weight)


@pytest.mark.parametrize("solver", ["lanczos", "factorized", "iterated"])
def test_blocks_on_weak_bridges(solver, textbook):
    graph = blocks_on_weak_bridges(textbook)
    pairs = laplacian_eigenpairs(graph, 6, solver=solver, random_state=0)
    values = np.linalg.eigvalsh(textbook.dense_laplacian(graph.matrix))
    assert values[5] < 1e-5 < 0.1 < values[6]
    np.testing.assert_allclose(pairs.values, values[:6], atol=1e-12)
    assert pairs.certificate.complete


def test_blocks_too_dear_to_factorise(textbook, monkeypatch):
    monkeypatch.setattr(front_door, "MAX_FACTOR_WORK", 0.0)
    monkeypatch.setattr(front_door, "LAST_RESORT_NODES", 0)
    monkeypatch.setattr(front_door, "solve_lanczos", textbook.failing("no Lanczos"))
    adjacency, _ = stochastic_block_graph([500] * 4, 0.03, 0.0, random_state=0)
    blocks = [adjacency[500 * b : 500 * (b + 1)][:, 500 * b : 500 * (b + 1)] for b in range(4)]
    graph = textbook.chained(blocks, 1e-3)
    assert graph.n_components == 1
    pairs = laplacian_eigenpairs(graph, 4, random_state=0)
    values = np.linalg.eigvalsh(textbook.dense_laplacian(graph.matrix))
    np.testing.assert_allclose(pairs.values, values[:4], atol=1e-12)
    assert pairs.solver.startswith("shift-invert (")
    assert pairs.certificate.complete
    assert pairs.certificate.method == "random start"


def test_multigrid_on_a_grid_too_dear_to_factorise(textbook, monkeypatch):
    monkeypatch.setattr(front_door, "MAX_FACTOR_WORK", 0.0)
    monkeypatch.setattr(front_door, "LAST_RESORT_NODES", 0)
    graph = SparseGraph(textbook.grid(400, 20))
    pairs = laplacian_eigenpairs(graph, 4, random_state=0)
    assert pairs.solver == "shift-invert (multigrid)"
    exact = laplacian_eigenpairs(graph, 4, solver="factorized", random_state=0)
    np.testing.assert_allclose(pairs.values, exact.values, rtol=1e-6, atol=1e-14)
    np.testing.assert_allclose(np.abs(pairs.vectors.T @ exact.vectors), np.eye(4), atol=1e-5)
    assert pairs.certificate.complete


def test_guards_in_the_bulk_do_not_keep_lanczos_from_an_answer():
    # The guards would lie in the bulk of a random graph, where eigenvalues are too close to converge.
    adjacency, _ = stochastic_block_graph([2_500] * 4, 16 / 2_500, 1 / 20_000, random_state=0)
    graph = SparseGraph(adjacency)
    pairs = laplacian_eigenpairs(graph, graph.n_components + 3, random_state=0)
    assert pairs.solver == "Lanczos (ARPACK)"
    assert pairs.certificate.complete
    assert pairs.residuals.max() < 1e-6


class Tiles(TiledGraph):
    def __init__(self, weights):
        self.weights, self.n_nodes = weights, len(weights)

    def tile(self, rows):
        return self.weights[rows]


@pytest.mark.parametrize("form", [DenseGraph, Tiles])
@pytest.mark.parametrize("solver", ["auto", "lanczos", "iterated"])
def test_graphs_without_a_sparse_matrix(form, solver, textbook):
    X = np.concatenate([np.random.default_rng(c).normal(4 * c, 1, (300, 2)) for c in range(3)])
    weights = GaussianGraph(X, 1.0).toarray()
    pairs = laplacian_eigenpairs(form(weights), 4, solver=solver, random_state=0)
    laplacian = textbook.dense_laplacian(weights)
    values, vectors = np.linalg.eigh(laplacian)
    textbook.assert_truthful(pairs, laplacian, atol=1e-7)
    textbook.assert_same_eigenspaces(pairs.values, pairs.vectors, values, vectors, gap=1e-3, atol=1e-5)


@pytest.mark.parametrize("scale", [1e-200, 1e200])
@pytest.mark.parametrize("solver", SOLVERS)
def test_the_scale_of_the_weights_does_not_matter(scale, solver, textbook):
    weights = textbook.grid(9, 7)
    one, other = (
        laplacian_eigenpairs(SparseGraph(factor * weights), 4, solver=solver, random_state=0)
        for factor in (1.0, scale)
    )
    np.testing.assert_allclose(one.values, other.values, atol=1e-9)
    np.testing.assert_allclose(np.abs(one.vectors.T @ other.vectors), np.eye(4), atol=1e-6)


def test_weights_of_both_extremes_in_one_graph(textbook):
    graph = textbook.chained([1e200 * textbook.ring(500), 1e-200 * textbook.ring(400)], 1e-200)
    pairs = laplacian_eigenpairs(graph, 3, random_state=0)
    assert pairs.values[1] < 1e-2
    assert np.all(np.isfinite(pairs.vectors))
    np.testing.assert_allclose(pairs.vectors.T @ pairs.vectors, np.eye(3), atol=1e-8)


@pytest.mark.parametrize("solver", ["auto", *SOLVERS])
def test_results_are_reproducible(solver, textbook):
    graph = blocks_on_weak_bridges(textbook, n_blocks=3, size=300)
    first, second = (laplacian_eigenpairs(graph, 4, solver=solver, random_state=7) for _ in range(2))
    np.testing.assert_array_equal(first.vectors, second.vectors)
    np.testing.assert_array_equal(first.values, second.values)
    assert first.certificate == second.certificate


@pytest.mark.parametrize("solver", SOLVERS)
def test_multiple_eigenvalues_are_reproducible(solver, textbook):
    # Where a Krylov space closes, ARPACK draws a vector by itself.
    graph = SparseGraph(sp.csr_array(np.ones((30, 30)) - np.eye(30)))
    first, second = (certified(graph, 4, solver=solver)[0] for _ in range(2))
    np.testing.assert_array_equal(first.vectors, second.vectors)


@pytest.mark.parametrize("solver", ["auto", *SOLVERS])
def test_the_global_random_state_is_left_alone(solver, textbook):
    np.random.seed(5)  # noqa: NPY002
    before = np.random.get_state()  # noqa: NPY002
    laplacian_eigenpairs(SparseGraph(textbook.grid(60, 20)), 4, solver=solver, random_state=0)
    after = np.random.get_state()  # noqa: NPY002
    assert before[2] == after[2]
    np.testing.assert_array_equal(before[1], after[1])


def test_the_graph_is_left_alone(textbook):
    weights = textbook.grid(40, 30)
    before = weights.copy()
    laplacian_eigenpairs(SparseGraph(weights), 4, random_state=0)
    assert (weights != before).nnz == 0
