"""Constrained spectral clustering through affinity propagation (Lu & Carreira-Perpiñán, 2008)."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sidecut.arrays import FloatArray, IntArray
from sidecut.constraints import Constraints
from sidecut.exceptions import ConstraintWarning, warn
from sidecut.graphs import Graph, GraphRecipe
from sidecut.graphs.lazy import rows_of, tile_rows
from sidecut.labelling import LabellingMethod
from sidecut.methods.base import SpectralClusterer
from sidecut.methods.csap.graph import HARD, NoisyLinks, condition_graph, with_stranded_points
from sidecut.methods.csap.merged import MergedGraph, is_mergeable, merge_links
from sidecut.methods.csap.prior import ROUGH, TOLERANCE, make_prior
from sidecut.methods.normalized_cut import NormalizedCut
from sidecut.methods.safeguard import Safeguarded, agrees_amply, is_little
from sidecut.parameters import check_choice, check_count

#: Sparse graphs of more nodes than this may be conditioned approximately.
APPROXIMATE_FROM = 2_000


class CSAP(Safeguarded, SpectralClusterer):
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
        same must-linked set. On graphs that are not sparse all are kept anyway. None is the paper's algorithm
        as printed: it keeps all, and the labels are those of A whatever they satisfy.
    approximate : bool or "auto", default="auto"
        Whether A may be computed approximately on a sparse graph of more than 2,000 points, in time linear in
        the number of points and links; "auto" does, False never. A must-linked set is then one node, and the
        covariances between sets are taken to the first order. Only hard links in the form "likelihood" on
        graphs without self-loops can be so merged. `approximation_error_` says how much that changes.
    affinity : str or GraphRecipe, default="knn"
        How data become a graph: "knn", "gaussian", "heat", "self_tuning", "cosine", a recipe, or
        "precomputed". The paper's are ``Gaussian(sigma, self_loops=True)`` with a width that suits the data,
        and ``Heat(20)``. Links reach as far as the affinity does: on "knn" to the neighbours of their points.
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
        The cluster of every point, numbered in order of first appearance. Where the graph without links
        satisfies as many of them as A does, its clusters (but for ``n_affinities=None``).
    judgement_ : Judgement
        With `safe`, where little is known: which answer was kept, and why.
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
    repair_ : Repair
        With `hard`: which labels were changed to satisfy the links, at what cost, and what could not be.
    n_features_in_ : int
        Number of features seen in fit.

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
    >>> model = CSAP(n_clusters=2, affinity=Gaussian(1.0), random_state=0).fit(X, constraints=known)
    >>> model.labels_[[0, 14, 15, 29, 30, 44]]
    array([0, 0, 0, 0, 1, 1])
    """

    _told: tuple[Graph, Constraints]
    _error: float | None

    #: Two facts do good more often than harm: benchmarks/choices/caution.py.
    _fewest_facts = 2

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        algorithm: str = "auto",
        eps_must: float = 1e-5,
        eps_cannot: float = 1e-5,
        form: str = "likelihood",
        must_bound: float = 0.01,
        cannot_bound: float = 0.01,
        n_affinities: int | None = 64,
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
        self.algorithm = algorithm
        self.eps_must = eps_must
        self.eps_cannot = eps_cannot
        self.form = form
        self.must_bound = must_bound
        self.cannot_bound = cannot_bound
        self.n_affinities = n_affinities
        self.approximate = approximate

    def _fit(self, X: Any, constraints: Constraints | None) -> None:
        self.diagonal_shift_ = 0.0
        self.multipliers_ = np.zeros(0)
        super()._fit(X, constraints)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("algorithm", self.algorithm, ("auto", "A", "B"))
        if self.n_affinities is not None:
            check_count("n_affinities", self.n_affinities)
        check_choice("form", self.form, ("likelihood", "divergence"))
        if self.approximate not in (True, False, "auto"):
            raise ValueError(f"approximate={self.approximate!r}: choose True, False or 'auto'.")
        for name in ("eps_must", "eps_cannot", "must_bound", "cannot_bound"):
            value = getattr(self, name)
            if not isinstance(value, Real) or not 0 < float(value) < np.inf:
                what = "noise" if name.startswith("eps") else "bound"
                raise ValueError(f"{name}={value!r}: the {what} of links must be a positive finite number.")

    def _constrain_graph(self, graph: Graph, constraints: Constraints) -> Graph:
        if constraints.n_pairs == 0:
            return graph
        if not (self._is_guarded and is_little(constraints, self.n_clusters)):
            # Otherwise the answer without links is looked at anyway.
            self._plain = (constraints, graph)
        links = self._links(constraints)
        chosen = ("A" if self.n_clusters <= 2 else "B") if self.algorithm == "auto" else self.algorithm
        is_rough = self._is_approximate(graph, links)
        prior = make_prior(graph, links.points, ROUGH if is_rough else TOLERANCE)
        self.diagonal_shift_ = prior.shift
        if is_rough and self.n_affinities is not None:
            merged = merge_links(graph, prior.added, links, chosen, self.n_affinities)
            if merged is not None:
                self._told, self._error = (graph, constraints), None
                return merged
        active = links
        if self.form == "divergence":
            active, multipliers = links.within_bounds(prior.columns, chosen)
            self.multipliers_ = _in_order_of_pairs(multipliers, constraints)
        affinity = condition_graph(graph, prior.columns, active, chosen, self.n_affinities)
        return with_stranded_points(affinity, graph, links)

    @property
    def approximation_error_(self) -> float:
        """By how much the rows of A differ from exact ones; computed when it is first asked for."""
        check_is_fitted(self)
        found = self.affinity_matrix_
        if not isinstance(found, MergedGraph):
            return 0.0
        if self._error is None:
            exact = type(self)(**{**self.get_params(deep=False), "approximate": False})
            exact._check_parameters()
            changed = exact._constrain_graph(*self._told)
            wrong = [
                np.abs(rows_of(found, rows) - rows_of(changed, rows)).sum(axis=1)
                for rows in tile_rows(found.n_nodes)
            ]
            degrees = np.maximum(changed.degrees, np.finfo(np.float64).tiny)
            self._error = float(np.mean(np.concatenate(wrong) / degrees))
        return self._error

    def _is_approximate(self, graph: Graph, links: NoisyLinks) -> bool:
        is_large = graph.n_nodes > APPROXIMATE_FROM
        may_be = self.form == "likelihood" and self.n_affinities is not None and bool(self.approximate)
        return may_be and is_large and is_mergeable(graph, links, HARD)

    def _embed(self, graph: Graph, constraints: Constraints, rng: np.random.RandomState) -> FloatArray:
        if not isinstance(graph, MergedGraph):
            return super()._embed(graph, constraints, rng)
        # The points of a node are alike: the nodes are cut, and their rows handed to the points.
        rows = super()._embed(graph.nodes, constraints, rng)
        self._remember(graph.expand(self.solution_))
        return rows[graph.group]

    def _assign_labels(self, embedding: FloatArray, rng: np.random.RandomState) -> IntArray:
        """Return the clusters of A, or those of W where these satisfy as many links.

        Where links change nothing about themselves, what they do to the other points is chance.
        """
        labels = super()._assign_labels(embedding, rng)
        constraints, graph = self.__dict__.pop("_plain", (None, None))
        if constraints is None or self.n_affinities is None:
            return labels
        if agrees_amply(constraints, self.n_clusters, labels):
            return labels
        given = {name: getattr(self, name) for name in ("labelling", "assign_labels", "unit_rows", "n_init")}
        cut = NormalizedCut(self.n_clusters, eigen_solver=self.eigen_solver, **given)
        plain = cut._assign_labels(cut._embed(graph, Constraints.none(graph.n_nodes), rng), rng)
        without, satisfied = (constraints.satisfaction(found) for found in (plain, labels))
        if satisfied > without:
            return labels
        if satisfied < without:
            warn(
                f"The affinities that {constraints.n_pairs:,} links make satisfy fewer of them "
                f"({satisfied:.0%}) than the graph does without any ({without:.0%}): the labels are those of "
                "the graph. Try the other algorithm, a larger eps_must and eps_cannot, or another affinity.",
                ConstraintWarning,
            )
        return plain

    def _links(self, constraints: Constraints) -> NoisyLinks:
        """Return the links, ε² of each being its noise or its bound."""
        if self.form == "divergence":
            return NoisyLinks.of(constraints, np.sqrt(self.must_bound), np.sqrt(self.cannot_bound))
        return NoisyLinks.of(constraints, self.eps_must, self.eps_cannot)


def _in_order_of_pairs(multipliers: FloatArray, constraints: Constraints) -> FloatArray:
    """Return the multipliers of must-links, then cannot-links, in the order of the pairs."""
    order = np.argsort(constraints.strengths < 0, kind="stable")
    result = np.empty_like(multipliers)
    result[order] = multipliers
    return result
