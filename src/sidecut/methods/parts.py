"""Graphs in many parts: which parts are clustered, with how many clusters, and where the others go.

Between parts of a graph there is no edge. A cut of all parts together has an eigenvalue of zero for each, so
its eigenvectors separate parts rather than clusters. Here every part with labels is a task by itself, with
the clusters whose labels it holds. A part without labels that could hold a cluster takes one that has no
label yet; all others are attached by links, by their features, or to the largest cluster.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linear_sum_assignment

from sidecut.checks import BoolArray, FloatArray, IntArray
from sidecut.constraints.closure import Seeds, find_seeds
from sidecut.exceptions import GraphWarning, SidecutWarning, warn
from sidecut.graphs import Graph, SparseGraph
from sidecut.graphs.search import neighbors_of_new
from sidecut.labelling import rename_by_first_appearance
from sidecut.methods.cut import vote_of_neighbors
from sidecut.methods.task import Answer, Task

#: A part with less than this share of the points of a mean cluster is no cluster of its own.
SMALL_SHARE = 0.2
#: How far labels spread in a small part that holds several classes.
ALPHA, N_STEPS = 0.9, 100
#: A point of a part that is attached is compared with this many points of the others.
N_NEAREST = 5
#: Labels of a class are strays in a part where they are fewer than this share of the mean of other classes
#: in the part, and of the mean of the class in parts that hold it.
STRAY_SHARE = 0.25
#: A must-link to another part counts more than all chances together.
MUST_LINK = 1e6

Solve = Callable[[Task], Answer]


@dataclass(frozen=True, eq=False)
class Piece:
    """Some parts of a graph that are clustered by themselves: their nodes and the clusters they are given."""

    nodes: IntArray
    clusters: IntArray


@dataclass(frozen=True, eq=False)
class Parts:
    """The connected parts of a graph, isolated nodes included; the part of every node and the sizes."""

    of: IntArray
    sizes: IntArray
    smallest: float

    @property
    def is_large(self) -> BoolArray:
        """Whether each part could hold a cluster."""
        return np.asarray(self.sizes >= self.smallest)


def find_parts(graph: Graph, n_clusters: int) -> Parts:
    """Return the parts of a graph; an isolated node is one."""
    of = graph.components.copy()
    alone = np.flatnonzero(of < 0)
    of[alone] = graph.n_components + np.arange(len(alone))
    return Parts(of, np.bincount(of), max(2.0, SMALL_SHARE * graph.n_nodes / n_clusters))


def solve_in_parts(task: Task, solve: Solve, by_seeds: bool) -> Answer:
    """Return the answer of a method, part by part; with `by_seeds` clusters are numbered by their labels."""
    parts = find_parts(task.graph, task.n_clusters)
    with warnings.catch_warnings(action="ignore", category=SidecutWarning):
        seeds = find_seeds(task.constraints, task.n_clusters)
    # Some links may name sets that are all apart, and say more than these do. A single set is no class.
    if seeds.n_seeded > 1 and len(seeds.points) == len(task.constraints.constrained_points):
        pieces, labels = _divide_by_seeds(parts, seeds, task)
    else:
        seeds = replace(seeds, points=seeds.points[:0], cluster=seeds.cluster[:0])
        pieces, labels = _leave_out_small(parts, task), np.full(len(parts.of), -1)
    if any(len(piece.nodes) == len(parts.of) for piece in pieces) or not (pieces or (labels >= 0).any()):
        return solve(task)
    answers = [solve(_restrict(task, piece)) for piece in pieces]
    for piece, answer in zip(pieces, answers, strict=True):
        labels[piece.nodes] = _name(answer.labels, piece, seeds)
    unsure = _attach(labels, parts, task)
    if not by_seeds:
        labels = rename_by_first_appearance(labels)
    return _assemble(task, pieces, answers, labels, unsure)


def _divide_by_seeds(parts: Parts, seeds: Seeds, task: Task) -> tuple[list[Piece], IntArray]:
    """Return the pieces to cluster, and the labels of other parts that hold some; -1 elsewhere."""
    counts = np.zeros((len(parts.sizes), task.n_clusters))
    np.add.at(counts, (parts.of[seeds.points], seeds.cluster), 1.0)
    held = (counts > 0) & ~_are_strays(counts)
    is_seeded, largest = np.asarray(held.any(axis=1)), int(parts.sizes.argmax())
    # A class whose labels all lie in small parts must be larger than these: the largest part has it, too.
    held[largest] |= ~held[parts.is_large].any(axis=0) & held.any(axis=0)
    # Clusters without any label: one for each large part that holds none, the others for the largest part.
    free = list(range(seeds.n_seeded, task.n_clusters))
    for part in np.argsort(-parts.sizes, kind="stable"):
        if free and parts.is_large[part] and not is_seeded[part]:
            held[part, free.pop(0)] = True
    held[largest, free] = True
    is_cut = parts.is_large & held.any(axis=1)
    labels = np.full(len(parts.of), -1)
    is_solved = (parts.sizes >= len(parts.of) / task.n_clusters) & (held.sum(axis=1) > 1)
    is_solved[largest] = held[largest].sum() > 1
    at_once = (held[is_cut].sum(axis=0) == 1).all()
    if at_once:
        # Every cluster lies in one part: a cut of all these parts has an eigenvector for each cluster.
        is_solved = is_cut
    _spread_in(labels, np.flatnonzero((is_seeded & ~is_solved)[parts.of]), seeds, task)
    if at_once:
        return [Piece(np.flatnonzero(is_cut[parts.of]), np.arange(task.n_clusters))], labels
    pieces = []
    for part in np.flatnonzero(is_solved | (held.any(axis=1) & ~is_seeded)):
        nodes, clusters = np.flatnonzero(parts.of == part), np.flatnonzero(held[part])
        if is_solved[part]:
            pieces.append(Piece(nodes, clusters))
        else:
            labels[nodes] = clusters[0]
    return pieces, labels


def _are_strays(counts: FloatArray) -> BoolArray:
    """Tell which labels in a part are few beside other classes there, and their own class elsewhere."""
    # A wrong label in a part is no reason to divide it.
    present = counts > 0
    per_class = counts.sum(axis=0) / np.maximum(present.sum(axis=0), 1)
    per_part = counts.sum(axis=1) / np.maximum(present.sum(axis=1), 1)
    return np.asarray(counts < STRAY_SHARE * np.minimum(per_class, per_part[:, None]))


def _spread_in(labels: IntArray, nodes: IntArray, seeds: Seeds, task: Task) -> None:
    """Let labels spread in some parts, in place."""
    if not nodes.size:
        return
    sources = seeds.indicator(task.n_points, task.n_clusters)[nodes]
    affinity, scores = task.graph.restricted_to(nodes).normalized, sources
    for _ in range(N_STEPS):
        scores = ALPHA * affinity.apply(scores) + (1.0 - ALPHA) * sources
    labels[nodes] = scores.argmax(axis=1)
    here = np.isin(seeds.points, nodes)
    labels[seeds.points[here]] = seeds.cluster[here]


def _leave_out_small(parts: Parts, task: Task) -> list[Piece]:
    """Return the large parts together, or nothing where they have too few nodes."""
    nodes = np.flatnonzero(parts.is_large[parts.of])
    return [Piece(nodes, np.arange(task.n_clusters))] if len(nodes) > task.n_clusters else []


def _restrict(task: Task, piece: Piece) -> Task:
    """Return the task on the nodes of a piece."""
    return replace(
        task,
        data=None if _points(task) is None else task.data[piece.nodes],
        graph=task.graph.restricted_to(piece.nodes),
        constraints=task.constraints.restricted_to(piece.nodes),
        n_clusters=min(len(piece.clusters), len(piece.nodes)),
        start=None,
        plain=None,
        sample=None if task.sample is None else np.flatnonzero(np.isin(piece.nodes, task.sample)),
    )


def _points(task: Task) -> Any:
    """Return the points, or None where the graph was given."""
    return None if isinstance(task.data, Graph) else task.data


def _name(labels: IntArray, piece: Piece, seeds: Seeds) -> IntArray:
    """Return the labels of a piece by the numbers of its clusters: those whose labels they hold."""
    if not seeds.n_seeded:
        return labels
    place = np.full(piece.nodes.max() + 1, -1)
    place[piece.nodes] = np.arange(len(piece.nodes))
    here = np.isin(seeds.points, piece.nodes)
    count = max(len(piece.clusters), int(labels.max()) + 1)
    votes = np.zeros((count, count))
    columns = np.searchsorted(piece.clusters, seeds.cluster[here])
    np.add.at(votes, (labels[place[seeds.points[here]]], columns), 1.0)
    found, named = linear_sum_assignment(votes, maximize=True)
    number = np.empty(count, dtype=np.intp)
    number[found] = named
    return piece.clusters[np.minimum(number, len(piece.clusters) - 1)[labels]]


def _attach(labels: IntArray, parts: Parts, task: Task) -> FloatArray:
    """Give every part that has no cluster one, in place; return the confidence of these labels, else NaN."""
    # Links to other parts decide; then the features, by the nearest points; then the sizes of the clusters.
    unsure = np.full(task.n_points, np.nan)
    nodes, sure = np.flatnonzero(labels < 0), np.flatnonzero(labels >= 0)
    if not nodes.size:
        return unsure
    chances = np.zeros((len(parts.sizes), task.n_clusters))
    counts = np.bincount(labels[sure], minlength=task.n_clusters)
    chances[:] = counts / counts.sum()
    points = _points(task)
    if points is not None and len(sure) > 1:
        nearest = neighbors_of_new(points[sure], points[nodes], min(N_NEAREST, len(sure) - 1), "euclidean")[0]
        votes = np.zeros_like(chances)
        for column in nearest.T:
            np.add.at(votes, (parts.of[nodes], labels[sure[column]]), 1.0)
        is_voted = votes.any(axis=1)
        chances[is_voted] = votes[is_voted] / votes[is_voted].sum(axis=1, keepdims=True)
    members = (labels[:, None] == np.arange(task.n_clusters)).astype(np.float64)
    linked = np.zeros_like(chances)
    np.add.at(linked, parts.of[nodes], task.constraints.apply(members)[nodes])
    chances = np.where(linked < 0, 0.0, chances) + MUST_LINK * np.maximum(linked, 0.0)
    labels[nodes] = chances.argmax(axis=1)[parts.of[nodes]]
    # No edge says so: the label counts half.
    doubts = np.where(linked.max(axis=1) > 0, 1.0, 0.5 * chances.max(axis=1))
    unsure[nodes] = doubts[parts.of[nodes]]
    attached = np.unique(parts.of[nodes])
    without_link = attached[linked[attached].max(axis=1) <= 0]
    if without_link.size:
        _warn_about_attached(parts.sizes[without_link], task.n_points, points is not None)
    return unsure


def _warn_about_attached(sizes: IntArray, n_points: int, by_features: bool) -> None:
    """Warn about parts of a graph, of these sizes, that were given a cluster without an edge to it."""
    alone, parts = int((sizes == 1).sum()), np.sort(sizes[sizes > 1])[::-1]
    found = [f"{alone} of {n_points} points have no neighbours"] if alone else []
    if len(parts):
        shown = ", ".join(map(str, parts[:5])) + (", ..." if len(parts) > 5 else "")
        found.append(
            f"{len(parts)} part{'s' * (len(parts) > 1)} of the graph (of {shown} points) cannot be a "
            "cluster: too small, or no cluster is left for a part without labels"
        )
    how = "the cluster of the nearest points" if by_features else "the largest cluster, as the likeliest"
    warn(
        f"{', and '.join(found)}. Without a link each joins {how}, and confidence_ is low there. Label a "
        "point of each, use more neighbours, or leave them out.",
        GraphWarning,
    )


@dataclass(frozen=True, eq=False)
class PieceExtension:
    """Labels of new points that have edges to a piece of a graph; others join most of their neighbours."""

    nodes: IntArray
    labels: IntArray
    own: IntArray
    extend: Any

    def __call__(self, edges: sp.csr_array) -> IntArray:
        """Return the labels of new points, given their weights to the old ones, the nearest first."""
        found = vote_of_neighbors(edges, self.labels)
        inside = edges[:, self.nodes]
        linked = np.flatnonzero(np.diff(inside.indptr) == np.diff(edges.indptr))
        if linked.size:
            renamed = np.zeros(int(self.own.max()) + 1, dtype=np.intp)
            renamed[self.own] = self.labels[self.nodes]
            found[linked] = renamed[self.extend(inside[linked])]
        return found


def _assemble(
    task: Task, pieces: list[Piece], answers: list[Answer], labels: IntArray, unsure: FloatArray
) -> Answer:
    """Return one answer for all nodes; the results are those of the largest piece."""
    if not answers:
        return Answer(labels, np.eye(task.n_clusters)[labels], task.graph, unsure=unsure)
    own = [answer.labels for answer in answers]
    answers = [replace(a, labels=labels, nodes=p.nodes) for p, a in zip(pieces, answers, strict=True)]
    main = answers[place := int(np.argmax([len(piece.nodes) for piece in pieces]))]
    # Each piece has columns of its own.
    rows = [answer.on_all_points(np.asarray(answer.embedding)) for answer in answers]
    solution, extend = main.solution, None
    if solution is not None:
        solution = replace(solution, vectors=main.on_all_points(solution.vectors))
    if main.extend is not None and len(pieces) == 1:
        extend = PieceExtension(pieces[place].nodes, labels, own[place], main.extend)
    return replace(
        main,
        embedding=np.concatenate(rows, axis=1),
        graph=_join_graphs(task.graph, pieces, answers),
        solution=solution,
        confidence=None,
        extend=extend,
        results={name: main.on_all_points(value) for name, value in main.results.items()},
        unsure=unsure,
    )


def _join_graphs(graph: Graph, pieces: list[Piece], answers: list[Answer]) -> Graph:
    """Return the graph with the weights the method gave to pieces of it, where it shows them."""
    if not all(answer.graph is not None and sp.issparse(answer.graph.matrix) for answer in answers):
        return graph
    total = sp.coo_array(graph.tosparse())
    inside = np.zeros(graph.n_nodes, dtype=bool)
    for piece in pieces:
        inside[piece.nodes] = True
    kept = ~inside[total.row]
    entries = [(total.data[kept], total.row[kept], total.col[kept])]
    for piece, answer in zip(pieces, answers, strict=True):
        own = sp.coo_array(answer.graph.matrix)
        entries.append((own.data, piece.nodes[own.row], piece.nodes[own.col]))
    data, row, col = (np.concatenate(column) for column in zip(*entries, strict=True))
    return SparseGraph(sp.coo_array((data, (row, col)), shape=total.shape), recall=graph.recall)
