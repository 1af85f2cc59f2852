"""Agreement of clusters with classes: pairs of points, matching, information.

The scores are scikit-learn's where it has them; what is added here is which points are scored.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import linear_sum_assignment
from scipy.sparse import coo_array, csr_array
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score, rand_score

from sidecut.checks import IntArray
from sidecut.constraints import Constraints
from sidecut.constraints.inputs import read_labels

_LABELS = """labels_true : array-like of shape (n_samples,)
        The class of each point.
    labels : array-like of shape (n_samples,)
        The cluster of each point. There may be more or fewer clusters than classes.
    constraints : Constraints, optional
        Score only the points these constraints say nothing about."""
_ERRORS = """Raises
    ------
    ValueError
        If the labels do not fit each other, or fewer than two points are scored."""

Score = TypeVar("Score", bound=Callable)


def _documented(score: Score) -> Score:
    """Write the parameters and errors that all scores share into the docstring of one."""
    score.__doc__ = (score.__doc__ or "").replace("{labels}", _LABELS).replace("{errors}", _ERRORS)
    return score


@_documented
def rand_index(labels_true: ArrayLike, labels: ArrayLike, *, constraints: Constraints | None = None) -> float:
    """Share of the pairs i < j on which classes and clusters agree.

    Parameters
    ----------
    {labels}

    Returns
    -------
    float
        Between 0 and 1. A random clustering may come close to 1 when there are many clusters.

    {errors}

    Examples
    --------
    One of the three pairs is apart in both; each of the others is together in one only:

    >>> from sidecut.evaluation import rand_index
    >>> rand_index([0, 0, 1], [0, 1, 1])
    0.3333333333333333
    """
    return float(rand_score(*encode_scored(labels_true, labels, constraints)))


@_documented
def adjusted_rand_index(
    labels_true: ArrayLike, labels: ArrayLike, *, constraints: Constraints | None = None
) -> float:
    """Rand index corrected for chance (Hubert and Arabie, 1985).

    Parameters
    ----------
    {labels}

    Returns
    -------
    float
        1 for the same partition, 0 on average for clusters of these sizes drawn at random, and below 0
        for worse than that.

    {errors}

    Examples
    --------
    >>> from sidecut.evaluation import adjusted_rand_index
    >>> adjusted_rand_index([0, 0, 1, 1], ["b", "b", "a", "a"])
    1.0
    >>> adjusted_rand_index([0, 0, 1, 1], [0, 1, 0, 1])
    -0.5
    """
    return float(adjusted_rand_score(*encode_scored(labels_true, labels, constraints)))


@_documented
def normalized_mutual_information(
    labels_true: ArrayLike,
    labels: ArrayLike,
    *,
    constraints: Constraints | None = None,
    average: Literal["arithmetic", "geometric", "min", "max"] = "arithmetic",
) -> float:
    """Mutual information of classes and clusters, divided by an average of their entropies.

    Parameters
    ----------
    {labels}
    average : {"arithmetic", "geometric", "min", "max"}, default="arithmetic"
        How the two entropies are averaged.

    Returns
    -------
    float
        Between 0 (independent) and 1 (the same partition). It is not corrected for chance and grows with
        the number of clusters.

    {errors}

    Examples
    --------
    >>> from sidecut.evaluation import normalized_mutual_information
    >>> round(normalized_mutual_information([0, 0, 1, 1], [5, 5, 3, 3]), 12)
    1.0
    >>> round(normalized_mutual_information([0, 0, 1, 1], [0, 1, 0, 1]), 12)
    0.0
    """
    if average not in ("arithmetic", "geometric", "min", "max"):
        raise ValueError(f"average={average!r} is unknown; choose 'arithmetic', 'geometric', 'min' or 'max'")
    classes, clusters = encode_scored(labels_true, labels, constraints)
    return float(normalized_mutual_info_score(classes, clusters, average_method=average))


@_documented
def best_matching(
    labels_true: ArrayLike, labels: ArrayLike, *, constraints: Constraints | None = None
) -> dict[Any, Any]:
    """Pair clusters with classes, one to one, so that the most points agree.

    Parameters
    ----------
    {labels}

    Returns
    -------
    dict
        From cluster to class. If there are more clusters than classes, some clusters have no partner and
        are not in it; if there are fewer, some classes are not.

    {errors}

    Examples
    --------
    >>> from sidecut.evaluation import best_matching
    >>> best_matching(["cat", "cat", "dog", "dog"], [1, 1, 0, 2])
    {1: 'cat', 0: 'dog'}
    """
    classes, clusters = encode_scored(labels_true, labels, constraints)
    kept = find_scored_points(len(np.asarray(labels)), constraints)
    # The caller's name of each row or column of the contingency table, from its first point.
    class_names, cluster_names = (
        np.asarray(names, dtype=object)[kept[np.unique(codes, return_index=True)[1]]]
        for names, codes in ((labels_true, classes), (labels, clusters))
    )
    table = contingency_table(classes, clusters).toarray()
    matched_classes, matched_clusters = linear_sum_assignment(table, maximize=True)
    return dict(zip(cluster_names[matched_clusters], class_names[matched_classes], strict=True))


@_documented
def clustering_accuracy(
    labels_true: ArrayLike, labels: ArrayLike, *, constraints: Constraints | None = None
) -> float:
    """Share of the points whose cluster is paired with their class by the best matching (ACC).

    Parameters
    ----------
    {labels}

    Returns
    -------
    float
        Above 0, at most 1.

    {errors}

    Examples
    --------
    >>> from sidecut.evaluation import clustering_accuracy
    >>> clustering_accuracy([0, 0, 0, 1, 1], [1, 1, 0, 0, 0])
    0.8
    """
    classes, clusters = encode_scored(labels_true, labels, constraints)
    return _n_matched(classes, clusters) / len(classes)


@_documented
def error_rate(labels_true: ArrayLike, labels: ArrayLike, *, constraints: Constraints | None = None) -> float:
    """Share of the points that the best matching gets wrong: one minus `clustering_accuracy`.

    Parameters
    ----------
    {labels}

    Returns
    -------
    float
        At least 0, below 1.

    {errors}

    Examples
    --------
    >>> from sidecut.evaluation import error_rate
    >>> error_rate([0, 0, 0, 1, 1], [1, 1, 0, 0, 0])
    0.2
    """
    classes, clusters = encode_scored(labels_true, labels, constraints)
    # Counting the mistakes, rather than subtracting from one, keeps 1/5 exactly 0.2.
    return (len(classes) - _n_matched(classes, clusters)) / len(classes)


def _n_matched(classes: IntArray, clusters: IntArray) -> int:
    """Return how many points the best matching gets right (Kuhn-Munkres algorithm)."""
    table = contingency_table(classes, clusters).toarray()
    return int(table[linear_sum_assignment(table, maximize=True)].sum())


def encode_scored(
    labels_true: ArrayLike, labels: ArrayLike, constraints: Constraints | None = None
) -> tuple[IntArray, IntArray]:
    """Number the classes and the clusters of the points that are to be scored."""
    classes, clusters = read_labels(labels_true, "labels_true")[0], read_labels(labels, "labels")[0]
    if len(classes) != len(clusters):
        raise ValueError(
            f"labels_true has {len(classes)} entries and labels has {len(clusters)};"
            " both must have one per point, in the same order"
        )
    true_values, values = np.asarray(labels_true, dtype=object), np.asarray(labels, dtype=object)
    unknown = np.flatnonzero(classes < 0)
    if len(unknown):
        raise ValueError(
            f"labels_true[{unknown[0]}] is {true_values[unknown[0]]!r}, which means unknown"
            f" ({len(unknown)} of {len(classes)} are)."
            " Score only points of known class; if -1 is the name of a class, rename it"
        )
    for position in np.flatnonzero(clusters < 0):
        # -1 and missing values share a code, but -1 is what some clusterers call their noise.
        if values[position] is None or not np.isscalar(values[position]) or values[position] != -1:
            raise ValueError(f"labels[{position}] is {values[position]!r}; every point must have a cluster")
    kept = find_scored_points(len(classes), constraints)
    return classes[kept], clusters[kept] - clusters.min()


def find_scored_points(n_samples: int, constraints: Constraints | None = None) -> IntArray:
    """Return the points that are scored: all, or those the constraints say nothing about."""
    kept = np.ones(n_samples, dtype=bool)
    if constraints is not None:
        if constraints.n_samples != n_samples:
            raise ValueError(
                f"the constraints are about {constraints.n_samples} points, but there are {n_samples} labels"
            )
        kept[constraints.constrained_points] = False
    if kept.sum() < 2:
        left_out = f", {n_samples - kept.sum()} of {n_samples} being constrained" if n_samples > 1 else ""
        raise ValueError(
            f"only {kept.sum()} points are left to score{left_out}; agreement needs at least 2."
            " Score all points (constraints=None), or constrain fewer"
        )
    return np.flatnonzero(kept)


def contingency_table(classes: IntArray, clusters: IntArray) -> csr_array:
    """Count the points of each class in each cluster."""
    class_names, rows = np.unique(classes, return_inverse=True)
    cluster_names, columns = np.unique(clusters, return_inverse=True)
    ones = np.ones(len(classes), dtype=np.int64)
    return csr_array(coo_array((ones, (rows, columns)), shape=(len(class_names), len(cluster_names))))


@dataclass(frozen=True)
class Agreement:
    """How well clusters agree with classes, on a set of points.

    Parameters
    ----------
    n_points : int
        How many points were scored.
    rand_index, adjusted_rand_index, normalized_mutual_information, clustering_accuracy, error_rate : float
        The scores, as the functions of these names return them.

    Examples
    --------
    >>> from sidecut.evaluation import evaluate
    >>> evaluate([0, 0, 1, 1], [0, 0, 1, 1]).all_points.error_rate
    0.0
    """

    n_points: int
    rand_index: float
    adjusted_rand_index: float
    normalized_mutual_information: float
    clustering_accuracy: float
    error_rate: float


@dataclass(frozen=True)
class Scores:
    """The scores of one clustering.

    Parameters
    ----------
    all_points : Agreement
        Agreement with the classes on every point.
    unconstrained_points : Agreement or None
        The same on the points the constraints say nothing about, which is the fairer figure: the others
        were partly given away. None without constraints, or if they leave fewer than two points.
    constraint_satisfaction, weighted_constraint_satisfaction : float or None
        Share of the constrained pairs that are satisfied, by number and by strength. None without
        constraints.

    Examples
    --------
    >>> from sidecut.constraints import Constraints
    >>> from sidecut.evaluation import evaluate
    >>> constraints = Constraints.from_pairs(6, must_link=[(0, 1)])
    >>> print(evaluate([0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1], constraints))
                                      all points  unconstrained
    n_points                                   6              4
    rand_index                            0.6667         0.5000
    adjusted_rand_index                   0.3243         0.0000
    normalized_mutual_information         0.4787         0.0000
    clustering_accuracy                   0.8333         0.7500
    error_rate                            0.1667         0.2500
    constraint satisfaction 1.0000, weighted 1.0000
    """

    all_points: Agreement
    unconstrained_points: Agreement | None = None
    constraint_satisfaction: float | None = None
    weighted_constraint_satisfaction: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the scores as nested dictionaries of plain numbers, ready for JSON.

        Returns
        -------
        dict
            One entry per attribute.

        Examples
        --------
        >>> from sidecut.evaluation import evaluate
        >>> evaluate([0, 0, 1], [0, 0, 1]).to_dict()["all_points"]["clustering_accuracy"]
        1.0
        """
        return asdict(self)

    def __str__(self) -> str:
        columns = {"all points": self.all_points}
        if self.unconstrained_points is not None:
            columns["unconstrained"] = self.unconstrained_points
        lines = [" " * 29 + "".join(f"{title:>15}" for title in columns)]
        for name in asdict(self.all_points):
            values = (getattr(agreement, name) for agreement in columns.values())
            form = ">15" if name == "n_points" else ">15.4f"
            lines.append(f"{name:29}" + "".join(f"{value:{form}}" for value in values))
        if self.constraint_satisfaction is not None:
            lines.append(
                f"constraint satisfaction {self.constraint_satisfaction:.4f},"
                f" weighted {self.weighted_constraint_satisfaction:.4f}"
            )
        return "\n".join(lines)


def evaluate(labels_true: ArrayLike, labels: ArrayLike, constraints: Constraints | None = None) -> Scores:
    """Score a clustering against the classes, and against the constraints it was given.

    Parameters
    ----------
    labels_true : array-like of shape (n_samples,)
        The class of each point; none may be unknown.
    labels : array-like of shape (n_samples,)
        The cluster of each point.
    constraints : Constraints, optional
        The constraints the clustering was given.

    Returns
    -------
    Scores
        Agreement on all points and, with constraints, on those they say nothing about, and the share of
        constraints satisfied. `str` makes a table of it, `to_dict` dictionaries.

    Raises
    ------
    ValueError
        If the labels do not fit each other or the constraints, or there are fewer than two points.

    Examples
    --------
    >>> from sidecut.evaluation import evaluate
    >>> scores = evaluate([0, 0, 1, 1], ["a", "a", "b", "b"])
    >>> scores.all_points.clustering_accuracy
    1.0
    >>> scores.constraint_satisfaction is None
    True
    """
    everywhere = _agreement(labels_true, labels)
    if constraints is None:
        return Scores(everywhere)
    n_free = constraints.n_samples - len(constraints.constrained_points)
    return Scores(
        everywhere,
        _agreement(labels_true, labels, constraints) if n_free >= 2 else None,
        constraint_satisfaction(constraints, labels),
        constraint_satisfaction(constraints, labels, weighted=True),
    )


def _agreement(
    labels_true: ArrayLike, labels: ArrayLike, constraints: Constraints | None = None
) -> Agreement:
    classes, clusters = encode_scored(labels_true, labels, constraints)
    return Agreement(
        n_points=len(classes),
        rand_index=rand_index(classes, clusters),
        adjusted_rand_index=adjusted_rand_index(classes, clusters),
        normalized_mutual_information=normalized_mutual_information(classes, clusters),
        clustering_accuracy=clustering_accuracy(classes, clusters),
        error_rate=error_rate(classes, clusters),
    )


def constraint_satisfaction(constraints: Constraints, labels: ArrayLike, *, weighted: bool = False) -> float:
    """Share of the constrained pairs that the labels satisfy.

    A must-link is satisfied by equal labels, a cannot-link by different ones. Pairs implied by partial
    labels are counted, not listed.

    Parameters
    ----------
    constraints : Constraints
        What the user knows.
    labels : array-like of shape (n_samples,)
        The cluster of each point.
    weighted : bool, default=False
        Count each pair by the size of its strength instead of by one.

    Returns
    -------
    float
        Between 0 and 1.

    Raises
    ------
    ValueError
        If there is not one label per point.

    Examples
    --------
    >>> from sidecut.constraints import Constraints
    >>> from sidecut.evaluation import constraint_satisfaction
    >>> constraints = Constraints.from_pairs(4, must_link=[(0, 1)], cannot_link=[(1, 2), (2, 3)])
    >>> round(constraint_satisfaction(constraints, [0, 0, 1, 1]), 4)
    0.6667
    """
    return float(constraints.satisfaction(labels, weighted=weighted))
