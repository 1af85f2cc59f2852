"""When the knowledge itself decides between the constrained cut and that of the graph."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score

from sidecut import (
    CCSR,
    CSAP,
    E2CP,
    LCSC,
    NCSC,
    SSKK,
    ConstrainedGMM,
    Constraints,
    MetricKMeans,
    PoissonMBO,
    SpectralLearning,
)
from sidecut.constraints import sample_labels, sample_pairs
from sidecut.exceptions import ConstraintWarning
from sidecut.methods.safeguard import (
    CONSTRAINED,
    GRAPH,
    Judgement,
    KnownPairs,
    chance_corrected,
    count_decided,
    is_tried,
    judge,
    try_out,
    warn_if_unsure,
    weigh,
)


@pytest.fixture
def rng():
    return np.random.RandomState(0)


@pytest.mark.parametrize("seed", range(5))
def test_the_agreement_of_all_pairs_is_the_adjusted_rand_index(seed):
    rng = np.random.RandomState(seed)
    y, labels = rng.randint(4, size=40), rng.randint(3, size=40)
    known = KnownPairs(Constraints.from_labels(y), rng)
    assert known.agreement(labels) == pytest.approx(adjusted_rand_score(y, labels))


@pytest.mark.parametrize(
    ("counts", "expected"), [((3, 0, 3, 0), 1.0), ((3, 0, 2, 0), 0.0), ((0, 2, 0, 2), 1.0)]
)
def test_agreement_where_all_pairs_are_of_one_kind(counts, expected):
    assert chance_corrected(np.array(counts)) == expected


def test_facts_are_counted_once(rng):
    y = rng.randint(3, size=100)
    assert KnownPairs(sample_labels(y, 20, random_state=0), rng).n_facts == 19
    apart = Constraints.from_pairs(10, must_link=[(0, 1), (1, 2), (0, 2)], cannot_link=[(4, 5)])
    assert KnownPairs(apart, rng).n_facts == 3


def test_scattered_pairs_are_dealt_whole_and_labels_class_by_class(rng):
    y = np.repeat([0, 1, 2], 100)
    pairs = KnownPairs(sample_pairs(y, 30, random_state=0), rng)
    fold = pairs.deal(4, rng)
    np.testing.assert_array_equal(fold[pairs.first], fold[pairs.second])
    labels = KnownPairs(Constraints.from_labels(np.where(np.arange(300) % 25 == 0, y, -1)), rng)
    fold = labels.deal(4, rng)
    for group in range(3):
        np.testing.assert_array_equal(np.bincount(fold[labels.groups == group], minlength=4), 1)


def judged(y, known, answer, graph, told_answer=None, n_clusters=3):
    def refit(told):
        return None if told_answer is None else {"kmeans": told_answer}

    return judge(known, n_clusters, {"kmeans": answer}, lambda: graph, refit)


def test_the_graph_is_kept_where_it_satisfies_all(rng):
    y = np.repeat([0, 1, 2], 30)
    kept = judged(y, sample_labels(y, 20, random_state=0), y, y, y)
    assert kept.choice == GRAPH
    assert kept.is_sure


def test_few_facts_decide_nothing(rng):
    y = np.repeat([0, 1, 2], 30)
    kept = judged(y, sample_labels(y, 8, random_state=0), y, np.arange(90) % 3, y)
    assert kept.choice == GRAPH
    assert not kept.is_sure


@pytest.mark.parametrize(("told_answer", "choice"), [("right", "kmeans"), ("wrong", GRAPH), (None, GRAPH)])
def test_what_is_held_back_decides(rng, told_answer, choice):
    """The answer that was told everything is right in all three; only the held-back pairs differ."""
    y, wrong = np.repeat([0, 1, 2], 30), np.arange(90) % 3
    told = {"right": y, "wrong": wrong, None: None}[told_answer]
    assert judged(y, sample_labels(y, 30, random_state=0), y, wrong, told).choice == choice


def test_ample_knowledge_needs_no_cut_of_the_graph():
    y = np.repeat([0, 1, 2], 100)

    def fail(*_):
        raise AssertionError("not needed")

    known = sample_labels(y, 150, random_state=0)
    assert judge(known, 3, {"kmeans": y}, fail, fail).choice == "kmeans"
    # An answer that contradicts ample knowledge is not kept.
    assert judge(known, 3, {"kmeans": np.arange(300) % 3}, lambda: np.roll(y, 30), fail).choice == GRAPH


def test_the_second_answer_has_to_be_noticeably_better():
    y = np.repeat([0, 1, 2], 100)
    known, poor = sample_labels(y, 150, random_state=0), np.where(np.arange(300) < 10, 2, y)
    assert judge(known, 3, {"kmeans": y, "seeded": y}, None, None).choice == "kmeans"
    assert judge(known, 3, {"kmeans": poor, "seeded": y}, None, None).choice == "seeded"


def test_the_warning_names_the_share_and_the_way_out():
    known = Constraints.from_labels([0, 1, -1])
    with pytest.warns(ConstraintWarning, match=r"about 2 points does not improve.*satisfies 0%.*safe=False"):
        warn_if_unsure(Judgement(GRAPH, "", is_sure=False), known, np.zeros(3, dtype=int))
    warn_if_unsure(Judgement(GRAPH, ""), known, np.zeros(3, dtype=int))


def test_of_very_many_pairs_some_points_are_listed(rng, monkeypatch):
    monkeypatch.setattr("sidecut.methods.safeguard.pairs.MOST_PAIRS", 100)
    monkeypatch.setattr("sidecut.methods.safeguard.pairs.SOME_POINTS", 20)
    y = rng.randint(3, size=200)
    known = KnownPairs(Constraints.from_labels(y), rng)
    assert known.points.size == 20
    assert known.first.size == 190
    assert known.agreement(y) == 1.0


# What methods without a trial of their own keep and follow.

X, Y = make_blobs(90, n_features=3, centers=3, cluster_std=4.0, random_state=4)


@pytest.mark.parametrize("method", [E2CP, NCSC])
def test_what_is_satisfied_anyway_changes_nothing(method):
    alone = method(3, random_state=0).fit(X)
    i, j = np.flatnonzero(alone.labels_ == alone.labels_[0])[:2]
    known = Constraints.from_pairs(90, must_link=[(i, j)])
    model = method(3, random_state=0).fit(X, constraints=known)
    assert model.judgement_.choice == "graph"
    np.testing.assert_array_equal(model.labels_, alone.labels_)
    np.testing.assert_array_equal(model.confidence_, alone.confidence_)


def test_one_link_decides_nothing_unless_it_is_hard():
    alone = E2CP(3, random_state=0).fit(X).labels_
    i, j = 0, np.flatnonzero(alone != alone[0])[0]
    known = Constraints.from_pairs(90, must_link=[(i, j)])
    with pytest.warns(ConstraintWarning, match="about 2 points does not improve"):
        kept = E2CP(3, random_state=0).fit(X, constraints=known)
    np.testing.assert_array_equal(kept.labels_, alone)
    hard = E2CP(3, hard=True, random_state=0).fit(X, constraints=known)
    assert hard.labels_[i] == hard.labels_[j]


@pytest.mark.parametrize(
    "method", [E2CP, NCSC, SpectralLearning, CSAP, CCSR, LCSC, SSKK, MetricKMeans, ConstrainedGMM]
)
def test_the_repair_is_that_of_the_answer_that_is_kept(method, monkeypatch):
    alone = method(3, random_state=0).fit(X)
    i, j = np.flatnonzero(alone.labels_ == alone.labels_[0])[:2]
    known = Constraints.from_pairs(90, must_link=[(i, j)])
    fit = method._fit

    def fit_badly(self, X, constraints):
        fit(self, X, constraints)
        if constraints is not None and not constraints.is_empty:
            self.repair_ = "of another answer"

    monkeypatch.setattr(method, "_fit", fit_badly)
    model = method(3, hard=True, random_state=0).fit(X, constraints=known)
    assert model.judgement_.choice == "graph"
    np.testing.assert_array_equal(model.labels_, alone.labels_)
    assert len(model.repair_.moved) == model.repair_.violated_before == model.repair_.violated == 0
    assert model.repair_.cost == 0


# Pairs held back from methods that are told some facts.


def test_an_answer_unlike_the_graph_has_to_get_held_back_pairs_right():
    y = np.repeat([0, 1, 2], 60)
    alone, known = np.arange(180) % 3, sample_pairs(y, 60, random_state=0)
    assert try_out(known, y, alone, lambda part: y).choice == CONSTRAINED
    # It satisfies what it is told, and nothing else.
    kept = try_out(known, y, alone, lambda part: alone)
    assert kept.choice == GRAPH
    assert not kept.is_sure


@pytest.mark.parametrize(
    ("n_better", "n_worse", "choice"),
    [
        (1, 0, GRAPH),
        (2, 0, CONSTRAINED),
        (3, 1, GRAPH),
        (4, 1, CONSTRAINED),
        (9, 6, GRAPH),
        (10, 5, CONSTRAINED),
    ],
)
def test_the_difference_has_to_be_larger_than_its_standard_deviation(n_better, n_worse, choice):
    """Of 40 must-links so many are right with the others told only, and so many without only."""
    pairs = np.arange(80).reshape(-1, 2)
    known = Constraints.from_pairs(80, must_link=pairs)
    told, alone = np.zeros(80, dtype=int), np.zeros(80, dtype=int)
    alone[pairs[:n_better, 0]] = 1
    told[pairs[n_better : n_better + n_worse, 0]] = 1
    # What neither gets right does not count.
    for labels in (told, alone):
        labels[pairs[n_better + n_worse :: 2, 0]] = 1
    judged = try_out(known, np.zeros(80, dtype=int), alone, lambda part: told)
    assert f"{n_better} are right only with the others told, {n_worse} only without" in judged.detail
    assert judged.choice == choice


@pytest.mark.parametrize("sample", [sample_labels, sample_pairs])
def test_points_that_were_told_do_not_count(sample):
    """Labels that are only copied to the told points say nothing about the others."""
    y = np.repeat([0, 1, 2], 60)
    alone, known = np.arange(180) % 3, sample(y, 60, random_state=0)

    def copy_what_is_told(part):
        labels = alone.copy()
        labels[part.constrained_points] = y[part.constrained_points]
        return labels

    kept = try_out(known, y, alone, copy_what_is_told)
    better, worse = (int(word) for word in kept.detail.replace(",", "").split() if word.isdigit())
    assert kept.choice == GRAPH
    assert better <= worse
    assert f"{sample.__name__[7:]} that were held back" in kept.detail


def test_of_a_pair_both_points_are_held_back():
    """All hangs on one point. Where that is told, the others follow, which does not count."""
    known = Constraints.from_pairs(12, must_link=[(0, i) for i in range(1, 12)])
    alone = np.arange(12)

    def follow_the_first(part):
        return alone if part.is_empty else np.zeros(12, dtype=int)

    pairs = KnownPairs(known, np.random.RandomState(0))
    assert count_decided(known, pairs, alone, follow_the_first) == (0, 0)


def test_held_back_labels_are_counted_one_by_one():
    y = np.repeat([0, 1, 2], 60)
    alone, known = np.full(180, 7), sample_labels(y, 60, random_state=0)
    # Those of one class are in the one cluster, all are found.
    others = 60 - np.bincount(y[known.constrained_points]).max()
    detail = try_out(known, y, alone, lambda part: y).detail
    assert f"{others} are right only with the others told, 0 only without" in detail


def test_answers_much_alike_are_not_tried():
    y = np.repeat([0, 1, 2], 60)
    alone, known = np.where(np.arange(180) < 3, 1, y), sample_labels(y, 60, random_state=0)
    assert adjusted_rand_score(y, alone) > 0.9
    assert try_out(known, y, alone, None).choice == CONSTRAINED
    # But one that agrees no better with what is known is not kept.
    assert try_out(known, alone, y, None) == Judgement(
        GRAPH, "The answer without constraints agrees with them as well as the one that is told them."
    )


@pytest.mark.parametrize(
    ("n_points", "n_pairs", "expected"),
    [
        (300, 4, False),
        (300, 5, True),
        (80, 31, False),
        (83, 31, True),
        (300, 100, True),
        (300, 101, False),
        (2000, 50, True),
        (2001, 50, False),
    ],
)
def test_where_pairs_are_held_back(n_points, n_pairs, expected):
    ends = np.arange(2 * n_pairs).reshape(-1, 2)
    assert is_tried(Constraints.from_pairs(n_points, must_link=ends)) == expected


@pytest.mark.parametrize("method", [CSAP, E2CP, NCSC])
@pytest.mark.parametrize("seed", range(6))
def test_two_scattered_pairs_are_too_little_for_everybody(method, seed):
    X, y = make_moons(300, noise=0.12, random_state=0)
    model = method(2, random_state=0)
    with warnings.catch_warnings(action="ignore", category=ConstraintWarning):
        told = model.fit(X, constraints=sample_pairs(y, 2, random_state=seed)).labels_
    assert adjusted_rand_score(told, clone(model).fit(X).labels_) == 1.0


def test_two_facts_are_followed_by_some_methods_only():
    known = Constraints.from_labels([0, 0, 1, -1, -1, -1])
    told, alone = np.array([0, 0, 1, 1, 1, 1]), np.array([0, 1, 1, 0, 0, 0])
    assert weigh(known, 2, told, alone, fewest=2).choice == CONSTRAINED
    assert weigh(known, 2, told, alone).choice == GRAPH
    assert {method for method in (CCSR, CSAP, E2CP, LCSC, NCSC, SSKK) if method._fewest_facts == 2} == {
        CSAP,
        E2CP,
        NCSC,
    }


def test_poisson_mbo_holds_fewer_labels_back():
    """All its labels are satisfied, whatever becomes of the others: only held-back ones can tell."""
    points, y = make_blobs(240, 5, centers=4, cluster_std=5.5, random_state=0)
    known = sample_labels(y, 20, random_state=0)
    followed, kept = (PoissonMBO(4, safe=safe, random_state=0) for safe in (False, True))
    alone = PoissonMBO(4, random_state=0).fit(points).labels_
    assert known.satisfaction(followed.fit(points, constraints=known).labels_) > 0.95
    with pytest.warns(ConstraintWarning, match="held back"):
        np.testing.assert_array_equal(kept.fit(points, constraints=known).labels_, alone)
    scores = [adjusted_rand_score(y, model.labels_) for model in (followed, kept)]
    assert scores[0] < scores[1]


def test_nothing_is_held_back_of_nothing():
    assert not is_tried(Constraints.none(300))


def test_a_method_that_harms_is_not_followed_and_says_why():
    """CSAP on points without clusters: what it is told does not help it with what it is not."""
    rng = np.random.RandomState(0)
    points, y = rng.normal(size=(150, 4)), rng.randint(2, size=150)
    known = sample_pairs(y, 60, random_state=0)
    with pytest.warns(ConstraintWarning, match="held back"):
        kept = CSAP(2, random_state=0).fit(points, constraints=known)
    np.testing.assert_array_equal(kept.labels_, CSAP(2, random_state=0).fit(points).labels_)
    followed = CSAP(2, safe=False, random_state=0).fit(points, constraints=known)
    assert known.satisfaction(followed.labels_) > known.satisfaction(kept.labels_)


# What neighbours say, where much is known.


def judge_ample(told, alone, known, ask):
    return judge(known, 3, {CONSTRAINED: told}, lambda: alone, lambda part: None, ask)


def test_much_knowledge_is_followed_only_if_the_neighbours_agree_with_it():
    y = np.repeat([0, 1, 2], 100)
    known = sample_pairs(y, 150, random_state=0)
    alone = np.where(np.arange(300) % 3 == 0, (y + 1) % 3, y)
    # Told points are mostly right, and it is the others that differ: nothing better, or everything.
    told = alone.copy()
    some = known.constrained_points[::15]
    told[known.constrained_points] = y[known.constrained_points]
    told[some] = (y[some] + 1) % 3
    agreement = KnownPairs(known, np.random.RandomState(0)).agreement
    assert agreement(alone) + 0.2 < agreement(told) < 0.9
    assert judge_ample(told, alone, known, None).choice == CONSTRAINED
    kept = judge_ample(told, alone, known, lambda labels: alone)
    assert kept.choice == GRAPH
    assert kept.detail.startswith(
        "The gain in how far neighbours agree with what is known is 0.000, and more"
    )
    followed = judge_ample(told, alone, known, lambda labels: y if labels is told else alone)
    assert followed.choice == CONSTRAINED


def test_an_answer_that_agrees_is_compared_with_the_graph_only_if_it_is_doubtful():
    y = np.repeat([0, 1, 2], 100)
    known = sample_pairs(y, 150, random_state=0)
    alone = np.where(np.arange(300) % 3 == 0, (y + 1) % 3, y)

    def choose(is_doubtful, neighbors_say):
        answers = {CONSTRAINED: y}
        return judge(known, 3, answers, lambda: alone, lambda part: None, neighbors_say, is_doubtful).choice

    assert choose(lambda labels: False, lambda labels: alone if labels is y else y) == CONSTRAINED
    assert choose(lambda labels: True, lambda labels: alone if labels is y else y) == GRAPH
    assert choose(lambda labels: True, lambda labels: alone) == CONSTRAINED


# Parts are held back only as long as it is not clear what they show.


def count_refits(answer, alone, known):
    """The judgement where every refit gives one answer, and how many refits it took."""
    calls = []

    def refit(part):
        calls.append(part)
        return {CONSTRAINED: answer}

    return judge(known, 2, {CONSTRAINED: answer}, lambda: alone, refit), len(calls)


def test_nothing_is_held_back_where_the_graph_leaves_too_little_to_gain():
    y = np.repeat([0, 1], 90)
    known = Constraints.from_labels(np.where(np.arange(180) % 2, -1, y))
    alone = y.copy()
    alone[0] = 1
    kept, n_refits = count_refits(y, alone, known)
    assert (kept.choice, n_refits) == (GRAPH, 0)


def test_half_of_the_parts_are_enough_for_a_clear_gain_and_all_are_asked_for_a_small_one():
    y = np.repeat([0, 1], 90)
    known = Constraints.from_labels(np.where(np.arange(180) % 2, -1, y))
    alone = np.where(np.arange(180) % 4 == 0, 1 - y, y)
    followed, n_refits = count_refits(y, alone, known)
    assert (followed.choice, n_refits) == (CONSTRAINED, 2)
    alone = y.copy()
    alone[[0, 2]] = 1
    followed, n_refits = count_refits(y, alone, known)
    assert (followed.choice, n_refits) == (CONSTRAINED, 4)


def test_a_gain_that_is_too_small_is_told_with_the_gain_that_is_needed():
    y = np.repeat([0, 1], 20)
    labels = np.where(np.arange(40) % 4 == 0, y, -1)
    known, alone = Constraints.from_labels(labels), np.arange(40) // 2 % 2
    # Two or three of ten labels are wrong, and the answers have next to nothing in common.
    told = np.where(np.isin(np.arange(40), [0, 4, 20]), 1 - y, y)
    kept, worse = weigh(known, 2, told, alone), weigh(known, 2, alone, told)
    assert kept.choice == worse.choice == GRAPH
    assert "with 9 facts the gain must be more than 0.33" in kept.detail
    assert "the gain must be" not in worse.detail
