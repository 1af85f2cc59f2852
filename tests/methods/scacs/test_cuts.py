"""Steps 4 to 10 of Algorithm 1, against QZ on the p x p matrices as printed."""

import numpy as np
import pytest
import scipy.linalg

from sidecut import Constraints
from sidecut.exceptions import ConstraintError, ConstraintWarning, SpectralError
from sidecut.graphs import Landmarks, constraint_gram
from sidecut.methods.csp.cuts import feasible_cuts
from sidecut.methods.scacs.cuts import landmark_basis, landmark_cuts, normalize_gram, pose_problem

N = 200


@pytest.fixture(scope="module")
def clouds():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, N)
    return rng.normal(size=(N, 3)) + 2.0 * rng.normal(size=(3, 3))[y], y


@pytest.fixture(scope="module")
def graph(clouds):
    graph = Landmarks(landmarks=np.arange(60), n_nearest=6).build(clouds[0])
    assert graph.n_components == 1
    return graph


def form_of(problem):
    """TᵀQ̂T."""
    return problem.W @ problem.form @ problem.W.T


def posed(graph, constraints, diagonal="given"):
    known, points = constraints.restricted()
    return pose_problem(graph.sums, graph.codes[points], known, diagonal)


def printed_matrices(graph, constraints):
    """Ẑ, Ŝ, Q̂ and A of eqs. 3, 6 and 7, dense."""
    Z = graph.codes.toarray().T
    Z = Z / np.sqrt(Z.sum(axis=1))[:, None]
    S = Z @ Z.T
    return Z, S, Z @ constraints.as_matrix().toarray() @ Z.T, S - S @ S


def printed_solution(graph, constraints, beta):
    """Eq. 16 by QZ: λ > 0 with uᵀ(Q̂ - βŜ)u > 0, uᵀŜu = 1."""
    _, S, Q, A = printed_matrices(graph, constraints)
    values, vectors = scipy.linalg.eig(A, Q - beta * S)
    values, vectors = values.real, vectors.real
    vectors = vectors / np.sqrt(np.einsum("ij,ij->j", vectors, S @ vectors))
    surplus = np.einsum("ij,ij->j", vectors, (Q - beta * S) @ vectors)
    kept = np.isfinite(values) & (values > 1e-9) & (surplus > 1e-9)
    costs = np.einsum("ij,ij->j", vectors, A @ vectors)[kept]
    order = np.argsort(costs)
    return values[kept][order], costs[order], vectors[:, kept][:, order]


def test_the_problem_is_the_printed_one_in_another_basis(graph, clouds, kind, make_beliefs):
    constraints = make_beliefs(kind, clouds[1], 1)
    _, S, Q, _ = printed_matrices(graph, constraints)
    problem = posed(graph, constraints)
    T = problem.basis.vectors
    np.testing.assert_allclose(form_of(problem), T.T @ Q @ T, atol=1e-8)
    gamma = scipy.linalg.eigh(Q, S, eigvals_only=True)[::-1]
    np.testing.assert_allclose(problem.gamma, gamma, atol=1e-7 * np.abs(gamma).max())
    total = constraints.as_matrix().sum() / N
    assert problem.total == pytest.approx(total, abs=1e-9)
    known, points = constraints.restricted()
    np.testing.assert_allclose(
        normalize_gram(graph.sums, constraint_gram(graph.codes[points], known)), Q, atol=1e-11
    )


@pytest.mark.parametrize("share", [0.05, 0.5, 0.9])
def test_cuts_are_those_of_eq_16(graph, clouds, kind, make_beliefs, share):
    constraints = make_beliefs(kind, clouds[1], 2)
    problem = posed(graph, constraints)
    beta = share * problem.gamma[0]
    values, costs, _ = printed_solution(graph, constraints, beta)
    if len(values) == 0:
        with pytest.raises(ConstraintError, match="leaves no feasible cut"):
            landmark_cuts(problem, 3, beta=beta)
        return
    cuts = landmark_cuts(problem, 3, beta=beta)
    assert cuts.n_feasible == len(values)
    np.testing.assert_allclose(cuts.costs, costs, atol=1e-7)
    np.testing.assert_allclose(np.sort(cuts.eigenvalues), np.sort(values), rtol=1e-5)
    _, S, Q, _ = printed_matrices(graph, constraints)
    np.testing.assert_allclose(np.einsum("ij,ij->j", cuts.vectors, S @ cuts.vectors), 1.0, atol=1e-8)
    np.testing.assert_allclose(
        np.einsum("ij,ij->j", cuts.vectors, Q @ cuts.vectors), cuts.satisfactions, rtol=1e-7, atol=1e-9
    )
    assert (cuts.satisfactions > beta).all()
    assert cuts.residuals.max() < 1e-7


def test_the_number_of_feasible_cuts_is_known_beforehand(graph, clouds, make_beliefs):
    for kind in ("labels", "must", "soft", "pairs"):
        for seed in range(5):
            constraints = make_beliefs(kind, clouds[1], seed)
            problem = posed(graph, constraints)
            for beta in np.array([0.03, 0.2, 0.6]) * problem.gamma[0]:
                expected = np.count_nonzero(problem.gamma > beta) - (constraints.as_matrix().sum() > beta * N)
                found = len(printed_solution(graph, constraints, beta)[0])
                assert found == expected


def test_the_galerkin_property_of_problem_2(graph, clouds, make_beliefs):
    """For p < n the residual of eq. 5 is orthogonal to all v = Ẑᵀu, but not zero."""
    constraints = make_beliefs("labels", clouds[1], 0)
    cuts = landmark_cuts(posed(graph, constraints), 3)
    Z = printed_matrices(graph, constraints)[0]
    V, Q = Z.T @ cuts.vectors, constraints.as_matrix().toarray()
    residual = V - Z.T @ (Z @ V) - (Q @ V - cuts.beta * V) * cuts.eigenvalues
    assert np.abs(Z @ residual).max() < 1e-8
    assert np.abs(residual).max() > 1e-3


def test_all_points_as_landmarks_are_csp_on_the_landmark_graph(clouds, make_beliefs):
    """Problem 2 is Problem 1 only if p = n and Ẑ is regular."""
    X, y = clouds[0][:80], clouds[1][:80]
    graph = Landmarks(landmarks=np.arange(80), n_nearest=6, sigma=0.7).build(X)
    constraints = make_beliefs("labels", y, 0)
    ours = landmark_cuts(posed(graph, constraints), 3)
    theirs = feasible_cuts(graph, constraints, beta=80 * ours.beta, n_clusters=3, tol=1e-9)
    assert ours.n_feasible == theirs.n_feasible
    np.testing.assert_allclose(ours.costs, theirs.costs, atol=1e-6)
    V = graph.factor @ ours.vectors
    cosines = np.abs(np.einsum("ij,ij->j", V, theirs.vectors / np.sqrt(80)))
    np.testing.assert_allclose(cosines, 1.0, atol=1e-6)


def test_beta_is_a_share_of_gamma(graph, clouds, make_beliefs):
    constraints = make_beliefs("labels", clouds[1], 3)
    problem = posed(graph, constraints)
    cuts = landmark_cuts(problem, 3, beta0=0.1)
    assert cuts.beta == pytest.approx(0.1 * problem.gamma[1])
    by_share = landmark_cuts(problem, 3, beta0="labelled_share")
    assert by_share.beta == pytest.approx((0.5 + 0.4 * problem.n_known / N) * problem.gamma[1])
    assert landmark_cuts(problem, 3, beta=0.123).beta == 0.123


def test_beta_grows_with_the_labels_there_are_for_a_landmark(graph, clouds):
    """β₀ = c / (c + p) for c labels, and 0.1 at least."""
    p = graph.factor.shape[1]
    for n_labels in (2, 6, 30):
        labels = np.where(np.arange(N) < n_labels, clouds[1], -1)
        problem = posed(graph, Constraints.from_labels(labels))
        share = max(n_labels / (n_labels + p), 0.1)
        expected = landmark_cuts(problem, 2, beta0=share)
        assert landmark_cuts(problem, 2).beta == pytest.approx(expected.beta)


def test_the_diagonals(graph, clouds):
    pairs = Constraints.from_pairs(N, must_link=[(0, 5)], cannot_link=[(3, 9)])
    given, known = (form_of(posed(graph, pairs, diagonal)) for diagonal in ("given", "known"))
    everyone = form_of(posed(graph, pairs | Constraints.from_matrix(np.eye(N)), "given"))
    np.testing.assert_allclose(everyone, given + np.eye(len(given)), atol=1e-9)
    T, Z = landmark_basis(graph.sums).vectors, printed_matrices(graph, pairs)[0]
    rows = (Z.T @ T)[[0, 3, 5, 9]]
    np.testing.assert_allclose(known, given + rows.T @ rows, atol=1e-9)


def test_the_literal_diagonal_leaves_constraints_idle_below_one(graph, clouds):
    few = Constraints.from_labels(np.where(np.arange(N) < 8, clouds[1], -1))
    problem = posed(graph, few | Constraints.from_matrix(np.eye(N)), "given")
    with pytest.warns(ConstraintWarning, match="directions feasible, so that the constraints"):
        cuts = landmark_cuts(problem, 3, beta=0.5)
    assert cuts.n_feasible > 0.9 * problem.gamma.size
    assert landmark_cuts(posed(graph, few, "known"), 3).n_feasible <= 2


def test_projected_cuts_are_orthogonal_to_the_constant(graph, clouds, make_beliefs):
    constraints = make_beliefs("labels", clouds[1], 4)
    cuts = landmark_cuts(posed(graph, constraints), 3, orthogonal=True)
    V = graph.factor @ cuts.vectors
    np.testing.assert_allclose(V.sum(axis=0), 0.0, atol=1e-9)
    plain = landmark_cuts(posed(graph, constraints), 3)
    assert np.abs((graph.factor @ plain.vectors).sum(axis=0)).max() > 1e-3
    # The constant aside, V solves the problem restricted to vectors orthogonal to it.
    Q = constraints.as_matrix().toarray()
    across = np.eye(N) - 1.0 / N
    residual = V - graph.apply(V) - across @ (Q @ V - cuts.beta * V) * cuts.eigenvalues
    assert np.abs(graph.factor.T @ residual).max() < 1e-8


def test_beliefs_that_cannot_be_satisfied():
    X = np.random.default_rng(0).normal(size=(30, 2))
    graph = Landmarks(landmarks=np.arange(10), n_nearest=4).build(X)
    apart = Constraints.from_matrix(-np.eye(30))
    with pytest.raises(ConstraintError, match="Q̂ has no positive eigenvalue"):
        landmark_cuts(posed(graph, apart), 2)


def test_beta_within_rounding_of_the_constant_cut(graph):
    problem = posed(graph, Constraints.from_pairs(N, must_link=[(0, 1), (2, 3)]))
    with pytest.raises(SpectralError, match=r"makes eq\. 16 singular"):
        landmark_cuts(problem, 2, beta=problem.total)


# Disconnected graphs: cuts along components cost nothing and are kept, though λ = 0


@pytest.fixture(scope="module")
def parts():
    rng = np.random.default_rng(1)
    y = np.arange(120) % 4
    X = rng.normal(size=(120, 2)) + 40.0 * np.array([[0, 0], [1, 0], [0, 1], [1, 1]])[y]
    graph = Landmarks(landmarks=np.arange(40), n_nearest=3).build(X)
    assert graph.n_components == 4
    return graph, y


def test_zero_cost_cuts_come_first(parts):
    graph, y = parts
    constraints = Constraints.from_labels(np.where(np.arange(120) % 5 == 0, y, -1))
    cuts = landmark_cuts(posed(graph, constraints), 4)
    np.testing.assert_array_equal(cuts.costs[:3], 0.0)
    V = graph.factor @ cuts.vectors[:, :3]
    for component in range(4):
        assert np.ptp(V[graph.components == component], axis=0).max() < 1e-10


def test_zero_cost_cuts_are_those_of_csp(parts):
    graph, y = parts
    constraints = Constraints.from_labels(np.where(np.arange(120) % 5 == 0, y, -1))
    ours = landmark_cuts(posed(graph, constraints), 4)
    theirs = feasible_cuts(graph, constraints, beta=120 * ours.beta, n_clusters=4)
    assert ours.n_feasible == theirs.n_feasible
    np.testing.assert_allclose(ours.costs[:3], theirs.costs[:3], atol=1e-10)
    np.testing.assert_allclose(
        np.sort(120 * ours.satisfactions[:3]), np.sort(theirs.satisfactions[:3]), rtol=1e-6
    )


def test_projected_zero_cost_cuts(parts):
    graph, y = parts
    constraints = Constraints.from_labels(np.where(np.arange(120) % 5 == 0, y, -1))
    cuts = landmark_cuts(posed(graph, constraints), 4, orthogonal=True)
    np.testing.assert_array_equal(cuts.costs[:3], 0.0)
    np.testing.assert_allclose((graph.factor @ cuts.vectors).sum(axis=0), 0.0, atol=1e-10)
