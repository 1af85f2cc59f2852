import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.neighbors import kneighbors_graph

from sidecut.datasets import stochastic_block_graph
from sidecut.spectral.inverse import (
    UpdatedFactor,
    count_below,
    factorize,
    forecast,
)


def neighbours(n, dimension, seed=0):
    X = np.random.default_rng(seed).random((n, dimension))
    graph = kneighbors_graph(X, 10)
    return sp.csr_array(graph + graph.T)


GRAPHS = {
    "planar grid": lambda t: t.grid(70, 70),
    "long strip": lambda t: t.grid(2_000, 3),
    "neighbours in 2-D": lambda t: neighbours(5_000, 2),
    "neighbours in 3-D": lambda t: neighbours(4_000, 3),
    "expander": lambda t: t.regular(2_500, 8, 0),
    "larger expander": lambda t: t.regular(4_000, 8, 0),
    "thin expander": lambda t: t.regular(4_000, 4, 0),
    "random blocks": lambda t: stochastic_block_graph([800] * 4, 0.02, 0.0002, random_state=0)[0],
    "binary tree": lambda t: binary_tree(4_095),
    "path": lambda t: t.grid(4_000),
    "star": lambda t: star(3_000),
    "a small hub beside a large grid": lambda t: sp.csr_array(
        sp.block_diag([star(300), t.grid(60, 60)], format="csr")
    ),
}


def binary_tree(n):
    children = np.arange(1, n)
    edges = sp.csr_array((np.ones(n - 1), ((children - 1) // 2, children)), shape=(n, n))
    return sp.csr_array(edges + edges.T)


def star(n):
    hub = np.zeros(n - 1, dtype=int)
    rays = sp.csr_array((np.ones(n - 1), (hub, np.arange(1, n))), shape=(n, n))
    return sp.csr_array(rays + rays.T)


@pytest.mark.parametrize("name", GRAPHS)
def test_the_forecast_is_near_the_true_fill(name, textbook):
    matrix = GRAPHS[name](textbook)
    n = matrix.shape[0]
    dominant = sp.diags_array(np.asarray(abs(matrix).sum(axis=1)).ravel() + 1.0)
    factor = factorize(sp.csc_array(dominant - matrix))
    true_fill = factor.nnz / (2.0 * n)
    cost = forecast(matrix)
    assert true_fill / 4 < cost.fill < 4 * true_fill
    assert cost.memory == pytest.approx(24 * n * cost.fill)
    assert cost.work > n * cost.fill**2


def test_the_forecast_tells_easy_from_hard(textbook):
    easy, hard = forecast(textbook.grid(60, 60)), forecast(textbook.regular(3_600, 8, 0))
    assert hard.work > 30 * easy.work


@pytest.mark.parametrize("n", [1, 2, 3, 300])
def test_tiny_matrices_have_a_forecast(n, textbook):
    assert 0 < forecast(sp.csr_array(np.ones((n, n)))).fill <= n


@pytest.mark.parametrize("rank", [1, 3, 12])
def test_an_update_of_low_rank_is_solved_with(rank, textbook):
    rng = np.random.default_rng(rank)
    sparse = sp.csc_array(4.5 * sp.eye_array(80) - textbook.grid(10, 8))
    columns, levels = rng.standard_normal((80, rank)) / 9, rng.choice([-1.0, 0.6], rank)
    whole = sparse.toarray() - columns @ np.diag(levels) @ columns.T
    right = rng.standard_normal((80, 2))
    solved = UpdatedFactor(sparse, columns, levels).solve(right)
    np.testing.assert_allclose(solved, np.linalg.solve(whole, right), rtol=1e-9, atol=1e-10)


@st.composite
def sparse_symmetric(draw):
    n = draw(st.integers(1, 40))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    upper = np.triu(rng.standard_normal((n, n)) * (rng.random((n, n)) < draw(st.floats(0.05, 0.5))))
    return upper + np.triu(upper, 1).T + np.diag(rng.standard_normal(n))


@settings(max_examples=150, deadline=None)
@given(matrix=sparse_symmetric(), shift=st.floats(-3, 3))
def test_a_count_is_right_or_withheld(matrix, shift):
    values = np.linalg.eigvalsh(matrix)
    counted = count_below(sp.csc_array(matrix), shift)
    if counted is not None and np.abs(values - shift).min() > 1e-13:
        assert counted == np.count_nonzero(values < shift)


@pytest.mark.parametrize("seed", range(10))
def test_laplacians_are_counted_and_not_withheld(seed, textbook):
    weights = textbook.regular(200, 4, seed)
    laplacian = textbook.dense_laplacian(weights)
    values = np.linalg.eigvalsh(laplacian)
    for i in (1, 5, 50, 150):
        shift = 0.5 * (values[i - 1] + values[i])
        assert count_below(sp.csc_array(laplacian), shift) == i


@pytest.mark.parametrize("distance", [0.0, 1e-17, -1e-17, 1e-16, -1e-16])
def test_a_shift_on_an_eigenvalue_is_not_counted(distance, textbook):
    laplacian = textbook.dense_laplacian(textbook.ring(50))
    shift = np.linalg.eigvalsh(laplacian)[10] + distance
    assert count_below(sp.csc_array(laplacian), shift) is None


@pytest.mark.parametrize("distance", [1e-7, -1e-7, 1e-9, -1e-9, 1e-12, -1e-12])
def test_a_shift_near_an_eigenvalue_is_counted_rightly_if_at_all(distance, textbook):
    laplacian = textbook.dense_laplacian(textbook.ring(50))
    values = np.linalg.eigvalsh(laplacian)
    shift = values[10] + distance
    counted = count_below(sp.csc_array(laplacian), shift)
    assert counted in (np.count_nonzero(values < shift), None)
    if abs(distance) > 1e-8:
        assert counted is not None


def test_a_zero_pivot_is_not_counted():
    # Without pivoting the first pivot is 0 although the matrix is regular: its inertia is (1, 1).
    assert count_below(sp.csc_array([[0.0, 1.0], [1.0, 0.0]]), 0.0) in (1, None)
    assert count_below(sp.csc_array([[1e-20, 1.0], [1.0, 1e-20]]), 0.0) in (1, None)
    assert count_below(sp.csc_array((3, 3)), 0.0) is None


@pytest.mark.parametrize("scale", [1e-120, 1e120])
def test_counts_do_not_depend_on_the_scale(scale):
    matrix = sp.csc_array(np.diag([1.0, 2.0, 3.0]) + 0.1)
    assert count_below(scale * matrix, 2.5 * scale) == 2


def test_solves_are_solves(textbook):
    matrix = sp.csc_array(textbook.dense_laplacian(textbook.grid(20, 20)) + 0.1 * np.eye(400))
    right = np.random.default_rng(0).standard_normal(400)
    np.testing.assert_allclose(matrix @ factorize(matrix).solve(right), right, atol=1e-12)
