import numpy as np
import pytest

from sidecut.exceptions import SpectralError
from sidecut.graphs import SparseGraph
from sidecut.spectral import lanczos, laplacian, laplacian_eigenpairs
from sidecut.spectral.lanczos import certify_by_random_start, solve_lanczos, solve_roughly
from sidecut.spectral.laplacian import LaplacianProblem

WANTED = 4


@pytest.fixture(scope="module")
def clusters(textbook):
    """Five expanders on weak bridges: four small eigenvalues, then a gap, and the exact vectors of all."""
    graph = textbook.chained([textbook.regular(80, 8, b) for b in range(5)], 0.05)
    values, vectors = np.linalg.eigh(textbook.dense_laplacian(graph.matrix))
    return LaplacianProblem(graph), values[1:], vectors[:, 1:]


def found(problem, vectors, noise=0.0, seed=0):
    noisy = vectors + noise * np.random.default_rng(seed).standard_normal(vectors.shape)
    return problem.refine(noisy)


@pytest.mark.parametrize("noise", [0.0, 1e-9, 1e-6])
def test_all_there_is_complete(clusters, noise):
    problem, _, vectors = clusters
    for seed in range(20):
        pairs = found(problem, vectors[:, :WANTED], noise, seed)
        rng = np.random.RandomState(seed)
        certificate = certify_by_random_start(problem, pairs, WANTED, rng)
        assert certificate.complete, certificate
        assert certificate.failure_probability == 1e-8
        assert certificate.certified_below <= clusters[1][WANTED]


@pytest.mark.parametrize("missing", range(WANTED))
@pytest.mark.parametrize("noise", [0.0, 1e-6])
def test_one_missing_is_noticed(clusters, missing, noise):
    problem, values, vectors = clusters
    kept = np.delete(np.arange(WANTED + 1), missing)
    for seed in range(20):
        pairs = found(problem, vectors[:, kept], noise, seed)
        certificate = certify_by_random_start(problem, pairs, WANTED, np.random.RandomState(seed))
        assert not certificate.complete
        assert certificate.failure_probability == 1.0
        assert "was missed" in str(certificate)
        assert certificate.certified_below <= values[missing] + 1e-8


def test_one_missing_is_not_called_found_when_the_budget_is_short(clusters):
    problem, values, vectors = clusters
    for budget in range(1, 30):
        pairs = found(problem, vectors[:, 1 : WANTED + 1])
        rng = np.random.RandomState(budget)
        certificate = certify_by_random_start(problem, pairs, WANTED, rng, budget=budget)
        assert not certificate.complete
        assert certificate.certified_below <= values[0] + 1e-8


def test_a_missing_twin_is_noticed_or_left_open(textbook):
    # All eigenvalues of a ring but 0 are double: with one of a pair missing, nothing above it is certain.
    problem = LaplacianProblem(SparseGraph(textbook.ring(100)))
    values, vectors = np.linalg.eigh(textbook.dense_laplacian(problem.graph.matrix))
    for seed in range(10):
        pairs = found(problem, vectors[:, [1, 3, 4, 5]])
        certificate = certify_by_random_start(problem, pairs, 3, np.random.RandomState(seed))
        assert not certificate.complete
        assert certificate.certified_below <= values[2] + 1e-9


@pytest.mark.parametrize("missing", range(WANTED))
def test_one_missing_is_looked_for(clusters, missing, monkeypatch):
    problem, values, vectors = clusters
    kept = np.delete(np.arange(WANTED + 1), missing)
    monkeypatch.setattr(lanczos, "_krylov_eigenvectors", lambda *a, **k: vectors[:, kept])
    pairs = solve_lanczos(problem, WANTED, 0, np.random.RandomState(0))
    np.testing.assert_allclose(pairs.values[:WANTED], values[:WANTED], atol=1e-9)
    assert pairs.certificate.complete


def test_a_pending_certificate_is_the_one_that_would_have_been_made(clusters, monkeypatch):
    monkeypatch.setattr(laplacian, "DENSE_NODES", 0)
    graph, rngs = clusters[0].graph, [np.random.RandomState(0), np.random.RandomState(0)]
    now, later = (
        laplacian_eigenpairs(graph, WANTED + 1, accuracy=accuracy, random_state=rng)
        for accuracy, rng in zip(("certified", "pending"), rngs, strict=True)
    )
    assert "Not certified yet" in str(later.certificate)
    np.testing.assert_array_equal(now.vectors, later.vectors)
    assert rngs[0].randint(2**31) == rngs[1].randint(2**31)
    assert str(laplacian.certified(later).certificate) == str(now.certificate)
    assert laplacian.certified(now) is now


def test_a_pending_certificate_that_sees_a_missing_vector_is_none(clusters, monkeypatch):
    problem, _, vectors = clusters
    monkeypatch.setattr(lanczos, "_krylov_eigenvectors", lambda *a, **k: vectors[:, 1 : WANTED + 1])
    monkeypatch.setattr(laplacian, "DENSE_NODES", 0)
    monkeypatch.setattr(laplacian, "_can_factorize", lambda *a: False)
    pairs = laplacian_eigenpairs(problem.graph, WANTED + 1, accuracy="pending", random_state=0)
    assert laplacian.certified(pairs) is None


def test_answers_and_certificates(clusters):
    problem, values, vectors = clusters
    pairs = solve_lanczos(problem, WANTED, 2, np.random.RandomState(0))
    np.testing.assert_allclose(pairs.values[:WANTED], values[:WANTED], atol=1e-10)
    overlap = vectors[:, :WANTED].T @ pairs.vectors[:, :WANTED]
    np.testing.assert_allclose(np.linalg.svd(overlap, compute_uv=False), 1.0, atol=1e-8)
    assert pairs.certificate.complete


def test_an_exhausted_budget_is_an_error(textbook):
    problem = LaplacianProblem(SparseGraph(textbook.grid(3_000)))
    with pytest.raises(SpectralError, match="did not converge within 50 products"):
        solve_lanczos(problem, 3, 2, np.random.RandomState(0), budget=50)


def test_a_rough_start_spans_nearly_the_same_and_claims_nothing(clusters):
    problem, _, vectors = clusters
    exact = vectors[:, :WANTED]
    pairs = solve_roughly(problem, WANTED, 2, np.random.RandomState(0))
    assert pairs.solver == "Lanczos (ARPACK), rough"
    assert (pairs.certificate.method, pairs.certificate.complete) == ("none", False)
    assert pairs.residuals.max() < 1e-2
    angles = np.linalg.svd(exact.T @ pairs.vectors, compute_uv=False)
    assert angles.min() > 1 - 1e-3


def test_the_whole_spectrum_is_never_rough(clusters):
    pairs = laplacian_eigenpairs(clusters[0].graph, 5, accuracy="rough", random_state=0)
    assert pairs.certificate.is_proof


def test_where_lanczos_is_chosen_it_is_rough_when_that_is_enough(monkeypatch, clusters):
    monkeypatch.setattr(laplacian, "DENSE_NODES", 10)
    monkeypatch.setattr(laplacian, "MAX_FACTOR_PRODUCTS", 0)
    graph = clusters[0].graph
    rough = laplacian_eigenpairs(graph, 5, accuracy="rough", random_state=0)
    assert rough.solver == "Lanczos (ARPACK), rough"
    assert rough.values.size == 5
    assert laplacian_eigenpairs(graph, 5, random_state=0).certificate.complete


def test_a_very_large_graph_is_solved_in_single_precision_and_still_certified(clusters, monkeypatch):
    problem, values, vectors = clusters
    monkeypatch.setattr(lanczos, "SINGLE_NODES", problem.n)
    pairs = solve_lanczos(problem, WANTED, 2, np.random.RandomState(0))
    assert 1e-9 < pairs.residuals.max() < 1e-5
    assert pairs.certificate.complete
    np.testing.assert_allclose(pairs.values[:WANTED], values[:WANTED], atol=1e-9)
    cosines = np.linalg.svd(vectors[:, :WANTED].T @ pairs.vectors[:, :WANTED], compute_uv=False)
    assert cosines.min() > 1 - 1e-9
