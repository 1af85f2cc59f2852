"""Folds over constraints: nothing leaks, nothing is lost, everything is counted."""

import itertools

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from sidecut import Constraints
from sidecut.constraints import sample_labels, sample_pairs
from sidecut.selection import ConstraintFolds, PairCounts, score_pairs

Y = np.random.default_rng(0).integers(0, 4, 120)
CLUSTERS = np.where(np.random.default_rng(1).random(120) < 0.7, Y, 0)


def knowledge(kind):
    if kind == "labels":
        return sample_labels(Y, 30, random_state=0)
    if kind == "pairs":
        return sample_pairs(Y, 20, random_state=0)
    if kind == "many pairs":
        return sample_pairs(Y, 150, random_state=0)
    return sample_labels(Y, 20, random_state=0) | sample_pairs(Y, 20, random_state=1)


KINDS = pytest.mark.parametrize("kind", ["labels", "pairs", "many pairs", "both"])


@KINDS
def test_every_known_point_is_held_out_once_and_nothing_is_told_about_it(kind):
    known = knowledge(kind)
    folds = list(ConstraintFolds(4, random_state=0).split(known))
    assert len(folds) == ConstraintFolds(4, random_state=0).get_n_splits(known) == 4
    held_out = np.concatenate([fold.held_out for fold in folds])
    assert sorted(held_out) == list(known.constrained_points)
    for fold in folds:
        assert not np.intersect1d(fold.train.constrained_points, fold.held_out).size
        assert fold.train.n_pairs > 0


@KINDS
def test_what_is_told_is_what_is_known_among_the_others(kind):
    known = knowledge(kind)
    everything = known.as_matrix().toarray()
    for fold in ConstraintFolds(3, random_state=1).split(known):
        told = np.ones(120)
        told[fold.held_out] = 0
        np.testing.assert_array_equal(fold.train.as_matrix().toarray(), everything * np.outer(told, told))


@KINDS
def test_pairs_are_counted_as_if_they_were_listed(kind):
    known = knowledge(kind)
    closed = known.closed().as_matrix().toarray()
    for fold in ConstraintFolds(4, random_state=2).split(known):
        counts = dict.fromkeys([(True, True), (True, False), (False, True), (False, False)], 0)
        for i, j in itertools.combinations(range(120), 2):
            if closed[i, j] and (i in fold.held_out or j in fold.held_out):
                counts[closed[i, j] > 0, CLUSTERS[i] == CLUSTERS[j]] += 1
        assert fold.count(CLUSTERS) == PairCounts(
            together=counts[True, True] + counts[True, False],
            apart=counts[False, True] + counts[False, False],
            joined=counts[True, True],
            parted=counts[False, False],
        )


def test_small_sets_that_do_not_speak_of_each_other_are_held_out_whole():
    known = sample_pairs(Y, 15, random_state=3)
    kept = [fold.train.n_pairs for fold in ConstraintFolds(5, random_state=0).split(known)]
    # Every pair is held out exactly once, none falls between told and held out.
    assert sum(known.n_pairs - count for count in kept) == known.n_pairs


def test_classes_are_dealt_evenly():
    labels = np.full(120, -1)
    labels[:12], labels[12:24] = 0, 1
    for fold in ConstraintFolds(4, random_state=0).split(Constraints.from_labels(labels)):
        assert np.bincount(labels[fold.held_out]).tolist() == [3, 3]


def test_the_closure_cannot_leak():
    """Of three pairs among three points two give the third away; all three are held out together."""
    triangle = Constraints.from_pairs(30, must_link=[(0, 1), (1, 2), (0, 2)])
    others = Constraints.from_pairs(30, cannot_link=[(i, i + 1) for i in range(4, 28, 2)])
    for fold in ConstraintFolds(3, random_state=0).split(triangle | others):
        assert len({0, 1, 2} & set(fold.held_out.tolist())) in (0, 3)


def test_folds_are_repeatable():
    known = knowledge("both")
    one, two = (
        [fold.held_out.tolist() for fold in ConstraintFolds(4, random_state=5).split(known)] for _ in range(2)
    )
    assert one == two


def test_too_little_makes_no_fold():
    assert not list(ConstraintFolds(5).split(Constraints.none(10)))
    assert not list(ConstraintFolds(5).split(Constraints.from_labels([0, -1, -1])))
    (first, second) = ConstraintFolds(5, random_state=0).split(Constraints.from_labels([0, 1, -1]))
    assert first.train.n_pairs == second.train.n_pairs == 0
    assert first.count([0, 1, 0]) == PairCounts(0, 1, 0, 1)


def test_contradictions_count_on_the_stronger_side():
    known = Constraints.from_pairs(6, [(0, 1), (1, 2), (3, 4)], [(0, 2)], [3, 2, 1], 1, on_conflict="weigh")
    assert score_pairs(known, [0, 0, 0, 1, 1, 2]) == 1.0
    assert sum(1 for _ in ConstraintFolds(2, random_state=0).split(known)) == 2


def test_rand_beyond_chance_is_the_adjusted_rand_index():
    score = score_pairs(Constraints.from_labels(Y), CLUSTERS, "rand_beyond_chance")
    assert score == pytest.approx(adjusted_rand_score(Y, CLUSTERS), abs=1e-12)


def test_balanced_scores_by_hand():
    counts = PairCounts(together=10, apart=90, joined=5, parted=81)
    assert counts.balanced_accuracy == pytest.approx((0.5 + 0.9) / 2)
    assert counts.f_measure == pytest.approx((10 / (10 + 5 + 9) + 162 / (162 + 5 + 9)) / 2)
    assert counts.rand_beyond_chance == pytest.approx(2 * (5 * 81 - 5 * 9) / (10 * 86 + 14 * 90))


def test_one_kind_of_pair_is_scored_by_itself():
    assert PairCounts(10, 0, 4, 0).balanced_accuracy == pytest.approx(0.4)
    assert PairCounts(0, 10, 0, 4).f_measure == pytest.approx(8 / 14)
    assert PairCounts(0, 0, 0, 0).f_measure == 1.0
    assert PairCounts(10, 0, 10, 0).rand_beyond_chance == 1.0
    assert PairCounts(10, 0, 9, 0).rand_beyond_chance == 0.0


def test_an_unknown_score_is_refused():
    with pytest.raises(ValueError, match="scoring='accuracy': choose 'f_measure'"):
        score_pairs(knowledge("labels"), CLUSTERS, "accuracy")


def test_among_keeps_numbers_and_weights():
    known = Constraints.from_labels([0, 0, 1, -1, 1], weight=2.0) | Constraints.from_pairs(
        5, cannot_link=[(3, 4)], cannot_weight=0.5
    )
    some = known.among([4, 0, 3])
    expected = np.zeros((5, 5))
    expected[[0, 4], [0, 4]] = 2.0
    expected[[0, 4], [4, 0]] = -2.0
    expected[[3, 4], [4, 3]] = -0.5
    np.testing.assert_array_equal(some.as_matrix().toarray(), expected)
