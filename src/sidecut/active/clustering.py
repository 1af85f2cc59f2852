"""ActiveClustering: ask about pairs of points, take answers, cluster."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from copy import copy
from dataclasses import KW_ONLY, asdict, dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from scipy.stats import beta
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from sidecut.active.belief import Belief, group_answers, group_piles, infer, merge_to_n_clusters, regrouped
from sidecut.active.kinds import choose_question
from sidecut.active.noisy_answers import infer_noisy
from sidecut.active.precomputed import Precomputed, check_costs, check_reliability, check_start, precompute
from sidecut.active.records import (
    UNDO,
    Answer,
    ClassAnswer,
    ErrorRate,
    Question,
    Record,
    StoppingEstimate,
    answer_to,
    answered_pairs,
    answered_piles,
    append_step,
    as_answers,
    as_constraints,
    as_step,
    check_record,
    kind_of,
    read_run,
    write_run,
)
from sidecut.active.strategies import Strategy, default_strategy, merge_chances
from sidecut.checks import FloatArray, IntArray, check_count
from sidecut.constraints import Constraints
from sidecut.graphs import GraphRecipe
from sidecut.labelling import rename_by_first_appearance

#: Wrong answers, and all answers, counted before the first one: the prior of the error rate is Beta(1, 9).
PRIOR_WRONG, PRIOR_ANSWERS = 1.0, 10.0
#: An estimated error rate counts as this at most: nearer to a guess answers would say nothing.
MAX_ERROR = 0.4


@dataclass(eq=False, repr=False)
class ActiveClustering(BaseEstimator):
    """Cluster by asking a person, or a program, about a few pairs of points.

    Parameters
    ----------
    n_clusters : int or None, default=None
        The number of clusters; None: the answers decide.
    affinity : str or GraphRecipe, default="knn"
        How points become a graph, see `sidecut.graphs.recipe`; "precomputed": X is the graph.
    n_neighbors : int, default=10
        For "knn".
    strategy : callable, default=None
        Chooses the pairs: one of `sidecut.active.strategies`; None: `default_strategy`.
    costs : dict, default=None
        What a question of each kind costs, such as {"pair": 4, "label": 5, "set": 10}; only the kinds named
        are asked. "seconds": those three, in seconds of a person's time. None: pairs alone.
    reliability : float or None, default=1.0
        The chance that an answer given with full confidence is right. Below 1 the posterior given all answers
        is computed, and some answers are checked by further questions. None: it is estimated, see
        `error_rate_`.
    stop_below : float, default=0.0
        Stop asking when an answer is expected to regroup less than this share of all pairs of points.
    random_state : int, RandomState or None, default=None
        The seed of k-means and of random choices.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        The clusters, by the answers so far.
    confidence_ : array of shape (n_samples,)
        The chance that each point is in its cluster.
    n_clusters_ : int
        The present number of clusters.
    constraints_ : Constraints
        The constraints given at the start, and the answers.
    history_ : list of Answer, ClassAnswer and SetAnswer
        The answers, in order.
    stopping_estimate_ : StoppingEstimate
        What further questions are expected to change.
    error_rate_ : ErrorRate
        The chance that an answer is wrong.
    merge_chances_ : array of shape (n_clusters_, n_clusters_)
        The chance that any two clusters are one.

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

    n_clusters: int | None = None
    _: KW_ONLY
    affinity: str | GraphRecipe = "knn"
    n_neighbors: int = 10
    strategy: Strategy | None = None
    costs: Mapping[str, float] | str | None = None
    reliability: float | None = 1.0
    stop_below: float = 0.0
    random_state: int | np.random.RandomState | None = None

    accepts: ClassVar[dict[str, Any]] = {}

    def start(self, X: Any, constraints: Constraints | None = None) -> Self:
        """Read the data; no question is asked yet.

        Parameters
        ----------
        X : array, sparse matrix or data frame; with affinity="precomputed" a graph
            The points.
        constraints : Constraints, optional
            Constraints that are known already.
        """
        features, graph, known = check_start(self, X, constraints)
        rng = check_random_state(self.random_state)
        self._seed = int(rng.randint(2**31 - 1))
        self._given = as_answers(known)
        self._precomputed = precompute(graph, features, known.constrained_points, self.n_clusters, rng)
        self.history_: list[Record] = []
        self._past: list[list[Record]] = []
        self._folder: Path | None = None
        self._belief: Belief
        self._pending: Question | None
        self._has_asked: bool
        return self._update()

    def question(self) -> Question | None:
        """Return the next question, the same until it is answered; None if no useful question is left."""
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
            self.history_.append(self._guess(question))
            self._belief = self._infer()
        self.history_, self._belief = history, belief
        return batch

    def answer(self, said: Any, confidence: float = 1.0, *, question: Question | None = None) -> Self:
        """Take an answer to the pending question, or to one of a batch.

        Parameters
        ----------
        said : bool, str, sequence of int, or None
            For a pair: together or apart. For a label: the name. For a set: the number of a group for each
            point, None where unsure. None: unsure, and not asked again.
        confidence : float, default=1.0
            The chance that this is right, from 0.5 to 1.
        question : Question, optional
            Which question this answers.
        """
        asked = self.question() if question is None else question
        if asked is None:
            raise ValueError("There is no question to answer: no useful question is left.")
        if not isinstance(asked, Question):
            raise ValueError(
                f"question={asked!r} is no Question; give one of those that questions(n) returned."
            )
        return self.tell([answer_to(asked, said, confidence)])

    def tell(self, records: Iterable[Record]) -> Self:
        """Take several answers or class names at once, asked for or not; none of them if they contradict.

        `undo` withdraws all of them.

        Examples
        --------
        >>> from sidecut.active import ActiveClustering, Answer
        >>> run = ActiveClustering(n_neighbors=2, random_state=0).start([[0.0], [0.2], [0.4], [5.0], [5.2]])
        >>> run.tell([Answer(0, 1, True), Answer(1, 2, True), Answer(2, 3, False)]).labels_
        array([0, 0, 0, 1, 1])
        """
        self._check_started()
        new = [check_record(record, len(self.labels_)) for record in records]
        return self._go_to([*self.history_, *new])

    def replace_answers(self, history: Iterable[Record]) -> Self:
        """Replace all answers so far by others; `undo` restores the old ones.

        Examples
        --------
        >>> from sidecut.active import ActiveClustering, Answer
        >>> run = ActiveClustering(n_neighbors=2, random_state=0).start([[0.0], [0.2], [0.4], [5.0], [5.2]])
        >>> run = run.tell([Answer(0, 1, True), Answer(1, 3, True)])
        >>> len(run.replace_answers(run.history_[:1]).history_), len(run.undo().history_)
        (1, 2)
        """
        self._check_started()
        return self._go_to([check_record(record, len(self.labels_)) for record in history])

    def undo(self) -> Self:
        """Withdraw the last answer, or all answers of one `tell`."""
        self._check_started()
        if not self._past:
            raise ValueError("There is no answer to take back.")
        if self._folder is not None:
            append_step(self._folder, UNDO)
        self.history_ = self._past.pop()
        return self._update()

    def set_reliability(self, reliability: float | None) -> Self:
        """Set the chance that an answer is right, and compute everything again from all answers.

        Parameters
        ----------
        reliability : float or None
            As the parameter of the same name.

        Examples
        --------
        >>> from sidecut.active import ActiveClustering
        >>> X = [[0.0], [0.2], [0.4], [0.6], [5.0], [5.2], [5.4], [5.6]]
        >>> run = ActiveClustering(random_state=0).start(X).answer(True).set_reliability(0.9)
        >>> run.question().reason
        'an earlier answer that joins two groups has a chance of ...% to be wrong'
        """
        self._check_started()
        self.reliability = check_reliability(reliability)
        self._update()
        return self if self._folder is None else self.save(self._folder)

    @property
    def can_undo(self) -> bool:
        """Whether there is a step to withdraw."""
        self._check_started()
        return bool(self._past)

    def replay(self) -> Iterator[IntArray]:
        """Yield the clusters before the first answer and after each.

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

    def save(self, path: str | Path) -> Self:
        """Write the run into a folder, and keep it up to date with every further answer.

        The folder holds plain JSON and arrays; X itself is not stored. A program that is killed loses at most
        the answer it was writing.
        """
        self._check_started()
        folder = Path(path)
        settings = {
            "n_clusters": self.n_clusters,
            "n_neighbors": self.n_neighbors,
            "costs": check_costs(self.costs),
            "reliability": self.reliability,
            "stop_below": self.stop_below,
            "seed": self._seed,
            "given": [asdict(answer) for answer in self._given],
        }
        write_run(folder, settings, self._precomputed, [*self._past, self.history_])
        self._folder = folder
        return self

    @classmethod
    def load(cls, path: str | Path, strategy: Strategy | None = None) -> Self:
        """Return a saved run; further answers are stored in the same folder.

        A `strategy` is code, and is not saved: give it again.
        """
        folder = Path(path)
        settings, precomputed, histories = read_run(folder)
        seed, given = settings.pop("seed"), settings.pop("given")
        run = cls(strategy=strategy, random_state=seed, **settings)
        run._seed, run._given = seed, [Answer(**fields) for fields in given]
        *run._past, run.history_ = histories
        run._precomputed, run._folder = precomputed, folder
        return run._update()

    @property
    def error_rate_(self) -> ErrorRate:
        """The chance that an answer is wrong: as given by `reliability`, or a posterior given all answers.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from sidecut.active import SimulatedOracle, ask
        >>> X, y = load_iris(return_X_y=True)
        >>> person = SimulatedOracle(y, error=0.2, random_state=0)
        >>> run = ask(X, person, 80, reliability=None, random_state=0)
        >>> run.error_rate_.low < 0.2 < run.error_rate_.high
        True
        """
        self._check_started()
        return self._error_rate

    @property
    def merge_chances_(self) -> FloatArray:
        """The chance that any two clusters are one, by the answers, or by the graph where there are none.

        Examples
        --------
        >>> from sidecut.active import ActiveClustering
        >>> X = [[0.0], [0.2], [0.4], [0.6], [5.0], [5.2], [5.4], [5.6]]
        >>> run = ActiveClustering(reliability=0.9, random_state=0).start(X)
        >>> float(run.merge_chances_[0, 3].round(2)), float(run.answer(False).merge_chances_[0, 3].round(2))
        (0.86, 0.1)
        """
        self._check_started()
        answers = [record for record in self.history_ if isinstance(record, Answer)]
        return merge_chances(self._belief, answers, self.labels_)

    @property
    def spent_(self) -> float:
        """What the answers so far cost, by the price list; kinds without a price cost nothing."""
        self._check_started()
        costs = check_costs(self.costs)
        return float(sum(costs.get(kind_of(record), 0.0) for record in self.history_))

    @property
    def precomputed_(self) -> Precomputed:
        """The values computed before the first question: micro-clusters, their graph, its eigenvectors."""
        self._check_started()
        return self._precomputed

    @property
    def constraints_(self) -> Constraints:
        """The constraints given at the start, and the answers."""
        self._check_started()
        certain = self._belief.groups.is_certain
        right = 1.0 - min(self._error_rate.mean, MAX_ERROR)
        return as_constraints(self._pairs(), right, len(self.labels_), certain)

    @property
    def stopping_estimate_(self) -> StoppingEstimate:
        """What further questions are expected to change."""
        question = self.question()
        changes = [record.changed for record in self.history_[-10:]]
        recent = float(np.mean(changes)) if changes else 0.0
        if question is None:
            return StoppingEstimate(0.0, recent, "No useful question is left.")
        words = f"The next answer is expected to regroup {question.gain:.2%} of all pairs of points"
        if changes:
            last = f"the last {len(changes)} answers" if len(changes) > 1 else "the last answer"
            words += f"; {last} regrouped {recent:.2%}{' each' if len(changes) > 1 else ''}"
        words += "."
        return StoppingEstimate(question.gain, recent, words)

    def _check_started(self) -> None:
        if not hasattr(self, "_precomputed"):
            raise ValueError("There are no data yet: call start(X) first.")

    def _pairs(self) -> list[Answer]:
        return [*self._given, *answered_pairs(self.history_)]

    def _infer(self) -> Belief:
        if self.reliability is not None:
            self._error_rate = ErrorRate(*(1.0 - self.reliability,) * 3)
            return self._infer_with(self.reliability)
        # One step of expectation maximisation, from the mean of the prior.
        belief = self._infer_with(1.0 - PRIOR_WRONG / PRIOR_ANSWERS)
        wrong, count = (0.0, 0) if belief.structure is None else belief.structure.wrong
        rate = beta(PRIOR_WRONG + wrong, PRIOR_ANSWERS - PRIOR_WRONG + count - wrong)
        self._error_rate = ErrorRate(float(rate.mean()), *map(float, rate.interval(0.9)))
        return self._infer_with(1.0 - min(self._error_rate.mean, MAX_ERROR))

    def _infer_with(self, reliability: float) -> Belief:
        groups = group_answers(self._pairs(), reliability, self._precomputed)
        if groups.is_certain:
            return infer(self._precomputed, groups, self.n_clusters)
        piles = group_piles(answered_piles(self.history_), reliability, self._precomputed)
        return infer_noisy(self._precomputed, replace(groups, piles=piles), self.n_clusters)

    def _rng(self) -> np.random.RandomState:
        """Return a random state that depends only on the number of answers, so that a run can resume."""
        return np.random.RandomState((self._seed + len(self.history_)) % 2**32)

    def _update(self) -> Self:
        self._belief = belief = self._infer()
        index_of = self._precomputed.micro_clusters.index_of
        columns = merge_to_n_clusters(belief, self.n_clusters)
        self.labels_: IntArray = rename_by_first_appearance(columns[belief.labels][index_of])
        chances = belief.chances @ np.eye(int(columns.max()) + 1)[columns]
        self.confidence_: FloatArray = chances.max(axis=1)[index_of]
        self.n_clusters_ = int(self.labels_.max()) + 1
        self._pending, self._has_asked = None, False
        return self

    def _go_to(self, history: list[Record]) -> Self:
        """Make a history the present one, if it does not contradict itself, and store it."""
        before, past = self._belief.labels, self.history_
        self.history_ = history
        try:
            self._update()
            if len(history) > len(past):
                changed = regrouped(before, self._belief.labels, self._precomputed.micro_clusters.sizes)
                history[-1] = replace(history[-1], changed=changed)
            if self._folder is not None:
                append_step(self._folder, as_step(past, history))
        except (ValueError, OSError):
            # An answer that contradicts, or that is not on disk, was not given.
            self.history_ = past
            self._update()
            raise
        self._past.append(past)
        return self

    def _propose(self) -> Question | None:
        strategy = default_strategy if self.strategy is None else self.strategy
        costs = check_costs(self.costs)
        proposal = choose_question(self._belief, self.history_, self._rng(), costs, strategy)
        if proposal is None:
            return None
        points = self._precomputed.micro_clusters.points[list(proposal.nodes)]
        named = [r.name for r in self.history_ if isinstance(r, ClassAnswer) and r.name is not None]
        names = tuple(sorted(set(named), key=lambda name: (-named.count(name), name)))
        question = Question(
            tuple(points.tolist()),
            self._with_rows(proposal.reason),
            proposal.kind,
            costs[proposal.kind],
            names,
            proposal.expected,
            min(1.0, proposal.gain / (len(self.labels_) ** 2 / 2)),
            proposal.strategy or getattr(strategy, "__name__", "strategy"),
            proposal.closeness,
        )
        return None if question.gain < self.stop_below else question

    def _guess(self, question: Question) -> Record:
        """Return the answer that is expected to a question."""
        labels = self.labels_[list(question.points)]
        if question.kind == "pair":
            return answer_to(question, question.expected > 0.5, 1.0)
        if question.kind == "set":
            return answer_to(question, labels.tolist(), 1.0)
        for record in self.history_:
            if isinstance(record, ClassAnswer) and record.name and self.labels_[record.i] == labels[0]:
                return answer_to(question, record.name, 1.0)
        return answer_to(question, f"cluster {labels[0]}", 1.0)

    def _with_rows(self, reason: str) -> str:
        """Put the row of X in place of the micro-cluster that a reason names."""
        before, brace, rest = reason.partition("{")
        micro, _, after = rest.partition("}")
        return before + str(self._precomputed.micro_clusters.points[int(micro)]) + after if brace else reason
