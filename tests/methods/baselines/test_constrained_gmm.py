"""The constrained mixture: EM as it should be, links as far as they go."""

import itertools
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import logsumexp
from sklearn.datasets import load_iris, make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture

from sidecut import ConstrainedGMM, Constraints
from sidecut.constraints import sample_labels, sample_pairs
from sidecut.exceptions import ConflictError, ConstraintWarning, LabellingWarning
from sidecut.methods.baselines.constrained_gmm import COVARIANCE_TYPES, MeanField, maximize, run_em
from sidecut.methods.baselines.lloyd import find_must_linked_sets

# The methods themselves are tested here; the guard has tests of its own.
ConstrainedGMM = partial(ConstrainedGMM, safe=False)


def blobs(seed=0, n=90, spread=2.0):
    return make_blobs(n, centers=[[0, 0, 0], [4, 0, 0], [0, 4, 0]], cluster_std=spread, random_state=seed)


def unlinked(n):
    return MeanField(sp.csr_array((n, n)))


def inverted(gaussians):
    by_matrix = gaussians.kind in ("full", "tied")
    return np.linalg.inv(gaussians.covariances) if by_matrix else 1.0 / gaussians.covariances


@pytest.mark.parametrize("kind", COVARIANCE_TYPES)
def test_without_constraints_it_is_the_em_of_scikit_learn(kind):
    X, y = blobs()
    sets = find_must_linked_sets(Constraints.none(90))
    beliefs = np.eye(3)[y]
    weights, first = maximize(X, sets, beliefs, kind, 1e-6)
    with pytest.warns(ConvergenceWarning):
        theirs = GaussianMixture(
            3,
            covariance_type=kind,
            weights_init=weights,
            means_init=first.means,
            precisions_init=inverted(first),
            max_iter=20,
            tol=0.0,
        ).fit(X)
    mine = run_em(X, sets, unlinked(90), beliefs, kind=kind, reg=1e-6, max_iter=20, tol=0.0)
    np.testing.assert_allclose(mine.weights, theirs.weights_, rtol=1e-8)
    np.testing.assert_allclose(mine.gaussians.means, theirs.means_, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(mine.gaussians.covariances, theirs.covariances_, rtol=1e-8, atol=1e-10)
    assert mine.bounds[-1] == pytest.approx(theirs.lower_bound_, rel=1e-10)


@pytest.mark.parametrize("kind", COVARIANCE_TYPES)
@pytest.mark.parametrize("seed", range(3))
def test_the_likelihood_of_chunklets_never_falls(kind, seed):
    X, y = blobs(seed)
    known = Constraints.from_labels(np.where(np.arange(90) % 4 == 0, y, -1)).must_part()
    sets = find_must_linked_sets(known)
    beliefs = np.random.default_rng(seed).dirichlet(np.ones(3), size=sets.n_sets)
    mixture = run_em(X, sets, unlinked(sets.n_sets), beliefs, kind=kind, reg=0.0, max_iter=30, tol=0.0)
    assert (np.diff(mixture.bounds) >= -1e-12).all()


def test_the_likelihood_of_chunklets_is_what_the_model_says():
    """Σ over chunklets of log Σ_l α_l Π_i p(x_i | l), summed by hand."""
    X, _ = blobs(4, n=30)
    known = Constraints.from_pairs(30, must_link=[(0, 1), (1, 2), (5, 9)])
    sets = find_must_linked_sets(known)
    beliefs = np.random.default_rng(0).dirichlet(np.ones(3), size=sets.n_sets)
    weights, gaussians = maximize(X, sets, beliefs, "full", 1e-3)
    density = gaussians.log_densities(X)
    by_hand = sum(
        logsumexp(np.log(weights) + density[sets.of_point == set_of].sum(axis=0))
        for set_of in range(sets.n_sets)
    )
    mixture = run_em(X, sets, unlinked(sets.n_sets), beliefs, reg=1e-3, max_iter=1)
    assert mixture.bounds[0] == pytest.approx(by_hand / 30)


@given(seed=st.integers(0, 300), must_links=st.sampled_from(["chunklets", "penalty"]))
@settings(max_examples=8)
def test_the_bound_with_cannot_links_never_falls(seed, must_links):
    X, y = blobs(seed)
    known = sample_pairs(y, 60, random_state=seed)
    model = ConstrainedGMM(
        3,
        safe=False,
        must_links=must_links,
        penalty=5.0,
        n_init=1,
        reg_covar=0.0,
        tol=1e-12,
        max_iter=200,
        random_state=seed,
    )
    model.fit(X, constraints=known)
    assert (np.diff(model.objective_) >= -1e-10).all()


def test_chunklets_share_their_label_exactly():
    X, y = blobs()
    known = sample_pairs(y, 60, random_state=0)
    model = ConstrainedGMM(3, safe=False, random_state=0).fit(X, constraints=known)
    pairs = known.must_link
    np.testing.assert_array_equal(model.responsibilities_[pairs[:, 0]], model.responsibilities_[pairs[:, 1]])
    assert known.must_part().satisfaction(model.labels_) == 1.0
    np.testing.assert_allclose(model.responsibilities_.sum(axis=1), 1.0)


@pytest.mark.filterwarnings("ignore:.*found 1 clusters:sidecut.exceptions.LabellingWarning")
def test_a_penalty_moves_beliefs_as_far_as_it_is_strong():
    X = np.array([[0.0], [0.2], [0.4], [3.0], [3.2], [3.4]])
    overlap = []
    for weight in (1e-6, 0.5, 2.0, 50.0):
        known = Constraints.from_pairs(6, cannot_link=[(0, 1)], cannot_weight=weight)
        model = ConstrainedGMM(2, penalty=1.0, reg_covar=2.0, safe=False, random_state=0)
        model.fit(X, constraints=known)
        overlap.append(model.responsibilities_[0] @ model.responsibilities_[1])
    assert overlap[0] > overlap[1] > overlap[2] > overlap[3]
    assert overlap[3] < 1e-6


def test_strengths_and_the_penalty_multiply():
    X, y = blobs()
    known = sample_pairs(y, 40, random_state=1)
    one = ConstrainedGMM(3, safe=False, penalty=6.0, random_state=0).fit(X, constraints=known)
    other = ConstrainedGMM(3, safe=False, penalty=2.0, random_state=0).fit(X, constraints=known.scaled(3.0))
    np.testing.assert_allclose(one.responsibilities_, other.responsibilities_, atol=1e-12)


def test_weak_beliefs_may_contradict_each_other():
    X, _ = blobs(n=30)
    told = Constraints.from_pairs(30, [(0, 1), (1, 2)], [(0, 2)], on_conflict="weigh")
    with pytest.raises(ConflictError, match="contradicts the must-links 0 - 1 - 2"):
        ConstrainedGMM(3, safe=False).fit(X, constraints=told)
    model = ConstrainedGMM(3, safe=False, must_links="penalty", penalty=0.1, random_state=0).fit(
        X, constraints=told
    )
    assert np.isfinite(model.responsibilities_).all()
    with pytest.raises(ConflictError, match="hard=True"):
        ConstrainedGMM(3, must_links="penalty", hard=True).fit(X, constraints=told)


@pytest.mark.parametrize("must_links", ["chunklets", "penalty"])
def test_hard_labels_satisfy_all(must_links):
    X, y = blobs(spread=4.0)
    known = sample_pairs(y, 80, random_state=0)
    soft = ConstrainedGMM(3, safe=False, must_links=must_links, penalty=1e-3, random_state=0).fit(
        X, constraints=known
    )
    hard = ConstrainedGMM(3, must_links=must_links, penalty=1e-3, hard=True, random_state=0)
    hard.fit(X, constraints=known)
    assert known.satisfaction(soft.labels_) < 1.0 == known.satisfaction(hard.labels_)
    assert hard.repair_.violated == 0
    np.testing.assert_array_equal(hard.repair_.moved, np.flatnonzero(hard.labels_ != soft.labels_))
    free = np.setdiff1d(np.arange(90), known.constrained_points)
    np.testing.assert_array_equal(hard.labels_[free], soft.labels_[free])
    assert not hasattr(hard.set_params(hard=False).fit(X, constraints=known), "repair_")


def test_hard_labels_where_that_is_impossible():
    X, _ = blobs(n=30)
    known = Constraints.from_pairs(30, cannot_link=[(0, 1), (1, 2), (0, 2)], must_link=[(3, 4)])
    with pytest.warns(ConstraintWarning, match=r"\(0, 1\), \(0, 2\), \(1, 2\)"):
        model = ConstrainedGMM(2, hard=True, random_state=0).fit(X, constraints=known)
    assert model.repair_.violated == 1
    assert sorted(map(tuple, model.repair_.core.tolist())) == [(0, 1), (0, 2), (1, 2)]


def test_more_classes_than_clusters_are_a_matter_of_penalties():
    X, y = blobs(n=60)
    model = ConstrainedGMM(2, safe=False, random_state=0).fit(
        X, constraints=sample_labels(y, 30, random_state=0)
    )
    assert set(model.labels_) == {0, 1}


def test_labels_help():
    X, y = load_iris(return_X_y=True)
    known = sample_labels(y, 45, random_state=0)
    told = ConstrainedGMM(3, safe=False, random_state=0).fit(X, constraints=known)
    alone = ConstrainedGMM(3, random_state=0).fit(X)
    rest = known.labels < 0
    assert adjusted_rand_score(y[rest], told.labels_[rest]) >= adjusted_rand_score(
        y[rest], alone.labels_[rest]
    )
    assert known.satisfaction(told.labels_) == 1.0


def test_new_points():
    X, y = blobs()
    model = ConstrainedGMM(3, safe=False, random_state=0).fit(
        X, constraints=sample_labels(y, 9, random_state=0)
    )
    new = blobs(1)[0]
    likely = model.predict_proba(new)
    np.testing.assert_allclose(likely.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.predict(new), likely.argmax(axis=1))
    grid = np.linspace(-12, 16, 57)
    volume = (grid[1] - grid[0]) ** 3
    everywhere = np.stack(np.meshgrid(grid, grid, grid), axis=-1).reshape(-1, 3)
    assert np.exp(model.score_samples(everywhere)).sum() * volume == pytest.approx(1.0, abs=0.01)


def test_sparse_points_are_refused():
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        ConstrainedGMM(2).fit(sp.csr_array(np.eye(6)))


def test_few_iterations_warn():
    with pytest.warns(ConvergenceWarning, match="max_iter=2 "):
        ConstrainedGMM(3, max_iter=2, tol=0.0, n_init=1, random_state=0).fit(blobs()[0])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"covariance_type": "round"}, "covariance_type='round': choose one of 'full', 'tied'"),
        ({"must_links": "soft"}, "must_links='soft': choose one of 'chunklets', 'penalty'"),
        ({"penalty": np.inf}, "penalty=inf must be a finite number, not negative"),
        ({"penalty": -1}, "penalty=-1 must be"),
        ({"reg_covar": "tiny"}, "reg_covar='tiny' must be a finite number"),
        ({"tol": -1e-3}, "tol=-0.001 must be"),
        ({"n_init": 0}, "n_init=0 must be a whole number"),
        ({"max_iter": 0}, "max_iter=0 must be a whole number"),
        ({"hard": "yes"}, "hard='yes' must be True or False"),
    ],
)
def test_parameters_that_make_no_sense(settings, message):
    with pytest.raises(ValueError, match=message):
        ConstrainedGMM(2, **settings).fit(blobs()[0])


@pytest.mark.parametrize("must_links", ["chunklets", "penalty"])
@pytest.mark.parametrize("penalty", [0.5, 5.0])
def test_the_lower_bound_is_one(must_links, penalty):
    """log p(X | links) over all labellings, the prior normalised: never below the bound."""
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(4, 1)), rng.normal(size=(4, 1)) + 2.0])
    known = Constraints.from_pairs(8, must_link=[(0, 1), (2, 5)], cannot_link=[(1, 6), (3, 4)])
    model = ConstrainedGMM(
        2, must_links=must_links, penalty=penalty, covariance_type="tied", tol=1e-10, max_iter=2000
    )
    model.set_params(safe=False, random_state=0).fit(X, constraints=known)
    joint = np.log(model.weights_) + model._answer.results["mixture"].gaussians.log_densities(X)
    numbers, prior = [], []
    for z in itertools.product(range(2), repeat=8):
        z = np.array(z)
        torn = sum(z[i] != z[j] for i, j in known.must_link)
        if must_links == "chunklets" and torn:
            continue
        cost = penalty * (torn + sum(z[i] == z[j] for i, j in known.cannot_link))
        shares = np.log(model.weights_)[z]
        if must_links == "chunklets":
            # A chunklet is one draw of a label.
            shares[[1, 5]] = 0.0
        prior.append(shares.sum() - cost)
        numbers.append(prior[-1] + (joint - np.log(model.weights_))[np.arange(8), z].sum())
    assert logsumexp(prior) <= 0
    assert 8 * model.lower_bound_ <= logsumexp(numbers) + 1e-6
    assert 8 * model.lower_bound_ > logsumexp(numbers) - 3.0
    assert 8 * model.lower_bound_ <= logsumexp(numbers) - logsumexp(prior) + 1e-6


def test_beliefs_are_those_of_the_last_mixture():
    """As scikit-learn's: one more E step follows the last M step, or labels_ would lag behind predict."""
    rng = np.random.default_rng(0)
    for seed in range(10):
        points = rng.normal(size=(60, 2)) + 2.0 * rng.integers(0, 2, size=(60, 1))
        model = ConstrainedGMM(3, random_state=seed, max_iter=200, tol=0.1, n_init=1).fit(points)
        np.testing.assert_allclose(model.responsibilities_, model.predict_proba(points), atol=1e-12)
        np.testing.assert_array_equal(model.labels_, model.predict(points))


def test_gaussians_that_no_point_belongs_to_are_spoken_of():
    """The floor under the variances, 1e-6, is far above the spread of these points."""
    X = 1e-8 * np.random.default_rng(0).normal(size=(12, 1))
    with pytest.warns(LabellingWarning, match="found 1 clusters where n_clusters=3"):
        ConstrainedGMM(3, random_state=0).fit(X)
