"""What the papers compare with that is not spectral.

| file | holds |
|---|---|
| `cop_kmeans.py` | the estimator `COPKMeans` (Wagstaff, Cardie, Rogers & Schroedl, 2001) |
| `constrained_gmm.py` | the estimator `ConstrainedGMM` (Shental, Bar-Hillel, Hertz & Weinshall, 2003) |
| `metric_kmeans.py` | the estimator `MetricKMeans` (Xing, Ng, Jordan & Russell, 2002) and its metric |
| `lloyd.py` | must-linked sets; k-means on weighted points of which some must be apart, for the first two |
"""

from sidecut.methods.baselines.constrained_gmm import ConstrainedGMM
from sidecut.methods.baselines.cop_kmeans import COPKMeans
from sidecut.methods.baselines.metric_kmeans import MetricKMeans, learn_diagonal_metric

__all__ = ["COPKMeans", "ConstrainedGMM", "MetricKMeans", "learn_diagonal_metric"]
