import numpy as np
import pytest
from scipy.integrate import quad_vec
from scipy.linalg import expm

from sidecut.methods.poisson.equation import diffusion_filter, source_filter


@pytest.fixture
def laplacian():
    rng = np.random.default_rng(0)
    weights = np.triu(rng.random((8, 8)), 1)
    weights += weights.T
    scale = 1 / np.sqrt(weights.sum(axis=1))
    return np.eye(8) - scale[:, None] * weights * scale


@pytest.mark.parametrize("time", [0.0, 0.5, 3.0, 30.0, 300.0])
def test_heat_is_the_exponential(laplacian, time):
    found = diffusion_filter(time, 1e-7).recur(lambda block: laplacian @ block, np.eye(8))
    np.testing.assert_allclose(found, expm(-time * laplacian), atol=1e-6)


@pytest.mark.parametrize("time", [0.5, 3.0, 30.0])
def test_sources_are_the_integral_of_heat(laplacian, time):
    expected, _ = quad_vec(lambda passed: expm(-passed * laplacian), 0.0, time)
    found = source_filter(time, 1e-9).recur(lambda block: laplacian @ block, np.eye(8))
    np.testing.assert_allclose(found, expected, atol=1e-7)


@pytest.mark.parametrize("time", [1.0, 10.0, 100.0])
def test_the_error_is_bounded(time):
    values = np.linspace(0.0, 2.0, 2001)
    heat = diffusion_filter(time, 1e-3)
    found = heat.recur(lambda block: values[:, None] * block, np.ones((2001, 1)))[:, 0]
    error = np.abs(found - np.exp(-time * values)).max()
    assert error <= heat.error
    assert heat.error <= 1e-3 + 1e-13
