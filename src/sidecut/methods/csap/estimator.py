"""Constrained spectral clustering through affinity propagation (Lu & Carreira-Perpiñán, 2008)."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sidecut.checks import FloatArray, Rule, check_count, check_flag, check_positive, one_of, optional, unless
from sidecut.constraints import Constraints
from sidecut.graphs import Graph, warn_about_graph
from sidecut.graphs.lazy import rows_of, tile_rows
from sidecut.methods.base import CutClusterer, TakesConstraints, documented
from sidecut.methods.csap.graph import (
    HARD,
    ROUGH,
    TOLERANCE,
    NoisyLinks,
    condition_graph,
    make_prior,
    with_stranded_points,
)
from sidecut.methods.csap.merged import MergedGraph, is_mergeable, merge_links
from sidecut.methods.cut import cut, label_vectors
from sidecut.methods.task import Answer, Task
from sidecut.progress import stage
from sidecut.spectral import laplacian_eigenpairs

#: Sparse graphs of more nodes than this may be conditioned approximately.
APPROXIMATE_FROM = 2_000


@documented
@dataclass(eq=False, repr=False)
class CSAP(TakesConstraints, CutClusterer):
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
        noise ε / √|q|. Not used with ``form="divergence"``.
    form : {"likelihood", "divergence"}, default="likelihood"
        What a link says: that f_i - f_j (or f_i + f_j) is zero up to noise ε, or, as in the paper's appendix,
        that its variance is at most a bound, in the Gaussian nearest to the first one.
    must_bound, cannot_bound : float, default=0.01
        α and β of eq. 9, the bounds of ``form="divergence"``. A pair of strength q has the bound divided by
        |q|. Not used with ``form="likelihood"``.
    n_affinities : int or None, default=64
        On a sparse graph, how many affinities a point keeps beside its edges: its largest to points near the
        same must-linked set. On graphs that are not sparse all are kept anyway. None keeps
        all, as the paper does.
    approximate : bool or "auto", default="auto"
        Whether A may be computed approximately on a sparse graph of more than 2,000 points, in time linear in
        the number of points and links; "auto" does, False never. A must-linked set is then one node, and the
        covariances between sets are taken to the first order. Only hard links in the form "likelihood" on
        graphs without self-loops can be so merged. `approximation_error_` says how much that changes.
    {graph}
    {rows}
    {labels}
    {constraints}
    {all}

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        The cluster of every point, numbered in order of first appearance.
    affinity_matrix_ : Graph
        A, the affinity that was cut.
    diagonal_shift_ : float
        What the variance of linked points was raised by so that the graph is a covariance as a whole; 0 for
        Gaussian and heat kernels.
    approximation_error_ : float
        By how much the rows of A differ from exact ones, as a share of their sums, in the mean. The exact A
        is computed for it when it is first asked for, which takes much longer than the fit. 0 where A is
        exact.
    multipliers_ : array of shape (n_pairs,)
        λ of eq. 9 for every pair of the constraints: 0 where the bound holds anyway, otherwise the link acts
        as one with noise ε² = 1/(2λ). Empty unless ``form="divergence"``.
    embedding_ : array of shape (n_samples, n_clusters)
        What was handed to the labelling.
    eigenvalues_, eigenvectors_ : arrays of shape (n_clusters,) and (n_samples, n_clusters)
        Of the normalised Laplacian of A, smallest first.
    solution_ : Eigenpairs
        The eigenpairs with their residuals, the solver that ran and its certificate.
    {results}

    See Also
    --------
    E2CP : Spreads what is known over the graph, with one linear system.
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
    form: str = "likelihood"
    must_bound: float = 0.01
    cannot_bound: float = 0.01
    n_affinities: int | None = 64
    approximate: bool | str = "auto"
    published: ClassVar[dict[str, Any]] = {"safe": False, "n_affinities": None, "approximate": False}
    rules: ClassVar[dict[str, Rule]] = {
        "algorithm": one_of("auto", "A", "B"),
        "form": one_of("likelihood", "divergence"),
        "n_affinities": optional(check_count),
        "approximate": unless("auto", check_flag),
        **dict.fromkeys(("eps_must", "eps_cannot", "must_bound", "cannot_bound"), check_positive),
    }

    caution = 0.0

    def _solve(self, task: Task) -> Answer:
        if task.constraints.n_pairs == 0:
            found = Conditioned(task.graph)
        else:
            with stage("constraints in the graph"):
                found = self._condition(task)
        answer = self._cut(found.graph, task)
        return replace(answer, extend=None).with_results(
            diagonal_shift_=found.shift, multipliers_=found.multipliers
        )

    def _condition(self, task: Task, approximate: bool = True) -> Conditioned:
        """Return A: the covariance of f, given the links."""
        graph, links = task.graph, self._links(task.constraints)
        chosen = ("A" if task.n_clusters <= 2 else "B") if self.algorithm == "auto" else self.algorithm
        is_rough = approximate and self._may_be_rough(graph, links)
        prior = make_prior(graph, links.points, ROUGH if is_rough else TOLERANCE)
        if is_rough and self.n_affinities is not None:
            merged = merge_links(graph, prior.added, links, chosen, self.n_affinities)
            if merged is not None:
                return Conditioned(merged, prior.shift)
        active, multipliers = links, np.zeros(0)
        if self.form == "divergence":
            active, found = links.within_bounds(prior.columns, chosen)
            multipliers = _in_order_of_pairs(found, task.constraints)
        affinity = condition_graph(graph, prior.columns, active, chosen, self.n_affinities)
        return Conditioned(with_stranded_points(affinity, graph, links), prior.shift, multipliers)

    @property
    def approximation_error_(self) -> float:
        """By how much the rows of A differ from exact ones; computed when it is first asked for."""
        check_is_fitted(self)
        return self._answer.once("error", self._measure_error)

    def _measure_error(self) -> float:
        found = self.affinity_matrix_
        if not isinstance(found, MergedGraph):
            return 0.0
        exact = self._condition(self._task, approximate=False).graph
        wrong = [
            np.abs(rows_of(found, rows) - rows_of(exact, rows)).sum(axis=1)
            for rows in tile_rows(found.n_nodes)
        ]
        degrees = np.maximum(exact.degrees, np.finfo(np.float64).tiny)
        return float(np.mean(np.concatenate(wrong) / degrees))

    def _may_be_rough(self, graph: Graph, links: NoisyLinks) -> bool:
        is_large = graph.n_nodes > APPROXIMATE_FROM
        may_be = self.form == "likelihood" and self.n_affinities is not None and bool(self.approximate)
        return may_be and is_large and is_mergeable(graph, links, HARD)

    def _cut(self, graph: Graph, task: Task) -> Answer:
        if not isinstance(graph, MergedGraph):
            return cut(graph, task, self)
        # The points of a node are alike: the nodes are cut, and their rows handed to the points.
        warn_about_graph(graph, task.n_clusters)
        rng = task.rng()
        with stage("embedding"):
            pairs = laplacian_eigenpairs(
                graph.nodes, task.n_clusters, solver=self.eigen_solver, random_state=rng
            )
        return label_vectors(graph, graph.expand(pairs), task, self, rng)

    def _links(self, constraints: Constraints) -> NoisyLinks:
        """Return the links, ε² of each being its noise or its bound."""
        if self.form == "divergence":
            return NoisyLinks.of(constraints, np.sqrt(self.must_bound), np.sqrt(self.cannot_bound))
        return NoisyLinks.of(constraints, self.eps_must, self.eps_cannot)


class Conditioned(NamedTuple):
    """A, what the variance of linked points was raised by, and the multipliers λ of eq. 9."""

    graph: Graph
    shift: float = 0.0
    multipliers: FloatArray = np.zeros(0)


def _in_order_of_pairs(multipliers: FloatArray, constraints: Constraints) -> FloatArray:
    """Return the multipliers of must-links, then cannot-links, in the order of the pairs."""
    order = np.argsort(constraints.strengths < 0, kind="stable")
    result = np.empty_like(multipliers)
    result[order] = multipliers
    return result
