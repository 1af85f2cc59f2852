"""What a certificate says where double precision does not tell eigenvalues apart, or too little was done."""

import numpy as np
import pytest
import scipy.sparse as sp

from sidecut.graphs import as_graph
from sidecut.spectral import laplacian_eigenpairs
from sidecut.spectral.certificate import (
    Certificate,
    ComplementBound,
    random_start_certificate,
)
from sidecut.spectral.laplacian import admit_tie


def cycle(n):
    weights = np.zeros((n, n))
    weights[np.arange(n), (np.arange(n) + 1) % n] = 1.0
    return as_graph(weights + weights.T)


@pytest.mark.parametrize(("count", "is_tied"), [(1, False), (2, True), (3, False), (4, True), (8, False)])
def test_half_of_a_pair_of_equal_eigenvalues_is_admitted(count, is_tied):
    """The eigenvalues of a cycle of eight are 1 - cos(2πj/8): 0, three pairs, and 2."""
    pairs = laplacian_eigenpairs(cycle(8), count, solver="dense", random_state=0)
    assert ("as good a claim" in str(pairs.certificate)) is is_tied


def three_blocks_in_a_triangle(size=20):
    """λ₂ = λ₃ by symmetry; λ₄ and λ₅ are far away and differ."""
    block = np.triu(np.random.default_rng(0).random((size, size)), 1)
    weights = np.kron(np.eye(3), block + block.T)
    for i, j in ((0, 1), (1, 2), (2, 0)):
        weights[i * size, j * size] = weights[j * size, i * size] = 1e-3
    return as_graph(sp.csr_array(weights))


@pytest.mark.parametrize("solver", ["dense", "lanczos", "factorized", "iterated"])
@pytest.mark.parametrize(("count", "is_tied"), [(2, True), (3, False), (4, False)])
def test_every_solver_admits_the_tie_behind_the_last_eigenvalue(solver, count, is_tied):
    pairs = laplacian_eigenpairs(three_blocks_in_a_triangle(), count, solver=solver, random_state=0)
    assert ("as good a claim" in str(pairs.certificate)) is is_tied


def test_the_certificate_counts_the_eigenvalues_that_were_asked_for():
    for count in (2, 3, 8):
        assert str(laplacian_eigenpairs(cycle(8), count).certificate).startswith(f"All {count} eigenvalues")


def test_fewer_vectors_than_components_are_a_tie_at_zero():
    pieces = as_graph(np.kron(np.eye(3), np.ones((4, 4))))
    assert "as good a claim" in str(laplacian_eigenpairs(pieces, 2).certificate)
    assert "as good a claim" not in str(laplacian_eigenpairs(pieces, 3).certificate)


def test_residuals_wider_than_the_gap_are_a_tie():
    certificate = Certificate("inertia", 0.5, 0.0, True, "All were found.")
    values = np.array([0.1, 0.2, 0.2001])
    assert admit_tie(certificate, values, np.full(3, 1e-6), 2) is certificate
    said = str(admit_tie(certificate, values, np.full(3, 1e-4), 2))
    assert said == (
        "All were found. But the last, 0.2, and the one after it differ by less than 2e-04: the vector of "
        "either has as good a claim."
    )


def test_a_bound_that_excludes_nothing_does_not_speak_of_eigenvalues_below_zero():
    bound = ComplementBound(lower=0.5, upper=1.2, steps=10, failure_probability=1e-8)
    certificate = random_start_certificate(bound, -0.2, 0.5, 0.3)
    assert not certificate.complete
    assert "below 0" not in str(certificate)
    assert "10 products from a random start are too few" in str(certificate)
