"""Methods on graphs, compared by what is expected of them and by held-out constraints; and their vote."""

from __future__ import annotations

import re
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import add
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment
from sklearn.base import BaseEstimator, ClusterMixin, clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from sidecut.checks import IntArray, check_count, check_parameters
from sidecut.constraints import Constraints, Fold
from sidecut.constraints.folds import hold_everything_out
from sidecut.constraints.groups import PairCounts
from sidecut.exceptions import SidecutWarning
from sidecut.graphs import Graph
from sidecut.labelling import rename_by_first_appearance
from sidecut.methods import NormalizedCut
from sidecut.methods.base import GraphClusterer
from sidecut.methods.task import Task, check_data
from sidecut.running import stage
from sidecut.selection.expectation import Facts, believe
from sidecut.selection.views import View

#: What the cut without constraints is called in the table.
PLAIN = "NormalizedCut"
#: A candidate believed to be worse by this has a vote that counts 1/e as much; below `MIN_WEIGHT`, none.
VOTE_SCALE, MIN_WEIGHT = 0.05, 0.05
COLUMNS = ("method", "graph", "expected", "score", "spread", "folds", "believed", "seconds", "verdict")
SECONDS = {"s": 1.0, "min": 60.0, "h": 3600.0}
#: Rounds of naming clusters alike and voting; the names settle in two or three.
ROUNDS = 3


class CandidateTable(dict[str, list[Any]]):
    """The columns of the table of candidates."""

    def __repr__(self) -> str:
        """Show a line for each candidate, with how much better than others it is believed to be."""
        rows = zip(self["believed"], self["method"], self["graph"], self["verdict"], strict=True)
        return "\n".join(f"{b:+.3f}  {method} on {graph}: {verdict}" for b, method, graph, verdict in rows)

    def to_frame(self) -> Any:
        """Return a pandas frame with a row for each candidate."""
        import pandas as pd

        return pd.DataFrame(self)


@dataclass
class Candidate:
    """A method on a graph, what is expected of it, and how it has done."""

    method: str
    view: View
    model: Any
    expected: float = 0.0
    counts: list[PairCounts] = field(default_factory=list)
    answers: list[IntArray] = field(default_factory=list)
    held_out: int = 0
    believed: float = float("nan")
    seconds: float = 0.0
    verdict: str = ""
    failed: bool = False

    @property
    def score(self) -> float:
        """The balanced accuracy of all pairs with a held-out point; NaN before any was counted."""
        return reduce(add, self.counts).balanced_accuracy if self.counts else float("nan")

    @property
    def spread(self) -> float:
        """The standard deviation of the score over folds; NaN for fewer than two."""
        if len(self.counts) < 2:
            return float("nan")
        return float(np.std([counts.balanced_accuracy for counts in self.counts], ddof=1))


class Budget:
    """What may be spent on choosing: a number of fits, or a time such as "30s", "5min" or "1.5h"."""

    def __init__(self, budget: int | str | None) -> None:
        self.fits, self.end = float("inf"), float("inf")
        if isinstance(budget, str):
            read = re.fullmatch(r"\s*(\d+(?:\.\d*)?)\s*(s|min|h)\s*", budget)
            if not read:
                raise ValueError(
                    f"budget={budget!r}: give a number of fits, such as 20, or a time, such as '30s' or "
                    "'5min'."
                )
            self.end = time.perf_counter() + float(read[1]) * SECONDS[read[2]]
        elif budget is not None:
            self.fits = float(check_count("budget", budget))

    def spend(self) -> bool:
        """Take one fit out; False if there was none left, or no time."""
        if self.fits < 1 or time.perf_counter() >= self.end:
            return False
        self.fits -= 1
        return True


class Graphs:
    """Graphs of views, each built once; one that learns, once for each set of constraints."""

    def __init__(self) -> None:
        self.built: dict[tuple, tuple[Task, Graph]] = {}

    def __call__(self, view: View, task: Task) -> Graph:
        """Return the graph of the data of a task."""
        key = (view.name, id(task.data), id(task.constraints) if view.learns else 0)
        if key not in self.built:
            # The task is kept, so that no other data get the same id.
            self.built[key] = task, view.build(task)
        return self.built[key][1]


class Comparison:
    """Candidates on the same data, fold by fold."""

    def __init__(
        self, task: Task, folds: list[Fold], graphs: Graphs, budget: Budget, facts: Facts, hard: bool
    ) -> None:
        self.task, self.folds, self.graphs, self.budget, self.hard = task, folds, graphs, budget, hard
        self.facts = facts
        self.candidates: list[Candidate] = []

    def enter(self, candidates: list[Candidate]) -> None:
        """Try candidates, fold by fold; without folds they are judged by what is expected of them."""
        self.candidates += candidates
        for candidate in (one for one in candidates if not one.counts):
            # Without constraints the answer is the same in all folds, and all constraints can judge it.
            is_plain = candidate.method == PLAIN and not candidate.view.learns
            for fold in hold_everything_out(self.task.constraints) if is_plain else self.folds:
                if candidate.failed or not self._answer(candidate, fold):
                    break
        for candidate in self.candidates:
            candidate.believed = self.belief_in(candidate)

    def belief_in(self, candidate: Candidate) -> float:
        """Return what is believed of a candidate, tried or not: what is expected, and what was shown."""
        shown, held_out = self._shown_by(candidate)
        return believe(self.facts.are_labels, candidate.expected, shown, held_out)

    def _shown_by(self, candidate: Candidate) -> tuple[float, int]:
        """Return by how much the score of a candidate is above the mean one, and by how many points."""
        # Where too little is known for folds, the cut without constraints speaks for all candidates on its
        # form of the features.
        speakers = {one.view.form: one for one in self.candidates if one.method == PLAIN and one.counts}
        speaker = candidate if self.folds or candidate.counts else speakers.get(candidate.view.form)
        scores = [one.score for one in (self.candidates if self.folds else speakers.values()) if one.counts]
        if speaker is None or not speaker.counts or not scores:
            return 0.0, 0
        return speaker.score - float(np.mean(scores)), speaker.held_out

    def choose(self, n_voters: int) -> list[Candidate]:
        """Return who answers: those that are believed to be best, the best first."""
        able = [one for one in self.candidates if not one.failed and not (self.hard and one.method == PLAIN)]
        if any(one.counts for one in able if one.method != PLAIN):
            # The others have shown nothing.
            able = [one for one in able if one.counts]
        chosen = sorted(able, key=lambda one: -one.believed)[: 1 if self.hard else n_voters]
        chosen = [one for one, weight in zip(chosen, weights_of(chosen), strict=True) if weight > MIN_WEIGHT]
        for candidate in self.candidates:
            is_chosen = any(candidate is one for one in chosen)
            voted = "in the vote" if len(chosen) > 1 else "chosen"
            candidate.verdict = (
                voted if is_chosen else candidate.verdict or "others are believed to be better"
            )
        return chosen

    def check(self, chosen: list[Candidate]) -> tuple[float, int]:
        """Return how many of how many held-out points those that were chosen put into the right cluster."""
        # With labels, their votes on the folds are named by the labels each fold gave; a held-out label
        # counts where its class has another in the fold. Pairs name no clusters: the share of pairs right
        # stands for the share of points.
        if not self.folds or not all(one.counts for one in chosen):
            return 0.0, 0
        labels, learned = self.task.constraints.labels, [one for one in chosen if one.method != PLAIN]
        n_held_out = max(one.held_out for one in chosen)
        if labels is None or not learned:
            return chosen[0].score * n_held_out, n_held_out
        right = held_out = 0
        for fold, answers in zip(
            self.folds, zip(*(one.answers for one in learned), strict=False), strict=False
        ):
            given = np.setdiff1d(self.task.constraints.constrained_points, fold.held_out)
            found = name_by_labels(vote(answers, weights_of(learned)), labels, given)
            judged = fold.held_out[np.isin(labels[fold.held_out], labels[given])]
            right += int(np.count_nonzero(found[judged] == labels[judged]))
            held_out += len(judged)
        return float(right), held_out

    def _answer(self, candidate: Candidate, fold: Fold) -> bool:
        """Count the answer of a candidate to one fold; False where there is none."""
        if not self.budget.spend():
            candidate.verdict = "the budget was spent"
            return False
        start = time.perf_counter()
        try:
            with (
                warnings.catch_warnings(action="ignore", category=SidecutWarning),
                stage(f"{candidate.method}, {candidate.view.name}"),
            ):
                model = make_model(candidate, self.task, self.hard)
                check_parameters(model)
                task = self.task.given(fold.train)
                task = task_for(model, replace(task, graph=self.graphs(candidate.view, task)))
                if candidate.method == PLAIN:
                    task = task.without_constraints()
                labels = model._finish(task, model._solve_parts(task)).labels
        except Exception as error:  # whatever is wrong with one method, another may answer
            candidate.failed = True
            candidate.verdict = f"failed: {type(error).__name__}: {error}"
            return False
        finally:
            candidate.seconds += time.perf_counter() - start
        candidate.answers.append(labels)
        candidate.counts.append(fold.count(labels))
        candidate.held_out += len(fold.held_out)
        return True


def weights_of(candidates: list[Candidate]) -> list[float]:
    """Return how much the vote of each candidate counts: more where more is believed of it."""
    believed = np.array([one.believed for one in candidates])
    return np.exp((believed - believed.max(initial=-np.inf)) / VOTE_SCALE).tolist()


def name_by_labels(clusters: IntArray, labels: IntArray, given: IntArray) -> IntArray:
    """Return the class of every point: that of most given labels in its cluster; -1 where there are none."""
    counts = np.zeros((int(clusters.max()) + 1, int(labels.max()) + 1))
    np.add.at(counts, (clusters[given], labels[given]), 1.0)
    return np.where(counts.any(axis=1), counts.argmax(axis=1), -1)[clusters]


def make_model(candidate: Candidate, task: Task, hard: bool, **more: Any) -> Any:
    """Return the method of a candidate, not fitted, with what all have in common."""
    model = clone(candidate.model)
    own = {"n_clusters": task.n_clusters, "random_state": task.seed, "hard": hard, **more}
    known = model.get_params(deep=False)
    return model.set_params(**{name: value for name, value in own.items() if name in known})


def task_for(model: Any, task: Task) -> Task:
    """Return a task in the form a method takes: a graph as it is, points, or codes made of points."""
    if isinstance(model, GraphClusterer):
        return task
    data, graph = model._build(check_data(model, task.data), task.seed)
    return replace(task, data=data, graph=graph)


def tabulate(candidates: list[Candidate]) -> CandidateTable:
    """Return the candidates as a table, those first that are believed to be best."""
    order = sorted(candidates, key=lambda candidate: -np.nan_to_num(candidate.believed, nan=-np.inf))
    rows = [
        (
            e.method,
            e.view.name,
            e.expected,
            e.score,
            e.spread,
            len(e.counts),
            e.believed,
            e.seconds,
            e.verdict,
        )
        for e in order
    ]
    table = CandidateTable({name: [row[place] for row in rows] for place, name in enumerate(COLUMNS)})
    table.update({name: np.round(table[name], 3).tolist() for name in ("expected", "believed", "seconds")})
    return table


def explain(candidates: list[Candidate], chosen: list[Candidate], n_clusters: int, found: bool) -> str:
    """Say in a sentence or two what was chosen and why."""
    number = f"{n_clusters} cluster{'s' if n_clusters > 1 else ''}{', a number found here' if found else ''}"
    best, tried = chosen[0], sum(1 for candidate in candidates if candidate.counts)
    on = best.view.name if best.view.name.startswith("the ") else f"a graph of {best.view.name}"
    answer = f"{best.method} on {on} ({number})"
    if len(chosen) > 1:
        answer = f"{len(chosen)} candidates voted ({number}); the best of them is {best.method} on {on}"
    if len(candidates) == 1:
        return f"{answer}: there are no constraints."
    if not any(candidate.counts for candidate in candidates if candidate.method != PLAIN):
        return f"{answer}: there are too few constraints to compare by, so past experience chose."
    plain = next((one for one in candidates if one.method == PLAIN and one.counts), best)
    got, so = f"{best.score:.0%}", f"{plain.score:.0%}"
    others = (
        "; so did the cut without constraints" if so == got else f"; the cut without constraints got {so}"
    )
    return (
        f"{answer}. {tried} candidates were judged by past experience and by constraints that were held "
        f"out: {best.method} got {got} of the held-out pairs right{others if plain is not best else ''}."
    )


def explain_contradicted(n_contradicted: int, n_labels: int, is_overruled: bool) -> str:
    """Say how many labels the clusters contradict, and what became of them."""
    are_many = n_contradicted > 1
    what = "stand as you gave them" if are_many else "stands as you gave it"
    if is_overruled:
        what = "were overruled" if are_many else "was overruled"
    return (
        f"{n_contradicted} of your {n_labels} labels contradict{'' if are_many else 's'} the clusters around "
        f"{'them' if are_many else 'it'} and {what}: sidecut.diagnostics.find_suspects tells which are "
        "likely to be wrong."
    )


def vote(answers: Sequence[IntArray], weights: Sequence[float] | None = None) -> IntArray:
    """Return the cluster most answers put each point in, after their clusters are named alike.

    Clusters of two answers are matched one to one so that as many points as possible agree (the Hungarian
    method). The first of the answers with the greatest weight names the clusters; then the majority does.
    Where clusters have equally many votes, that answer decides, if it is for one of them.

    Parameters
    ----------
    answers : sequence of arrays of shape (n_samples,)
        Cluster numbers from 0.
    weights : sequence of float, optional
        How many votes each answer has; one by default.

    Returns
    -------
    array of shape (n_samples,)
        With clusters named as in the first answer of greatest weight.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.selection import vote
    >>> answers = [np.array([0, 0, 0, 1, 1]), np.array([1, 1, 1, 0, 0]), np.array([0, 0, 1, 1, 1])]
    >>> vote(answers)
    array([0, 0, 0, 1, 1])
    """
    weights = [1.0] * len(answers) if weights is None else weights
    n_clusters = 1 + max(int(answer.max()) for answer in answers)
    first = answers[int(np.argmax(weights))]
    agreed = first
    for _ in range(ROUNDS):
        # A trace for the first answer: it breaks ties.
        votes = 1e-9 * _indicator(first, n_clusters)
        for answer, weight in zip(answers, weights, strict=True):
            votes += weight * _indicator(name_alike(answer, agreed, n_clusters), n_clusters)
        agreed = votes.argmax(axis=1)
    return agreed


def name_alike(answer: IntArray, names: IntArray, n_clusters: int) -> IntArray:
    """Return an answer with its clusters named so that it agrees with another on as many points as can be."""
    return _match_names(answer, names, n_clusters)[answer]


def _match_names(answer: IntArray, names: IntArray, n_clusters: int) -> IntArray:
    """Return what each cluster of an answer is called in another."""
    table = np.zeros((n_clusters, n_clusters))
    np.add.at(table, (answer, names), 1.0)
    own, other = linear_sum_assignment(table, maximize=True)
    renamed = np.empty(n_clusters, dtype=np.intp)
    renamed[own] = other
    return renamed


def _indicator(labels: IntArray, n_clusters: int) -> npt.NDArray[np.float64]:
    return np.eye(n_clusters)[labels]


def _can_all_predict(consensus: Consensus) -> bool:
    """Whether every clusterer can put new points into its clusters."""
    silent = [name for name, model in consensus.estimators if not hasattr(model, "predict")]
    if silent:
        raise AttributeError(f"{', '.join(silent)} cannot put new points into clusters, so this vote cannot.")
    return True


class Consensus(ClusterMixin, BaseEstimator):
    """The vote of several clusterers.

    Parameters
    ----------
    estimators : list of (str, clusterer)
        Each is fitted on the same data with the same constraints, if it takes any.
    weights : list of float or None, default=None
        How many votes each has; the same for all by default.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        The cluster of every point, numbered in order of first appearance.
    estimators_ : list of clusterer
        The fitted ones.
    agreement_ : array of shape (n_samples,)
        The share of the votes that each point's cluster has.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sidecut import CCSR, E2CP, NCSC
    >>> from sidecut.constraints import sample_labels
    >>> from sidecut.selection import Consensus
    >>> X, y = load_iris(return_X_y=True)
    >>> members = [(m.__name__, m(3, safe=False, random_state=0)) for m in (CCSR, E2CP, NCSC)]
    >>> model = Consensus(members).fit(X, constraints=sample_labels(y, 6, random_state=1))
    >>> print(f"{model.agreement_.mean():.2f}")
    0.97
    """

    def __init__(self, estimators: list[tuple[str, Any]], weights: list[float] | None = None) -> None:
        self.estimators = estimators
        self.weights = weights

    def fit(self, X: Any, y: Any = None, *, constraints: Constraints | None = None) -> Self:
        """Fit all and let them vote.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            The points.
        y : ignored
            Present for scikit-learn's sake.
        constraints : Constraints, optional
            What is known about the points.
        """
        fitted = []
        for _, model in self.estimators:
            given = None if isinstance(model, NormalizedCut) else constraints
            fitted.append(clone(model).fit(X, constraints=given))
        return self.gather(fitted)

    def gather(self, fitted: list[Any]) -> Self:
        """Let clusterers vote that are fitted already.

        Parameters
        ----------
        fitted : list of clusterer
            One for each of the `estimators`.
        """
        answers = [model.labels_ for model in fitted]
        self.labels_ = rename_by_first_appearance(vote(answers, self.weights))
        n_clusters = 1 + max(int(answer.max()) for answer in answers)
        self.estimators_ = fitted
        self._names = [_match_names(answer, self.labels_, n_clusters) for answer in answers]
        alike = [names[answer] for names, answer in zip(self._names, answers, strict=True)]
        self.agreement_ = np.average(np.stack(alike) == self.labels_, axis=0, weights=self.weights)
        return self

    @available_if(_can_all_predict)
    def predict(self, X: Any) -> IntArray:
        """Put new points into the clusters that were found: each clusterer predicts, and they vote.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_new, n_features)
            New points.

        Returns
        -------
        array of shape (n_new,)
            Their clusters. Where clusters have equally many votes, the one with the lowest number.
        """
        check_is_fitted(self, "labels_")
        return self._count([model.predict(X) for model in self.estimators_], range(len(self.estimators_)))

    def vote_of(self, some: Sequence[int]) -> IntArray:
        """Return the labels that some of the clusterers alone give, with the clusters named as in `labels_`.

        Parameters
        ----------
        some : sequence of int
            Their places in `estimators`.
        """
        check_is_fitted(self, "labels_")
        return self._count([model.labels_ for model in self.estimators_], some)

    def _count(self, answers: Sequence[IntArray], some: Sequence[int]) -> IntArray:
        """Return the cluster with most votes of some answers."""
        weights = [1.0] * len(answers) if self.weights is None else self.weights
        votes = sum(weights[i] * _indicator(self._names[i][answers[i]], len(self._names[i])) for i in some)
        return np.asarray(votes).argmax(axis=1)
