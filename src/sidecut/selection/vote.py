"""The vote of several clusterings, whose clusters are named alike first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment
from sklearn.base import BaseEstimator, ClusterMixin, clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from sidecut.checks import IntArray
from sidecut.constraints import Constraints
from sidecut.labelling import rename_by_first_appearance
from sidecut.methods import NormalizedCut

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
