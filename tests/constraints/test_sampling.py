from collections import Counter
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from sidecut.constraints import Constraints, sample_labels, sample_pairs, sample_wrong_pairs
from sidecut.exceptions import ConstraintError

quick = settings(deadline=None, max_examples=50)
Y = np.array([0, 1, 0, 2, 1, 0, 2])
LABELS = np.array([0, 0, 1, 1, 1, 0, 1])


def relation(y, pairs):
    return y[pairs[:, 0]] == y[pairs[:, 1]]


def wrong_pairs(y, labels):
    i, j = np.triu_indices(len(y), 1)
    pairs = np.column_stack([i, j])
    return pairs[relation(y, pairs) != relation(labels, pairs)]


@quick
@given(st.lists(st.integers(-1, 3), min_size=2, max_size=15), st.data())
def test_pairs_are_as_many_as_asked_and_true(y, data):
    y = np.array(y)
    known = np.sum(y >= 0)
    n_pairs = data.draw(st.integers(0, comb(int(known), 2)))
    c = sample_pairs(y, n_pairs, random_state=data.draw(st.integers(0, 99)))
    assert c.n_pairs == n_pairs
    np.testing.assert_array_equal(relation(y, c.pairs), c.strengths > 0)
    assert np.all(y[c.pairs] >= 0)


@quick
@given(st.lists(st.integers(0, 3), min_size=2, max_size=12), st.data())
def test_wrong_pairs_are_all_those_that_differ(y, data):
    y = np.array(y)
    labels = np.array(data.draw(st.lists(st.integers(0, 2), min_size=len(y), max_size=len(y))))
    wrong = wrong_pairs(y, labels)
    everything = sample_wrong_pairs(y, labels, len(wrong), random_state=0)
    np.testing.assert_array_equal(everything.pairs, wrong)
    np.testing.assert_array_equal(relation(y, everything.pairs), everything.strengths > 0)
    assert everything.satisfaction(y) == 1.0
    assert len(wrong) == 0 or everything.satisfaction(labels) == 0.0


def evenly_drawn(draw, possible):
    """The p-value of each possible pair being drawn equally often."""
    counts = Counter(tuple(pair) for seed in range(1500) for pair in draw(seed).pairs.tolist())
    assert set(counts) <= set(map(tuple, possible.tolist()))
    return chisquare([counts[tuple(pair)] for pair in possible.tolist()]).pvalue


@pytest.mark.parametrize("n_pairs", [2, 15])
def test_pairs_are_drawn_evenly(n_pairs):
    possible = np.column_stack(np.triu_indices(len(Y), 1))
    assert evenly_drawn(lambda seed: sample_pairs(Y, n_pairs, random_state=seed), possible) > 1e-3


def test_wrong_pairs_are_drawn_evenly():
    possible = wrong_pairs(Y, LABELS)
    assert len(possible) > 8
    assert evenly_drawn(lambda seed: sample_wrong_pairs(Y, LABELS, 3, random_state=seed), possible) > 1e-3


def test_balanced_pairs_are_half_and_half_and_even_within_each():
    c = sample_pairs(Y, 7, balanced=True, random_state=1)
    assert (c.n_must_link, c.n_cannot_link) == (3, 4)
    i, j = np.triu_indices(len(Y), 1)
    pairs = np.column_stack([i, j])
    apart = pairs[Y[i] != Y[j]]

    def draw(seed):
        c = sample_pairs(Y, 4, balanced=True, random_state=seed)
        return Constraints.from_pairs(len(Y), cannot_link=c.cannot_link)

    assert evenly_drawn(draw, apart) > 1e-3


def test_a_large_data_set_needs_no_list_of_all_pairs():
    y = np.random.default_rng(0).integers(0, 10, 200_000)
    c = sample_pairs(y, 2000, random_state=0)
    assert c.n_pairs == 2000
    assert c.satisfaction(y) == 1.0
    assert 0.07 < c.n_must_link / 2000 < 0.13
    wrong = sample_wrong_pairs(y, np.roll(y, 1), 2000, random_state=0)
    assert wrong.satisfaction(np.roll(y, 1)) == 0.0


def test_noise_flips_its_share_of_relations():
    y = np.random.default_rng(0).integers(0, 3, 5000)
    c = sample_pairs(y, 20_000, noise=0.2, random_state=0)
    assert c.satisfaction(y) == pytest.approx(0.8, abs=0.01)
    assert sample_pairs(y, 100, noise=1.0, random_state=0).satisfaction(y) == 0.0


def test_noise_may_be_refused_as_contradiction():
    with pytest.raises(ConstraintError, match="contradicts"):
        sample_pairs(np.zeros(6), 15, noise=0.5, random_state=0, on_conflict="raise")


def test_labels_are_told_for_as_many_samples_as_asked():
    y = np.array([3, 3, -1, 5, 5, 5, 3, -1])
    c = sample_labels(y, 4, random_state=0)
    assert len(c.constrained_points) == 4
    assert np.all(y[c.constrained_points] >= 0)
    assert c.satisfaction(y) == 1.0
    assert sample_labels(y, 0).is_empty


def test_stratified_labels_are_in_proportion_with_each_class_present():
    y = np.repeat([0, 1, 2], [600, 390, 10])
    told = sample_labels(y, 50, stratified=True, random_state=0)
    counts = np.bincount(y[told.constrained_points])
    assert counts.sum() == 50
    np.testing.assert_array_equal(counts, [30, 19, 1])
    few = sample_labels(y, 3, stratified=True, random_state=0)
    np.testing.assert_array_equal(np.bincount(y[few.constrained_points]), [1, 1, 1])
    fewer = sample_labels(y, 2, stratified=True, random_state=0)
    assert len(fewer.constrained_points) == 2


def test_noisy_labels_are_always_another_class():
    y = np.repeat([0, 1, 2], 2000)
    told = sample_labels(y, 6000, noise=0.3, random_state=0).labels
    # The classes come back numbered by first appearance: match each with its most common true class.
    table = np.zeros((3, 3), int)
    np.add.at(table, (y, told), 1)
    shares = np.sort(table, axis=1) / 2000
    np.testing.assert_allclose(shares, [[0.15, 0.15, 0.7]] * 3, atol=0.03)
    assert sample_labels(np.zeros(5), 5, noise=1.0, random_state=0).n_must_link == 10


def test_draws_are_repeatable_and_take_every_kind_of_random_state():
    for state in (7, np.random.RandomState, np.random.default_rng):
        states = (state, state) if isinstance(state, int) else (state(3), state(3))
        first, second = (sample_pairs(Y, 5, random_state=s) for s in states)
        assert first == second
    assert len({sample_pairs(Y, 5, random_state=seed) for seed in range(20)}) > 10


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda: sample_pairs([0, 0, 1], 4), "4 pairs asked for, there are only 3"),
        (lambda: sample_pairs([0, 1, 2], 2, balanced=True), "1 pairs with one label asked for, .* only 0"),
        (lambda: sample_pairs([-1, -1], 1), "1 pairs asked for, there are only 0"),
        (lambda: sample_wrong_pairs([0, 1], [0, 1], 1), "got wrong asked for, there are only 0"),
        (lambda: sample_labels([0, -1, 1], 3), "3 labelled samples asked for, there are only 2"),
        (lambda: sample_labels([0, 1], -1), "-1 labelled samples"),
        (lambda: sample_pairs([0, 1, 1], 1.5), "1.5 pairs"),
        (lambda: sample_pairs([0, 1, 1], 1, noise=1.2), "noise = 1.2"),
        (lambda: sample_wrong_pairs([0, 1, 1], [0, 1], 1), "2 entries for .* 3 samples"),
    ],
)
def test_wrong_requests_say_what_there_is(draw, message):
    with pytest.raises(ConstraintError, match=message):
        draw()
