"""CCSR: constrained clustering with spectral regularisation (Li, Liu & Tang, 2009).

`estimator.py` holds the estimator, the squares of points and links, and the semidefinite programme for M.
"""

from sidecut.methods.ccsr.estimator import CCSR

__all__ = ["CCSR"]
