"""How good a clustering is: agreement with known classes, and with the constraints it was given."""

from sidecut.evaluation.information import normalized_mutual_information
from sidecut.evaluation.matching import best_matching, clustering_accuracy, error_rate
from sidecut.evaluation.pair_counting import adjusted_rand_index, rand_index
from sidecut.evaluation.satisfaction import constraint_satisfaction
from sidecut.evaluation.scores import Agreement, Scores, evaluate

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
