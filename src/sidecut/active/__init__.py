"""Asking: which question about which two points is worth a person's time, and the clusters after the answers.

`ActiveClustering` asks and takes answers; `ask` does so with an oracle until a budget is spent. The
strategies that choose the questions are plain functions. `docs/asking.md` states the model.
"""

from sidecut.active.belief import Belief
from sidecut.active.certificate import Certificate, certify
from sidecut.active.clustering import ActiveClustering
from sidecut.active.command import CommandOracle, write_prompt
from sidecut.active.oracles import BudgetSpent, Oracle, OracleError, Reply, SimulatedOracle, ask
from sidecut.active.precomputed import gaussian_kernel, graph_kernel
from sidecut.active.records import Answer, ClassAnswer, ErrorRate, Question, SetAnswer, StoppingEstimate
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
from sidecut.active.terminal import Cards, converse

__all__ = [
    "ActiveClustering",
    "Answer",
    "Belief",
    "BudgetSpent",
    "Cards",
    "Certificate",
    "ClassAnswer",
    "CommandOracle",
    "ErrorRate",
    "Oracle",
    "OracleError",
    "Proposal",
    "Question",
    "Reply",
    "SetAnswer",
    "SimulatedOracle",
    "StoppingEstimate",
    "ask",
    "certify",
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
    "write_prompt",
]
