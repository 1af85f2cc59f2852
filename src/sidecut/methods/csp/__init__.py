"""CSP: constrained spectral clustering by feasible cuts (Wang, Qian & Davidson, 2014).

| file | holds |
|---|---|
| `estimator.py` | the estimator `CSP`: K clusters from the feasible cuts of least cost |
| `cuts.py` | eq. 13, L̄ v = λ (Q̄ - β/vol I) v: the feasible cuts, their costs and their number |
| `beta.py` | the bound β: which values leave how many cuts (section 4.3), and rules that choose one |
| `trial.py` | algorithm 2: how cuts are weighed (eq. 15, 16) and completed; what `safe=True` compares |
| `pencil.py` | eq. 13 as a pencil on a graph: its products, its null space, its dense solution |
| `davidson.py` | which solver finds the feasible cuts, and the iteration for large graphs |
"""

from sidecut.methods.csp.cuts import FeasibleCuts, feasible_cuts
from sidecut.methods.csp.estimator import CSP

__all__ = ["CSP", "FeasibleCuts", "feasible_cuts"]
