"""Conjugate gradients for several shifts of one matrix."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from sidecut.graphs import Neighbors
from sidecut.spectral.conjugate_gradients import solve_shifted
from sidecut.spectral.laplacian import LaplacianProblem


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.lists(st.floats(1e-2, 10), min_size=1, max_size=4))
def test_every_shift_is_solved(seed, shifts):
    rng = np.random.default_rng(seed)
    problem = LaplacianProblem(Neighbors(4).build(rng.normal(size=(25, 2))))
    right = rng.normal(size=(25, 3))
    found = solve_shifted(problem.apply_laplacian, right, sorted(shifts), 1e-12, 500)
    laplacian = problem.apply_laplacian(np.eye(25))
    for shift, solution in zip(sorted(shifts), found, strict=True):
        exact = np.linalg.solve(laplacian + shift * np.eye(25), right)
        np.testing.assert_allclose(solution, exact, atol=1e-7 * np.linalg.norm(exact))


def test_further_shifts_take_no_further_products():
    counts = []
    matrix = np.diag(np.linspace(0.0, 2.0, 40))
    for shifts in ([0.01], [0.01, 0.05, 1.0]):
        products = []

        def apply(block, products=products):
            products.append(block.shape)
            return matrix @ block

        solve_shifted(apply, np.random.default_rng(0).normal(size=(40, 2)), shifts, 1e-8, 200)
        counts.append(len(products))
    assert counts[0] == counts[1] > 5


def test_columns_that_are_done_early_stay_right():
    """The first column lies in one eigenvector and is solved by one step; the last one is zero."""
    matrix = np.diag([0.0, 1.0, 2.0, 5.0])
    right = np.array([[1.0, 1.0, 0.0], [0.0, 1.0, 0.0], [0.0, 1.0, 0.0], [0.0, 1.0, 0.0]])
    shifts = (0.5, 3.0)
    found = solve_shifted(lambda block: matrix @ block, right, shifts, 1e-12, 50)
    for shift, solution in zip(shifts, found, strict=True):
        np.testing.assert_allclose(solution, np.linalg.solve(matrix + shift * np.eye(4), right), atol=1e-10)
