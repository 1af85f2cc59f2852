"""The feasible cuts against eq. 13 as printed, solved by dense algebra."""

import re

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp

from sidecut import Constraints
from sidecut.exceptions import ConstraintError, ConstraintWarning, SpectralError
from sidecut.graphs import NormalizedAffinity, as_graph
from sidecut.methods.csp import cuts as cuts_module
from sidecut.methods.csp import pencil as davidson
from sidecut.methods.csp.cuts import feasible_cuts

RULES = ("auto", ("fraction", 0.9), ("fraction", 0.2), "one", "eq19", ("fraction", 0.99))


@pytest.fixture(params=["dense", "fast"])
def path(request, monkeypatch):
    monkeypatch.setattr(davidson, "DENSE_NODES", {"dense": 10_000, "fast": 0}[request.param])
    return request.param


def assert_same(cuts, printed):
    assert cuts.n_feasible == cuts.costs.size == printed.costs.size > 0
    np.testing.assert_allclose(np.sort(cuts.eigenvalues), np.sort(printed.eigenvalues), rtol=1e-6)
    np.testing.assert_allclose(cuts.costs, printed.costs, rtol=1e-6, atol=1e-7)
    assert scipy.linalg.subspace_angles(cuts.vectors, printed.vectors).max() < 1e-6


@pytest.mark.parametrize("seed", range(3))
def test_cuts_are_those_of_eq_13_as_printed(path, kind, seed, as_printed, make_clouds, make_beliefs):
    trial = 7 * seed + len(kind)
    n_clusters = 2 + trial % 9
    graph, y = make_clouds(150, n_clusters, seed=trial)
    known = make_beliefs(kind, y, seed)
    cuts = feasible_cuts(graph, known, RULES[trial % len(RULES)], n_clusters=n_clusters, tol=1e-9)
    assert_same(cuts, as_printed(graph, known, cuts.beta))
    if path == "fast" and 4 * cuts.n_feasible < graph.n_nodes:
        assert cuts.solver == "Davidson iteration"


@pytest.mark.parametrize("n_clusters", [2, 5])
def test_transfer_normalised_by_the_source_graph(path, n_clusters, as_printed, make_clouds, make_beliefs):
    graph, y = make_clouds(160, n_clusters, seed=3)
    source = make_beliefs("graph", y, 4)
    cuts = feasible_cuts(
        graph, source, ("fraction", 0.9), n_clusters=n_clusters, normalization="source", tol=1e-9
    )
    assert_same(cuts, as_printed(graph, source, cuts.beta, "source"))


def test_a_thousand_points(as_printed, make_clouds, make_beliefs, matrices):
    graph, y = make_clouds(1000, 4, seed=0)
    known = make_beliefs("labels", y, 0)
    cuts = feasible_cuts(graph, known, n_clusters=4, tol=1e-9)
    assert cuts.solver == "Davidson iteration"
    laplacian, beliefs = matrices(graph, known)
    shifted = beliefs - cuts.beta / graph.volume * np.eye(1000)
    # QZ would take a minute; the right side of eq. 13 is regular, so its inverse will do.
    values, vectors = scipy.linalg.eig(np.linalg.solve(shifted, laplacian))
    positive = (values.real > 1e-9) & (np.abs(values.imag) < 1e-9)
    surpluses = np.einsum("ij,ij->j", vectors.real, shifted @ vectors.real)
    feasible = positive & (surpluses > 1e-9)
    np.testing.assert_allclose(np.sort(cuts.eigenvalues), np.sort(values.real[feasible]), rtol=1e-6)
    assert scipy.linalg.subspace_angles(cuts.vectors, vectors.real[:, feasible]).max() < 1e-6


def test_the_count_is_known_beforehand(kind, as_printed, make_clouds, make_beliefs):
    graph, y = make_clouds(90, 3, seed=11)
    known = make_beliefs(kind, y, 5)
    values = known.positive_spectrum(NormalizedAffinity(graph).scale).values * graph.volume
    total = known.as_matrix().sum()
    between = 0.5 * (values[:5] + values[1:6]) if values.size > 5 else 0.5 * (values[:-1] + values[1:])
    for beta in [*between, 0.3 * values[-1], 0.999 * values[0]]:
        exact = np.count_nonzero(values > beta) - int(total > beta)
        found = as_printed(graph, known, beta).costs.size
        assert found == exact
        if exact > 0:
            assert feasible_cuts(graph, known, beta).n_feasible == exact
        else:
            with pytest.raises(ConstraintError, match="no feasible cut"):
                feasible_cuts(graph, known, beta)


def test_every_cut_keeps_its_promises(kind, make_clouds, make_beliefs, matrices):
    graph, y = make_clouds(120, 3, seed=2)
    known = make_beliefs(kind, y, 1)
    cuts = feasible_cuts(graph, known, n_clusters=3)
    laplacian, beliefs = matrices(graph, known)
    np.testing.assert_allclose((cuts.vectors**2).sum(axis=0), graph.volume)
    unit = cuts.vectors / np.sqrt(graph.volume)
    np.testing.assert_allclose(np.einsum("ij,ij->j", unit, laplacian @ unit), cuts.costs, atol=1e-12)
    np.testing.assert_allclose(
        np.einsum("ij,ij->j", cuts.vectors, beliefs @ cuts.vectors), cuts.satisfactions, rtol=1e-10
    )
    assert np.all(cuts.satisfactions > cuts.beta)
    assert np.all(np.diff(cuts.costs) >= 0)
    # Lemma 1: γ = λ (α - β), here with γ = cost * vol.
    np.testing.assert_allclose(
        cuts.costs * graph.volume, cuts.eigenvalues * (cuts.satisfactions - cuts.beta), rtol=1e-5
    )
    # D^{1/2} 1 is B-orthogonal to every cut, not orthogonal.
    trivial = np.sqrt(graph.degrees) / np.sqrt(graph.volume)
    coupled = beliefs @ unit - cuts.beta / graph.volume * unit
    np.testing.assert_allclose(trivial @ coupled, 0, atol=1e-9)


def told_range(error):
    """The range of beta an error message recommends."""
    return [float(text) for text in re.search(r"between (\S+) and (\S+) leaves", str(error.value)).groups()]


def test_an_unreachable_beta_is_refused_and_a_reachable_one_told(kind, make_clouds, make_beliefs):
    graph, y = make_clouds(90, 3, seed=8)
    known = make_beliefs(kind, y, 2)
    with pytest.raises(ConstraintError, match="leaves no feasible cut") as error:
        feasible_cuts(graph, known, 1e9)
    low, high = told_range(error)
    assert feasible_cuts(graph, known, high * (1 - 1e-4)).n_feasible >= 1
    assert feasible_cuts(graph, known, low + 0.5 * (high - low)).n_feasible >= 1
    with pytest.raises(ConstraintError, match="leaves no feasible cut"):
        feasible_cuts(graph, known, high * (1 + 1e-4))


@pytest.fixture
def gap():
    """A must-link matrix whose trivial cut takes the only direction for β between λ₂ vol and 1ᵀQ1."""
    rng = np.random.default_rng(0)
    weights = rng.uniform(0.5, 1.5, size=(30, 30))
    graph = as_graph(np.triu(weights, 1) + np.triu(weights, 1).T)
    tilted = 1.0 + 0.8 * np.sign(np.arange(30) - 14.5)
    return graph, Constraints.from_matrix(np.outer(tilted, tilted) + 0.05 * np.diag(np.arange(30.0)))


def test_in_the_gap_below_the_trivial_cut_there_is_none_and_the_message_leads_out(gap, as_printed):
    graph, known = gap
    values = known.positive_spectrum(NormalizedAffinity(graph).scale).values * graph.volume
    total = known.as_matrix().sum()
    assert values[1] < total < values[0]
    inside = 0.5 * (values[1] + total)
    assert as_printed(graph, known, inside).costs.size == 0
    with pytest.raises(ConstraintError, match="no feasible cut") as error:
        feasible_cuts(graph, known, inside)
    low, high = told_range(error)
    assert low == pytest.approx(total, rel=1e-5)
    assert_same(feasible_cuts(graph, known, 0.5 * (low + high)), as_printed(graph, known, 0.5 * (low + high)))


def test_the_rules_avoid_the_gap(gap):
    graph, known = gap
    for rule in ("auto", "eq19", "one", ("fraction", 0.6)):
        assert feasible_cuts(graph, known, rule).n_feasible >= 1


def test_beliefs_that_no_cut_satisfies_are_refused():
    graph = as_graph(np.ones((4, 4)) - np.eye(4))
    with pytest.raises(ConstraintError, match="no positive eigenvalue"):
        feasible_cuts(graph, Constraints.from_matrix(-np.eye(4)))


def test_a_beta_equal_to_what_the_trivial_cut_satisfies_is_singular(make_clouds):
    graph, _ = make_clouds(60, 2, seed=0)
    known = Constraints.from_pairs(60, must_link=[(0, 1), (2, 3), (4, 5)])
    with pytest.raises(SpectralError, match=r"singular.*1ᵀQ1=6"):
        feasible_cuts(graph, known, 6.0)
    assert feasible_cuts(graph, known, 6.001).n_feasible == feasible_cuts(graph, known, 5.999).n_feasible + 1
    # Transfer of a graph to itself: D^{1/2} 1 is the only direction left, null on both sides.
    with pytest.raises(ConstraintError, match="no feasible cut"):
        feasible_cuts(graph, Constraints.from_graph(graph.matrix), graph.volume)


def test_an_eigenvalue_within_rounding_of_beta_is_no_candidate(path, make_clouds):
    graph, _ = make_clouds(100, 2, seed=0)
    known = Constraints.from_pairs(100, cannot_link=[(0, 50), (10, 60), (20, 70)])
    values = known.positive_spectrum(NormalizedAffinity(graph).scale).values
    for position in (1, 2):
        beta = values[position] * graph.volume
        for nearly in (beta, np.nextafter(beta, 0), np.nextafter(beta, np.inf)):
            cuts = feasible_cuts(graph, known, float(nearly))
            assert cuts.n_feasible == cuts.costs.size == position


def test_the_diagonal_of_the_beliefs_counts(path, as_printed, make_clouds, make_beliefs):
    graph, y = make_clouds(100, 2, seed=1)
    known = make_beliefs("labels", y, 0)
    bare = known.with_diagonal(0)
    one, other = (feasible_cuts(graph, q, ("fraction", 0.7), tol=1e-9) for q in (known, bare))
    assert abs(one.costs[0] - other.costs[0]) > 1e-4
    assert_same(one, as_printed(graph, known, one.beta))
    assert_same(other, as_printed(graph, bare, other.beta))


def test_a_far_smaller_tolerance_gives_the_same_cuts(make_clouds, make_beliefs, monkeypatch):
    monkeypatch.setattr(davidson, "DENSE_NODES", 0)
    graph, y = make_clouds(400, 4, seed=5)
    known = make_beliefs("pairs", y, 0)
    rough = feasible_cuts(graph, known, n_clusters=4, tol=1e-4)
    fine = feasible_cuts(graph, known, n_clusters=4, tol=1e-10)
    assert fine.residuals.max() < 1e-10 < rough.residuals.max() < 1e-4
    np.testing.assert_allclose(rough.eigenvalues, fine.eigenvalues, rtol=1e-5)


@pytest.mark.parametrize("seed", range(4))
def test_weights_that_differ_by_twelve_orders_of_magnitude(path, seed, as_printed, make_clouds, make_beliefs):
    graph, y = make_clouds(80, 2, seed=seed)
    upper = sp.triu(graph.matrix, 1).tocoo()
    wild = 10 ** np.random.default_rng(seed).uniform(-6, 6, upper.nnz)
    half = sp.coo_array((wild, (upper.row, upper.col)), shape=(80, 80))
    graph = as_graph(sp.csr_array(half + half.T))
    known = make_beliefs("labels", y, seed)
    cuts = feasible_cuts(graph, known, tol=1e-10)
    printed = as_printed(graph, known, cuts.beta)
    assert cuts.n_feasible == printed.costs.size
    np.testing.assert_allclose(cuts.eigenvalues, printed.eigenvalues, rtol=1e-5)


def test_more_cuts_than_are_computed_are_announced(monkeypatch, make_clouds, make_beliefs):
    monkeypatch.setattr(cuts_module, "MAX_CUTS", 5)
    graph, y = make_clouds(150, 3, seed=1)
    known = make_beliefs("pairs", y, 0)
    with pytest.warns(ConstraintWarning, match="of which 5"):
        cuts = feasible_cuts(graph, known, ("fraction", 0.1))
    assert cuts.costs.size == 5 < cuts.n_feasible
    assert not cuts.complete
    monkeypatch.undo()
    every = feasible_cuts(graph, known, ("fraction", 0.1))
    np.testing.assert_allclose(np.sort(cuts.eigenvalues), np.sort(every.eigenvalues)[:5])


def test_how_many_points_are_heard_when_one_is_loud():
    """Of 59 points of degree 1 and one of degree 1/w, (59 + w)² / (59 + w²) are heard."""
    points, degrees = np.arange(60), np.ones(150)
    for degree in (1 / 3, 1e-3):
        degrees[7] = degree
        cuts_module._warn_if_few_points_dominate(degrees, points)
    degrees[7] = 1e-5
    heard = (59 + 1e5) ** 2 / (59 + 1e10)
    with pytest.warns(ConstraintWarning, match=f"as if there were {heard:.3g} of them.* point 7 has .*1e-05"):
        cuts_module._warn_if_few_points_dominate(degrees, points)


def test_an_outlier_whose_constraints_drown_all_others_is_named(make_clouds):
    graph, y = make_clouds(150, 3, seed=1)
    weights = sp.csr_array(graph.matrix).toarray()
    weights[7] *= 1e-9
    weights[:, 7] *= 1e-9
    known = Constraints.from_labels(np.where(np.arange(150) < 60, y, -1))
    with pytest.warns(ConstraintWarning, match="point 7 has a degree of"):
        feasible_cuts(as_graph(weights), known, n_clusters=3)


def test_a_negative_source_graph_is_refused(make_clouds):
    graph, _ = make_clouds(60, 2, seed=0)
    with pytest.raises(ConstraintError, match="from_graph"):
        feasible_cuts(graph, Constraints.from_pairs(60, cannot_link=[(0, 1)]), normalization="source")
    with pytest.raises(ValueError, match="'target' or 'source'"):
        feasible_cuts(graph, Constraints.from_pairs(60, cannot_link=[(0, 1)]), normalization="both")


def test_the_table_of_cuts_reads_like_one(make_clouds, make_beliefs):
    graph, y = make_clouds(80, 3, seed=0)
    cuts = feasible_cuts(graph, make_beliefs("labels", y, 0), n_clusters=3)
    lines = str(cuts).splitlines()
    assert lines[0].startswith("2 feasible cuts")
    assert [float(word) for word in lines[2].split()] == pytest.approx(
        [cuts.eigenvalues[0], cuts.costs[0], cuts.satisfactions[0]], rel=1e-3
    )
    assert cuts.first(1).costs.tolist() == cuts.costs[:1].tolist()
