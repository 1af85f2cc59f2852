"""What `safe=True` compares: the constrained cut, told more or less, and the cut of the graph."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from sidecut.arrays import FloatArray, IntArray
from sidecut.constraints import Constraints
from sidecut.exceptions import ConstraintError, SpectralError
from sidecut.graphs import Graph, normalize
from sidecut.labelling import assign_labels, rough_labels, unit_rows
from sidecut.labelling.assign import FEW_STARTS, SOME_ROWS, kmeans_from
from sidecut.labelling.labels import what_neighbors_say
from sidecut.methods.csp.cuts import FeasibleCuts
from sidecut.methods.csp.embedding import Completion, complete_cuts, label_sides
from sidecut.methods.safeguard import Judgement, KnownPairs, is_enough, settle_by_graph
from sidecut.spectral import Eigenpairs, laplacian_eigenpairs

if TYPE_CHECKING:
    from sidecut.methods.csp.estimator import CSP


#: Cuts that are told a part only are found to this tolerance.
REFIT_TOLERANCE = 1e-3
#: Two answers to which neighbours agree within this are taken to be equally good.
SLIGHTLY = 0.002


class CutTrial:
    """What CSP compares: its own cut, told more or less, and that of the graph.

    Parameters
    ----------
    model : CSP
        The settings.
    graph : Graph
        The graph.
    constraints : Constraints
        What is known.
    rng : RandomState
        For the cut of the graph, which is that of `NormalizedCut` to the bit.
    """

    def __init__(
        self, model: CSP, graph: Graph, constraints: Constraints, rng: np.random.RandomState
    ) -> None:
        self.model, self.graph, self.constraints, self.rng = model, graph, constraints, rng
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

    @cached_property
    def known(self) -> KnownPairs:
        """What is known, listed."""
        return KnownPairs(self.constraints, np.random.RandomState(0))

    def settle_by_graph(self) -> Judgement | None:
        """Keep the cut of the graph where little is known, if it satisfies that or nothing can be told."""
        if is_enough(self.known, self.model.n_clusters):
            return None
        return settle_by_graph(self.known, self.graph_labels)

    def find_cuts(self, start: FloatArray | None) -> FeasibleCuts:
        """Return the feasible cuts of all that is known; where that is much, with the β that serves best."""
        is_ample = is_enough(self.known, self.model.n_clusters)
        return self.model.find_cuts(
            self.graph,
            self.constraints,
            start,
            lambda: self.spectrum.vectors,
            self.score if is_ample else None,
        )

    def score(self, vectors: FloatArray, costs: FloatArray) -> float:
        """Tell how far neighbours agree with what is known, roughly: k-means sees some of the points."""
        return self._neighbors_agree(self._label_roughly(self.model.embed_cuts(self.scale * vectors, costs)))

    def is_doubtful(self, labels: IntArray) -> bool:
        """Tell whether the graph alone might do better than an answer to scattered pairs."""
        if self.known.groups.max(initial=-1) < self.model.n_clusters:
            return False
        rough = self._neighbors_agree(self._label_roughly(self.graph_rows))
        return self._neighbors_agree(labels) < rough - SLIGHTLY

    def _neighbors_agree(self, labels: IntArray) -> float:
        return self.known.agreement(what_neighbors_say(self.graph, labels, self.model.n_clusters))

    def _label_roughly(self, rows: FloatArray) -> IntArray:
        if rows.shape[1] == 1:
            return label_sides(self.graph, rows)
        return rough_labels(rows, self.model.n_clusters)

    def embed(self, cuts: FeasibleCuts) -> tuple[FloatArray, Completion | None]:
        """Return the rows of the best cuts, and the eigenvectors that take the place of missing ones."""
        model, needed = self.model, self.model.n_clusters - 1
        best = cuts.first(needed)
        relaxed = self.scale * best.vectors
        if best.costs.size >= needed:
            return model.embed_cuts(relaxed, best.costs), None
        others = np.sqrt(self.graph.volume) * self.spectrum.vectors[:, 1:]
        both = np.hstack([others, best.vectors])
        images = both - normalize(self.graph).apply(both)
        completion = complete_cuts(both.T @ both, both.T @ images, best.costs.size, needed)
        columns = completion.columns(self.scale * others, relaxed)
        costs = np.concatenate([best.costs, completion.costs])
        return model.embed_cuts(np.hstack([relaxed, columns]), costs), completion

    def label(
        self, rows: FloatArray, constraints: Constraints, n_init: int | None = None
    ) -> dict[str, IntArray]:
        """Return the answers the rows allow: k-means as it is, and started from the known classes."""
        model = self.model
        n_init = model.n_init if n_init is None else n_init
        if model.n_clusters == 2 and rows.shape[1] == 1:
            return {"sign": label_sides(self.graph, rows)}
        answers = {
            "kmeans": assign_labels(rows, model.n_clusters, n_init=n_init, random_state=self.other_rng)
        }
        seeds = seed_centers(rows, constraints, model.n_clusters)
        if seeds is not None:
            answers["seeded"] = kmeans_from(rows, seeds)
        return answers

    def refit(self, told: Constraints, start: FloatArray) -> dict[str, IntArray] | None:
        """Return the answers where only a part is told, looked at where something is known."""
        if told.is_empty:
            return None
        try:
            cuts = self.model.find_cuts(
                self.graph,
                told,
                start,
                lambda: self.spectrum.vectors,
                tol=max(self.model.tol, REFIT_TOLERANCE),
            )
        except (ConstraintError, SpectralError):
            return None
        rows = self.embed(cuts)[0]
        if rows.shape[1] == 1:
            return self.label(rows, told)
        seen = self._looked_at
        n_init = self.model.n_init if seen.size == len(rows) else min(self.model.n_init, FEW_STARTS)
        answers = self.label(rows[seen], told.restricted_to(seen), n_init)
        found: dict[str, IntArray] = {name: np.zeros(len(rows), dtype=np.intp) for name in answers}
        for name, labels in answers.items():
            found[name][seen] = labels
        return found

    @cached_property
    def _looked_at(self) -> IntArray:
        """The points that something is known about, and some of the others."""
        n_nodes, rng = self.graph.n_nodes, np.random.RandomState(0)
        some = rng.choice(n_nodes, min(SOME_ROWS, n_nodes), replace=False)
        return np.union1d(some, self.constraints.constrained_points)


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
