"""Sources of answers: a function of two rows, an oracle for every kind of question, a simulated person."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from sidecut.active.clustering import ActiveClustering
from sidecut.active.records import Question
from sidecut.checks import check_count, check_not_negative, is_number
from sidecut.constraints import Constraints


class OracleError(RuntimeError):
    """An oracle gave no answer that makes sense."""


class BudgetSpent(Exception):
    """An oracle has no budget left; what was answered stays."""


class Reply(NamedTuple):
    """What an oracle says, as `ActiveClustering.answer` takes it, and the chance that it is right."""

    said: Any
    confidence: float = 1.0


@runtime_checkable
class Oracle(Protocol):
    """Answers questions of every kind."""

    def answer(self, question: Question) -> Reply:
        """Return the answer to a question."""


def ask(
    X: Any,
    oracle: Callable[[int, int], Any] | Oracle,
    budget: int = 100,
    *,
    max_cost: float | None = None,
    batch: int = 1,
    constraints: Constraints | None = None,
    save_to: str | Path | None = None,
    **parameters: Any,
) -> ActiveClustering:
    """Ask an oracle until the budget is spent or no useful question is left.

    Parameters
    ----------
    X : array, sparse matrix or data frame
        The points.
    oracle : callable, or object with `answer`
        `oracle(i, j)` returns whether two rows belong together: True, False, None for unsure, or a number
        from 0 to 1, the chance that they do. `oracle.answer(question)` takes a `Question` of any kind and
        returns a `Reply`. An `OracleError` counts as unsure; the third in a row is raised.
    budget : int, default=100
        The number of questions at most.
    max_cost : float, optional
        What the questions may cost together, by the price list `costs`.
    batch : int, default=1
        How many questions are chosen before the next answer is taken; an oracle with `prepare` sees all of
        them first.
    constraints : Constraints, optional
        Constraints that are known already.
    save_to : path, optional
        A folder in which every answer is stored at once. If it holds a run, that run continues, and its
        questions count.
    **parameters
        Of `ActiveClustering`.

    Returns
    -------
    ActiveClustering
        With `labels_`, `constraints_`, `history_`; more questions can be asked of it.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sidecut.active import SimulatedOracle, ask
    >>> X, y = load_wine(return_X_y=True)
    >>> X = (X - X.mean(0)) / X.std(0)
    >>> run = ask(X, lambda i, j: y[i] == y[j], budget=30, random_state=0)
    >>> len(run.history_), run.n_clusters_
    (30, 3)

    A person who knows names answers other questions, too; two minutes are enough here.

    >>> run = ask(X, SimulatedOracle(y), max_cost=120, costs="seconds", random_state=0)
    >>> run.spent_, len(run.history_), run.n_clusters_
    (120.0, 12, 3)
    """
    budget, batch = check_count("budget", budget), check_count("batch", batch)
    check_not_negative("max_cost", 0.0 if max_cost is None else max_cost)
    if not callable(oracle) and not isinstance(oracle, Oracle):
        raise ValueError(
            f"oracle is a {type(oracle).__name__}; give a function oracle(i, j), or an object with "
            "answer(question)."
        )
    if save_to is not None and (Path(save_to) / "settings.json").exists():
        run = ActiveClustering.load(save_to, strategy=parameters.get("strategy"))
    else:
        run = ActiveClustering(**parameters).start(X, constraints)
        if save_to is not None:
            run.save(save_to)
    failed = 0
    while questions := _affordable(run, min(batch, budget - len(run.history_)), max_cost):
        if hasattr(oracle, "prepare"):
            oracle.prepare(questions)
        for question in questions:
            try:
                reply, failed = _ask_once(oracle, question), 0
            except BudgetSpent:
                return run
            except OracleError:
                reply, failed = Reply(None), failed + 1
                if failed == 3:
                    raise
            run.answer(*reply, question=question)
    return run


def _affordable(run: ActiveClustering, count: int, max_cost: float | None) -> list[Question]:
    """Return the next questions that the price list leaves room for."""
    if count <= 0:
        return []
    questions = [run.question()] if count == 1 else run.questions(count)
    left = np.inf if max_cost is None else max_cost - run.spent_
    found: list[Question] = []
    for question in questions:
        left -= np.inf if question is None else question.cost
        if question is None or left < -1e-9:
            break
        found.append(question)
    return found


def _ask_once(oracle: Callable[[int, int], Any] | Oracle, question: Question) -> Reply:
    if isinstance(oracle, Oracle):
        return Reply(*oracle.answer(question))
    if question.kind != "pair":
        raise ValueError(
            f"oracle(i, j) answers pairs, and the question is about a {question.kind}; give an object with "
            "answer(question), or leave costs out."
        )
    return as_answer(oracle(question.i, question.j))


def as_answer(said: Any) -> Reply:
    """Return the reply of a function of two rows as an answer and its confidence."""
    if said is None or isinstance(said, bool | np.bool_):
        return Reply(None if said is None else bool(said))
    if not isinstance(said, int | float | np.number) or not 0.0 <= float(said) <= 1.0:
        raise OracleError(
            f"The oracle said {said!r}; expected True, False, None, or a chance from 0 to 1 that the two "
            "belong together."
        )
    chance = float(said)
    if chance == 0.5:
        return Reply(None)
    return Reply(chance > 0.5, max(chance, 1.0 - chance))


class SimulatedOracle:
    """A person who knows the classes, and errs: to find out how many questions a data set takes.

    Parameters
    ----------
    y : array of shape (n,)
        The true classes.
    error : float, default=0
        The chance that an answer is wrong: that of a pair, that of a label, or that of each point of a set.
    confusion : array of shape (n_classes, n_classes), optional
        In place of `error`: row a holds the chances that a point of class a is taken for each class, in
        every answer anew.
    random_state : int or None, default=None
        The seed of the errors.

    Examples
    --------
    >>> from sidecut.active import Question, SimulatedOracle
    >>> person = SimulatedOracle(["cat", "dog", "cat", "dog"])
    >>> person.answer(Question((0, 2), "")).said
    True
    >>> person.answer(Question((1,), "", kind="label")).said
    'dog'
    >>> person.answer(Question((0, 1, 2), "", kind="set")).said
    [0, 1, 0]
    >>> blind = SimulatedOracle(["cat", "dog"], confusion=[[0, 1], [0, 1]])
    >>> blind.answer(Question((0, 1), "")).said
    True
    """

    def __init__(
        self,
        y: npt.ArrayLike,
        error: float = 0.0,
        *,
        confusion: npt.ArrayLike | None = None,
        random_state: int | None = None,
    ) -> None:
        if not is_number(error) or not 0.0 <= error <= 1.0:
            raise ValueError(f"error={error!r} must be a chance, from 0 to 1.")
        self.names, self.classes = np.unique(np.asarray(y), return_inverse=True)
        self.error = float(error)
        self.confusion = None if confusion is None else np.asarray(confusion, dtype=float)
        k = len(self.names)
        if self.confusion is not None and (
            self.confusion.shape != (k, k)
            or not np.allclose(self.confusion.sum(axis=1), 1.0)
            or (self.confusion < 0).any()
        ):
            raise ValueError(f"confusion must have {k} rows of {k} chances that add up to 1.")
        self._rng = np.random.RandomState(random_state)

    def answer(self, question: Question) -> Reply:
        """Return what the person says."""
        if question.kind == "pair" and self.confusion is None:
            i, j = self.classes[list(question.points)]
            return Reply(bool((i == j) != (self._rng.rand() < self.error)))
        seen = self._seen(self.classes[list(question.points)])
        if question.kind == "pair":
            return Reply(bool(seen[0] == seen[1]))
        if question.kind == "label":
            return Reply(str(self.names[seen[0]]))
        _, first, groups = np.unique(seen, return_index=True, return_inverse=True)
        return Reply(np.argsort(np.argsort(first))[groups].tolist())

    def _seen(self, classes: npt.NDArray) -> npt.NDArray:
        """Return the classes that points are taken for."""
        k = len(self.names)
        if self.confusion is not None:
            return np.array([self._rng.choice(k, p=self.confusion[c]) for c in classes])
        wrong = self._rng.rand(len(classes)) < self.error
        others = (classes + self._rng.randint(1, max(k, 2), len(classes))) % k
        return np.where(wrong, others, classes)
