"""The pencil (Q̄ - b I, L̄) without the null space of L̄."""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import block_diag

from sidecut.exceptions import SpectralError
from sidecut.graphs import Neighbors, as_graph
from sidecut.methods.csp import pencil as module
from sidecut.methods.csp.pencil import ConstrainedPencil, feasible_pairs
from sidecut.spectral.laplacian import LaplacianProblem


def random_pencil(seed, n_pieces=1, b=0.2):
    rng = np.random.default_rng(seed)
    pieces = [Neighbors(12).build(rng.normal(size=(30, 2))).matrix for _ in range(n_pieces)]
    n = 30 * n_pieces
    beliefs = rng.normal(size=(n, n)) * (rng.random(size=(n, n)) < 0.05) + rng.normal(size=(n, 1))
    beliefs = beliefs + beliefs.T
    problem = LaplacianProblem(as_graph(sp.csr_array(sp.block_diag(pieces))))
    return ConstrainedPencil(problem, lambda x: beliefs @ x, b, problem.null), beliefs - b * np.eye(n)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 3))
def test_completed_vectors_are_orthogonal_to_the_null_space_by_the_surplus(seed, n_pieces):
    pencil, surplus = random_pencil(seed, n_pieces)
    block = pencil.problem.project(np.random.default_rng(seed).normal(size=(pencil.problem.n, 4)))
    completed = pencil.complete(block)
    null = pencil.problem.null.toarray()
    np.testing.assert_allclose(null.T @ surplus @ completed, 0, atol=1e-8)
    np.testing.assert_allclose(pencil.problem.project(completed), block, atol=1e-8)
    # B'(w, w) = B(v, v): the surplus of the completed vector is that of the reduced form.
    coupling = null.T @ surplus @ block
    reduced = block.T @ surplus @ block - coupling.T @ np.linalg.solve(null.T @ surplus @ null, coupling)
    np.testing.assert_allclose(completed.T @ surplus @ completed, reduced, atol=1e-7)


def test_all_eigenpairs_satisfy_the_printed_equation():
    pencil, surplus = random_pencil(3)
    count = np.count_nonzero(np.linalg.eigvalsh(surplus) > 0) - int(pencil.null_form[0, 0] > 0)
    pairs = feasible_pairs(pencil, np.empty((30, 0)), count)
    laplacian = pencil.problem.apply_laplacian(np.eye(30))
    np.testing.assert_allclose(laplacian @ pairs.vectors, surplus @ pairs.vectors / pairs.mu, atol=1e-10)
    assert np.all(pairs.mu > 0)
    assert np.all(np.diff(pairs.mu) <= 0)
    assert pairs.residuals.max() < 1e-10
    with pytest.raises(SpectralError, match="feasible cuts, but only"):
        feasible_pairs(pencil, np.empty((30, 0)), count + 1)


def test_a_response_solves_its_equation_and_cuts_answer_to_themselves(monkeypatch):
    pencil, surplus = random_pencil(3)
    monkeypatch.setattr(module, "INNER_STEPS", 500)
    laplacian = pencil.problem.apply_laplacian(np.eye(30))
    block = np.random.default_rng(0).normal(size=(30, 3))
    left = 0.7 * laplacian + pencil.b * np.eye(30)
    expected = np.linalg.solve(left, (surplus + pencil.b * np.eye(30)) @ block)
    np.testing.assert_allclose(
        pencil.precondition(pencil.apply_Q(block), np.full(3, 0.7), 1e-12), expected, atol=1e-8
    )
    cut = feasible_pairs(pencil, np.empty((30, 0)), 2)
    first = cut.vectors[:, :1]
    again = pencil.precondition(pencil.apply_Q(first), cut.mu[:1], 1e-12)
    np.testing.assert_allclose(again, first, atol=1e-7)


def test_residuals_are_those_of_the_definition():
    pencil, surplus = random_pencil(1)
    rng = np.random.default_rng(0)
    vectors, mu = rng.normal(size=(30, 3)), np.array([1.0, 2.0, 3.0])
    vectors /= np.linalg.norm(vectors, axis=0)
    laplacian = pencil.problem.apply_laplacian(np.eye(30))
    wrong = np.linalg.norm(surplus @ vectors - laplacian @ vectors * mu, axis=0)
    scale = np.linalg.norm((surplus + pencil.b * np.eye(30)) @ vectors, axis=0) + pencil.b
    np.testing.assert_allclose(pencil.residuals(mu, vectors), wrong / scale)


def test_cuts_along_components_are_the_positive_directions_of_the_null_space():
    pencil, surplus = random_pencil(8, n_pieces=4, b=0.01)
    values, cuts = pencil.component_cuts()
    assert values.size > 0
    np.testing.assert_allclose(pencil.problem.apply_laplacian(cuts), 0, atol=1e-10)
    np.testing.assert_allclose(cuts.T @ surplus @ cuts, np.diag(values), atol=1e-10)
    np.testing.assert_allclose(cuts.T @ cuts, np.eye(values.size), atol=1e-10)
    trivial = np.sqrt(pencil.problem.graph.degrees)
    np.testing.assert_allclose(trivial @ surplus @ cuts, 0, atol=1e-9)
    null = pencil.problem.null.toarray()
    free = null @ scipy.linalg.null_space((null.T @ surplus @ trivial)[None, :])
    assert np.count_nonzero(np.linalg.eigvalsh(free.T @ surplus @ free) > 0) == values.size


@pytest.mark.parametrize("columns", [1, 63, 64, 65])
def test_the_null_space_is_mapped_in_chunks(columns):
    edge = np.array([[0.0, 1.0], [1.0, 0.0]])
    problem = LaplacianProblem(as_graph(sp.csr_array(block_diag(*[edge] * columns))))
    beliefs = np.random.default_rng(0).normal(size=(2 * columns, 2 * columns))
    pencil = ConstrainedPencil(problem, lambda x: beliefs @ x, 0.5, problem.null)
    expected = (beliefs - 0.5 * np.eye(2 * columns)) @ problem.null.toarray()
    np.testing.assert_allclose(pencil.null_image.toarray(), expected, atol=1e-12)
