"""NCSC: constrained spectral clustering with nonnegative indicators, and LCSC, its linear part.

| file | holds |
|---|---|
| `ncsc.py` | the estimator `NCSC` |
| `lcsc.py` | the estimator `LCSC`: must-linked points joined, then the normalised cut |
| `objective.py` | eq. 6: the cut with prices on violated links |
| `penalties.py` | rules for the prices γ |
| `multiplicative.py` | eq. 11: the paper's updates |
| `projected.py`, `exchange.py`, `inside.py` | faster ways to minimise eq. 6 |
| `starts.py` | where the minimisation begins |
| `contracted_graph.py` | the graph whose nodes are must-linked sets |
"""

from sidecut.methods.ncsc.contracted_graph import ContractedGraph, contract_graph
from sidecut.methods.ncsc.lcsc import LCSC, solve_joined
from sidecut.methods.ncsc.ncsc import NCSC
from sidecut.methods.ncsc.objective import PenalizedCut

__all__ = ["LCSC", "NCSC", "ContractedGraph", "PenalizedCut", "contract_graph", "solve_joined"]
