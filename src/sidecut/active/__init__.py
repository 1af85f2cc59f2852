"""Asking: which question about which two points is worth a person's time, and the clusters after the answers.

`ActiveClustering` asks and takes answers; `ask` does so with an oracle until a budget is spent. The
strategies that choose the questions are plain functions. `docs/asking.md` states the model.
"""

from sidecut.active.belief import Belief
from sidecut.active.clustering import ActiveClustering
from sidecut.active.oracles import BudgetSpent, Cards, CommandOracle, OracleError, ask, converse
from sidecut.active.precomputed import gaussian_kernel, graph_kernel
from sidecut.active.records import Answer, ClassAnswer, ClassQuestion, Question, StoppingEstimate
from sidecut.active.strategies import (
    Proposal,
    default_strategy,
    doubtful_sets,
    doubts,
    eigenvector_change,
    expected_change,
    merge_classes,
    neighbourhoods,
    part_question,
    perturbation,
    random_pair,
    super_instances,
    uncertainty,
)

__all__ = [
    "ActiveClustering",
    "Answer",
    "Belief",
    "BudgetSpent",
    "Cards",
    "ClassAnswer",
    "ClassQuestion",
    "CommandOracle",
    "OracleError",
    "Proposal",
    "Question",
    "StoppingEstimate",
    "ask",
    "converse",
    "default_strategy",
    "doubtful_sets",
    "doubts",
    "eigenvector_change",
    "expected_change",
    "gaussian_kernel",
    "graph_kernel",
    "merge_classes",
    "neighbourhoods",
    "part_question",
    "perturbation",
    "random_pair",
    "super_instances",
    "uncertainty",
]
