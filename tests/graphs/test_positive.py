"""The positive part of a low-rank matrix, applied by structure, against min(max(F, 0), 1) entry by entry."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from sidecut.graphs import AgreementMatrix, LowRankMatrix, lowrank, positive_part
from sidecut.graphs.positive import ClasswisePart, TiledPart


def dense_part(matrix):
    return np.clip(matrix.to_dense(), 0.0, 1.0)


def memberships(n, n_classes, seed, decided=2.0):
    """Shares of all kinds: a large exponent makes most points sure of their class."""
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.full(n_classes, 1.0), size=n) ** decided
    shares /= shares.sum(axis=1, keepdims=True)
    return shares * rng.uniform(0.01, 0.9, size=(n, 1))


@pytest.fixture(params=[8, 1024], ids="side {}".format)
def _tile_side(request, monkeypatch):
    monkeypatch.setattr(lowrank, "TILE_SIDE", request.param)


@pytest.mark.usefixtures("_tile_side")
@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("decided", [0.5, 1.0, 3.0])
@pytest.mark.parametrize("weight", [1.0, 30.0], ids=["unclipped", "clipped"])
def test_class_by_class_is_exact(n_classes, decided, weight):
    matrix = AgreementMatrix(memberships(120, n_classes, 0, decided), weight)
    block = np.random.default_rng(1).normal(size=(120, 4))
    part = ClasswisePart(matrix)
    np.testing.assert_allclose(part(block), dense_part(matrix) @ block, atol=1e-12)
    np.testing.assert_allclose(part(block[:, 0]), dense_part(matrix) @ block[:, 0], atol=1e-12)


@pytest.mark.usefixtures("_tile_side")
@pytest.mark.parametrize("weight", [0.01, 1.0])
def test_tile_by_tile_is_exact(weight):
    rng = np.random.default_rng(0)
    core = sp.random_array((6, 6), density=0.5, rng=rng, data_sampler=rng.standard_normal).tocsr()
    matrix = LowRankMatrix(rng.exponential(size=(50, 6)), sp.csr_array(weight * (core + core.T)))
    block = rng.normal(size=(50, 3))
    np.testing.assert_allclose(TiledPart(matrix)(block), dense_part(matrix) @ block, atol=1e-12)
    np.testing.assert_allclose(TiledPart(matrix)(np.eye(50)), dense_part(matrix), atol=1e-12)


@given(
    x=st.floats(0.5, 1.0, exclude_min=True),
    y=st.floats(0.5, 1.0, exclude_min=True),
    seed=st.integers(0, 10_000),
    n_classes=st.integers(2, 6),
)
@settings(max_examples=200, deadline=None)
def test_points_with_different_leading_classes_are_never_joined(x, y, seed, n_classes):
    rng = np.random.default_rng(seed)
    p, q = np.zeros(n_classes), np.zeros(n_classes)
    p[0], p[1:] = x, (1 - x) * rng.dirichlet(np.full(n_classes - 1, 0.3))
    q[1], q[np.arange(n_classes) != 1] = y, (1 - y) * rng.dirichlet(np.full(n_classes - 1, 0.3))
    assert AgreementMatrix(np.vstack([p, q])).to_dense()[0, 1] <= 1e-12


@given(n=st.integers(1, 25), n_classes=st.integers(1, 5), seed=st.integers(0, 1000))
@settings(max_examples=60, deadline=None)
def test_any_agreement(n, n_classes, seed):
    U = memberships(n, n_classes, seed)
    U[np.random.default_rng(seed).random(n) < 0.2] = 0.0
    matrix = AgreementMatrix(U)
    np.testing.assert_allclose(positive_part(matrix)(np.eye(n)), dense_part(matrix), atol=1e-12)


def test_decided_points_cost_nothing():
    """Where every point is sure of its class, all is applied through the factor."""
    sure = 0.95 * np.eye(4)[np.arange(200) % 4] + 0.0125
    undecided = np.full((10, 4), 0.25)
    assert ClasswisePart(AgreementMatrix(sure)).n_computed == 0
    assert ClasswisePart(AgreementMatrix(np.vstack([sure, undecided]))).n_computed == 0
    doubtful = np.array([[0.6, 0.4, 0.0, 0.0]] * 10)
    assert 0 < ClasswisePart(AgreementMatrix(np.vstack([sure, doubtful]))).n_computed <= 60 * 60


def test_two_classes_cost_nothing():
    assert ClasswisePart(AgreementMatrix(memberships(100, 2, 0))).n_computed == 0


def test_signs_decide_the_way():
    factor = np.random.default_rng(0).uniform(size=(10, 2))
    apart = LowRankMatrix(factor, np.array([[0.0, -1.0], [-1.0, 0.0]]))
    assert positive_part(apart) is None
    together = LowRankMatrix(0.5 * factor, np.array([[0.0, 1.0], [1.0, 0.0]]))
    np.testing.assert_allclose(positive_part(together)(np.eye(10)), dense_part(together), atol=1e-14)
    strong = LowRankMatrix(3.0 * factor, np.array([[0.0, 1.0], [1.0, 0.0]]))
    assert strong.largest() > 1
    np.testing.assert_allclose(positive_part(strong)(np.eye(10)), dense_part(strong), atol=1e-14)
