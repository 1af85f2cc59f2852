"""LCSC, must-links as a linear subspace (Yu & Shi, 2004), by contraction: exact, sparse and near-linear."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from sidecut.arrays import FloatArray, IntArray
from sidecut.constraints import Constraints
from sidecut.exceptions import ConflictError, ConstraintError, ConstraintWarning, warn
from sidecut.graphs import DenseGraph, Graph, GraphRecipe, SparseGraph
from sidecut.labelling import LabellingMethod, unit_rows
from sidecut.methods.base import SpectralClusterer
from sidecut.methods.safeguard import Safeguarded
from sidecut.parameters import check_choice
from sidecut.spectral import Eigenpairs, laplacian_eigenpairs
from sidecut.spectral.problem import orient

__all__ = ["LCSC", "solve_joined"]

CANNOT_LINKS = ("warn", "ignore", "raise")


class LCSC(Safeguarded, SpectralClusterer):
    """Linearly constrained spectral clustering (Yu & Shi, 2004): must-links hold exactly, UᵀY = 0.

    Points joined by must-links have equal indicators, so each set of them is one node: the normalised cut of
    the contracted graph CᵀWC is the constrained normalised cut of the points, with Y = CŶ. Nothing is
    projected, and cycles of must-links, which make UᵀD⁻¹U singular, do no harm. Every must-link is hard,
    however weakly it is believed.

    Parameters
    ----------
    n_clusters : int, default=8
        The number of clusters.
    cannot_links : {"warn", "ignore", "raise"}, default="warn"
        What to do with cannot-links, which the method cannot use: say so, leave them out in silence, or
        refuse them. `NCSC`, `CSP`, `CCSR` and `E2CP` use both kinds.
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
    hard : bool, default=False
        Finish with labels that satisfy as many cannot-links as possible too; `repair_` tells what it took.
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
        The cluster of every point; points joined by must-links always share theirs.
    judgement_ : Judgement
        With `safe`, where little is known: which answer was kept, and why.
    embedding_ : array of shape (n_samples, n_clusters)
        What was handed to the labelling; equal rows for points joined by must-links.
    eigenvalues_, eigenvectors_ : arrays of shape (n_clusters,) and (n_samples, n_clusters)
        Of the normalised Laplacian on the subspace UᵀD^{-1/2}V = 0, smallest first.
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
    NCSC : Cannot-links too, as penalties.

    References
    ----------
    S. X. Yu, J. Shi: Segmentation given partial grouping constraints. IEEE Transactions on Pattern Analysis
    and Machine Intelligence 26, 2004.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from sidecut import LCSC, Constraints
    >>> X, y = make_moons(200, noise=0.1, random_state=0)
    >>> links = Constraints.from_pairs(200, must_link=[(i, i + 50) for i in range(50) if y[i] == y[i + 50]])
    >>> model = LCSC(n_clusters=2, random_state=0).fit(X, constraints=links)
    >>> links.satisfaction(model.labels_)
    1.0
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        cannot_links: str = "warn",
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
        self.cannot_links = cannot_links

    def _hold_links(self, constraints: Constraints) -> None:
        """Put every must-linked set into the cluster most of it is in."""
        sets = constraints.must_link_components()
        votes = np.zeros((int(sets.max()) + 1, self.n_clusters))
        np.add.at(votes, (sets, self.labels_), 1.0)
        self.labels_ = votes.argmax(axis=1)[sets]

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("cannot_links", self.cannot_links, CANNOT_LINKS)

    def _embed(self, graph: Graph, constraints: Constraints, rng: np.random.RandomState) -> FloatArray:
        if constraints.is_empty:
            return super()._embed(graph, constraints, rng)
        if self.cannot_links != "ignore":
            refuse_cannot_links(constraints, self.cannot_links)
        needed = max(self.n_clusters, 2) if self._labelling == "sign" else self.n_clusters
        sets = constraints.must_link_components()
        pairs = solve_joined(graph, sets, needed, solver=self.eigen_solver, random_state=rng)
        self._remember(pairs)
        relaxed = join_rows(graph, sets, pairs.vectors)
        if self._labelling == "sign":
            return relaxed[:, 1:]
        return unit_rows(relaxed) if self.unit_rows else relaxed


def solve_joined(
    graph: Graph,
    sets: IntArray,
    n_vectors: int,
    *,
    solver: str = "auto",
    accuracy: str = "certified",
    random_state: int | np.random.RandomState | None = None,
    joined: Graph | None = None,
) -> Eigenpairs:
    """Return the smallest eigenpairs of the normalised Laplacian among vectors constant on sets of points.

    With C the membership of the points, minimising tr(YᵀLY) subject to YᵀDY = I and Y = CŶ is minimising
    tr(ŶᵀCᵀLCŶ) subject to ŶᵀCᵀDCŶ = I: the normalised cut of the contracted graph, whose degrees are CᵀDC.
    Its certificate is therefore theirs.

    Parameters
    ----------
    graph : Graph
        The graph of the points.
    sets : array of shape (n,)
        The set of every point, numbered from 0 without gaps.
    n_vectors : int
        How many; fewer come back, with a warning, where there are fewer sets.
    solver, accuracy, random_state
        As in `sidecut.spectral.laplacian_eigenpairs`.
    joined : Graph, optional
        The contracted graph, where the caller has it already.

    Returns
    -------
    Eigenpairs
        Unit vectors V = D^{1/2} Y on the points.

    Warns
    -----
    ConstraintWarning
        If must-links leave fewer sets than vectors asked for.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.graphs import as_graph
    >>> from sidecut.methods.ncsc.lcsc import solve_joined
    >>> square = as_graph(np.array([[0, 1, 0, 1], [1, 0, 1, 0], [0, 1, 0, 1], [1, 0, 1, 0.0]]))
    >>> pairs = solve_joined(square, np.array([0, 0, 1, 1]), 2)
    >>> pairs.values.round(6) + 0.0
    array([0., 1.])
    """
    small = contract_graph(graph, sets) if joined is None else joined
    if small.n_nodes < n_vectors:
        warn(
            f"must-links join the {graph.n_nodes} points into {small.n_nodes} sets, fewer than the "
            f"{n_vectors} clusters asked for: at most {small.n_nodes} clusters can be told apart. Ask for "
            "fewer clusters, or give fewer must-links.",
            ConstraintWarning,
        )
    pairs = laplacian_eigenpairs(
        small, min(n_vectors, small.n_nodes), solver=solver, accuracy=accuracy, random_state=random_state
    )
    if small is graph:
        return pairs
    roots = np.sqrt(graph.degrees)
    lifted = roots[:, None] * (small.scale[:, None] * pairs.vectors)[sets]
    return Eigenpairs(pairs.values, orient(lifted), pairs.residuals, pairs.solver, pairs.certificate)


def join_rows(graph: Graph, sets: IntArray, vectors: FloatArray) -> FloatArray:
    """Return Y = D^{-1/2} V, in which the points of a set have equal rows.

    A point without neighbours has no row of its own: D^{1/2} Y is zero there. It takes the row of its set.
    """
    relaxed = graph.scale[:, None] * vectors
    with_row = np.flatnonzero(graph.degrees > 0)
    speaker = np.full(int(np.max(sets)) + 1, -1)
    speaker[sets[with_row]] = with_row
    chosen = speaker[sets]
    # One point speaks for its set, so that rows are equal to the last bit and can never be labelled apart.
    return np.where((chosen >= 0)[:, None], relaxed[chosen], 0.0)


def refuse_cannot_links(constraints: Constraints, how: str) -> None:
    """Warn about cannot-links that are not used, or refuse them.

    Parameters
    ----------
    constraints : Constraints
        What is known.
    how : {"warn", "raise"}
        What to do about cannot-links that do not contradict the must-links.

    Raises
    ------
    ConflictError
        If they contradict the must-links: then labels that keep all must-links are known to be wrong.
    ConstraintError
        If there are any and `how` is "raise".
    """
    n_apart = constraints.n_cannot_link
    if n_apart == 0:
        return
    if conflicts := constraints.conflicts(max_chains=1):
        raise ConflictError(
            f"{conflicts[0]}, and LCSC keeps every must-link. Call without_conflicts() first, leave the "
            "cannot-links out with cannot_links='ignore', or use NCSC or CSP, which weigh beliefs.",
            conflicts,
        )
    message = (
        f"LCSC cannot use cannot-links, and {n_apart} are given: only the {constraints.n_must_link} "
        "must-links count. NCSC, CSP, CCSR and E2CP use both; cannot_links='ignore' leaves them out."
    )
    if how == "raise":
        raise ConstraintError(message)
    warn(message, ConstraintWarning)


# A graph whose nodes are sets of points: points that belong together, taken as one.


class ContractedGraph(Graph):
    """The graph CᵀWC of sets of points, where W is only ever applied; C has one column of ones per set.

    The degree of a set is the sum of the degrees of its points, and the weights inside it are a self-loop, so
    that the normalised cut of the sets is the normalised cut of the points that keeps every set whole.

    Parameters
    ----------
    graph : Graph
        W, in any form.
    sets : array of shape (n_points,)
        The set of every point, numbered from 0 without gaps.
    """

    def __init__(self, graph: Graph, sets: IntArray) -> None:
        self.graph = graph
        self.membership = membership(sets)
        self.n_nodes = int(self.membership.shape[1])

    def apply(self, block: FloatArray) -> FloatArray:
        """Return CᵀWC @ block."""
        return np.asarray(self.membership.T @ self.graph.apply(self.membership @ block))


def membership(sets: IntArray) -> sp.csr_array:
    """Return C: one row per point, with a one in the column of its set.

    Examples
    --------
    >>> from sidecut.methods.ncsc.lcsc import membership
    >>> import numpy as np
    >>> membership(np.array([0, 1, 0])).toarray()
    array([[1., 0.],
           [0., 1.],
           [1., 0.]])
    """
    n_points = len(sets)
    shape = (n_points, int(np.max(sets)) + 1)
    return sp.csr_array((np.ones(n_points), sets, np.arange(n_points + 1)), shape=shape)


def contract_graph(graph: Graph, sets: IntArray) -> Graph:
    """Return the graph of sets of points, in the form the graph of the points has.

    Parameters
    ----------
    graph : Graph
        The graph of the points.
    sets : array of shape (n_points,)
        The set of every point, numbered from 0 without gaps.

    Returns
    -------
    Graph
        With a weight between two sets that is the sum of the weights between their points.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.graphs import as_graph
    >>> from sidecut.methods.ncsc.lcsc import contract_graph
    >>> path = as_graph(np.array([[0, 2, 0], [2, 0, 1], [0, 1, 0.0]]))
    >>> contract_graph(path, np.array([0, 1, 0])).toarray()
    array([[0., 3.],
           [3., 0.]])
    """
    if np.array_equal(sets, np.arange(graph.n_nodes)):
        return graph
    weights = graph.matrix
    if weights is None:
        return ContractedGraph(graph, sets)
    C = membership(sets)
    if sp.issparse(weights):
        return SparseGraph(_symmetric(C.T @ weights @ C))
    return DenseGraph(_symmetric(C.T @ (C.T @ weights).T))


def _symmetric(weights: sp.csr_array | FloatArray) -> sp.csr_array | FloatArray:
    """Mirrored sums are added up in different orders; a graph is symmetric to the last bit."""
    return 0.5 * (weights + weights.T)
