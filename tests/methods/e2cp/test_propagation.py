"""Propagated constraints against eq. 3 with a dense inverse, and against the iteration of the paper."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import make_moons

from sidecut import Constraints
from sidecut.constraints import sample_labels, sample_pairs
from sidecut.graphs import Gaussian, GaussianGraph, Heat, Neighbors, SparseGraph, as_graph
from sidecut.methods.e2cp import propagate, spread
from sidecut.methods.e2cp import propagation as lowrank
from sidecut.methods.e2cp import propagation as spreading
from sidecut.methods.e2cp.propagation import AgreementMatrix

X, Y = make_moons(90, noise=0.1, random_state=0)


def iterate(graph, known, alpha):
    """Iterate F <- α Ā F + (1 - α) Z until it stands still."""
    current = np.zeros_like(known)
    for _ in range(10_000):
        previous, current = current, alpha * graph.normalized.apply(current) + (1.0 - alpha) * known
        if np.abs(current - previous).max() <= 1e-12:
            break
    return current


def propagate_by_iteration(graph, constraints, alpha=0.8):
    """Steps 3 and 4 of the paper: vertical, then horizontal propagation (eq. 2), iterated to convergence."""
    vertical = iterate(graph, constraints.as_matrix().toarray(), alpha)
    return iterate(graph, vertical.T, alpha).T


def propagator(graph, alpha=0.8):
    """P = (1 - alpha)(I - alpha D^-1/2 W D^-1/2)^-1 by LAPACK; rows of isolated points are those of I."""
    W = graph.toarray()
    degrees = W.sum(axis=1)
    scale = np.divide(1.0, np.sqrt(degrees), out=np.zeros_like(degrees), where=degrees > 0)
    affinity = scale[:, None] * W * scale
    return (1 - alpha) * np.linalg.inv(np.eye(len(W)) - alpha * affinity)


def eq3(graph, constraints, alpha=0.8):
    P = propagator(graph, alpha)
    return P @ constraints.as_matrix().toarray() @ P


def beliefs():
    Q = np.random.default_rng(1).uniform(-1, 1, size=(90, 90))
    Q[np.abs(Q) < 0.97] = 0.0
    return np.triu(Q) + np.triu(Q, 1).T


KNOWLEDGE = {
    "pairs": sample_pairs(Y, 30, random_state=0),
    "labels": sample_labels(Y, 12, random_state=0),
    "soft labels": Constraints.from_labels(np.where(np.arange(90) % 9 == 0, Y, -1), weight=0.3),
    "labels without diagonal": sample_labels(Y, 12, random_state=0).with_diagonal(0),
    "soft": Constraints.from_matrix(beliefs()),
    "both": sample_labels(Y, 12, random_state=0) | sample_pairs(Y, 10, random_state=1),
    "closed": sample_pairs(Y, 30, random_state=0).closed(),
    "contradictory": Constraints.from_pairs(90, [(0, 1), (1, 2)], [(0, 2)], on_conflict="weigh"),
    "one label": Constraints.from_labels([0] + [-1] * 89),
    "nothing": Constraints.none(90),
}
FORMS = {
    "sparse": lambda: Neighbors(8).build(X),
    "dense": lambda: Gaussian(0.3).build(X),
    "tiled": lambda: GaussianGraph(X, 0.3),
    "only applied": lambda: Heat(1.0).build(X),
}


@pytest.mark.parametrize("kind", KNOWLEDGE)
@pytest.mark.parametrize("form", FORMS)
def test_eq3_three_ways(form, kind):
    graph, known = FORMS[form](), KNOWLEDGE[kind]
    F = propagate(graph, known)
    np.testing.assert_allclose(F.toarray(), eq3(graph, known), atol=1e-12)
    np.testing.assert_allclose(propagate_by_iteration(graph, known), F.toarray(), atol=1e-10)


@pytest.mark.parametrize("alpha", [1e-9, 0.1, 0.5, 0.99, 0.999])
def test_any_alpha(alpha):
    graph, known = FORMS["sparse"](), KNOWLEDGE["pairs"]
    F = propagate(graph, known, alpha)
    np.testing.assert_allclose(F.toarray(), eq3(graph, known, alpha), atol=1e-11)


def test_nothing_is_propagated_as_alpha_vanishes():
    graph, known = FORMS["sparse"](), KNOWLEDGE["soft"]
    np.testing.assert_allclose(
        propagate(graph, known, 1e-12).toarray(), known.as_matrix().toarray(), atol=1e-11
    )


@given(seed=st.integers(0, 500), alpha=st.floats(0.05, 0.95), density=st.floats(0.02, 0.5))
@settings(max_examples=40, deadline=None)
def test_small_graphs_with_many_components_and_isolated_points(seed, alpha, density):
    rng = np.random.default_rng(seed)
    W = rng.random((20, 20)) * (rng.random((20, 20)) < density)
    graph = SparseGraph(as_graph(np.triu(W, 1) + np.triu(W, 1).T + np.diag((W[0] > 0) * 0.5)).matrix)
    Q = rng.normal(size=(20, 20)) * (rng.random((20, 20)) < 0.1)
    known = Constraints.from_matrix(Q + Q.T)
    np.testing.assert_allclose(propagate(graph, known, alpha).toarray(), eq3(graph, known, alpha), atol=1e-11)


def test_what_is_not_connected_is_not_reached():
    """F is exactly zero between components that no constraint joins, even through a third."""
    graph = SparseGraph(np.kron(np.eye(3), np.ones((5, 5)) - np.eye(5)))
    F = propagate(graph, Constraints.from_pairs(15, cannot_link=[(0, 5), (6, 10)])).toarray()
    assert (F[:5, 5:10] < 0).all()
    assert (F[5:10, 10:] < 0).all()
    assert (F[:5, 10:] == 0).all()
    assert (F[:5, :5] == 0).all()


def test_constraints_reach_every_pair_of_a_connected_graph():
    """Section 4.2: few constraints leave no pair without a confidence."""
    graph = Neighbors(8).build(X)
    assert graph.n_components == 1
    F = propagate(graph, sample_pairs(Y, 3, random_state=0)).toarray()
    assert np.count_nonzero(F) == F.size


def test_the_propagator_has_no_negative_entry():
    columns = spread(FORMS["sparse"](), np.eye(90), 0.8)
    np.testing.assert_allclose(columns, propagator(FORMS["sparse"]()), atol=1e-13)
    assert columns.min() > 0


def test_labels_have_the_rank_of_their_classes():
    F = propagate(FORMS["sparse"](), KNOWLEDGE["labels"])
    assert isinstance(F.matrix, AgreementMatrix)
    assert F.matrix.rank == 2
    assert propagate(FORMS["sparse"](), KNOWLEDGE["labels without diagonal"]).matrix.rank == 12


def test_right_hand_sides_in_several_blocks(monkeypatch):
    graph, known = FORMS["sparse"](), KNOWLEDGE["pairs"]
    monkeypatch.setattr(spreading, "DENSE_NODES", 0)
    monkeypatch.setattr(spreading, "COLUMNS_AT_ONCE", 1000)
    at_once = propagate(graph, known).toarray()
    monkeypatch.setattr(spreading, "COLUMNS_AT_ONCE", 7)
    np.testing.assert_allclose(propagate(graph, known).toarray(), at_once, atol=1e-14)


@pytest.fixture(params=[16, 1024], ids="side {}".format)
def _tile_side(request, monkeypatch):
    monkeypatch.setattr(lowrank, "TILE_SIDE", request.param)


@pytest.mark.usefixtures("_tile_side")
@pytest.mark.parametrize("kind", ["pairs", "labels", "soft"])
def test_the_strongest_pairs(kind):
    F = propagate(FORMS["sparse"](), KNOWLEDGE[kind])
    dense = F.toarray()
    first, second = np.triu_indices(90, k=1)
    order = np.argsort(-np.abs(dense[first, second]))[:50]
    pairs, strengths = F.strongest(50)
    np.testing.assert_allclose(strengths, dense[first, second][order], rtol=1e-9)
    np.testing.assert_allclose(strengths, F.entries(pairs[:, 0], pairs[:, 1]), rtol=1e-9)
    assert (pairs[:, 0] < pairs[:, 1]).all()
    assert len(np.unique(pairs, axis=0)) == 50
    assert F.max_abs == pytest.approx(np.abs(dense).max(), rel=1e-10)


@pytest.mark.usefixtures("_tile_side")
def test_no_more_pairs_than_there_are():
    graph = SparseGraph(np.kron(np.eye(3), np.ones((5, 5)) - np.eye(5)))
    F = propagate(graph, Constraints.from_pairs(15, cannot_link=[(0, 5)]))
    pairs, strengths = F.strongest(1000)
    assert len(pairs) == 25
    assert (strengths < 0).all()
    assert F.sample(1000, random_state=0).n_cannot_link == 25
    nothing = propagate(graph, Constraints.none(15))
    assert nothing.strongest(5)[0].shape == (0, 2)
    assert nothing.sample(5).is_empty
    assert nothing.max_abs == 0


@pytest.mark.usefixtures("_tile_side")
def test_samples_hold_propagated_strengths():
    F = propagate(FORMS["sparse"](), KNOWLEDGE["pairs"])
    drawn = F.sample(40, random_state=0)
    assert drawn.n_pairs == 40
    np.testing.assert_allclose(drawn.strengths, F.entries(*drawn.pairs.T), rtol=1e-9)
    assert drawn == F.sample(40, random_state=0)
    assert drawn != F.sample(40, random_state=1)
    states = [np.random.RandomState(0) for _ in range(2)]
    assert F.sample(40, random_state=states[0]) == F.sample(40, random_state=states[1])
    hard = F.sample(40, random_state=0, hard=True)
    np.testing.assert_array_equal(hard.pairs, drawn.pairs)
    np.testing.assert_array_equal(hard.strengths, np.sign(drawn.strengths))


def test_pairs_are_drawn_in_proportion_to_confidence():
    """The first pair of a draw without replacement: chances are |F| over its sum, within five sigma."""
    graph = as_graph(np.eye(4, k=1) + np.eye(4, k=-1))
    F = propagate(graph, Constraints.from_pairs(4, must_link=[(0, 1)], cannot_link=[(0, 3)]))
    first, second = np.triu_indices(4, k=1)
    chances = np.abs(F.toarray()[first, second])
    chances /= chances.sum()
    rng = np.random.default_rng(0)
    drawn = np.zeros(6)
    for _ in range(2000):
        pair = F.sample(1, random_state=rng).pairs[0]
        drawn[(first == pair[0]) & (second == pair[1])] += 1
    sigma = np.sqrt(chances * (1 - chances) / 2000)
    assert (np.abs(drawn / 2000 - chances) < 5 * sigma).all()


@pytest.mark.parametrize("kind", ["pairs", "labels", "nothing"])
def test_applied_is_multiplied(kind):
    F = propagate(FORMS["sparse"](), KNOWLEDGE[kind])
    block = np.random.default_rng(0).normal(size=(90, 3))
    np.testing.assert_allclose(F @ block, F.toarray() @ block, atol=1e-12)
    np.testing.assert_allclose(F @ block[:, 0].tolist(), F.toarray() @ block[:, 0], atol=1e-12)
    assert F.n_samples == 90


@pytest.mark.parametrize("n", [0, -1, 2.5])
def test_how_many_must_be_a_count(n):
    F = propagate(FORMS["sparse"](), KNOWLEDGE["pairs"])
    with pytest.raises(ValueError, match=r"n=.* must be a whole number, at least 1"):
        F.strongest(n)
    with pytest.raises(ValueError, match=r"n=.* must be a whole number, at least 1"):
        F.sample(n)
