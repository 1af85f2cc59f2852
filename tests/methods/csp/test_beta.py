"""The rules for β, and how many cuts it leaves."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecut import CSP, Constraints
from sidecut.exceptions import ConstraintError
from sidecut.graphs import Neighbors, NormalizedAffinity
from sidecut.methods.csp import cuts as bound_module
from sidecut.methods.csp.cuts import ConstraintSpectrum, choose_beta, constraint_spectrum, parse_rule


def known_with(values, total, **changes):
    given_values = {"volume": 10.0, "n_entries": 6, "n_samples": 20, **changes}
    return ConstraintSpectrum(np.array(values, dtype=float), total, **given_values)


spectra = st.lists(st.floats(0.01, 10), min_size=1, max_size=8, unique_by=lambda x: round(x, 2)).map(
    lambda values: sorted(values, reverse=True)
)


@given(spectra, st.floats(0, 1), st.integers(1, 6), st.floats(0.001, 0.999))
def test_the_range_told_is_all_and_only_where_enough_cuts_are_left(values, share, n_cuts, place):
    known = known_with(values, share * 10 * values[0] * 0.999)
    allowed = known.beta_range(n_cuts)
    if allowed is None:
        assert all(known.n_feasible(beta) < n_cuts for beta in np.linspace(1e-3, 10 * values[0], 200))
        return
    low, high = allowed
    assert known.n_feasible(low + place * (high - low) * (1 - 1e-9)) >= n_cuts
    assert known.n_feasible(high * (1 + 1e-9)) < n_cuts


@given(spectra, st.floats(-1, 1), st.integers(2, 6), st.floats(0.01, 0.99))
def test_the_rule_leaves_k_minus_one_cuts_wherever_some_beta_does(values, share, n_clusters, fraction):
    known = known_with(values, share * 10 * values[0] * 0.999)
    possible = max(known.n_feasible(beta) for beta in np.linspace(1e-4, 10 * values[0], 2_000))
    if possible == 0:
        return
    beta = choose_beta(("fraction", fraction), known, n_clusters)
    assert known.n_feasible(beta) >= min(possible, n_clusters - 1)


@given(spectra, st.floats(-1, 1))
def test_one_leaves_exactly_one(values, share):
    known = known_with(values, share * 10 * values[0] * 0.999)
    feasible = [known.n_feasible(beta) for beta in np.linspace(1e-4, 10 * values[0], 2_000)]
    if 1 in feasible:
        assert known.n_feasible(choose_beta("one", known, 2)) == 1


def test_one_leaves_the_fewest_where_eigenvalues_coincide():
    known = known_with([3.0, 3.0, 3.0, 1.0], total=-2.0)
    assert known.n_feasible(choose_beta("one", known, 2)) == 3


def test_eq_19_counts_every_entry_of_q():
    known = known_with([4.0, 3.0], total=0.0)
    assert choose_beta("eq19", known, 2) == pytest.approx(4.0 * 10.0 * (0.5 + 0.4 * 6 / 400))
    # λ_{K-1}, not λ_max: eq. 19 would leave one cut where two are needed.
    assert choose_beta("eq19", known, 3) == pytest.approx(3.0 * 10.0 * (0.5 + 0.4 * 6 / 400))


def test_eq_19_reaches_nine_tenths_when_everything_is_constrained():
    rng = np.random.default_rng(0)
    graph = Neighbors(5).build(rng.normal(size=(30, 2)))
    known = Constraints.from_labels(np.arange(30) % 2)
    told, _ = constraint_spectrum(known, NormalizedAffinity(graph).scale, graph.degrees, "eq19", 2)
    assert told.n_entries == 900
    assert choose_beta("eq19", told, 2) == pytest.approx(0.9 * told.bound(1))


def test_the_largest_eigenvalue_goes_to_the_trivial_cut_where_must_links_prevail():
    # Transfer (section 6.3): "β < λ_1 vol, λ_1 the second largest eigenvalue".
    known = known_with([1.0, 0.8, 0.5], total=10.0)
    assert known.beta_range(1) == (0.0, 8.0)
    assert choose_beta(("fraction", 0.5), known, 2) == pytest.approx(4.0)
    share = np.sqrt(known.n_entries) / known.n_samples
    assert 0 < share < 0.5
    assert choose_beta("auto", known, 2) == pytest.approx(8.0 * (0.1 + 1.5 * share))


def test_the_usual_rule_insists_more_the_more_points_are_labelled():
    """0.1 + 1.5 c/N for c labels, and no more than 0.9."""
    graph = Neighbors(6).build(np.random.default_rng(0).normal(size=(40, 2)))
    scale = NormalizedAffinity(graph).scale
    for n_labels, fraction in ((10, 0.1 + 1.5 * 0.25), (30, 0.9)):
        known = Constraints.from_labels(np.where(np.arange(40) < n_labels, np.arange(40) % 2, -1))
        told, _ = constraint_spectrum(known, scale, graph.degrees, "auto", 2)
        expected = choose_beta(("fraction", fraction), told, 2)
        assert choose_beta("auto", told, 2) == pytest.approx(expected)


def test_what_the_trivial_cut_satisfies_in_the_normalisation_of_the_source():
    rng = np.random.default_rng(1)
    graph = Neighbors(6).build(rng.normal(size=(40, 2)))
    source = Neighbors(9).build(rng.normal(size=(40, 2)))
    known = Constraints.from_graph(source.matrix)
    scale = 1 / np.sqrt(source.degrees)
    told, _ = constraint_spectrum(known, scale, graph.degrees, "auto", 2)
    trivial = np.sqrt(graph.degrees)
    assert told.total == pytest.approx(trivial @ (scale * (source.toarray() @ (scale * trivial))))


@pytest.mark.parametrize("rule", [0, -1.0, np.nan, np.inf, np.float64(-2)])
def test_a_beta_that_is_not_positive_is_refused(rule):
    with pytest.raises(ValueError, match=r"beta=.* must be finite and positive"):
        parse_rule("beta", rule)


@pytest.mark.parametrize(
    "rule",
    ["half", None, True, ("fraction", 0), ("fraction", 1.0), ("fraction", "x"), ["one"]],
)
def test_a_rule_that_does_not_exist_is_refused_before_anything_is_computed(rule):
    with pytest.raises(ValueError, match="'auto', 'eq19', 'one'"):
        CSP(2, beta=rule).fit(np.zeros((5, 2)), constraints=Constraints.from_pairs(5, [(0, 1)]))


def test_numbers_of_any_kind_are_themselves():
    known = known_with([4.0], total=0.0)
    assert [choose_beta(beta, known, 2) for beta in (3, 3.0, np.int64(3), np.float32(3))] == [3.0] * 4


def test_only_the_leading_eigenvalues_of_large_constraints_are_computed(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    graph, source = Neighbors(8).build(X), Neighbors(8).build(X + 0.1 * rng.normal(size=X.shape))
    known = Constraints.from_graph(source.matrix)
    scale, rule = NormalizedAffinity(graph).scale, ("fraction", 0.8)
    whole, _ = constraint_spectrum(known, scale, graph.degrees, rule, 2)
    monkeypatch.setattr("sidecut.constraints.spectrum.MAX_DENSE", 50)
    monkeypatch.setattr(bound_module, "FIRST_EIGENVALUES", 4)
    part, _ = constraint_spectrum(known, scale, graph.degrees, rule, 2)
    assert part.values.size < whole.values.size
    np.testing.assert_allclose(part.values, whole.values[: part.values.size], rtol=1e-8)
    beta = choose_beta(rule, part, 2)
    assert part.n_feasible(beta) == whole.n_feasible(beta)
    # The count is the same, but it is not proved, and the estimator says so.
    assert whole.is_exact
    assert not part.is_exact
    model = CSP(2, beta=rule, affinity="precomputed").fit(graph, constraints=known)
    assert not model.solution_.certificate.complete
    assert "not proved" in str(model.solution_.certificate)
    monkeypatch.setattr(bound_module, "MAX_EIGENVALUES", 8)
    with pytest.raises(ConstraintError, match="Choose a larger beta"):
        constraint_spectrum(known, scale, graph.degrees, ("fraction", 0.05), 2)
