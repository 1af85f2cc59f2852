"""What a certificate says where double precision does not tell eigenvalues apart, or too little was done."""

import numpy as np
import pytest

from sidecut.graphs import as_graph
from sidecut.spectral import laplacian_eigenpairs
from sidecut.spectral.certificate import ComplementBound, random_start_certificate


def cycle(n):
    weights = np.zeros((n, n))
    weights[np.arange(n), (np.arange(n) + 1) % n] = 1.0
    return as_graph(weights + weights.T)


@pytest.mark.parametrize(("count", "is_tied"), [(1, False), (2, True), (3, False), (4, True), (8, False)])
def test_half_of_a_pair_of_equal_eigenvalues_is_admitted(count, is_tied):
    """The eigenvalues of a cycle of eight are 1 - cos(2πj/8): 0, three pairs, and 2."""
    pairs = laplacian_eigenpairs(cycle(8), count, solver="dense", random_state=0)
    assert ("as good a claim" in str(pairs.certificate)) is is_tied


def test_a_bound_that_excludes_nothing_does_not_speak_of_eigenvalues_below_zero():
    bound = ComplementBound(lower=0.5, upper=1.2, steps=10, failure_probability=1e-8)
    certificate = random_start_certificate(bound, -0.2, 0.5, 0.3)
    assert not certificate.complete
    assert "below 0" not in str(certificate)
    assert "10 products from a random start are too few" in str(certificate)
