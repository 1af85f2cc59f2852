"""Must-linked sets as one weighted point each, and which of them must be apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from sidecut.arrays import FloatArray, IntArray
from sidecut.constraints import Constraints
from sidecut.exceptions import InfeasibleError, LabellingWarning, warn
from sidecut.labelling.coloring.assignment import Assigner
from sidecut.labelling.coloring.conflict_graph import ConflictGraph, find_colouring


@dataclass(frozen=True, eq=False)
class MustLinkedSets:
    """The sets that must-links join the points to; most points are alone in theirs.

    Parameters
    ----------
    of_point : ndarray of shape (n_samples,)
        The set of every point; most are alone in theirs.
    sizes : ndarray of shape (n_sets,)
        How many points each set has.
    linked : ndarray of shape (m,)
        The sets that are apart from others.
    graph : ConflictGraph
        Which of the linked sets are apart.
    strengths : ndarray of shape (r,)
        The total strength of the cannot-links behind each edge of the graph.
    witnesses : ndarray of shape (r, 2)
        For each edge two points that were said to be apart.
    """

    of_point: IntArray
    sizes: IntArray
    linked: IntArray
    graph: ConflictGraph
    strengths: FloatArray
    witnesses: IntArray

    @property
    def n_sets(self) -> int:
        """How many sets there are."""
        return len(self.sizes)

    def summed(self, values: Any) -> Any:
        """Add up the rows of one value per point to one per set; dense or sparse."""
        n = len(self.of_point)
        if self.n_sets == n:
            return values
        dtype = values.dtype if values.dtype.kind == "f" else np.float64
        shape = (self.n_sets, n)
        return (
            sparse.csr_array((np.ones(n, dtype=dtype), (self.of_point, np.arange(n))), shape=shape) @ values
        )

    def assigner(self, n_clusters: int, max_steps: int) -> Assigner:
        """Return what assigns the linked sets to clusters.

        Parameters
        ----------
        n_clusters : int
            How many clusters there are.
        max_steps : int
            How long to search for a first assignment that respects the cannot-links.

        Raises
        ------
        InfeasibleError
            If there is none, with the cannot-links to blame; or if none was found in so many steps.
        """
        verdict = find_colouring(self.graph, n_clusters, max_steps)
        if verdict.colours is not None:
            return Assigner(self.graph, verdict.colours)
        if verdict.impossible:
            raise self._infeasible(verdict.blame, n_clusters)
        raise InfeasibleError(
            f"no assignment to n_clusters={n_clusters} clusters was found that satisfies the "
            f"{len(self.graph.edges)} cannot-links, in max_steps={max_steps} steps; this does not prove that "
            "there is none: raise max_steps or n_clusters, or drop some cannot-links.",
        )

    def _infeasible(self, blame: IntArray, n_clusters: int) -> InfeasibleError:
        among = np.isin(self.graph.edges, blame).all(axis=1)
        pairs = self.witnesses[among]
        shown = ", ".join(f"({i}, {j})" for i, j in pairs[:10].tolist())
        more = f" and {len(pairs) - 10} more" if len(pairs) > 10 else ""
        together = "" if self.n_sets == len(self.of_point) else " (points joined by must-links count as one)"
        if len(pairs) == len(blame) * (len(blame) - 1) // 2:
            reason = f"they set {len(blame)} points apart from each other"
        else:
            reason = "there is no way to colour them"
        return InfeasibleError(
            f"no assignment to n_clusters={n_clusters} clusters satisfies the {len(pairs)} cannot-links "
            f"{shown}{more}{together}: {reason}; choose a larger n_clusters or correct them.",
            pairs,
        )


def find_must_linked_sets(constraints: Constraints) -> MustLinkedSets:
    """Return the sets that constraints make of the points.

    Parameters
    ----------
    constraints : Constraints
        All taken as facts, whatever their strength.

    Raises
    ------
    ConflictError
        If they contradict each other, with the chain of must-links that proves it.

    Examples
    --------
    >>> links = Constraints.from_pairs(5, must_link=[(1, 3)], cannot_link=[(0, 1), (0, 3)])
    >>> sets = find_must_linked_sets(links)
    >>> sets.of_point, sets.linked, sets.strengths
    (array([0, 1, 2, 1, 3]), array([0, 1]), array([2.]))
    """
    seen = constraints.contracted()
    of_point = constraints.must_link_components()
    set_of = np.empty(seen.n_components, dtype=np.int64)
    set_of[seen.component] = of_point[seen.points]
    linked, ends = np.unique(set_of[seen.apart], return_inverse=True)
    edges = ends.reshape(-1, 2).astype(np.int64)
    return MustLinkedSets(
        of_point,
        np.bincount(of_point),
        linked.astype(np.int64),
        ConflictGraph(len(linked), edges),
        seen.strengths,
        seen.witnesses,
    )


def warn_about_few_sets(sets: MustLinkedSets, n_clusters: int) -> None:
    """Warn where must-links leave fewer sets than clusters."""
    if sets.n_sets < n_clusters:
        warn(
            f"must-links join the points to {sets.n_sets} groups, fewer than n_clusters={n_clusters}: some "
            f"clusters stay empty. Choose n_clusters <= {sets.n_sets}.",
            LabellingWarning,
        )
