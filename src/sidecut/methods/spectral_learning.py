"""Spectral learning (Kamvar, Klein & Manning, 2003): must-links have affinity one, cannot-links zero."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from sidecut.arrays import FloatArray
from sidecut.constraints import Constraints
from sidecut.graphs import CorrectedGraph, Graph, GraphRecipe, SparseGraph, correct_weights
from sidecut.labelling import LabellingMethod
from sidecut.methods.base import SpectralClusterer
from sidecut.methods.safeguard import Safeguarded
from sidecut.parameters import check_choice

#: Up to this many pairs are written into the graph; beyond, links within groups are only applied.
LISTED_PAIRS = 2_000_000


def link_affinity(graph: Graph, constraints: Constraints) -> Graph:
    """Return the affinity A with must-links set to one and cannot-links to zero.

    Degrees of belief |Q_ij| < 1 go part of the way: A_ij (1 - |Q_ij|) + max(Q_ij, 0). Strengths are taken
    relative to the strongest where one exceeds 1. The diagonal of A stays as it is.

    Parameters
    ----------
    graph : Graph
        A, in any form.
    constraints : Constraints
        Q.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut import Constraints
    >>> from sidecut.graphs import as_graph
    >>> from sidecut.methods.spectral_learning import link_affinity
    >>> graph = as_graph(np.array([[0.0, 0.5, 0.5], [0.5, 0.0, 0.5], [0.5, 0.5, 0.0]]))
    >>> known = Constraints.from_pairs(3, must_link=[(0, 1)], cannot_link=[(1, 2)])
    >>> link_affinity(graph, known).toarray()
    array([[0. , 1. , 0.5],
           [1. , 0. , 0. ],
           [0.5, 0. , 0. ]])
    """
    n_pairs = constraints.n_pairs
    if n_pairs == 0:
        return graph
    unit = max(1.0, constraints.largest_strength())
    if n_pairs > LISTED_PAIRS and sp.issparse(graph.matrix):
        return _with_applied_links(graph, constraints, unit)
    rows, columns = constraints.pairs.T
    # Divided, not multiplied by 1 / unit: 49 * (1 / 49) < 1 would leave an edge of 1e-16 at a cannot-link.
    strengths = constraints.strengths / unit
    change = np.maximum(strengths, 0.0) - np.abs(strengths) * graph.weights_at(rows, columns)
    upper = sp.csr_array((change, (rows, columns)), shape=(graph.n_nodes, graph.n_nodes))
    return correct_weights(graph, sp.csr_array(upper + upper.T))


def even_out_degrees(graph: Graph) -> Graph:
    """Return the graph with self-loops that make all degrees equal, A + d_max I - D.

    Its normalised affinity is the additive normalisation (A + d_max I - D) / d_max of Kamvar et al. (2003),
    which has the eigenvectors of the unnormalised Laplacian D - A. Isolated points get no loop: with one,
    each would be a component and take a cluster of its own.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.graphs import as_graph
    >>> from sidecut.methods.spectral_learning import even_out_degrees
    >>> path = as_graph(np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]]))
    >>> even_out_degrees(path).degrees
    array([2., 2., 2.])
    """
    degrees = graph.degrees
    loops = np.where(degrees > 0, degrees.max() - degrees, 0.0)
    return correct_weights(graph, sp.csr_array(sp.diags_array(loops)))


class SpectralLearning(Safeguarded, SpectralClusterer):
    """Spectral learning: set the affinity of must-links to one and of cannot-links to zero, then cut.

    The simplest way to use what is known, and the one every paper compares with. A link changes one
    weight of the graph and is not propagated to the neighbours of its ends.

    Parameters
    ----------
    n_clusters : int, default=8
        The number of clusters.
    normalization : {"sym", "additive"}, default="sym"
        The normalised Laplacian, as the papers that compare with the method use it, or the additive
        normalisation of the original.
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
    embedding_ : array of shape (n_samples, n_clusters)
        What was handed to the labelling.
    eigenvalues_, eigenvectors_ : arrays of shape (n_clusters,) and (n_samples, n_clusters)
        Of the normalised Laplacian of the constrained graph, smallest first.
    affinity_matrix_ : Graph
        The graph that was cut, links written into it (the self-loops of "additive" are not).
    solution_ : Eigenpairs
        The eigenpairs with their residuals, the solver that ran and its certificate.
    repair_ : Repair
        With `hard`: which labels were changed to satisfy the links, at what cost, and what could not be.
    n_features_in_ : int
        Number of features seen in fit.

    See Also
    --------
    E2CP : Spreads what is known beyond the pairs it is about.
    CSAP : Links change the affinity around them.

    References
    ----------
    S. Kamvar, D. Klein, C. Manning: Spectral learning. IJCAI 2003.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sidecut import Constraints, SpectralLearning
    >>> from sidecut.constraints import sample_labels
    >>> X, y = load_iris(return_X_y=True)
    >>> known = sample_labels(y, 30, random_state=0)
    >>> model = SpectralLearning(n_clusters=3, random_state=0).fit(X, constraints=known)
    >>> known.satisfaction(model.labels_) > 0.9
    True
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        normalization: str = "sym",
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
        self.normalization = normalization

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("normalization", self.normalization, ("sym", "additive"))

    def _constrain_graph(self, graph: Graph, constraints: Constraints) -> Graph:
        return link_affinity(graph, constraints)

    def _embed(self, graph: Graph, constraints: Constraints, rng: np.random.RandomState) -> FloatArray:
        # Self-loops change no cut, only the volumes it is measured by: they belong to the problem posed,
        # with constraints or without, and not to what is known.
        posed = even_out_degrees(graph) if self.normalization == "additive" else graph
        return super()._embed(posed, constraints, rng)


def _with_applied_links(graph: Graph, constraints: Constraints, unit: float) -> Graph:
    """Write Q into the edges there are, and apply the must-links, most of which are no edges, as groups."""
    edges = sp.coo_array(graph.matrix)
    beliefs = np.abs(constraints.entries(edges.row, edges.col)) / unit
    weights = edges.data * np.where(edges.row == edges.col, 1.0, 1.0 - beliefs)
    kept = SparseGraph(sp.csr_array((weights, (edges.row, edges.col)), shape=edges.shape))
    together = constraints.must_part().with_diagonal(0.0).scaled(1.0 / unit)
    return CorrectedGraph(kept, together.apply, _stars(together.must_link_components()))


def _stars(components: np.ndarray) -> sp.csr_array:
    """Return a graph that ties every component together with one edge per point."""
    n_points = components.size
    _, first, number = np.unique(components, return_index=True, return_inverse=True)
    points = np.arange(n_points)
    star = sp.csr_array((np.ones(n_points), (points, first[number])), shape=(n_points, n_points))
    return sp.csr_array(star + star.T)
