"""All scores of one clustering in one value."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from numpy.typing import ArrayLike

from sidecut.constraints import Constraints
from sidecut.evaluation.agreement import (
    adjusted_rand_index,
    clustering_accuracy,
    encode_scored,
    error_rate,
    normalized_mutual_information,
    rand_index,
)


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
            values = (_shown(getattr(agreement, name)) for agreement in columns.values())
            lines.append(f"{name:29}" + "".join(f"{value:>15}" for value in values))
        if self.constraint_satisfaction is not None:
            lines.append(
                f"constraint satisfaction {self.constraint_satisfaction:.4f},"
                f" weighted {self.weighted_constraint_satisfaction:.4f}"
            )
        return "\n".join(lines)


def _shown(value: float) -> str:
    return str(value) if isinstance(value, int) else f"{value:.4f}"


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


# Agreement with what the user said: how much of it the labels honour.


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
