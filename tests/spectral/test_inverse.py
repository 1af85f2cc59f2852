import numpy as np
import pytest

from sidecut.exceptions import SpectralError
from sidecut.graphs import Neighbors, SparseGraph
from sidecut.graphs.graph import SplitWeights
from sidecut.spectral import inverse, laplacian, laplacian_eigenpairs
from sidecut.spectral.inverse import (
    SHIFT,
    certify_by_inertia,
    certify_by_inverse,
    solve_factorized,
    solve_factorized_roughly,
    solve_iterated,
)
from sidecut.spectral.laplacian import LaplacianProblem

WANTED = 4
SOLVERS = [solve_factorized, solve_iterated]


@pytest.fixture(scope="module")
def crowded(textbook):
    """Small eigenvalues only: a chain of grids, where Lanczos on the affinity has a hard time."""
    graph = textbook.chained([textbook.grid(12, 9) for _ in range(5)], 1e-3)
    values, vectors = np.linalg.eigh(textbook.dense_laplacian(graph.matrix))
    return LaplacianProblem(graph), values, vectors


def exact_inverse(values, vectors):
    def solve(right):
        return vectors[:, 1:] @ ((vectors[:, 1:].T @ right) / (values[1:] + SHIFT))

    return solve


def found(problem, vectors, noise=0.0, seed=0):
    noisy = vectors + noise * np.random.default_rng(seed).standard_normal(vectors.shape)
    return problem.refine(noisy)


@pytest.mark.parametrize("noise", [0.0, 1e-10, 1e-7])
def test_all_there_is_complete(crowded, noise):
    problem, values, vectors = crowded
    for seed in range(10):
        pairs = found(problem, vectors[:, 1 : WANTED + 3], noise, seed)
        by_inertia = certify_by_inertia(problem, pairs, WANTED)
        assert by_inertia.complete, by_inertia
        assert by_inertia.is_proof
        rng = np.random.RandomState(seed)
        by_chance = certify_by_inverse(problem, exact_inverse(values, vectors), pairs, WANTED, rng)
        # Residuals as large as the eigenvalues themselves certify nothing through the inverse.
        assert by_chance.complete == (noise < 1e-8), by_chance
        assert by_chance.failure_probability == 1e-8


@pytest.mark.parametrize("missing", range(1, WANTED + 1))
@pytest.mark.parametrize("noise", [0.0, 1e-7])
def test_one_missing_is_noticed(crowded, missing, noise):
    problem, values, vectors = crowded
    kept = np.delete(np.arange(1, WANTED + 4), missing - 1)
    for seed in range(10):
        pairs = found(problem, vectors[:, kept], noise, seed)
        by_inertia = certify_by_inertia(problem, pairs, WANTED)
        assert not by_inertia.complete
        assert "were found" in str(by_inertia)
        rng = np.random.RandomState(seed)
        by_chance = certify_by_inverse(problem, exact_inverse(values, vectors), pairs, WANTED, rng)
        assert not by_chance.complete
        assert "was missed" in str(by_chance)


def test_vectors_of_the_wrong_space_do_not_pass_for_the_right_number(crowded):
    # As many Ritz values as eigenvalues below a shift prove nothing if the residuals reach across it.
    problem, _, vectors = crowded
    mixed = vectors[:, 1 : WANTED + 3].copy()
    mixed[:, 0] += 0.7 * vectors[:, 60]
    pairs = problem.refine(mixed)
    certificate = certify_by_inertia(problem, pairs, WANTED)
    assert certificate.certified_below <= pairs.values[0]


@pytest.mark.parametrize("solve", SOLVERS)
def test_answers(solve, crowded):
    problem, values, vectors = crowded
    pairs = solve(problem, WANTED, 2, np.random.RandomState(0))
    np.testing.assert_allclose(pairs.values[:WANTED], values[1 : WANTED + 1], rtol=1e-7)
    overlap = vectors[:, 1 : WANTED + 1].T @ pairs.vectors[:, :WANTED]
    np.testing.assert_allclose(np.linalg.svd(overlap, compute_uv=False), 1.0, atol=1e-8)
    assert pairs.certificate.complete
    assert pairs.residuals.max() < 1e-8


def test_a_rough_answer_is_as_exact_and_claims_nothing(crowded):
    problem, values, vectors = crowded
    pairs = solve_factorized_roughly(problem, WANTED, 2, np.random.RandomState(0))
    assert pairs.vectors.shape == (problem.n, WANTED)
    np.testing.assert_allclose(pairs.values, values[1 : WANTED + 1], rtol=1e-7)
    overlap = vectors[:, 1 : WANTED + 1].T @ pairs.vectors
    np.testing.assert_allclose(np.linalg.svd(overlap, compute_uv=False), 1.0, atol=1e-8)
    assert (pairs.certificate.method, pairs.certificate.complete) == ("none", False)


@pytest.mark.parametrize(("accuracy", "is_rough"), [("rough", True), ("sketch", True), ("certified", False)])
def test_a_graph_that_is_cheap_to_factorise_is_factorised_however_exact(accuracy, is_rough, monkeypatch):
    monkeypatch.setattr(laplacian, "DENSE_NODES", 10)
    monkeypatch.setattr(laplacian, "SMALL_NODES", 10)
    line = Neighbors(4).build(np.arange(1_200.0)[:, None])
    pairs = laplacian_eigenpairs(line, 5, accuracy=accuracy, random_state=0)
    assert pairs.solver == "shift-invert (sparse factorisation)" + is_rough * ", rough"
    assert pairs.certificate.complete != is_rough
    exact = np.linalg.eigvalsh(LaplacianProblem(line).apply_laplacian(np.eye(1_200)))[:5]
    np.testing.assert_allclose(pairs.values, exact, atol=1e-10)


@pytest.mark.parametrize("solve", SOLVERS)
@pytest.mark.parametrize("wanted", [1, 3, 5, 8])
def test_multiple_eigenvalues_are_found_in_the_complement(solve, wanted, textbook):
    # The torus has eigenvalues of multiplicity four and eight, of which a Krylov space holds one vector.
    ring = textbook.ring(14).toarray()
    weights = np.kron(ring, np.eye(14)) + np.kron(np.eye(14), ring)
    problem = LaplacianProblem(SparseGraph(weights))
    values = np.linalg.eigvalsh(textbook.dense_laplacian(weights))
    for seed in range(5):
        pairs = solve(problem, wanted, 2, np.random.RandomState(seed))
        assert pairs.certificate.failure_probability < 1
        np.testing.assert_allclose(pairs.values[:wanted], values[1 : wanted + 1], rtol=1e-7)


def test_what_was_missed_is_looked_for(crowded, monkeypatch):
    problem, values, _ = crowded
    real = inverse._solve

    def forgetful(problem, solve, count, rng):
        pairs = real(problem, solve, count, rng)
        return type(pairs)(pairs.values[2:], pairs.vectors[:, 2:], pairs.residuals[2:])

    monkeypatch.setattr(inverse, "_solve", forgetful)
    for solve in SOLVERS:
        pairs = solve(problem, WANTED, 2, np.random.RandomState(0))
        assert pairs.certificate.complete
        np.testing.assert_allclose(pairs.values[:WANTED], values[1 : WANTED + 1], rtol=1e-7)


def test_eigenvalues_as_small_as_rounding(textbook):
    graph = textbook.chained([textbook.regular(60, 6, b) for b in range(4)], 1e-18)
    problem = LaplacianProblem(graph)
    for solve in SOLVERS:
        pairs = solve(problem, 3, 2, np.random.RandomState(0))
        assert np.all(pairs.values[:3] >= 0)
        np.testing.assert_allclose(pairs.values[:3], 0.0, atol=1e-14)
        assert pairs.values[3] > 0.05
        assert pairs.certificate.complete


def test_a_failed_factorisation_is_an_error(crowded, monkeypatch):
    def broken(matrix):
        raise MemoryError("no room")

    monkeypatch.setattr(inverse, "factorize", broken)
    with pytest.raises(SpectralError, match="no room"):
        solve_factorized(crowded[0], 2, 2, np.random.RandomState(0))


@pytest.fixture(scope="module")
def split(textbook):
    """The crowded graph with weights of rank two added, known as such and only applied."""
    sparse = textbook.chained([textbook.grid(12, 9) for _ in range(5)], 1e-3).matrix
    factor = np.zeros((sparse.shape[0], 2))
    factor[:40, 0] = factor[500:, 1] = 1.0
    levels = np.array([0.02, 0.3])
    weights = sparse.toarray() + factor @ np.diag(levels) @ factor.T
    graph = textbook.AppliedGraph(weights, SplitWeights(sparse, factor, levels))
    values, vectors = np.linalg.eigh(textbook.dense_laplacian(graph.weights))
    return graph, values, vectors


def test_a_graph_that_is_sparse_but_for_a_low_rank_is_factorised(split):
    graph, values, vectors = split
    for seed in range(5):
        pairs = solve_factorized(LaplacianProblem(graph), WANTED, 2, np.random.RandomState(seed))
        np.testing.assert_allclose(pairs.values[:WANTED], values[1 : WANTED + 1], rtol=1e-7)
        overlap = vectors[:, 1 : WANTED + 1].T @ pairs.vectors[:, :WANTED]
        np.testing.assert_allclose(np.linalg.svd(overlap, compute_uv=False), 1.0, atol=1e-8)
        assert pairs.certificate.complete
        assert pairs.certificate.failure_probability == 1e-8
        assert pairs.solver == "shift-invert (sparse factorisation)"


def test_what_was_missed_is_looked_for_there_too(split, monkeypatch):
    graph, values, _ = split
    real = inverse._solve

    def forgetful(problem, solve, count, rng):
        pairs = real(problem, solve, count, rng)
        return type(pairs)(pairs.values[1:], pairs.vectors[:, 1:], pairs.residuals[1:])

    monkeypatch.setattr(inverse, "_solve", forgetful)
    pairs = solve_factorized(LaplacianProblem(graph), WANTED, 2, np.random.RandomState(0))
    assert pairs.certificate.complete
    np.testing.assert_allclose(pairs.values[:WANTED], values[1 : WANTED + 1], rtol=1e-7)


def test_a_split_that_is_not_the_graph_is_an_error(split, monkeypatch):
    graph = split[0]
    wrong = graph.split._replace(core=np.array([0.02, -0.3]))
    monkeypatch.setattr(graph, "split", wrong)
    with pytest.raises(SpectralError, match="residual"):
        solve_factorized(LaplacianProblem(graph), 2, 2, np.random.RandomState(0))


def test_a_graph_of_no_sparse_part_is_not_factorised(textbook):
    problem = LaplacianProblem(textbook.AppliedGraph(textbook.grid(4, 4).toarray()))
    with pytest.raises(SpectralError, match="no sparse matrix"):
        solve_factorized(problem, 2, 2, np.random.RandomState(0))
