"""SSKK: semi-supervised kernel k-means (Kulis, Basu, Dhillon & Mooney, 2009).

| file | holds |
|---|---|
| `estimator.py` | the estimator `SSKK` |
| `kmeans.py` | kernel k-means with rewards and penalties for links; first clusters, farthest first |
"""

from sidecut.methods.sskk.estimator import SSKK

__all__ = ["SSKK"]
