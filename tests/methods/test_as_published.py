"""`as_published` is the algorithm of the paper: naive versions on small random problems."""

import numpy as np
import pytest
import scipy.linalg
from sklearn.datasets import make_blobs

from sidecut import CSAP, CSP, E2CP, SCACS, Constraints
from sidecut.constraints import sample_labels, sample_pairs
from sidecut.graphs import Gaussian
from sidecut.labelling import kmeans_labels

SEEDS = range(6)


def problem(seed, sample, count):
    """Three blurred blobs, the weights of a Gaussian graph without loops, and some constraints."""
    X, y = make_blobs(45, centers=3, cluster_std=2.5, random_state=seed)
    W = Gaussian(3.0).build(X).toarray()
    return X, W, sample(y, count, random_state=seed)


def normalized(W):
    degrees = W.sum(axis=1)
    return W / np.sqrt(np.outer(degrees, degrees)), degrees


def unit(rows):
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("sample", [sample_labels, sample_pairs])
def test_csp_is_algorithm_2(seed, sample):
    _, W, known = problem(seed, sample, 14)
    A, degrees = normalized(W)
    Q = known.as_matrix().toarray()
    Q_bar = Q / np.sqrt(np.outer(degrees, degrees))
    beta = 0.5 * np.linalg.eigvalsh(Q_bar)[-2] * degrees.sum()
    B = Q_bar - beta / degrees.sum() * np.eye(45)
    values, vectors = scipy.linalg.eig(np.eye(45) - A, B)
    # Feasible: a positive, finite eigenvalue; the trivial vector has eigenvalue 0.
    is_feasible = np.isfinite(values) & (np.abs(values.imag) < 1e-9) & (values.real > 1e-9)
    V = vectors[:, is_feasible].real
    V = V / np.linalg.norm(V, axis=0)
    V = V[:, (np.einsum("ij,ij->j", V, B @ V) > 0)]
    costs = np.einsum("ij,ij->j", V, (np.eye(45) - A) @ V)
    best = V[:, np.argsort(costs)[:2]] * np.sqrt(degrees.sum())
    model = CSP.as_published(3, beta=beta, affinity="precomputed", random_state=0)
    model.fit(W, constraints=known)
    naive = best / np.sqrt(degrees)[:, None]
    signs = np.sign(np.einsum("ij,ij->j", naive, model.embedding_))
    np.testing.assert_allclose(model.embedding_, naive * signs, atol=1e-4)
    np.testing.assert_array_equal(model.labels_, kmeans_labels(model.embedding_, 3, random_state=0))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("sample", [sample_labels, sample_pairs])
def test_e2cp_is_steps_1_to_5(seed, sample):
    _, W, known = problem(seed, sample, 14)
    S = normalized(W)[0]
    Z = np.sign(known.with_diagonal(0.0).as_matrix().toarray())
    if known.labels is not None:
        Z[known.constrained_points, known.constrained_points] = 1.0
    spread = (1 - 0.8) * np.linalg.inv(np.eye(45) - 0.8 * S)
    F = spread @ Z @ spread
    adjusted = np.where(F >= 0, 1 - (1 - F) * (1 - W), (1 + F) * W)
    A, degrees = normalized(adjusted)
    V = np.linalg.eigh(A)[1][:, ::-1][:, 1:4]
    rows = unit(V / np.sqrt(degrees)[:, None])
    model = E2CP.as_published(3, affinity="precomputed", random_state=0).fit(W, constraints=known)
    signs = np.sign(np.einsum("ij,ij->j", model.embedding_, rows))
    np.testing.assert_allclose(model.embedding_, rows * signs, atol=1e-6)


@pytest.mark.parametrize("seed", SEEDS)
def test_csap_is_algorithm_a(seed):
    X, _, known = problem(seed, sample_pairs, 8)
    K = Gaussian(3.0, self_loops=True).build(X).toarray()
    precision = np.zeros((45, 45))
    for (i, j), strength in zip(known.pairs, known.strengths, strict=True):
        difference = np.zeros(45)
        difference[i], difference[j] = 1.0, -np.sign(strength)
        precision += np.outer(difference, difference) / 0.1**2
    conditioned = np.linalg.inv(np.linalg.inv(K + 1e-12 * np.eye(45)) + precision)
    A = normalized(np.maximum(conditioned, 0.0))[0]
    settings = {"algorithm": "A", "eps_must": 0.1, "eps_cannot": 0.1, "random_state": 0}
    model = CSAP.as_published(3, affinity=Gaussian(3.0, self_loops=True), **settings)
    model.fit(X, constraints=known)
    np.testing.assert_allclose(model.eigenvalues_, 1 - np.linalg.eigvalsh(A)[::-1][:3], atol=1e-6)


@pytest.mark.parametrize("seed", SEEDS)
def test_scacs_is_algorithm_1(seed):
    X, y = make_blobs(60, centers=3, cluster_std=2.5, random_state=seed)
    known = sample_labels(y, 20, random_state=seed)
    rows = np.random.RandomState(seed).permutation(60)[:12]
    model = SCACS.as_published(3, landmarks=rows, n_nearest=4, random_state=0).fit(X, constraints=known)
    distances = np.linalg.norm(X[:, None] - X[np.sort(rows)][None], axis=2)
    if not np.array_equal(model.landmarks_, X[np.sort(rows)]):
        distances = np.linalg.norm(X[:, None] - model.landmarks_[None], axis=2)
    weights = np.exp(-(distances**2) / (2 * distances.mean() ** 2))
    weights[np.argsort(np.argsort(distances, axis=1), axis=1) >= 4] = 0.0
    Z = (weights / weights.sum(axis=1, keepdims=True)).T
    Z_hat = Z / np.sqrt(Z.sum(axis=1))[:, None]
    S, Q = Z_hat @ Z_hat.T, known.as_matrix().toarray()
    Q_hat = Z_hat @ Q @ Z_hat.T
    gamma = scipy.linalg.eigvalsh(Q_hat, S)[::-1]
    n_above = 2 + int(Q.sum() / 60 > gamma[1] * (0.5 + 0.4 * 20 / 60))
    beta = (0.5 + 0.4 * 20 / 60) * gamma[n_above - 1]
    assert model.beta_ == pytest.approx(beta)
    values, vectors = scipy.linalg.eig(S - S @ S, Q_hat - beta * S)
    is_feasible = np.isfinite(values) & (np.abs(values.imag) < 1e-8) & (values.real > 1e-8)
    U = vectors[:, is_feasible].real
    U = U / np.sqrt(np.einsum("ij,ij->j", U, S @ U))
    U = U[:, np.einsum("ij,ij->j", U, (Q_hat - beta * S) @ U) > 0]
    costs = np.sort(np.einsum("ij,ij->j", U, (S - S @ S) @ U))
    np.testing.assert_allclose(model.costs_, costs[: model.costs_.size], atol=1e-8)


def test_what_is_given_wins_and_nothing_is_guarded():
    known = Constraints.from_labels([0, 1, *[-1] * 58])
    X, _ = make_blobs(60, centers=3, random_state=0)
    model = E2CP.as_published(3, alpha=0.5, n_neighbors=10, random_state=0).fit(X, constraints=known)
    assert (model.alpha, model.safe, model.rescale) == (0.5, False, False)
    assert not hasattr(model, "decision_")
