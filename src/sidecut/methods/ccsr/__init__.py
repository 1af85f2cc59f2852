"""CCSR: constrained clustering with spectral regularisation (Li, Liu & Tang, 2009).

| file | holds |
|---|---|
| `estimator.py` | the estimator `CCSR` and its squares of links and points |
| `program.py` | the semidefinite program for the k x k metric |
"""

from sidecut.methods.ccsr.estimator import CCSR

__all__ = ["CCSR"]
