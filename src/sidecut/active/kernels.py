"""How alike two grains are: along the graph, and by their features.

Both kernels have ones on the diagonal, so that they can be averaged, and so that the prior variance of a
grain's class is the same everywhere.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from sklearn.metrics import pairwise_distances

from sidecut.arrays import FloatArray
from sidecut.graphs import NormalizedAffinity, SparseGraph

#: How far a walk along the graph goes before it ends: 1 / (1 - 0.99) = 100 steps on average.
ALPHA = 0.99


def graph_kernel(weights: sp.csr_array, alpha: float = ALPHA) -> FloatArray:
    """Return (I - αĀ)⁻¹ with Ā = D^{-1/2}WD^{-1/2}, scaled to a unit diagonal.

    It is the covariance of the Gaussian field of Zhou et al. (2004) and Zhu et al. (2003): grains between
    which short walks are many have nearly the same class.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> from sidecut.active import graph_kernel
    >>> path = sp.csr_array([[0, 1.0, 0], [1.0, 0, 1.0], [0, 1.0, 0]])
    >>> graph_kernel(path, alpha=0.5).round(3)
    array([[1.   , 0.378, 0.143],
           [0.378, 1.   , 0.378],
           [0.143, 0.378, 1.   ]])
    """
    affinity: Any = NormalizedAffinity(SparseGraph(weights)).matrix
    return unit_diagonal(scipy.linalg.inv(np.eye(weights.shape[0]) - alpha * affinity.toarray()))


def gaussian_kernel(features: Any) -> FloatArray:
    """Return exp(-d²/m) of the distances d between rows, with m the median of d² over pairs.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.active import gaussian_kernel
    >>> gaussian_kernel(np.array([[0.0], [1.0], [2.0]])).round(3)
    array([[1.   , 0.368, 0.018],
           [0.368, 1.   , 0.368],
           [0.018, 0.368, 1.   ]])
    """
    # sklearn's "sqeuclidean" is scipy's for dense rows only.
    squares = pairwise_distances(features, metric="euclidean") ** 2
    positive = squares[squares > 0]
    return np.exp(-squares / (np.median(positive) if len(positive) else 1.0))


def unit_diagonal(kernel: FloatArray) -> FloatArray:
    """Return K_ij / √(K_ii K_jj).

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.active.kernels import unit_diagonal
    >>> unit_diagonal(np.array([[4.0, 1.0], [1.0, 1.0]]))
    array([[1. , 0.5],
           [0.5, 1. ]])
    """
    roots = np.sqrt(np.diag(kernel))
    return kernel / roots[:, None] / roots[None, :]
