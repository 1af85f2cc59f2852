"""Layers: clusters from coarse to fine, by the density of a layout of the graph."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sidecut.checks import (
    FloatArray,
    IntArray,
    Rule,
    check_count,
    check_count_or_bounds,
    check_flag,
    check_n_clusters,
)
from sidecut.constraints import Constraints
from sidecut.constraints.closure import Seeds, find_seeds
from sidecut.constraints.folds import consistent
from sidecut.constraints.groups import number_by_appearance
from sidecut.graphs import Graph, warn_about_graph
from sidecut.labelling import measure_confidence
from sidecut.methods.base import GraphClusterer, TakesConstraints, documented
from sidecut.methods.layers.tree import Branches, find_branches, persistence
from sidecut.methods.poisson.equation import SignedGraph, spread_labels
from sidecut.methods.poisson.mbo import PoissonMBO
from sidecut.methods.poisson.starts import (
    Pieces,
    diffusion_between,
    join_named_pieces,
    join_pieces,
    number_by_seeds,
    pull_of_links,
    walks_from_labels,
)
from sidecut.methods.task import Answer, Task, check_constraints
from sidecut.running import stage, use_threads

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


#: Where labels name all clusters, and no layer of as many or more has a larger persistence less λ K, labels
#: are spread on the graph.
MIN_PERSISTENCE = 0.5


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


@documented
@dataclass(eq=False, repr=False)
class Layers(TakesConstraints, GraphClusterer):
    """Clusters from coarse to fine, and how many there are, from a layout of the graph and its density.

    The graph is laid out in four dimensions: neighbours attract, random points repel. A tree of clusters is
    read off the density of the layout. Each layer of it has the clusters that exist where fewer points than
    some smallest size are no cluster. Layers are persistent that exist over a wide range of smallest sizes
    and, up to 10,000 points, alike in three layouts. The most persistent one gives the labels, or the one
    with the number of clusters that is asked for.

    What is known chooses another layer where that agrees with it better, splits its clusters further, joins
    them and names them. Where labels name all clusters, and no layer of as many or more stands out, classes
    overlap: then labels are spread as by `PoissonMBO`. Every point has a cluster, unless ``noise=True`` asks
    for those that lie outside.

    Parameters
    ----------
    n_clusters : int, tuple of int or "auto", default="auto"
        The number of clusters. "auto": as many as the layer that is chosen has; a tuple such as (2, 6): at
        least 2 and at most 6.
    min_size : int, default=5
        The size of the smallest cluster of any layer.
    noise : bool, default=False
        Give points outside the dense parts of clusters the label -1: those that the tree joins to their
        cluster only at distances where the cluster itself is joined to another. Points with
        constraints keep their cluster.
    {affinity}
    {constraints}
    {all}

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        The cluster of every point; -1 for noise.
    n_clusters_ : int
        The number of clusters.
    layers_ : list of arrays of shape (n_samples,)
        The labels of each persistent layer, from coarse to fine. They do not depend on what is known. Each
        cluster lies within one of the layer before.
    persistence_ : array of shape (n_layers,)
        The persistence of each layer: the sum over its clusters of the range of smallest sizes for which
        they exist, as a share of all points. Up to 10,000 points it is the mean over three layouts, times the
        adjusted Rand index of the clusters of the two that agree best.
    tree_ : dict of str to array
        The tree as a table, for `pandas.DataFrame`. Each row is a cluster: its number, its parent, how many
        points it has, and the smallest sizes `birth` and `death` between which it exists. Cluster 0 is all
        points.
    embedding_ : array of shape (n_samples, 4)
        The layout.
    affinity_matrix_ : Graph
        The graph.
    {results}

    See Also
    --------
    PoissonMBO : where classes overlap and labels are known.
    sidecut.plots.plot_layers : a picture of the layers.

    References
    ----------
    L. McInnes, J. Healy, J. Melville: UMAP: uniform manifold approximation and projection for dimension
    reduction. arXiv:1802.03426, 2018.
    R. Campello, D. Moulavi, J. Sander: Density-based clustering based on hierarchical density estimates.
    PAKDD 2013.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from sidecut import Layers
    >>> X, y = make_blobs(600, centers=6, cluster_std=0.5, random_state=4)
    >>> model = Layers(random_state=0).fit(X)
    >>> model.n_clusters_
    6
    """

    n_clusters: int | str | tuple[int, int] = "auto"  # type: ignore[assignment]
    _: KW_ONLY
    min_size: int = 5
    noise: bool = False
    rules: ClassVar[dict[str, Rule]] = {
        "n_clusters": check_count_or_bounds,
        "min_size": check_count,
        "noise": check_flag,
    }
    caution = 1.0
    takes_bounds = True

    def _solve(self, task: Task) -> Answer:
        warn_about_graph(task.graph, task.n_points)
        if task.plain is not None:
            # The layout and the tree do not depend on what is known.
            places, results = task.plain.embedding, task.plain.results
        else:
            places, trees, layers = find_branches(task.graph, self.min_size, task.seed, task.n_clusters)
            branches = trees[0]
            results = {
                "trees": trees,
                "layers_": [branches.tree.labels(count) for count in sorted(layers)],
                "persistence_": np.array([layers[count] for count in sorted(layers)]),
                "tree_": branches.table(),
            }
        labels = self._choose_within(task, results)
        results = results | {"n_clusters_": task.n_clusters or int(labels.max()) + 1}
        return Answer(labels, places, task.graph, results=results)

    def _choose_within(self, task: Task, results: dict[str, Any]) -> IntArray:
        """Return the clusters, as many as the bounds allow where there are bounds."""
        labels = self._choose(task, results)
        if task.n_clusters or not isinstance(self.n_clusters, tuple):
            return labels
        (fewest, most), count = self.n_clusters, int(labels.max()) + 1
        if fewest <= count <= most:
            return labels
        layers = [
            (found, layer)
            for found, layer in zip(results["persistence_"], results["layers_"], strict=True)
            if fewest <= layer.max() + 1 <= most
        ]
        if task.constraints.is_empty and layers:
            return max(layers, key=lambda one: one[0])[1]
        return self._choose(replace(task, n_clusters=min(max(count, fewest), most, task.n_points)), results)

    def _choose(self, task: Task, results: dict[str, Any]) -> IntArray:
        """Return the clusters."""
        trees, k = results["trees"], task.n_clusters
        branches = trees[0]
        with stage("clusters"):
            if not task.constraints.is_empty and k != 1:
                return self._choose_by_knowledge(task, results)
            if k or not results["layers_"]:
                return branches.tree.labels(k or 1)
            return results["layers_"][int(results["persistence_"].argmax())]

    def _choose_by_knowledge(self, task: Task, results: dict[str, Any]) -> IntArray:
        """Return the clusters: as many as asked for, or at least as many as are known to be apart."""
        branches, known, rng = results["trees"][0], task.constraints, task.rng()
        apart = len(consistent(known).components.clique)
        asked = replace(task, n_clusters=task.n_clusters or apart)
        k = asked.n_clusters
        if not task.n_clusters:
            labels = cluster_by_knowledge(task.graph, branches, known, 0, rng)
            count = int(labels.max()) + 1
            if count > apart or (count == apart and known.labels is None):
                return labels
        if k > 1 and find_seeds(known, k).n_seeded == k and _overlap(results, asked):
            return PoissonMBO(k)._solve_parts(asked).labels
        if not task.n_clusters and count == apart:
            return labels
        return cluster_by_knowledge(task.graph, branches, known, k, rng)

    def choose(self, constraints: Constraints, n_clusters: int | str = "auto") -> IntArray:
        """Choose clusters by other knowledge from the tree that was found, without another layout.

        Labels at two levels, such as domain and topic, choose two layers of one tree: fit with one, choose
        with the other. What the fit keeps does not change.

        Parameters
        ----------
        constraints : Constraints
            What is known about the points of the fit.
        n_clusters : int or "auto", default="auto"
            The number of clusters.

        Returns
        -------
        array of shape (n_samples,)
            The cluster of every point; none is noise.

        Examples
        --------
        >>> from sklearn.datasets import make_blobs
        >>> from sidecut import Constraints, Layers
        >>> centers = [[0, 0], [2, 0], [20, 0], [22, 0]]
        >>> X, y = make_blobs(400, centers=centers, cluster_std=0.4, random_state=0)
        >>> topics, domains = [list(y[:40]) + [-1] * 360, list(y[:40] // 2) + [-1] * 360]
        >>> model = Layers(random_state=0).fit(X, constraints=Constraints.from_labels(topics))
        >>> model.n_clusters_, len(set(model.choose(Constraints.from_labels(domains))))
        (4, 2)
        """
        check_is_fitted(self, "labels_")
        self.rules["n_clusters"]("n_clusters", n_clusters)
        known = check_constraints(constraints, len(self.labels_), n_clusters)
        count = 0 if n_clusters == "auto" else check_n_clusters(n_clusters, len(self.labels_))
        with use_threads(self.n_jobs):
            task = replace(self._task, constraints=known, n_clusters=count)
            return self._choose(task, self._answer.results)

    def _has_ample_constraints(self, task: Task) -> bool:
        k, seeds = task.n_clusters, find_seeds(task.constraints, task.n_clusters)
        return (seeds.name_all(k) and seeds.are_few(k)) or super()._has_ample_constraints(task)

    def _finish(self, task: Task, answer: Answer) -> Answer:
        """Number an unconstrained answer by the labelled points, repair it where asked, mark the noise."""
        n_clusters = answer.results["n_clusters_"]
        if answer.decision is not None and answer.decision.kept == "unconstrained":
            seeds = find_seeds(task.constraints, n_clusters)
            answer = replace(answer, labels=number_by_seeds(answer.labels, seeds, n_clusters))
        answer = super()._finish(replace(task, n_clusters=n_clusters), answer)
        if not self.noise:
            return answer
        outside = answer.results["trees"][0].tree.noise(answer.labels, n_clusters)
        labels = answer.labels.copy()
        labels[np.setdiff1d(outside, task.constraints.constrained_points)] = -1
        return replace(answer, labels=labels)

    def _measure_confidence(self) -> FloatArray:
        """Return how sure each label is, and 0 for noise."""
        sure = measure_confidence(self.labels_, self._answer.embedding, self._answer.graph)
        return np.where(self.labels_ >= 0, sure, 0.0)


def _overlap(results: dict[str, Any], task: Task) -> bool:
    """Return whether no layer of as many clusters or more stands out, less what is known against it."""
    trees, k = results["trees"], task.n_clusters
    within = trees[0].in_layers(conflicts_within(trees[0], task.constraints))
    values = {
        int(labels.max()) + 1: value
        for labels, value in zip(results["layers_"], results["persistence_"], strict=True)
    }
    values[k] = persistence(trees, k)
    worth = [
        values[count] - CONFLICT_COST * within[count - 1] for count in values if k <= count <= len(within)
    ]
    return max(worth, default=0.0) < MIN_PERSISTENCE
