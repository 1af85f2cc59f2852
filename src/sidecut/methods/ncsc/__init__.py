"""NCSC: constrained spectral clustering with nonnegative indicators, and LCSC, its linear part.

| file | holds |
|---|---|
| `ncsc.py` | the estimator `NCSC`, the prices γ, and where the minimisation begins |
| `lcsc.py` | the estimator `LCSC`: the normalised cut of the graph whose nodes are must-linked sets |
| `objective.py` | eq. 6: the cut with prices on violated links; the best indicators for given clusters |
| `descents.py` | eq. 11, the paper's updates; projected steps and exchanges, faster ways to minimise eq. 6 |
"""

from sidecut.methods.ncsc.lcsc import LCSC, ContractedGraph, contract_graph, solve_joined
from sidecut.methods.ncsc.ncsc import NCSC
from sidecut.methods.ncsc.objective import PenalizedCut

__all__ = ["LCSC", "NCSC", "ContractedGraph", "PenalizedCut", "contract_graph", "solve_joined"]
