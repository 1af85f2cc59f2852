"""The normalised cut: spectral clustering without constraints, the reference for all the others."""

from __future__ import annotations

from typing import Any

import numpy as np

from sidecut.constraints import Constraints
from sidecut.exceptions import ConstraintError
from sidecut.graphs import GraphRecipe
from sidecut.labelling import LabellingMethod
from sidecut.methods.base import SpectralClusterer
from sidecut.methods.extension import OutOfSample


class NormalizedCut(OutOfSample, SpectralClusterer):
    """Spectral clustering by the normalised cut (Shi & Malik, 2000; Ng, Jordan & Weiss, 2002).

    The rows of the leading eigenvectors of D^{-1/2} W D^{-1/2}, scaled to length one, are clustered. It takes
    no constraints, and is what every constrained method here gives when nothing is known.

    Parameters
    ----------
    n_clusters : int, default=8
        The number of clusters.
    affinity : str or GraphRecipe, default="knn"
        How data become a graph: "knn", "gaussian", "self_tuning", "heat", "cosine", a recipe, or
        "precomputed".
    n_neighbors : int, default=20
        How many neighbours each point has in the graph of ``affinity="knn"``.
    labelling : {"kmeans", "rotation", "qr", "sign"}, default="kmeans"
        How the embedding becomes labels.
    assign_labels : {"kmeans", "discretize", "cluster_qr"}, optional
        scikit-learn's name for `labelling`, and its words for "rotation" and "qr". Give one of the two.
    unit_rows : bool, default=True
        Scale every row of the embedding to length one before it is labelled.
    n_init : int, default=10
        How many starts the labelling has.
    eigen_solver : {"auto", "dense", "lanczos", "factorized", "iterated"}, default="auto"
        See `sidecut.spectral.laplacian_eigenpairs`.
    n_jobs : int or None, default=None
        How many threads a fit may use. None: all cores that OMP_NUM_THREADS allows, but one in a worker of
        joblib or Dask. -1: all cores.
    verbose : int or bool, default=0
        1: write the stages of the fit and their seconds to standard error, with a bar for long ones on a
        terminal. 2: also the stages within them.
    random_state : int, RandomState or None, default=None
        An int makes the result reproducible.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        The cluster of every point, numbered in order of first appearance.
    embedding_ : array of shape (n_samples, n_clusters)
        What was handed to the labelling.
    eigenvalues_, eigenvectors_ : arrays of shape (n_clusters,) and (n_samples, n_clusters)
        Of the normalised Laplacian, smallest first, before any weighting.
    affinity_matrix_ : Graph
        The graph that was cut.
    solution_ : Eigenpairs
        The eigenpairs with their residuals, the solver that ran and its certificate.
    n_features_in_ : int
        Number of features seen in fit.

    See Also
    --------
    CSP : The cut under constraints.
    LSC : The same over landmarks, for very many points.

    References
    ----------
    J. Shi, J. Malik: Normalized cuts and image segmentation. IEEE Transactions on Pattern Analysis and
    Machine Intelligence 22, 2000.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from sidecut import NormalizedCut
    >>> X, y = make_moons(200, noise=0.05, random_state=0)
    >>> model = NormalizedCut(n_clusters=2, n_neighbors=10, random_state=0).fit(X)
    >>> int(abs(sum(model.labels_ == y) - 100))
    100
    >>> model.solution_.certificate.is_proof
    True
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        affinity: str | GraphRecipe = "knn",
        n_neighbors: int = 20,
        labelling: LabellingMethod = "kmeans",
        assign_labels: str | None = None,
        unit_rows: bool = True,
        n_init: int = 10,
        eigen_solver: str = "auto",
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        # Without links there is nothing that `hard` could satisfy, so it is no parameter here.
        super().__init__(
            n_clusters,
            affinity=affinity,
            n_neighbors=n_neighbors,
            labelling=labelling,
            assign_labels=assign_labels,
            unit_rows=unit_rows,
            n_init=n_init,
            eigen_solver=eigen_solver,
            n_jobs=n_jobs,
            verbose=verbose,
            random_state=random_state,
        )

    def _fit(self, X: Any, constraints: Constraints | None) -> None:
        if constraints is not None and not (isinstance(constraints, Constraints) and constraints.is_empty):
            raise ConstraintError(
                "NormalizedCut cannot use constraints; choose a method that can, such as SpectralLearning."
            )
        super()._fit(X, constraints)
