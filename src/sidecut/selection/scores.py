"""Scores of a clustering by pairs it was not told about."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from sidecut.constraints import Constraints
from sidecut.constraints.satisfaction import PairCounts, count_pairs
from sidecut.selection.folds import consistent

#: Names of scores of pairs, each fair to must-links and cannot-links however many there are of either.
SCORES: dict[str, Callable[[PairCounts], float]] = {
    "f_measure": lambda counts: counts.f_measure,
    "balanced_accuracy": lambda counts: counts.balanced_accuracy,
    "rand_beyond_chance": lambda counts: counts.rand_beyond_chance,
}


def as_score(scoring: str | Callable[[PairCounts], float]) -> Callable[[PairCounts], float]:
    """Return the score of pairs a name stands for; a function is returned unchanged."""
    if callable(scoring):
        return scoring
    if scoring not in SCORES:
        names = ", ".join(map(repr, SCORES))
        raise ValueError(f"scoring={scoring!r}: choose {names}, or a function of PairCounts.")
    return SCORES[scoring]


def score_pairs(
    constraints: Constraints,
    labels: npt.ArrayLike,
    scoring: str | Callable[[PairCounts], float] = "f_measure",
) -> float:
    """Score a clustering by known pairs and all that follows from them.

    The share of pairs satisfied is no score: of ten classes, nine pairs in ten are apart, and nearly every
    clustering keeps them so. These scores are balanced.

    Parameters
    ----------
    constraints : Constraints
        What is known, and was not told to the method.
    labels : array-like of shape (n_samples,)
        The cluster of each sample.
    scoring : {"f_measure", "balanced_accuracy", "rand_beyond_chance"} or callable
        The mean of the F-measures of must-links and of cannot-links; the mean of the shares satisfied; the
        Rand index corrected for chance, which is the adjusted Rand index where labels are known; or a
        function of `PairCounts`.

    Examples
    --------
    >>> from sidecut import Constraints
    >>> from sidecut.selection import score_pairs
    >>> known = Constraints.from_labels([0, 0, 1, 1, -1])
    >>> score_pairs(known, [0, 0, 0, 1, 1], "balanced_accuracy")
    0.5
    """
    knowledge = consistent(constraints).contracted()
    everything = np.ones(len(knowledge.points), dtype=bool)
    return as_score(scoring)(count_pairs(knowledge, labels, everything))


class ConstraintScorer:
    """A scorer for scikit-learn's own searches: pairs that were withheld judge the labels.

    scikit-learn slices X into folds, and constraints speak of all rows; with one "fold" of all rows its
    searches still work, told some constraints and judged by others. `ConstraintSearch` makes real folds.

    Parameters
    ----------
    withheld : Constraints
        What is known, and not told to the method.
    scoring : str or callable, default="f_measure"
        See `score_pairs`.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import GridSearchCV
    >>> from sidecut import E2CP
    >>> from sidecut.constraints import sample_pairs
    >>> from sidecut.selection import ConstraintScorer
    >>> X, y = load_iris(return_X_y=True)
    >>> told, withheld = sample_pairs(y, 60, random_state=0), sample_pairs(y, 60, random_state=1)
    >>> everyone = np.arange(150)
    >>> search = GridSearchCV(
    ...     E2CP(3, random_state=0),
    ...     {"n_neighbors": [5, 20]},
    ...     scoring=ConstraintScorer(withheld),
    ...     cv=[(everyone, everyone)],
    ... )
    >>> search.fit(X, constraints=told).best_params_
    {'n_neighbors': 20}
    """

    def __init__(
        self, withheld: Constraints, scoring: str | Callable[[PairCounts], float] = "f_measure"
    ) -> None:
        self.withheld = withheld
        self.scoring = scoring

    def __call__(self, estimator: Any, X: Any, y: Any = None) -> float:
        """Return the score of a fitted estimator's labels."""
        return score_pairs(self.withheld, labels_of(estimator), self.scoring)


def labels_of(estimator: Any) -> npt.NDArray[np.intp]:
    """Return the labels of a fitted clusterer, or of the last step of a pipeline."""
    last = estimator[-1] if hasattr(estimator, "steps") else estimator
    return last.labels_
