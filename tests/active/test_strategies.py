"""Strategies: their papers' equations by another route, and what none of them may ask."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from sidecut.active import (
    ActiveClustering,
    Answer,
    default_strategy,
    eigenvector_change,
    expected_change,
    merge_classes,
    neighbourhoods,
    perturbation,
    random_pair,
    super_instances,
    uncertainty,
)
from sidecut.active.belief import NOISE, regrouped
from sidecut.active.strategies import even_linkage, influence, is_open, kept_share, regrouping
from sidecut.constraints import Constraints

ALL = (
    default_strategy,
    super_instances,
    merge_classes,
    neighbourhoods,
    perturbation,
    uncertainty,
    expected_change,
    random_pair,
)


@pytest.fixture(scope="module")
def data():
    return make_blobs(90, 2, centers=4, cluster_std=1.8, random_state=3)


@pytest.mark.parametrize("strategy", ALL, ids=lambda s: s.__name__)
def test_no_question_is_repeated_or_follows_from_earlier_answers(strategy, data):
    X, y = data
    run = ActiveClustering(strategy=strategy, random_state=0).start(X)
    must, cannot = [], []
    for _ in range(60):
        question = run.question()
        if question is None:
            break
        known = Constraints.from_pairs(90, must or None, cannot or None).closed()
        assert known.entries(np.array([question.i]), np.array([question.j]))[0] == 0
        same = bool(y[question.i] == y[question.j])
        (must if same else cannot).append((question.i, question.j))
        run.answer(same)
    assert len(must) + len(cannot) >= 6


def test_answers_hold_in_the_labels(data):
    X, y = data
    for strategy in (default_strategy, random_pair):
        run = ActiveClustering(strategy=strategy, random_state=1).start(X)
        for _ in range(40):
            question = run.question()
            run.answer(y[question.i] == y[question.j])
            said = run.constraints_
            assert np.all(run.labels_[said.must_link[:, 0]] == run.labels_[said.must_link[:, 1]])
            assert np.all(run.labels_[said.cannot_link[:, 0]] != run.labels_[said.cannot_link[:, 1]])


def test_eigenvector_change_is_the_derivative():
    rng = np.random.RandomState(0)
    W = np.triu(rng.rand(7, 7), 1)
    W = W + W.T

    def second(weights):
        values, vectors = np.linalg.eigh(np.diag(weights.sum(axis=1)) - weights)
        return values, vectors

    values, vectors = second(W)
    i, j, step = np.array([0, 2]), np.array([4, 5]), 1e-6
    for k in range(2):
        moved = W.copy()
        moved[i[k], j[k]] += step
        moved[j[k], i[k]] += step
        after = second(moved)[1][:, 1]
        after *= np.sign(after @ vectors[:, 1])
        slope = np.linalg.norm(after - vectors[:, 1]) / step
        assert eigenvector_change(values, vectors, i, j)[k] == pytest.approx(slope, rel=1e-4)


def brute_neighbourhood(chances):
    """H(p) / Σ i p_(i), written out."""
    p = sorted(chances, reverse=True)
    entropy = -sum(q * np.log(q) for q in p if q > 0)
    return entropy / sum((k + 1) * q for k, q in enumerate(p))


def test_neighbourhoods_asks_where_entropy_per_question_is_greatest(data):
    X, _ = data
    belief = ActiveClustering(random_state=0).start(X)._belief
    proposal = neighbourhoods(belief, [], np.random.RandomState(0))
    free = [x for x in range(90) if not belief.is_placed[x]]
    assert proposal.a == max(free, key=lambda x: brute_neighbourhood(belief.chances[x]))
    assert proposal.b in belief.members(int(belief.labels[proposal.a]))


def test_expected_change_is_the_greatest_of_all_points(data):
    X, _ = data
    belief = ActiveClustering(random_state=0).start(X)._belief
    sizes = belief.precomputed.micro_clusters.sizes
    gains = []
    for x in range(90):
        a, p = belief.labels[x], belief.chances[x]
        others = sum(p[c] * belief.class_sizes[c] for c in range(belief.n_classes) if c != a)
        covariance = belief.covariances(np.array([x]))[0]
        followers = sum(
            sizes[z] * max(covariance[z], 0) / (belief.variances[x] + NOISE)
            for z in range(90)
            if belief.labels[z] == a
        )
        gains.append(0 if belief.is_placed[x] else ((1 - p[a]) * belief.class_sizes[a] + others) * followers)
    proposal = expected_change(belief, [], np.random.RandomState(0))
    assert proposal.a == int(np.argmax(gains))
    assert proposal.gain == pytest.approx(max(gains))
    assert regrouping(belief)[proposal.a] * influence(belief, np.array([proposal.a]))[0] == pytest.approx(
        max(gains)
    )


def test_even_linkage_moves_with_the_answers():
    yes, no = Answer(0, 1, True, closeness=0.05), Answer(0, 1, False, closeness=0.05)
    assert even_linkage([yes] * 3) < even_linkage([]) < even_linkage([no] * 3)
    # The mode solves the logistic equation; on the grid of 0.1 in log.
    mode = np.log(even_linkage([no] * 3))
    slope = -(mode - np.log(0.1)) + 3 / (1 + np.exp(-(np.log(0.05) - mode)))
    assert abs(slope) < 0.15


def test_regrouped_counts_pairs():
    rng = np.random.RandomState(0)
    before, after = rng.randint(3, size=12), rng.randint(4, size=12)
    differ = (before[:, None] == before) != (after[:, None] == after)
    assert regrouped(before, after, np.ones(12)) == pytest.approx(differ.mean())


def test_advisers_lose_credit_when_promises_fail():
    kept = Answer(0, 1, True, strategy="a", gain=0.1, changed=0.1)
    failed = Answer(0, 1, True, strategy="b", gain=0.1, changed=0.0)
    assert kept_share("a", [kept, failed]) == pytest.approx(1.0)
    assert kept_share("b", [kept] + [failed] * 5) == pytest.approx(0.5)


def test_open_pairs(data):
    X, _ = data
    run = ActiveClustering(random_state=0).start(X)
    question = run.question()
    assert is_open(run._belief, question.i, question.j)
    run.answer(None)
    assert not is_open(run._belief, question.i, question.j)
    assert not is_open(run._belief, 3, 3)
