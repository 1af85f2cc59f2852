"""CSP: constrained spectral clustering by feasible cuts (Wang, Qian & Davidson, 2014).

| file | holds |
|---|---|
| `estimator.py` | the estimator `CSP`: K clusters from the feasible cuts of least cost |
| `cuts.py` | eq. 13, L̄ v = λ (Q̄ - β/vol I) v: the feasible cuts, their costs and their number |
| `beta.py` | the bound β: which values leave how many cuts (section 4.3), and rules that choose one |
| `embedding.py` | algorithm 2: how cuts are weighed (eq. 15, 16), and what completes them |
| `trial.py` | the constrained cut beside that of the graph, told more or less: what `safe=True` compares |
| `pencil.py` | eq. 13 as a pencil on a graph: its products, its null space, cuts that cost nothing |
| `davidson.py` | the iteration that finds the feasible cuts of large graphs |
"""

from sidecut.methods.csp.cuts import FeasibleCuts, feasible_cuts
from sidecut.methods.csp.estimator import CSP

__all__ = ["CSP", "FeasibleCuts", "feasible_cuts"]
