"""Constrained spectral clustering through affinity propagation (Lu & Carreira-Perpiñán, 2008)."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.linalg import eigvalsh

from sidecut.constraints import Constraints
from sidecut.exceptions import ConstraintError
from sidecut.graphs import ConditionedGraph, Graph, GraphRecipe, TiledGraph, columns_of, corrected
from sidecut.labelling import LabellingMethod
from sidecut.methods.base import FloatArray, SpectralClusterer
from sidecut.methods.inputs import check_choice
from sidecut.methods.rewriting.linked_kernel import (
    Observations,
    joined,
    observed_links,
    rival_updates,
    spent_factor,
)

IntArray = npt.NDArray[np.integer]

#: Up to this many points A is kept in memory (1.2 GB) where W is only applied, as heat is: a row of it costs
#: as much as a product. Where W is in memory, so is A; where W is computed in tiles, A is too.
APPLIED_IN_MEMORY = 12_000
#: Algorithm B takes up to this many cannot-links one by one; beyond, one for every two groups that hard
#: must-links make, which says the same to the order of ε² and costs less by the square of their size.
FEW_CANNOT_LINKS = 200
#: Where must-links are soft and their points differ, Algorithm B takes at most this many, one by one.
LISTED_CANNOT_LINKS = 2_000
#: Must-links with noise up to this make their points one, so that one cannot-link speaks for all of them.
HARD = 1e-3
#: A negative eigenvalue below this share of the largest is not rounding: the graph is no covariance there.
INDEFINITE = 1e-10


@dataclass(frozen=True)
class Links:
    """The links among the constrained points, numbered among themselves, with the noise of each."""

    points: IntArray
    must: npt.NDArray[np.int64]
    cannot: npt.NDArray[np.int64]
    eps_must: FloatArray
    eps_cannot: FloatArray
    groups: npt.NDArray[np.int64]

    @classmethod
    def of(cls, constraints: Constraints, eps_must: float, eps_cannot: float) -> Links:
        """Return the links of constraints; a pair of strength q has noise ε / √|q|, so M grows with q."""
        among, points = constraints.restricted()
        pairs, strengths = among.pairs, among.strengths
        together = strengths > 0
        return cls(
            points,
            pairs[together],
            pairs[~together],
            eps_must / np.sqrt(strengths[together]),
            eps_cannot / np.sqrt(-strengths[~together]),
            among.must_link_components(),
        )

    def must_observations(self) -> Observations:
        """What the must-links observe together."""
        return observed_links(len(self.points), self.must, self.eps_must, sign=-1)

    def cannot_observations(self) -> Observations:
        """What the cannot-links observe together."""
        return observed_links(len(self.points), self.cannot, self.eps_cannot, sign=1)

    def cannot_observations_apart(self) -> Observations:
        """What every cannot-link observes alone."""
        kept = self._speakers()
        return observed_links(len(self.points), self.cannot[kept], self.eps_cannot[kept], sign=1, merge=False)

    def _speakers(self) -> npt.NDArray[np.intp]:
        """The cannot-links to be taken one by one: all, or the hardest between every two linked groups."""
        is_soft = self.eps_must.max(initial=0.0) > HARD
        if len(self.cannot) <= (LISTED_CANNOT_LINKS if is_soft else FEW_CANNOT_LINKS):
            return np.arange(len(self.cannot))
        if is_soft:
            raise ConstraintError(
                f"Algorithm B takes cannot-links one by one; there are {len(self.cannot):,}, more than "
                f"{LISTED_CANNOT_LINKS:,}. With must-links of noise up to {HARD:g} one would do for two "
                f"linked groups, but theirs is up to {self.eps_must.max():g}. Use a smaller eps_must, fewer "
                "links, or algorithm='A'."
            )
        order = np.argsort(self.eps_cannot, kind="stable")
        between = np.sort(self.groups[self.cannot[order]], axis=1)
        return np.sort(order[np.unique(between, axis=0, return_index=True)[1]])


def prior_columns(graph: Graph, points: IntArray) -> tuple[FloatArray, float]:
    """Return the columns of the covariance K at some points, and how much its diagonal was raised.

    K is the affinity of the graph, where a point without a self-loop has affinity one with itself, as in a
    Gaussian kernel. Where the affinities between the points are no covariance even so (k-nearest-neighbour
    and self-tuning graphs need not be), the diagonal is raised by the least that makes them one.

    Parameters
    ----------
    graph : Graph
        The affinities.
    points : array of shape (c,)
        The points.

    Returns
    -------
    columns : array of shape (n, c)
        K[:, points].
    shift : float
        What was added to every K_ii beyond the ones.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.graphs import as_graph
    >>> from sidecut.methods.rewriting.csap import prior_columns
    >>> prior_columns(as_graph(np.array([[0.0, 0.5], [0.5, 0.0]])), np.array([0, 1]))
    (array([[1. , 0.5],
           [0.5, 1. ]]), 0.0)
    """
    columns = columns_of(graph, points)
    here = (points, np.arange(len(points)))
    columns[here] = np.where(columns[here] > 0, columns[here], 1.0)
    values = eigvalsh(columns[points])
    shift = -float(values[0]) if values[0] < -INDEFINITE * values[-1] else 0.0
    columns[here] += shift
    return columns, shift


def linked_graph(graph: Graph, columns: FloatArray, links: Links, algorithm: str) -> Graph:
    """Return the affinity A of Algorithm A or B, in memory if the graph is or could be.

    Algorithm A is max(0, K̄) with all links observed together. Algorithm B observes the must-links, which
    gives Kᵐ, and then every cannot-link alone. Each is a rank-one update u_k u_kᵀ of Kᵐ, so that the
    smallest of all is A_ij = max(0, Kᵐ_ij - max_k u_ik u_jk).

    Parameters
    ----------
    graph : Graph
        The affinities.
    columns : array of shape (n, c)
        The covariance at the linked points, see `prior_columns`.
    links : Links
        The links.
    algorithm : {"A", "B"}
        Which.
    """
    must = links.must_observations()
    if algorithm == "A":
        spent, rivals = spent_factor(columns, links.points, joined(must, links.cannot_observations())), None
    else:
        spent = spent_factor(columns, links.points, must)
        left = columns - spent @ spent[links.points].T
        rivals = rival_updates(left, links.points, links.cannot_observations_apart())
    conditioned = ConditionedGraph(graph, spent, rivals)
    return with_stranded_points(_kept(conditioned), graph, links)


def _kept(conditioned: ConditionedGraph) -> Graph:
    """Return A in the form W has, sparse, dense or in tiles; in memory if W is small and only applied."""
    graph = conditioned.graph
    if sp.issparse(graph.matrix):
        return conditioned.as_sparse()
    is_small = graph.n_nodes <= APPLIED_IN_MEMORY and not isinstance(graph, TiledGraph)
    return conditioned.materialized() if is_small or graph.matrix is not None else conditioned


def with_stranded_points(affinity: Graph, graph: Graph, links: Links) -> Graph:
    """Give points that links left without any affinity the one they had, their cannot-links apart.

    Clipping can leave a cannot-linked point nothing at all, and a cut can say nothing about such a point. It
    then keeps its row of W, but for the points that it cannot be with.

    Parameters
    ----------
    affinity : Graph
        A, where points may be stranded.
    graph : Graph
        W.
    links : Links
        The links.
    """
    stranded = np.setdiff1d(affinity.isolated, graph.isolated)
    if stranded.size == 0:
        return affinity
    before = columns_of(graph, stranded)
    place = np.full(graph.n_nodes, -1)
    place[stranded] = np.arange(stranded.size)
    ends = links.points[links.cannot]
    for node, other in (ends.T, ends.T[::-1]):
        here = place[node] >= 0
        before[other[here], place[node[here]]] = 0.0
    rows, columns = np.nonzero(before)
    restored = sp.csr_array((before[rows, columns], (rows, stranded[columns])), shape=(graph.n_nodes,) * 2)
    # A pair of stranded points is in it twice, any other once: the larger of the two mirror images is both.
    return corrected(affinity, sp.csr_array(restored.maximum(restored.T)))


class CSAP(SpectralClusterer):
    """Constrained spectral clustering through affinity propagation: links change the affinity around them.

    The affinity is read as the covariance of a Gaussian process, a smooth function f over the points. A
    must-link observes that f_i = f_j and a cannot-link that f_i = -f_j, up to noise; the affinity is then the
    covariance of what f can still be. A link so changes the affinities between all points near its ends.

    Parameters
    ----------
    n_clusters : int, default=8
        The number of clusters.
    algorithm : {"auto", "A", "B"}, default="auto"
        "A" observes all links together, which makes sense for two clusters: of two points that cannot be with
        a third it says that they are together. "B" observes every cannot-link alone and keeps the smallest
        affinity. "auto" is A for two clusters and B for more.
    eps_must, eps_cannot : float, default=1e-5
        ε_m and ε_c of eq. 3, the standard deviation of the noise; small is hard. A pair of strength q has
        noise ε / √|q|.
    affinity : str or GraphRecipe, default="knn"
        How data become a graph: "knn", "gaussian", "heat", "self_tuning", "cosine", a recipe, or
        "precomputed". The paper's are ``Gaussian(sigma, self_loops=True)`` with a width that suits the data,
        and ``Heat(20)``. Links reach as far as the affinity does: on "knn" to the neighbours of their points.
    n_neighbors : int, default=20
        How many neighbours each point has in the graph of ``affinity="knn"``.
    labelling : {"kmeans", "rotation", "qr", "sign"}, default="kmeans"
        How the embedding becomes labels.
    unit_rows : bool, default=True
        Scale every row of the embedding to length one before it is labelled.
    n_init : int, default=10
        How many starts the labelling has.
    eigen_solver : {"auto", "dense", "lanczos", "factorized", "iterated"}, default="auto"
        See `sidecut.spectral.laplacian_eigenpairs`.
    random_state : int, RandomState or None, default=None
        An int makes the result reproducible.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        The cluster of every point, numbered in order of first appearance.
    affinity_matrix_ : Graph
        A, the affinity that was cut.
    diagonal_shift_ : float
        What the variance of every point was raised by so that the graph is a covariance on the constrained
        points; 0 for Gaussian and heat kernels.
    embedding_ : array of shape (n_samples, n_clusters)
        What was handed to the labelling.
    eigenvalues_, eigenvectors_ : arrays of shape (n_clusters,) and (n_samples, n_clusters)
        Of the normalised Laplacian of A, smallest first.
    solution_ : Eigenpairs
        The eigenpairs with their residuals, the solver that ran and its certificate.
    n_features_in_ : int
        Number of features seen in fit.

    Examples
    --------
    One must-link between two of three clusters makes them one:

    >>> import numpy as np
    >>> from sidecut import CSAP, Constraints
    >>> from sidecut.graphs import Gaussian
    >>> X = np.concatenate([np.linspace(0, 3, 15), np.linspace(20, 23, 15), np.linspace(40, 43, 15)])[:, None]
    >>> known = Constraints.from_pairs(45, must_link=[(5, 20)])
    >>> model = CSAP(n_clusters=2, affinity=Gaussian(1.0), random_state=0).fit(X, constraints=known)
    >>> model.labels_[[0, 14, 15, 29, 30, 44]]
    array([0, 0, 0, 0, 1, 1])
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        algorithm: str = "auto",
        eps_must: float = 1e-5,
        eps_cannot: float = 1e-5,
        affinity: str | GraphRecipe = "knn",
        n_neighbors: int = 20,
        labelling: LabellingMethod = "kmeans",
        unit_rows: bool = True,
        n_init: int = 10,
        eigen_solver: str = "auto",
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        super().__init__(
            n_clusters,
            affinity=affinity,
            n_neighbors=n_neighbors,
            labelling=labelling,
            unit_rows=unit_rows,
            n_init=n_init,
            eigen_solver=eigen_solver,
            random_state=random_state,
        )
        self.algorithm = algorithm
        self.eps_must = eps_must
        self.eps_cannot = eps_cannot

    def fit(self, X: Any, y: Any = None, *, constraints: Constraints | None = None) -> Self:
        """Cluster the data; see `SpectralClusterer.fit`."""
        self.diagonal_shift_ = 0.0
        return super().fit(X, y, constraints=constraints)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("algorithm", self.algorithm, ("auto", "A", "B"))
        for name, eps in (("eps_must", self.eps_must), ("eps_cannot", self.eps_cannot)):
            if not isinstance(eps, Real) or not 0 < eps < np.inf:
                raise ValueError(f"{name}={eps!r}: the noise of links must be a positive finite number.")

    def _constrain_graph(self, graph: Graph, constraints: Constraints) -> Graph:
        if constraints.n_pairs == 0:
            return graph
        links = Links.of(constraints, self.eps_must, self.eps_cannot)
        columns, self.diagonal_shift_ = prior_columns(graph, links.points)
        chosen = ("A" if self.n_clusters <= 2 else "B") if self.algorithm == "auto" else self.algorithm
        return linked_graph(graph, columns, links, chosen)
