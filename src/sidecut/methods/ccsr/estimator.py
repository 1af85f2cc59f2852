"""CCSR, constrained clustering via spectral regularisation (Li, Liu & Tang, 2009)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np

from sidecut.arrays import FloatArray, IntArray
from sidecut.constraints import Constraints
from sidecut.graphs import Graph, GraphRecipe
from sidecut.labelling import rough_labels, unit_rows
from sidecut.methods.base import SpectralClusterer
from sidecut.methods.ccsr.program import (
    FactoredHessian,
    KernelProgramme,
    ProgrammeSolution,
    svec,
    upper_triangle,
)
from sidecut.methods.safeguard import Safeguarded, is_little
from sidecut.parameters import is_number
from sidecut.spectral import Eigenpairs, laplacian_eigenpairs

__all__ = ["CCSR", "KernelProgramme", "ProgrammeSolution", "link_squares", "point_squares"]

#: How many eigenvectors are adapted, as in the paper; and how many more than clusters where there are many.
USUAL_EIGENVECTORS = 15
SPARE_EIGENVECTORS = 5
#: With more points than this eigenvectors are rough, and a rough plain cut is looked at first; links are
#: followed if this share of them more is satisfied.
LARGE, CLEARLY = 5_000, 0.05
#: Rows whose products are held in memory at once.
CHUNK = 8192
#: With more eigenvectors the programme's matrix, m⁴ / 4 numbers, is applied and not formed (32 MB).
FORMED_EIGENVECTORS = 62


def point_squares(features: FloatArray) -> KernelProgramme:
    """Return Σ_i (f_iᵀ M f_i - 1)² as a programme for M: every point should have length one.

    Parameters
    ----------
    features : array of shape (n, m)
        The rows f_i. All of them enter, yet the programme has m (m + 1) / 2 unknowns for any n.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.methods.ccsr.estimator import point_squares
    >>> squares = point_squares(np.array([[1.0, 0.0], [0.0, 2.0]]))
    >>> squares.objective(np.eye(2))  # (1 - 1)² + (4 - 1)²
    9.0
    """
    n_points, size = features.shape
    n_unknowns = size * (size + 1) // 2
    squares = KernelProgramme(np.zeros((n_unknowns, n_unknowns)), np.zeros(n_unknowns), 0.0)
    # Of many points the eigenvectors are rough; their products need no more than single precision.
    features = features.astype(np.float32 if n_points > LARGE else np.float64)
    scale = svec(np.ones((size, size))).astype(features.dtype)
    for start in range(0, n_points, CHUNK):
        lifted = _products(features[start : start + CHUNK]) * scale
        moments = (lifted.T @ lifted).astype(np.float64)
        squares += KernelProgramme(moments, lifted.sum(axis=0, dtype=np.float64), float(len(lifted)))
    return squares


def link_squares(features: FloatArray, constraints: Constraints) -> KernelProgramme:
    """Return Σ_{i<j} |Q_ij| (f_iᵀ M f_j - t_ij)² as a programme for M, t_ij = 1 on must-links, 0 on others.

    Pairs are never listed. With z_i = f_i ⊗ f_i, the coefficient of M_ar M_bs is the sum over pairs of
    |Q_ij| f_ia f_ib f_jr f_js, an entry of Zᵀ |Q| Z; and |Q| is only ever applied to a block, which costs
    the labels of c points O(c).

    Parameters
    ----------
    features : array of shape (n, m)
        The rows f_i.
    constraints : Constraints
        On the same n points, with at least one pair.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut import Constraints
    >>> from sidecut.methods.ccsr.estimator import link_squares
    >>> features = np.array([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0]])
    >>> links = Constraints.from_pairs(3, must_link=[(0, 1)], cannot_link=[(1, 2)])
    >>> round(link_squares(features, links).objective(np.eye(2)), 6)  # (0.6 - 1)² + 0.8²
    0.8
    """
    beliefs, points = constraints.with_diagonal(0.0).restricted()
    together = beliefs.must_part()
    rows = features[points]
    products = _products(rows)
    # |Q| = 2 max(Q, 0) - Q; every pair enters the sums twice, as (i, j) and as (j, i).
    strength = 2.0 * together.apply(products) - beliefs.apply(products)
    return KernelProgramme(
        _pair(0.5 * products.T @ strength, features.shape[1]),
        svec(0.5 * rows.T @ together.apply(rows)),
        0.5 * together.total(),
    )


def _products(rows: FloatArray) -> FloatArray:
    """Return f_a f_b for every row and every place (a, b) of the upper triangle."""
    first, second = upper_triangle(rows.shape[1])
    return rows[:, first] * rows[:, second]


def _pair(moments: FloatArray, size: int) -> FloatArray:
    """Turn Σ |Q_ij| f_ia f_ib f_jr f_js from places (ab, rs) to places (ar, bs), in the scale of svec."""
    first, second = upper_triangle(size)
    place = np.empty((size, size), dtype=np.intp)
    place[first, second] = place[second, first] = np.arange(len(first))
    # With u = ar and v = bs, the two orders of each place are averaged: M is symmetric.
    a, r = first[:, None], second[:, None]
    b, s = first[None, :], second[None, :]
    averaged = 0.5 * (moments[place[a, b], place[r, s]] + moments[place[a, s], place[r, b]])
    averaged = 0.5 * (averaged + averaged.T)
    scale = svec(np.ones((size, size)))
    return scale[:, None] * averaged * scale


class CCSR(Safeguarded, SpectralClusterer):
    """Constrained clustering via spectral regularisation (Li, Liu & Tang, 2009).

    The first m eigenvectors F of the graph are adapted to the links: K = F M Fᵀ should be 1 on must-links, 0
    on cannot-links and 1 on the diagonal, as nearly as any M ⪰ 0 allows. That is a semidefinite programme
    whose size depends on m alone. The rows of F M^{1/2} are clustered. What F cannot express, links cannot
    change: they reach all points, and none of them alone can do much harm.

    Parameters
    ----------
    n_clusters : int, default=8
        The number of clusters.
    n_eigenvectors : int or None, default=None
        m. None is 15, as in the paper, or five more than there are clusters if that is more.
    ridge : float, default=0.5
        How strongly M is pulled towards the normalised cut's own, 1 on the first `n_clusters` eigenvectors
        and 0 on the others, relative to the mean curvature of the squares. 0 is the paper's programme, which
        a few links leave all but undetermined.
    affinity : str or GraphRecipe, default="knn"
        How data become a graph: "knn", "gaussian", "self_tuning", "heat", "cosine", a recipe, or
        "precomputed".
    n_neighbors : int, default=20
        How many neighbours each point has in the graph of ``affinity="knn"``.
    unit_rows : bool, default=True
        Scale the rows of F to length one before the programme and those of F M^{1/2} before k-means. Without,
        F are the eigenvectors as they are.
    n_init : int, default=10
        How many starts k-means has.
    eigen_solver : {"auto", "dense", "lanczos", "factorized", "iterated"}, default="auto"
        See `sidecut.spectral.laplacian_eigenpairs`.
    hard : bool, default=False
        Finish with labels that satisfy all must-links and as many cannot-links as possible; `repair_` tells
        what it took.
    safe : bool, default=True
        Where little is known, keep the answer without constraints if that satisfies all of it, or if what is
        known speaks too weakly for another. False follows the constraints whatever it costs.
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
        The cluster of every point, numbered in order of first appearance. Where the normalised cut satisfies
        as many links as F M^{1/2} does, its clusters (but for ``ridge=0``, the paper's).
    judgement_ : Judgement
        With `safe`, where little is known: which answer was kept, and why.
    embedding_ : array of shape (n_samples, n_eigenvectors)
        F M^{1/2}, what was handed to the labelling; without constraints the normalised cut's.
    programme_ : ProgrammeSolution
        M, the mean square that is left with the pull of the ridge, and how exactly the programme was solved;
        only with constraints.
    eigenvalues_, eigenvectors_ : arrays of shape (n_eigenvectors,) and (n_samples, n_eigenvectors)
        Of the normalised Laplacian, smallest first, before any scaling.
    affinity_matrix_ : Graph
        The graph that was cut.
    solution_ : Eigenpairs
        The eigenpairs with their residuals, the solver that ran and its certificate.
    repair_ : Repair
        With `hard`: which labels were changed to satisfy the links, at what cost, and what could not be.
    n_features_in_ : int
        Number of features seen in fit.

    See Also
    --------
    NCSC : Links as penalties on indicators.
    E2CP : Spreads what is known over the graph.

    References
    ----------
    Z. Li, J. Liu, X. Tang: Constrained clustering via spectral regularization. CVPR 2009.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sidecut import CCSR
    >>> from sidecut.constraints import sample_labels
    >>> X, y = load_iris(return_X_y=True)
    >>> known = sample_labels(y, 30, random_state=0)
    >>> model = CCSR(n_clusters=3, random_state=0).fit(X, constraints=known)
    >>> known.satisfaction(model.labels_) > 0.9
    True
    >>> model.programme_.status, model.programme_.matrix.shape
    ('Solved', (15, 15))
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_eigenvectors: int | None = None,
        ridge: float = 0.5,
        affinity: str | GraphRecipe = "knn",
        n_neighbors: int = 20,
        unit_rows: bool = True,
        n_init: int = 10,
        eigen_solver: str = "auto",
        hard: bool = False,
        safe: bool = True,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        super().__init__(
            n_clusters,
            affinity=affinity,
            n_neighbors=n_neighbors,
            unit_rows=unit_rows,
            n_init=n_init,
            eigen_solver=eigen_solver,
            hard=hard,
            n_jobs=n_jobs,
            verbose=verbose,
            random_state=random_state,
        )
        self.safe = safe
        self.n_eigenvectors = n_eigenvectors
        self.ridge = ridge

    def _check_parameters(self) -> None:
        super()._check_parameters()
        _check_n_eigenvectors(self.n_eigenvectors)
        _check_ridge(self.ridge)

    def _embed(self, graph: Graph, constraints: Constraints, rng: np.random.RandomState) -> FloatArray:
        pairs: Eigenpairs | None = self.__dict__.pop("_spectrum", None)
        if constraints.n_pairs == 0:
            self.__dict__.pop("programme_", None)
            if pairs is None:
                return super()._embed(graph, constraints, rng)
            self._remember(pairs.first(self.n_clusters))
            return self._plain_rows(graph, self.eigenvectors_)
        if pairs is None:
            # Those beyond the first K are among many that are close: on many points they need not be exact.
            pairs = laplacian_eigenpairs(
                graph,
                self._n_vectors(graph.n_nodes),
                solver=self.eigen_solver,
                accuracy="sketch" if graph.n_nodes > LARGE else "certified",
                random_state=rng,
            )
        self._remember(pairs)
        features = unit_rows(pairs.vectors) if self.unit_rows else np.sqrt(graph.n_nodes) * pairs.vectors
        self.programme_ = self._programme(features, constraints).solve()
        if not (self._is_guarded and is_little(constraints, self.n_clusters)):
            # Otherwise the answer without links is looked at anyway.
            self._plain = (constraints, self._plain_rows(graph, pairs.vectors[:, : self.n_clusters]))
        adapted = features @ _root(self.programme_.matrix)
        return unit_rows(adapted) if self.unit_rows else adapted

    def _twin(self) -> Self:
        twin = super()._twin()
        needed = self.eigenvalues_[: self.n_clusters]
        certified_below = self.solution_.certificate.certified_below
        if needed.size == self.n_clusters and needed[-1] <= certified_below:
            # The eigenvectors of the graph are the same whatever is known.
            twin._spectrum = self.solution_
        return twin

    def _plain_rows(self, graph: Graph, vectors: FloatArray) -> FloatArray:
        """What the normalised cut hands to k-means."""
        rows = graph.scale[:, None] * vectors
        return unit_rows(rows) if self.unit_rows else rows

    def _assign_labels(self, embedding: FloatArray, rng: np.random.RandomState) -> IntArray:
        """Return the clusters of F M^{1/2}, or the plain cut's where those satisfy as many links.

        A few links leave M nearly free, and what it then does to the points without links is chance.
        """
        labels = super()._assign_labels(embedding, rng)
        constraints, rows = self.__dict__.pop("_plain", (None, None))
        if constraints is None or self.ridge == 0:
            return labels
        satisfied = constraints.satisfaction(labels)
        if len(rows) > LARGE:
            # To cluster all the rows of the plain cut takes as long as it took to cluster these.
            rough = constraints.satisfaction(rough_labels(rows, self.n_clusters))
            if satisfied > rough + CLEARLY:
                return labels
        plain = super()._assign_labels(rows, rng)
        return labels if satisfied > constraints.satisfaction(plain) else plain

    def _n_vectors(self, n_nodes: int) -> int:
        if self.n_eigenvectors is None:
            return min(max(USUAL_EIGENVECTORS, self.n_clusters + SPARE_EIGENVECTORS), n_nodes)
        if self.n_eigenvectors > n_nodes:
            raise ValueError(
                f"n_eigenvectors={self.n_eigenvectors} is more than the n_samples={n_nodes} points there are."
            )
        return self.n_eigenvectors

    def _programme(self, features: FloatArray, constraints: Constraints) -> KernelProgramme:
        if features.shape[1] > FORMED_EIGENVECTORS:
            return factored_programme(features, constraints, self.ridge, self.n_clusters)
        squares = point_squares(features) + link_squares(features, constraints)
        # A mean rather than a sum: the solver's tolerances are absolute as well as relative.
        beliefs = constraints.with_diagonal(0.0)
        total = len(features) + 0.5 * (2.0 * beliefs.must_part().total() - beliefs.total())
        cut = np.diag((np.arange(features.shape[1]) < self.n_clusters).astype(np.float64))
        return squares.scaled(1.0 / total).with_ridge(self.ridge, cut)


def factored_programme(
    features: FloatArray, constraints: Constraints, ridge: float, n_clusters: int
) -> KernelProgramme:
    """Return the mean of the squares of points and links with the pull of the ridge, its H never formed.

    It is ``(point_squares + link_squares).scaled(1 / total).with_ridge(ridge, cut)`` in O(n m + pairs)
    memory.
    """
    beliefs, points = constraints.with_diagonal(0.0).restricted()
    together, rows = beliefs.must_part(), features[points]
    hessian = FactoredHessian(features, rows, beliefs.pairs, np.abs(beliefs.strengths))
    factor = 1.0 / (len(features) + float(hessian.strengths.sum()))
    pull = ridge * factor * hessian.trace() / (features.shape[1] * (features.shape[1] + 1) // 2)
    cut = svec(np.diag((np.arange(features.shape[1]) < n_clusters).astype(np.float64)))
    targets = features.T @ features + 0.5 * rows.T @ together.apply(rows)
    constant = factor * (len(features) + 0.5 * together.total()) + pull * float(cut @ cut)
    return KernelProgramme(
        replace(hessian, factor=factor, pull=pull), factor * svec(targets) + pull * cut, constant
    )


def _root(matrix: FloatArray) -> FloatArray:
    """Return M^{1/2}."""
    values, vectors = np.linalg.eigh(matrix)
    return (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T


def _check_n_eigenvectors(n_eigenvectors: Any) -> None:
    is_whole = isinstance(n_eigenvectors, int | np.integer) and not isinstance(n_eigenvectors, bool)
    if n_eigenvectors is not None and (not is_whole or n_eigenvectors < 1):
        raise ValueError(
            f"n_eigenvectors={n_eigenvectors!r} must be a whole number, at least 1, or None for "
            f"{USUAL_EIGENVECTORS}, and more with many clusters."
        )


def _check_ridge(ridge: Any) -> None:
    if not is_number(ridge) or not 0 <= ridge < np.inf:
        raise ValueError(f"ridge={ridge!r} must be a number, at least 0; 0 is the paper's programme.")
