"""Choosing a method, its graph and its strengths by what is known."""

from sidecut.constraints import ConstraintFolds, Fold
from sidecut.constraints.groups import PairCounts
from sidecut.selection.autocut import AutoCut
from sidecut.selection.comparison import Consensus, vote
from sidecut.selection.search import ConstraintScorer, ConstraintSearch, score_pairs
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
