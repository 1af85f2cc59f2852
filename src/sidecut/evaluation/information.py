"""Agreement counted in bits: what the clusters tell about the classes."""

from __future__ import annotations

from typing import Literal

from numpy.typing import ArrayLike
from sklearn.metrics import normalized_mutual_info_score

from sidecut.constraints import Constraints
from sidecut.evaluation.scored import scored_codes


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
    labels_true : array-like of shape (n_samples,)
        The class of each point.
    labels : array-like of shape (n_samples,)
        The cluster of each point.
    constraints : Constraints, optional
        Score only the points these constraints say nothing about.
    average : {"arithmetic", "geometric", "min", "max"}, default="arithmetic"
        How the two entropies are averaged.

    Returns
    -------
    float
        Between 0 (independent) and 1 (the same partition). It is not corrected for chance and grows with
        the number of clusters.

    Raises
    ------
    ValueError
        If the labels do not fit each other, fewer than two points are scored, or the average is unknown.

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
    classes, clusters = scored_codes(labels_true, labels, constraints)
    return float(normalized_mutual_info_score(classes, clusters, average_method=average))
