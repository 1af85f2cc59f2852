"""The tridiagonal form, and the feasible pairs of a pencil of low rank against the whole pencil."""

import numpy as np
import pytest
import scipy.linalg
from hypothesis import given, settings
from hypothesis import strategies as st

from sidecut.exceptions import SpectralError
from sidecut.methods.scacs.tridiagonal import banded_product, low_rank_pairs, tridiagonalize

quick = settings(deadline=None, max_examples=60)


def full(band):
    return np.diag(band[0]) + np.diag(band[1, :-1], 1) + np.diag(band[1, :-1], -1)


def laplacian_band(rng, p, least):
    """A tridiagonal matrix with eigenvalues between `least` and one."""
    values = rng.permutation(np.concatenate([[least, 1.0], rng.uniform(least, 1.0, p - 2)]))
    turn = np.linalg.qr(rng.normal(size=(p, p)))[0]
    form = tridiagonalize(turn * values @ turn.T)
    return np.array([form.diagonal, np.append(form.beside, 0.0)])


@quick
@given(st.integers(2, 30), st.integers(1, 5), st.integers(0, 1000))
def test_the_tridiagonal_form_is_the_matrix_turned(p, width, seed):
    rng = np.random.default_rng(seed)
    matrix = rng.normal(size=(p, p))
    matrix = matrix + matrix.T
    form = tridiagonalize(matrix)
    T = full(np.array([form.diagonal, np.append(form.beside, 0.0)]))
    block = rng.normal(size=(p, width))
    np.testing.assert_allclose(form.turn_back(T @ form.turn(block)), matrix @ block, atol=1e-11 * p)
    np.testing.assert_allclose(form.turn(form.turn_back(block)), block, atol=1e-13 * p)


def test_the_matrix_that_is_given_stays_as_it_is():
    matrix = np.asfortranarray(np.arange(16.0).reshape(4, 4) + np.arange(16.0).reshape(4, 4).T)
    before, block = matrix.copy(), np.ones((4, 2), order="F")
    tridiagonalize(matrix).turn(block)
    np.testing.assert_array_equal(matrix, before)
    np.testing.assert_array_equal(block, 1.0)


def test_the_product_of_a_band():
    band = np.random.default_rng(0).normal(size=(2, 7))
    np.testing.assert_allclose(banded_product(band, np.eye(7)), full(band))


@quick
@given(
    st.integers(8, 60),
    st.integers(1, 5),
    st.sampled_from([0.1, 0.001]),
    st.floats(0.05, 0.9),
    st.booleans(),
    st.integers(0, 10_000),
)
def test_the_pairs_are_those_of_the_whole_pencil(p, rank, least, share, signed, seed):
    rng = np.random.default_rng(seed)
    band, W = laplacian_band(rng, p, least), rng.normal(size=(p, rank))
    G = rng.normal(size=(rank, rank))
    G = G + G.T if signed else G @ G.T
    gamma = scipy.linalg.eigvalsh(W @ G @ W.T)
    if gamma[-1] <= 0.1:
        return
    b = share * gamma[-1]
    count = int(np.count_nonzero(gamma > b))
    mu, vectors = low_rank_pairs(band, W, G, b, count)
    expected = scipy.linalg.eigh(W @ G @ W.T - b * np.eye(p), full(band), eigvals_only=True)
    assert np.count_nonzero(expected > 0) == count
    np.testing.assert_allclose(mu, expected[::-1][:count], rtol=1e-9)
    residual = W @ G @ W.T @ vectors - b * vectors - mu * (full(band) @ vectors)
    sizes = np.linalg.norm(residual, axis=0) / np.linalg.norm(vectors, axis=0)
    assert (sizes < 2e-12 * (np.abs(gamma).max() * rank + b + mu)).all()
    np.testing.assert_allclose(vectors.T @ full(band) @ vectors, np.eye(count), atol=1e-8)


def test_equal_eigenvalues_are_all_found():
    """Two copies of one problem: every eigenvalue is double, and the vectors span both copies."""
    rng = np.random.default_rng(3)
    half, w = laplacian_band(rng, 20, 0.01), rng.normal(size=(20, 2))
    band, W = np.hstack([half, half]), scipy.linalg.block_diag(w, w)
    b = 0.1 * np.linalg.eigvalsh(w.T @ w)[0]
    mu, vectors = low_rank_pairs(band, W, np.eye(4), b, 4)
    single = scipy.linalg.eigh(w @ w.T - b * np.eye(20), full(half), eigvals_only=True)[::-1][:2]
    np.testing.assert_allclose(mu, np.repeat(single, 2), rtol=1e-11)
    assert np.linalg.matrix_rank(vectors[:20], tol=1e-8) == 2
    assert np.linalg.matrix_rank(vectors, tol=1e-8) == 4


def test_columns_that_say_nothing_new_do_no_harm():
    rng = np.random.default_rng(4)
    band, w = laplacian_band(rng, 30, 0.01), rng.normal(size=(30, 1))
    W = np.hstack([w, w, np.zeros((30, 1))])
    mu, _ = low_rank_pairs(band, W, np.eye(3), 1.0, 1)
    expected = scipy.linalg.eigh(2 * w @ w.T - np.eye(30), full(band), eigvals_only=True)[-1]
    np.testing.assert_allclose(mu, [expected], rtol=1e-11)


def test_more_pairs_than_there_are():
    band = laplacian_band(np.random.default_rng(5), 20, 0.1)
    with pytest.raises(SpectralError, match=r"There must be 2 feasible cuts, but only 1 were found"):
        low_rank_pairs(band, np.eye(20)[:, :2], np.diag([2.0, 0.5]), 1.0, 2)


def test_what_does_not_come_down_to_rounding_is_refused():
    """Rounding of the size b over the least eigenvalue of L drowns the small μ."""
    rng = np.random.default_rng(0)
    band, W = laplacian_band(rng, 60, 1e-13), rng.normal(size=(60, 4))
    with pytest.raises(SpectralError, match="to a relative residual of"):
        low_rank_pairs(band, W, np.eye(4), 1.0, 4)
