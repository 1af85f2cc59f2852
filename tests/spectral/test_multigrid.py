import numpy as np
import pytest
import scipy.sparse as sp

import sidecut.spectral.inverse
from sidecut.exceptions import SpectralError
from sidecut.graphs import SparseGraph
from sidecut.spectral.inverse import LaplacianInverse, multigrid_preconditioner
from sidecut.spectral.laplacian import LaplacianProblem

GRAPHS = {
    "strip": lambda t: t.grid(400, 8),
    "expander": lambda t: t.regular(900, 8, 0),
    "components and loners": lambda t: sp.block_diag([t.grid(30, 30), t.ring(50), sp.csr_array((3, 3))]),
}


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("tolerance", [1e-4, 1e-10])
def test_the_inverse_solves_to_its_tolerance_outside_the_null_space(name, tolerance, textbook):
    problem = LaplacianProblem(SparseGraph(GRAPHS[name](textbook)))
    inverse = LaplacianInverse(problem, 1e-8)
    right = problem.project(np.random.default_rng(0).standard_normal(problem.n))
    solution = inverse(right, tolerance)
    left = problem.apply_laplacian(solution) + 1e-8 * solution - right
    assert np.linalg.norm(left) <= 2 * tolerance * np.linalg.norm(right)
    assert np.abs(problem.null.T @ solution).max() < 1e-9 * np.linalg.norm(solution)


def test_multigrid_is_for_graphs_where_gradients_are_slow(textbook):
    strip, expander = (
        LaplacianInverse(LaplacianProblem(SparseGraph(GRAPHS[name](textbook))), 1e-8)
        for name in ("strip", "expander")
    )
    assert strip.acceleration == "multigrid"
    assert expander.acceleration == "conjugate gradients"


def test_the_cycle_is_symmetric_and_definite(textbook):
    matrix = sp.csr_array(textbook.dense_laplacian(textbook.grid(30, 25)) + 1e-6 * np.eye(750))
    cycle = multigrid_preconditioner(matrix, np.sqrt(np.asarray(textbook.grid(30, 25).sum(axis=1)).ravel()))
    rng = np.random.default_rng(0)
    for _ in range(5):
        x, y = rng.standard_normal((2, 750))
        assert cycle(x) @ y == pytest.approx(x @ cycle(y), rel=1e-8)
        assert x @ cycle(x) > 0


def test_building_it_draws_no_random_numbers(textbook):
    np.random.seed(3)  # noqa: NPY002
    before = np.random.get_state()  # noqa: NPY002
    inverse = LaplacianInverse(LaplacianProblem(SparseGraph(textbook.grid(400, 8))), 1e-8)
    assert inverse.acceleration == "multigrid"
    after = np.random.get_state()  # noqa: NPY002
    assert before[2] == after[2]
    np.testing.assert_array_equal(before[1], after[1])


def test_too_many_steps_are_an_error(textbook, monkeypatch):
    monkeypatch.setattr(sidecut.spectral.inverse, "MAX_STEPS", 2)
    problem = LaplacianProblem(SparseGraph(textbook.grid(400, 8)))
    inverse = LaplacianInverse(problem, 1e-8)
    with pytest.raises(SpectralError, match="did not converge in 2 steps"):
        inverse(np.random.default_rng(0).standard_normal(problem.n), 1e-10)
