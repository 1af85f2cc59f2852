"""Vectors that span nearly the space of many eigenvectors."""

import numpy as np
import pytest
from numpy.polynomial import chebyshev

from sidecut.exceptions import SpectralError
from sidecut.graphs import Neighbors
from sidecut.spectral import laplacian, laplacian_eigenpairs
from sidecut.spectral.lanczos import DEGREE, MAX_RESIDUAL, _filtered, solve_sketch
from sidecut.spectral.laplacian import LaplacianProblem

WANTED = 4


@pytest.fixture(scope="module")
def clusters(textbook):
    """Five expanders on weak bridges: four small eigenvalues, then a gap, and the exact vectors of all."""
    graph = textbook.chained([textbook.regular(80, 8, b) for b in range(5)], 0.05)
    values, vectors = np.linalg.eigh(textbook.dense_laplacian(graph.matrix))
    return LaplacianProblem(graph), values, vectors


@pytest.mark.parametrize("edge", [0.0, 0.5, 0.9])
def test_the_filter_is_the_chebyshev_polynomial_on_the_damped_interval(clusters, edge):
    problem, values, vectors = clusters
    block = np.random.default_rng(0).standard_normal((problem.n, 3))
    # [-1, edge] is mapped onto [-1, 1].
    mapped = (2.0 * (1.0 - values) - (edge - 1.0)) / (edge + 1.0)
    growth = chebyshev.chebval(mapped, [0.0] * DEGREE + [1.0])
    expected = vectors @ (growth[:, None] * (vectors.T @ block))
    # In single precision: as a share of what is largest in a column.
    error = np.abs(_filtered(problem, block, edge) - expected).max(axis=0) / np.abs(expected).max(axis=0)
    assert error.max() < 1e-5
    assert np.abs(growth[1.0 - values < edge]).max() <= 1.0 + 1e-9


@pytest.mark.parametrize("seed", range(5))
def test_a_sketch_spans_nearly_the_same_and_claims_nothing(clusters, seed):
    problem, values, vectors = clusters
    pairs = solve_sketch(problem, WANTED, 2, np.random.RandomState(seed))
    assert (pairs.certificate.method, pairs.certificate.complete) == ("none", False)
    assert pairs.residuals[:WANTED].max() <= MAX_RESIDUAL * pairs.values[WANTED - 1]
    cosines = np.linalg.svd(vectors[:, 1 : WANTED + 1].T @ pairs.vectors[:, :WANTED], compute_uv=False)
    assert cosines.min() > 0.97
    np.testing.assert_allclose(pairs.values[:WANTED], values[1 : WANTED + 1], rtol=0.05)


def test_the_residuals_are_those_of_the_vectors(clusters):
    problem, _, _ = clusters
    pairs = solve_sketch(problem, WANTED, 2, np.random.RandomState(0))
    wrong = problem.apply_laplacian(pairs.vectors) - pairs.vectors * pairs.values
    np.testing.assert_allclose(pairs.residuals, np.linalg.norm(wrong, axis=0), atol=1e-12)


def test_where_eigenvalues_are_near_zero_it_gives_up_and_another_solver_answers(monkeypatch):
    line = Neighbors(4).build(np.arange(1_200.0)[:, None])
    with pytest.raises(SpectralError, match="Chebyshev filter"):
        solve_sketch(LaplacianProblem(line), WANTED, 2, np.random.RandomState(0))
    monkeypatch.setattr(laplacian, "MAX_FACTOR_PRODUCTS", 0)
    pairs = laplacian_eigenpairs(line, WANTED + 1, accuracy="sketch", random_state=0)
    assert pairs.solver == "Lanczos (ARPACK), rough"


def test_a_sketch_is_made_only_where_it_is_asked_for(monkeypatch, clusters):
    monkeypatch.setattr(laplacian, "DENSE_NODES", 10)
    monkeypatch.setattr(laplacian, "MAX_FACTOR_PRODUCTS", 0)
    graph = clusters[0].graph
    assert "Chebyshev" in laplacian_eigenpairs(graph, 5, accuracy="sketch", random_state=0).solver
    assert "Chebyshev" not in laplacian_eigenpairs(graph, 5, accuracy="rough", random_state=0).solver
    with pytest.raises(ValueError, match="accuracy='good': choose one of certified, pending, rough, sketch"):
        laplacian_eigenpairs(graph, 5, accuracy="good")
