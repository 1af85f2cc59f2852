"""The guard, with methods whose answers are written down."""

import warnings

import numpy as np
import pytest

from sidecut import Constraints
from sidecut.exceptions import ConstraintWarning, SpectralError
from sidecut.methods.guard import are_ample, describe, guard, held_out_gain
from sidecut.methods.task import Answer, Task

N = 24
TRUTH = np.arange(N) % 2
WRONG = (np.arange(N) // 2) % 2


def task_with(known):
    return Task(None, None, known, 2, 0)


def method(plain, constrained):
    """Return a method that has one answer without constraints, and one with any."""
    return lambda task: Answer(np.array(plain if task.constraints.is_empty else constrained))


def run(task, solve, caution):
    return guard(task, solve, caution, are_ample(task.constraints, task.n_clusters))


def labels_of(count):
    return Constraints.from_labels(np.where(np.arange(N) < count, TRUTH, -1))


@pytest.mark.parametrize("caution", [0.0, 1.0])
def test_an_answer_that_finds_held_out_labels_is_followed(caution):
    answer = run(task_with(labels_of(12)), method(WRONG, TRUTH), caution)
    assert answer.decision.kept == "constrained"
    np.testing.assert_array_equal(answer.labels, TRUTH)


def test_without_caution_agreement_is_enough_and_nothing_is_held_out():
    seen = []

    def solve(task):
        seen.append(task.constraints.n_pairs)
        return Answer(WRONG if task.constraints.is_empty else TRUTH)

    assert run(task_with(labels_of(4)), solve, 0.0).decision.kept == "constrained"
    assert seen == [0, 6]


def test_a_cautious_method_that_only_repeats_its_labels_is_not_followed():
    """It puts labelled points where they belong, and all others where they were."""
    truth, plain = np.arange(160) % 2, (np.arange(160) // 2) % 2
    known = Constraints.from_labels(np.where(np.arange(160) < 80, truth, -1))

    def solve(task):
        given = np.zeros(160, bool) if task.constraints.labels is None else task.constraints.labels >= 0
        return Answer(np.where(given, truth, plain))

    with pytest.warns(ConstraintWarning, match="Your 80 labels were not used because they do not help"):
        answer = run(task_with(known), solve, 1.0)
    assert answer.decision.kept == "unconstrained"
    np.testing.assert_array_equal(answer.labels, plain)


def test_an_answer_that_agrees_no_better_is_not_kept_whatever_the_caution():
    with pytest.warns(ConstraintWarning, match="agree with them no better"):
        assert run(task_with(labels_of(12)), method(WRONG, WRONG), 0.0).decision.kept == "unconstrained"


def test_nor_where_much_is_known():
    """Two hundred labels of which the constrained answer satisfies fewer than the other."""
    truth = np.arange(300) % 2
    known = Constraints.from_labels(np.where(np.arange(300) < 200, truth, -1))
    better, worse = (np.where(np.arange(300) % m == 0, 1 - truth, truth) for m in (9, 3))
    with pytest.warns(ConstraintWarning, match="Your 200 labels were not used"):
        answer = run(task_with(known), method(better, worse), 0.0)
    np.testing.assert_array_equal(answer.labels, better)


def test_the_plain_answer_is_kept_in_silence_where_it_satisfies_all():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        answer = run(task_with(labels_of(5)), method(TRUTH, WRONG), 1.0)
    assert answer.decision.kept == "unconstrained"
    assert "agree with all of them" in str(answer.decision)


@pytest.mark.parametrize("caution", [0.0, 1.0])
def test_two_pairs_are_too_few(caution):
    known = Constraints.from_pairs(N, must_link=[(0, 2)], cannot_link=[(4, 5)])
    with pytest.warns(ConstraintWarning, match="Your 1 must-link and 1 cannot-link were not used.*too few"):
        run(task_with(known), method(WRONG, TRUTH), caution)


@pytest.mark.parametrize("kind", ["must_link", "cannot_link"])
def test_links_of_one_kind_count(kind):
    """Forty right links of one kind: clusters of the same sizes that satisfy more of them are followed."""
    apart = 1 if kind == "cannot_link" else 2
    pairs = [(i, i + apart) for i in range(N - 2)]
    known = Constraints.from_pairs(N, **{kind: pairs})
    assert run(task_with(known), method(WRONG, TRUTH), 1.0).decision.kept == "constrained"


@pytest.mark.parametrize("kind", ["must_link", "cannot_link"])
def test_agreement_grows_with_every_link_that_is_satisfied(kind):
    pairs = [(2 * i, 2 * i + 1) for i in range(N // 2)]
    known = Constraints.from_pairs(N, **{kind: pairs})
    found = []
    for n_satisfied in range(len(pairs) + 1):
        right = np.arange(len(pairs)) < n_satisfied
        together = right if kind == "must_link" else ~right
        first = np.arange(len(pairs)) % 2
        labels = np.empty(N, dtype=int)
        labels[::2], labels[1::2] = first, np.where(together, first, 1 - first)
        found.append(known.agreement(labels))
    assert np.all(np.diff(found) > 0)
    assert found[-1] == 1.0


def test_one_cluster_gains_nothing_from_must_links_held_out():
    pairs = [(i, i + 2) for i in range(N - 2)]
    task = task_with(Constraints.from_pairs(N, must_link=pairs))
    task = task.given(task.constraints, plain=Answer(WRONG))
    assert held_out_gain(task, method(WRONG, WRONG)) == 0.0


def grown(n_more):
    """A class of forty points, of which thirty labels are known, in a cluster with ten, or with all others.

    The plain answer has 36 of the class in it, and `n_more` other points.
    """
    n = 120
    truth = (np.arange(n) >= 40).astype(int)
    known = Constraints.from_labels(np.where(np.arange(n) < 30, 0, -1))
    plain = truth.copy()
    plain[26:30] = 1
    constrained = truth.copy()
    constrained[40 : 40 + n_more] = 0
    return known, plain, constrained


@pytest.mark.parametrize("caution", [0.0, 1.0])
def test_a_cluster_that_grows_over_others_gains_nothing_from_labels_of_one_class(caution):
    known, plain, constrained = grown(n_more=40)
    with pytest.warns(ConstraintWarning, match="Your 30 labels were not used because they do not help"):
        answer = run(Task(None, None, known, 2, 0), method(plain, constrained), caution)
    np.testing.assert_array_equal(answer.labels, plain)


@pytest.mark.parametrize("caution", [0.0, 1.0])
def test_a_cluster_that_finds_the_rest_of_one_class_is_followed(caution):
    known, plain, constrained = grown(n_more=0)
    answer = run(Task(None, None, known, 2, 0), method(plain, constrained), caution)
    assert answer.decision.kept == "constrained"
    np.testing.assert_array_equal(answer.labels, constrained)


def test_labels_of_one_class_are_held_out_four_times():
    """However clear two parts are: those of two classes would be enough."""
    known, plain, constrained = grown(n_more=0)
    n_points, solve = [], method(plain, constrained)

    def counting(task):
        n_points.append(len(task.constraints.constrained_points))
        return solve(task)

    run(Task(None, None, known, 2, 0), counting, 1.0)
    assert sum(0 < count < 30 for count in n_points) == 4


def test_labels_of_one_class_are_never_ample():
    """However many there are: one cluster of all points agrees with them."""
    n = 600
    known = Constraints.from_labels(np.where(np.arange(n) < 200, 0, -1))
    plain = (np.arange(n) >= 190).astype(int)
    everything = (np.arange(n) >= 590).astype(int)
    with pytest.warns(ConstraintWarning, match="Your 200 labels were not used"):
        answer = run(Task(None, None, known, 2, 0), method(plain, everything), 0.0)
    np.testing.assert_array_equal(answer.labels, plain)


def test_where_a_cautious_method_fails_the_plain_answer_is_kept():
    def solve(task):
        if not task.constraints.is_empty:
            raise SpectralError("no cut exists.")
        return Answer(WRONG)

    with pytest.warns(ConstraintWarning, match="no clusters could be found with them: no cut exists"):
        run(task_with(labels_of(12)), solve, 1.0)
    with pytest.raises(SpectralError):
        run(task_with(labels_of(12)), solve, 0.0)


def test_warnings_of_the_plain_answer_come_with_it_alone():
    def solve(task):
        if task.constraints.is_empty:
            warnings.warn("two pieces", ConstraintWarning, stacklevel=1)
        return Answer(WRONG if task.constraints.is_empty else TRUTH)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run(task_with(labels_of(12)), solve, 0.0)
    with pytest.warns(ConstraintWarning, match="two pieces"):
        run(task_with(Constraints.from_labels(np.where(np.arange(N) < 2, WRONG, -1))), solve, 0.0)


def test_what_was_given_is_named_as_it_was_given():
    assert describe(labels_of(15)) == "15 labels were"
    assert describe(Constraints.from_pairs(N, must_link=[(0, 1), (2, 3)])) == "2 must-links were"
    assert describe(Constraints.from_pairs(N, cannot_link=[(0, 1)])) == "1 cannot-link was"


@pytest.mark.parametrize(
    ("found", "needed", "n_answers"), [(TRUTH, 0.1, 2), (WRONG, 0.1, 2), (TRUTH, 10.0, 4), (TRUTH, None, 4)]
)
def test_two_parts_of_four_are_held_out_where_they_are_clear(found, needed, n_answers):
    """All of 40 labels are predicted, or none; the gain is the same number whether two or four are asked."""
    asked = []

    def solve(task):
        asked.append(task.constraints)
        return Answer(found)

    task = task_with(labels_of(40))
    gain = held_out_gain(task.given(task.constraints, plain=Answer(WRONG)), solve, needed)
    assert len(asked) == n_answers
    assert (gain > 0.5) == (found is TRUTH)
