import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.linalg import LinearOperator, aslinearoperator, splu

from sidecut.exceptions import SpectralError, SpectralWarning
from sidecut.spectral import pencil, pencil_eigenpairs
from sidecut.spectral.pencil import DENSE_NODES
from sidecut.spectral.result import RitzPairs

#: Just enough for the iterative route.
ORDER = DENSE_NODES + 20


def sparse_pencil(n=ORDER, seed=0, definite_by=0.5):
    """A sparse indefinite A and a sparse positive definite B."""
    rng = np.random.default_rng(seed)
    A = sp.random_array((n, n), density=3 / n, rng=rng, data_sampler=lambda size: rng.standard_normal(size))
    root = sp.random_array((n, n), density=2 / n, rng=rng)
    return sp.csr_array(A + A.T), sp.csr_array(root @ root.T + definite_by * sp.eye_array(n))


def assert_solves(pairs, A, B, which, *, rtol=1e-7):
    A, B = (matrix.toarray() if sp.issparse(matrix) else matrix for matrix in (A, B))
    values, vectors = scipy.linalg.eigh(A, B)
    if which == "largest":
        values, vectors = values[::-1], vectors[:, ::-1]
    count = pairs.values.size
    scale = np.abs(values).max()
    np.testing.assert_allclose(pairs.values, values[:count], atol=rtol * scale)
    np.testing.assert_allclose(pairs.vectors.T @ B @ pairs.vectors, np.eye(count), atol=1e-7)
    residuals = np.linalg.norm(A @ pairs.vectors - B @ pairs.vectors * pairs.values, axis=0)
    np.testing.assert_allclose(pairs.residuals, residuals, atol=1e-9 * scale * np.linalg.norm(B, 2))
    # Compare spaces up to the last clear gap among the wanted values.
    gaps = np.flatnonzero(np.abs(np.diff(values[: count + 1])) > 1e-4 * scale)
    if gaps.size:
        clear = int(gaps[-1]) + 1
        overlap = vectors[:, :clear].T @ B @ pairs.vectors[:, :clear]
        np.testing.assert_allclose(np.linalg.svd(overlap, compute_uv=False), 1.0, atol=1e-5)
    largest = np.abs(pairs.vectors).argmax(axis=0)
    assert np.all(pairs.vectors[largest, np.arange(count)] > 0)


@settings(max_examples=60, deadline=None)
@given(n=st.integers(1, 15), seed=st.integers(0, 10**6), data=st.data())
def test_small_pencils_are_those_of_lapack(n, seed, data):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((n, n))
    root = rng.standard_normal((n, n))
    A, B = A + A.T, root @ root.T + 0.1 * np.eye(n)
    count = data.draw(st.integers(1, n))
    which = data.draw(st.sampled_from(["largest", "smallest"]))
    pairs = pencil_eigenpairs(A, B, count, which=which)
    assert_solves(pairs, A, B, which)
    assert pairs.certificate.is_proof


@pytest.mark.parametrize("which", ["largest", "smallest"])
@pytest.mark.parametrize("form", ["sparse", "dense", "operator", "solve_B"])
def test_every_form_of_a_large_pencil(form, which):
    A, B = sparse_pencil()
    options = {}
    given_A, given_B = A, B
    if form == "dense":
        given_A, given_B = A.toarray(), B.toarray()
    elif form == "operator":
        given_A, given_B = aslinearoperator(A), aslinearoperator(B)
    elif form == "solve_B":
        options["solve_B"] = splu(sp.csc_array(B)).solve
        given_B = aslinearoperator(B)
    pairs = pencil_eigenpairs(given_A, given_B, 4, which=which, random_state=0, **options)
    assert_solves(pairs, A, B, which)
    assert pairs.certificate.complete
    assert pairs.certificate.method == ("inertia" if form == "sparse" else "random start")
    told = {"sparse": "sparse", "dense": "Cholesky", "operator": "conjugate", "solve_B": "given"}[form]
    assert told in pairs.solver


@pytest.mark.parametrize("which", ["largest", "smallest"])
def test_the_certificate_speaks_of_the_end_that_was_asked_for(which):
    A, B = sparse_pencil(seed=3)
    pairs = pencil_eigenpairs(A, B, 3, which=which, random_state=0)
    values = scipy.linalg.eigvalsh(A.toarray(), B.toarray())
    bound = pairs.certificate.certified_below
    beyond = values[values > bound] if which == "largest" else values[values < bound]
    assert beyond.size >= 3
    assert (bound <= pairs.values[-1]) if which == "largest" else (bound >= pairs.values[-1])


def test_a_matrix_of_low_rank():
    # The pencils of CSP: a few positive eigenvalues, a few negative ones, the rest zero.
    _, B = sparse_pencil()
    rng = np.random.default_rng(0)
    U = rng.standard_normal((ORDER, 6))
    A = LinearOperator(
        (ORDER, ORDER), matvec=lambda v: U @ (np.array([3, 2, 1, 1, -1, -2]) * (U.T @ v.ravel()))
    )
    dense = (U * np.array([3, 2, 1, 1, -1, -2])) @ U.T
    assert_solves(pencil_eigenpairs(A, B, 4, random_state=0), dense, B, "largest")


def test_more_values_than_a_matrix_of_low_rank_has():
    # Everything past the second eigenvalue is zero, many times over: found, and counted up to there.
    _, B = sparse_pencil()
    A = sp.csr_array(([1.0, 1.0, -2.0], ([0, 5, 7], [0, 5, 7])), shape=(ORDER, ORDER))
    pairs = pencil_eigenpairs(A, B, 4, random_state=0)
    assert_solves(pairs, A, B, "largest")
    assert pairs.certificate.complete
    assert "exactly 2 eigenvalues" in str(pairs.certificate)
    assert "coincide" in str(pairs.certificate)


@pytest.mark.parametrize("condition", [1e4, 1e8])
@pytest.mark.parametrize("form", ["sparse", "dense"])
def test_an_ill_conditioned_B(condition, form):
    rng = np.random.default_rng(0)
    B = sp.diags_array(np.geomspace(1 / condition, 1, ORDER)[rng.permutation(ORDER)], format="csr")
    A, _ = sparse_pencil()
    scale = sp.diags_array(np.sqrt(B.diagonal()))
    A = sp.csr_array(scale @ A @ scale)
    wanted = pencil_eigenpairs(
        *((A, B) if form == "sparse" else (A.toarray(), B.toarray())), 3, random_state=0
    )
    assert_solves(wanted, A, B, "largest", rtol=1e-6)
    assert wanted.certificate.complete


@pytest.mark.parametrize("n", [30, ORDER])
@pytest.mark.parametrize("form", ["dense", "sparse"])
@pytest.mark.parametrize("eigenvalue", [-1.0, 0.0])
def test_a_B_that_is_not_definite(n, form, eigenvalue):
    diagonal = np.ones(n)
    diagonal[n // 2] = eigenvalue
    A, B = np.diag(np.arange(float(n))), np.diag(diagonal)
    if form == "sparse":
        A, B = sp.csr_array(A), sp.csr_array(B)
    with pytest.raises(SpectralError, match="B is not positive definite"):
        pencil_eigenpairs(A, B, 2, random_state=0)


def test_definiteness_is_seen_before_any_iteration():
    with pytest.raises(SpectralError, match="B is not positive definite"):
        pencil._sparse_inverse(sp.diags_array([1.0, -1e-6, 1.0], format="csc"))


def test_an_operator_B_that_is_not_definite():
    diagonal = np.where(np.arange(ORDER) % 2, 1.0, -1.0)
    A = sp.diags_array(np.arange(float(ORDER)))
    with pytest.raises(SpectralError):
        pencil_eigenpairs(A, aslinearoperator(sp.diags_array(diagonal)), 2, random_state=0)


@pytest.mark.parametrize("shapes", [((3, 3), (4, 4)), ((3, 4), (3, 4)), ((3,), (3,))])
def test_wrong_shapes_are_named(shapes):
    with pytest.raises(ValueError, match="square and of one size") as caught:
        pencil_eigenpairs(np.ones(shapes[0]), np.ones(shapes[1]), 1)
    assert str(shapes[0]) in str(caught.value)
    assert str(shapes[1]) in str(caught.value)


def test_impossible_requests_are_named():
    with pytest.raises(ValueError, match="n_vectors=4 eigenvectors of an order-3 pencil"):
        pencil_eigenpairs(np.eye(3), np.eye(3), 4)
    with pytest.raises(ValueError, match="which='both'"):
        pencil_eigenpairs(np.eye(3), np.eye(3), 1, which="both")


@pytest.mark.parametrize("form", ["sparse", "operator"])
def test_a_missed_eigenvector_is_noticed(form, monkeypatch):
    A, B = sparse_pencil(seed=1)
    real = pencil._krylov_eigenvectors

    def forgetful(problem, solve, count, rng):
        values, vectors, _ = problem.refine(real(problem, solve, count + 1, rng))
        assert values[0] > values[1]
        return vectors[:, 1:]

    monkeypatch.setattr(pencil, "_krylov_eigenvectors", forgetful)
    if form == "operator":
        A, B = aslinearoperator(A), aslinearoperator(B)
    for seed in range(3):
        with pytest.warns(SpectralWarning, match=r"could not be certified.*(missed|were found)") as caught:
            pairs = pencil_eigenpairs(A, B, 3, random_state=seed)
        assert not pairs.certificate.complete
        assert caught[0].filename == __file__


@pytest.mark.parametrize("seed", range(5))
def test_certificates_from_a_random_start_are_truthful(seed):
    A, B = sparse_pencil(seed=seed)
    problem = pencil._pencil(A, B, sign=1.0)
    values, vectors = scipy.linalg.eigh(A.toarray(), B.toarray())
    values, vectors = values[::-1], vectors[:, ::-1]
    solve = splu(sp.csc_array(B)).solve
    operators = pencil._pencil(aslinearoperator(A), aslinearoperator(B), sign=1.0)
    for missing in (None, 0, 1, 2):
        kept = [i for i in range(6) if i != missing]
        pairs = problem.refine(vectors[:, kept])
        assert isinstance(pairs, RitzPairs)
        certificate = pencil._certify(operators, solve, pairs, 3, np.random.RandomState(seed))
        assert certificate.complete == (missing is None)
        if missing is None:
            assert certificate.certified_below >= values[6] * (1 - 1e-9)


def test_too_dear_to_factorise(monkeypatch, textbook):
    monkeypatch.setattr(pencil, "FACTOR_WORK", 0.0)
    B = sp.csr_array(textbook.dense_laplacian(textbook.grid(30, 28)) + 0.01 * np.eye(840))
    A = sp.diags_array(np.r_[np.linspace(1, 2, 5), np.zeros(835)], format="csr")
    pairs = pencil_eigenpairs(A, B, 3, random_state=0)
    assert_solves(pairs, A, B, "largest")
    assert pairs.solver == "Lanczos, B by multigrid"
    assert pairs.certificate.method == "random start"
    assert "for a chance of 1e-08" in str(pairs.certificate)


@pytest.mark.parametrize("condition", [1.0, 1e3, 1e9])
def test_the_condition_number_of_B_is_bounded_from_above(condition):
    diagonal = np.geomspace(1e-3, 1e-3 * condition, ORDER)
    problem = pencil._pencil(sp.eye_array(ORDER), sp.diags_array(diagonal), sign=1.0)
    for seed in range(10):
        bound = pencil._condition(problem, lambda b: b / diagonal, np.random.RandomState(seed))
        assert condition <= bound * (1 + 1e-9)
        assert bound < 1e4 * condition


def test_results_are_reproducible_and_leave_no_trace():
    A, B = sparse_pencil()
    np.random.seed(5)  # noqa: NPY002
    before = np.random.get_state()  # noqa: NPY002
    first, second = (
        pencil_eigenpairs(aslinearoperator(A), aslinearoperator(B), 3, random_state=1) for _ in range(2)
    )
    np.testing.assert_array_equal(first.vectors, second.vectors)
    assert first.certificate == second.certificate
    np.testing.assert_array_equal(before[1], np.random.get_state()[1])  # noqa: NPY002
