"""Choosing a method, its graph and its strengths by what is known."""

from sidecut.constraints.satisfaction import PairCounts
from sidecut.selection.autocut import AutoCut
from sidecut.selection.consensus import Consensus, vote
from sidecut.selection.folds import ConstraintFolds, Fold
from sidecut.selection.scores import ConstraintScorer, score_pairs
from sidecut.selection.search import ConstraintSearch
from sidecut.selection.views import Transformed

__all__ = [
    "AutoCut",
    "Consensus",
    "ConstraintFolds",
    "ConstraintScorer",
    "ConstraintSearch",
    "Fold",
    "PairCounts",
    "Transformed",
    "score_pairs",
    "vote",
]
