"""Constrained spectral clustering through affinity propagation (Lu & Carreira-Perpiñán, 2008)."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from sidecut.checks import Rule, check_count, check_flag, check_positive, one_of, optional, unless
from sidecut.graphs import Graph, warn_about_graph
from sidecut.graphs.lazy import rows_of, tile_rows
from sidecut.methods.base import CutClusterer, TakesConstraints, documented
from sidecut.methods.csap.graph import (
    MAX_HARD_NOISE,
    ObservedLinks,
    condition_graph,
    make_prior,
    reconnect_isolated,
)
from sidecut.methods.csap.merged import MergedGraph, merge_links
from sidecut.methods.cut import cut, label_vectors
from sidecut.methods.task import Answer, Task
from sidecut.running import stage
from sidecut.spectral import laplacian_eigenpairs

#: Graphs of more nodes than this may have their must-linked sets merged.
MERGE_FROM = 2_000
#: The exact affinity is made where it takes at most this many products: two seconds, at the 1.4e8 to 2.6e8 a
#: second that were measured on two to ten blobs of 1,500 to 4,000 points with labels and with pairs.
MAX_EXACT_PRODUCTS = 4e8


@documented
@dataclass(eq=False, repr=False)
class CSAP(TakesConstraints, CutClusterer):
    """Constrained spectral clustering through affinity propagation: links change the affinity around them.

    The affinity is read as the covariance of a Gaussian process, a smooth function f over the points. A
    must-link observes that f_i = f_j and a cannot-link that f_i = -f_j, up to noise; the affinity becomes the
    covariance of f given these observations. So a link changes the affinities of all points near its ends.

    Parameters
    ----------
    {n_clusters}
    algorithm : {"auto", "A", "B"}, default="auto"
        "A" observes all links together, which makes sense for two clusters: of two points that cannot be with
        a third it says that they are together. "B" observes every cannot-link alone and keeps the smallest
        affinity. "auto" is A for two clusters and B for more.
    eps_must, eps_cannot : float, default=1e-5
        ε_m and ε_c of eq. 3, the standard deviation of the noise; small is hard. A pair of strength q has
        noise ε / √|q|.
    n_affinities : int or None, default=256
        On a sparse graph, how many affinities a point keeps beside its edges: its largest to points near the
        same must-linked set. On graphs that are not sparse all are kept anyway. None keeps
        all, as the paper does.
    approximate : bool or "auto", default="auto"
        Whether A may be computed approximately on a sparse graph of more than 2,000 points, in time linear in
        the number of points and links; "auto" does where the exact A takes longer than about two seconds,
        True always, False never. A must-linked set is then one node, and the covariances between sets are
        taken to the first order. Only hard links on graphs without self-loops can be merged so.
        `approximation_error_` says how much that changes.
    {graph}
    {rows}
    {labels}
    {constraints}
    {all}

    Attributes
    ----------
    {labels_}
    affinity_matrix_ : Graph
        A, the affinity that was cut.
    diagonal_shift_ : float
        What the variance of linked points was raised by so that the graph is a covariance as a whole; 0 for
        Gaussian and heat kernels.
    approximation_error_ : float
        By how much the rows of A differ from exact ones, as a share of their sums, in the mean. The exact A
        is computed for it when it is first asked for, which takes much longer than the fit. 0 where A is
        exact.
    {embedding_}
    eigenvalues_, eigenvectors_ : arrays of shape (n_clusters,) and (n_samples, n_clusters)
        Of the normalised Laplacian of A, smallest first.
    {solution_}
    {results}

    See Also
    --------
    E2CP : Propagates constraints over the graph, with one linear system.
    SpectralLearning : Links change only the weights of their own pairs.

    References
    ----------
    Z. Lu, M. Á. Carreira-Perpiñán: Constrained spectral clustering through affinity propagation. CVPR 2008.

    Examples
    --------
    One must-link between two of three clusters makes them one:

    >>> import numpy as np
    >>> from sidecut import CSAP, Constraints
    >>> from sidecut.graphs import Gaussian
    >>> X = np.concatenate([np.linspace(0, 3, 15), np.linspace(20, 23, 15), np.linspace(40, 43, 15)])[:, None]
    >>> known = Constraints.from_pairs(45, must_link=[(5, 20)])
    >>> model = CSAP.as_published(2, affinity=Gaussian(1.0), random_state=0).fit(X, constraints=known)
    >>> model.labels_[[0, 14, 15, 29, 30, 44]]
    array([0, 0, 0, 0, 1, 1])
    """

    _: KW_ONLY
    algorithm: str = "auto"
    eps_must: float = 1e-5
    eps_cannot: float = 1e-5
    #: Set on two to ten classes of four to eight blobs, with 20 % of labels: the adjusted Rand index is at
    #: most .003 below that of all affinities; with 64 it is .04 to .86 below.
    n_affinities: int | None = 256
    approximate: bool | str = "auto"
    published: ClassVar[dict[str, Any]] = {"safe": False, "n_affinities": None, "approximate": False}
    rules: ClassVar[dict[str, Rule]] = {
        "algorithm": one_of("auto", "A", "B"),
        "n_affinities": optional(check_count),
        "approximate": unless("auto", check_flag),
        **dict.fromkeys(("eps_must", "eps_cannot"), check_positive),
    }

    caution = 0.0

    def _solve(self, task: Task) -> Answer:
        graph, shift = task.graph, 0.0
        if task.constraints.n_pairs:
            with stage("constraints in the graph"):
                graph, shift = self._condition(task)
        return replace(self._cut(graph, task), extend=None).with_results(diagonal_shift_=shift)

    def _condition(self, task: Task, approximate: bool = True) -> tuple[Graph, float]:
        """Return A, the covariance of f given the links, and the shift of the variance of linked points."""
        graph = task.graph
        links = ObservedLinks.of(task.constraints, self.eps_must, self.eps_cannot)
        chosen = ("A" if task.n_clusters <= 2 else "B") if self.algorithm == "auto" else self.algorithm
        is_rough = approximate and self.n_affinities is not None and self._may_merge(graph, links, chosen)
        prior = make_prior(graph, links.points, 1e-2 if is_rough else 1e-6)
        if is_rough and self.n_affinities is not None:
            merged = merge_links(graph, prior.added, links, chosen, self.n_affinities)
            if merged is not None:
                return merged, prior.shift
        affinity = condition_graph(graph, prior.columns, links, chosen, self.n_affinities)
        return reconnect_isolated(affinity, graph, links), prior.shift

    def _may_merge(self, graph: Graph, links: ObservedLinks, algorithm: str) -> bool:
        """Tell whether must-linked sets may be merged: hard links on a large sparse graph without loops."""
        matrix: Any = graph.matrix
        if not self.approximate or graph.n_nodes <= MERGE_FROM or not sp.issparse(matrix):
            return False
        noise = max(links.eps_must.max(initial=0.0), links.eps_cannot.max(initial=0.0))
        if noise > MAX_HARD_NOISE or np.any(matrix.diagonal()):
            return False
        takes_long = links.count_products(graph, algorithm) > MAX_EXACT_PRODUCTS
        return self.approximate is True or takes_long or links.exceed_memory(graph)

    @property
    def approximation_error_(self) -> float:
        """By how much the rows of A differ from exact ones; computed when it is first asked for."""
        check_is_fitted(self)
        return self._answer.once("error", self._measure_error)

    def _measure_error(self) -> float:
        found = self.affinity_matrix_
        if not isinstance(found, MergedGraph):
            return 0.0
        exact = self._condition(self._task, approximate=False)[0]
        wrong = [
            np.abs(rows_of(found, rows) - rows_of(exact, rows)).sum(axis=1)
            for rows in tile_rows(found.n_nodes)
        ]
        degrees = np.maximum(exact.degrees, np.finfo(np.float64).tiny)
        return float(np.mean(np.concatenate(wrong) / degrees))

    def _cut(self, graph: Graph, task: Task) -> Answer:
        if not isinstance(graph, MergedGraph):
            return cut(graph, task, self)
        # The points of a node have equal rows: the nodes are cut.
        warn_about_graph(graph, task.n_clusters)
        rng = task.rng()
        with stage("embedding"):
            pairs = laplacian_eigenpairs(
                graph.nodes,
                task.n_clusters,
                solver=self.eigen_solver,
                accuracy=task.accuracy,
                random_state=rng,
            )
        return label_vectors(graph, graph.expand(pairs), task, self, rng)
