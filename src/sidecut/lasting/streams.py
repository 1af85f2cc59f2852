"""Rows that come in batches, for as long as you like, in memory that does not grow with the past."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from sidecut.checks import FloatArray, IntArray, check_count
from sidecut.constraints import Constraints
from sidecut.graphs import Neighbors, SparseGraph
from sidecut.lasting.update import Before, Changes, place


class Stream:
    """Clusters of rows that come in batches: the clusters of the tenth batch are those of the first.

    Every batch is taken in as `update` does it. Of what has come, a bounded number of rows is kept: a random
    part of each cluster, small clusters whole. A fitted model begins a stream by ``model.stream()``.

    Parameters
    ----------
    points : array or sparse matrix of shape (n, d)
        The rows there are.
    labels : array of shape (n,)
        Their clusters.
    n_kept : int, default=5000
        How many rows are kept at most.
    recipe : Neighbors or None, default=None
        How rows become a graph; None is `Neighbors` with its defaults.
    random_state : int, default=0
        For the choice of the rows that are kept.

    Attributes
    ----------
    labels_ : array of shape (n_batch,)
        The clusters of the last batch.
    confidence_ : array of shape (n_batch,)
        How sure they are.
    changes_ : Changes
        What the last batch changed; "old points" are the rows that were kept.
    n_seen_ : int
        How many rows have come.
    sizes_ : array of shape (n_clusters,)
        How many rows of each cluster have come.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.lasting import Stream
    >>> rng = np.random.default_rng(0)
    >>> centres = np.array([[0.0, 0.0], [9.0, 0.0]])
    >>> labels = np.repeat([0, 1], 50)
    >>> stream = Stream(centres[labels] + rng.normal(size=(100, 2)), labels, n_kept=60)
    >>> for _ in range(10):
    ...     stream = stream.partial_fit(centres[labels] + rng.normal(size=(100, 2)))
    >>> bool((stream.labels_ == labels).all()), stream.n_seen_, stream.n_stored
    (True, 1100, 60)
    """

    labels_: IntArray
    confidence_: FloatArray
    changes_: Changes

    def __init__(
        self,
        points: Any,
        labels: IntArray,
        *,
        n_kept: int = 5000,
        recipe: Neighbors | None = None,
        random_state: int = 0,
    ) -> None:
        self.n_kept = check_count("n_kept", n_kept)
        self.recipe = Neighbors() if recipe is None else recipe
        self._rng = np.random.default_rng(random_state)
        self.sizes_: IntArray = np.bincount(labels)
        self.n_seen_ = len(labels)
        self._keep(points, np.asarray(labels, dtype=np.intp), np.ones(len(labels)))

    @property
    def n_stored(self) -> int:
        """How many rows are kept."""
        return len(self._labels)

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Take a batch in.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_batch, d)
            The rows that came.
        y : ignored
            Present for scikit-learn's sake.

        Returns
        -------
        self
            With `labels_`, `confidence_` and `changes_` of this batch.
        """
        rows = sp.csr_array(X) if sp.issparse(X) else np.asarray(X, dtype=np.float64)
        if rows.ndim != 2 or rows.shape[1] != self._points.shape[1]:
            raise ValueError(
                f"the batch has shape {rows.shape}: give rows of {self._points.shape[1]} features, as before"
            )
        if not np.isfinite(rows.data if sp.issparse(rows) else rows).all():
            raise ValueError(
                "the batch holds values that are missing or infinite: fill or leave out these rows"
            )
        n_old = self.n_stored
        grown = self._extension.grow(self._graph, self._points, rows)
        nothing = Constraints.none(n_old + rows.shape[0])
        before = Before(self._labels, self._confidence, {}, len(self.sizes_))
        labels, confidence, self.changes_ = place(
            before,
            grown.graph.matrix,
            nothing,
            nothing,
            grown.exact_matches,
            grown.to_old,
            grown.points,
        )
        self.labels_, self.confidence_ = labels[n_old:], confidence[n_old:]
        n_clusters = max(len(self.sizes_), int(labels.max()) + 1)
        self.sizes_ = np.bincount(self.labels_, minlength=n_clusters) + np.pad(
            self.sizes_, (0, n_clusters - len(self.sizes_))
        )
        self.n_seen_ += len(self.labels_)
        both = sp.vstack([self._points, rows], format="csr") if sp.issparse(rows) else None
        self._keep(np.concatenate([self._points, rows]) if both is None else both, labels, confidence)
        return self

    def _keep(self, points: Any, labels: IntArray, confidence: FloatArray) -> None:
        """Keep a bounded number of rows, and their graph."""
        rows = self._choose(labels)
        self._points, self._labels, self._confidence = points[rows], labels[rows], confidence[rows]
        self._graph: SparseGraph = self.recipe.build(self._points)
        self._extension: Any = self._graph.extension

    def _choose(self, labels: IntArray) -> IntArray:
        """Return the rows to keep: as many of every cluster, as far as it has them."""
        if len(labels) <= self.n_kept:
            return np.arange(len(labels))
        order = self._rng.permutation(len(labels))
        # The turn of each row within its cluster: all first ones go first, then all second ones.
        by_cluster = order[np.argsort(labels[order], kind="stable")]
        sizes = np.bincount(labels)
        turn = np.empty(len(labels), dtype=np.int64)
        turn[by_cluster] = np.arange(len(labels)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        return np.sort(np.argsort(turn, kind="stable")[: self.n_kept])
