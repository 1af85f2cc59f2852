"""scikit-learn's LabelSpreading on a graph that is given."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from sklearn.semi_supervised import LabelSpreading


def spread(weights: sp.spmatrix, labels: np.ndarray, max_iter: int) -> np.ndarray:
    """Return labels for all points, with the α of E2CP's default.

    Parameters
    ----------
    weights : sparse matrix
        The graph.
    labels : array of int
        What is known, -1 where nothing is.
    max_iter : int
        The most iterations.
    """
    learner = LabelSpreading(kernel=lambda first, second=None: weights, alpha=0.8, max_iter=max_iter)
    return learner.fit(np.zeros((len(labels), 1)), labels).transduction_
