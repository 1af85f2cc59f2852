"""SCACS: constrained spectral clustering over landmarks; LSC: the same without constraints.

| file | holds |
|---|---|
| `scacs.py` | the estimator `SCACS` |
| `lsc.py` | the estimator `LSC` (Chen & Cai, 2011): the same walk with nothing known |
| `base.py` | the walk of both, as a reduction over chunks of rows |
| `problem.py` | the p x p problem (steps 6 and 7) |
| `cuts.py` | beliefs about landmarks (step 5), the feasible cuts (steps 8 and 9) |
"""

from sidecut.methods.scacs.scacs import LSC, SCACS

__all__ = ["LSC", "SCACS"]
