"""ActiveClustering: ask, be told, cluster; as often as someone has patience."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from sidecut.active.belief import Belief, condense, infer, regrouped
from sidecut.active.knowledge import know
from sidecut.active.landscape import Landscape, as_features, check_reliability, check_start, survey
from sidecut.active.records import (
    Answer,
    ClassQuestion,
    Naming,
    Outlook,
    Question,
    Record,
    answer_to,
    append_step,
    append_undo,
    as_answers,
    as_constraints,
    as_fields,
    check_record,
    pairs_said,
    read_run,
    write_run,
)
from sidecut.active.strategies import Proposal, Strategy, controller, expected_change, merge_classes
from sidecut.active.weighing import infer_weighed
from sidecut.checks import FloatArray, IntArray, check_count
from sidecut.constraints import Constraints
from sidecut.graphs import GraphRecipe
from sidecut.labelling import rename_by_first_appearance

#: The outlook looks back on so many answers.
RECENT = 10


class ActiveClustering(BaseEstimator):
    """Cluster by asking a person, or a program, about a few pairs of points.

    Parameters
    ----------
    n_clusters : int or None, default=None
        How many clusters there are; None: the answers decide.
    affinity : str or GraphRecipe, default="knn"
        How points become a graph, see `sidecut.graphs.recipe`; "precomputed": X is the graph.
    n_neighbors : int, default=10
        For "knn".
    strategy : callable, default=None
        Chooses the questions: one of `sidecut.active.strategies`; None: `controller`.
    reliability : float, default=1.0
        The chance that an answer given with full confidence is right. Below 1 answers are weighed, and some
        are checked by further questions.
    stop_below : float, default=0.0
        Stop asking when an answer is expected to regroup less than this share of all pairs of points.
    random_state : int, RandomState or None, default=None
        Starts of k-means, and what else is drawn.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        The clusters, by what is known so far.
    confidence_ : array of shape (n_samples,)
        The chance that each point is in its cluster.
    n_clusters_ : int
        How many clusters there are now.
    constraints_ : Constraints
        All that is known: what was given at the start, and the answers.
    history_ : list of Answer and Naming
        What was said, in order.
    outlook_ : Outlook
        What further questions would bring.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.metrics import adjusted_rand_score
    >>> from sidecut.active import ActiveClustering
    >>> X, y = load_iris(return_X_y=True)
    >>> run = ActiveClustering(random_state=0).start(X)
    >>> for _ in range(25):
    ...     question = run.question()
    ...     run = run.answer(y[question.i] == y[question.j])
    >>> run.n_clusters_, bool(adjusted_rand_score(y, run.labels_) > 0.85)
    (3, True)
    """

    _belief: Belief
    _pending: Question | None
    _has_asked: bool

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        affinity: str | GraphRecipe = "knn",
        n_neighbors: int = 10,
        strategy: Strategy | None = None,
        reliability: float = 1.0,
        stop_below: float = 0.0,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.affinity = affinity
        self.n_neighbors = n_neighbors
        self.strategy = strategy
        self.reliability = reliability
        self.stop_below = stop_below
        self.random_state = random_state

    # Start, ask, be told

    def start(self, X: Any, constraints: Constraints | None = None) -> Self:
        """Look at the data; nothing is asked yet.

        Parameters
        ----------
        X : array, sparse matrix or data frame; with affinity="precomputed" a graph
            The points.
        constraints : Constraints, optional
            What is known already.
        """
        data, graph, known = check_start(self, X, constraints)
        rng = check_random_state(self.random_state)
        self._seed = int(rng.randint(2**31 - 1))
        self._given = as_answers(known)
        self._landscape = survey(graph, as_features(data), known.constrained_points, self.n_clusters, rng)
        self.history_: list[Record] = []
        self._past: list[list[Record]] = []
        self._folder: Path | None = None
        return self._update()

    def question(self) -> Question | None:
        """Return the next question, the same until it is answered; None if nothing is left worth asking."""
        self._check_started()
        if not self._has_asked:
            self._pending, self._has_asked = self._propose(), True
        return self._pending

    def questions(self, n: int) -> list[Question]:
        """Return up to `n` questions that can be answered at the same time, in any order.

        Each is chosen as if those before it had been answered as expected. Answer them with
        `answer(value, question=question)`.
        """
        self._check_started()
        check_count("n", n)
        history, belief = list(self.history_), self._belief
        batch: list[Question] = []
        while len(batch) < n and (question := self._propose()) is not None:
            batch.append(question)
            guess = answer_to(question, question.expected > 0.5, 1.0)
            self.history_.append(guess)
            self._belief = self._infer()
        self.history_, self._belief = history, belief
        return batch

    def answer(self, same: bool | None, confidence: float = 1.0, *, question: Question | None = None) -> Self:
        """Take an answer to the pending question, or to one of a batch.

        Parameters
        ----------
        same : bool or None
            Together, apart, or None for unsure: the pair is never asked about again.
        confidence : float, default=1.0
            The chance that this is right, from 0.5 to 1.
        question : Question, optional
            Which question of a batch this answers.
        """
        asked = self.question() if question is None else question
        if asked is None:
            raise ValueError("There is no question to answer: nothing is left worth asking.")
        if not isinstance(asked, Question):
            raise ValueError(f"question={asked!r} is no Question; give one of those that questions(n) gave.")
        return self.tell([answer_to(asked, same, confidence)])

    def class_question(self) -> ClassQuestion | None:
        """Return a point whose class to ask for: where a person can name it, one name is worth many pairs."""
        self._check_started()
        proposal = merge_classes(self._belief, self._answers, self._rng())
        refine = expected_change(self._belief, self._answers, self._rng())
        if proposal is None or (refine is not None and refine.gain > proposal.gain):
            proposal = refine
        if proposal is None:
            return None
        named = {record.i for record in self.history_ if isinstance(record, Naming)}
        ends = self._landscape.grains.points[[proposal.a, proposal.b]]
        unnamed = [int(i) for i in ends if i not in named]
        return ClassQuestion(unnamed[0], self._words(proposal.reason), self._names()) if unnamed else None

    def answer_class(self, i: int, name: Any) -> Self:
        """Take the class of point `i`, as of a `class_question`; None: unsure.

        Points of the same name belong together, points of different names do not.
        """
        self._check_started()
        if i not in self._landscape.grains.points:
            check_record(Naming(i, None), len(self.labels_))
            raise ValueError(
                f"Point {i} stands for no group of points; ask class_question() for one that does."
            )
        return self.tell([Naming(int(i), None if name is None else str(name))])

    def tell(self, records: Iterable[Record]) -> Self:
        """Take several answers or names at once, asked for or not: all of them, or none if they contradict.

        `undo` takes all of them back.

        Examples
        --------
        >>> from sidecut.active import ActiveClustering, Answer
        >>> run = ActiveClustering(n_neighbors=2, random_state=0).start([[0.0], [0.2], [0.4], [5.0], [5.2]])
        >>> run.tell([Answer(0, 1, True), Answer(1, 2, True), Answer(2, 3, False)]).labels_
        array([0, 0, 0, 1, 1])
        """
        self._check_started()
        told = [check_record(record, len(self.labels_)) for record in records]
        return self._go_to([*self.history_, *told])

    def revise(self, history: Iterable[Record]) -> Self:
        """Put other answers in place of all those so far; `undo` brings the old ones back.

        Examples
        --------
        >>> from sidecut.active import ActiveClustering, Answer
        >>> run = ActiveClustering(n_neighbors=2, random_state=0).start([[0.0], [0.2], [0.4], [5.0], [5.2]])
        >>> run = run.tell([Answer(0, 1, True), Answer(1, 3, True)])
        >>> len(run.revise(run.history_[:1]).history_), len(run.undo().history_)
        (1, 2)
        """
        self._check_started()
        return self._go_to([check_record(record, len(self.labels_)) for record in history])

    def undo(self) -> Self:
        """Take the last answer back, or all that was told in one step."""
        self._check_started()
        if not self._past:
            raise ValueError("There is no answer to take back.")
        if self._folder is not None:
            append_undo(self._folder)
        self.history_ = self._past.pop()
        return self._update()

    def rely(self, reliability: float) -> Self:
        """Weigh all answers anew, each being right with this chance.

        Parameters
        ----------
        reliability : float
            As the parameter of the same name.

        Examples
        --------
        >>> from sidecut.active import ActiveClustering
        >>> X = [[0.0], [0.2], [0.4], [0.6], [5.0], [5.2], [5.4], [5.6]]
        >>> run = ActiveClustering(random_state=0).start(X).answer(True).rely(0.9)
        >>> run.question().reason
        'an earlier answer that joins two groups has a chance of ...% to be wrong'
        """
        self._check_started()
        self.reliability = check_reliability(reliability)
        self._update()
        return self if self._folder is None else self.save(self._folder)

    @property
    def can_undo(self) -> bool:
        """Whether there is a step to take back."""
        self._check_started()
        return bool(self._past)

    def replay(self) -> Iterator[IntArray]:
        """Give the clusters as they were before the first answer, and after each.

        Examples
        --------
        >>> from sidecut.active import ActiveClustering
        >>> run = ActiveClustering(random_state=0).start([[0.0], [0.2], [0.4], [5.0], [5.2], [5.4]])
        >>> run = run.answer(False).answer(False)
        >>> len(list(run.replay()))
        3
        """
        self._check_started()
        past = copy(self)
        past._folder = None
        for count in range(len(self.history_) + 1):
            past.history_ = self.history_[:count]
            yield past._update().labels_

    # Keep

    def save(self, path: str | Path) -> Self:
        """Write the run into a folder, and keep it up to date with every further answer.

        The folder holds plain JSON and arrays; X itself is not kept. A program that is killed loses at most
        the answer it was writing.
        """
        self._check_started()
        folder = Path(path)
        settings = {
            "n_clusters": self.n_clusters,
            "n_neighbors": self.n_neighbors,
            "reliability": self.reliability,
            "stop_below": self.stop_below,
            "seed": self._seed,
            "given": [as_fields(answer) for answer in self._given],
        }
        write_run(folder, settings, self._landscape, [*self._past, self.history_])
        self._folder = folder
        return self

    @classmethod
    def load(cls, path: str | Path, strategy: Strategy | None = None) -> Self:
        """Return a run that was saved; it goes on being kept in the same folder.

        A `strategy` that was given is code, and is not saved: give it again.
        """
        folder = Path(path)
        settings, landscape, histories = read_run(folder)
        seed, given = settings.pop("seed"), settings.pop("given")
        run = cls(strategy=strategy, random_state=seed, **settings)
        run._seed, run._given = seed, [Answer(**fields) for fields in given]
        *run._past, run.history_ = histories
        run._landscape, run._folder = landscape, folder
        return run._update()

    # What is known

    @property
    def landscape_(self) -> Landscape:
        """What was computed before the first question: grains, their graph, its eigenvectors."""
        self._check_started()
        return self._landscape

    @property
    def constraints_(self) -> Constraints:
        """All that is known about pairs: given at the start, and answered."""
        self._check_started()
        said = [*self._given, *pairs_said(self.history_)]
        certain = self._belief.knowledge.is_certain
        return as_constraints(said, self.reliability, len(self.labels_), certain)

    @property
    def outlook_(self) -> Outlook:
        """What further questions would bring."""
        question = self.question()
        changes = [record.changed for record in self.history_[-RECENT:]]
        recent = float(np.mean(changes)) if changes else 0.0
        if question is None:
            return Outlook(0.0, recent, "Nothing is left worth asking.")
        words = f"The next answer is expected to regroup {question.gain:.2%} of all pairs of points"
        if changes:
            last = f"the last {len(changes)} answers" if len(changes) > 1 else "the last answer"
            words += f"; {last} regrouped {recent:.2%}{' each' if len(changes) > 1 else ''}"
        words += "."
        return Outlook(question.gain, recent, words)

    # Inside

    def _check_started(self) -> None:
        if not hasattr(self, "_landscape"):
            raise ValueError("Nothing to ask about yet: call start(X) first.")

    @property
    def _answers(self) -> list[Answer]:
        return [record for record in self.history_ if isinstance(record, Answer)]

    def _names(self) -> tuple[str, ...]:
        names = [record.name for record in self.history_ if isinstance(record, Naming) and record.name]
        return tuple(sorted(set(names), key=names.count, reverse=True))

    def _infer(self) -> Belief:
        said = [*self._given, *pairs_said(self.history_)]
        known = know(said, self.reliability, self._landscape)
        follow = infer if known.is_certain else infer_weighed
        return follow(self._landscape, known, self.n_clusters)

    def _rng(self) -> np.random.RandomState:
        """Return a source of randomness that depends on the answers so far only, so that a run can resume."""
        return np.random.RandomState((self._seed + len(self.history_)) % 2**32)

    def _update(self) -> Self:
        self._belief = self._infer()
        grain = self._landscape.grains.grain_of
        self._columns = condense(self._belief, self.n_clusters)
        self.labels_: IntArray = rename_by_first_appearance(self._columns[self._belief.labels][grain])
        self.confidence_: FloatArray = self._sureness()[grain]
        self.n_clusters_ = int(self.labels_.max()) + 1
        self._pending = None
        self._has_asked = False
        return self

    def _sureness(self) -> FloatArray:
        together = np.zeros((self._belief.n_classes, int(self._columns.max()) + 1))
        together[np.arange(len(together)), self._columns] = 1.0
        return (self._belief.chances @ together).max(axis=1)

    def _go_to(self, history: list[Record]) -> Self:
        """Make a history the present one, if it does not contradict itself, and keep it."""
        before, past = self._belief.labels, self.history_
        self.history_ = history
        try:
            self._update()
            if len(history) > len(past):
                changed = regrouped(before, self._belief.labels, self._landscape.grains.sizes)
                history[-1] = replace(history[-1], changed=changed)
            if self._folder is not None:
                append_step(self._folder, past, history)
        except (ValueError, OSError):
            # Neither what contradicts nor what is not on disk has been said.
            self.history_ = past
            self._update()
            raise
        self._past.append(past)
        return self

    def _propose(self) -> Question | None:
        strategy = controller if self.strategy is None else self.strategy
        proposal = strategy(self._belief, self._answers, self._rng())
        if proposal is None:
            return None
        question = self._as_question(proposal, getattr(strategy, "__name__", "strategy"))
        return None if question.gain < self.stop_below else question

    def _as_question(self, proposal: Proposal, strategy: str) -> Question:
        points = self._landscape.grains.points
        n_pairs = len(self.labels_) ** 2 / 2
        return Question(
            int(points[proposal.a]),
            int(points[proposal.b]),
            self._words(proposal.reason),
            proposal.expected,
            min(1.0, proposal.gain / n_pairs),
            proposal.strategy or strategy,
            proposal.closeness,
        )

    def _words(self, reason: str) -> str:
        """Put row numbers of X where a reason speaks of grains."""
        points = self._landscape.grains.points
        before, brace, rest = reason.partition("{")
        if not brace:
            return reason
        grain, _, after = rest.partition("}")
        return f"{before}{points[int(grain)]}{after}"
