"""Algorithms A and B on a graph of any form: the affinity conditioned on links."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeGuard

import numpy as np
import scipy.sparse as sp
from scipy.linalg import eigh
from scipy.sparse.linalg import LinearOperator
from sklearn.utils import gen_batches

from sidecut.checks import FloatArray, IntArray
from sidecut.constraints import Constraints
from sidecut.exceptions import ConstraintError
from sidecut.graphs import (
    GaussianGraph,
    HeatGraph,
    JoinedResolventGraph,
    ResolventGraph,
    TiledGraph,
    columns_of,
    correct_weights,
)
from sidecut.graphs.graph import DenseGraph, Graph, SparseGraph
from sidecut.graphs.lazy import ROUNDING, KeptTiledGraph, rows_of
from sidecut.methods.csap.kernel import (
    Observations,
    downdate_factor,
    join_points,
    observe_links,
    rival_updates,
)
from sidecut.spectral.lanczos import largest_eigenvectors

#: Up to this many nodes the smallest eigenvalue is computed densely.
DENSE_NODES = 400
#: Variance of points without links, as a multiple of what K needs with one variance for all. The larger it
#: is, the less the linked points need, and the further links reach. Set on wine, iris, digits and moons.
FREE_VARIANCE = 1.5
#: The shift exceeds the least one by this share of the shift of the whole graph, so that rounding is safe.
MARGIN = 0.01
#: Products that Lanczos begins with from a near start, where the eigenvalue is needed roughly.
FIRST_PRODUCTS = 12
#: Links that would need more bytes than this are refused.
MAX_BYTES = 8 * 2**30
#: Up to this many points A is kept in memory (1.2 GB) where W is only applied, as heat is: a row of it costs
#: as much as a product. Where W is in memory, so is A; where W is computed in tiles, A is too.
MAX_DENSE_POINTS = 12_000
#: Must-links with noise up to this make their points one, so that one cannot-link of a set stands for all.
MAX_HARD_NOISE = 1e-3
#: How many times as fast as single products those of matrices are.
MATRIX_SPEED = 16
#: Algorithm B takes up to this many cannot-links one by one; beyond, one for every two sets that hard
#: must-links make, which is the same to the order of ε² and costs less by the square of their size.
MAX_CANNOT_LINKS = 200
#: Where must-links are soft and their points differ, Algorithm B takes at most this many, one by one.
MAX_SOFT_CANNOT_LINKS = 2_000


@dataclass(frozen=True)
class Prior:
    """The covariance K of a graph: its affinities, and a diagonal that makes them a covariance."""

    graph: Graph
    points: IntArray
    added: FloatArray
    shift: float

    @cached_property
    def columns(self) -> Any:
        """K[:, points] for the linked points, dense or sparse as the graph is."""
        graph, points, added = self.graph, self.points, self.added[self.points]
        places = np.arange(len(points))
        if sp.issparse(graph.matrix):
            extra = sp.csc_array((added, (points, places)), shape=(graph.n_nodes, len(points)))
            return sp.csc_array(sp.csc_array(graph.matrix)[:, points] + extra)
        columns = columns_of(graph, points)
        # A graph that is only applied may have loops after all, as heat has: then nothing is added to them.
        own = columns[points, places]
        unread = graph.matrix is None and isinstance(graph, GaussianGraph | HeatGraph)
        columns[points, places] = np.where(own > 0, own, added) if unread else own + added
        return columns


def make_prior(graph: Graph, points: IntArray, tolerance: float = 1e-6) -> Prior:
    """Return the covariance K of a graph whose links are between some points."""
    # K is the affinity of the graph, where a point without a self-loop has affinity one with itself, as in a
    # Gaussian kernel. Where that is no covariance (k-nearest-neighbour and self-tuning graphs need not be
    # one), variances are raised: those of linked points by the least that makes the whole of K positive
    # semidefinite, those of the others, which conditioning does not read, to 1.5 times what one variance for
    # all would be. `tolerance` is that of the smallest eigenvalue of K, relative to the largest.
    # The loops of a graph that is only applied cannot be read; it is taken to have none.
    loops = np.zeros(graph.n_nodes)
    if graph.matrix is not None:
        loops = np.asarray(graph.matrix.diagonal(), dtype=np.float64)
    added = np.where(loops > 0, 0.0, 1.0)
    shift = 0.0
    if not isinstance(graph, GaussianGraph | HeatGraph):
        added, shift = _raise_variances(graph, loops, added, points, tolerance)
    return Prior(graph, points, added, shift)


def _raise_variances(
    graph: Graph, loops: FloatArray, added: FloatArray, points: IntArray, tolerance: float
) -> tuple[FloatArray, float]:
    """Return what is added to the diagonal so that K is a covariance, and the shift at the points."""
    lowest, vector = smallest_eigenpair(graph, added, tolerance)
    # A smaller negative eigenvalue is rounding.
    if lowest >= -1e-10 * max(float(graph.degrees.max(initial=0.0)), 1.0):
        return added, 0.0
    raised = FREE_VARIANCE * (loops + added - lowest) - loops
    raised[points] = added[points]
    linked = np.zeros(graph.n_nodes)
    linked[points] = 1.0
    shift = 0.0
    for _ in range(8):
        value, vector = smallest_eigenpair(graph, raised + shift * linked, tolerance, vector)
        here = float(np.square(vector[points]).sum())
        # No more exact than the eigenvalue; the margin is larger than either.
        if value >= max(1e-3 * MARGIN, tolerance) * lowest or shift >= -lowest:
            break
        # The smallest eigenvalue is concave in the shift, so that Newton's steps come from below.
        shift = min(shift - value / max(here, 1e-3), -lowest)
    else:
        shift = -lowest
    # All of it, for the points too, is positive semidefinite for certain.
    shift = min(shift - MARGIN * lowest, -(1.0 + MARGIN) * lowest) if shift > 0 else 0.0
    return raised + shift * linked, shift


def smallest_eigenpair(
    graph: Graph, added: FloatArray, tolerance: float = 1e-6, near: FloatArray | None = None
) -> tuple[float, FloatArray]:
    """Return the smallest eigenvalue of W + diag(added) and its eigenvector."""
    n = graph.n_nodes
    if n <= DENSE_NODES:
        values, vectors = eigh(graph.toarray() + np.diag(added), subset_by_index=[0, 0])
        return float(values[0]), vectors[:, 0]
    # Twice the largest degree bounds the spectrum; what is large of its distance to K is small of K.
    top = 2.0 * float(graph.degrees.max(initial=0.0)) + float(added.max())
    operator = LinearOperator((n, n), matvec=lambda v: top * v - graph.apply(v) - added * v, dtype=np.float64)
    rng = np.random.RandomState(0)
    start = rng.standard_normal(n)
    if near is not None:
        # A random part stays in: the eigenvector may be another.
        start = near + 0.1 * start / np.linalg.norm(start)
    width = FIRST_PRODUCTS if near is not None and tolerance >= 1e-2 else None
    vector = largest_eigenvectors(operator, 1, start, rng, tolerance=tolerance, width=width)[:, 0]
    return top - float(vector @ operator.matvec(vector)), vector


class ConditionedGraph(KeptTiledGraph):
    """The graph max(0, W - F Fᵀ - max_k g_k g_kᵀ), computed when it is applied and kept as far as it fits.

    It costs O(n² (rank + n_rivals)) time to make: once, or beyond 21,000 nodes in part in every product. What
    a subtraction leaves below its own rounding error counts as zero: otherwise parts without any affinity
    between them would seem connected.
    """

    def __init__(self, graph: Graph, factor: FloatArray, rivals: FloatArray | None = None) -> None:
        self.graph = graph
        self.factor = np.asarray(factor, dtype=np.float64)
        self.rivals = np.empty((graph.n_nodes, 0)) if rivals is None else np.asarray(rivals, dtype=np.float64)
        self.n_nodes = graph.n_nodes
        most = np.square(self.rivals).max(axis=1, initial=0.0)
        #: How much links take from each node; zero where they do not reach.
        self.sizes = np.sqrt(np.square(self.factor).sum(axis=1) + most)

    def tile(self, rows: slice) -> FloatArray:
        """Return the weights of some rows."""
        return self._block(rows, slice(0, self.n_nodes))

    def materialized(self) -> DenseGraph:
        """The same graph with its weights in memory; only one half of them is computed."""
        weights = np.zeros((self.n_nodes, self.n_nodes))
        for rows in self.tiles():
            right = slice(rows.start, self.n_nodes)
            weights[rows, right] = self._block(rows, right)
            corner = weights[rows, rows]
            weights[rows, rows] = 0.5 * (corner + corner.T)
            below = slice(rows.stop, self.n_nodes)
            weights[below, rows] = weights[rows, below].T
        return DenseGraph(weights)

    def restricted(self, nodes: IntArray) -> ConditionedGraph:
        """The same among some nodes, where W is sparse."""
        among = SparseGraph(sp.csr_array(self.graph.matrix)[nodes][:, nodes])
        return ConditionedGraph(among, self.factor[nodes], self.rivals[nodes])

    def weights_at(self, rows: IntArray, columns: IntArray) -> FloatArray:
        """Return the weights of some pairs of nodes, where W is sparse."""
        weights = self.graph.weights_at(rows, columns)
        touched = np.flatnonzero((self.sizes[rows] > 0) & (self.sizes[columns] > 0))
        # 64 MB of factors at a time.
        at_once = max(1, 2**23 // max(1, self.factor.shape[1], self.rivals.shape[1]))
        for start in range(0, touched.size, at_once):
            part = touched[start : start + at_once]
            i, j = rows[part], columns[part]
            left = weights[part] - np.einsum("pk,pk->p", self.factor[i], self.factor[j])
            if self.rivals.shape[1]:
                left -= (self.rivals[i] * self.rivals[j]).max(axis=1)
            weights[part] = np.where(left > ROUNDING * self.sizes[i] * self.sizes[j], left, 0.0)
        return weights

    def _block(self, rows: slice, columns: slice) -> FloatArray:
        weights = rows_of(self.graph, rows)[:, columns]
        weights = weights - self.factor[rows] @ self.factor[columns].T
        if self.rivals.shape[1]:
            weights -= largest_products(self.rivals[rows], self.rivals[columns])
        noise = ROUNDING * self.sizes[rows, None] * self.sizes[None, columns]
        return np.where(weights > noise, weights, 0.0)


def largest_products(left: FloatArray, right: FloatArray) -> FloatArray:
    """Return max_k left[i, k] right[j, k] for all i and j, without the stack of products."""
    largest = np.empty((left.shape[0], right.shape[0]))
    ours, theirs = np.ascontiguousarray(left.T), np.ascontiguousarray(right.T)
    # Blocks of 2^15 entries stay in the cache.
    width = min(max(right.shape[0], 1), 2**12)
    for rows in gen_batches(left.shape[0], max(1, 2**15 // width)):
        for columns in gen_batches(right.shape[0], width):
            block = np.multiply.outer(ours[0, rows], theirs[0, columns])
            product = np.empty_like(block)
            for mine, other in zip(ours[1:, rows], theirs[1:, columns], strict=True):
                np.multiply(mine[:, None], other[None, :], out=product)
                np.maximum(block, product, out=block)
            largest[rows, columns] = block
    return largest


def largest_affinities(
    conditioned: ConditionedGraph, sets: Iterable[IntArray], n_kept: int | None
) -> SparseGraph:
    """Return the edges of a sparse W as links left them, and the largest affinities of each point."""
    # On a sparse graph K̄ is not sparse. Two points near one must-linked set gain affinity, rightly; but
    # conditioning also leaves a tiny affinity, positive half of the time, between nearly all points that
    # links reach. There are n² of them, and together they can outweigh the graph. So a point keeps its edges,
    # and the largest affinities to points near the same must-linked set; all of them where `n_kept` is None.
    W = sp.csr_array(conditioned.graph.matrix)
    reached = np.flatnonzero(conditioned.sizes > 0)
    if n_kept is None:
        # Value and place of every affinity, twice: 48 bytes.
        needed = 24 * reached.size**2
        if needed > MAX_BYTES:
            raise ConstraintError(
                f"n_affinities=None keeps up to {reached.size**2:,} affinities between the {reached.size:,} "
                f"points that links reach, about {needed / 2**30:.0f} GB in the making. Give n_affinities a "
                "number, such as 256."
            )
        sets = [reached]
    edges = sp.coo_array(sp.triu(W))
    own = conditioned.weights_at(edges.row, edges.col)
    found = [(edges.row, edges.col, own)]
    for nodes in sets:
        found.extend(_largest_within(conditioned, nodes, n_kept))
    rows, columns, weights = (np.concatenate(part) for part in zip(*found, strict=True))
    # Pairs may be listed twice, from either side.
    positive, n = weights > 0, W.shape[0]
    low, high = np.minimum(rows, columns)[positive], np.maximum(rows, columns)[positive]
    place, first = np.unique(low.astype(np.int64) * n + high, return_index=True)
    upper = sp.csr_array((weights[positive][first], (place // n, place % n)), shape=(n, n))
    return SparseGraph(sp.csr_array(upper + sp.triu(upper, 1).T))


def _largest_within(
    conditioned: ConditionedGraph, nodes: IntArray, n_kept: int | None
) -> Iterator[tuple[IntArray, IntArray, FloatArray]]:
    """Yield the affinities to keep among some nodes, as rows, columns and weights."""
    among = conditioned.restricted(nodes)
    for strip in among.tiles():
        weights = among.tile(strip)
        if n_kept is not None and n_kept < len(nodes):
            least = np.partition(weights, len(nodes) - n_kept, axis=1)[:, len(nodes) - n_kept]
            weights[weights < least[:, None]] = 0.0
        rows, columns = np.nonzero(weights)
        yield nodes[rows + strip.start], nodes[columns], weights[rows, columns]


@dataclass(frozen=True)
class ObservedLinks:
    """The links among the constrained points, numbered among themselves, with the noise of each."""

    points: IntArray
    must: IntArray
    cannot: IntArray
    eps_must: FloatArray
    eps_cannot: FloatArray
    groups: IntArray

    @classmethod
    def of(cls, constraints: Constraints, eps_must: float, eps_cannot: float) -> ObservedLinks:
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

    def cannot_observations_apart(self) -> Observations:
        """What every cannot-link observes alone: all of them, or the hardest between every two sets."""
        is_soft = self.eps_must.max(initial=0.0) > MAX_HARD_NOISE
        kept = np.arange(len(self.cannot))
        if len(kept) > (MAX_SOFT_CANNOT_LINKS if is_soft else MAX_CANNOT_LINKS):
            if is_soft:
                raise ConstraintError(
                    f"Algorithm B takes cannot-links one by one; there are {len(kept):,}, more than "
                    f"{MAX_SOFT_CANNOT_LINKS:,}. With must-links of noise up to {MAX_HARD_NOISE:g} one would "
                    f"do for two linked groups, but theirs is up to {self.eps_must.max():g}. Use a smaller "
                    "eps_must, fewer links, or algorithm='A'."
                )
            order = np.argsort(self.eps_cannot, kind="stable")
            between = np.sort(self.groups[self.cannot[order]], axis=1)
            kept = np.sort(order[np.unique(between, axis=0, return_index=True)[1]])
        return observe_links(len(self.points), self.cannot[kept], self.eps_cannot[kept], sign=1, merge=False)

    def count_products(self, graph: Graph, algorithm: str) -> float:
        """Return about how many products the affinity A of a sparse graph takes, made exactly."""
        # For every edge, and every two points near one must-linked set, it is one for every cannot-link of
        # Algorithm B, and one for every observation made together; these are matrix products, MATRIX_SPEED
        # times as fast.
        n_groups, n_linked = int(self.groups.max(initial=-1)) + 1, len(self.points)
        together, apart = min(len(self.must), n_linked - n_groups), 0
        if algorithm == "A":
            together = min(together + len(self.cannot), n_linked)
        else:
            first, second = np.sort(self.groups[self.cannot].reshape(-1, 2), axis=1).T
            apart = np.unique(first.astype(np.int64) * n_groups + second).size
        W = sp.csr_array(graph.matrix)
        ends = self.points, self.groups
        members = sp.csc_array((np.ones(n_linked), ends), shape=(graph.n_nodes, n_groups))
        near = sp.csc_array((W + sp.eye_array(graph.n_nodes)) @ members[:, np.bincount(self.groups) > 1])
        n_pairs = W.nnz / 2 + float(np.square(np.diff(near.indptr).astype(np.float64)).sum())
        return n_pairs * (apart + together / MATRIX_SPEED)

    def exceed_memory(self, graph: Graph) -> bool:
        """Tell whether the exact affinity would be refused, if every linked point were observed once."""
        n_linked = len(self.points)
        return bool(24 * n_linked * (graph.n_nodes + n_linked) > MAX_BYTES)

    def neighbourhoods(self, graph: Graph) -> Iterator[IntArray]:
        """The points near each must-linked set of a sparse graph, its own included."""
        near = sp.csc_array(graph.matrix)[:, self.points]
        joined = np.bincount(self.groups)[self.groups] > 1
        for number in np.unique(self.groups[joined]):
            members = np.flatnonzero(self.groups == number)
            yield np.union1d(near[:, members].indices, self.points[members])


def condition_graph(
    graph: Graph, columns: Any, links: ObservedLinks, algorithm: str, n_affinities: int | None = None
) -> Graph:
    """Return the affinity A of Algorithm A or B, in memory if the graph is or could be."""
    # Algorithm A is max(0, K̄) with all links observed together. Algorithm B observes the must-links, which
    # gives Kᵐ, and then every cannot-link alone. Each is a rank-one update u_k u_kᵀ of Kᵐ, so that the
    # smallest of all is A_ij = max(0, Kᵐ_ij - max_k u_ik u_jk).
    n_points, apart = len(links.points), None
    seen = observe_links(n_points, links.must, links.eps_must, sign=-1)
    if algorithm == "A":
        seen = join_points(seen, observe_links(n_points, links.cannot, links.eps_cannot, sign=1))
    else:
        apart = links.cannot_observations_apart()
    n_observations = seen.size + (0 if apart is None else apart.size)
    # F and the matrix it is solved from, the covariance of the observations and its root, the directions.
    needed = 8 * n_observations * (3 * graph.n_nodes + 2 * n_observations + n_points)
    if needed > MAX_BYTES:
        raise ConstraintError(
            f"CSAP would need about {needed / 2**30:.0f} GB for {n_observations:,} observations of "
            f"{n_points:,} linked points among {graph.n_nodes:,}, more than {MAX_BYTES / 2**30:.0f}. Use "
            "fewer links or labels, or NCSC, whose memory does not grow with them."
        )
    downdate = downdate_factor(columns, links.points, seen)
    rivals = None if apart is None else rival_updates(columns, links.points, apart, downdate)
    if _stays_positive(graph, links):
        return JoinedResolventGraph(graph, downdate, links.points[links.must])
    conditioned = ConditionedGraph(graph, downdate, rivals)
    if sp.issparse(graph.matrix):
        return largest_affinities(conditioned, links.neighbourhoods(graph), n_affinities)
    is_small = graph.n_nodes <= MAX_DENSE_POINTS and not isinstance(graph, TiledGraph)
    return conditioned.materialized() if is_small or graph.matrix is not None else conditioned


def _stays_positive(graph: Graph, links: ObservedLinks) -> TypeGuard[ResolventGraph]:
    """Tell whether a kernel too large for memory can be applied as it is, since nothing in it is clipped."""
    is_resolvent = isinstance(graph, ResolventGraph) and graph.n_nodes > MAX_DENSE_POINTS
    return is_resolvent and len(links.cannot) == 0 and not np.isin(links.points, graph.isolated).any()


def reconnect_isolated(affinity: Graph, graph: Graph, links: ObservedLinks) -> Graph:
    """Return to points that links left without any affinity their rows of W, without their cannot-links."""
    # Clipping can isolate a cannot-linked point, and the cut of a graph does not place isolated points.
    if affinity.isolated.size == 0:
        return affinity
    isolated = np.setdiff1d(affinity.isolated, graph.isolated)
    if isolated.size == 0:
        return affinity
    before = columns_of(graph, isolated)
    place = np.full(graph.n_nodes, -1)
    place[isolated] = np.arange(isolated.size)
    ends = links.points[links.cannot]
    for node, other in (ends.T, ends.T[::-1]):
        here = place[node] >= 0
        before[other[here], place[node[here]]] = 0.0
    rows, columns = np.nonzero(before)
    restored = sp.csr_array((before[rows, columns], (rows, isolated[columns])), shape=(graph.n_nodes,) * 2)
    # A pair of isolated points is in it twice, any other once: the larger of the two mirror images is both.
    return correct_weights(affinity, sp.csr_array(restored.maximum(restored.T)))
