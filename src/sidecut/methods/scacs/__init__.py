"""SCACS: constrained spectral clustering over landmarks; LSC: the same without constraints.

| file | holds |
|---|---|
| `scacs.py` | the estimators `SCACS` and `LSC` (Chen & Cai, 2011), the same without constraints |
| `base.py` | the walk of both, as a reduction over chunks of rows |
| `cuts.py` | the p x p problem (steps 3 to 7) and its feasible cuts (steps 8 to 10) |
"""

from sidecut.methods.scacs.scacs import LSC, SCACS

__all__ = ["LSC", "SCACS"]
