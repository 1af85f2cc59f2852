"""What a solver of NCSC's objective hands back."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sidecut.spectral.result import FloatArray


@dataclass(frozen=True)
class Descent:
    """What a solver of eq. 6 arrived at.

    Attributes
    ----------
    indicators : array of shape (n_nodes, n_clusters)
        Y.
    soft : array of shape (n_nodes, n_clusters)
        The rows from which clusters are read.
    trace : array
        The objective at the start and after every iteration.
    n_iter : int
        How many iterations ran.
    converged : bool
        Whether the stopping rule was met.
    step_scale : float
        The share of its way that Y is moved by one multiplicative update, d_min/σ but at most 1; 1 for other
        solvers.
    overlap : float
        The price of overlap; infinite where there is none.
    """

    indicators: FloatArray
    soft: FloatArray
    trace: FloatArray
    n_iter: int
    converged: bool
    step_scale: float = 1.0
    overlap: float = np.inf
