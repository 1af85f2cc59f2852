"""CSP: constrained spectral clustering by feasible cuts (Wang, Qian & Davidson, 2014).

| file | holds |
|---|---|
| `estimator.py` | the estimator `CSP`, algorithms 1 and 2: start here; rows and labels (eq. 15, 16) |
| `cuts.py` | β: which values leave how many cuts, the rules that choose one (section 4.3); feasible cuts |
| `pencil.py` | eq. 13, L̄ v = λ (Q̄ - β/vol I) v, as a pencil on a graph, and its solution |
"""

from sidecut.methods.csp.cuts import feasible_cuts
from sidecut.methods.csp.estimator import CSP
from sidecut.methods.csp.pencil import FeasibleCuts

__all__ = ["CSP", "FeasibleCuts", "feasible_cuts"]
