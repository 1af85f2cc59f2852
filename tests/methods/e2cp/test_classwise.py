"""Labels class by class against min(max(F, 0), 1) entry by entry."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sidecut.methods.e2cp import adjustment as classwise
from sidecut.methods.e2cp import propagation as lowrank
from sidecut.methods.e2cp.adjustment import ClasswisePart, positive_part
from sidecut.methods.e2cp.propagation import AgreementMatrix


def dense_part(matrix):
    return np.clip(matrix.toarray(), 0.0, 1.0)


def memberships(n, n_classes, seed, decided=2.0):
    """Shares of all kinds: a large exponent makes most points sure of their class."""
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.full(n_classes, 1.0), size=n) ** decided
    shares /= shares.sum(axis=1, keepdims=True)
    return shares * rng.uniform(0.01, 0.9, size=(n, 1))


@pytest.fixture(params=[8, 1024], ids="side {}".format)
def _tile_side(request, monkeypatch):
    monkeypatch.setattr(lowrank, "TILE_SIDE", request.param)


@pytest.fixture(params=[0, 200], ids=["computed", "stored"])
def _per_node(request, monkeypatch):
    monkeypatch.setattr(classwise, "MAX_STORED_PER_NODE", request.param)


@pytest.mark.usefixtures("_tile_side")
@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("decided", [0.5, 1.0, 3.0])
@pytest.mark.parametrize("weight", [1.0, 30.0], ids=["unclipped", "clipped"])
@pytest.mark.usefixtures("_per_node")
def test_class_by_class_is_exact(n_classes, decided, weight):
    matrix = AgreementMatrix(memberships(120, n_classes, 0, decided), weight)
    block = np.random.default_rng(1).normal(size=(120, 4))
    part = ClasswisePart(matrix)
    np.testing.assert_allclose(part(block), dense_part(matrix) @ block, atol=1e-12)
    np.testing.assert_allclose(part(block[:, 0]), dense_part(matrix) @ block[:, 0], atol=1e-12)


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
    assert AgreementMatrix(np.vstack([p, q])).toarray()[0, 1] <= 1e-12


@given(n=st.integers(1, 25), n_classes=st.integers(1, 5), seed=st.integers(0, 1000))
@settings(max_examples=60, deadline=None)
def test_any_agreement(n, n_classes, seed):
    U = memberships(n, n_classes, seed)
    U[np.random.default_rng(seed).random(n) < 0.2] = 0.0
    matrix = AgreementMatrix(U)
    np.testing.assert_allclose(positive_part(matrix)(np.eye(n)), dense_part(matrix), atol=1e-12)


def test_few_doubtful_entries_are_stored_and_many_computed(monkeypatch):
    matrix = AgreementMatrix(memberships(120, 4, 0, decided=1.0))
    doubtful = sum(members.n_doubtful for members in ClasswisePart(matrix).classes)
    stored = ClasswisePart(matrix).stored.nnz
    assert 0 < stored < doubtful
    monkeypatch.setattr(classwise, "MAX_STORED_PER_NODE", (stored - 1) / 120)
    assert ClasswisePart(matrix).stored is None


def test_running_sums_of_many_columns_are_taken_in_parts():
    matrix = AgreementMatrix(memberships(120, 4, 0, decided=1.0))
    block = np.random.default_rng(1).normal(size=(120, 40_000))
    np.testing.assert_allclose(ClasswisePart(matrix)(block), dense_part(matrix) @ block, atol=1e-12)


def test_decided_points_leave_no_doubt():
    """Where every point is sure of its class, all is applied through the factor."""
    sure = 0.95 * np.eye(4)[np.arange(200) % 4] + 0.0125
    undecided = np.full((10, 4), 0.25)
    doubtful = np.array([[0.6, 0.4, 0.0, 0.0]] * 10)

    def n_doubtful(*parts):
        return sum(members.n_doubtful for members in ClasswisePart(AgreementMatrix(np.vstack(parts))).classes)

    assert n_doubtful(sure) == 0
    assert n_doubtful(sure, undecided) == 0
    assert n_doubtful(sure, doubtful) == 10 * 10


def test_two_classes_leave_no_doubt():
    part = ClasswisePart(AgreementMatrix(memberships(100, 2, 0)))
    assert sum(members.n_doubtful for members in part.classes) == 0
    assert part.stored.nnz == 0


def test_pickled_is_the_same():
    part = ClasswisePart(AgreementMatrix(memberships(50, 3, 0)))
    block = np.random.default_rng(0).normal(size=(50, 2))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(part))(block), part(block))


@pytest.mark.parametrize("seed", range(5))
def test_a_rescaled_agreement_is_never_clipped(seed):
    """Divided by its largest entry, which the bound on entries exceeds, it still has sure entries."""
    matrix = AgreementMatrix(memberships(80, 4, seed, decided=3.0))
    rescaled = matrix.scaled(matrix.largest())
    part = ClasswisePart(rescaled)
    assert not any(members.is_clipped for members in part.classes)
    np.testing.assert_allclose(part(np.eye(80)), dense_part(rescaled), atol=1e-12)
    doubled = matrix.scaled(matrix.largest() / 2)
    assert any(members.is_clipped for members in ClasswisePart(doubled).classes)
