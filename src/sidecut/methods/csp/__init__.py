"""CSP: constrained spectral clustering by feasible cuts (Wang, Qian & Davidson, 2014).

| file | holds |
|---|---|
| `estimator.py` | the estimator `CSP`, algorithms 1 and 2: start here |
| `cuts.py` | eq. 13, L̄ v = λ (Q̄ - β/vol I) v: the feasible cuts and their costs |
| `bound.py` | β: which values leave how many cuts, and the rules that choose one (section 4.3) |
| `pencil.py` | eq. 13 as a pencil on a graph, and its dense solution |
| `davidson.py` | its solution on large graphs |
| `embedding.py` | from cuts to rows and labels: weights (eq. 15, 16), missing cuts, the sides of one cut |
"""

from sidecut.methods.csp.cuts import FeasibleCuts, feasible_cuts
from sidecut.methods.csp.estimator import CSP

__all__ = ["CSP", "FeasibleCuts", "feasible_cuts"]
