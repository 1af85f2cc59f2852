"""The tridiagonal basis against its definition, and its cuts against those in eigenvectors of Ŝ."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from sidecut import SCACS, Constraints
from sidecut.constraints import sample_labels, sample_pairs
from sidecut.exceptions import ConstraintError, SpectralError
from sidecut.graphs import Landmarks, landmark_sums
from sidecut.methods.scacs import tridiagonal as landmark_tridiagonal
from sidecut.methods.scacs.cuts import build_constrained_problem, landmark_cuts, pose_problem
from sidecut.methods.scacs.problem import landmark_basis, normalize_gram
from sidecut.methods.scacs.tridiagonal import TridiagonalBasis, tridiagonal_basis

TRIDIAGONAL, DENSE = TridiagonalBasis.solver, "dense (LAPACK)"


def clouds(n_parts, seed, n=240, p=48):
    """A landmark graph of four classes, in one piece or several."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 4, n)
    X = rng.normal(size=(n, 3)) + 1.5 * rng.normal(size=(4, 3))[y]
    X[:, 0] += 100.0 * (y % n_parts)
    return Landmarks(landmarks=np.arange(p), n_nearest=5).build(X), y


def beliefs(kind, y, seed):
    rng = np.random.default_rng(seed)
    if kind == "labels":
        return sample_labels(y, 40, random_state=seed)
    if kind == "pairs":
        return sample_pairs(y, 3, random_state=seed)
    points = rng.choice(len(y), 5, replace=False)
    Q = np.zeros((len(y), len(y)))
    block = rng.normal(size=(5, 5))
    Q[np.ix_(points, points)] = block + block.T
    return Constraints.from_matrix(Q)


def both(graph, constraints, **settings):
    """The cuts in either basis."""
    known, points = constraints.restricted()
    codes, diagonal = graph.codes[points], settings.pop("diagonal", "known")
    bases = tridiagonal_basis(graph.sums), landmark_basis(graph.sums)
    problems = [build_constrained_problem(basis, graph.sums, codes, known, diagonal) for basis in bases]
    return problems, [landmark_cuts(problem, 4, **settings) for problem in problems]


@pytest.mark.parametrize("n_parts", [1, 3])
def test_the_basis_is_orthonormal_and_tridiagonal(n_parts):
    graph, _ = clouds(n_parts, 0)
    S = normalize_gram(graph.sums)
    A, basis, p = S - S @ S, tridiagonal_basis(graph.sums), len(S)
    N = basis.null
    assert N.shape[1] == n_parts
    T = basis.combine(np.eye(p + n_parts))
    # N and the columns that are left when N is taken out of the others.
    np.testing.assert_allclose(A @ N, 0.0, atol=1e-14)
    np.testing.assert_allclose(N.T @ S @ N, np.eye(n_parts), atol=1e-13)
    rest = T[:, n_parts:]
    np.testing.assert_allclose(rest.T @ (S - 0.5 * N @ N.T) @ rest, np.eye(p), atol=1e-10)
    block = np.random.default_rng(1).normal(size=(p, 2))
    outside = block - N @ (N.T @ block)
    coordinates = basis.coordinates(block)
    np.testing.assert_allclose(coordinates[:n_parts], N.T @ block, atol=1e-12)
    np.testing.assert_allclose(coordinates[n_parts:], rest.T @ outside, atol=1e-10)
    # Where a vector has no part in N, its price is that of A.
    y = basis.coordinates(S @ outside)
    np.testing.assert_allclose(basis.combine(y), outside, atol=1e-10)
    np.testing.assert_allclose(y.T @ basis.laplacian(y), outside.T @ A @ outside, atol=1e-11)
    assert np.count_nonzero(np.abs(np.triu(basis.laplacian(np.eye(p + n_parts)), 2)) > 0) == 0


@settings(deadline=None, max_examples=60)
@given(
    st.sampled_from(["labels", "pairs", "soft"]),
    st.sampled_from([1, 2, 4]),
    st.sampled_from([0.1, 0.5, 0.9]),
    st.booleans(),
    st.integers(0, 10_000),
)
def test_the_cuts_are_those_in_eigenvectors(kind, n_parts, beta0, orthogonal, seed):
    graph, y = clouds(n_parts, seed)
    assume(tridiagonal_basis(graph.sums) is not None)
    constraints = beliefs(kind, y, seed)
    try:
        problems, (quick, dense) = both(graph, constraints, beta0=beta0, orthogonal=orthogonal)
    except ConstraintError:
        return
    assert (quick.solver, dense.solver) == (TRIDIAGONAL, DENSE)
    largest = np.abs(problems[1].gamma).max()
    np.testing.assert_allclose(problems[0].gamma, problems[1].gamma, atol=1e-9 * largest)
    assert problems[0].total == pytest.approx(problems[1].total, abs=1e-12 * largest)
    assert quick.n_feasible == dense.n_feasible
    np.testing.assert_allclose(quick.beta, dense.beta, rtol=1e-8, atol=1e-12 * largest)
    # A β that is next to nothing beside the largest γ is known to a few digits only, and so are its cuts.
    assume(dense.beta > 1e-6 * largest)
    np.testing.assert_allclose(quick.costs, dense.costs, atol=1e-8)
    np.testing.assert_allclose(quick.eigenvalues, dense.eigenvalues, rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(quick.satisfactions, dense.satisfactions, rtol=1e-6)
    # What is rounding for μ = 1/λ is λ times as much for λ.
    assert np.all(quick.residuals < 1e-10 * (1.0 + quick.eigenvalues))
    S = normalize_gram(graph.sums)
    overlap = np.linalg.svd(quick.vectors.T @ S @ np.linalg.qr(dense.vectors)[0], compute_uv=False)
    span = np.linalg.svd(dense.vectors.T @ S @ np.linalg.qr(dense.vectors)[0], compute_uv=False)
    np.testing.assert_allclose(overlap, span, atol=1e-6)


@pytest.mark.parametrize("n_parts", [1, 3])
def test_the_cuts_solve_eq_16_as_printed(n_parts):
    graph, y = clouds(n_parts, 2)
    constraints = beliefs("labels", y, 2)
    (problem, _), (cuts, _) = both(graph, constraints, diagonal="given")
    Z = graph.codes.toarray().T / np.sqrt(graph.sums.degrees)[:, None]
    S, Q = Z @ Z.T, Z @ constraints.as_matrix().toarray() @ Z.T
    u, lam = cuts.vectors, cuts.eigenvalues
    np.testing.assert_allclose((S - S @ S) @ u, (Q - cuts.beta * S) @ u * lam, atol=1e-11)
    np.testing.assert_allclose(np.einsum("ij,ij->j", u, S @ u), 1.0, atol=1e-11)
    np.testing.assert_allclose(np.einsum("ij,ij->j", u, Q @ u), cuts.satisfactions, rtol=1e-10)
    assert problem.n_samples == graph.n_nodes


def test_cuts_that_come_in_pairs():
    """Two copies of one graph with the same labels: every γ and every λ is double."""
    graph, y = clouds(1, 3)
    codes = sp.csr_array(sp.block_diag([graph.codes, graph.codes]))
    known = np.where(np.arange(len(y)) % 6 == 0, y, -1)
    labels = np.concatenate([known, np.where(known >= 0, known + 4, -1)])
    points = np.flatnonzero(labels >= 0)
    same = Constraints.from_labels(known).as_matrix()
    twice = Constraints.from_matrix(sp.block_diag([same, same])).restricted_to(points)
    sums = landmark_sums(codes)
    bases = tridiagonal_basis(sums), landmark_basis(sums)
    quick, dense = (
        landmark_cuts(build_constrained_problem(basis, sums, codes[points], twice), 4, beta0=0.3)
        for basis in bases
    )
    assert quick.n_feasible == dense.n_feasible
    np.testing.assert_allclose(np.sort(quick.eigenvalues), np.sort(dense.eigenvalues), rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(quick.costs, dense.costs, atol=1e-9)
    assert np.linalg.matrix_rank(quick.vectors, tol=1e-6) == quick.n_feasible


# Which way is taken


def posed(graph, constraints, **settings):
    known, points = constraints.restricted()
    return pose_problem(graph.sums, graph.codes[points], known, **settings)


def test_labels_of_few_classes_take_the_short_way():
    graph, y = clouds(1, 4)
    problem = posed(graph, sample_labels(y, 100, random_state=0))
    assert landmark_cuts(problem, 4).solver == TRIDIAGONAL


def test_many_pairs_and_the_literal_diagonal_take_the_long_way():
    graph, y = clouds(1, 4)
    assert landmark_cuts(posed(graph, sample_pairs(y, 60, random_state=0)), 4, beta0=0.5).solver == DENSE
    few = sample_labels(y, 4, random_state=0) | Constraints.from_matrix(np.eye(len(y)))
    assert landmark_cuts(posed(graph, few, diagonal="given"), 4, beta=1.01).solver == DENSE


def test_redundant_landmarks_take_the_long_way():
    """The last two landmarks have the same part in every code, so that Ŝ is singular."""
    codes = np.zeros((40, 16))
    codes[np.arange(40), np.arange(40) % 14] = 1.0
    codes[:, 13] += 1.0
    codes[:, 14] = codes[:, 15] = 0.5
    codes = sp.csr_array(codes / codes.sum(axis=1, keepdims=True))
    sums = landmark_sums(codes)
    assert np.linalg.eigvalsh(normalize_gram(sums))[0] < 1e-15
    assert tridiagonal_basis(sums) is None
    known = Constraints.from_labels(np.arange(40) % 2)
    cuts = landmark_cuts(pose_problem(sums, codes, known), 2)
    assert cuts.solver == DENSE
    assert cuts.residuals.max() < 1e-10


def test_a_search_that_fails_takes_the_long_way(monkeypatch):
    graph, y = clouds(1, 5)
    problem = posed(graph, sample_labels(y, 60, random_state=0))
    expected = landmark_cuts(problem, 4)

    def fails(*_):
        raise SpectralError("not found")

    monkeypatch.setattr(landmark_tridiagonal, "low_rank_pairs", fails)
    cuts = landmark_cuts(problem, 4)
    assert (expected.solver, cuts.solver) == (TRIDIAGONAL, DENSE)
    np.testing.assert_allclose(cuts.costs, expected.costs, atol=1e-10)


def test_a_singular_beta_is_refused_either_way():
    graph, _ = clouds(1, 6)
    problem = posed(graph, Constraints.from_pairs(graph.n_nodes, must_link=[(0, 1), (2, 3)]))
    assert isinstance(problem.basis, TridiagonalBasis)
    with pytest.raises(SpectralError, match=r"makes eq\. 16 singular"):
        landmark_cuts(problem, 2, beta=problem.total)


def test_step_9_as_printed_leaves_nothing():
    graph, y = clouds(1, 7)
    problem = posed(graph, sample_labels(y, 60, random_state=0))
    # It keeps the cuts with 1ᵀŜu = 0.
    assert np.abs(normalize_gram(problem.sums).sum(axis=0) @ landmark_cuts(problem, 4).vectors).min() > 1e-6


def test_fits_agree(monkeypatch):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 400)
    X = rng.normal(size=(400, 4)) + 2.0 * rng.normal(size=(3, 4))[y]
    known = sample_labels(y, 40, random_state=0)
    model = SCACS(3, safe=False, n_landmarks=100, random_state=0)
    quick = model.fit(X, constraints=known)
    assert quick.cuts_.solver == TRIDIAGONAL
    vectors, labels = quick.eigenvectors_, quick.labels_
    monkeypatch.setattr("sidecut.methods.scacs.cuts.tridiagonal_basis", lambda sums: None)
    dense = model.fit(X, constraints=known)
    assert dense.cuts_.solver == DENSE
    np.testing.assert_allclose(vectors, dense.eigenvectors_, atol=1e-9)
    np.testing.assert_array_equal(labels, dense.labels_)
