"""E2CP: exhaustive and efficient constraint propagation (Lu & Ip, 2010).

| file | holds |
|---|---|
| `estimator.py` | the estimator `E2CP`: propagate, adjust the graph, cut it |
| `propagation.py` | eqs. 1 to 3: F = (1-α)² (I - αS)⁻¹ Z (I - αS)⁻¹, a factor, or few eigenvectors |
| `adjustment.py` | eq. 4: the adjusted weights W̃, exact and approximate, also of new points |
"""

from sidecut.methods.e2cp.adjustment import AdjustedGraph, adjust_graph, adjust_weights
from sidecut.methods.e2cp.estimator import E2CP, nontrivial
from sidecut.methods.e2cp.propagation import (
    AgreementMatrix,
    LowRankMatrix,
    PropagatedConstraints,
    propagate,
    spread,
)

__all__ = [
    "E2CP",
    "AdjustedGraph",
    "AgreementMatrix",
    "LowRankMatrix",
    "PropagatedConstraints",
    "adjust_graph",
    "adjust_weights",
    "nontrivial",
    "propagate",
    "spread",
]
