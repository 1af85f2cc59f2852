"""Densities and most likely Gaussians against SciPy and by perturbation."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from sidecut.methods.baselines.constrained_gmm import COVARIANCE_TYPES, Gaussians, most_likely


def full(gaussians, number, n_features):
    """One covariance, written out."""
    kind, covariances = gaussians.kind, gaussians.covariances
    if kind == "full":
        return covariances[number]
    if kind == "tied":
        return covariances
    return np.diag(np.broadcast_to(covariances[number], n_features))


def drawn(seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(40, 3)) @ rng.normal(size=(3, 3)), rng.dirichlet(np.ones(2), size=40)


@pytest.mark.parametrize("kind", COVARIANCE_TYPES)
def test_densities_are_those_of_scipy(kind):
    X, responsibilities = drawn()
    gaussians = most_likely(X, responsibilities, kind, 1e-3)
    expected = np.column_stack(
        [multivariate_normal(gaussians.means[k], full(gaussians, k, 3)).logpdf(X) for k in range(2)]
    )
    np.testing.assert_allclose(gaussians.log_densities(X), expected, rtol=1e-10)


@pytest.mark.parametrize("kind", COVARIANCE_TYPES)
def test_no_other_gaussians_are_more_likely(kind):
    X, responsibilities = drawn(1)
    best = most_likely(X, responsibilities, kind, 0.0)

    def likelihood(gaussians):
        return (responsibilities * gaussians.log_densities(X)).sum()

    rng = np.random.default_rng(2)
    for _ in range(20):
        means = best.means + 0.01 * rng.normal(size=best.means.shape)
        assert likelihood(Gaussians(means, best.covariances, kind)) < likelihood(best)
        change = np.exp(0.02 * rng.normal(size=(2,) if kind in ("full", "spherical") else ()))
        if kind == "full":
            other = best.covariances * change[:, None, None]
        elif kind == "diag":
            other = best.covariances * np.exp(0.02 * rng.normal(size=best.covariances.shape))
        else:
            other = best.covariances * change
        assert likelihood(Gaussians(best.means, other, kind)) < likelihood(best)


@pytest.mark.parametrize("kind", COVARIANCE_TYPES)
def test_no_spread_is_refused_with_a_way_out(kind):
    X = np.repeat([[1.0, 2.0, 3.0]], 5, axis=0)
    gaussians = most_likely(X, np.full((5, 2), 0.5), kind, 0.0)
    with pytest.raises(ValueError, match=r"component 0 .* raise reg_covar"):
        gaussians.log_densities(X)
