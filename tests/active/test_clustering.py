"""ActiveClustering as its users meet it."""

import json
import os
import shutil

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_iris, make_blobs
from sklearn.metrics import adjusted_rand_score

from sidecut.active import ActiveClustering, Answer, ClassAnswer, random_pair
from sidecut.active.precomputed import find_micro_clusters
from sidecut.constraints import Constraints
from sidecut.exceptions import ConflictError, ConstraintError
from sidecut.graphs import Neighbors


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True)


def play(run, y, n, wrong=None):
    for k in range(n):
        question = run.question()
        if question is None:
            break
        same = bool(y[question.i] == y[question.j])
        run.answer(same != bool(wrong is not None and wrong[k]))
    return run


def test_iris_in_fifty_questions(iris):
    X, y = iris
    run = play(ActiveClustering(random_state=0).start(X), y, 50)
    assert run.n_clusters_ == 3
    assert adjusted_rand_score(y, run.labels_) > 0.9
    assert len(run.history_) == 50
    assert run.constraints_.n_pairs == 50
    assert run.confidence_.shape == (150,)
    assert run.confidence_.min() > 0
    assert run.confidence_.max() <= 1 + 1e-12


@pytest.mark.parametrize(
    ("n_answers", "ending"),
    [
        (0, "of all pairs of points."),
        (1, "; the last answer regrouped "),
        (2, "; the last 2 answers regrouped "),
    ],
)
def test_the_stopping_estimate_speaks_of_answers_only_if_there_are_any(iris, n_answers, ending):
    X, y = iris
    run = play(ActiveClustering(random_state=0).start(X[::3]), y[::3], n_answers)
    assert ending in run.stopping_estimate_.words
    assert ("the last" in run.stopping_estimate_.words) == (n_answers > 0)


def test_any_two_clusters_have_a_chance_to_be_one(iris):
    X, _ = iris
    run = ActiveClustering(random_state=0).start(X)
    chances = run.merge_chances_
    assert chances.shape == (run.n_clusters_,) * 2
    np.testing.assert_allclose(chances, chances.T)
    assert (np.diag(chances) == 1).all()
    # The first question is about the two clusters that are likely one, and large.
    question = run.question()
    clusters = run.labels_[[question.i, question.j]]
    assert chances[tuple(clusters)] == pytest.approx(question.expected)
    # What is certain has no chance.
    run.answer(False)
    assert run.merge_chances_[tuple(run.labels_[[question.i, question.j]])] == 0


def test_the_chance_that_two_clusters_are_one_is_that_of_their_answers(iris):
    X, _ = iris
    run = ActiveClustering(reliability=0.9, random_state=0).start(X)
    first = run.question()
    run.answer(False)
    classes = [
        int(run._belief.labels[run.precomputed_.micro_clusters.index_of[at]]) for at in (first.i, first.j)
    ]
    clusters = run.labels_[[first.i, first.j]]
    odds = run._belief.groups.odds[classes[0], classes[1]]
    assert run.merge_chances_[clusters[0], clusters[1]] == pytest.approx(1 / (1 + np.exp(-odds)))
    # One answer that is right with nine in ten, and the prior of the graph.
    prior = run._belief.structure.prior[classes[0], classes[1]]
    assert odds == pytest.approx(np.log(0.1 / 0.9) + prior, abs=0.05)


def test_all_answers_give_the_truth_and_then_nothing_is_left(iris):
    X, y = iris
    run = play(ActiveClustering(random_state=0).start(X[::3]), y[::3], 500)
    assert run.question() is None
    assert adjusted_rand_score(y[::3], run.labels_) == 1.0
    assert run.stopping_estimate_.words == "No useful question is left."
    with pytest.raises(ValueError, match="no useful question is left"):
        run.answer(True)


@pytest.mark.parametrize("seed", range(4))
def test_nobody_stops_before_the_truth_is_found(seed):
    """Odd points deep inside another class look sure; they are asked about all the same, at last."""
    X, y = make_blobs(60, 2, centers=2, cluster_std=0.6, random_state=seed)
    y[[3, 17, 31]] = 1 - y[[3, 17, 31]]
    run = ActiveClustering(random_state=seed).start(X)
    play(run, y, 400)
    assert run.question() is None
    assert adjusted_rand_score(y, run.labels_) == 1.0


def test_the_question_stays_until_it_is_answered_and_undo_brings_it_back(iris):
    X, y = iris
    run = play(ActiveClustering(random_state=0).start(X), y, 7)
    labels, question = run.labels_.copy(), run.question()
    assert run.question() is question
    run.answer(True)
    run.undo()
    assert run.question() == question
    np.testing.assert_array_equal(run.labels_, labels)
    assert len(run.history_) == 7
    with pytest.raises(ValueError, match="no answer to take back"):
        ActiveClustering().start(X).undo()


def test_unsure_is_never_asked_again(iris):
    X, _ = iris
    run = ActiveClustering(random_state=0).start(X)
    seen = set()
    for _ in range(40):
        question = run.question()
        assert frozenset((question.i, question.j)) not in seen
        seen.add(frozenset((question.i, question.j)))
        run.answer(None)
    assert run.constraints_.is_empty


def test_a_batch_can_be_answered_in_any_order(iris):
    X, y = iris
    run = play(ActiveClustering(random_state=0).start(X), y, 5)
    batch = run.questions(6)
    assert len({frozenset((q.i, q.j)) for q in batch}) == 6
    assert batch[0] == run.question()
    assert len(run.history_) == 5
    for question in reversed(batch):
        run.answer(y[question.i] == y[question.j], question=question)
    assert len(run.history_) == 11


def test_names_and_pairs_that_contradict_each_other_are_refused(iris):
    X, _ = iris
    run = ActiveClustering(random_state=0).start(X)
    question = run.question()
    run.answer(True).tell([ClassAnswer(question.i, "a")])
    before = run.labels_.copy()
    with pytest.raises(ConflictError, match="apart"):
        run.tell([ClassAnswer(question.j, "b")])
    assert len(run.history_) == 2
    np.testing.assert_array_equal(run.labels_, before)


def test_what_is_known_at_the_start_is_used_and_not_asked(iris):
    X, y = iris
    labels = np.where(np.arange(150) % 10 == 0, y, -1)
    run = ActiveClustering(random_state=0).start(X, Constraints.from_labels(labels))
    assert adjusted_rand_score(y, run.labels_) > 0.7
    known = Constraints.from_labels(labels)
    for _ in range(20):
        question = run.question()
        assert known.entries(np.array([question.i]), np.array([question.j]))[0] == 0
        run.answer(y[question.i] == y[question.j])
    assert len(run.history_) == 20


def test_a_given_number_of_clusters_is_kept(iris):
    X, y = iris
    run = ActiveClustering(n_clusters=3, random_state=0).start(X)
    assert run.n_clusters_ == 3
    assert play(run, y, 30).n_clusters_ == 3


def test_a_graph_alone_will_do(iris):
    X, y = iris
    graph = Neighbors(10).build(X)
    run = play(ActiveClustering(affinity="precomputed", random_state=0).start(graph.matrix), y, 40)
    assert adjusted_rand_score(y, run.labels_) > 0.85


def test_sparse_points_give_what_dense_ones_do(iris):
    X, y = iris
    dense = play(ActiveClustering(random_state=0).start(X), y, 10)
    sparse = play(ActiveClustering(random_state=0).start(sp.csr_array(X)), y, 10)
    np.testing.assert_array_equal(dense.labels_, sparse.labels_)


def test_runs_are_reproducible_and_parameters_are_scikit_learns(iris):
    X, y = iris
    a = ActiveClustering(strategy=random_pair, random_state=5)
    b = clone(a)
    assert b.get_params()["strategy"] is random_pair
    first, second = play(a.start(X), y, 12), play(b.start(X), y, 12)
    assert [(r.i, r.j) for r in first.history_] == [(r.i, r.j) for r in second.history_]


# Keeping


def test_save_and_load_resume_where_it_stopped(iris, tmp_path):
    X, y = iris
    run = play(ActiveClustering(random_state=0).start(X), y, 8).save(tmp_path / "run")
    play(run, y, 6)
    run.undo()
    again = ActiveClustering.load(tmp_path / "run")
    assert again.history_ == run.history_
    assert again.question() == run.question()
    np.testing.assert_array_equal(again.labels_, run.labels_)
    straight = play(ActiveClustering(random_state=0).start(X), y, 30)
    assert play(again, y, 17).history_ == straight.history_
    json.loads((tmp_path / "run" / "settings.json").read_text())


def test_a_line_cut_off_in_the_middle_costs_one_answer(iris, tmp_path):
    X, y = iris
    run = ActiveClustering(random_state=0).start(X, Constraints.from_pairs(150, [(0, 1)], [(0, 149)]))
    play(run.save(tmp_path / "run"), y, 9)
    path = tmp_path / "run" / "answers.jsonl"
    path.write_text(path.read_text()[:-20])
    again = ActiveClustering.load(tmp_path / "run")
    assert again.history_ == run.history_[:8]
    play(again, y, 3)
    assert ActiveClustering.load(tmp_path / "run").history_ == again.history_
    assert again.constraints_.n_pairs == 13


def test_what_is_no_run_is_not_loaded(tmp_path):
    with pytest.raises(FileNotFoundError, match="holds no saved run"):
        ActiveClustering.load(tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(FileExistsError, match="is a file"):
        ActiveClustering().start([[0.0], [1.0], [2.0]]).save(tmp_path / "file")


# Wrong answers


def test_with_doubtful_answers_it_asks_again_and_survives(iris):
    X, y = iris
    scores = []
    for seed in range(4):
        wrong = np.random.RandomState(seed).rand(120) < 0.1
        run = ActiveClustering(reliability=0.9, random_state=seed).start(X)
        play(run, y, 120, wrong)
        scores.append(adjusted_rand_score(y, run.labels_))
    assert np.mean(scores) > 0.8


# What is refused


def test_nonsense_is_refused_with_a_way_out(iris):
    X, _ = iris
    run = ActiveClustering().start(X)
    with pytest.raises(ValueError, match="same='yes' must be True"):
        run.answer("yes")
    with pytest.raises(ValueError, match=r"confidence=0\.2 must be from 0\.5"):
        run.answer(True, confidence=0.2)
    with pytest.raises(ValueError, match=r"call start\(X\) first"):
        ActiveClustering().question()
    with pytest.raises(ValueError, match=r"reliability=0\.3"):
        ActiveClustering(reliability=0.3).start(X)
    with pytest.raises(ValueError, match="n_clusters=200"):
        ActiveClustering(200).start(X)
    with pytest.raises(ConstraintError, match=r"Constraints\.from_pairs"):
        ActiveClustering().start(X, [(0, 1)])
    with pytest.raises(ValueError, match="NaN"):
        ActiveClustering().start([[np.nan], [1.0]])


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"reliability": 0.5}, "reliability=0.5 must be above"),
        ({"reliability": True}, "reliability=True must be above"),
        ({"stop_below": "little"}, "stop_below='little' must be a finite number"),
        ({"strategy": "default_strategy"}, "strategy='default_strategy' must be a function"),
        ({"n_clusters": 3.0}, r"n_clusters=3\.0 must be a whole number"),
    ],
)
def test_odd_parameters_are_refused(iris, parameters, words):
    with pytest.raises(ValueError, match=words):
        ActiveClustering(**parameters).start(iris[0])


@pytest.mark.parametrize(
    ("record", "words"),
    [
        ((0, 1, True), "is no answer; give Answer"),
        (Answer(0, 150, True), "There is no row 150: rows are counted from 0, and X has 150"),
        (Answer(-1, 3, True), "There is no row -1"),
        (Answer(4, 4, False), "Row 4 is compared with itself"),
        (Answer(0, 1, "y"), "same='y' must be True"),
        (Answer(0, 1, True, confidence=None), "confidence=None must be from"),
        (ClassAnswer(200, "a"), "There is no row 200"),
    ],
)
def test_odd_answers_are_refused_and_nothing_is_taken(iris, record, words):
    run = ActiveClustering(random_state=0).start(iris[0])
    with pytest.raises(ValueError, match=words):
        run.tell([Answer(0, 1, True), record])
    assert run.history_ == []


def test_a_question_is_a_question_and_a_batch_has_a_size(iris):
    run = ActiveClustering(random_state=0).start(iris[0])
    with pytest.raises(ValueError, match=r"question=\(1, 2\) is no Question"):
        run.answer(True, question=(1, 2))
    with pytest.raises(ValueError, match="n=0 must be a whole number"):
        run.questions(0)


def test_answers_can_be_doubted_later_and_that_is_kept(iris, tmp_path):
    X, y = iris
    run = ActiveClustering(random_state=0).start(X).save(tmp_path / "run")
    a, b = (int(np.flatnonzero(y == c)[5]) for c in (0, 2))
    run.tell([Answer(a, b, True)])
    assert run.labels_[a] == run.labels_[b]
    run.set_reliability(0.9)
    play(run, y, 40)
    assert run.labels_[a] != run.labels_[b]
    again = ActiveClustering.load(tmp_path / "run")
    assert again.reliability == 0.9
    np.testing.assert_array_equal(again.labels_, run.labels_)
    with pytest.raises(ValueError, match="reliability=2"):
        run.set_reliability(2)


@pytest.mark.parametrize("n", [2, 3, 5])
def test_few_points(n):
    run = ActiveClustering(random_state=0).start(np.arange(n, dtype=float)[:, None])
    play(run, np.arange(n) % 2, 30)
    assert run.question() is None
    assert adjusted_rand_score(np.arange(n) % 2, run.labels_) == 1.0


@pytest.mark.filterwarnings("ignore::sidecut.exceptions.GraphWarning")
def test_equal_points():
    run = ActiveClustering(random_state=0).start(np.ones((30, 2)))
    assert len(run.labels_) == 30
    assert run.question() is not None


# Micro-clusters


def test_large_data_are_asked_about_in_micro_clusters():
    X, y = make_blobs(2_600, 3, centers=5, cluster_std=1.0, random_state=0)
    run = play(ActiveClustering(random_state=0).start(X), y, 25)
    assert len(run._precomputed.micro_clusters.points) <= 2_000
    assert adjusted_rand_score(y, run.labels_) > 0.9


def test_known_points_have_grains_of_their_own():
    X, _ = make_blobs(400, 2, centers=3, random_state=0)
    known = np.arange(0, 40)
    weights = sp.csr_array(Neighbors(8).build(X).matrix)
    micro_clusters = find_micro_clusters(weights, np.random.RandomState(0), known, max_count=60)
    assert set(known) <= set(micro_clusters.points)
    np.testing.assert_array_equal(
        micro_clusters.index_of[micro_clusters.points], np.arange(len(micro_clusters.points))
    )
    assert micro_clusters.sizes.sum() == 400
    coarse = micro_clusters.coarsen(weights).toarray()
    a, b = micro_clusters.index_of == 0, micro_clusters.index_of == 1
    assert coarse[0, 1] == pytest.approx(weights.toarray()[np.ix_(a, b)].sum())


def test_several_answers_are_one_step(tmp_path):
    X = np.random.RandomState(0).normal(size=(30, 2))
    run = ActiveClustering(random_state=0).start(X)
    run.answer(True)
    run.tell([Answer(0, 1, True), Answer(1, 2, True)])
    run.save(tmp_path / "run")
    run.tell([Answer(0, 5, False), ClassAnswer(3, "three")])
    run.replace_answers([run.history_[0], *run.history_[2:]])
    run.undo()
    run.replace_answers(run.history_[:2])
    shutil.copytree(tmp_path / "run", tmp_path / "copy")
    again = ActiveClustering.load(tmp_path / "copy")
    assert again.history_ == run.history_
    np.testing.assert_array_equal(again.labels_, run.labels_)
    lengths = [len(run.undo().history_) for _ in range(4)]
    assert lengths == [5, 3, 1, 0]
    assert [len(again.undo().history_) for _ in range(4)] == lengths
    assert not again.can_undo
    assert ActiveClustering.load(tmp_path / "run").history_ == []


def test_several_answers_are_taken_all_or_none():
    X = np.random.RandomState(0).normal(size=(30, 2))
    run = ActiveClustering(random_state=0).start(X).tell([Answer(0, 1, True)])
    before = run.labels_.copy()
    with pytest.raises(ConflictError):
        run.tell([Answer(3, 4, True), Answer(1, 0, False)])
    assert len(run.history_) == 1
    np.testing.assert_array_equal(run.labels_, before)


def test_replay_gives_the_clusters_after_each_answer():
    X, y = make_blobs(60, 2, centers=3, random_state=0)
    run = ActiveClustering(random_state=0).start(X)
    expected = [run.labels_.copy()]
    for _ in range(8):
        question = run.question()
        expected.append(run.answer(y[question.i] == y[question.j]).labels_.copy())
    before = run.labels_.copy(), list(run.history_)
    replayed = list(run.replay())
    assert len(replayed) == 9
    for one, other in zip(replayed, expected, strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(run.labels_, before[0])
    assert run.history_ == before[1]


def test_an_answer_that_cannot_be_written_was_not_given(tmp_path, monkeypatch):
    X = np.random.RandomState(0).normal(size=(30, 2))
    run = ActiveClustering(random_state=0).start(X).save(tmp_path / "run").answer(True)
    question = run.question()

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        run.answer(True)
    with pytest.raises(OSError, match="No space"):
        run.undo()
    monkeypatch.undo()
    assert run.question() == question
    assert len(run.history_) == 1
    run.answer(False)
    assert ActiveClustering.load(tmp_path / "run").history_ == run.history_
