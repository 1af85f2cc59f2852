"""E2CP, exhaustive and efficient constraint propagation (Lu & Ip, 2010), without an N x N matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from sidecut.arrays import FloatArray, IntArray
from sidecut.constraints import Constraints
from sidecut.exceptions import ConstraintWarning, warn
from sidecut.graphs import FactorGraph, Graph, GraphRecipe
from sidecut.graphs.lazy import rows_of, tile_rows
from sidecut.graphs.resolvent import ResolventGraph
from sidecut.labelling import LabellingMethod, unit_rows
from sidecut.methods.base import SpectralClusterer
from sidecut.methods.e2cp.adjustment import AdjustedGraph, adjust_graph, extend_rows
from sidecut.methods.e2cp.grouped import BeliefsAt, adjust_smoothly, beliefs_at, measure_error
from sidecut.methods.e2cp.lowrank import LowRankMatrix
from sidecut.methods.e2cp.positive_part import TiledPart
from sidecut.methods.e2cp.propagation import (
    PropagatedConstraints,
    are_labels,
    propagate,
    propagate_labels,
)
from sidecut.methods.e2cp.smooth import SmoothBeliefs, label_beliefs, leading_basis, smooth_beliefs
from sidecut.methods.extension import OutOfSample
from sidecut.methods.safeguard import Safeguarded
from sidecut.parameters import check_choice
from sidecut.spectral import Eigenpairs, laplacian_eigenpairs

EIGENVECTORS = ("leading", "nontrivial")
#: Graphs of more nodes than this may be adjusted approximately.
APPROXIMATE_FROM = 2_000
#: Where rows of the graph would differ by more than this share from eq. 4, graphs of up to so many nodes are
#: adjusted exactly; larger ones are warned about. On moons and rings in the plane, where most entries of F
#: are small and of either sign, clusters are those of the exact method up to an error of 0.6.
LARGEST_ERROR = 0.7
EXACT_NODES = 8_000
#: Labels are spread to this residual there, far below what grouping the points changes.
ROUGH = 1e-5
#: Propagated pairs are kept by so many eigenvectors for every cluster, and no fewer than the second number:
#: two rings in the plane are not told apart by ten.
VECTORS_PER_CLUSTER = 2
FEWEST_VECTORS = 20
#: A product with the adjusted graph that costs more multiplications than this takes a minute or more.
DEAR_PRODUCT = 1e12


class E2CP(Safeguarded, OutOfSample, SpectralClusterer):
    """Exhaustive and efficient constraint propagation (Lu & Ip, 2010).

    What is known about some pairs is propagated along the graph to all pairs, F = P Z P (eq. 3); then every
    weight is raised or lowered by what has arrived (eq. 4), and the graph is cut. Constraints reach the
    neighbours of their ends, so a few move a whole cluster. F has entries everywhere but low rank: it is kept
    as a factor, and the adjusted graph is only applied where it would not fit in memory.

    Parameters
    ----------
    n_clusters : int, default=8
        K, the number of clusters.
    alpha : float, default=0.8
        How far constraints spread, between 0 and 1 (α of eq. 3).
    rescale : bool, default=True
        Divide F by its largest |F_ij| before eq. 4. As printed, without, few constraints spread over many
        points become too faint to matter.
    eigenvectors : {"leading", "nontrivial"}, default="leading"
        The K leading eigenvectors, or as printed the K that follow D̃^{1/2} 1.
    approximate : bool or "auto", default="auto"
        Whether W̃ may be computed approximately on a sparse graph of more than 2,000 points, in time linear in
        the number of points and pairs; "auto" does, False never. F is then kept by a few eigenvectors and its
        entries at the pairs, for labels as it is; and what it adds to W is one number for every two of
        200 groups of points. `approximation_error_` says how much that changes. Where it is more than 0.7,
        "auto" is exact up to 8,000 points, and a warning is given otherwise.
    affinity : str or GraphRecipe, default="knn"
        How data become a graph: "knn", "gaussian", "self_tuning", "heat", "cosine", a recipe, or
        "precomputed". Weights above 1 are taken relative to the largest.
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
        The cluster of every point, numbered in order of first appearance.
    judgement_ : Judgement
        With `safe`, where little is known: which answer was kept, and why.
    propagated_constraints_ : PropagatedConstraints
        F of eq. 3, exact and not rescaled, computed when it is first asked for; `strongest` lists its
        strongest pairs, `sample` draws constraints that other learners can use.
    approximation_error_ : float
        By how much the rows of W̃ differ from eq. 4, as a share of the degree: measured at 8 random points,
        their mean. 0 where W̃ is exact.
    embedding_ : array of shape (n_samples, n_clusters)
        What was handed to the labelling.
    eigenvalues_, eigenvectors_ : arrays of shape (n_clusters,) and (n_samples, n_clusters)
        Of the normalised Laplacian of the adjusted graph, smallest first.
    affinity_matrix_ : Graph
        W̃ of eq. 4, the graph that was cut.
    solution_ : Eigenpairs
        The eigenpairs with their residuals, the solver that ran and its certificate.
    repair_ : Repair
        With `hard`: which labels were changed to satisfy the links, at what cost, and what could not be.
    n_features_in_ : int
        Number of features seen in fit.

    See Also
    --------
    CSP : Cuts that satisfy the constraints; strong with labels.
    CSAP : Links that change the affinity around them.
    NormalizedCut : The same cut with nothing known.

    References
    ----------
    Z. Lu, H. H. S. Ip: Constrained spectral clustering via exhaustive and efficient constraint propagation.
    ECCV 2010.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from sidecut import E2CP
    >>> from sidecut.constraints import sample_labels
    >>> X, y = make_moons(300, noise=0.15, random_state=0)
    >>> known = sample_labels(y, 10, random_state=0)
    >>> model = E2CP(n_clusters=2, random_state=0).fit(X, constraints=known)
    >>> bool((model.labels_ == model.labels_[y.argmin()])[y == 0].mean() > 0.95)
    True
    >>> model.propagated_constraints_
    PropagatedConstraints(n_samples=300, rank=2)
    """

    _beliefs: LowRankMatrix | SmoothBeliefs
    _told: tuple[Graph, Constraints]
    _propagated: PropagatedConstraints | None

    #: Two facts do good more often than harm: benchmarks/choices/caution.py.
    _fewest_facts = 2

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        alpha: float = 0.8,
        rescale: bool = True,
        eigenvectors: str = "leading",
        approximate: bool | str = "auto",
        affinity: str | GraphRecipe = "knn",
        n_neighbors: int = 20,
        labelling: LabellingMethod = "kmeans",
        assign_labels: str | None = None,
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
            labelling=labelling,
            assign_labels=assign_labels,
            unit_rows=unit_rows,
            n_init=n_init,
            eigen_solver=eigen_solver,
            hard=hard,
            n_jobs=n_jobs,
            verbose=verbose,
            random_state=random_state,
        )
        self.safe = safe
        self.alpha = alpha
        self.rescale = rescale
        self.eigenvectors = eigenvectors
        self.approximate = approximate

    def _fit(self, X: Any, constraints: Constraints | None) -> None:
        self.approximation_error_ = 0.0
        super()._fit(X, constraints)

    @property
    def propagated_constraints_(self) -> PropagatedConstraints:
        """F of eq. 3, exact and not rescaled; computed when it is first asked for."""
        check_is_fitted(self)
        return self._propagate()

    def _propagate(self) -> PropagatedConstraints:
        if self._propagated is None:
            self._propagated = propagate(*self._told, self.alpha)
        return self._propagated

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_alpha(self.alpha)
        check_choice("eigenvectors", self.eigenvectors, EIGENVECTORS)
        if self.approximate not in (True, False, "auto"):
            raise ValueError(f"approximate={self.approximate!r}: choose True, False or 'auto'.")

    def _constrain_graph(self, graph: Graph, constraints: Constraints) -> Graph:
        self._told, self._propagated = (graph, constraints), None
        is_large = graph.n_nodes > max(APPROXIMATE_FROM, self._n_vectors)
        if self.approximate and is_large and sp.issparse(graph.matrix):
            by_labels = are_labels(constraints)
            adjust = self._adjust_by_labels if by_labels else self._adjust_by_pairs
            quick = adjust(graph, constraints)
            if not self._is_too_coarse(graph):
                return quick
            self.approximation_error_ = 0.0
        self._beliefs = self._rescale(self._propagate().matrix)
        changed = adjust_graph(graph, self._beliefs, unit_weight(graph))
        warn_about_cost(changed)
        return changed

    @property
    def _n_vectors(self) -> int:
        return max(VECTORS_PER_CLUSTER * self.n_clusters, FEWEST_VECTORS)

    def _is_too_coarse(self, graph: Graph) -> bool:
        """Return whether the exact graph has to be made; warn where it should be and is not."""
        error = self.approximation_error_
        if error <= LARGEST_ERROR:
            return False
        if self.approximate == "auto" and graph.n_nodes <= EXACT_NODES:
            return True
        warn(
            f"The adjusted graph differs from eq. 4 by {error:.0%} of the degrees: the few "
            "eigenvectors it is made of miss too much. Use approximate=False, or labels in place of pairs.",
            ConstraintWarning,
        )
        return False

    def _rescale(self, beliefs: LowRankMatrix) -> LowRankMatrix:
        largest = beliefs.largest() if self.rescale else 1.0
        return beliefs.scaled(largest) if largest > 0 else beliefs

    def _adjust_by_labels(self, graph: Graph, constraints: Constraints) -> Graph:
        """Adjust the graph by F of labels, whose rank is the number of classes."""
        agreement = self._rescale(propagate_labels(graph, constraints, self.alpha, ROUGH))

        def exact_beliefs(points: IntArray) -> FloatArray:
            return agreement.block(slice(None), points)

        return self._adjust_smoothly(graph, label_beliefs(agreement), exact_beliefs)

    def _adjust_by_pairs(self, graph: Graph, constraints: Constraints) -> Graph:
        """Adjust the graph by F from a few eigenvectors and at the pairs."""
        rng = check_random_state(self.random_state)
        basis = leading_basis(graph, self._n_vectors, self.n_clusters, rng)
        beliefs = smooth_beliefs(graph, constraints, self.alpha, basis)
        largest = float(np.abs(beliefs.at_pairs()).max()) if self.rescale else 1.0
        scale = largest if largest > 0 else 1.0

        def exact_beliefs(points: IntArray) -> FloatArray:
            return beliefs_at(graph, constraints, self.alpha, points) / scale

        return self._adjust_smoothly(graph, beliefs.scaled(scale), exact_beliefs)

    def _adjust_smoothly(self, graph: Graph, beliefs: SmoothBeliefs, exact_beliefs: BeliefsAt) -> Graph:
        self._beliefs = beliefs
        rng, unit = check_random_state(self.random_state), unit_weight(graph)
        changed = adjust_smoothly(graph, beliefs, unit, rng)
        self.approximation_error_ = measure_error(graph, changed, exact_beliefs, unit, rng)
        return changed

    def _embed(self, graph: Graph, constraints: Constraints, rng: np.random.RandomState) -> FloatArray:
        if constraints.is_empty:
            self._told = graph, constraints
            self._propagated = propagate(graph, constraints, self.alpha)
            self._beliefs = self._propagated.matrix
        if self.eigenvectors == "leading" or self._labelling == "sign":
            return super()._embed(graph, constraints, rng)
        count = min(self.n_clusters + 1, graph.n_nodes)
        pairs = laplacian_eigenpairs(graph, count, solver=self.eigen_solver, random_state=rng)
        pairs = nontrivial(graph, pairs)
        self._remember(pairs)
        relaxed = graph.scale[:, None] * pairs.vectors
        return unit_rows(relaxed) if self.unit_rows else relaxed

    def _extended(self, edges: sp.csr_array) -> FloatArray:
        before = self._seen[1]
        relaxed = self.affinity_matrix_.scale[:, None] * self.eigenvectors_
        unit = unit_weight(before)
        rows = extend_rows(edges, before, self._beliefs, self.alpha, unit, relaxed, self.eigenvalues_)
        if self._labelling == "sign":
            return rows[:, 1:]
        return unit_rows(rows) if self.unit_rows else rows


def nontrivial(graph: Graph, pairs: Eigenpairs) -> Eigenpairs:
    """Return eigenpairs without the trivial D^{1/2} 1, one fewer.

    In a graph of several components eigenvalue 0 is multiple and no eigenvector is D^{1/2} 1 itself; so it is
    projected out of their span.

    Parameters
    ----------
    graph : Graph
        The graph.
    pairs : Eigenpairs
        Of its normalised Laplacian, smallest first.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.graphs import as_graph
    >>> from sidecut.methods.e2cp.estimator import nontrivial
    >>> from sidecut.spectral import laplacian_eigenpairs
    >>> two = as_graph(np.kron(np.eye(2), np.ones((2, 2))))
    >>> np.abs(nontrivial(two, laplacian_eigenpairs(two, 2)).vectors.ravel())
    array([0.5, 0.5, 0.5, 0.5])
    """
    share = pairs.vectors.T @ np.sqrt(graph.degrees)
    # Eigenvectors of other eigenvalues are orthogonal to D^{1/2} 1 but for rounding.
    share[pairs.values > pairs.values[0]] = 0.0
    # The other columns of an orthogonal matrix whose first is along the share span what is left.
    complement = np.linalg.qr(np.column_stack([share, np.eye(share.size)[:, 1:]]))[0][:, 1:]
    return Eigenpairs(
        values=pairs.values[1:],
        vectors=pairs.vectors @ complement,
        residuals=np.abs(complement).T @ pairs.residuals,
        solver=pairs.solver,
        certificate=pairs.certificate,
    )


def check_alpha(alpha: float) -> None:
    """Refuse an α that is not between 0 and 1."""
    is_number = isinstance(alpha, int | float | np.number) and not isinstance(alpha, bool)
    if not is_number or not 0.0 < alpha < 1.0:
        raise ValueError(
            f"alpha={alpha!r} must lie between 0 and 1, both excluded: 0 propagates nothing, 1 without end."
        )


def unit_weight(graph: Graph) -> float:
    """Return the weight a fact has: 1, or the largest weight of the graph where that is more.

    Eq. 4 takes weights in [0, 1]. Where they are larger it would lower the weight of pairs that belong
    together; so it is applied to W divided by its largest weight, which changes no cut.
    """
    if graph.matrix is not None:
        return max(1.0, float(graph.matrix.max()))
    # Other graphs that are only applied or made in tiles, such as heat and codes, have no weight above 1.
    if not isinstance(graph, ResolventGraph | FactorGraph):
        return 1.0
    return max(1.0, *(float(rows_of(graph, rows).max()) for rows in tile_rows(graph.n_nodes)))


def warn_about_cost(graph: Graph) -> None:
    """Warn where every product with an adjusted graph takes so long that a fit takes hours."""
    if not isinstance(graph, AdjustedGraph) or not isinstance(graph.joined, TiledPart):
        return
    cost = graph.joined.product_cost
    if cost > DEAR_PRODUCT:
        warn(
            f"Constraints on {graph.beliefs.rank:,} of {graph.n_nodes:,} points: every product with the "
            f"adjusted graph costs {cost:.0e} multiplications, and eigenvectors need a hundred or more. "
            "Labels in place of pairs, pairs on fewer points, or a sample of the points cost a fraction.",
            ConstraintWarning,
        )
