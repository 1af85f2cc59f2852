"""How knowledge chooses a layer, bends it, and joins and names its clusters.

Cannot-links, and labels of different classes, within a cluster count against a clustering z. Beliefs Q say it

    K(z) = ½ Σ max(-Q_ij, 0) [z_i = z_j] / u,   u = 1 + Σ max(Q_ij, 0) / c,

where c points are constrained. With labels alike in number, K counts the labels that are not of the class
of most labels around them; with pairs, u is about 1 or 2, and K counts pairs.

The layer is taken for which the persistence of its clusters less λ K is largest. A cluster of it is split
further where K falls by more than a price. Must-links choose no layer, for clusters of any layer can be
joined: those that beliefs favour as one are. A cluster without a label is joined to the class whose labels
reach it, unless it is so large that labels drawn at random would have met it.
"""

from __future__ import annotations

import numpy as np

from sidecut.checks import FloatArray, IntArray
from sidecut.constraints import Constraints
from sidecut.constraints.closure import Seeds, find_seeds
from sidecut.constraints.folds import consistent
from sidecut.constraints.groups import number_by_appearance
from sidecut.graphs import Graph
from sidecut.methods.layers.tree import Branches
from sidecut.methods.poisson.equation import SignedGraph, spread_labels
from sidecut.methods.poisson.seeds import number_by_seeds
from sidecut.methods.poisson.starts import (
    Pieces,
    diffusion_between,
    join_named_pieces,
    join_pieces,
    pull_of_links,
    walks_from_labels,
)

#: λ, what a conflict costs, as a share of the persistence of clusters that hold all points.
CONFLICT_COST = 0.03
#: By how much K must fall for a further split: by more than one odd label.
MIN_CONFLICTS = 1.2
#: A cluster without a label is one of its own if random labels would miss it with a smaller chance.
MAX_CHANCE = 0.1
#: With fewer labels per class, clusters are named together: each label may be in the wrong one.
FEW_LABELS = 3
#: α of the walks that name clusters where labels are many.
ALPHA = 0.95
#: The most pieces per cluster that are joined by what they exchange.
MAX_PIECES = 10


def conflicts_within(branches: Branches, constraints: Constraints) -> FloatArray:
    """Return K of every branch: what is known to be apart within it."""
    known, points = constraints.with_diagonal(0.0).restricted()
    must = known.must_part()
    first, last = branches.intervals
    # Sorted by leaf, the points of a branch follow one another.
    order = np.argsort(first[branches.leaf[points]], kind="stable")
    places = first[branches.leaf[points]][order]
    start, stop = np.searchsorted(places, first), np.searchsorted(places, last)
    spans, of_branch = np.unique(np.column_stack([start, stop]), axis=0, return_inverse=True)
    sums = np.zeros(len(spans))
    for some in np.array_split(np.arange(len(spans)), -(-len(spans) // 256)):
        members = np.zeros((len(points), len(some)))
        for column, (low, high) in enumerate(spans[some]):
            members[order[low:high], column] = 1.0
        sums[some] = np.einsum("pb,pb->b", members, must.apply(members) - known.apply(members))
    unit = known.largest_strength() + must.total() / len(points)
    return sums[of_branch.ravel()] / (2.0 * unit)


def choose_pieces(branches: Branches, constraints: Constraints, fewest: int, most: int) -> IntArray:
    """Return the piece of every point: its cluster in the best layer, split further where it pays."""
    within = conflicts_within(branches, constraints)
    values = branches.layer_persistence - CONFLICT_COST * branches.in_layers(within)
    allowed = (branches.layer_counts > fewest) & (branches.layer_counts <= most)
    counts = np.append(fewest, branches.layer_counts[allowed])
    layer = branches.layer(int(counts[values[counts - 1].argmax()]))
    least = within.copy()
    is_split = np.zeros(len(least), dtype=bool)
    for split in range(len(least) // 2 - 1, -1, -1):
        above = branches.parent[2 * split + 1]
        apart = least[2 * split + 1] + least[2 * split + 2] + MIN_CONFLICTS
        if apart < least[above]:
            least[above], is_split[above] = apart, True
    ends, open_ends = [], layer.tolist()
    while open_ends:
        branch = open_ends.pop()
        if is_split[branch]:
            first = 2 * int(branches.split[branch]) + 1
            open_ends += [first, first + 1]
        else:
            ends.append(branch)
    return branches.pieces(np.array(sorted(ends)))


def join_by_links(piece: IntArray, constraints: Constraints) -> IntArray:
    """Join two pieces, those with the strongest sum of beliefs first, while the sum is positive."""
    pull = pull_of_links(piece, constraints)
    np.fill_diagonal(pull, 0.0)
    group = np.arange(len(pull))
    while pull.max(initial=0.0) > 0:
        kept, gone = sorted(np.unravel_index(int(pull.argmax()), pull.shape))
        pull[kept] += pull[gone]
        pull[:, kept] += pull[:, gone]
        pull[gone], pull[:, gone], pull[kept, kept] = 0.0, 0.0, 0.0
        group[group == gone] = kept
    return group[piece]


def name_pieces(graph: Graph, piece: IntArray, seeds: Seeds) -> IntArray:
    """Return for every piece the cluster whose labels reach it most: the largest sum over its points."""
    n_pieces, n_clusters = int(piece.max()) + 1, seeds.n_seeded
    (reached,) = spread_labels(SignedGraph(graph), seeds.indicator(len(piece), n_clusters), ALPHA)
    sums = np.column_stack([np.bincount(piece, column, n_pieces) for column in reached.T])
    return sums.argmax(axis=1)


def _join_all(graph: Graph, piece: IntArray, constraints: Constraints) -> IntArray:
    """Join pieces by links, and those that labels may have missed to the classes that reach them."""
    joined, labels = join_by_links(piece, constraints), constraints.labels
    if labels is None or len(np.unique(labels[labels >= 0])) < 2:
        return joined
    share, sizes = float((labels >= 0).mean()), np.bincount(joined)
    has_label = np.bincount(joined[labels >= 0], minlength=len(sizes)) > 0
    is_missed = ~has_label & (np.exp(-share * sizes) >= MAX_CHANCE)
    points = np.flatnonzero(labels >= 0)
    holders, cluster = np.unique(joined[points], return_inverse=True)
    names = holders[name_pieces(graph, joined, Seeds(points, cluster, np.ones(len(points))))]
    return np.where(is_missed[joined], names[joined], joined)


def cluster_by_labels(
    graph: Graph, branches: Branches, piece: IntArray, seeds: Seeds, rng: np.random.RandomState
) -> IntArray:
    """Return clusters with the names of labels, made of pieces; every cluster has a label."""
    n_clusters, n_pieces = seeds.n_seeded, int(piece.max()) + 1
    if len(seeds.points) >= FEW_LABELS * n_clusters:
        return name_pieces(graph, piece, seeds)[piece]
    walks = walks_from_labels(SignedGraph(graph), seeds)
    layer = branches.tree.labels(n_clusters)
    found = [walks.names(walks.shares(layer, n_clusters))[layer]]
    if n_clusters < n_pieces <= MAX_PIECES * n_clusters:
        pieces = Pieces(piece, diffusion_between(graph, piece))
        found += join_named_pieces(pieces, walks, n_clusters, rng)
    return max(found, key=lambda labels: walks.likelihood(labels, n_clusters))


def cluster_by_links(
    graph: Graph,
    branches: Branches,
    piece: IntArray,
    constraints: Constraints,
    n_clusters: int,
    rng: np.random.RandomState,
) -> IntArray:
    """Return that many clusters, made of pieces."""
    n_pieces = int(piece.max()) + 1
    found = [branches.tree.labels(n_clusters)]
    if n_pieces > n_clusters:
        pieces = Pieces(piece, diffusion_between(graph, piece))
        found += join_pieces(pieces, constraints, n_clusters, rng)
    return max(found, key=constraints.agreement)


def cluster_by_knowledge(
    graph: Graph, branches: Branches, constraints: Constraints, n_clusters: int, rng: np.random.RandomState
) -> IntArray:
    """Return the clusters, as many as asked for or, where `n_clusters` is 0, as many as the tree shows."""
    n_leaves = len(branches.parent) // 2 + 1
    fewest = min(max(n_clusters or len(consistent(constraints).components.clique), 2), n_leaves)
    piece = choose_pieces(branches, constraints, fewest, MAX_PIECES * (n_clusters or n_leaves))
    if not n_clusters:
        return number_by_appearance(_join_all(graph, piece, constraints))
    seeds = find_seeds(constraints, n_clusters)
    if n_leaves < n_clusters:
        return number_by_seeds(branches.tree.labels(n_clusters), seeds, n_clusters)
    if seeds.n_seeded == n_clusters:
        return cluster_by_labels(graph, branches, piece, seeds, rng)
    return number_by_seeds(
        cluster_by_links(graph, branches, piece, constraints, n_clusters, rng), seeds, n_clusters
    )
