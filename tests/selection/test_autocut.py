"""AutoCut: chooses well, says why, never needs to be told how."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine, make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score

from sidecut import (
    E2CP,
    AutoCut,
    Constraints,
    NormalizedCut,
    SpectralLearning,
)
from sidecut.constraints import sample_labels, sample_pairs
from sidecut.evaluation import adjusted_rand_index
from sidecut.exceptions import ConflictError, ConstraintWarning
from sidecut.graphs import Gaussian, Neighbors
from sidecut.methods import Answer, Task
from sidecut.selection import ConstraintFolds, autocut
from sidecut.selection.autocut import make_folds
from sidecut.selection.comparison import PRIOR_POINTS, Budget, Candidate, Comparison, Graphs, View
from sidecut.selection.views import list_views, prior_for_scaling

X, Y = make_blobs(60, centers=[[0, 0], [6, 0], [0, 6]], cluster_std=0.8, random_state=0)
KNOWN = sample_labels(Y, 12, random_state=0)


@pytest.fixture(scope="module")
def fitted():
    return AutoCut(3, random_state=0).fit(X, constraints=KNOWN)


# Nothing known


@pytest.mark.parametrize("nothing", [None, Constraints.none(60)])
def test_nothing_known_is_the_normalized_cut(nothing):
    model = AutoCut(3, random_state=0).fit(X, constraints=nothing)
    np.testing.assert_array_equal(model.labels_, NormalizedCut(3, random_state=0).fit(X).labels_)
    assert "there are no constraints" in model.explanation_
    assert model.candidates_["method"] == ["NormalizedCut"]


def test_nothing_known_and_no_number():
    model = AutoCut(random_state=0).fit(X)
    assert model.n_clusters_ == 3
    assert adjusted_rand_score(Y, model.labels_) == 1.0


# Something known


def test_the_answer_is_that_of_the_best_estimator(fitted):
    assert adjusted_rand_score(Y, fitted.labels_) == 1.0
    np.testing.assert_array_equal(fitted.labels_, fitted.best_estimator_.labels_)
    assert fitted.n_clusters_ == 3


def test_the_best_estimator_can_be_fitted_again(fitted):
    again = clone(fitted.best_estimator_).fit(X, constraints=KNOWN)
    np.testing.assert_array_equal(again.labels_, fitted.labels_)


def test_the_table_has_a_row_for_every_candidate(fitted):
    table = fitted.candidates_
    assert list(table) == ["method", "graph", "score", "spread", "folds", "seconds", "verdict"]
    assert len({len(column) for column in table.values()}) == 1
    assert {"NormalizedCut", "E2CP", "CCSR", "vote"} == set(table["method"])
    assert all(table["verdict"])
    assert table["verdict"].count("chosen") == 1


@pytest.mark.parametrize("count", [2, 3, 6])
def test_labels_of_one_class_do_not_make_one_cluster(count):
    labels = np.full(60, -1)
    labels[np.flatnonzero(Y == 1)[:count]] = 1
    model = AutoCut(random_state=0).fit(X, constraints=Constraints.from_labels(labels))
    assert model.n_clusters_ == 3
    assert adjusted_rand_score(Y, model.labels_) == 1.0


def test_five_pairs_are_too_few_to_compare_by():
    assert make_folds(sample_pairs(Y, 5, random_state=0), 0) == []
    assert len(make_folds(sample_pairs(Y, 20, random_state=0), 0)) == 3
    assert len(make_folds(sample_labels(Y, 8, random_state=0), 0)) == 3
    assert make_folds(sample_labels(Y, 7, random_state=0), 0) == []


def test_fewer_clusters_than_classes_are_warned_of():
    with pytest.warns(ConstraintWarning, match="The labels name 3 classes"):
        AutoCut(2, random_state=0).fit(X, constraints=KNOWN)


def test_candidates_must_have_names():
    with pytest.raises(TypeError, match="must be a dict of names and clusterers"):
        AutoCut(3, candidates=[E2CP()]).fit(X, constraints=KNOWN)


def test_a_third_method_is_compared_where_much_is_known():
    points, y = make_blobs(150, centers=3, cluster_std=2.0, random_state=0)
    for count, compared in ((49, 0), (50, 3)):
        known = sample_labels(y, count, random_state=0)
        table = AutoCut(3, affinity="knn", random_state=0).fit(points, constraints=known).candidates_
        folds = dict(zip(table["method"], table["folds"], strict=True))
        assert folds.get("NCSC", 0) == compared
        assert folds["E2CP"] == 3


def test_scaled_features_are_found_where_units_differ():
    wine, y = load_wine(return_X_y=True)
    known = sample_labels(y, 18, random_state=1)
    model = AutoCut(3, random_state=0).fit(wine, constraints=known)
    plain = NormalizedCut(3, random_state=0).fit(wine)
    assert adjusted_rand_score(y, plain.labels_) < 0.5
    assert adjusted_rand_score(y, model.labels_) > 0.8
    assert "scaled features" in model.explanation_


def test_a_candidate_that_fails_is_told_and_left_out():
    candidates = {"good": E2CP(), "bad": E2CP(alpha=-1.0)}
    model = AutoCut(3, candidates=candidates, random_state=0).fit(X, constraints=KNOWN)
    verdicts = dict(zip(model.candidates_["method"], model.candidates_["verdict"], strict=True))
    assert verdicts["bad"].startswith("failed: ValueError: alpha=-1.0")
    assert adjusted_rand_score(Y, model.labels_) == 1.0


def test_the_best_candidate_is_chosen():
    """On two moons a cut of neighbours is right, k-means-like Gaussians with a huge width are wrong."""
    moons, y = make_moons(100, noise=0.04, random_state=0)
    known = sample_labels(y, 30, random_state=0)
    candidates = {"near": SpectralLearning(), "far": FarSighted()}
    model = AutoCut(2, candidates=candidates, affinity=Neighbors(6), random_state=0)
    model.fit(moons, constraints=known)
    scores = dict(zip(model.candidates_["method"], model.candidates_["score"], strict=True))
    assert scores["near"] > scores["far"] + 0.1
    assert adjusted_rand_score(y, model.labels_) == 1.0


class FarSighted(NormalizedCut):
    """Splits at the median of the first feature."""

    def _solve(self, task):
        return Answer((task.data[:, 0] > np.median(task.data[:, 0])).astype(np.intp))


def test_the_graph_can_be_given(fitted):
    weights = Gaussian(1.0).build(X).toarray()
    model = AutoCut(3, affinity="precomputed", random_state=0).fit(weights, constraints=KNOWN)
    assert adjusted_rand_score(Y, model.labels_) == 1.0
    assert set(model.candidates_["graph"]) == {"the graph given"}
    named = AutoCut(3, affinity="gaussian", random_state=0).fit(X, constraints=KNOWN)
    assert set(named.candidates_["graph"]) == {"the graph asked for"}


def test_little_knowledge_makes_no_folds_and_experience_chooses():
    known = sample_labels(Y, 7, random_state=0)
    model = AutoCut(3, random_state=0).fit(X, constraints=known)
    assert "too few constraints to compare" in model.explanation_
    assert adjusted_rand_score(Y, model.labels_) == 1.0


@pytest.mark.parametrize(("n_labels", "draw"), [(2, 0), (3, 0), (3, 1), (5, 0)])
def test_little_knowledge_does_not_harm(n_labels, draw):
    iris, y = load_iris(return_X_y=True)
    plain = adjusted_rand_score(y, NormalizedCut(3, random_state=0).fit(iris).labels_)
    known = sample_labels(y, n_labels, random_state=draw)
    labels = AutoCut(3, random_state=0).fit(iris, constraints=known).labels_
    assert adjusted_rand_score(y, labels) > plain - 0.05


def test_the_cut_that_votes_is_the_one_without_knowledge():
    """Clusters that overlap: another start of k-means would find another cut."""
    rng = np.random.default_rng(0)
    data = rng.normal(size=(80, 3))
    known = Constraints.from_pairs(80, must_link=[(0, 1)])
    model = AutoCut(4, random_state=5).fit(data, constraints=known)
    cut = next(m for name, m in zip(*named(model), strict=True) if name == "NormalizedCut")
    np.testing.assert_array_equal(cut.labels_, NormalizedCut(4, random_state=5).fit(data).labels_)


def named(model):
    """The names of those that voted, and they themselves."""
    best = model.best_estimator_
    return [name for name, _ in best.estimators], best.estimators_


def test_hard_keeps_every_link():
    pairs = np.random.default_rng(0).integers(0, 60, size=(15, 2))
    known = Constraints.from_pairs(60, must_link=pairs[pairs[:, 0] != pairs[:, 1]])
    model = AutoCut(3, hard=True, random_state=0).fit(X, constraints=known)
    assert known.satisfaction(model.labels_) == 1.0
    with pytest.raises(ConflictError):
        AutoCut(3, hard=True).fit(
            X, constraints=Constraints.from_pairs(60, [(0, 1), (1, 2)], [(0, 2)], on_conflict="weigh")
        )


# Cost


class Counting(NormalizedCut):
    """Counts its fits."""

    n_fits = 0

    def _solve(self, task):
        type(self).n_fits += 1
        return super()._solve(task.without_constraints())


def test_a_budget_of_fits_is_kept():
    Counting.n_fits = 0
    candidates = {f"number {i}": Counting() for i in range(10)}
    AutoCut(3, candidates=candidates, budget=8, random_state=0).fit(X, constraints=KNOWN)
    # Two of the eight cut the graphs; the rest are for the methods, and the chosen are fitted once more.
    assert 6 < Counting.n_fits <= 6 + 5


def test_no_time_leaves_the_choice_to_experience():
    model = AutoCut(3, budget="0s", random_state=0).fit(X, constraints=KNOWN)
    assert "past experience" in model.explanation_
    assert adjusted_rand_score(Y, model.labels_) == 1.0


def test_one_graph_is_built_once_for_all():
    recipe = CountedNeighbors(10)
    CountedNeighbors.n_built = 0
    AutoCut(3, affinity=recipe, random_state=0).fit(X, constraints=KNOWN)
    assert CountedNeighbors.n_built == 1


class CountedNeighbors(Neighbors):
    n_built = 0

    def build(self, X):
        type(self).n_built += 1
        return super().build(X)


def test_many_points_are_tried_on_few(monkeypatch):
    monkeypatch.setattr(autocut, "PILOT_POINTS", 100)
    many, y = make_blobs(600, centers=[[0, 0], [6, 0], [0, 6]], cluster_std=0.8, random_state=1)
    known = sample_pairs(y, 60, random_state=0)
    pilot = autocut.draw_pilot(Task(many, None, known, 3, seed=0))
    about = pilot.constraints
    assert pilot.data.shape == (100, 2)
    assert len(about.constrained_points) >= 45
    assert about.n_pairs >= 25
    model = AutoCut(3, random_state=0).fit(many, constraints=known)
    assert model.labels_.shape == (600,)
    assert adjusted_rand_score(y, model.labels_) > 0.99


# Refusals


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_clusters": "many"}, "n_clusters='many' must be a whole number, at least 1, or 'auto'"),
        ({"budget": "soon"}, "budget='soon': give a number of fits"),
        ({"budget": 0}, "budget=0 must be a whole number"),
        ({"affinity": "guess"}, "affinity='guess': choose"),
        ({"hard": "no"}, "hard='no' must be True or False"),
    ],
)
def test_what_makes_no_sense_is_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        AutoCut(**settings).fit(X, constraints=KNOWN)


# What is expected of graphs


def test_words_are_expected_to_want_angles_and_units_to_want_scales():
    words = sp.csr_array(np.diag(np.arange(1.0, 31.0)))
    assert prior_for_scaling(words, list_views(words)) == {
        "20 neighbours": 0.0,
        "20 neighbours and angles": 0.15,
    }
    one_length = sp.csr_array(np.eye(30))
    assert set(prior_for_scaling(one_length, list_views(one_length)).values()) == {0.0}
    rng = np.random.default_rng(0)
    alike = rng.normal(size=(30, 3)) * [1, 2, 3]
    assert min(prior_for_scaling(alike, list_views(alike)).values()) == -0.15
    units = rng.normal(size=(30, 3)) * [1, 2, 3000]
    assert max(prior_for_scaling(units, list_views(units)).values()) == 0.15
    two = rng.normal(size=(30, 2)) * [1, 3000]
    assert max(prior_for_scaling(two, list_views(two)).values()) == 0.15
    between = rng.normal(size=(30, 3)) * [1, 2, 12]
    assert set(prior_for_scaling(between, list_views(between)).values()) == {0.0}


# Beliefs


def candidate_of(answers, folds, method="a method", graph="usual", prior_gain=0.0):
    candidate = Candidate(method, View(graph, None, prior_gain), None)
    for fold, labels in zip(folds, answers, strict=True):
        candidate.counts.append(fold.count(labels))
        candidate.held_out += len(fold.held_out)
    return candidate


def test_a_gain_is_that_in_balanced_accuracy_on_the_folds_of_both():
    """Brute force over the list of pairs."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 5)
    folds = list(ConstraintFolds(3, random_state=0).split(Constraints.from_labels(y)))
    one, other = ([rng.integers(0, 3, 15) for _ in folds] for _ in range(2))

    def score(answers):
        right, count = np.zeros(2), np.zeros(2)
        for fold, labels in zip(folds, answers, strict=False):
            for a in range(15):
                for b in range(a):
                    if np.isin([a, b], fold.held_out).any():
                        kind = int(y[a] != y[b])
                        count[kind] += 1
                        right[kind] += (labels[a] != labels[b]) == kind
        return np.mean(right / count)

    left, right = candidate_of(one, folds), candidate_of(other, folds)
    assert left.gain_over(right) == pytest.approx(score(one) - score(other))
    early = candidate_of(one[:2], folds[:2])
    assert early.gain_over(right) == pytest.approx(score(one[:2]) - score(other[:2]))


def compare(y, answers, prior_gain=0.0):
    """A comparison in which all answers are given, and the teams on both graphs."""
    known = Constraints.from_labels(y)
    folds = list(ConstraintFolds(3, random_state=0).split(known))

    class Given(Comparison):
        def _answer(self, candidate, given):
            return answers[candidate.view.name, candidate.method]

    task = Task(None, None, known, 2, seed=0)
    comparison = Given(task, folds, Graphs(), Budget(None), hard=False)
    methods = {method: None for _, method in answers if method != "NormalizedCut"}
    views = [View("usual", None), View("other", None, prior_gain)]
    return comparison, [comparison.enter_view(view, methods) for view in views]


def test_a_candidate_is_believed_as_far_as_its_graph_and_points_support_it():
    """Computed by hand: the mean gain of the graph, and .6 of the rest, as much as held-out points count."""
    y = np.repeat([0, 1], 6)
    bad = np.tile([0, 1], 6)
    answers = {("usual", "NormalizedCut"): bad, ("usual", "E2CP"): bad, ("other", "NormalizedCut"): bad}
    comparison, (usual, other) = compare(y, answers | {("other", "E2CP"): y}, prior_gain=0.1)
    gain = other[1].gain_over(usual[0])
    assert gain > 0.4
    of_graph = (12 * gain / 2 + PRIOR_POINTS * 0.1) / (12 + PRIOR_POINTS)
    assert comparison.expected_gain(other) == pytest.approx(of_graph)
    own = 0.6 * 12 * gain / 2 / (12 + PRIOR_POINTS)
    assert comparison._expected_gain(other[1], other) == pytest.approx(of_graph + own)
    assert comparison._expected_gain(other[0], other) == pytest.approx(of_graph - own)
    assert comparison.expected_gain(usual) == 0.0


@pytest.mark.parametrize(
    ("better", "chosen"), [("other", ["E2CP"]), ("usual", ["E2CP"]), ("none", ["NormalizedCut", "E2CP"])]
)
def test_the_vote_on_the_usual_graph_is_left_for_what_is_better(better, chosen):
    y = np.repeat([0, 1], 6)
    bad = np.tile([0, 1], 6)
    answers = {
        (graph, method): y if (graph, method) == (better, "E2CP") else bad
        for graph in ("usual", "other")
        for method in ("NormalizedCut", "E2CP")
    }
    comparison, teams = compare(y, answers)
    found = comparison.choose(teams, 3)
    assert [candidate.method for candidate in found] == chosen
    assert {candidate.view.name for candidate in found} == {"usual" if better == "none" else better}


def test_where_units_differ_scaled_features_need_no_evidence():
    y = np.repeat([0, 1], 6)
    answers = {
        (graph, method): y for graph in ("usual", "other") for method in ("NormalizedCut", "E2CP", "CCSR")
    }
    for prior_gain, chosen in ((0.15, "other"), (0.0, "usual")):
        comparison, teams = compare(y, answers, prior_gain)
        assert comparison.choose(teams, 3)[0].view.name == chosen


def test_another_graph_is_not_taken_by_luck():
    """Scaled features are noise here, and a lucky label or two must not speak for them."""
    rng = np.random.default_rng(0)
    blobs, y = make_blobs(150, centers=3, cluster_std=1.0, random_state=3)
    X = np.column_stack([blobs, rng.normal(size=(150, 6))])
    plain = adjusted_rand_score(y, NormalizedCut(3, random_state=0).fit(X).labels_)
    for draw in range(4):
        known = sample_labels(y, 9, random_state=draw)
        model = AutoCut(3, random_state=0).fit(X, constraints=known)
        assert adjusted_rand_score(y, model.labels_) > plain - 0.01


@pytest.mark.parametrize("sample", [sample_labels, sample_pairs])
def test_knowing_more_than_nothing_costs_next_to_nothing(sample):
    """The contract of tests/contracts for AutoCut: against the cut of the usual graph."""
    losses = []
    sets = [
        load_iris(return_X_y=True),
        make_moons(150, noise=0.15, random_state=0),
        make_blobs([100, 20, 10], n_features=4, cluster_std=2.0, random_state=1),
    ]
    for data, y in sets:
        k = len(np.unique(y))
        plain = NormalizedCut(k, random_state=0).fit(data).labels_
        for count, seed in ((3, 3), (12, 12), (12, 112), (12, 212)):
            known = sample(y, count, random_state=seed)
            found = AutoCut(k, random_state=0).fit(data, constraints=known).labels_
            before, after = (adjusted_rand_index(y, labels, constraints=known) for labels in (plain, found))
            losses.append(before - after)
    assert np.mean(losses) < 0
    assert np.sum(np.array(losses) > 0.05) <= 1
