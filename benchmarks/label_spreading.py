"""scikit-learn's LabelSpreading on a graph that is given."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from sklearn.semi_supervised import LabelSpreading


def spread(weights: sp.spmatrix, labels: np.ndarray, max_iter: int, alpha: float = 0.8) -> np.ndarray:
    """Return labels for all points.

    Parameters
    ----------
    weights : sparse matrix
        The graph.
    labels : array of int
        What is known, -1 where nothing is.
    max_iter : int
        The most iterations.
    alpha : float, default=0.8
        How far labels spread: 0.8 is E2CP's default, 0.2 scikit-learn's; 0.99 is best on large graphs.
    """
    learner = LabelSpreading(kernel=lambda first, second=None: weights, alpha=alpha, max_iter=max_iter)
    return learner.fit(np.zeros((len(labels), 1)), labels).transduction_
