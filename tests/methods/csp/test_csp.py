"""The estimator: algorithms 1 and 2, the weightings, what it tells and what it refuses."""

import warnings
from functools import partial

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits, make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score

from sidecut import CSP, Constraints, NormalizedCut
from sidecut.constraints import sample_labels, sample_pairs
from sidecut.exceptions import ConstraintError, ConstraintWarning, InfeasibleError, SidecutWarning
from sidecut.graphs import Neighbors
from sidecut.methods.csp import estimator as csp_module
from sidecut.methods.csp import pencil as pencil_module
from sidecut.methods.csp.cuts import feasible_cuts
from sidecut.methods.csp.estimator import weigh_cuts
from sidecut.spectral.laplacian import LaplacianProblem

# The methods themselves are tested here; the guard has tests of its own.
CSP = partial(CSP, safe=False)


@pytest.fixture(scope="module")
def moons():
    return make_moons(300, noise=0.12, random_state=0)


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:700], y[:700]


def test_two_clusters_are_the_sign_of_the_relaxed_indicator(moons):
    X, y = moons
    model = CSP(2, safe=False).fit(X, constraints=sample_labels(y, 20, random_state=0))
    graph = model.affinity_matrix_
    np.testing.assert_array_equal(model.labels_, (model.indicator_ > 0).astype(int))
    np.testing.assert_allclose(model.indicator_, model.eigenvectors_[:, 0] / np.sqrt(graph.degrees))
    assert model.eigenvectors_[:, 0] @ model.eigenvectors_[:, 0] == pytest.approx(graph.volume)
    np.testing.assert_array_equal(model.embedding_[:, 0], model.indicator_)
    assert adjusted_rand_score(y, model.labels_) > adjusted_rand_score(y, NormalizedCut(2).fit_predict(X))


def test_attributes_tell_of_the_cuts_that_were_used(digits):
    X, y = digits
    model = CSP(5, safe=False, random_state=0).fit(X, constraints=sample_labels(y, 60, random_state=1))
    cuts = model.cuts_
    assert model.n_feasible_ == cuts.n_feasible >= 4
    assert model.beta_ == cuts.beta
    for told, known in (
        (model.costs_, cuts.costs),
        (model.eigenvalues_, cuts.eigenvalues),
        (model.eigenvectors_, cuts.vectors),
    ):
        np.testing.assert_array_equal(told, known[..., :4])
    assert model.embedding_.shape == (700, 4)
    np.testing.assert_allclose(np.linalg.norm(model.embedding_, axis=1), 1)
    assert model.solution_.certificate.is_proof
    assert model.solution_.solver == cuts.solver == "Davidson iteration"
    assert len(np.unique(model.labels_)) == 5


def test_rows_as_the_paper_prints_them(digits):
    X, y = digits
    known = sample_labels(y, 60, random_state=1)
    model = CSP(4, safe=False, unit_rows=False, random_state=0).fit(X, constraints=known)
    roots = np.sqrt(model.affinity_matrix_.degrees)[:, None]
    np.testing.assert_allclose(model.embedding_, model.eigenvectors_ / roots)


@pytest.mark.parametrize("weighting", ["none", "one_minus_cost", "sign", "sign_cost"])
def test_the_weighting_reaches_the_embedding(digits, weighting):
    X, y = digits
    known = sample_labels(y, 60, random_state=1)
    model = CSP(4, safe=False, weighting=weighting, unit_rows=False, random_state=0).fit(X, constraints=known)
    relaxed = model.eigenvectors_ / np.sqrt(model.affinity_matrix_.degrees)[:, None]
    by_hand = {
        "none": relaxed,
        "one_minus_cost": relaxed @ np.diag(1 - model.costs_),
        "sign": np.sign(relaxed),
        "sign_cost": np.sign(relaxed) @ np.linalg.inv(np.diag(model.costs_)),
    }
    np.testing.assert_allclose(model.embedding_, by_hand[weighting])


def test_eq_16_as_printed_is_eq_15(moons):
    X, y = moons
    graph = Neighbors(10).build(X)
    cuts = feasible_cuts(graph, sample_pairs(y, 12, random_state=0), ("fraction", 0.3), tol=1e-10)
    V = cuts.vectors[:, :4]
    scale = 1 / np.sqrt(graph.degrees)
    laplacian = np.eye(300) - scale[:, None] * graph.toarray() * scale
    weights = V.T @ laplacian @ V
    # Eigenvectors of a definite pencil are L̄-orthogonal: the weights are a positive diagonal matrix ...
    off_diagonal = weights - np.diag(np.diag(weights))
    assert np.abs(off_diagonal).max() < 1e-6 * np.diag(weights).min()
    # ... which cannot change a sign.
    printed = np.sign(scale[:, None] * V @ np.linalg.inv(np.diag(np.diag(weights))))
    np.testing.assert_array_equal(printed, weigh_cuts(scale[:, None] * V, cuts.costs[:4], "sign"))
    # They are not orthogonal, though the paper says so.
    cosines = V.T @ V / graph.volume
    assert np.abs(cosines - np.eye(4)).max() > 1e-3


def test_a_weighting_that_does_not_exist_is_refused(moons):
    with pytest.raises(ValueError, match="'sign_cost'"):
        CSP(2, weighting="costly").fit(moons[0])
    with pytest.raises(ValueError, match="sign_cost"):
        weigh_cuts(np.ones((2, 1)), np.ones(1), "costly")


@pytest.mark.parametrize("tol", [-1e-6, 1.0, np.nan, "small", True])
def test_a_tolerance_that_makes_no_sense_is_refused(moons, tol):
    with pytest.raises(ValueError, match="and below 1"):
        CSP(2, tol=tol).fit(moons[0])


def test_free_cuts_do_not_outweigh_the_others_without_bound():
    weighed = weigh_cuts(np.array([[1.0, -1.0]]), np.array([0.0, 0.5]), "sign_cost")
    assert np.all(np.isfinite(weighed))


def test_fewer_cuts_than_clusters_are_announced_and_used(moons):
    X, y = moons
    known = sample_labels(y, 20, random_state=0)
    with pytest.warns(ConstraintWarning, match="would use 3 feasible cuts, but with .* there are 1"):
        model = CSP(4, beta="one", random_state=0).fit(X, constraints=known)
    assert model.embedding_.shape == (300, 1)


def test_one_leaves_one_cut_on_many_sets_of_constraints(moons):
    X, y = moons
    for seed in range(5):
        for known in (sample_pairs(y, 15, random_state=seed), sample_labels(y, 15, random_state=seed)):
            assert CSP(2, beta="one").fit(X, constraints=known).n_feasible_ == 1


def test_a_larger_beta_satisfies_more_at_a_higher_cost(moons):
    X, y = moons
    graph, known = Neighbors(10).build(X), sample_labels(y, 12, random_state=3)
    runs = [feasible_cuts(graph, known, ("fraction", f)) for f in (0.05, 0.3, 0.6, 0.9)]
    assert np.all(np.diff([run.costs[0] for run in runs]) > 0)
    assert np.all(np.diff([run.satisfactions[0] for run in runs]) > 0)


def test_contradicting_beliefs_are_weighed(moons):
    X, y = moons
    right = sample_labels(y, 30, random_state=0)
    wrong = Constraints.from_pairs(300, must_link=[(int(np.argmin(y)), int(np.argmax(y)))], must_weight=0.1)
    both = right.merged_with(wrong, on_conflict="weigh")
    assert adjusted_rand_score(y, CSP(2, safe=False).fit_predict(X, constraints=both)) > 0.9


def grown(y, n_labels):
    """Labels of the first points in some order, so that more labels contain fewer."""
    order = np.random.default_rng(0).permutation(len(y))[:n_labels]
    labels = np.full(len(y), -1)
    labels[order] = y[order]
    return Constraints.from_labels(labels)


def counted_products(monkeypatch):
    counts = []
    solve, apply = pencil_module.feasible_pairs, LaplacianProblem.apply_laplacian

    def solve_and_count(*args, **kwargs):
        counts.append(0)
        return solve(*args, **kwargs)

    def apply_and_count(self, block):
        if counts:
            counts[-1] += 1 if block.ndim == 1 else block.shape[1]
        return apply(self, block)

    monkeypatch.setattr(pencil_module, "feasible_pairs", solve_and_count)
    monkeypatch.setattr(LaplacianProblem, "apply_laplacian", apply_and_count)
    return counts


def test_a_warm_start_changes_the_work_and_not_the_answer(digits, monkeypatch):
    X, y = digits
    counts = counted_products(monkeypatch)
    graph = Neighbors(10).build(X)
    warm = CSP(10, safe=False, affinity="precomputed", warm_start=True, tol=1e-8, random_state=0)
    warm.fit(graph, constraints=grown(y, 100)).fit(graph, constraints=grown(y, 101))
    cold = CSP(10, safe=False, affinity="precomputed", tol=1e-8, random_state=0).fit(
        graph, constraints=grown(y, 101)
    )
    np.testing.assert_allclose(warm.eigenvalues_, cold.eigenvalues_, rtol=1e-6)
    np.testing.assert_allclose(warm.eigenvectors_, cold.eigenvectors_, atol=1e-4)
    np.testing.assert_array_equal(warm.labels_, cold.labels_)
    _, again, afresh = counts
    assert again < 0.9 * afresh
    # The very same problem is solved by looking at it.
    warm.fit(graph, constraints=grown(y, 101))
    assert counts[-1] < 0.2 * afresh


def test_a_warm_start_is_no_parameter_of_the_answer(digits):
    X, y = digits
    warm = CSP(3, safe=False, warm_start=True, random_state=0).fit(X[:300], constraints=grown(y[:300], 40))
    assert clone(warm).get_params() == warm.get_params()
    assert not hasattr(clone(warm), "cuts_")
    # Other data: nothing to start from.
    warm.fit(X[:250], constraints=grown(y[:250], 40))
    cold = CSP(3, safe=False, random_state=0).fit(X[:250], constraints=grown(y[:250], 40))
    np.testing.assert_array_equal(warm.eigenvalues_, cold.eigenvalues_)


def test_a_warm_start_from_elsewhere_finds_the_new_cuts(digits):
    graph = Neighbors(10).build(digits[0])
    left = Constraints.from_pairs(700, cannot_link=[(0, 1), (2, 3)])
    right = Constraints.from_pairs(700, cannot_link=[(400, 401), (402, 403), (404, 405)])
    before = feasible_cuts(graph, left, ("fraction", 0.3))
    after = feasible_cuts(graph, right, ("fraction", 0.3), start=before.vectors)
    np.testing.assert_allclose(
        after.eigenvalues, feasible_cuts(graph, right, ("fraction", 0.3)).eigenvalues, rtol=1e-6
    )


def test_without_constraints_it_is_the_normalised_cut(moons):
    model, plain = CSP(3, random_state=0).fit(moons[0]), NormalizedCut(3, random_state=0).fit(moons[0])
    np.testing.assert_array_equal(model.labels_, plain.labels_)
    np.testing.assert_array_equal(model.embedding_, plain.embedding_)
    assert not hasattr(model, "cuts_")


def test_a_warm_start_builds_the_graph_once_per_data_and_recipe(digits, monkeypatch):
    X, y = digits
    built = []
    original = Neighbors.build
    monkeypatch.setattr(Neighbors, "build", lambda self, X: built.append(len(X)) or original(self, X))
    model = CSP(3, safe=False, warm_start=True, random_state=0)
    known = grown(y[:300], 40)
    model.fit(X[:300], constraints=known).fit(X[:300].copy(), constraints=known)
    assert built == [300]
    model.fit(X[1:301], constraints=grown(y[1:301], 40))
    model.set_params(n_neighbors=9).fit(X[1:301], constraints=grown(y[1:301], 40))
    assert built == [300, 300, 300]
    cold = CSP(3, safe=False, n_neighbors=9, random_state=0).fit(X[1:301], constraints=grown(y[1:301], 40))
    assert (model.affinity_matrix_.matrix != cold.affinity_matrix_.matrix).nnz == 0


def test_clusters_far_apart_are_what_the_graph_says():
    """Weights between the clouds all but vanish: no cut can be weighed, and none need be."""
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(20, 2)) + centre for centre in ((0, 0), (15, 0), (0, 15))])
    y = np.repeat([0, 1, 2], 20)
    known = sample_labels(y, 6, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SidecutWarning)
        model = CSP(3, safe=True, random_state=0).fit(X, constraints=known)
    assert adjusted_rand_score(y, model.labels_) == 1.0
    assert model.decision_.kept == "unconstrained"


def test_cuts_are_not_looked_for_where_the_cut_of_the_graph_satisfies_all(monkeypatch):
    """The cut of the graph is kept as it is, and nothing of another answer is left."""
    rng = np.random.default_rng(0)
    y = np.arange(900) % 3
    X = rng.standard_normal((900, 4)) + 6.0 * np.eye(4)[y]
    known = sample_labels(y, 9, random_state=0)

    def unexpected(*_, **__):
        raise AssertionError("not needed")

    monkeypatch.setattr(csp_module, "feasible_cuts", unexpected)
    model = CSP(3, safe=True, random_state=0).fit(X, constraints=known)
    plain = NormalizedCut(3, random_state=0).fit(X)
    assert model.decision_.kept == "unconstrained"
    np.testing.assert_array_equal(model.labels_, plain.labels_)
    np.testing.assert_array_equal(model.eigenvectors_, plain.eigenvectors_)
    np.testing.assert_array_equal(model.predict(X[:50] + 0.1), plain.predict(X[:50] + 0.1))
    for name in ("cuts_", "beta_", "costs_", "n_feasible_", "indicator_"):
        assert not hasattr(model, name)


def test_a_fit_leaves_nothing_of_the_one_before(moons):
    X, y = moons
    model = CSP(2, safe=False, random_state=0).fit(X, constraints=sample_labels(y, 20, random_state=0))
    assert hasattr(model, "cuts_")
    model.fit(X)
    for name in ("cuts_", "beta_", "costs_", "n_feasible_", "indicator_"):
        assert not hasattr(model, name)


@pytest.mark.parametrize("safe", [True, False])
def test_a_beta_that_leaves_no_cut_is_refused(moons, safe):
    X, y = moons
    known = sample_labels(y, 20, random_state=0)
    with pytest.raises(InfeasibleError, match=r"beta=1e\+06 leaves no feasible cut: .* Any beta between"):
        CSP(2, beta=1e6, safe=safe).fit(X, constraints=known)
    assert issubclass(InfeasibleError, ConstraintError)


def test_missing_cuts_are_completed_by_the_spectrum_of_the_graph(digits):
    """Labels of two classes tell two clusters apart; the rows of four are orthogonal to what is known."""
    X, y = digits
    known = Constraints.from_labels(np.where((np.arange(700) < 150) & (y < 2), y, -1))
    model = CSP(4, safe=False, unit_rows=False, tol=1e-9, random_state=0).fit(X, constraints=known)
    m = min(model.n_feasible_, 3)
    assert 1 <= m < 3
    graph = model.affinity_matrix_
    V = np.sqrt(graph.degrees)[:, None] * model.embedding_
    assert V.shape == (700, 3)
    np.testing.assert_allclose(V[:, :m], model.eigenvectors_, atol=1e-9 * np.sqrt(graph.volume))
    gram = V.T @ V / graph.volume
    np.testing.assert_allclose(gram[m:], np.eye(3)[m:], atol=1e-6)
    assert known.satisfaction(model.labels_) > 0.9


@pytest.mark.parametrize("safe", [True, False])
def test_results_belong_to_the_parameters_of_the_fit(safe):
    X, y = make_blobs(400, 4, centers=5, cluster_std=4.0, random_state=1)
    model = CSP(5, safe=safe, random_state=0).fit(X, constraints=sample_labels(y, 60, random_state=0))
    names = ("costs_", "cuts_", "eigenvalues_", "indicator_", "embedding_")
    before = {name: getattr(model, name) for name in names}
    model.set_params(n_clusters=3, beta="eq19", tol=0.1)
    for name, value in before.items():
        assert getattr(model, name) is value
    assert model.costs_.shape == (4,)


def test_results_that_wait_belong_to_the_parameters_of_the_fit():
    """The constraints are not used here; a fit without them has no feasible cuts to show later."""
    X, y = make_blobs(900, 5, centers=6, random_state=1)
    model = CSP(6, safe=True, random_state=0).fit(X, constraints=sample_labels(y, 30, random_state=0))
    model.set_params(n_clusters=3)
    assert model.decision_.kept == "unconstrained"
    assert model.embedding_.shape[1] == model.eigenvalues_.size == 6
    assert not hasattr(model, "costs_")
