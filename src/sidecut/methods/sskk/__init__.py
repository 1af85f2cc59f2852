"""SSKK: semi-supervised kernel k-means (Kulis, Basu, Dhillon & Mooney, 2009).

`estimator.py` holds the estimator, kernel k-means with rewards and penalties for links, and its starts.
"""

from sidecut.methods.sskk.estimator import SSKK

__all__ = ["SSKK"]
