"""Conjugate gradients for many right-hand sides."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from sidecut.graphs import Neighbors
from sidecut.spectral.conjugate_gradients import solve_columns
from sidecut.spectral.laplacian import LaplacianProblem


def _shift_by(apply, shifts, b):
    """The map (block, columns) -> (shift_j A + b I) block_j."""
    return lambda block, columns: shifts[columns] * apply(block) + b * block


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.lists(st.floats(0, 1e3), min_size=1, max_size=5), st.floats(1e-3, 10))
def test_solutions_of_shifted_systems(seed, shifts, b):
    rng = np.random.default_rng(seed)
    problem = LaplacianProblem(Neighbors(4).build(rng.normal(size=(25, 2))))
    right = rng.normal(size=(25, len(shifts)))
    found = solve_columns(_shift_by(problem.apply_laplacian, np.array(shifts), b), right, 1e-12, 500)
    laplacian = problem.apply_laplacian(np.eye(25))
    for shift, b_j, x in zip(shifts, right.T, found.T, strict=True):
        exact = np.linalg.solve(shift * laplacian + b * np.eye(25), b_j)
        np.testing.assert_allclose(x, exact, atol=1e-7 * np.linalg.norm(exact))


def test_the_solver_spends_nothing_on_columns_that_are_done():
    widths = []

    def apply(block):
        widths.append(block.shape[1])
        return np.diag([0.0, 1.0, 2.0]) @ block

    right = np.array([[1.0, 1.0], [0.0, 1.0], [0.0, 1.0]])
    solve_columns(_shift_by(apply, np.array([1.0, 1.0]), 1.0), right, 1e-10, 20)
    assert widths == [2, 1, 1]


def test_the_solution_for_nothing_is_nothing():
    found = solve_columns(lambda block, columns: block, np.zeros((4, 1)), 0.1, 10)
    np.testing.assert_array_equal(found, 0)
