"""CSP: constrained spectral clustering by feasible cuts (Wang, Qian & Davidson, 2014).

| file | holds |
|---|---|
| `estimator.py` | the estimator `CSP`: algorithm 2, how cuts are weighed (eq. 15, 16), `safe=True` |
| `cuts.py` | eq. 13, L̄ v = λ (Q̄ - β/vol I) v: the feasible cuts, their costs, and β (section 4.3) |
| `pencil.py` | eq. 13 as a pencil on a graph, and its solution: dense, or by Davidson's iteration |
"""

from sidecut.methods.csp.cuts import FeasibleCuts, feasible_cuts
from sidecut.methods.csp.estimator import CSP

__all__ = ["CSP", "FeasibleCuts", "feasible_cuts"]
