"""Where NCSC starts: eigenvectors without nonnegativity, and the indicators made of them (section 5).

The paper starts from what its method gives without nonnegativity, which has mixed signs. Here that is taken
without γ_c Qᶜ, which would reward mixed signs, and clustered; eq. 2 of the clusters plus an offset is
nonnegative and has no zeros, which no multiplicative update could leave.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.optimize import linear_sum_assignment
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import cdist

from sidecut.checks import FloatArray, IntArray, is_number
from sidecut.constraints import Constraints
from sidecut.exceptions import ConflictError
from sidecut.graphs import Graph
from sidecut.graphs.graph import drop_isolated
from sidecut.labelling import kmeans_labels, nearest_centers
from sidecut.labelling.labels import cluster_sums
from sidecut.methods.ncsc.objective import NodeLinks, PenalizedCut

Price = float | str

#: Up to this many must-links are written into the tied graph, even if the graph itself has fewer edges.
MAX_LISTED_LINKS = 100_000


def check_price(name: str, price: Any, words: tuple[str, ...], may_be_infinite: bool) -> None:
    """Refuse a price that is neither one of the rules nor a number that is not negative."""
    if isinstance(price, str) and price in words:
        return
    if not is_number(price) or not price >= 0 or (np.isinf(price) and not may_be_infinite):
        kind = "a number >= 0, infinity included" if may_be_infinite else "a finite number >= 0"
        raise ValueError(f"{name}={price!r}: choose {', '.join(map(repr, words))} or {kind}.")


def mean_degree(graph: Graph) -> float:
    """Return the mean degree of the nodes that have any.

    It is the natural unit of both prices: at γ = d, a violated pair costs a point as much as being cut from
    all its neighbours.
    """
    degrees = graph.degrees
    return float(degrees[degrees > 0].mean())


def choose_gamma_must(price: Price, graph: Graph, constraints: Constraints, n_clusters: int) -> float:
    """Return γ_m: "auto" is infinite for equally strong must-links without conflicts, see `NCSC`."""
    if isinstance(price, str):
        together = constraints.with_diagonal(0.0).must_part()
        equal = 2.0 * together.n_must_link * together.largest_strength()
        is_contracted = np.isclose(together.total(), equal, rtol=1e-9) and not constraints.n_conflicts
        n_sets = int(constraints.must_link_components().max()) + 1
        return np.inf if is_contracted and n_sets >= n_clusters else mean_degree(graph)
    if np.isinf(price) and (conflicts := constraints.conflicts(max_chains=1)):
        raise ConflictError(
            f"{conflicts[0]}, and gamma_must=inf keeps every must-link. Call without_conflicts() first, or "
            "choose a finite gamma_must, which weighs the one against the other.",
            conflicts,
        )
    return float(price)


class TiedGraph(Graph):
    """W + γ_m (Qᵐ - Dᵐ): a graph with the degrees of W whose Laplacian is L + γ_m (Dᵐ - Qᵐ).

    Its loops are negative, so that it is a graph for the spectral core only: there it gives the minimiser of
    eq. 6 without cannot-links and without nonnegativity.
    """

    def __init__(self, cut: PenalizedCut) -> None:
        self.graph = cut.graph
        self.n_nodes = cut.n_nodes
        self.links = cut.links
        self.sets = cut.tied
        self.gamma_must = cut.gamma_must

    def apply(self, block: FloatArray) -> FloatArray:
        """Return (W + γ_m (Qᵐ - Dᵐ)) @ block."""
        ties = self.links.must_degrees if block.ndim == 1 else self.links.must_degrees[:, None]
        return self.graph.apply(block) + self.gamma_must * (self.links.must(block) - ties * block)

    @cached_property
    def matrix(self) -> sp.csr_array | None:
        """The weights as a sparse matrix, where that takes no more memory than W does."""
        weights: Any = self.graph.matrix
        if not sp.issparse(weights) or 2 * self.links.together.n_must_link > max(
            weights.nnz, MAX_LISTED_LINKS
        ):
            return None
        pull = self.links.must_matrix() - sp.diags_array(self.links.must_degrees)
        return sp.csr_array(weights + self.gamma_must * pull)

    @cached_property
    def degrees(self) -> FloatArray:
        """The degrees of W: must-links pull two points together but give them no volume."""
        return self.graph.degrees

    @cached_property
    def components(self) -> IntArray:
        """The components of W, joined by must-links."""
        found, ties = self.graph.components, self.sets
        known = np.flatnonzero(found >= 0)
        # Components and sets of tied points are the two sides of a bipartite graph.
        n_found, n_sets = self.graph.n_components, int(ties.max()) + 1
        ends = (found[known], n_found + ties[known])
        sides = sp.csr_array((np.ones(known.size), ends), shape=(n_found + n_sets,) * 2)
        labels = np.full(self.n_nodes, -1, dtype=np.intp)
        labels[known] = connected_components(sides, directed=False)[1][found[known]]
        return drop_isolated(labels, self.isolated)


def start_indicators(cut: PenalizedCut, labels: IntArray, n_clusters: int) -> FloatArray:
    """Return eq. 2 for a clustering of the nodes, plus 0.2 times its largest entry."""
    Y = cut.indicators(labels, n_clusters)
    return Y + 0.2 * Y.max()


def best_start(
    cut: PenalizedCut,
    rows: FloatArray,
    n_clusters: int,
    *,
    seeded: bool,
    n_init: int,
    rng: np.random.RandomState,
) -> IntArray:
    """Return a clustering of the nodes: by k-means, or with seeds as centres if that violates fewer links."""
    first = np.unique(cut.sets, return_index=True)[1]
    plain = kmeans_labels(rows, n_clusters, n_init=n_init, random_state=rng)
    seeds = apart_nodes(cut.links, n_clusters) if seeded else []
    if len(seeds) < 2:
        return plain[first]
    # Each seed replaces the centre it is matched with, at the least total distance.
    counts = np.bincount(plain, minlength=n_clusters)
    centres = cluster_sums(rows, plain, n_clusters) / np.maximum(counts, 1)[:, None]
    places = rows[first[seeds]]
    which, where = linear_sum_assignment(cdist(places, centres, "sqeuclidean"))
    centres[where] = places[which]
    candidates = [plain[first], nearest_centers(rows, centres)[first]]
    return min(
        candidates,
        key=lambda labels: (cut.links.violated(labels), cut.objective(cut.indicators(labels, n_clusters))),
    )


def apart_nodes(links: NodeLinks, at_most: int) -> list[int]:
    """Return nodes that are pairwise apart, those with most cannot-links first."""
    weight = links.cannot_degrees
    allowed = weight > 0
    chosen: list[int] = []
    while len(chosen) < at_most and allowed.any():
        chosen.append(int(np.argmax(np.where(allowed, weight, -1.0))))
        unit = np.zeros(links.n_nodes)
        unit[chosen[-1]] = 1.0
        allowed &= links.cannot(unit) > 0
        allowed[chosen[-1]] = False
    return chosen


def check_start(Y0: npt.ArrayLike, n_points: int, n_clusters: int) -> FloatArray:
    """Return indicators to start from as an array, or say why they cannot be."""
    Y = np.asarray(Y0, dtype=np.float64)
    if Y.shape != (n_points, n_clusters):
        raise ValueError(
            f"init has shape {Y.shape}: give a rule, or one row per point and one column per cluster, "
            f"({n_points}, {n_clusters})."
        )
    bad = np.argwhere(~(np.isfinite(Y) & (Y >= 0)))
    if len(bad):
        i, j = bad[0]
        raise ValueError(
            f"init[{i}, {j}] = {Y[i, j]}: indicators to start from must be finite and not negative."
        )
    if not Y.any(axis=0).all():
        empty = int(np.flatnonzero(~Y.any(axis=0))[0])
        raise ValueError(f"column {empty} of init is zero: a cluster without points cannot grow any.")
    return Y
