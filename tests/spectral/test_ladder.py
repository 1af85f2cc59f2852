"""Which solver runs when another fails, and what is said when none will do."""

import numpy as np
import pytest

from sidecut.exceptions import SpectralError, SpectralWarning
from sidecut.graphs import SparseGraph, as_graph
from sidecut.spectral import Certificate, Eigenpairs, laplacian_eigenpairs
from sidecut.spectral import laplacian as front_door


def answering(certificate):
    def solve(problem, wanted, guards, rng, **kwargs):
        vectors = np.linalg.qr(problem.project(rng.standard_normal((problem.n, wanted))))[0]
        values = np.full(wanted, 0.5)
        return Eigenpairs(values, vectors, np.ones(wanted), certificate.detail, certificate)

    return solve


def certificate(reach, *, complete=False, chance=1e-8, name="stub"):
    return Certificate("random start", reach, chance, complete, name)


@pytest.fixture
def hard_graph(textbook):
    return SparseGraph(textbook.regular(1_000, 8, 0))


def test_the_next_solver_takes_over(hard_graph, monkeypatch, textbook):
    monkeypatch.setattr(front_door, "solve_lanczos", textbook.failing("first"))
    monkeypatch.setattr(front_door, "solve_factorized", textbook.failing("second"))
    monkeypatch.setattr(front_door, "LAST_RESORT_NODES", 0)
    pairs = laplacian_eigenpairs(hard_graph, 3, random_state=0)
    assert pairs.solver.startswith("shift-invert (")
    monkeypatch.setattr(front_door, "solve_iterated", textbook.failing("third"))
    with pytest.raises(SpectralError, match=r"first second|second first"):
        laplacian_eigenpairs(hard_graph, 3, random_state=0)
    monkeypatch.setattr(front_door, "LAST_RESORT_NODES", 5_000)
    assert laplacian_eigenpairs(hard_graph, 3, random_state=0).solver == "dense (LAPACK)"


@pytest.mark.parametrize(
    "refused",
    [
        certificate(0.4, name="short of it"),
        certificate(0.49, chance=1.0, name="known to be missed"),
        certificate(0.0, chance=1.0, name="no count"),
    ],
    ids=str,
)
def test_an_answer_that_is_not_covered_is_passed_over(refused, hard_graph, monkeypatch):
    for name in ("solve_lanczos", "solve_factorized"):
        monkeypatch.setattr(front_door, name, answering(refused))
    assert laplacian_eigenpairs(hard_graph, 3, random_state=0).solver == "dense (LAPACK)"


@pytest.mark.parametrize(
    "accepted", [certificate(0.6, complete=True), certificate(0.46)], ids=["all", "nearly"]
)
def test_an_answer_that_is_covered_is_taken(accepted, hard_graph, monkeypatch):
    for name in ("solve_lanczos", "solve_factorized"):
        monkeypatch.setattr(front_door, name, answering(accepted))
    assert laplacian_eigenpairs(hard_graph, 3, random_state=0).certificate == accepted


def test_the_best_answer_comes_with_a_warning_when_none_is_certified(hard_graph, monkeypatch, textbook):
    monkeypatch.setattr(front_door, "LAST_RESORT_NODES", 0)
    monkeypatch.setattr(front_door, "solve_lanczos", answering(certificate(0.2, name="reaches 0.2")))
    monkeypatch.setattr(front_door, "solve_factorized", textbook.failing("broken"))
    missed = certificate(0.44, chance=1.0, name="missed one")
    monkeypatch.setattr(front_door, "solve_iterated", answering(missed))
    with pytest.warns(
        SpectralWarning, match=r"could not be certified. reaches 0.2 .*more neighbours"
    ) as caught:
        pairs = laplacian_eigenpairs(hard_graph, 3, random_state=0)
    assert pairs.solver == "reaches 0.2"
    assert caught[0].filename == __file__


@pytest.mark.parametrize("n_vectors", [0, -1, 6])
def test_impossible_numbers_are_named(n_vectors):
    with pytest.raises(ValueError, match=f"n_vectors={n_vectors} eigenvectors of a graph with 5 nodes"):
        laplacian_eigenpairs(as_graph(np.ones((5, 5))), n_vectors)


def test_unknown_solvers_are_named():
    with pytest.raises(ValueError, match="solver='lobpcg': choose one of auto, dense, lanczos"):
        laplacian_eigenpairs(as_graph(np.ones((5, 5))), 2, solver="lobpcg")


def test_only_sparse_graphs_are_factorised():
    with pytest.raises(SpectralError, match="no sparse matrix"):
        laplacian_eigenpairs(as_graph(np.ones((50, 50))), 2, solver="factorized")


def test_a_small_graph_with_a_gap_is_not_factorised(textbook, monkeypatch):
    # Two cliques that hardly touch: cheap to factorise, and a few products tell them apart.
    graph = textbook.chained([np.ones((450, 450))] * 2, 1e-3)
    few = laplacian_eigenpairs(graph, 2, random_state=0)
    assert few.solver == "Lanczos (ARPACK)"
    assert few.certificate.complete
    monkeypatch.setattr(front_door, "SMALL_NODES", 0)
    proved = laplacian_eigenpairs(graph, 2, random_state=0)
    assert proved.solver == "shift-invert (sparse factorisation)"
    np.testing.assert_allclose(few.values, proved.values, atol=1e-9)


def test_a_small_graph_without_a_gap_is_factorised(textbook):
    pairs = laplacian_eigenpairs(SparseGraph(textbook.grid(40, 40)), 3, random_state=0)
    assert pairs.solver == "shift-invert (sparse factorisation)"
    assert pairs.certificate.is_proof
