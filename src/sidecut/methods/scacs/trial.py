"""The constrained cut of coded points, for any part of what is known, beside the cut of their graph alone."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from sidecut.arrays import FloatArray, IntArray
from sidecut.constraints import Constraints
from sidecut.exceptions import ConstraintError, SpectralError
from sidecut.graphs.landmark_rows import RowCodes
from sidecut.labelling import kmeans_labels
from sidecut.methods.csp.cuts import FeasibleCuts
from sidecut.methods.csp.trial import complete_cuts
from sidecut.methods.scacs.base import embed_codes
from sidecut.methods.scacs.problem import LandmarkBasis, landmark_basis, normalize_gram

if TYPE_CHECKING:
    from sidecut.methods.scacs.scacs import SCACS

#: Answers are compared on so many rows, and on all that something is known about.
SOME_ROWS = 5_000


class LandmarkTrial:
    """What SCACS compares: its own cut, told more or less, and that of the graph.

    Parameters
    ----------
    model : SCACS
        The settings.
    codes : RowCodes
        The coded points.
    constraints : Constraints
        All that is known.
    """

    def __init__(self, model: SCACS, codes: RowCodes, constraints: Constraints) -> None:
        self.model, self.codes = model, codes
        self.n_rows = constraints.n_samples
        some = np.random.RandomState(0).permutation(self.n_rows)[:SOME_ROWS]
        self.points: IntArray = np.union1d(some, constraints.constrained_points)
        self.some_codes = codes.take(self.points)
        self.roots = np.sqrt(codes.sums.degrees)[:, None]

    @cached_property
    def _basis(self) -> LandmarkBasis:
        return landmark_basis(self.codes.sums, self.model.n_clusters)

    @property
    def graph_vectors(self) -> FloatArray:
        """The unconstrained vectors u."""
        return self._basis.vectors[:, : self.model.n_clusters]

    @cached_property
    def graph_labels(self) -> IntArray:
        """Labels by the unconstrained vectors."""
        return self.label(self.graph_vectors, np.ones(self.graph_vectors.shape[1]))

    def cut_graph(self) -> IntArray:
        """Return labels by the unconstrained vectors, found once."""
        return self.graph_labels

    def complete(self, cuts: FeasibleCuts) -> tuple[FloatArray, FloatArray]:
        """Return the vectors u of the best cuts, completed by unconstrained ones, and their weights."""
        needed = self.model.n_clusters - 1
        best = cuts.first(needed)
        if best.costs.size >= needed:
            return best.vectors, self.model.weigh(best.costs)
        others = self._basis.without_trivial().vectors[:, :needed]
        both = np.hstack([others, best.vectors])
        # vᵀv = uᵀŜu and vᵀLv = uᵀ(Ŝ - Ŝ²)u for v = Ẑᵀu (eq. 7).
        image = normalize_gram(self.codes.sums) @ both
        gram = both.T @ image
        completion = complete_cuts(gram, gram - image.T @ image, best.costs.size, needed)
        vectors = np.hstack([best.vectors, completion.columns(others, best.vectors)])
        return vectors, self.model.weigh(np.concatenate([best.costs, completion.costs]))

    def label(self, vectors: FloatArray, weights: FloatArray) -> IntArray:
        """Return labels of some rows, found by k-means among them; -1 for the others."""
        model = self.model
        rows = embed_codes(self.some_codes, vectors * weights / self.roots, model.unit_rows)
        labels = np.full(self.n_rows, -1, dtype=np.intp)
        labels[self.points] = kmeans_labels(
            rows, model.n_clusters, n_init=model.n_init, random_state=np.random.RandomState(0)
        )
        return labels

    def refit(self, told: Constraints) -> dict[str, IntArray] | None:
        """Return the answer where only a part is told."""
        if told.is_empty:
            return None
        try:
            return {"kmeans": self.label(*self.complete(self.model.find_cuts(self.codes, told)))}
        except (ConstraintError, SpectralError):
            return None
