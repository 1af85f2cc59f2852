from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from sidecut.cli import evaluate
from sidecut.cli.evaluate import listed_constraints, score, violations
from sidecut.cli.preparation import Points
from sidecut.constraints import Constraints


@pytest.fixture
def example():
    rng = np.random.default_rng(0)
    truth, labels = rng.integers(0, 3, 40), rng.integers(0, 3, 40)
    truth[-3:] = -1
    points = Points(np.zeros((40, 1)), Path("p.csv"), truth=truth)
    known = Constraints.from_labels(np.r_[truth[:8], np.full(32, -1)])
    return points, labels, known


def test_agreement_is_on_points_of_known_class_all_and_free(example):
    points, labels, known = example
    result = score(labels, points, known)
    assert result.ari == pytest.approx(adjusted_rand_score(points.truth[:37], labels[:37]))
    assert result.ari_unconstrained == pytest.approx(adjusted_rand_score(points.truth[8:37], labels[8:37]))


def test_counts_are_those_of_the_list(example):
    points, labels, known = example
    result = score(labels, points, known)
    same = labels[known.pairs[:, 0]] == labels[known.pairs[:, 1]]
    must = known.strengths > 0
    assert (result.must_kept, result.cannot_kept) == ((same & must).sum(), (~same & ~must).sum())
    assert result.kept == result.must_kept + result.cannot_kept
    assert result.total - result.kept == len(violations(labels, known))


def test_too_many_pairs_are_counted_without_listing(example, monkeypatch):
    points, labels, known = example
    listed = score(labels, points, known)
    monkeypatch.setattr(evaluate, "MAX_LISTED", 5)
    counted = score(labels, points, known)
    assert (counted.kept, counted.total) == (listed.kept, listed.total)
    assert counted.must_kept is None


def test_violations_say_where_the_points_are_and_the_strongest_come_first():
    known = Constraints.from_pairs(4, [(0, 1)], [(2, 3)], must_weight=0.5, cannot_weight=2.0)
    first, second = violations(np.array([4, 5, 6, 6]), known)
    assert (first.kind, first.first, first.second, first.clusters) == ("cannot-link", 2, 3, (6, 6))
    assert (second.kind, second.strength, second.clusters) == ("must-link", 0.5, (4, 5))


def test_a_sample_of_constraints_says_what_all_say():
    everything = Constraints.from_labels(np.arange(50) % 3, weight=2.0)
    part = listed_constraints(everything, 100)
    assert part.n_samples == 50
    assert 0 < part.n_pairs <= 100
    Q = everything.as_matrix().toarray()
    np.testing.assert_array_equal(Q[part.pairs[:, 0], part.pairs[:, 1]], part.strengths)
