import numpy as np
import pytest
import scipy.sparse as sp

from sidecut import Constraints
from sidecut.exceptions import ConvergenceWarning
from sidecut.graphs import Neighbors, as_graph
from sidecut.methods.poisson import equation
from sidecut.methods.poisson.equation import SignedGraph, balance_charges, solve_poisson, spread_labels


@pytest.fixture(scope="module")
def ring():
    """A neighbour graph of points on a noisy ring: connected, too large to be solved densely."""
    rng = np.random.default_rng(0)
    angle = np.sort(rng.uniform(0, 2 * np.pi, 700))
    X = np.column_stack([np.cos(angle), np.sin(angle)]) + 0.05 * rng.standard_normal((700, 2))
    return Neighbors(10).build(X)


def one_label_each(n, points, n_clusters):
    sources = np.zeros((n, n_clusters))
    sources[points, np.arange(len(points)) % n_clusters] = 1.0
    return sources


def test_potentials_are_the_pseudo_inverse_of_the_laplacian(ring):
    """The combinatorial Laplacian L u = b of the paper, degree-weighted mean zero, solved by brute force."""
    sources = one_label_each(700, [0, 250, 500, 600], 3)
    signed = SignedGraph(ring)
    assert signed.null_vectors.shape[1] == 1
    laplacian = np.diag(ring.degrees) - ring.toarray()
    charges = balance_charges(signed, sources)
    expected = np.linalg.pinv(laplacian, rcond=1e-10, hermitian=True) @ charges
    expected -= ring.degrees @ expected / ring.degrees.sum()
    found = solve_poisson(signed, sources, 1e-12)
    np.testing.assert_allclose(found.values, expected, atol=1e-8 * np.abs(expected).max())
    assert found.residual < 1e-11


def test_dense_and_iterated_solutions_agree(ring, monkeypatch):
    known = Constraints.from_pairs(700, [(3, 400)], [(10, 300), (20, 650)])
    sources = one_label_each(700, [0, 350], 2)
    signed = SignedGraph(ring, known)
    iterated = solve_poisson(signed, sources, 1e-12).values
    monkeypatch.setattr(equation, "DENSE_NODES", 1000)
    np.testing.assert_allclose(
        solve_poisson(signed, sources, 1e-12).values, iterated, atol=1e-7 * np.abs(iterated).max()
    )


def test_charges_are_the_papers_where_labels_are_balanced(ring):
    """b = Σ (y_j - ȳ) δ_j, here divided by the number of labels per class."""
    sources = one_label_each(700, [0, 100, 200, 300, 400, 500], 3)
    places = sources.any(axis=1)
    expected = np.where(places[:, None], sources - 1 / 3, 0.0) / 2
    np.testing.assert_allclose(balance_charges(SignedGraph(ring), sources), expected)


def test_a_single_label_of_each_cluster_is_right(ring):
    """G(i, j) <= G(j, j): the maximum principle."""
    rng = np.random.default_rng(2)
    for _ in range(5):
        points = rng.choice(700, 8, replace=False)
        values = solve_poisson(SignedGraph(ring), one_label_each(700, points, 8), 1e-10).values
        np.testing.assert_array_equal(values[points].argmax(axis=1), np.arange(8))


def test_every_component_is_solved_by_itself():
    paths = np.diag([1.0, 1.0, 0.0, 1.0, 1.0], 1)
    graph = as_graph(paths + paths.T)
    sources = np.zeros((6, 2))
    sources[[0, 3], 0] = sources[[2, 5], 1] = 1.0
    values = solve_poisson(SignedGraph(graph), sources, 1e-10).values
    np.testing.assert_allclose(values[:, 0], [0.5, 0.0, -0.5, 0.5, 0.0, -0.5], atol=1e-9)


def test_too_few_steps_are_told(ring, monkeypatch):
    monkeypatch.setattr(equation, "MAX_STEPS", 3)
    with pytest.warns(ConvergenceWarning, match=r"residual of .* in the Poisson equation; tol=1\.0e-08"):
        solve_poisson(SignedGraph(ring), one_label_each(700, [0, 350], 2), 1e-8)


def nearly_disconnected(n, bridge):
    """Three sparse random graphs of n nodes in a row, joined by single edges of small weight."""
    rng = np.random.default_rng(0)
    weights = np.zeros((3 * n, 3 * n))
    for first in (0, n, 2 * n):
        block = np.where(rng.random((n, n)) < 0.03, rng.random((n, n)), 0.0)
        block[np.arange(n - 1), np.arange(1, n)] = rng.random(n - 1)
        weights[first : first + n, first : first + n] = np.triu(block, 1)
    for first in (0, n):
        weights[first + rng.integers(n), first + n + rng.integers(n)] = bridge
    points = rng.choice(3 * n, 12, replace=False)
    return as_graph(sp.csr_array(weights + weights.T)), one_label_each(3 * n, points, 3)


def test_on_a_nearly_disconnected_graph_the_best_iterate_is_kept():
    """Rounding makes A indefinite: the last iterate has a residual of 20,000 here."""
    graph, sources = nearly_disconnected(210, 1e-12)
    with pytest.warns(ConvergenceWarning, match="Conjugate gradients left"):
        found = solve_poisson(SignedGraph(graph), sources, 1e-8)
    assert found.residual < 0.1


def test_the_warning_names_the_solver_that_ran():
    graph, sources = nearly_disconnected(100, 1e-12)
    with pytest.warns(ConvergenceWarning, match="The eigendecomposition left a relative residual"):
        solve_poisson(SignedGraph(graph), sources, 1e-8)


@pytest.mark.parametrize("remembered", [0.99, 0.97])
def test_spread_labels_are_the_shares_of_a_resolvent(ring, remembered):
    sources = one_label_each(700, [0, 250, 500], 3)
    signed = SignedGraph(ring)
    resolvent = np.linalg.solve(np.eye(700) - remembered * signed.affinity(np.eye(700)), sources)
    expected = resolvent / resolvent.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(spread_labels(signed, sources, remembered)[0], expected, atol=0.02)


def test_classes_with_many_labels_reach_no_further(ring):
    """The sources of every class are scaled to the same sum; equal numbers of labels are left as they are."""
    signed = SignedGraph(ring)
    sources = one_label_each(700, [0, 250, 500], 3)
    sources[[10, 20, 30], 0] = 1.0
    resolvent = np.linalg.solve(np.eye(700) - 0.95 * signed.affinity(np.eye(700)), sources / [4, 1, 1])
    expected = resolvent / resolvent.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(spread_labels(signed, sources, 0.95)[0], expected, atol=0.02)
    plain = np.linalg.solve(np.eye(700) - 0.95 * signed.affinity(np.eye(700)), sources)
    plain /= plain.sum(axis=1, keepdims=True)
    assert np.abs(plain - expected).max() > 0.2


def test_labels_spread_far_and_near_at_once_as_each_alone(ring):
    signed, sources = SignedGraph(ring), one_label_each(700, [0, 250, 500], 3)
    for remembered, shares in zip((0.99, 0.95), spread_labels(signed, sources, 0.99, 0.95), strict=True):
        np.testing.assert_allclose(shares, spread_labels(signed, sources, remembered)[0], atol=0.02)
        assert (shares.argmax(axis=1) == spread_labels(signed, sources, remembered)[0].argmax(axis=1)).all()
