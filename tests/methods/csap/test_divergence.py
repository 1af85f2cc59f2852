"""The nearest kernel within bounds, against the conditions that prove it and against a general optimiser."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from sidecut.exceptions import ConstraintWarning
from sidecut.methods.csap.kernel import condition_kernel, minimum_divergence, optimality_gap, project_on_links


def gaussian(x, sigma=1.0):
    return np.exp(-0.5 * ((x[:, None] - x[None, :]) / sigma) ** 2)


K = gaussian(np.array([0.0, 0.8, 2.0, 3.1, 4.5, 6.0]))
MUST, CANNOT = np.array([(0, 3), (1, 5)]), np.array([(1, 2), (3, 4), (0, 5)])
ALPHA, BETA = np.array([0.3, 1.0]), np.array([0.5, 4.0, 0.7])


def directions():
    columns = [np.eye(6)[i] - np.eye(6)[j] for i, j in MUST] + [
        np.eye(6)[i] + np.eye(6)[j] for i, j in CANNOT
    ]
    return np.array(columns).T


def divergence(kernel):
    """The objective of the appendix, log|K|/|K̄| + tr(K⁻¹K̄)."""
    return -np.linalg.slogdet(kernel)[1] + np.trace(np.linalg.solve(K, kernel))


def test_karush_kuhn_tucker():
    found = minimum_divergence(K, MUST, ALPHA, CANNOT, BETA)
    multipliers = np.concatenate([found.must_multipliers, found.cannot_multipliers])
    E, bounds = directions(), np.concatenate([ALPHA, BETA])
    # Stationarity: the gradient of the objective, K⁻¹ - K̄⁻¹, is -M with M = Σ 2λ aaᵀ (eq. 10).
    M = (E * 2 * multipliers) @ E.T
    np.testing.assert_allclose(np.linalg.inv(found.kernel), np.linalg.inv(K) + M, atol=1e-7)
    variances = np.einsum("ik,ij,jk->k", E, found.kernel, E)
    assert (variances <= bounds * (1 + 1e-7)).all()
    assert (multipliers >= 0).all()
    np.testing.assert_allclose(multipliers * (variances - bounds), 0.0, atol=1e-6)
    assert 0 < np.count_nonzero(multipliers) < 5
    assert found.violation <= 1e-8


def test_no_other_kernel_is_nearer():
    """Against a general optimiser over Cholesky factors, started at K."""
    found = minimum_divergence(K, MUST, ALPHA, CANNOT, BETA)
    E, bounds = directions(), np.concatenate([ALPHA, BETA])
    lower = np.tril_indices(6)

    def kernel(entries):
        root = np.zeros((6, 6))
        root[lower] = entries
        return root @ root.T

    slack = {
        "type": "ineq",
        "fun": lambda entries: bounds - np.einsum("ik,ij,jk->k", E, kernel(entries), E),
    }
    start = np.linalg.cholesky(K)[lower]
    best = minimize(
        lambda entries: divergence(kernel(entries)),
        start,
        constraints=slack,
        options={"maxiter": 1000, "ftol": 1e-13},
    )
    assert divergence(found.kernel) == pytest.approx(best.fun, rel=1e-5)
    np.testing.assert_allclose(found.kernel, kernel(best.x), atol=5e-3)


def test_multipliers_are_the_noise_of_equation_3():
    found = minimum_divergence(K, MUST[:1], 0.2, CANNOT[:1], 0.5)
    eps_must, eps_cannot = (np.sqrt(0.5 / m) for m in (found.must_multipliers, found.cannot_multipliers))
    again = condition_kernel(K, MUST[:1], CANNOT[:1], eps_must, eps_cannot)
    np.testing.assert_allclose(found.kernel, again, atol=1e-12)


def test_one_bound_in_closed_form():
    """p = aᵀKa falls to α when 2λ = 1/α - 1/p."""
    p = K[0, 0] + K[3, 3] - 2 * K[0, 3]
    found = minimum_divergence(K, MUST[:1], 0.2)
    assert found.must_multipliers[0] == pytest.approx(0.5 * (1 / 0.2 - 1 / p))
    assert found.n_sweeps == 1
    assert found.kernel[0, 0] + found.kernel[3, 3] - 2 * found.kernel[0, 3] == pytest.approx(0.2)


def test_bounds_that_hold_already_change_nothing():
    found = minimum_divergence(K, MUST, 5.0, CANNOT, 5.0)
    np.testing.assert_array_equal(found.kernel, K)
    assert found.n_sweeps == 0
    assert not found.must_multipliers.any()


def test_a_bound_another_one_makes_idle_is_let_go():
    """The first is tightened before the second makes it needless: its multiplier must come back to zero."""
    variances = np.array([[1.0, 0.999], [0.999, 1.0]])
    multipliers, n_sweeps, gap = project_on_links(variances, np.array([0.5, 0.1]))
    assert multipliers[0] == 0.0
    assert multipliers[1] == pytest.approx(1 / 0.1 - 1)
    assert n_sweeps >= 1
    assert gap <= 1e-8


@given(seed=st.integers(0, 10_000))
@settings(max_examples=40, deadline=None)
def test_any_bounds_are_met(seed):
    rng = np.random.default_rng(seed)
    kernel = gaussian(rng.uniform(0, 6, 8))
    pairs = rng.permutation([(i, j) for i in range(8) for j in range(i)])
    must, cannot = pairs[:4], pairs[4:9]
    alpha, beta = rng.uniform(0.05, 2, 4), rng.uniform(0.05, 4, 5)
    found = minimum_divergence(kernel, must, alpha, cannot, beta)
    i, j = must.T
    spread = found.kernel[i, i] + found.kernel[j, j] - 2 * found.kernel[i, j]
    k, m = cannot.T
    total = found.kernel[k, k] + found.kernel[m, m] + 2 * found.kernel[k, m]
    assert (spread <= alpha * (1 + 1e-6)).all()
    assert (total <= beta * (1 + 1e-6)).all()
    assert np.linalg.eigvalsh(found.kernel)[0] > -1e-10


def test_order_does_not_matter():
    one = minimum_divergence(K, MUST, ALPHA, CANNOT, BETA).kernel
    other = minimum_divergence(K, MUST[::-1, ::-1], ALPHA[::-1], CANNOT[::-1], BETA[::-1]).kernel
    np.testing.assert_allclose(one, other, atol=1e-7)


def test_a_link_the_kernel_never_violates():
    """Equal points have no difference to bound."""
    twins = gaussian(np.array([0.0, 0.0, 1.0]))
    np.testing.assert_array_equal(minimum_divergence(twins, [(0, 1)], 1e-6).kernel, twins)


def test_sweeps_that_do_not_suffice_are_told():
    with pytest.warns(ConstraintWarning, match="After 1 sweeps"):
        found = minimum_divergence(K, MUST, ALPHA, CANNOT, BETA, max_sweeps=1)
    assert found.violation > 1e-8


def test_the_gap_counts_excess_and_slack_of_active_bounds():
    bounds = np.array([1.0, 2.0])
    assert optimality_gap(np.diag([1.0, 1.0]), bounds, np.array([3.0, 0.0])) == 0.0
    assert optimality_gap(np.diag([1.0, 1.0]), bounds, np.array([3.0, 1.0])) == 0.5
    assert optimality_gap(np.diag([1.0, 3.0]), bounds, np.array([3.0, 0.0])) == 0.5


@pytest.mark.parametrize("bound", [0.0, -1.0, np.inf, np.nan])
def test_bounds_must_be_positive(bound):
    with pytest.raises(ValueError, match=r"must_bounds=.*positive"):
        minimum_divergence(K, MUST, bound)
    with pytest.raises(ValueError, match=r"cannot_bounds=.*positive"):
        minimum_divergence(K, cannot_link=CANNOT, cannot_bounds=bound)


def in_turns(covariance, bounds, n_sweeps):
    """Cyclic projections, as in the paper's neighbourhood: slow and sure."""
    C, multipliers = covariance.copy(), np.zeros(len(bounds))
    for _ in range(n_sweeps):
        for k in range(len(bounds)):
            step = max(1 / bounds[k] - 1 / C[k, k], -multipliers[k])
            multipliers[k] += step
            C -= np.outer(C[:, k], C[:, k]) * step / (1 + step * C[k, k])
    return C


def test_the_dual_is_where_the_projections_go():
    """All links of nine labels: 36 of them on nine points, where projections take hundreds of rounds."""
    rng = np.random.default_rng(0)
    kernel = gaussian(rng.uniform(0, 9, 9))
    pairs = np.array([(i, j) for i in range(9) for j in range(i)])
    E = np.eye(9)[:, pairs[:, 0]] - np.eye(9)[:, pairs[:, 1]]
    covariance, bounds = E.T @ kernel @ E, rng.uniform(0.05, 0.3, len(pairs))
    multipliers, n_sweeps, gap = project_on_links(covariance, bounds)
    assert gap <= 1e-8
    assert n_sweeps < 20
    M = (E * multipliers) @ E.T
    ours = np.linalg.inv(np.linalg.inv(kernel) + M)
    np.testing.assert_allclose(E.T @ ours @ E, in_turns(covariance, bounds, 5_000), atol=1e-8)
