"""Several answers made into one, by a vote."""

from itertools import permutations

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from sidecut import CCSR, E2CP, NCSC, NormalizedCut, PoissonMBO
from sidecut.constraints import sample_labels
from sidecut.selection import Consensus, vote
from sidecut.selection.comparison import name_alike

X, Y = make_blobs(60, centers=[[0, 0], [6, 0], [0, 6]], cluster_std=0.8, random_state=0)
KNOWN = sample_labels(Y, 12, random_state=0)


def test_votes_are_counted_after_clusters_are_named_alike():
    truth = np.repeat([0, 1, 2], 10)
    rng = np.random.default_rng(0)
    answers = []
    for _ in range(5):
        wrong = rng.permutation(30)[:6]
        answer = truth.copy()
        answer[wrong] = (answer[wrong] + 1) % 3
        answers.append(rng.permutation(3)[answer])
    agreed = vote(answers)
    assert adjusted_rand_score(truth, agreed) > max(adjusted_rand_score(truth, a) for a in answers)


def test_naming_alike_is_the_best_of_all_namings():
    rng = np.random.default_rng(1)
    one, other = rng.integers(0, 4, 50), rng.integers(0, 4, 50)
    best = max((np.array(names)[one] == other).sum() for names in permutations(range(4)))
    assert (name_alike(one, other, 4) == other).sum() == best


def test_weights_decide():
    left, right = np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1])
    np.testing.assert_array_equal(vote([left, right], [1.0, 2.0]), right)
    np.testing.assert_array_equal(vote([left, right]), left)


def test_a_consensus_shows_who_agrees():
    members = [("CCSR", CCSR(3, random_state=0)), ("NCSC", NCSC(3, random_state=0))]
    model = Consensus(members).fit(X, constraints=KNOWN)
    assert len(model.estimators_) == 2
    assert model.agreement_.min() >= 0.5
    assert adjusted_rand_score(Y, model.labels_) == 1.0


def test_a_consensus_predicts_by_the_vote_of_its_members():
    """Of weights 2, 1 and .5 the first decides, whatever its clusters are called."""
    members = [
        ("E2CP", E2CP(3, safe=False, random_state=0)),
        ("NormalizedCut", NormalizedCut(3, random_state=0)),
        ("PoissonMBO", PoissonMBO(3, random_state=0)),
    ]
    model = Consensus(members, weights=[2.0, 1.0, 0.5]).fit(X, constraints=KNOWN)
    new, y = make_blobs(30, centers=[[0, 0], [6, 0], [0, 6]], cluster_std=0.8, random_state=1)
    assert adjusted_rand_score(y, model.predict(new)) == 1.0
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    # Between the clusters they differ, and the heaviest is followed.
    between = np.random.default_rng(0).uniform(-1, 7, size=(200, 2))
    first = model.estimators_[0].predict(between)
    assert adjusted_rand_score(first, model.predict(between)) == 1.0
    assert adjusted_rand_score(first, model.estimators_[1].predict(between)) < 1.0


def test_a_consensus_without_members_that_predict_says_who_does_not():
    model = Consensus([("E2CP", E2CP(3)), ("CCSR", CCSR(3, affinity="precomputed"))])
    with pytest.raises(AttributeError) as error:
        _ = model.predict
    assert "CCSR cannot put new points into clusters" in str(error.value.__cause__)
