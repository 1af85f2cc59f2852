from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.papers.experiment import Protocol
from benchmarks.papers.side_information import draw, held_out, n_wrong_pairs
from sidecut.constraints import sample_pairs

Y = np.repeat([0, 1, 2], 20)
LABELS = np.roll(Y, 4)


def pairs_wrong(y, labels):
    i, j = np.triu_indices(len(y), 1)
    return (y[i] == y[j]) != (labels[i] == labels[j])


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=30))
def test_wrong_pairs_are_counted_as_by_listing_them(both):
    y, labels = np.array(both).T
    assert n_wrong_pairs(y, labels) == pairs_wrong(y, labels).sum()


def test_wrong_pairs_are_wrong_and_all_are_given_where_they_are_few(toy):
    experiment = replace(toy, kind="wrong pairs")
    known = draw(experiment, Y, LABELS, 50, [0])
    assert len(known.pairs) == 50
    assert known.satisfaction(LABELS) == 0
    assert known.satisfaction(Y) == 1
    everything = draw(experiment, Y, LABELS, 10_000, [0])
    assert len(everything.pairs) == n_wrong_pairs(Y, LABELS)


def test_the_random_protocol_draws_right_pairs_too(toy):
    experiment = replace(toy, kind="wrong pairs").under(Protocol(pairs="random"))
    assert draw(experiment, Y, LABELS, 50, [0]).satisfaction(LABELS) > 0.3


def test_pairs_among_few_touch_as_few_points_as_can_be(toy):
    known = draw(replace(toy, kind="pairs among few"), Y, LABELS, 45, [0])
    assert len(known.pairs) == 45
    assert len(np.unique(known.pairs)) == 10


@pytest.mark.parametrize(("kind", "counts"), [("must-links vary", (7, 12)), ("cannot-links vary", (12, 7))])
def test_links_of_one_kind_vary(toy, kind, counts):
    known = draw(replace(toy, kind=kind, fixed=12), Y, LABELS, 7, [0])
    assert (known.n_must_link, known.n_cannot_link) == counts
    assert known.satisfaction(Y) == 1


def test_noise_tells_pairs_wrongly(toy):
    known = draw(toy.under(Protocol(noise=0.25)), Y, LABELS, 400, [0])
    assert 0.65 < known.satisfaction(Y) < 0.85


def test_draws_repeat_by_seed_and_differ_between(toy):
    first, again, other = (draw(toy, Y, LABELS, 30, seed).pairs for seed in ([0, 30], [0, 30], [1, 30]))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


def test_held_out_constraints_are_a_partition():
    known = sample_pairs(Y, 200, random_state=0)
    learn, judge = held_out(known, [0])
    assert 30 < len(judge.pairs) < 90
    joined = sorted([*map(tuple, learn.pairs.tolist()), *map(tuple, judge.pairs.tolist())])
    assert joined == sorted(map(tuple, known.pairs.tolist()))
    assert learn.satisfaction(Y) == judge.satisfaction(Y) == 1
