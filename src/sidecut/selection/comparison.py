"""Methods on graphs, compared by constraints that were held out."""

from __future__ import annotations

import re
import time
import warnings
from collections.abc import Mapping, Sequence
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
from sidecut.progress import stage
from sidecut.selection.views import ClassifierWeighted

#: Rounds of naming clusters alike and voting; the names settle in two or three.
ROUNDS = 3


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
        weights = [1.0] * len(self.estimators_) if self.weights is None else self.weights
        votes = sum(
            weight * _indicator(names[model.predict(X)], len(names))
            for model, names, weight in zip(self.estimators_, self._names, weights, strict=True)
        )
        return np.asarray(votes).argmax(axis=1)


#: What the cut without constraints is called in the table, and the vote of several.
PLAIN, VOTE = "NormalizedCut", "vote"
#: What experience expects counts as much as this many points that were held out. Set on the development sets
#: of benchmarks/quality/selection, as the other numbers of this room were.
PRIOR_POINTS = 40.0
#: What one candidate gains over all of its graph is believed by this share: the rest is luck.
SHRINKAGE = 0.6
#: The vote on the usual graph is left for an answer that is believed to be better than its cut by this.
MIN_GAIN = 0.02
COLUMNS = ("method", "graph", "score", "spread", "folds", "seconds", "verdict")
SECONDS = {"s": 1.0, "min": 60.0, "h": 3600.0}


@dataclass(frozen=True)
class View:
    """A graph to choose: its name, the recipe that makes it, and what experience expects of it.

    A graph that learns has edges weighed by a classifier that learns from the labels.
    """

    name: str
    recipe: Any
    prior_gain: float = 0.0
    learns: bool = False

    def recipe_for(self, task: Task) -> Any:
        """Return the recipe that makes the graph, given the constraints of a task."""
        return (
            ClassifierWeighted(self.recipe, np.asarray(task.constraints.labels), task.seed)
            if self.learns
            else self.recipe
        )

    def build(self, task: Task) -> Graph:
        """Return the graph of the data of a task."""
        return task.data if isinstance(task.data, Graph) else self.recipe_for(task).build(task.data)


@dataclass
class Candidate:
    """A method on a graph, and how it has done."""

    method: str
    view: View
    model: Any
    counts: list[PairCounts] = field(default_factory=list)
    answers: list[IntArray] = field(default_factory=list)
    members: list[Candidate] = field(default_factory=list)
    held_out: int = 0
    seconds: float = 0.0
    verdict: str = ""
    failed: bool = False

    @property
    def score(self) -> float:
        """The balanced accuracy of all pairs with a held-out point; NaN before any was counted."""
        return score(self.counts)

    @property
    def spread(self) -> float:
        """The standard deviation of the score over folds; NaN for fewer than two."""
        if len(self.counts) < 2:
            return float("nan")
        return float(np.std([counts.balanced_accuracy for counts in self.counts], ddof=1))

    def gain_over(self, other: Candidate) -> float:
        """Return by how much its score is better than another's on the folds that both answered."""
        n_folds = min(len(self.counts), len(other.counts))
        gain = score(self.counts[:n_folds]) - score(other.counts[:n_folds])
        return float(np.nan_to_num(gain))


def score(counts: list[PairCounts]) -> float:
    """Return the balanced accuracy of all folds together."""
    return reduce(add, counts).balanced_accuracy if counts else float("nan")


def shrink(gain: float, prior_gain: float, held_out: int) -> float:
    """Return a gain drawn towards what experience expects, the more so the fewer points were held out."""
    return (held_out * gain + PRIOR_POINTS * prior_gain) / (held_out + PRIOR_POINTS)


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

    def __init__(self, task: Task, folds: list[Fold], graphs: Graphs, budget: Budget, hard: bool) -> None:
        self.task, self.folds, self.graphs, self.budget, self.hard = task, folds, graphs, budget, hard
        self.candidates: list[Candidate] = []

    def enter_view(self, view: View, methods: Mapping[str, Any]) -> list[Candidate]:
        """Cut a graph without constraints, try methods on it, and return all."""
        cut = self._enter(PLAIN, view, NormalizedCut())
        labels = self._answer(cut, Constraints.none(self.task.n_points))
        if labels is not None:
            # Without constraints the answer is the same in all folds; without folds all can judge it.
            for fold in self.folds or hold_everything_out(self.task.constraints):
                self._count(cut, fold, labels)
        return [cut, *self.enter_methods(view, methods)]

    def enter_methods(self, view: View, methods: Mapping[str, Any]) -> list[Candidate]:
        """Try methods on a graph, fold by fold."""
        entered = [self._enter(name, view, model) for name, model in methods.items()]
        for fold in self.folds:
            for candidate in entered:
                labels = None if candidate.failed else self._answer(candidate, fold.train)
                if labels is not None:
                    self._count(candidate, fold, labels)
        return entered

    def choose(self, teams: list[list[Candidate]], n_voters: int) -> list[Candidate]:
        """Return who answers: one candidate, or those that vote.

        The vote on the usual graph answers, unless another answer is believed to be better.
        """
        if self.hard:
            # A vote could break what each voter keeps.
            able = [
                one for one in max(teams, key=self.expected_gain) if one.method != PLAIN and not one.failed
            ]
            best = max(able, key=self._gain) if able else self.candidates[0]
            return self._tell_verdicts(best)
        votes = [self._let_vote(team, n_voters) for team in teams]
        chances = [
            (self._expected_gain(one, team), one)
            for team, together in zip(teams, votes, strict=True)
            for one in (together, *team)
            if one is together or (one.method != PLAIN and one.counts and not one.failed)
        ]
        belief, best = max(chances, key=lambda pair: pair[0])
        return self._tell_verdicts(best if belief > MIN_GAIN else votes[0])

    def expected_gain(self, team: list[Candidate]) -> float:
        """Return by how much a graph is believed to be better than the usual one."""
        return shrink(self._mean_gain(team), team[0].view.prior_gain, max(each.held_out for each in team))

    def _expected_gain(self, candidate: Candidate, team: list[Candidate]) -> float:
        """Return what is believed of a graph, and a part of what the candidate gains over that."""
        own = self._gain(candidate) - self._mean_gain(team) if candidate.counts else 0.0
        return self.expected_gain(team) + SHRINKAGE * shrink(own, 0.0, candidate.held_out)

    def _gain(self, candidate: Candidate) -> float:
        return candidate.gain_over(self.candidates[0])

    def _mean_gain(self, team: list[Candidate]) -> float:
        gains = [self._gain(candidate) for candidate in team if candidate.counts and not candidate.failed]
        return float(np.mean(gains)) if gains else 0.0

    def _let_vote(self, team: list[Candidate], n_voters: int) -> Candidate:
        """Enter the vote of some candidates, and count it on the folds that all of them answered."""
        members = [member for member in team if not member.failed][:n_voters]
        if len(members) < 2:
            return team[0]
        together = self._enter(VOTE, team[0].view, None)
        together.members = members
        answered = zip(*(member.answers for member in members), strict=False)
        for fold, answers in zip(self.folds, answered, strict=False):
            self._count(together, fold, vote(answers))
        return together

    def _tell_verdicts(self, best: Candidate) -> list[Candidate]:
        chosen = best.members or [best]
        for candidate in self.candidates:
            is_member = any(candidate is member for member in chosen)
            if is_member and len(chosen) > 1:
                candidate.verdict = "in the vote"
            elif candidate is best or is_member:
                candidate.verdict = "chosen"
            else:
                candidate.verdict = candidate.verdict or "others were better, or not better beyond luck"
        return chosen

    def _enter(self, method: str, view: View, model: Any) -> Candidate:
        candidate = Candidate(method, view, model)
        self.candidates.append(candidate)
        return candidate

    def _answer(self, candidate: Candidate, given: Constraints) -> IntArray | None:
        if not self.budget.spend():
            candidate.verdict = "the budget was spent"
            return None
        start = time.perf_counter()
        try:
            with (
                warnings.catch_warnings(action="ignore", category=SidecutWarning),
                stage(f"{candidate.method}, {candidate.view.name}"),
            ):
                model = make_model(candidate, self.task, self.hard)
                check_parameters(model)
                task = self._task_of(model, candidate.view, given)
                return model._finish(task, model._solve(task)).labels
        except Exception as error:  # whatever is wrong with one method, another may answer
            candidate.failed = True
            candidate.verdict = f"failed: {type(error).__name__}: {error}"
            return None
        finally:
            candidate.seconds += time.perf_counter() - start

    def _task_of(self, model: Any, view: View, given: Constraints) -> Task:
        task = self.task.given(given)
        return task_for(model, replace(task, graph=self.graphs(view, task)))

    def _count(self, candidate: Candidate, fold: Fold, labels: IntArray) -> None:
        candidate.answers.append(labels)
        candidate.counts.append(fold.count(labels))
        candidate.held_out += len(fold.held_out)


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


def tabulate(candidates: list[Candidate]) -> dict[str, list[Any]]:
    """Return the candidates as a table, the best score first."""
    order = sorted(candidates, key=lambda candidate: -np.nan_to_num(candidate.score, nan=-np.inf))
    rows = [
        (e.method, e.view.name, e.score, e.spread, len(e.counts), round(e.seconds, 3), e.verdict)
        for e in order
    ]
    return {name: [row[place] for row in rows] for place, name in enumerate(COLUMNS)}


def explain(candidates: list[Candidate], chosen: list[Candidate], n_clusters: int, found: bool) -> str:
    """Say in one sentence what was chosen and why."""
    names = [candidate.method for candidate in chosen]
    who = _list(names) + (" voted" if len(names) > 1 else "")
    number = f"{n_clusters} cluster{'s' if n_clusters > 1 else ''}{', a number found here' if found else ''}"
    graph = chosen[0].view.name
    answer = f"{who} on {graph if graph.startswith('the ') else f'a graph of {graph}'} ({number})"
    others = [candidate for candidate in candidates if candidate.method != PLAIN]
    if not others:
        return f"{answer}: there are no constraints."
    if not any(candidate.counts for candidate in others):
        return f"{answer}: there are too few constraints to compare by, so past experience chose."
    best = next((e for e in candidates if e.method == VOTE and e.verdict == "chosen"), chosen[0])
    tried = sum(1 for candidate in candidates if candidate.counts and candidate.method != VOTE)
    return (
        f"{answer}: {tried} candidates were compared by pairs held out. This gets {best.score:.0%} of them "
        f"right, must-links and cannot-links counted alike; the cut without constraints gets "
        f"{candidates[0].score:.0%}."
    )


def _list(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
