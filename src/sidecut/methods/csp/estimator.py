"""CSP, flexible constrained spectral clustering (Wang, Qian & Davidson, 2014), exactly and at scale."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, replace
from functools import cache, partial
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from sidecut.checks import FloatArray, IntArray, Rule, check_flag, check_tolerance, one_of
from sidecut.exceptions import ConstraintWarning, warn
from sidecut.graphs import Graph, warn_about_graph
from sidecut.labelling import assign_labels, rough_labels, unit_rows
from sidecut.labelling.confidence import majority_of_neighbors
from sidecut.labelling.labels import kmeans_from, seed_centers
from sidecut.methods.base import SpectralClusterer, TakesConstraints, documented
from sidecut.methods.csp.cuts import MAX_CUTS, MIN_GAIN, NORMALIZATIONS, Bound, feasible_cuts, parse_rule
from sidecut.methods.csp.pencil import FeasibleCuts
from sidecut.methods.cut import LabelExtension, cut, extend_cut, weighted_means
from sidecut.methods.task import Answer, Task
from sidecut.running import stage
from sidecut.spectral import Eigenpairs, laplacian_eigenpairs

WEIGHTINGS = ("none", "one_minus_cost", "sign", "sign_cost")
#: The share of an unconstrained eigenvector that must be orthogonal to the columns before it becomes one.
MIN_NEW_SHARE = 0.3
#: With beta="auto" and more than 600 points, this many cuts more than the K - 1 that are used are computed:
#: scattered pairs leave hundreds, and the K - 1 of least cost were among the first K + 3 on bundled sets
#: (benchmarks/choices/csp_pairs.py).
SPARE_CUTS = 5


def weigh_cuts(relaxed: FloatArray, costs: FloatArray, weighting: str) -> FloatArray:
    """Return the relaxed indicators D^{-1/2} V, weighed before they are clustered."""
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


@dataclass(frozen=True)
class Completion:
    """Columns from the unconstrained spectrum in place of feasible cuts that do not exist."""

    # They combine unconstrained eigenvectors and feasible cuts, and extend to new points as both do.

    weights: FloatArray
    costs: FloatArray

    def columns(self, graph: FloatArray, cuts: FloatArray) -> FloatArray:
        """Return the columns, given rows of the eigenvectors and of the cuts."""
        return np.hstack([graph, cuts]) @ self.weights


def complete_cuts(gram: FloatArray, price: FloatArray, n_cuts: int, n_columns: int) -> Completion:
    """Return what completes feasible cuts to a given number of columns."""
    # Of the unconstrained eigenvectors, least cost first, what is orthogonal to the cuts and to those taken
    # already; those of which little is left are passed over.
    size = len(gram)
    used = list(range(size - n_cuts, size))
    weights = np.empty((size, 0))
    for j in range(size - n_cuts):
        if n_cuts + weights.shape[1] >= n_columns:
            break
        weight = np.zeros(size)
        weight[used] = -np.linalg.lstsq(gram[np.ix_(used, used)], gram[used, j], rcond=None)[0]
        weight[j] = 1.0
        left = np.sqrt(max(weight @ gram @ weight, 0.0) / gram[j, j])
        if left > MIN_NEW_SHARE:
            weights = np.column_stack([weights, weight / left])
            used.append(j)
    lengths = np.einsum("ij,ij->j", weights, gram @ weights)
    return Completion(weights, np.einsum("ij,ij->j", weights, price @ weights) / lengths)


@dataclass(frozen=True)
class SpectralCompletion(Completion):
    """A completion by the eigenvectors of a graph: their rows D^{-1/2} V and their eigenvalues."""

    others: FloatArray
    eigenvalues: FloatArray


def complete_by_spectrum(
    graph: Graph, best: FeasibleCuts, spectrum: Eigenpairs, n_columns: int
) -> SpectralCompletion:
    """Return what the unconstrained eigenvectors add to feasible cuts, up to a given number of columns."""
    others = np.sqrt(graph.volume) * spectrum.vectors[:, 1:]
    both = np.hstack([others, best.vectors])
    images = both - graph.normalized.apply(both)
    found = complete_cuts(both.T @ both, both.T @ images, best.costs.size, n_columns)
    return SpectralCompletion(found.weights, found.costs, graph.scale[:, None] * others, spectrum.values[1:])


def embed_cuts(
    relaxed: FloatArray, costs: FloatArray, n_clusters: int, weighting: str, scaled: bool
) -> FloatArray:
    """Return the rows that are labelled, from those of D^{-1/2} V."""
    if n_clusters == 2:
        return relaxed
    weighed = weigh_cuts(relaxed, costs, weighting)
    # Of a single cut, unit rows would leave nothing but its sign.
    return unit_rows(weighed) if scaled and weighed.shape[1] > 1 else weighed


@dataclass(frozen=True, eq=False)
class CutsExtension:
    """The rows of feasible cuts for new points: u = (Σ_j W_j u_j) / (d (1 + λ β / vol))."""

    graph: Graph
    best: FeasibleCuts
    completion: SpectralCompletion | None
    beta: float
    how: tuple[int, str, bool]

    def __call__(self, edges: sp.csr_array) -> FloatArray:
        """Return the rows of new points, given their weights to the old ones."""
        rows = weighted_means(edges, self.graph.scale[:, None] * self.best.vectors)
        rows /= 1.0 + self.best.eigenvalues * self.beta / self.graph.volume
        costs = self.best.costs
        if self.completion is not None:
            others = extend_cut(self.completion.others, self.completion.eigenvalues, False, edges)
            rows = np.hstack([rows, self.completion.columns(others, rows)])
            costs = np.concatenate([costs, self.completion.costs])
        return embed_cuts(rows, costs, *self.how)


def label_sides(graph: Graph, rows: FloatArray) -> IntArray:
    """Return the side of `find_split` on which each entry of u*, the only column, lies."""
    return assign_labels(rows - find_split(graph, rows[:, 0]), 2, method="sign")


def find_split(graph: Graph, indicator: FloatArray) -> float:
    """Return where u* is split in two: at zero (algorithm 1), or where that costs least."""
    # With must-links alone Q̄ has no negative entry, and u* can be positive everywhere (Perron and
    # Frobenius): large near the links and almost zero elsewhere. Its sign then says nothing. Of the 32 values
    # at which u* jumps most, the one of least normalised cut is taken instead (Shi & Malik, 2000, section 3).
    if indicator.min() <= 0 < indicator.max():
        return 0.0
    size = np.abs(indicator)
    steps = np.log(np.maximum(np.sort(size), np.finfo(np.float64).eps * size.max(initial=1e-300)))
    jumps = np.diff(steps)
    largest = np.argsort(jumps)[::-1][:32]
    largest = largest[jumps[largest] > 0]
    if largest.size == 0:
        return 0.0
    splits = np.exp((steps[largest] + steps[largest + 1]) / 2)
    inside = (size[:, None] > splits).astype(np.float64)
    volume = graph.degrees @ inside
    leaving = volume - np.einsum("ij,ij->j", inside, graph.apply(inside))
    # cut (1/vol A + 1/vol B), up to the factor vol G.
    product = volume * (graph.volume - volume)
    costs = np.divide(leaving, product, out=np.full(product.size, np.inf), where=product > 0)
    return float(np.copysign(splits[costs.argmin()], indicator[0]))


@documented
@dataclass(eq=False, repr=False)
class CSP(TakesConstraints, SpectralClusterer):
    """Flexible constrained spectral clustering (Wang, Qian & Davidson, 2014).

    Among the cuts that satisfy the constraints to at least β, those of least normalised cut. Constraints are
    beliefs: any real number per pair, hard or soft, consistent or not. The generalised eigenproblem of eq. 13
    is solved exactly in near-linear time; how many feasible cuts there are is known beforehand.

    Parameters
    ----------
    n_clusters : int, default=8
        K. Two clusters are the sign of the best cut (algorithm 1), or the least normalised cut along it where
        it has one sign only; for more, the K - 1 best cuts are an embedding that is clustered (algorithm 2).
    beta : number or rule, default="auto"
        How far the constraints must be satisfied, uᵀQu > β. A number; "auto", β = λ vol (0.1 + 1.5 s) with
        the share s = √nnz(Q) / N of labelled points, at most 0.9 λ vol; "eq19", β = λ vol (0.5 + 0.4 nnz(Q) /
        N²); "one", as large as leaves one feasible cut (section 7.3); ("fraction", f), β = f λ vol. λ is
        λ_{K-1}(Q̄), the largest that leaves K - 1 cuts. With "auto", unconstrained eigenvectors complete the
        embedding where there are fewer cuts, other β are tried where pairs are many, and k-means also starts
        from the known classes.
    normalization : {"target", "source"}, default="target"
        Q̄ is Q scaled by the degrees of the graph, or by its own (transfer from a source graph, section 6.3).
    weighting : {"none", "one_minus_cost", "sign", "sign_cost"}, default="none"
        How cuts are weighed before they are clustered: not at all; by 1 - cost, as the authors' code does;
        only their signs (eq. 15); their signs over their costs (eq. 16 amended; as printed it equals eq. 15).
    tol : float, default=1e-6
        Relative residual of the eigenvectors.
    warm_start : bool, default=False
        Use the graph of the previous fit again if the data are the same, and start from its eigenvectors:
        many times faster where constraints are added a few at a time: the graph takes most of the time.
    {graph}
    {rows}
    {constraints}
    {all}

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        The cluster of every point.
    embedding_ : array of shape (n_samples, n_clusters - 1)
        What was handed to the labelling; that of `NormalizedCut`, with one more column, where the
        unconstrained cut was kept.
    eigenvalues_, eigenvectors_ : arrays of shape (n_clusters - 1,) and (n_samples, n_clusters - 1)
        λ and v of the best feasible cuts, vᵀv = vol.
    costs_ : array of shape (n_clusters - 1,)
        vᵀL̄v of the unit vectors.
    indicator_ : array of shape (n_samples,)
        u* = D^{-1/2} v*, the relaxed indicator of the best cut.
    cuts_ : FeasibleCuts
        All feasible cuts, up to 300; with ``beta="auto"`` and more than 600 points, up to K + 4: λ, cost,
        satisfaction; `print(model.cuts_)` is a table.
    n_feasible_ : int
        How many feasible cuts there are; a lower bound where more than 1,000 points are constrained and only
        some of the cuts are computed.
    beta_ : float
        The β that was used.
    {cut_graph}
    {results}

    See Also
    --------
    E2CP : Spreads constraints over the graph; strong with pairs.
    SCACS : The same idea over landmarks, for millions of points.
    NormalizedCut : The same cut without constraints.

    References
    ----------
    X. Wang, B. Qian, I. Davidson: On constrained spectral clustering and its applications. Data Mining and
    Knowledge Discovery 28, 2014.

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

    _: KW_ONLY
    beta: Bound = "auto"
    normalization: str = "target"
    weighting: str = "none"
    tol: float = 1e-6
    warm_start: bool = False
    rules: ClassVar[dict[str, Rule]] = {
        "normalization": one_of(*NORMALIZATIONS),
        "weighting": one_of(*WEIGHTINGS),
        "tol": check_tolerance,
        "warm_start": check_flag,
        "beta": parse_rule,
    }

    published: ClassVar[dict[str, Any]] = {"safe": False, "beta": "eq19", "unit_rows": False}

    @property
    def _must_follow(self) -> bool:
        # A source graph says something about every point, and a β that is given is to be used.
        return not self._is_auto or self.normalization != "target"

    @property
    def _is_auto(self) -> bool:
        return isinstance(self.beta, str) and self.beta == "auto"

    def _solve(self, task: Task) -> Answer:
        graph, known, k = task.graph, task.constraints, task.n_clusters
        if known.is_empty:
            return cut(graph, task, self)
        warn_about_graph(graph, k)
        completes = self._is_auto and self.normalization == "target" and k > 1
        spectrum = cache(partial(self._spectrum, task))
        with stage("embedding"):
            cuts = self._find_cuts(task, spectrum if completes else None)
            best = cuts.first(max(k - 1, 1))
            relaxed, costs = graph.scale[:, None] * best.vectors, best.costs
            completion = None
            if costs.size < k - 1 and completes:
                completion = complete_by_spectrum(graph, best, spectrum(), k - 1)
                relaxed = np.hstack([relaxed, completion.columns(completion.others, relaxed)])
                costs = np.concatenate([costs, completion.costs])
            elif costs.size < k - 1:
                warn_about_missing_cuts(cuts, k)
            rows = embed_cuts(relaxed, costs, k, self.weighting, self.unit_rows)
        with stage("labels"):
            labels = self._label(rows, task, seeded=completes)
        # Algorithm 1 for two clusters: the sides of u*.
        split = find_split(graph, rows[:, 0]) if k == 2 and rows.shape[1] == 1 else None
        how = (k, self.weighting, self.unit_rows)
        new_rows = CutsExtension(graph, best, completion, cuts.beta, how)
        return Answer(
            labels,
            rows,
            graph,
            cuts.certify(best),
            extend=LabelExtension(rows, labels, new_rows, split),
            results={
                "cuts_": cuts,
                "beta_": cuts.beta,
                "n_feasible_": cuts.n_feasible,
                "costs_": best.costs,
                "indicator_": relaxed[:, 0],
            },
        )

    def _spectrum(self, task: Task) -> Eigenpairs:
        """Return the unconstrained eigenvectors, those of `NormalizedCut` to the bit."""
        if task.plain is not None and task.plain.solution is not None:
            return task.plain.solution
        return laplacian_eigenpairs(
            task.graph, task.n_clusters, solver=self.eigen_solver, random_state=task.rng()
        )

    def _find_cuts(self, task: Task, spectrum: Callable[[], Eigenpairs] | None) -> FeasibleCuts:
        """Return the feasible cuts (eq. 13); with many constraints, for the β of the best `_score`."""
        k = task.n_clusters
        before = None if task.start is None else task.start.results.get("cuts_")
        is_rough = task.sample is not None
        return feasible_cuts(
            task.graph,
            task.constraints,
            self.beta,
            n_clusters=k,
            normalization=self.normalization,
            # With a part of the constraints a thousandth is enough: the guard compares labels.
            tol=max(self.tol, 1e-3) if is_rough else self.tol,
            start=None if before is None else before.vectors,
            max_cuts=max(k - 1, 1) + SPARE_CUTS if self._is_auto else MAX_CUTS,
            smooth=None if spectrum is None else lambda: spectrum().vectors,
            score=None if spectrum is None or is_rough else partial(self._score, task),
        )

    def _score(self, task: Task, cuts: FeasibleCuts) -> float:
        """Return how far the constraints agree with the labels of cuts, and with those around the points."""
        # The mean of both: labels alone may follow pairs against all neighbours, and the labels around points
        # lag behind where clusters overlap.
        graph, known, k = task.graph, task.constraints, task.n_clusters
        best = cuts.first(max(k - 1, 1))
        rows = embed_cuts(graph.scale[:, None] * best.vectors, best.costs, k, self.weighting, self.unit_rows)
        labels = label_sides(graph, rows) if rows.shape[1] == 1 else rough_labels(rows, k, self.n_init)
        around = majority_of_neighbors(graph, labels, k)
        return 0.5 * (known.agreement(labels) + known.agreement(around))

    def _label(self, rows: FloatArray, task: Task, seeded: bool) -> IntArray:
        """Return the clusters of the rows; with `seeded`, k-means also starts from the known classes."""
        known, k, n_init = task.constraints, task.n_clusters, self.n_init
        if k == 2 and rows.shape[1] == 1:
            return label_sides(task.graph, rows)
        if task.sample is not None:
            labels: IntArray = np.full(len(rows), -1, dtype=np.intp)
            some = replace(task, constraints=known.restricted_to(task.sample), sample=None)
            model = type(self)(k, n_init=min(n_init, 3))
            labels[task.sample] = model._label(rows[task.sample], some, seeded)
            return labels
        labels = assign_labels(rows, k, n_init=n_init, random_state=task.seed)
        seeds = seed_centers(rows, known, k) if seeded else None
        if seeds is None:
            return labels
        other = kmeans_from(rows, seeds)
        return other if known.agreement(other) > known.agreement(labels) + MIN_GAIN else labels


def warn_about_missing_cuts(cuts: FeasibleCuts, n_clusters: int) -> None:
    """Warn that fewer feasible cuts exist than an embedding in K - 1 columns uses."""
    warn(
        f"n_clusters={n_clusters} would use {n_clusters - 1} feasible cuts, but with beta={cuts.beta:.4g} "
        f"there are {cuts.n_feasible}; the embedding has fewer columns. beta='auto' completes it; a smaller "
        "beta, or constraints that separate more clusters, give more cuts.",
        ConstraintWarning,
    )
