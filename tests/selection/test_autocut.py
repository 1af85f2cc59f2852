"""AutoCut: chooses well, says why, never needs to be told how."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine, make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score

from sidecut import (
    E2CP,
    AutoCut,
    Constraints,
    NormalizedCut,
    PoissonMBO,
    SpectralLearning,
)
from sidecut.constraints import sample_labels, sample_pairs
from sidecut.exceptions import ConflictError, ConstraintWarning
from sidecut.graphs import Gaussian, Neighbors
from sidecut.methods import Answer, Task
from sidecut.selection import ConstraintFolds, autocut
from sidecut.selection.autocut import N_TRIED, make_folds
from sidecut.selection.comparison import COLUMNS, Budget, Candidate, Comparison, Graphs
from sidecut.selection.expectation import Facts, expect_accuracy
from sidecut.selection.views import View

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
    others = np.delete(np.arange(60), fitted.contradicted_)
    np.testing.assert_array_equal(fitted.labels_[others], fitted.best_estimator_.labels_[others])
    assert fitted.n_clusters_ == 3


def test_the_best_estimator_can_be_fitted_again(fitted):
    again = clone(fitted.best_estimator_).fit(X, constraints=KNOWN)
    np.testing.assert_array_equal(again.labels_, fitted.labels_)


def test_the_table_has_a_row_for_every_candidate(fitted):
    table = fitted.candidates_
    assert list(table) == list(COLUMNS)
    assert len({len(column) for column in table.values()}) == 1
    assert len(table["method"]) == N_TRIED + table["method"].count("NormalizedCut")
    believed = np.array(table["believed"])
    assert np.ptp(believed[np.array(table["verdict"]) == "in the vote"]) <= 0.05 * np.log(20) + 1e-3
    assert table["believed"] == sorted(table["believed"], reverse=True)
    assert table["verdict"][:3] == ["in the vote"] * 3
    frame = table.to_frame()
    assert list(frame.columns) == list(COLUMNS)
    assert frame["method"].tolist() == table["method"]


def test_the_explanation_names_those_the_table_calls_best(fitted):
    """Nobody who is believed to be worse answers, and nobody is chosen whose row says otherwise."""
    table = fitted.candidates_
    answers = [verdict in ("in the vote", "chosen") for verdict in table["verdict"]]
    assert answers[0]
    assert all(table["method"][0] in text for text in (fitted.explanation_,))
    outvoted = [
        b for b, verdict in zip(table["believed"], table["verdict"], strict=True) if "believed" in verdict
    ]
    in_vote = [b for b, one in zip(table["believed"], answers, strict=True) if one]
    assert max(outvoted, default=-np.inf) <= min(in_vote) + 1e-3


@pytest.mark.parametrize("count", [2, 3, 6])
def test_labels_of_one_class_do_not_make_one_cluster(count):
    labels = np.full(60, -1)
    labels[np.flatnonzero(Y == 1)[:count]] = 1
    model = AutoCut(random_state=0).fit(X, constraints=Constraints.from_labels(labels))
    assert model.n_clusters_ == 3
    assert adjusted_rand_score(Y, model.labels_) == 1.0


def test_five_pairs_are_too_few_to_compare_by():
    assert make_folds(sample_pairs(Y, 5, random_state=0), 0) == []
    assert len(make_folds(sample_pairs(Y, 20, random_state=0), 0)) == 2
    assert len(make_folds(sample_labels(Y, 8, random_state=0), 0)) == 2
    assert make_folds(sample_labels(Y, 7, random_state=0), 0) == []


def test_fewer_clusters_than_classes_are_warned_of():
    with pytest.warns(ConstraintWarning, match="The labels name 3 classes"):
        AutoCut(2, random_state=0).fit(X, constraints=KNOWN)


def test_candidates_must_have_names():
    with pytest.raises(TypeError, match="must be a dict of names and clusterers"):
        AutoCut(3, candidates=[E2CP()]).fit(X, constraints=KNOWN)


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
    AutoCut(3, candidates=candidates, affinity="knn", budget=8, random_state=0).fit(X, constraints=KNOWN)
    # Five candidates can be compared, and vote; the cut without constraints may be one of the eight.
    assert 7 + 2 <= Counting.n_fits <= 8 + 5


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
        ({"n_clusters": "many"}, r"n_clusters='many' must be .*, bounds such as \(2, 6\), or 'auto'"),
        ({"budget": "soon"}, "budget='soon': give a number of fits"),
        ({"budget": 0}, "budget=0 must be a whole number"),
        ({"affinity": "guess"}, "affinity='guess': choose"),
        ({"hard": "no"}, "hard='no' must be True or False"),
    ],
)
def test_what_makes_no_sense_is_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        AutoCut(**settings).fit(X, constraints=KNOWN)


# Beliefs


def compare(y, answers, expected=None, voters=1):
    """A comparison in which all answers are given by the names of the methods."""
    known = Constraints.from_labels(y)
    folds = list(ConstraintFolds(3, random_state=0).split(known))

    class Given(Comparison):
        def _answer(self, candidate, fold):
            candidate.answers.append(answers[candidate.method])
            candidate.counts.append(fold.count(answers[candidate.method]))
            candidate.held_out += len(fold.held_out)
            return True

    task = Task(None, None, known, 2, seed=0)
    comparison = Given(task, folds, Graphs(), Budget(None), Facts(are_labels=True), hard=False)
    view, expected = View("usual", None), expected or {}
    comparison.enter([Candidate(name, view, None, expected.get(name, 0.0)) for name in answers])
    return comparison, comparison.choose(voters)


TWO = np.repeat([0, 1], 6)


def test_a_candidate_is_believed_by_what_was_expected_and_what_it_shows(monkeypatch):
    """By hand: one is right everywhere, the other nowhere; what they show counts m / (m + half) = 1 / 2."""
    monkeypatch.setattr("sidecut.selection.expectation.TRUST", {"labels": (0.8, 12.0)})
    comparison, (best,) = compare(TWO, {"good": TWO, "bad": 0 * TWO}, {"good": 0.1, "bad": 0.3})
    good, bad = comparison.candidates
    assert (good.score, bad.score) == (1.0, 0.5)
    assert good.believed == pytest.approx(0.5 * 0.1 + 0.5 * 0.8 * 0.25)
    assert bad.believed == pytest.approx(0.5 * 0.3 - 0.5 * 0.8 * 0.25)
    assert best is bad if good.believed < bad.believed else best is good
    assert compare(TWO, {"good": TWO, "bad": 0 * TWO}, {"bad": 0.1})[1][0].method == "good"


class Told(Comparison):
    """A comparison in which the cut of scaled features is right, and that of features as given is not."""

    def _answer(self, candidate, fold):
        found = TWO if candidate.view.form == "scaled" else 0 * TWO
        candidate.counts.append(fold.count(found))
        candidate.held_out += len(fold.held_out)
        return True


@pytest.mark.parametrize(
    ("n_labels", "advantage", "form"), [(5, 0.1, "scaled"), (3, 0.1, "raw"), (5, 0.4, "raw")]
)
def test_too_few_labels_for_folds_still_judge_cuts_and_so_the_form(monkeypatch, n_labels, advantage, form):
    """By hand: scores of 1 and .5 count .5 * .8 * .5 = .2, against half of the advantage and `MIN_GAIN`."""
    monkeypatch.setattr("sidecut.selection.expectation.TRUST", {"labels": (0.8, 5.0)})
    known = Constraints.from_labels(
        np.where(np.isin(np.arange(12), np.arange(6 - n_labels // 2, 6 + n_labels - n_labels // 2)), TWO, -1)
    )
    task = Task(None, None, known, 2, seed=0)
    comparison = Told(task, [], Graphs(), Budget(None), Facts(are_labels=True), hard=False)
    entered = [
        Candidate(
            method, View(name, None, name), None, advantage * (name == "raw") + 0.1 * (method == "E2CP")
        )
        for name in ("raw", "scaled")
        for method in ("NormalizedCut", "E2CP")
    ]
    kept = autocut._of_one_form(entered, comparison)
    assert [(one.method, one.view.form) for one in kept] == [("NormalizedCut", form), ("E2CP", form)]


def test_held_out_labels_are_counted_as_right_by_the_names_the_others_give():
    swapped = 1 - TWO
    wrong = TWO.copy()
    wrong[:3] = 1
    comparison, chosen = compare(TWO, {"swapped": swapped})
    assert comparison.check(chosen) == (12.0, 12)
    comparison, chosen = compare(TWO, {"wrong": wrong})
    assert comparison.check(chosen) == (9.0, 12)


def test_a_method_that_fails_leaves_the_answer_to_another():
    candidates = {"good": E2CP(), "bad": E2CP(alpha=-1.0)}
    model = AutoCut(3, candidates=candidates, random_state=0).fit(X, constraints=KNOWN)
    assert "bad" not in model.explanation_


# Confidence


@pytest.mark.parametrize(("count", "chance"), [(12, 0.2), (30, 0.15)])
def test_confidence_is_in_the_mean_what_held_out_labels_show(count, chance):
    points, y = make_blobs(300, centers=3, cluster_std=3.0, random_state=2)
    known = Constraints.from_labels(np.where(np.arange(300) < count, y, -1))
    model = AutoCut(3, random_state=0).fit(points, constraints=known)
    free = np.setdiff1d(np.arange(300), known.constrained_points)
    assert model.confidence_[free].mean() == pytest.approx(model.expected_accuracy_, abs=1e-3)
    assert f"{model.expected_accuracy_:.0%} of the points should be right" in model.explanation_
    names = np.array([model.cluster_classes_[number] for number in range(3)])
    right = names[model.labels_[free]] == y[free]
    assert abs(right.mean() - model.expected_accuracy_) < chance
    sure = model.confidence_[free]
    assert right[sure > np.median(sure)].mean() > right[sure <= np.median(sure)].mean()


def test_labels_that_say_nothing_give_little_confidence():
    noise = np.random.default_rng(0)
    y = noise.integers(0, 3, 300)
    model = AutoCut(3, random_state=0).fit(
        noise.normal(size=(300, 4)), constraints=sample_labels(y, 60, random_state=0)
    )
    assert model.confidence_.mean() < 0.55


def test_confidence_notices_that_clusters_are_not_the_classes():
    """Two clear clusters, and labels that are right in both but say something else."""
    points, y = make_blobs(200, centers=[[0, 0], [9, 0]], random_state=0)
    other = np.random.default_rng(1).integers(0, 2, 200)
    honest, wrong = (
        AutoCut(2, random_state=0).fit(points, constraints=sample_labels(classes, 60, random_state=0))
        for classes in (y, other)
    )
    assert honest.expected_accuracy_ > 0.9
    assert wrong.expected_accuracy_ < 0.7
    assert wrong.confidence_.mean() < 0.7


def test_the_share_that_should_be_right_by_hand(monkeypatch):
    learned = {"labels": (10.0, 0.1, 0.5, 0.25), "pairs": (40.0, 0.0, 1.0, 0.0)}
    monkeypatch.setattr("sidecut.selection.expectation.ACCURACY", learned)
    assert expect_accuracy(True, 0.9, 0.8, 24, 30) == pytest.approx((24 + 10 * (0.1 + 0.405 + 0.2)) / 40)
    assert expect_accuracy(False, 0.5, 0.8, 12, 40) == pytest.approx((12 + 40 * 0.25) / 80)
    assert expect_accuracy(True, 0.5, 0.4, 0, 0) == pytest.approx(0.1 + 0.125 + 0.1)
    assert expect_accuracy(False, 1.0, 1.0, 0, 0) == pytest.approx(0.995)


# Few labels


def two_of_each(y, seed):
    order = np.random.default_rng(seed).permutation(len(y))
    rows = np.concatenate([order[y[order] == kind][:2] for kind in np.unique(y)])
    labels = np.full(len(y), -1)
    labels[rows] = y[rows]
    return labels


def test_with_two_labels_of_every_class_autocut_keeps_up_with_poissonmbo():
    points, y = make_blobs(300, 6, centers=6, cluster_std=3.5, random_state=0)
    right = {"auto": [], "poisson": []}
    for seed in range(3):
        labels = two_of_each(y, seed)
        known, free = Constraints.from_labels(labels), labels < 0
        models = {"auto": AutoCut(random_state=0), "poisson": PoissonMBO(6, random_state=0)}
        for name, model in models.items():
            model.fit(points, constraints=known)
            names = np.array([model.cluster_classes_.get(c, -1) for c in range(model.labels_.max() + 1)])
            right[name].append(np.mean(names[model.labels_[free]] == y[free]))
    assert np.mean(right["auto"]) > np.mean(right["poisson"]) - 0.02


def test_those_vote_whose_clusters_have_the_most_classes():
    labels = np.where(np.arange(60) % 6 == 0, Y, -1)
    merged = np.where(Y == 2, 1, Y)

    class Says(NormalizedCut):
        def _solve(self, task):
            return Answer(merged if self.n_neighbors == 9 else Y)

    candidates = {"merges": Says(n_neighbors=9), "parts": Says(n_neighbors=8)}
    model = AutoCut(3, candidates=candidates, random_state=0).fit(
        X, constraints=Constraints.from_labels(labels)
    )
    verdicts = dict(zip(model.candidates_["method"], model.candidates_["verdict"], strict=True))
    assert "merges" not in model.explanation_.split("(")[0]
    assert verdicts["merges"] in (
        "others give more classes a cluster of their own",
        "others are believed to be better",
    )
    assert adjusted_rand_score(Y, model.labels_) == 1.0


def test_chances_of_new_points_add_up_and_agree_with_predict():
    points, y = make_blobs(200, centers=3, cluster_std=2.5, random_state=2)
    model = AutoCut(3, random_state=0).fit(
        points[:150], constraints=sample_labels(y[:150], 30, random_state=0)
    )
    chances = model.predict_proba(points)
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)
    assert chances.min() >= 0
    np.testing.assert_array_equal(chances.argmax(axis=1), model.predict(points))
    np.testing.assert_array_equal(model.predict(points[:150]), model.labels_)


def test_a_held_out_label_counts_only_where_its_class_has_another_in_the_fold():
    """With one label per class, every held-out label is of a class that the fold cannot name."""
    X, y = make_blobs(240, centers=8, center_box=(-20, 20), cluster_std=0.8, random_state=1)
    given = np.full(240, -1)
    given[np.unique(y, return_index=True)[1]] = range(8)
    model = AutoCut(8, random_state=0).fit(X, constraints=Constraints.from_labels(given))
    assert "too little was given to check it" in model.explanation_
