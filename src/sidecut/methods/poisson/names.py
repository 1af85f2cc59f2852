"""Which cluster a label names: walks from the labels as evidence about clusters that the graph suggests.

One label of each class says little about where a class ends, and much about which cluster it is. A walk from
label j, for a time t, ends in cluster c with the chance p_jc; labels themselves are left out as ends. Names
are right with the likelihood Π_j p_{j, c_j}, so that the likeliest names are a matching of clusters to
classes. The same likelihood takes the place of pairs where pieces of the graph are joined to clusters that
have names:

    F(z) = λ N Σ_j w_j log p_{j, c_j} + Σ_c g(A_c, n_c),      p_jc = Σ_a h_ja [z_a = c],

h_ja the chance that the walk of label j ends in piece a.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment

from sidecut.arrays import FloatArray, IntArray
from sidecut.labelling.labels import cluster_sums
from sidecut.methods.poisson.anchors import Anchors
from sidecut.methods.poisson.equation import heat_filter
from sidecut.methods.poisson.pieces import Joining, Pieces, best_clusterings, worths
from sidecut.methods.poisson.signed_graph import SignedGraph

#: How long walks from labels last.
NAMING_TIME = 10.0
#: The chance that a label is where it is for no reason that the graph knows.
BY_CHANCE = 1e-3
#: λ: what a label is worth in the joining of pieces, as a share of the heat of all points.
LABEL_WEIGHT = 0.004


@dataclass(frozen=True, eq=False)
class LabelWalks:
    """Where walks from the labels end.

    Parameters
    ----------
    ends : array of shape (n, n_labels)
        The chance of every point to be the end of the walk of every label; labelled points are left out.
    cluster : array of shape (n_labels,)
        The cluster that each label names.
    weight : array of shape (n_labels,)
        How firmly each is believed, the firmest with weight 1.
    """

    ends: FloatArray
    cluster: IntArray
    weight: FloatArray

    def shares(self, groups: IntArray, n_groups: int) -> FloatArray:
        """Return p of shape (n_labels, n_groups): the chance that the walk of a label ends in a group."""
        return np.asarray(cluster_sums(self.ends, groups, n_groups)).T

    def likelihood(self, labels: IntArray, n_clusters: int) -> float:
        """Return Σ_j w_j log p_{j, c_j}."""
        return self.likelihood_of(self.shares(labels, n_clusters)[np.arange(len(self.cluster)), self.cluster])

    def likelihood_of(self, reached: FloatArray) -> float:
        """Return the same, where the chance p_{j, c_j} of every label is known."""
        return float(self.weight @ np.log(reached + BY_CHANCE))

    def named(self, labels: IntArray, n_clusters: int) -> IntArray:
        """Return the same clusters under their likeliest names."""
        return likeliest_names(self, self.shares(labels, n_clusters), n_clusters)[labels]


def walks_from_labels(signed: SignedGraph, anchors: Anchors) -> LabelWalks:
    """Return where walks from the anchors end.

    Examples
    --------
    The second label lies in the cluster of the first, but nearer to the other one.

    >>> import numpy as np
    >>> from sidecut import Constraints
    >>> from sidecut.graphs import as_graph
    >>> from sidecut.methods.poisson.anchors import find_anchors
    >>> from sidecut.methods.poisson.names import walks_from_labels
    >>> from sidecut.methods.poisson.signed_graph import SignedGraph
    >>> path = SignedGraph(as_graph(np.diag(np.ones(7), 1) + np.diag(np.ones(7), -1)))
    >>> known = Constraints.from_labels(["a", None, None, "b", None, None, None, None])
    >>> walks = walks_from_labels(path, find_anchors(known, 2))
    >>> walks.named(np.array([1, 1, 1, 1, 0, 0, 0, 0]), 2)
    array([0, 0, 0, 0, 1, 1, 1, 1])
    """
    starts = np.zeros((signed.n_nodes, len(anchors.points)))
    starts[anchors.points, np.arange(len(anchors.points))] = 1.0
    # D^{-1/2} K D^{1/2}, read from its rows.
    ends = heat_filter(NAMING_TIME)(signed.laplacian, signed.scale[:, None] * starts)
    ends *= np.sqrt(signed.degrees)[:, None]
    ends[anchors.points] = 0.0
    return LabelWalks(np.maximum(ends, 0.0), anchors.cluster, anchors.weight / anchors.weight.max())


def likeliest_names(walks: LabelWalks, shares: FloatArray, n_clusters: int) -> IntArray:
    """Return the name of every cluster: the matching of clusters to classes of greatest likelihood."""
    evidence = np.zeros((n_clusters, n_clusters))
    np.add.at(evidence, walks.cluster, walks.weight[:, None] * np.log(shares + BY_CHANCE))
    name, found = linear_sum_assignment(evidence, maximize=True)
    names = np.empty(n_clusters, dtype=np.intp)
    names[found] = name
    return names


@dataclass(frozen=True, eq=False)
class NamedJoining(Joining):
    """The joining of pieces to clusters that have names, as far as steps of one piece find it.

    Parameters
    ----------
    walks : LabelWalks
        The labels.
    ends : array of shape (n_labels, m)
        h: the chance that the walk of a label ends in a piece.
    weight : float
        λ N.
    """

    walks: LabelWalks
    ends: FloatArray
    weight: float

    def value(self, cluster: IntArray) -> float:
        """Return F of a joining."""
        return super().value(cluster) + self.weight * self.walks.likelihood_of(self._reached(cluster))

    def raised(self, cluster: IntArray) -> IntArray:
        """Name the clusters, then move the piece that gains most by it, until none gains."""
        members = np.eye(self.n_clusters)[cluster]
        return super().raised(likeliest_names(self.walks, self.ends @ members, self.n_clusters)[cluster])

    def gains(self, cluster: IntArray) -> FloatArray:
        """Return what F gains if one piece moves, for every piece and cluster; -inf where one is emptied."""
        reached = self._reached(cluster) + BY_CHANCE
        strength = self.weight * self.walks.weight[:, None]
        of_class = np.eye(self.n_clusters)[self.walks.cluster]
        joined = (strength * np.log1p(self.ends / reached[:, None])).T @ of_class
        is_left = self.walks.cluster[:, None] == cluster
        rest = np.where(is_left, reached[:, None] - self.ends, reached[:, None])
        left = (strength * np.log(np.maximum(rest, BY_CHANCE) / reached[:, None])).sum(axis=0)
        told = joined + left[:, None]
        told[np.arange(len(cluster)), cluster] = 0.0
        return np.asarray(super().gains(cluster) + told)

    def _reached(self, cluster: IntArray) -> FloatArray:
        """Return p_{j, c_j}."""
        return np.asarray((self.ends * (cluster == self.walks.cluster[:, None])).sum(axis=1))


def join_named_pieces(
    pieces: Pieces, walks: LabelWalks, n_clusters: int, rng: np.random.RandomState
) -> list[IntArray]:
    """Return up to two clusterings whose clusters have the names of labels, with and without price of sizes.

    See `sidecut.methods.poisson.pieces.join_pieces`, which takes pairs.
    """
    n_points, n_pieces = len(pieces.piece), len(pieces.heat)
    if n_pieces < n_clusters:
        return []
    sizes = np.bincount(pieces.piece).astype(np.float64)
    ends, weight = walks.shares(pieces.piece, n_pieces), LABEL_WEIGHT * n_points
    pull = np.zeros_like(pieces.heat)
    joinings = [
        NamedJoining(pull, pieces.heat, sizes, n_clusters, worth, walks, ends, weight)
        for worth in worths(n_points, n_clusters)
    ]
    return best_clusterings(joinings, pieces.piece, rng)
