"""The convex problem of Xing et al.: slopes, convexity, the conditions of a minimum."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import check_grad

from sidecut.exceptions import ConstraintError
from sidecut.methods.baselines.metric_kmeans import DiagonalProblem


def drawn(seed, n_features=6, n_pairs=40):
    rng = np.random.default_rng(seed)
    apart = rng.gamma(0.5, size=(n_pairs, n_features)) * (rng.random((n_pairs, n_features)) < 0.7)
    apart[:, 0] += 0.01
    scale = 10.0 ** rng.integers(-2, 3, n_features)
    return DiagonalProblem(
        rng.gamma(1.0, size=n_features) * scale, apart * scale, rng.random(n_pairs) + 0.1
    ), rng


def test_the_value_is_that_of_the_formula():
    problem = DiagonalProblem(np.array([1.0, 2.0]), np.array([[4.0, 0.0], [1.0, 8.0]]), np.array([1.0, 3.0]))
    a = np.array([1.0, 0.5])
    assert problem.value(a) == pytest.approx(1.0 + 1.0 - np.log(2.0 + 3.0 * np.sqrt(5.0)))


@given(st.integers(0, 200))
def test_slopes_are_those_of_finite_differences(seed):
    problem, rng = drawn(seed)
    unit = DiagonalProblem(np.ones(6), problem.apart / problem.together, problem.weights)
    a = rng.random(6) + 0.1
    assert check_grad(unit.value, unit.gradient, a) < 1e-5 * (1 + np.abs(unit.gradient(a)).max())


@given(st.integers(0, 200))
def test_it_is_convex(seed):
    problem, rng = drawn(seed)
    one, other, t = rng.random(6) / problem.together, rng.random(6) / problem.together, rng.random()
    between = problem.value(t * one + (1 - t) * other)
    assert between <= t * problem.value(one) + (1 - t) * problem.value(other) + 1e-10


@given(st.integers(0, 200))
def test_the_solution_satisfies_the_conditions_of_a_minimum(seed):
    problem, rng = drawn(seed)
    a = problem.solve()
    slopes = problem.gradient(a) / problem.together
    assert (a >= 0).all()
    assert (slopes >= -1e-5).all()
    np.testing.assert_allclose(a * problem.together * slopes, 0.0, atol=1e-6)
    assert problem.together @ a == pytest.approx(0.5)
    for _ in range(5):
        other = rng.random(6) / problem.together
        assert problem.value(a) <= problem.value(0.5 * other / (problem.together @ other)) + 1e-9


def test_units_of_features_do_not_matter():
    problem, _ = drawn(1)
    units = 10.0 ** np.arange(-3, 3)
    scaled = DiagonalProblem(problem.together * units, problem.apart * units, problem.weights)
    np.testing.assert_allclose(scaled.solve() * units, problem.solve(), rtol=1e-3, atol=1e-5)


def test_sparse_differences_give_the_same():
    problem, _ = drawn(2)
    sparse = DiagonalProblem(problem.together, sp.csr_array(problem.apart), problem.weights)
    np.testing.assert_allclose(
        sparse.solve() * problem.together, problem.solve() * problem.together, atol=1e-6
    )


def test_one_feature_has_a_closed_form():
    """g(a) = s a - ½ log a + constant has its minimum at 1 / (2 s)."""
    problem = DiagonalProblem(np.array([4.0]), np.array([[3.0], [7.0]]), np.ones(2))
    np.testing.assert_allclose(problem.solve(), 1 / 8)


def test_a_feature_without_spread_has_no_best_weight():
    problem = DiagonalProblem(np.array([1.0, 0.0]), np.ones((3, 2)), np.ones(3))
    with pytest.raises(ConstraintError, match=r"feature 1 does not vary .* set regularization > 0"):
        problem.solve()
