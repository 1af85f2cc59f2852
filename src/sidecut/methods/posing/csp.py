"""CSP, flexible constrained spectral clustering (Wang, Qian & Davidson, 2014), exactly and at scale."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from sidecut.constraints import Constraints, Spectrum
from sidecut.exceptions import ConstraintError, ConstraintWarning, SpectralError
from sidecut.graphs import Graph, GraphRecipe
from sidecut.labelling import LabellingMethod, assign_labels, unit_rows
from sidecut.methods.base import SpectralClusterer
from sidecut.methods.inputs import check_choice
from sidecut.methods.posing.beta import Rule, Satisfiability, chosen_beta, satisfiability
from sidecut.spectral import Certificate, Eigenpairs
from sidecut.spectral.problem import LaplacianProblem
from sidecut.spectral.result import FloatArray, oriented
from sidecut.spectral.surplus import SurplusPencil, feasible_pairs

#: More feasible cuts than this are not all computed; those of smallest λ are.
MAX_CUTS = 1_000

NORMALIZATIONS = ("target", "source")
WEIGHTINGS = ("none", "one_minus_cost", "sign", "sign_cost")


@dataclass(frozen=True)
class FeasibleCuts:
    """The feasible cuts of eq. 13, those of least cost first.

    Attributes
    ----------
    eigenvalues : array of shape (m,)
        λ; zero for cuts along components of the graph.
    costs : array of shape (m,)
        vᵀL̄v of the unit vector: the normalised cut, between 0 and 2.
    satisfactions : array of shape (m,)
        vᵀQ̄v with vᵀv = vol, to be compared with β; all exceed it.
    vectors : array of shape (n, m)
        v, with vᵀv = vol.
    n_feasible : int
        How many there are; `m` is smaller only where there are more than a thousand.
    beta : float
        The β they exceed.
    residuals : array of shape (m,)
        Relative residuals of eq. 13.
    """

    eigenvalues: FloatArray
    costs: FloatArray
    satisfactions: FloatArray
    vectors: FloatArray
    n_feasible: int
    beta: float
    residuals: FloatArray

    def __str__(self) -> str:
        lines = [f"{self.n_feasible} feasible cuts, beta = {self.beta:.6g}", "    λ          cost       vᵀQ̄v"]
        for row in zip(self.eigenvalues, self.costs, self.satisfactions, strict=True):
            lines.append("  ".join(f"{value:10.4g}" for value in row))
        return "\n".join(lines)

    def first(self, count: int) -> FeasibleCuts:
        """Return the `count` cuts of least cost."""
        return FeasibleCuts(
            self.eigenvalues[:count],
            self.costs[:count],
            self.satisfactions[:count],
            np.ascontiguousarray(self.vectors[:, :count]),
            self.n_feasible,
            self.beta,
            self.residuals[:count],
        )


def feasible_cuts(
    graph: Graph,
    constraints: Constraints,
    beta: Rule = "fraction",
    *,
    n_clusters: int = 2,
    normalization: str = "target",
    tol: float = 1e-6,
    start: FloatArray | None = None,
) -> FeasibleCuts:
    """Return all cuts that are eigenvectors of eq. 13 and satisfy the constraints.

    Parameters
    ----------
    graph : Graph
        The graph to cut.
    constraints : Constraints
        Q, any real beliefs.
    beta : number or rule, default="fraction"
        See `CSP`.
    n_clusters : int, default=2
        K, for the rules.
    normalization : {"target", "source"}, default="target"
        Q̄ = D^{-1/2} Q D^{-1/2} with the degrees of the graph, or of Q itself (transfer, section 6.3).
    tol : float, default=1e-6
        Relative residual to reach.
    start : array of shape (n, s), optional
        Vectors to start from, such as those of a similar problem.

    Examples
    --------
    The toy of section 4.4: a labelling that puts node 4 with 1, 2, 3 drags it away from 5 and 6.

    >>> import numpy as np
    >>> from sidecut import Constraints
    >>> from sidecut.graphs import as_graph
    >>> from sidecut.methods.posing.csp import feasible_cuts
    >>> edges = [(0, 1), (0, 2), (1, 2), (2, 3), (3, 4), (3, 5), (4, 5)]
    >>> A = np.zeros((6, 6))
    >>> A[tuple(zip(*edges))] = 1
    >>> graph = as_graph(A + A.T)
    >>> known = Constraints.from_labels([0, 0, 0, 0, 1, 1])
    >>> cuts = feasible_cuts(graph, known, beta=graph.volume)
    >>> (cuts.vectors[:, 0] / np.sqrt(graph.degrees)).round(3)
    array([ 1.491,  1.491,  1.206,  0.438, -0.205, -0.205])
    """
    problem = LaplacianProblem(graph)
    scale = _scale_of(normalization, problem, constraints)
    known, spectrum = satisfiability(constraints, scale, graph.volume, beta, n_clusters)
    beta = chosen_beta(beta, known, n_clusters)
    count = _checked_count(known, beta, graph.n_nodes)
    pencil = SurplusPencil(problem, _scaled(constraints, scale), beta / graph.volume)
    _check_regular(pencil, known, beta)
    with threadpool_limits(limits=1, user_api="blas"):
        return _solved(pencil, count, _seeds(spectrum, pencil, count, start), tol, beta)


class CSP(SpectralClusterer):
    """Flexible constrained spectral clustering (Wang, Qian & Davidson, 2014).

    Among the cuts that satisfy the constraints to at least β, those of least normalised cut. Constraints are
    beliefs: any real number per pair, hard or soft, consistent or not. The generalised eigenproblem of eq. 13
    is solved exactly in near-linear time; how many feasible cuts there are is known beforehand.

    Parameters
    ----------
    n_clusters : int, default=8
        K. Two clusters are the sign of the best cut (algorithm 1); for more, the K - 1 best cuts are an
        embedding that is clustered (algorithm 2).
    beta : number or rule, default="fraction"
        How far the constraints must be satisfied, uᵀQu > β. A number; "eq19", β = λ vol (0.5 + 0.4 nnz(Q) /
        N²); "one", as large as leaves one feasible cut (section 7.3); "fraction" or ("fraction", f), β = f λ
        vol with f = 0.1. λ is λ_{K-1}(Q̄), the largest that leaves K - 1 cuts.
    normalization : {"target", "source"}, default="target"
        Q̄ is Q scaled by the degrees of the graph, or by its own (transfer from a source graph, section 6.3).
    weighting : {"none", "one_minus_cost", "sign", "sign_cost"}, default="none"
        How cuts are weighed before they are clustered: not at all; by 1 - cost, as the authors' code does;
        only their signs (eq. 15); their signs over their costs (eq. 16 amended; as printed it equals eq. 15).
    tol : float, default=1e-6
        Relative residual of the eigenvectors.
    warm_start : bool, default=False
        Start from the eigenvectors of the previous fit, if it had as many points: several times cheaper when
        constraints are added a few at a time.
    affinity : str or GraphRecipe, default="knn"
        How data become a graph: "knn", "gaussian", "self_tuning", "heat", "cosine", a recipe, or
        "precomputed".
    n_neighbors : int, default=20
        How many neighbours each point has in the graph of ``affinity="knn"``.
    unit_rows : bool, default=True
        Scale every row of the embedding to length one before k-means. As printed, without, the method can
        collapse on graphs of real data.
    n_init : int, default=10
        How many starts k-means has.
    eigen_solver : {"auto", "dense", "lanczos", "factorized", "iterated"}, default="auto"
        For the unconstrained case only.
    random_state : int, RandomState or None, default=None
        An int makes the result reproducible.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        The cluster of every point.
    embedding_ : array of shape (n_samples, n_clusters - 1)
        What was handed to the labelling.
    eigenvalues_, eigenvectors_ : arrays of shape (n_clusters - 1,) and (n_samples, n_clusters - 1)
        λ and v of the best feasible cuts, vᵀv = vol.
    costs_ : array of shape (n_clusters - 1,)
        vᵀL̄v of the unit vectors.
    indicator_ : array of shape (n_samples,)
        u* = D^{-1/2} v*, the relaxed indicator of the best cut.
    cuts_ : FeasibleCuts
        All feasible cuts: λ, cost, satisfaction; `print(model.cuts_)` is a table.
    n_feasible_ : int
        How many feasible cuts there are.
    beta_ : float
        The β that was used.
    affinity_matrix_ : Graph
        The graph that was cut.
    solution_ : Eigenpairs
        The eigenpairs with their residuals, the solver that ran and its certificate.
    n_features_in_ : int
        Number of features seen in fit.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from sidecut import CSP
    >>> from sidecut.constraints import sample_labels
    >>> X, y = make_moons(600, noise=0.15, random_state=0)
    >>> known = sample_labels(y, 20, random_state=0)
    >>> model = CSP(n_clusters=2, random_state=0).fit(X, constraints=known)
    >>> known.satisfaction(model.labels_)
    1.0
    >>> model.n_feasible_
    1
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        beta: Rule = "fraction",
        normalization: str = "target",
        weighting: str = "none",
        tol: float = 1e-6,
        warm_start: bool = False,
        affinity: str | GraphRecipe = "knn",
        n_neighbors: int = 20,
        unit_rows: bool = True,
        n_init: int = 10,
        eigen_solver: str = "auto",
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        super().__init__(
            n_clusters,
            affinity=affinity,
            n_neighbors=n_neighbors,
            unit_rows=unit_rows,
            n_init=n_init,
            eigen_solver=eigen_solver,
            random_state=random_state,
        )
        self.beta = beta
        self.normalization = normalization
        self.weighting = weighting
        self.tol = tol
        self.warm_start = warm_start

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("normalization", self.normalization, NORMALIZATIONS)
        check_choice("weighting", self.weighting, WEIGHTINGS)

    def _embed(self, graph: Graph, constraints: Constraints, rng: np.random.RandomState) -> FloatArray:
        if constraints.is_empty:
            self._forget_cuts()
            return super()._embed(graph, constraints, rng)
        cuts = feasible_cuts(
            graph,
            constraints,
            self.beta,
            n_clusters=self.n_clusters,
            normalization=self.normalization,
            tol=self.tol,
            start=self._previous(graph.n_nodes),
        )
        best = cuts.first(max(self.n_clusters - 1, 1))
        self._remember_cuts(cuts, best, graph)
        relaxed = LaplacianProblem(graph).affinity.scale[:, None] * best.vectors
        self.indicator_ = relaxed[:, 0].copy()
        if self.n_clusters == 2:
            return relaxed
        weighed = weighed_cuts(relaxed, best.costs, self.weighting)
        return unit_rows(weighed) if self.unit_rows else weighed

    def _remember_cuts(self, cuts: FeasibleCuts, best: FeasibleCuts, graph: Graph) -> None:
        missing = self.n_clusters - 1 - best.costs.size
        if missing > 0:
            warnings.warn(
                f"n_clusters={self.n_clusters} would use {self.n_clusters - 1} feasible cuts, but with "
                f"beta={cuts.beta:.4g} there are {cuts.n_feasible}; the embedding has fewer columns. A "
                "smaller beta, or constraints that tell more clusters apart, give more.",
                ConstraintWarning,
                stacklevel=4,
            )
        self.cuts_ = cuts
        self.beta_, self.n_feasible_ = cuts.beta, cuts.n_feasible
        self.costs_ = best.costs
        detail = (
            f"All {cuts.n_feasible} feasible cuts were found: Sylvester's law counts as many positive "
            "eigenvalues, and as many Ritz values are positive with small residuals."
        )
        complete = cuts.costs.size == cuts.n_feasible
        certificate = Certificate("count", float(best.eigenvalues.max()), 0.0, complete, detail)
        solver = "Davidson on the surplus pencil"
        self._remember(Eigenpairs(best.eigenvalues, best.vectors, best.residuals, solver, certificate))

    def _forget_cuts(self) -> None:
        """Leave nothing of an earlier fit that had constraints."""
        for name in ("cuts_", "beta_", "n_feasible_", "costs_", "indicator_"):
            self.__dict__.pop(name, None)

    def _previous(self, n_nodes: int) -> FloatArray | None:
        if self.warm_start and hasattr(self, "cuts_") and self.cuts_.vectors.shape[0] == n_nodes:
            return self.cuts_.vectors
        return None

    def _assign_labels(self, embedding: FloatArray, rng: np.random.RandomState) -> npt.NDArray[np.intp]:
        # Algorithm 1 for two clusters: the sign of u*. Without constraints there are two columns instead.
        is_cut = self.n_clusters == 2 and embedding.shape[1] == 1
        method: LabellingMethod = "sign" if is_cut else "kmeans"
        return assign_labels(embedding, self.n_clusters, method=method, n_init=self.n_init, random_state=rng)


def weighed_cuts(relaxed: FloatArray, costs: FloatArray, weighting: str) -> FloatArray:
    """Return the relaxed indicators D^{-1/2} V, weighed before they are clustered.

    Parameters
    ----------
    relaxed : array of shape (n, m)
        D^{-1/2} V.
    costs : array of shape (m,)
        vᵀL̄v of the unit vectors.
    weighting : {"none", "one_minus_cost", "sign", "sign_cost"}
        As they are; times 1 - cost; their signs (eq. 15); their signs over their costs (eq. 16 as amended).

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.methods.posing.csp import weighed_cuts
    >>> weighed_cuts(np.array([[0.3, -2.0]]), np.array([0.5, 0.25]), "sign_cost")
    array([[ 2., -4.]])
    """
    if weighting == "none":
        return relaxed
    if weighting == "one_minus_cost":
        return relaxed * (1.0 - costs)
    if weighting == "sign":
        return np.sign(relaxed)
    if weighting == "sign_cost":
        # A cut along components costs nothing; it would outweigh all others without bound.
        return np.sign(relaxed) / np.maximum(costs, 1e-6)
    raise ValueError(f"weighting={weighting!r}: choose one of {', '.join(WEIGHTINGS)}.")


def _solved(pencil: SurplusPencil, count: int, seeds: FloatArray, tol: float, beta: float) -> FeasibleCuts:
    surplus, along = pencil.zero_cost_cuts()
    wanted = min(count, MAX_CUTS) - surplus.size
    lam, vectors, residuals = np.zeros(surplus.size), along, np.zeros(surplus.size)
    if wanted > 0:
        pairs = feasible_pairs(pencil, seeds, wanted, tol)
        lam = np.concatenate([lam, 1.0 / pairs.mu])
        vectors = np.hstack([vectors, pairs.vectors])
        residuals = np.concatenate([residuals, pairs.residuals])
    vectors = oriented(vectors)
    costs = np.maximum(np.einsum("ij,ij->j", vectors, pencil.problem.apply_laplacian(vectors)), 0.0)
    costs[: surplus.size] = 0.0
    satisfaction = np.einsum("ij,ij->j", vectors, pencil.apply_Q(vectors))
    # Cuts along components all cost nothing; the one that satisfies most goes first.
    order = np.lexsort((-satisfaction, costs))
    volume = pencil.problem.graph.volume
    return FeasibleCuts(
        lam[order],
        costs[order],
        volume * satisfaction[order],
        np.sqrt(volume) * vectors[:, order],
        count,
        beta,
        residuals[order],
    )


def _seeds(spectrum: Spectrum, pencil: SurplusPencil, count: int, start: FloatArray | None) -> FloatArray:
    """Return the vectors to start from: the answer to a similar problem, or the leading eigenvectors of Q̄."""
    if start is not None and start.shape[1] >= count:
        return start
    leading = spectrum.embedded()[:, : max(2 * count + 8, 16)].toarray()
    return leading if start is None else np.hstack([start, leading])


def _scaled(constraints: Constraints, scale: FloatArray) -> Callable[[FloatArray], FloatArray]:
    """Return the map block -> S Q S @ block."""

    def apply(block: FloatArray) -> FloatArray:
        factor = scale if block.ndim == 1 else scale[:, None]
        return factor * constraints.apply(factor * block)

    return apply


def _scale_of(normalization: str, problem: LaplacianProblem, constraints: Constraints) -> FloatArray:
    if normalization == "target":
        return problem.affinity.scale
    if normalization == "source":
        degrees = constraints.apply(np.ones(problem.n))
        if np.any(degrees < 0):
            raise ConstraintError(
                "normalization='source' divides by the degrees of the source graph, which must not be "
                "negative; it is for Constraints.from_graph."
            )
        scale = np.zeros(problem.n)
        np.divide(1.0, np.sqrt(degrees), out=scale, where=degrees > 0)
        return scale
    raise ValueError(f"normalization={normalization!r}: choose 'target' or 'source'.")


def _checked_count(known: Satisfiability, beta: float, n_nodes: int) -> int:
    count = known.n_feasible(beta)
    if count > 0:
        return count
    best = known.largest_beta(1)
    way_out = (
        f"A beta below {best:.6g} leaves at least one."
        if best is not None
        else "No positive beta leaves any."
    )
    above = int(np.count_nonzero(known.values > beta / known.volume))
    raise ConstraintError(
        f"beta={beta:.6g} leaves no feasible cut: Q̄ has {above} eigenvalues above "
        f"beta/vol={beta / known.volume:.4g}, and 1ᵀQ1={known.total:.4g} takes "
        f"{int(known.total > beta)} of them. {way_out}"
    )


def _check_regular(pencil: SurplusPencil, known: Satisfiability, beta: float) -> None:
    if beta <= 0:
        raise ConstraintError(f"beta={beta:.6g} must be positive: otherwise nearly every cut is feasible.")
    form = np.abs(np.linalg.eigvalsh(pencil.null_form))
    if form.min() <= 1e-12 * max(form.max(), pencil.b):
        raise SpectralError(
            f"beta={beta:.6g} makes eq. 13 singular: the uniform cut satisfies the constraints to exactly "
            f"beta (1ᵀQ1={known.total:.6g}). Choose a slightly different beta."
        )
