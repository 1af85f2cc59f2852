"""The methods the papers compare with that are not spectral."""

from sidecut.baselines.constrained_gmm import ConstrainedGMM
from sidecut.baselines.cop_kmeans import COPKMeans
from sidecut.baselines.metric_kmeans import MetricKMeans, learn_diagonal_metric
from sidecut.baselines.sskk import SSKK

__all__ = ["SSKK", "COPKMeans", "ConstrainedGMM", "MetricKMeans", "learn_diagonal_metric"]
