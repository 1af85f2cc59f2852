"""LSC, landmark-based spectral clustering without constraints (Chen & Cai, 2011)."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import numpy.typing as npt

from sidecut.arrays import FloatArray
from sidecut.constraints import Constraints
from sidecut.exceptions import ConstraintError
from sidecut.graphs.coded_rows import RowCodes
from sidecut.methods.scacs.base import LandmarkClusterer
from sidecut.methods.scacs.problem import landmark_basis, normalize_gram
from sidecut.spectral import Eigenpairs
from sidecut.spectral.problem import full_decomposition


class LSC(LandmarkClusterer):
    """Landmark spectral clustering: the normalised cut of the landmark graph, in time linear in n.

    Every point is coded over its nearest landmarks; the leading singular vectors of the codes, found from a
    p x p matrix, are clustered. It takes no constraints, and is what `SCACS` gives when nothing is known.

    Parameters
    ----------
    n_clusters : int, default=8
        The number of clusters.
    n_landmarks : int, default=500
        p, how many landmarks are chosen; no more than half as many as there are points.
    n_nearest : int, default=3
        r, how many landmarks code a point.
    landmarks : {"kmeans", "random", "kmeans++"}, row numbers or array of shape (p, d), default="kmeans"
        How landmarks are chosen, see `sidecut.graphs.choose_landmarks`, or which they are.
    sigma : float or "mean", default="mean"
        The width of the Gaussian weights; "mean" is the mean distance between all points and landmarks.
    unit_rows : bool, default=True
        Scale every row of the embedding to length one before k-means.
    n_init : int, default=10
        How many starts k-means has.
    n_jobs : int or None, default=None
        How many threads a fit may use; it does not change the result. None: all cores that OMP_NUM_THREADS
        allows, but one in a worker of joblib or Dask. -1: all cores.
    verbose : int or bool, default=0
        1: write the stages of the fit and their seconds to standard error, with a bar for long ones on a
        terminal. 2: also the stages within them.
    warm_start : bool, default=False
        Use the landmarks and codes of the previous fit again if the data are the same, and other settings are
        tried. Not for `fit_chunks`.
    random_state : int, RandomState or None, default=None
        An int makes the result reproducible.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        The cluster of every point, numbered in order of first appearance.
    embedding_ : array of shape (n_samples, n_clusters)
        What was handed to k-means.
    eigenvalues_ : array of shape (n_clusters,)
        Of the normalised Laplacian I - Ĝ, smallest first.
    eigenvectors_ : array of shape (p, n_clusters)
        u; the eigenvectors of the Laplacian are v = Ẑᵀu.
    solution_ : Eigenpairs
        The eigenpairs with their residuals, the solver that ran and its certificate.
    landmarks_ : array of shape (p, n_features)
        The landmarks; those among the nearest of no point are left out.
    sigma_ : float
        The width that was used.
    cluster_centers_ : array of shape (n_clusters, n_clusters)
        The centres in the embedding.
    affinity_matrix_ : LandmarkGraph
        The graph that was cut.
    n_features_in_ : int
        Number of features seen in fit.

    See Also
    --------
    SCACS : The same with constraints.
    NormalizedCut : The cut of the whole graph.

    References
    ----------
    X. Chen, D. Cai: Large scale spectral clustering with landmark-based representation. AAAI 2011.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from sidecut import LSC
    >>> X, y = make_moons(1000, noise=0.05, random_state=0)
    >>> model = LSC(n_clusters=2, n_landmarks=100, random_state=0).fit(X)
    >>> int(abs(sum(model.labels_ == y) - 500))
    500
    >>> model.predict([[0.0, 1.0], [1.0, -0.5]])
    array([1, 0])
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_landmarks: int = 500,
        n_nearest: int = 3,
        landmarks: str | npt.ArrayLike = "kmeans",
        sigma: float | str = "mean",
        unit_rows: bool = True,
        n_init: int = 10,
        n_jobs: int | None = None,
        verbose: int = 0,
        warm_start: bool = False,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_landmarks = n_landmarks
        self.n_nearest = n_nearest
        self.landmarks = landmarks
        self.sigma = sigma
        self.unit_rows = unit_rows
        self.n_init = n_init
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.warm_start = warm_start
        self.random_state = random_state

    hard = False

    def _fit(self, X: Any, constraints: Constraints | None) -> None:
        refuse_constraints(constraints)
        super()._fit(X, constraints)

    def fit_chunks(self, source: Any, *, constraints: Constraints | None = None, **settings: Any) -> Self:
        """Cluster rows that do not fit in memory, see `SCACS.fit_chunks`."""
        refuse_constraints(constraints)
        return super().fit_chunks(source, constraints=constraints, **settings)

    def _solve(self, codes: RowCodes, constraints: Constraints) -> tuple[FloatArray, FloatArray]:
        return solve_unconstrained(self, codes)


def solve_unconstrained(model: LandmarkClusterer, codes: RowCodes) -> tuple[FloatArray, FloatArray]:
    """Let a model remember the k vectors of least cost, and return them with equal weights."""
    basis = landmark_basis(codes.sums, model.n_clusters)
    costs, vectors = basis.costs[: model.n_clusters], basis.vectors[:, : model.n_clusters]
    # L v - cost v = Ẑᵀ r with r = (1 - cost) u - Ŝ u, whose length is √(rᵀŜr).
    gram = normalize_gram(codes.sums)
    left = vectors * (1.0 - costs) - gram @ vectors
    residuals = np.sqrt(np.maximum(np.einsum("ij,ij->j", left, gram @ left), 0.0))
    certificate = full_decomposition(costs.size, float(costs[-1]))
    model.solution_ = Eigenpairs(costs, vectors, residuals, basis.solver, certificate)
    model.eigenvalues_, model.eigenvectors_ = costs, vectors
    return vectors, np.ones(costs.size)


def refuse_constraints(constraints: Constraints | None) -> None:
    """Refuse constraints that say something.

    Raises
    ------
    ConstraintError
        Naming the method that takes them.
    """
    if constraints is not None and not (isinstance(constraints, Constraints) and constraints.is_empty):
        raise ConstraintError(
            "LSC cannot use constraints; choose a method that can, such as SCACS, its constrained form."
        )
