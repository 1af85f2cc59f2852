"""Graphs with known classes that fall into parts, or are stars, chains, hubs or bipartite."""

from __future__ import annotations

from collections.abc import Callable

import networkx as nx
import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_digits, make_blobs

from sidecut.graphs import Neighbors

Made = tuple[sp.csr_array, np.ndarray]


def blocks(
    n: int, k: int, n_parts: int, degree: float, rng: np.random.RandomState, mixed: float = 0.1
) -> Made:
    """Return a stochastic block model of k classes, without the edges between parts drawn at random.

    A node has `degree` edges in the mean, of which the share `mixed` leads to nodes of any class.
    """
    y, part = rng.randint(k, size=n), rng.randint(n_parts, size=n)
    groups, pairs = y + k * part, []
    for _ in range(round(degree * n / 2)):
        i = rng.randint(n)
        among = np.flatnonzero(part == part[i]) if rng.rand() < mixed else np.flatnonzero(groups == groups[i])
        pairs.append((i, rng.choice(among)))
    return from_pairs(n, np.array(pairs)), y


def from_pairs(n: int, pairs: np.ndarray) -> sp.csr_array:
    """Return the graph with these edges, each of weight 1."""
    pairs = np.asarray(pairs)
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    weights = sp.coo_array((np.ones(len(pairs)), tuple(pairs.T)), shape=(n, n)).tocsr()
    weights = weights + weights.T
    weights.data[:] = 1.0
    return sp.csr_array(weights)


def citations(n: int, k: int, rng: np.random.RandomState) -> Made:
    """Return a block model with a twelfth of its nodes in parts of two to five nodes of one class each."""
    n_small = n // 12
    large, y = blocks(n - n_small, k, 1, 4.0, rng, mixed=0.15)
    sizes: list[int] = []
    while sum(sizes) < n_small:
        sizes.append(min(rng.randint(2, 6), n_small - sum(sizes)))
    small = [nx.to_scipy_sparse_array(nx.path_graph(size), format="csr") for size in sizes]
    classes = np.concatenate([np.full(size, rng.randint(k)) for size in sizes])
    return sp.csr_array(sp.block_diag([large, *small])), np.concatenate([y, classes])


def isolated(n: int, k: int, rng: np.random.RandomState) -> Made:
    """Return a block model of which a tenth of the nodes has lost all edges."""
    weights, y = blocks(n, k, 1, 6.0, rng)
    kept = (rng.rand(n) > 0.1).astype(float)
    return sp.csr_array(sp.diags_array(kept) @ weights @ sp.diags_array(kept)), y


def stars(n: int, k: int, rng: np.random.RandomState) -> Made:
    """Return k stars whose centres form a ring; a star is a class."""
    y = np.arange(n) % k
    pairs = [(i, y[i]) for i in range(k, n)] + [(c, (c + 1) % k) for c in range(k)]
    return from_pairs(n, np.array(pairs)), y


def hubs(n: int, k: int, rng: np.random.RandomState) -> Made:
    """Return a block model with five nodes that are linked to a third of all nodes."""
    weights, y = blocks(n, k, 1, 6.0, rng)
    spokes = [(hub, i) for hub in range(5) for i in np.flatnonzero(rng.rand(n) < 1 / 3)]
    total = weights + from_pairs(n, np.array(spokes))
    total.data[:] = 1.0
    return sp.csr_array(total), y


def chain(n: int, k: int, rng: np.random.RandomState) -> Made:
    """Return one chain in which the classes follow each other."""
    pairs = np.column_stack([np.arange(n - 1), np.arange(1, n)])
    return from_pairs(n, pairs), np.arange(n) * k // n


def chains(n: int, k: int, rng: np.random.RandomState) -> Made:
    """Return twelve chains, each of two classes that follow each other."""
    of = np.arange(n) * 12 // n
    pairs = [(i, i + 1) for i in range(n - 1) if of[i] == of[i + 1]]
    half = (np.arange(n) * 24 // n) % 2
    first, second = rng.randint(k, size=12), rng.randint(k, size=12)
    return from_pairs(n, np.array(pairs)), np.where(half == 0, first[of], second[of])


def bipartite(n: int, k: int, rng: np.random.RandomState) -> Made:
    """Return a block model whose edges join nodes of even number to nodes of odd number only."""
    weights, y = blocks(n, k, 1, 10.0, rng)
    edges = sp.coo_array(weights)
    kept = (edges.row + edges.col) % 2 == 1
    return sp.csr_array((edges.data[kept], (edges.row[kept], edges.col[kept])), shape=(n, n)), y


def neighbors_of_blobs(n: int, k: int, rng: np.random.RandomState) -> Made:
    """Return the graph of two nearest neighbours of overlapping groups of points, which falls apart."""
    X, y = make_blobs(n, n_features=4, centers=k, cluster_std=3.0, random_state=rng)
    return sp.csr_array(Neighbors(2).build(X).tosparse()), y


def neighbors_of_digits(n: int, k: int, rng: np.random.RandomState) -> Made:
    """Return the graph of two nearest neighbours of digits 0 to k - 1, which falls apart."""
    X, y = load_digits(return_X_y=True)
    rows = rng.permutation(np.flatnonzero(y < k))[:n]
    return sp.csr_array(Neighbors(2).build(X[rows]).tosparse()), y[rows]


def karate(n: int, k: int, rng: np.random.RandomState) -> Made:
    """Return Zachary's karate club, by the club each member joined."""
    graph = nx.karate_club_graph()
    return nx.to_scipy_sparse_array(graph, weight=None, dtype=float, format="csr"), np.array(
        [graph.nodes[node]["club"] == "Officer" for node in graph], dtype=int
    )


def communities(name: str) -> Callable[[int, int, np.random.RandomState], Made]:
    """Return a maker of a graph bundled with networkx, whose classes are its communities by modularity."""

    def make(n: int, k: int, rng: np.random.RandomState) -> Made:
        graph = nx.convert_node_labels_to_integers(getattr(nx, name)())
        y = np.empty(len(graph), dtype=int)
        for number, members in enumerate(nx.community.greedy_modularity_communities(graph)):
            y[list(members)] = number
        return nx.to_scipy_sparse_array(graph, weight=None, dtype=float, format="csr"), y

    return make


#: Every shape by its name: called with the number of nodes, of classes, and a generator.
SHAPES: dict[str, Callable[[int, int, np.random.RandomState], Made]] = {
    "1 part": lambda n, k, rng: blocks(n, k, 1, 5.0, rng),
    "sparse": lambda n, k, rng: blocks(n, k, 1, 2.5, rng),
    "10 parts": lambda n, k, rng: blocks(n, k, 10, 5.0, rng),
    "100 parts": lambda n, k, rng: blocks(n, k, 100, 4.0, rng),
    "500 parts": lambda n, k, rng: blocks(n, k, 500, 3.0, rng),
    "citations": citations,
    "isolated nodes": isolated,
    "stars": stars,
    "hubs": hubs,
    "chain": chain,
    "12 chains": chains,
    "bipartite": bipartite,
    "neighbours of blobs": neighbors_of_blobs,
    "neighbours of digits": neighbors_of_digits,
    "karate club": karate,
    "Les Misérables": communities("les_miserables_graph"),
    "Southern women": communities("davis_southern_women_graph"),
    "Florentine families": communities("florentine_families_graph"),
}


def draw_labels(y: np.ndarray, per_class: int, rng: np.random.RandomState) -> np.ndarray:
    """Return labels of some nodes of every class, -1 elsewhere; at most half of a class is labelled."""
    known = np.full(len(y), -1)
    for one in np.unique(y):
        members = rng.permutation(np.flatnonzero(y == one))
        chosen = members[: max(1, min(per_class, len(members) // 2))]
        known[chosen] = one
    return known
