"""Graphs that all but fall apart, and points that take no part."""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp

from sidecut import CSP, Constraints
from sidecut.constraints import sample_pairs
from sidecut.graphs import as_graph
from sidecut.methods.csp.cuts import feasible_cuts
from sidecut.methods.csp.pencil import few_positive


def bridged(n, weight, seed=0):
    """Two random graphs of n nodes each, with paths through them, and a bridge between the first nodes."""
    rng = np.random.default_rng(seed)
    weights = np.zeros((2 * n, 2 * n))
    for start in (0, n):
        block = np.triu(rng.random((n, n)) * (rng.random((n, n)) < 0.3), 1)
        block[np.arange(n - 1), np.arange(1, n)] = 1.0
        weights[start : start + n, start : start + n] = block + block.T
    weights[0, n] = weights[n, 0] = weight
    return as_graph(sp.csr_array(weights))


@pytest.mark.parametrize("bridge", [1e-6, 1e-9, 1e-12, 1e-13, 1e-15])
def test_a_feeble_bridge_does_not_blur_the_other_cuts(bridge):
    """Both cuts are within the parts: their costs and residuals must not depend on the bridge."""
    labels = np.full(40, -1)
    labels[:10], labels[20:25], labels[25:28] = [0] * 6 + [1] * 4, 2, 1
    known = Constraints.from_labels(labels)
    cuts = feasible_cuts(bridged(20, bridge), known, n_clusters=3)
    apart = feasible_cuts(bridged(20, 1e-5), known, n_clusters=3)
    assert cuts.residuals.max() < 2e-6
    np.testing.assert_allclose(cuts.costs, apart.costs, rtol=1e-4)


def test_no_tolerance_is_as_far_as_rounding_goes():
    known = Constraints.from_labels(np.where(np.arange(40) % 3 == 0, np.arange(40) // 20, -1))
    cuts = feasible_cuts(bridged(20, 0.1), known, n_clusters=2, tol=0)
    assert cuts.residuals.max() < 1e-11
    assert CSP(2, tol=0, safe=False, affinity="precomputed").fit(bridged(20, 0.1), constraints=known).tol == 0


def test_isolated_points_take_no_part_in_a_source_graph():
    """K4 and two isolated nodes; the source graph is three disjoint edges, one of them between these two."""
    weights = np.zeros((6, 6))
    weights[:4, :4] = 1.0 - np.eye(4)
    source = np.zeros((6, 6))
    source[[0, 1, 2, 3, 4, 5], [1, 0, 3, 2, 5, 4]] = 1.0
    cuts = feasible_cuts(as_graph(weights), Constraints.from_graph(source), 0.5, normalization="source")
    np.testing.assert_array_equal(cuts.vectors[4:], 0.0)
    # The same without them, by the textbook: L̄ v = λ (Q̄ - β/vol I) v.
    laplacian = np.eye(4) - weights[:4, :4] / 3.0
    values, vectors = scipy.linalg.eig(laplacian, source[:4, :4] - 0.5 / 12.0 * np.eye(4))
    feasible = np.flatnonzero((values.real > 1e-9) & np.isfinite(values.real))
    assert cuts.n_feasible == feasible.size == 1
    assert cuts.eigenvalues[0] == pytest.approx(values.real[feasible[0]])
    along = vectors[:, feasible[0]] @ cuts.vectors[:4, 0] / np.linalg.norm(cuts.vectors)
    assert abs(along) == pytest.approx(1.0)


def test_the_message_about_missing_cuts_does_not_contradict_itself():
    few = few_positive(np.array([3.0, 2.0, -1.0]), 3)
    assert "only 2 were found" in few
    rounding = few_positive(np.array([3.0, 2.0, 1.0]), 3)
    assert "only" in rounding
    assert "3 were found" not in rounding


@pytest.mark.parametrize("bridge", [1e-10, 1e-12, 1e-14, 1e-15, 1e-16])
@pytest.mark.parametrize("beta", [("fraction", 0.1), "eq19"])
def test_a_faint_bridge_of_a_small_graph_is_no_reason_to_refuse(bridge, beta):
    """Sixteen nodes: the answer is that without the bridge, whose cut costs nothing but rounding."""
    part = np.repeat([0, 1], 8)
    weights = np.triu(np.random.default_rng(5).random((16, 16)) * (part[:, None] == part), 1)
    must, cannot = [(0, 2), (3, 5), (1, 4), (8, 11)], [(0, 1), (2, 9), (9, 10), (0, 15), (3, 14)]
    known = Constraints.from_pairs(16, must, cannot)
    apart = feasible_cuts(as_graph(weights + weights.T), known, beta, n_clusters=3)
    weights[7, 8] = bridge
    cuts = feasible_cuts(as_graph(weights + weights.T), known, apart.beta, n_clusters=3)
    assert cuts.n_feasible == apart.n_feasible
    np.testing.assert_allclose(cuts.costs, apart.costs, atol=1e-6)
    np.testing.assert_allclose(cuts.satisfactions, apart.satisfactions, rtol=1e-5)
    assert cuts.residuals.max() < 2e-6


@pytest.mark.parametrize("bridge", [1e-14, 1e-16])
def test_a_faint_bridge_between_hundreds_of_nodes(bridge):
    rng = np.random.default_rng(0)
    known = sample_pairs(rng.integers(0, 3, 400), 60, random_state=0)
    joined, apart = bridged(200, bridge), bridged(200, 0.0)
    cuts = feasible_cuts(joined, known, n_clusters=3)
    expected = feasible_cuts(apart, known, cuts.beta, n_clusters=3)
    np.testing.assert_allclose(cuts.costs, expected.costs, atol=1e-5)
