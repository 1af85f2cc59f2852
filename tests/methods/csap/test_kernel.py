"""The covariance after links were observed: eqs. 2 to 8 against exact arithmetic and the literal inverse."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sidecut.methods.csap.kernel import (
    condition_kernel,
    downdate_factor,
    equivalent_kernel,
    observe_links,
    rival_updates,
)

RNG = np.random.default_rng(0)


def gaussian(x, sigma):
    return np.exp(-0.5 * ((x[:, None] - x[None, :]) / sigma) ** 2)


SMOOTH = gaussian(np.arange(12.0), 3.0)
ROUGH = gaussian(np.sort(RNG.uniform(0, 30, 12)), 1.0)
MUST = np.array([(0, 4), (4, 9), (2, 3)])
CANNOT = np.array([(0, 6), (5, 11)])


def link_matrix(n, must, cannot, eps_must, eps_cannot):
    """M as eq. 3 writes it, with c_i on the diagonal."""
    M = np.zeros((n, n))
    for i, j in must:
        M[i, i] += 1 / eps_must**2
        M[j, j] += 1 / eps_must**2
        M[i, j] -= 1 / eps_must**2
        M[j, i] -= 1 / eps_must**2
    for i, j in cannot:
        M[i, i] += 1 / eps_cannot**2
        M[j, j] += 1 / eps_cannot**2
        M[i, j] += 1 / eps_cannot**2
        M[j, i] += 1 / eps_cannot**2
    return M


def exactly_linked(K, must, cannot, eps):
    """K̄ one observation after the other, in fractions: no rounding at all."""
    n = len(K)
    exact = [[Fraction(float(value)) for value in row] for row in K]
    noise = Fraction(float(eps)) ** 2
    for sign, pairs in ((-1, must), (1, cannot)):
        for i, j in pairs:
            u = [exact[row][i] + sign * exact[row][j] for row in range(n)]
            variance = u[i] + sign * u[j] + noise
            exact = [[exact[a][b] - u[a] * u[b] / variance for b in range(n)] for a in range(n)]
    return np.array([[float(value) for value in row] for row in exact])


@pytest.mark.parametrize("eps", [1.0, 1e-2, 1e-5])
@pytest.mark.parametrize("K", [SMOOTH, ROUGH], ids=["smooth", "rough"])
def test_against_exact_arithmetic(K, eps):
    assert np.linalg.cond(SMOOTH) > 1e6
    expected = exactly_linked(K[:8, :8], MUST[[0, 2]], CANNOT[:1], eps)
    np.testing.assert_allclose(
        condition_kernel(K[:8, :8], MUST[[0, 2]], CANNOT[:1], eps, eps), expected, atol=1e-14
    )


@pytest.mark.parametrize(("eps", "tolerance"), [(1.0, 1e-13), (0.1, 1e-12), (1e-5, 1e-5)])
def test_against_the_literal_inverse_where_there_is_one(eps, tolerance):
    assert np.linalg.cond(ROUGH) < 1e4
    M = link_matrix(12, MUST, CANNOT, eps, 2 * eps)
    literal = np.linalg.inv(np.linalg.inv(ROUGH) + M)
    np.testing.assert_allclose(condition_kernel(ROUGH, MUST, CANNOT, eps, 2 * eps), literal, atol=tolerance)


def test_kernels_without_an_inverse_stay_covariances():
    K = gaussian(np.linspace(0, 1, 40), 1.0)
    assert np.linalg.cond(K) > 1e16
    K_bar = condition_kernel(K, [(0, 39), (3, 20)], [(10, 30)])
    assert np.linalg.eigvalsh(K_bar).min() > -1e-12
    assert (np.diagonal(K_bar) <= np.diagonal(K) + 1e-15).all()


@pytest.mark.parametrize("kind", ["must", "cannot"])
@pytest.mark.parametrize("eps", [1e-5, 0.1, 1.0])
def test_the_printed_equations_hold_with_half_the_variance(kind, eps):
    """Eqs. 6 and 7 as printed follow eq. 5, M = aaᵀ / (2ε²), which is eq. 3 at √2 ε."""
    K, i, j = SMOOTH, 2, 7
    sign = -1 if kind == "must" else 1
    u = K[:, i] + sign * K[:, j]
    hard = K - np.outer(u, u) / (2 * (1 + sign * K[i, j]))
    printed = (eps**2 * K + (1 + sign * K[i, j]) * hard) / (eps**2 + 1 + sign * K[i, j])
    links = {"must_link" if kind == "must" else "cannot_link": [(i, j)]}
    noise = np.sqrt(2.0) * eps
    np.testing.assert_allclose(
        condition_kernel(K, **links, eps_must=noise, eps_cannot=noise), printed, atol=1e-13
    )
    np.testing.assert_allclose(equivalent_kernel(K, (i, j), kind, noise), printed, atol=1e-13)
    np.testing.assert_allclose(equivalent_kernel(K, (i, j), kind), hard, atol=1e-13)
    if eps >= 0.1:
        assert np.abs(equivalent_kernel(K, (i, j), kind, eps) - printed).max() > 1e-3


def test_columns_of_the_linked_points():
    """A must-link makes both columns ½u⁺, a cannot-link ½u⁻ and -½u⁻ (below eq. 7)."""
    K, i, j = SMOOTH, 2, 7
    must, cannot = (equivalent_kernel(K, (i, j), kind) for kind in ("must", "cannot"))
    mean, difference = 0.5 * (K[:, i] + K[:, j]), 0.5 * (K[:, i] - K[:, j])
    np.testing.assert_allclose(must[:, [i, j]], np.column_stack([mean, mean]), atol=1e-14)
    np.testing.assert_allclose(cannot[:, [i, j]], np.column_stack([difference, -difference]), atol=1e-14)


def test_table_1():
    """Link sites far apart or together, and two points near one site or near one each."""
    x = np.array([0.0, 100.0, 0.5, 0.9, 100.4, 1e-6])
    K = gaussian(x, 1.0)
    site_1, site_2, near_1, also_near_1, near_2, beside_1 = range(6)
    for kind, sign in (("must", 1), ("cannot", -1)):
        far = equivalent_kernel(K, (site_1, site_2), kind)
        pair = (near_1, also_near_1)
        np.testing.assert_allclose(far[pair], K[pair] - 0.5 * K[near_1, site_1] * K[also_near_1, site_1])
        np.testing.assert_allclose(
            far[near_1, near_2], sign * 0.5 * K[near_1, site_1] * K[near_2, site_2], rtol=1e-12
        )
    close = equivalent_kernel(K, (site_1, beside_1), "cannot")
    np.testing.assert_allclose(
        close[near_1, also_near_1], K[near_1, also_near_1] - K[near_1, 0] * K[also_near_1, 0], rtol=1e-5
    )
    # A hard must-link between neighbours conditions on a derivative; with noise it says nothing.
    np.testing.assert_allclose(equivalent_kernel(K, (site_1, beside_1), "must", eps=1e-2), K, atol=1e-7)
    s = x - x[0]
    flat = K - np.outer(s * K[:, 0], s * K[:, 0])
    np.testing.assert_allclose(
        equivalent_kernel(K, (site_1, beside_1), "must")[near_1, also_near_1],
        flat[near_1, also_near_1],
        rtol=1e-3,
    )


def test_a_link_the_kernel_cannot_see():
    K = gaussian(np.array([0.0, 0.0, 1.0]), 1.0)
    np.testing.assert_array_equal(equivalent_kernel(K, (0, 1), "must"), K)
    np.testing.assert_allclose(condition_kernel(K, [(0, 1)]), K, atol=1e-15)
    np.testing.assert_allclose(condition_kernel(K, cannot_link=[(0, 1)])[:2, :2], 0.0, atol=1e-10)


def test_hard_and_soft_limits():
    far = condition_kernel(ROUGH, MUST, CANNOT, 1e8, 1e8)
    np.testing.assert_allclose(far, ROUGH, atol=1e-14)
    hard = condition_kernel(ROUGH, MUST, CANNOT, 1e-12, 1e-12)
    np.testing.assert_allclose(hard[0], hard[4], atol=1e-6)
    np.testing.assert_allclose(hard[0], -hard[6], atol=1e-6)


@given(seed=st.integers(0, 10_000), eps=st.sampled_from([1e-3, 0.3]))
@settings(max_examples=40, deadline=None)
def test_merging_links_loses_nothing(seed, eps):
    """More links than points become as many observations as M has directions, and say the same."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 7))
    K = gaussian(rng.uniform(0, 8, n), 1.0)
    pairs = np.array([(i, j) for i in range(n) for j in range(i)])
    pairs = np.vstack([pairs, pairs[rng.random(len(pairs)) < 0.8]])
    noise = eps * rng.uniform(1, 3, len(pairs))
    for sign in (-1, 1):
        apart = observe_links(n, pairs, noise, sign, merge=False)
        merged = observe_links(n, pairs, noise, sign)
        if len(pairs) > n:
            assert merged.size <= n
            assert sign == 1 or merged.size == n - 1
        M = (apart.directions / apart.variances) @ apart.directions.T
        again = (merged.directions / merged.variances) @ merged.directions.T
        np.testing.assert_allclose(again, M, atol=1e-9 * np.abs(M).max())
        one, other = (downdate_factor(K, np.arange(n), seen) for seen in (apart, merged))
        np.testing.assert_allclose(one @ one.T, other @ other.T, atol=1e-7)


@given(seed=st.integers(0, 10_000))
@settings(max_examples=30, deadline=None)
def test_order_does_not_matter(seed):
    rng = np.random.default_rng(seed)
    one = condition_kernel(ROUGH, MUST, CANNOT)
    must, cannot = (np.sort(rng.permuted(pairs, axis=1))[:, ::-1] for pairs in (MUST, CANNOT))
    other = condition_kernel(ROUGH, rng.permutation(must), rng.permutation(cannot))
    np.testing.assert_allclose(one, other, atol=1e-11)


def test_each_rival_is_a_link_alone():
    seen = observe_links(12, CANNOT, 0.01, sign=1, merge=False)
    updates = rival_updates(ROUGH, np.arange(12), seen)
    for pair, u in zip(CANNOT, updates.T, strict=True):
        alone = condition_kernel(ROUGH, cannot_link=[pair], eps_cannot=0.01)
        np.testing.assert_allclose(ROUGH - np.outer(u, u), alone, atol=1e-14)


def test_an_indefinite_matrix_gives_finite_numbers():
    """Columns that are no covariance by more than the noise: eigenvalues are held at the noise."""
    K = np.array([[1.0, 1.001], [1.001, 1.0]])
    factor = downdate_factor(K, np.arange(2), observe_links(2, [(0, 1)], 1e-5, sign=-1))
    assert np.isfinite(factor).all()


@pytest.mark.parametrize(("kind", "eps"), [("maybe", 0.1), ("must", -1.0), ("must", np.nan)])
def test_refusals(kind, eps):
    with pytest.raises(ValueError, match=r"kind='maybe'|eps="):
        equivalent_kernel(ROUGH, (0, 1), kind, eps)
