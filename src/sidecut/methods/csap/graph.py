"""The affinity that links make of a graph, in whatever form the graph is: Algorithms A and B."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, TypeGuard

import numpy as np
import scipy.sparse as sp

from sidecut.arrays import FloatArray, IntArray
from sidecut.constraints import Constraints
from sidecut.exceptions import ConstraintError
from sidecut.graphs import Graph, TiledGraph, columns_of, correct_weights
from sidecut.graphs.resolvent import JoinedResolventGraph, ResolventGraph
from sidecut.methods.csap.conditioned_graph import ConditionedGraph, largest_affinities
from sidecut.methods.csap.divergence import bounded_alone, project_on_links
from sidecut.methods.csap.kernel import (
    Observations,
    join_points,
    observe_links,
    rival_updates,
    spent_factor,
)

#: Links whose factors would take more memory than this are refused.
MOST_BYTES = 8 * 2**30
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
#: Bounds have a multiplier each, found by visiting all of them again and again: at most so many.
BOUNDED_LINKS = 1_000


@dataclass(frozen=True)
class NoisyLinks:
    """The links among the constrained points, numbered among themselves, with the noise of each."""

    points: IntArray
    must: IntArray
    cannot: IntArray
    eps_must: FloatArray
    eps_cannot: FloatArray
    groups: IntArray

    @classmethod
    def of(cls, constraints: Constraints, eps_must: float, eps_cannot: float) -> NoisyLinks:
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
        return observe_links(len(self.points), self.must, self.eps_must, sign=-1)

    def cannot_observations(self) -> Observations:
        """What the cannot-links observe together."""
        return observe_links(len(self.points), self.cannot, self.eps_cannot, sign=1)

    def cannot_observations_apart(self) -> Observations:
        """What every cannot-link observes alone."""
        kept = self._speakers()
        return observe_links(len(self.points), self.cannot[kept], self.eps_cannot[kept], sign=1, merge=False)

    def neighbourhoods(self, graph: Graph) -> Iterator[IntArray]:
        """The points near each must-linked set of a sparse graph, its own included."""
        near = sp.csc_array(graph.matrix)[:, self.points]
        joined = np.bincount(self.groups)[self.groups] > 1
        for number in np.unique(self.groups[joined]):
            members = np.flatnonzero(self.groups == number)
            yield np.union1d(near[:, members].indices, self.points[members])

    def within_bounds(self, columns: Any, algorithm: str) -> tuple[NoisyLinks, FloatArray]:
        """Read every ε² as a bound instead (appendix A): return the links with the noise that meets it.

        Algorithm A meets all bounds together; Algorithm B those of must-links, and that of every cannot-link
        alone. A bound that holds anyway needs no link.

        Parameters
        ----------
        columns : array of shape (n, c)
            The covariance at the linked points.
        algorithm : {"A", "B"}
            Which.

        Returns
        -------
        links : NoisyLinks
            Those with a multiplier.
        multipliers : array of shape (n_links,)
            λ_k of eq. 9, of the must-links and then of the cannot-links.
        """
        n_must, n_links = len(self.must), len(self.must) + len(self.cannot)
        if n_links > BOUNDED_LINKS:
            raise ConstraintError(
                f"form='divergence' takes up to {BOUNDED_LINKS:,} links, as each has a multiplier; there "
                f"are {n_links:,}. Use fewer pairs or labels, or form='likelihood'."
            )
        covariance = columns[self.points]
        if sp.issparse(covariance):
            covariance = covariance.toarray()
        must = observe_links(len(self.points), self.must, self.eps_must, sign=-1, merge=False)
        cannot = observe_links(len(self.points), self.cannot, self.eps_cannot, sign=1, merge=False)
        if algorithm == "A":
            both = join_points(must, cannot)
            found = project_on_links(both.covariance(covariance), both.variances)[0]
        else:
            found = project_on_links(must.covariance(covariance), must.variances)[0]
            active = Observations(must.directions[:, found > 0], 1.0 / found[found > 0])
            spent = spent_factor(covariance, np.arange(len(covariance)), active)
            left = covariance - spent @ spent.T
            alone = bounded_alone(np.diagonal(cannot.covariance(left)), cannot.variances)
            found = np.concatenate([found, alone])
        return self._with_noise(found[:n_must], found[n_must:]), 0.5 * found

    def _with_noise(self, must: FloatArray, cannot: FloatArray) -> NoisyLinks:
        """Return the links whose precisions are positive, with ε² = 1/precision."""
        return replace(
            self,
            must=self.must[must > 0],
            cannot=self.cannot[cannot > 0],
            eps_must=must[must > 0] ** -0.5,
            eps_cannot=cannot[cannot > 0] ** -0.5,
        )

    def _speakers(self) -> IntArray:
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


def condition_graph(
    graph: Graph, columns: Any, links: NoisyLinks, algorithm: str, n_affinities: int | None = None
) -> Graph:
    """Return the affinity A of Algorithm A or B, in memory if the graph is or could be.

    Algorithm A is max(0, K̄) with all links observed together. Algorithm B observes the must-links, which
    gives Kᵐ, and then every cannot-link alone. Each is a rank-one update u_k u_kᵀ of Kᵐ, so that the
    smallest of all is A_ij = max(0, Kᵐ_ij - max_k u_ik u_jk).

    Parameters
    ----------
    graph : Graph
        The affinities.
    columns : dense or sparse array of shape (n, c)
        The covariance at the linked points, see `make_prior`.
    links : NoisyLinks
        The links.
    algorithm : {"A", "B"}
        Which.
    n_affinities : int, optional
        How many affinities a point keeps beside its edges, where the graph is sparse; all if left out.
    """
    must = links.must_observations()
    if algorithm == "A":
        both = join_points(must, links.cannot_observations())
        _refuse_too_much_memory(graph.n_nodes, len(links.points), both.size)
        spent, rivals = spent_factor(columns, links.points, both), None
    else:
        apart = links.cannot_observations_apart()
        _refuse_too_much_memory(graph.n_nodes, len(links.points), must.size + apart.size)
        spent = spent_factor(columns, links.points, must)
        rivals = rival_updates(columns, links.points, apart, spent)
    if _stays_positive(graph, links):
        return JoinedResolventGraph(graph, spent, links.points[links.must])
    conditioned = ConditionedGraph(graph, spent, rivals)
    if sp.issparse(graph.matrix):
        return largest_affinities(conditioned, links.neighbourhoods(graph), n_affinities)
    return _keep(conditioned)


def _refuse_too_much_memory(n_nodes: int, n_points: int, n_observations: int) -> None:
    """Refuse links whose factors would not fit, before any is made."""
    # F and what it is solved from, their covariance and its root, and the directions.
    needed = 8 * n_observations * (3 * n_nodes + 2 * n_observations + n_points)
    if needed > MOST_BYTES:
        raise ConstraintError(
            f"CSAP would need about {needed / 2**30:.0f} GB for {n_observations:,} observations of "
            f"{n_points:,} linked points among {n_nodes:,}, more than {MOST_BYTES / 2**30:.0f}. Use fewer "
            "links or labels, or NCSC, whose memory does not grow with them."
        )


def _stays_positive(graph: Graph, links: NoisyLinks) -> TypeGuard[ResolventGraph]:
    """Say whether a kernel too large for memory can be applied as it is, as nothing in it will be clipped."""
    is_resolvent = isinstance(graph, ResolventGraph) and graph.n_nodes > APPLIED_IN_MEMORY
    return is_resolvent and len(links.cannot) == 0 and not np.isin(links.points, graph.isolated).any()


def _keep(conditioned: ConditionedGraph) -> Graph:
    """Return A in the form W has, dense or in tiles; in memory if W is small and only applied."""
    graph = conditioned.graph
    is_small = graph.n_nodes <= APPLIED_IN_MEMORY and not isinstance(graph, TiledGraph)
    return conditioned.materialized() if is_small or graph.matrix is not None else conditioned


def with_stranded_points(affinity: Graph, graph: Graph, links: NoisyLinks) -> Graph:
    """Give points that links left without any affinity the one they had, their cannot-links apart.

    Clipping can leave a cannot-linked point nothing at all, and a cut can say nothing about such a point. It
    then keeps its row of W, but for the points that it cannot be with.

    Parameters
    ----------
    affinity : Graph
        A, where points may be stranded.
    graph : Graph
        W.
    links : NoisyLinks
        The links.
    """
    if affinity.isolated.size == 0:
        return affinity
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
    return correct_weights(affinity, sp.csr_array(restored.maximum(restored.T)))
