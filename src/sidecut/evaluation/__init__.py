"""How good a clustering is: agreement with known classes, and with the constraints it was given."""

from sidecut.evaluation.agreement import (
    Agreement,
    Scores,
    adjusted_rand_index,
    best_matching,
    clustering_accuracy,
    constraint_satisfaction,
    error_rate,
    evaluate,
    normalized_mutual_information,
    rand_index,
)

__all__ = [
    "Agreement",
    "Scores",
    "adjusted_rand_index",
    "best_matching",
    "clustering_accuracy",
    "constraint_satisfaction",
    "error_rate",
    "evaluate",
    "normalized_mutual_information",
    "rand_index",
]
