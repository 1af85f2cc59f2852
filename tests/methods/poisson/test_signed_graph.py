import numpy as np
import pytest

from sidecut import Constraints
from sidecut.graphs import as_graph
from sidecut.methods.poisson.equation import SignedGraph


def random_weights(rng, n, share=0.3):
    weights = np.where(rng.random((n, n)) < share, rng.random((n, n)), 0.0)
    weights = np.triu(weights, 1)
    return weights + weights.T


def by_the_formula(weights, beliefs, gamma):
    """A as the module's docstring defines it, entry by entry."""
    n = len(weights)
    degrees = weights.sum(axis=1)
    typical = np.maximum(degrees, degrees[degrees > 0].mean())
    crowd = np.maximum(1.0, np.abs(beliefs).sum(axis=1))
    links = np.array(
        [
            [
                gamma * beliefs[i, j] * np.sqrt(typical[i] * typical[j] / (crowd[i] * crowd[j]))
                for j in range(n)
            ]
            for i in range(n)
        ]
    )
    total = degrees + np.abs(links).sum(axis=1)
    scale = np.where(total > 0, 1 / np.sqrt(np.where(total > 0, total, 1)), 0.0)
    return np.eye(n) - scale[:, None] * (weights + links) * scale, total


@pytest.mark.parametrize("gamma", [0.3, 2.0, 50.0])
@pytest.mark.parametrize("form", [np.asarray, lambda w: as_graph(w).matrix])
def test_the_operator_is_the_formula(gamma, form):
    rng = np.random.default_rng(0)
    weights = random_weights(rng, 12)
    weights[3] = weights[:, 3] = 0.0
    must, cannot = [(0, 1), (1, 5), (3, 7)], [(0, 5), (2, 9), (3, 10), (2, 4)]
    known = Constraints.from_pairs(12, must, cannot, [0.5, 1, 2], [0.1, 1, 1, 3], on_conflict="weigh")
    signed = SignedGraph(as_graph(form(weights)), known, link_weight=gamma)
    expected, degrees = by_the_formula(weights, known.as_matrix().toarray(), gamma)
    np.testing.assert_allclose(signed.degrees, degrees)
    np.testing.assert_allclose(signed.laplacian(np.eye(12)), expected, atol=1e-12)
    eigenvalues = np.linalg.eigvalsh(expected)
    assert eigenvalues.min() > -1e-12
    assert eigenvalues.max() < 2 + 1e-12


def test_relations_of_seeds_are_no_links():
    rng = np.random.default_rng(1)
    weights = random_weights(rng, 10)
    known = Constraints.from_labels([0, 0, 1, 1, 2] + 5 * [-1]) | Constraints.from_pairs(
        10, [(7, 8)], [(0, 9)]
    )
    beliefs = known.as_matrix().toarray()
    beliefs[np.diag_indices(10)] = 0.0
    beliefs[:5, :5] = 0.0
    signed = SignedGraph(as_graph(weights), known, np.arange(5), 2.0)
    expected, _ = by_the_formula(weights, beliefs, 2.0)
    np.testing.assert_allclose(signed.laplacian(np.eye(10)), expected, atol=1e-12)


def test_labels_alone_leave_the_graph_as_it_is():
    weights = random_weights(np.random.default_rng(2), 10)
    known = Constraints.from_labels([0, 0, 1] + 7 * [-1])
    signed = SignedGraph(as_graph(weights), known, np.arange(3), 2.0)
    assert not signed.has_links
    np.testing.assert_allclose(signed.degrees, weights.sum(axis=1))


@pytest.mark.parametrize("seed", range(12))
def test_the_null_space_is_known(seed):
    """Components, some joined by must-links, some kept apart, with and without frustration."""
    rng = np.random.default_rng(seed)
    blocks = [rng.random((size, size)) for size in rng.integers(1, 5, size=6)]
    n = sum(map(len, blocks))
    weights, start = np.zeros((n, n)), 0
    for block in blocks:
        stop = start + len(block)
        weights[start:stop, start:stop] = np.triu(block, 1) + np.triu(block, 1).T
        start = stop
    weights[0, 1] = weights[1, 0] = 1.0
    pairs = np.unique(np.sort(rng.integers(0, n, (5, 2)), axis=1), axis=0)
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    together = rng.random(len(pairs)) < 0.5
    known = Constraints.from_pairs(n, pairs[together], pairs[~together], on_conflict="weigh")
    if known.n_conflicts:
        known = Constraints.from_pairs(n, cannot_link=pairs)
    signed = SignedGraph(as_graph(weights), known)
    operator = signed.laplacian(np.eye(n))
    null = signed.null_vectors.toarray()
    np.testing.assert_allclose(operator @ null, 0.0, atol=1e-12)
    np.testing.assert_allclose(null.T @ null, np.eye(null.shape[1]), atol=1e-12)
    assert null.shape[1] == np.count_nonzero(np.linalg.eigvalsh(operator) < 1e-10)
