"""What is weighed, and what comes of it: see `sidecut.active.weighing` for the terms and the equations."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.cluster.hierarchy import average

from sidecut.active.belief import NOISE, invert
from sidecut.active.landscape import Landscape
from sidecut.active.votes import Ballot
from sidecut.arrays import BoolArray, FloatArray, IntArray

#: What the graph says about two seeds counts as log odds from the first to the second.
LEAST_PRIOR, MOST_PRIOR = -1.5, 0.0
#: Two pieces are as likely one class as two where the weight between them is this share of the weight inside.
EVEN_LINKAGE = 0.1


@dataclass(frozen=True)
class Scene:
    """What does not change while answers are weighed.

    Attributes
    ----------
    landscape : Landscape
        The data.
    nodes : array of int
        The grains that were asked about, and the centres.
    ballot : Ballot
        The answers.
    kernel : array
        How alike grains are.
    trust : float
        How much the piece of a grain says about it.
    n_clusters : int or None
        No new class is expected once there are so many.
    """

    landscape: Landscape
    nodes: IntArray
    ballot: Ballot
    kernel: FloatArray
    trust: float
    n_clusters: int | None

    @cached_property
    def pieces(self) -> IntArray:
        """The piece of every node."""
        return self.landscape.pieces[self.nodes]

    @cached_property
    def alike(self) -> FloatArray:
        """The kernel among the nodes."""
        return self.kernel[np.ix_(self.nodes, self.nodes)]

    @cached_property
    def linkage(self) -> FloatArray:
        """The weight between two pieces as a share of the weight inside the smaller one."""
        pieces = self.landscape.pieces
        member = np.zeros((len(pieces), self.landscape.n_pieces))
        member[np.arange(len(pieces)), pieces] = 1.0
        cut = member.T @ (self.landscape.weights @ member)
        inside = np.diag(cut)
        return cut / np.maximum(np.minimum(inside[:, None], inside[None, :]), 1e-9)

    @cached_property
    def families(self) -> BoolArray:
        """Sets of nodes that are alike: one row for each step in which average linkage joins two of them."""
        n = len(self.nodes)
        member = np.eye(2 * n - 1, n, dtype=bool)
        if n > 1:
            far = 1.0 - self.alike[np.triu_indices(n, 1)]
            for step, (one, other) in enumerate(average(far)[:, :2].astype(np.intp)):
                member[n + step] = member[one] | member[other]
        return member[n:]

    def prior(self, n_seeds: int) -> FloatArray:
        """Return the log odds that two seeds are one class, by how strongly the graph links their pieces."""
        known = np.log(np.maximum(self.linkage, 1e-9) / EVEN_LINKAGE)
        prior = np.full((n_seeds, n_seeds), LEAST_PRIOR)
        prior[: len(known), : len(known)] = np.clip(known, LEAST_PRIOR, MOST_PRIOR)
        return prior


@dataclass(frozen=True)
class Forecast:
    """What is forecast of every node from the others.

    Attributes
    ----------
    rows : array of shape (n_nodes, n_seeds)
        What the forecast rests on: the chance of each seed.
    raw : array of shape (n_nodes, n_seeds)
        The forecast of each node from the others.
    inverse, slopes : arrays
        A = (K + Σ)⁻¹ and A(Y - M), of which forecasts of sets are made.
    """

    rows: FloatArray
    raw: FloatArray
    inverse: FloatArray
    slopes: FloatArray

    def without(self, block: IntArray) -> FloatArray:
        """Return the forecast of some nodes from those outside: Y - A_BB⁻¹ [A(Y - M)]_B."""
        return self.rows[block] - np.linalg.solve(self.inverse[np.ix_(block, block)], self.slopes[block])


def foretell(scene: Scene, rows: FloatArray, sure: FloatArray, seeds: IntArray) -> Forecast:
    """Forecast each node from the others; a seed is what it is."""
    inverse = invert(scene.alike, NOISE + (1.0 - sure))
    weighted = rows * sure[:, None]
    counts = np.zeros((scene.landscape.n_pieces, rows.shape[1]))
    np.add.at(counts, scene.pieces, weighted)
    others = counts[scene.pieces] - weighted
    others /= np.maximum(others.sum(axis=1, keepdims=True), 1.0)
    slopes = inverse @ (rows - scene.trust * others)
    raw = rows - slopes / np.diag(inverse)[:, None]
    raw[seeds] = np.eye(len(seeds), rows.shape[1])
    return Forecast(rows, raw, inverse, slopes)


@dataclass(frozen=True)
class Weighed:
    """What the answers make of the nodes.

    Attributes
    ----------
    seeds : array of int
        Which nodes are seeds.
    class_of : array of int
        The class of each seed.
    chances : array of shape (n_nodes, n_classes + 1)
        The chance of each class, and in the last column of a new one.
    rows : array of shape (n_nodes, n_seeds)
        The chance of each seed.
    evidence, prior : arrays of shape (n_seeds, n_seeds)
        Log odds that two seeds are one class, from the answers and from the graph.
    forecast : Forecast
        What was forecast of each node.
    new_rate : float
        The chance of a new class before the answers.
    score : float
        The log chance of the answers, and of the classes before them.
    """

    seeds: IntArray
    class_of: IntArray
    chances: FloatArray
    rows: FloatArray
    evidence: FloatArray
    prior: FloatArray
    forecast: Forecast
    new_rate: float
    score: float

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return int(self.class_of.max()) + 1

    @cached_property
    def columns(self) -> IntArray:
        """The likeliest class of every node; a seed is of its own."""
        columns = self.chances[:, :-1].argmax(axis=1)
        columns[self.seeds] = self.class_of
        return columns

    @cached_property
    def sureness(self) -> FloatArray:
        """The chance of the likeliest class of every node."""
        sure = self.chances[:, :-1].max(axis=1)
        sure[self.seeds] = 1.0
        return sure
