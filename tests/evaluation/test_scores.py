import dataclasses
import json

import numpy as np
import pytest

from sidecut import evaluation
from sidecut.constraints import Constraints
from sidecut.evaluation import evaluate

NAMES = [
    "rand_index",
    "adjusted_rand_index",
    "normalized_mutual_information",
    "clustering_accuracy",
    "error_rate",
]


@pytest.fixture
def clustering():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 40)
    labels = np.where(rng.random(40) < 0.7, y, rng.integers(0, 3, 40))
    constraints = Constraints.from_pairs(
        40, must_link=[(0, 1), (2, 3)], cannot_link=[(4, 5)], cannot_weight=2.0
    )
    return y, labels, constraints


@pytest.mark.parametrize("name", NAMES)
def test_scores_are_those_of_the_functions(clustering, name):
    y, labels, constraints = clustering
    scores = evaluate(y, labels, constraints)
    score = getattr(evaluation, name)
    assert getattr(scores.all_points, name) == pytest.approx(score(y, labels))
    assert getattr(scores.unconstrained_points, name) == pytest.approx(score(y[6:], labels[6:]))


def test_satisfaction_is_counted_and_weighted(clustering):
    y, labels, constraints = clustering
    labels[:6] = [0, 0, 0, 1, 2, 1]  # (0, 1) and (4, 5) are satisfied, with weights 1 and 2; (2, 3) is not
    scores = evaluate(y, labels, constraints)
    assert scores.constraint_satisfaction == pytest.approx(2 / 3)
    assert scores.weighted_constraint_satisfaction == pytest.approx(3 / 4)
    assert (scores.all_points.n_points, scores.unconstrained_points.n_points) == (40, 34)


def test_without_constraints_nothing_is_made_up(clustering):
    y, labels, _ = clustering
    scores = evaluate(y, labels)
    assert scores.unconstrained_points is None
    assert scores.constraint_satisfaction is None
    assert "constraint" not in str(scores)


def test_all_points_constrained_leaves_no_fair_score():
    scores = evaluate([0, 0, 1], [0, 0, 1], Constraints.from_labels([0, 0, 1]))
    assert scores.unconstrained_points is None
    assert scores.constraint_satisfaction == 1.0


def test_one_free_point_is_no_score_either():
    constraints = Constraints.from_pairs(3, must_link=[(0, 1)])
    assert evaluate([0, 0, 1], [0, 0, 1], constraints).unconstrained_points is None


def test_dictionary_survives_json(clustering):
    scores = evaluate(*clustering)
    back = json.loads(json.dumps(scores.to_dict()))
    assert back == scores.to_dict()
    assert (
        back["unconstrained_points"]["adjusted_rand_index"] == scores.unconstrained_points.adjusted_rand_index
    )


def test_table_shows_both_columns(clustering):
    table = str(evaluate(*clustering)).splitlines()
    assert table[0].split() == ["all", "points", "unconstrained"]
    assert table[1].split() == ["n_points", "40", "34"]
    assert [line.split()[0] for line in table[2:7]] == NAMES


def test_scores_cannot_be_changed(clustering):
    with pytest.raises(dataclasses.FrozenInstanceError):
        evaluate(*clustering).constraint_satisfaction = 1.0
