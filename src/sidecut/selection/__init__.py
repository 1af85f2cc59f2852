"""Choosing a method, its graph and its strengths by what is known."""

from sidecut.selection.counts import PairCounts
from sidecut.selection.folds import ConstraintFolds, Fold
from sidecut.selection.scores import ConstraintScorer, score_pairs
from sidecut.selection.search import ConstraintSearch

__all__ = ["ConstraintFolds", "ConstraintScorer", "ConstraintSearch", "Fold", "PairCounts", "score_pairs"]
