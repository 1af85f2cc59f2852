"""From feasible cuts to rows and labels, for any part of what is known, beside the cut of the graph alone."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from sidecut.arrays import FloatArray, IntArray
from sidecut.constraints import Constraints
from sidecut.exceptions import ConstraintError, SpectralError
from sidecut.graphs import Graph, NormalizedAffinity
from sidecut.labelling import assign_labels, rename_by_first_appearance, unit_rows
from sidecut.methods.csp.cuts import FeasibleCuts
from sidecut.methods.safeguard import KnownPairs
from sidecut.spectral import Eigenpairs, laplacian_eigenpairs

if TYPE_CHECKING:
    from sidecut.methods.csp.estimator import CSP


@dataclass(frozen=True)
class CutRows:
    """The rows of an embedding by feasible cuts, and what completes these."""

    rows: FloatArray
    completion: Completion | None


class CutTrial:
    """What CSP compares: its own cut, told more or less, and that of the graph.

    Parameters
    ----------
    model : CSP
        The settings.
    graph : Graph
        The graph.
    rng : RandomState
        For the cut of the graph, which is that of `NormalizedCut` to the bit.
    """

    def __init__(self, model: CSP, graph: Graph, rng: np.random.RandomState) -> None:
        self.model, self.graph, self.rng = model, graph, rng
        self.scale: FloatArray = graph.scale[:, None]
        # The constrained cut draws the same numbers whether the cut of the graph is needed or not.
        self.other_rng = np.random.RandomState()
        self.other_rng.set_state(rng.get_state())

    @cached_property
    def spectrum(self) -> Eigenpairs:
        """The unconstrained eigenvectors."""
        model = self.model
        return laplacian_eigenpairs(
            self.graph, model.n_clusters, solver=model.eigen_solver, random_state=self.rng
        )

    @cached_property
    def graph_rows(self) -> FloatArray:
        """The embedding of the normalised cut."""
        relaxed = self.scale * self.spectrum.vectors
        return unit_rows(relaxed) if self.model.unit_rows else relaxed

    @cached_property
    def graph_labels(self) -> IntArray:
        """The labels of the normalised cut."""
        rows = self.graph_rows
        return assign_labels(rows, self.model.n_clusters, n_init=self.model.n_init, random_state=self.rng)

    def cut_graph(self) -> IntArray:
        """Return the labels of the normalised cut, found once."""
        return self.graph_labels

    def embed(self, cuts: FeasibleCuts) -> CutRows:
        """Return the rows of the best cuts; unconstrained eigenvectors take the place of missing ones."""
        model, needed = self.model, self.model.n_clusters - 1
        best = cuts.first(needed)
        relaxed = self.scale * best.vectors
        if best.costs.size >= needed:
            return CutRows(model.embed_cuts(relaxed, best.costs), None)
        others = np.sqrt(self.graph.volume) * self.spectrum.vectors[:, 1:]
        both = np.hstack([others, best.vectors])
        images = both - NormalizedAffinity(self.graph).apply(both)
        completion = complete_cuts(both.T @ both, both.T @ images, best.costs.size, needed)
        columns = completion.columns(self.scale * others, relaxed)
        costs = np.concatenate([best.costs, completion.costs])
        return CutRows(model.embed_cuts(np.hstack([relaxed, columns]), costs), completion)

    def label(self, rows: FloatArray, constraints: Constraints) -> dict[str, IntArray]:
        """Return the answers the rows allow: k-means as it is, and started from the known classes."""
        model = self.model
        if model.n_clusters == 2 and rows.shape[1] == 1:
            return {"sign": assign_labels(rows, 2, method="sign")}
        answers = {
            "kmeans": assign_labels(rows, model.n_clusters, n_init=model.n_init, random_state=self.other_rng)
        }
        seeds = seed_centers(rows, constraints, model.n_clusters)
        if seeds is not None:
            with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):
                found = KMeans(model.n_clusters, init=seeds, n_init=1).fit(rows).labels_
            answers["seeded"] = rename_by_first_appearance(found.astype(np.intp))
        return answers

    def refit(self, told: Constraints, start: FloatArray) -> dict[str, IntArray] | None:
        """Return the answers where only a part is told, looked at where something is known."""
        if told.is_empty:
            return None
        try:
            cuts = self.model.find_cuts(self.graph, told, start)
        except (ConstraintError, SpectralError):
            return None
        return self.label(self.embed(cuts).rows, told)


def seed_centers(rows: FloatArray, constraints: Constraints, n_clusters: int) -> FloatArray | None:
    """Return the means of the known classes as starts of k-means, completed by the rows furthest from them.

    Parameters
    ----------
    rows : array of shape (n, m)
        The embedding.
    constraints : Constraints
        What is known.
    n_clusters : int
        K.

    Returns
    -------
    array of shape (K, m) or None
        None where must-links leave more than K sets, as scattered pairs do.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut import Constraints
    >>> from sidecut.methods.csp.trial import seed_centers
    >>> known = Constraints.from_labels([0, 0, 1, -1])
    >>> seed_centers(np.array([[0.0], [2.0], [5.0], [9.0]]), known, 3).ravel()
    array([1., 5., 9.])
    """
    known = KnownPairs(constraints, np.random.RandomState(0))
    n_groups = int(known.groups.max(initial=-1)) + 1
    if not 0 < n_groups <= n_clusters:
        return None
    members = rows[known.points]
    centers = [members[known.groups == group].mean(axis=0) for group in range(n_groups)]
    distance = np.min([np.square(rows - center).sum(axis=1) for center in centers], axis=0)
    while len(centers) < n_clusters:
        centers.append(rows[distance.argmax()])
        distance = np.minimum(distance, np.square(rows - centers[-1]).sum(axis=1))
    return np.array(centers)


# From feasible cuts to rows: how cuts are weighed, and what takes the place of cuts that are missing.


#: An eigenvector of which no more than this share is new is not worth a column.
LEAST_LEFT = 0.3

WEIGHTINGS = ("none", "one_minus_cost", "sign", "sign_cost")


def weigh_cuts(relaxed: FloatArray, costs: FloatArray, weighting: str) -> FloatArray:
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
    >>> from sidecut.methods.csp.trial import weigh_cuts
    >>> weigh_cuts(np.array([[0.3, -2.0]]), np.array([0.5, 0.25]), "sign_cost")
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


@dataclass(frozen=True)
class Completion:
    """Columns from the unconstrained spectrum in place of feasible cuts that do not exist.

    They combine unconstrained eigenvectors and feasible cuts, and extend to new points as both do.

    Attributes
    ----------
    weights : array of shape (q + m, r)
        How the columns combine q eigenvectors and m cuts, in this order.
    costs : array of shape (r,)
        vᵀL̄v of the unit vectors.
    """

    weights: FloatArray
    costs: FloatArray

    def columns(self, graph: FloatArray, cuts: FloatArray) -> FloatArray:
        """Return the columns, given rows of the eigenvectors and of the cuts."""
        return np.hstack([graph, cuts]) @ self.weights


def complete_cuts(gram: FloatArray, price: FloatArray, n_cuts: int, n_columns: int) -> Completion:
    """Return what completes feasible cuts to a given number of columns.

    Of the unconstrained eigenvectors, least cost first, what is orthogonal to the cuts and to those taken
    already; those of which little is left are passed over.

    Parameters
    ----------
    gram, price : arrays of shape (q + m, q + m)
        Products vᵀw and vᵀL̄w of q unconstrained eigenvectors, least cost first, the trivial one left out, and
        m feasible cuts.
    n_cuts : int
        m.
    n_columns : int
        How many columns there shall be together, if the eigenvectors allow.

    Examples
    --------
    One cut is known; of two eigenvectors, the one it leaves out is added.

    >>> import numpy as np
    >>> from sidecut.methods.csp.trial import complete_cuts
    >>> vectors = np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
    >>> costs = np.diag([0.1, 0.2])
    >>> added = complete_cuts(vectors.T @ vectors, vectors.T @ costs @ vectors, n_cuts=1, n_columns=2)
    >>> added.columns(vectors[:, :2], vectors[:, 2:]).ravel(), added.costs.round(3)
    (array([0., 1.]), array([0.2]))
    """
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
        if left > LEAST_LEFT:
            weights = np.column_stack([weights, weight / left])
            used.append(j)
    lengths = np.einsum("ij,ij->j", weights, gram @ weights)
    return Completion(weights, np.einsum("ij,ij->j", weights, price @ weights) / lengths)
