"""Pairs, labels and sets: which is asked, what an answer means, and how they mix."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.metrics import adjusted_rand_score

from sidecut.active import ActiveClustering, Answer, ClassAnswer, SetAnswer, SimulatedOracle, ask
from sidecut.active.kinds import Options
from sidecut.active.records import answered_pairs
from sidecut.active.strategies import influence, merge_gains, regrouping
from sidecut.exceptions import ConflictError

X, Y = load_iris(return_X_y=True)
RNG = np.random.RandomState(0)


def kinds_of(run):
    return [type(record) for record in run.history_]


@pytest.mark.parametrize(
    ("kind", "record", "enough"), [("pair", Answer, 25), ("label", ClassAnswer, 20), ("set", SetAnswer, 5)]
)
def test_each_kind_alone_finds_the_classes(kind, record, enough):
    run = ask(X, SimulatedOracle(Y), enough, costs={kind: 1}, random_state=0)
    assert set(kinds_of(run)) == {record}
    assert adjusted_rand_score(Y, run.labels_) > 0.85


@pytest.mark.parametrize("kind", ["pair", "label", "set"])
def test_each_kind_alone_ends_with_the_truth(kind):
    run = ask(X[::3], SimulatedOracle(Y[::3]), 1_000, costs={kind: 1}, random_state=0)
    assert adjusted_rand_score(Y[::3], run.labels_) == 1.0
    assert run.question() is None


def test_the_price_decides_the_kind():
    dear = {"pair": 100, "label": 100, "set": 100}
    for kind, record in (("pair", Answer), ("label", ClassAnswer), ("set", SetAnswer)):
        run = ask(X, SimulatedOracle(Y), 8, costs=dear | {kind: 0.01}, random_state=0)
        assert set(kinds_of(run)) == {record}


def test_all_kinds_mix_and_survive_a_folder(tmp_path):
    costs = {"pair": 2, "label": 2, "set": 10}
    run = ask(X, SimulatedOracle(Y), 20, costs=costs, random_state=0, save_to=tmp_path / "run")
    assert set(kinds_of(run)) == {Answer, ClassAnswer, SetAnswer}
    again = ActiveClustering.load(tmp_path / "run")
    assert again.history_ == run.history_
    assert again.question() == run.question()
    assert (
        again.spent_
        == run.spent_
        == sum(
            costs[{Answer: "pair", ClassAnswer: "label", SetAnswer: "set"}[kind]] for kind in kinds_of(run)
        )
    )
    question = run.question()
    assert question.cost == costs[question.kind]
    assert set(question.names) <= {"0", "1", "2"}


def test_a_set_answer_is_its_pairs():
    pairs = answered_pairs([SetAnswer((5, 6, 7, 8, 9), (1, 0, 1, None, 1))])
    assert {(pair.i, pair.j) for pair in pairs if pair.same} == {(5, 7), (7, 9)}
    assert {frozenset((pair.i, pair.j)) for pair in pairs if not pair.same} == {frozenset((5, 6))}
    run = ActiveClustering(random_state=0).start(X).tell([Answer(0, 60, True)])
    with pytest.raises(ConflictError, match="apart"):
        run.tell([SetAnswer((0, 60, 120), (0, 1, 1))])


def test_a_set_holds_classes_that_may_be_one():
    run = ActiveClustering(costs={"set": 1}, random_state=0).start(X)
    gain = merge_gains(run._belief, [])[0]
    placed = [point for point in run.question().points if run._belief.is_placed[point]]
    inside = run._belief.labels[placed]
    assert len(set(inside)) == len(inside) >= 3
    assert set(np.unravel_index(np.argmax(gain), gain.shape)) <= set(inside)


def test_the_gain_of_a_label_counts_names():
    """Two labels compare two things without names; with a name on the other side, one does."""
    run = ActiveClustering(costs={"label": 1}, random_state=0).start(X)
    options = Options(run._belief, [], [], RNG)
    proposal, gain = options.label()
    column = run._belief.labels[proposal.a]
    assert run._belief.is_placed[proposal.a]
    assert gain == pytest.approx(0.5 * (options.merges[column].sum() + options.gains[:, column].max()))
    other = int(np.argmax(options.merges[column]))
    run.tell([ClassAnswer(int(run._belief.members(other)[0]), "a")])
    options = Options(run._belief, run.history_, [], RNG)
    np.testing.assert_array_equal(np.flatnonzero(options.named), [other])
    proposal, gain = options.label()
    column = run._belief.labels[proposal.a]
    worth = np.where(np.arange(len(options.merges)) == other, 1.0, 0.5)
    assert gain == pytest.approx(options.merges[column] @ worth + 0.5 * options.gains[:, column].max())


def test_what_it_brings_to_know_a_point_is_the_sum_over_classes():
    run = ask(X, SimulatedOracle(Y), 12, random_state=0)
    options = Options(run._belief, run.history_, run.history_, RNG)
    x = options.candidates
    expected = regrouping(run._belief)[x] * influence(run._belief, x)
    np.testing.assert_allclose(options.gains.sum(axis=1), expected, rtol=1e-6, atol=1e-8)


def test_many_classes_are_found_by_sets_and_by_labels():
    """Of thirty classes at most a third hold a centre of an initial cluster; the rest must be founded."""
    rng = np.random.RandomState(0)
    y = np.repeat(np.arange(30), 12)
    points = rng.normal(size=(30, 20))[y] + 0.5 * rng.normal(size=(len(y), 20))
    for costs in ({"set": 10}, {"label": 5}):
        run = ask(points, SimulatedOracle(y), 1_000, max_cost=200, costs=costs, random_state=0)
        assert run.precomputed_.n_initial_clusters < 10
        assert adjusted_rand_score(y, run.labels_) > 0.85


def test_unsure_of_a_point_leaves_it_alone():
    run = ActiveClustering(costs={"set": 1}, random_state=0).start(X)
    first = run.question().points
    run.answer([None, *Y[list(first)][1:]])
    for _ in range(6):
        assert first[0] not in run.question().points
        run.answer(Y[list(run.question().points)].tolist())
    run = ActiveClustering(costs={"label": 1}, random_state=0).start(X)
    first = run.question().i
    assert run.answer(None).history_[0].name is None
    assert run.question().i != first


@pytest.mark.parametrize(
    ("kind", "said", "words"),
    [
        ("label", True, "True is no name"),
        ("label", "  ", "is no name"),
        ("set", True, "divides no set"),
        ("set", "12", "divides no set"),
        ("set", [0, 1], "has 2 numbers for"),
        ("set", list("abcdefghi"), "must be a whole number"),
        ("pair", "yes", "same='yes' must be True"),
    ],
)
def test_an_answer_of_another_kind_is_refused(kind, said, words):
    run = ActiveClustering(costs={kind: 1}, random_state=0).start(X)
    if isinstance(said, list) and len(said) > 2:
        said = said[: len(run.question().points)]
    with pytest.raises(ValueError, match=words):
        run.answer(said)
    assert run.history_ == []


@pytest.mark.parametrize("costs", [{}, {"pairs": 1}, "cheap", {"pair": 0}, {"set": "3"}, {"pair": np.inf}])
def test_odd_prices_are_refused(costs):
    with pytest.raises(ValueError, match="costs"):
        ActiveClustering(costs=costs).start(X)


def test_batches_of_all_kinds():
    run = ActiveClustering(costs={"label": 1, "set": 1.5}, random_state=0).start(X)
    batch = run.questions(5)
    assert batch[0] == run.question()
    person = SimulatedOracle(Y)
    for question in reversed(batch):
        run.answer(*person.answer(question), question=question)
    assert len(run.history_) == 5
    assert len({question.points for question in batch}) == 5


def test_all_kinds_bring_more_than_pairs_in_the_same_time():
    scores = {}
    for costs in ({"pair": 4.0}, "seconds"):
        run = ask(X, SimulatedOracle(Y), 1_000, max_cost=100, costs=costs, random_state=0)
        scores[str(costs)] = adjusted_rand_score(Y, run.labels_)
    assert scores["seconds"] == 1.0 > scores["{'pair': 4.0}"]
