"""The walk of the landmark methods: rows, codes, the p x p problem, embedding, centres, labels.

It is the walk of `SpectralClusterer` for rows that may come in chunks: everything about n points is a sum
over chunks, so that data larger than memory give the same labels as data in memory.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted

from sidecut.arrays import FloatArray, IntArray
from sidecut.constraints import Constraints
from sidecut.graphs import (
    CodedRows,
    LandmarkCoder,
    LandmarkGraph,
    RowChunks,
    SpooledNearest,
    choose_landmarks,
    code_points,
    code_rows,
    each_chunk,
    warn_about_graph,
)
from sidecut.graphs.coded_rows import Progress, RowCodes
from sidecut.graphs.inputs import warn_about_components
from sidecut.graphs.landmark_codes import check_sigma
from sidecut.graphs.landmarks import RULES, component_sizes
from sidecut.labelling import chunked_kmeans, nearest_centers, rename_by_first_appearance
from sidecut.labelling.labels import warn_if_clusters_are_missing
from sidecut.labelling.lloyd import Each
from sidecut.methods.base import ConstrainedClusterer
from sidecut.methods.inputs import (
    check_constraints,
    check_points,
    make_once,
    refuse_contradictions,
    refuse_other_than_constraints,
    warn_about_duplicates,
)
from sidecut.parameters import check_n_clusters, check_parameters
from sidecut.progress import stage
from sidecut.thread_limits import limit_threads

#: Why there may be fewer clusters than were asked for, and what to do about it.
WHY_MISSING = "the points have fewer different codes; ask for fewer clusters, or use more landmarks"


class LandmarkClusterer(ConstrainedClusterer):
    """The base of the methods on landmark graphs. A method says which vectors u embed the points."""

    n_clusters: int
    n_landmarks: int
    n_nearest: int
    landmarks: Any
    sigma: float | str
    unit_rows: bool
    n_init: int
    hard: bool
    n_jobs: int | None
    warm_start: bool
    random_state: int | np.random.RandomState | None
    # Arrays after `fit`, dask arrays after `sidecut.distributed.fit`.
    labels_: Any
    embedding_: Any

    def _fit(self, X: Any, constraints: Constraints | None) -> None:
        self._check_parameters()
        X = check_points(self, X, dtype="numeric")
        constraints = check_constraints(constraints, X.shape[0], self.n_clusters)
        refuse_contradictions(self, constraints)
        check_n_clusters(self.n_clusters, X.shape[0])
        warned = warn_about_duplicates(X, self.n_clusters)
        seeds = self._seeds()
        with limit_threads():
            with stage("landmarks"):
                codes, graph = make_once(self, self._coding(), X, lambda: self._graph_of(X, seeds[0]))
            warn_about_graph(graph, self.n_clusters)
            self.affinity_matrix_ = graph
            with stage("embedding"):
                self._learn(codes, constraints)
                parts = list(codes.each(self._embed_rows))
            with stage("labels"):
                self._find_centers(
                    lambda function: each_chunk(function, parts, self.n_jobs), codes.n_rows, seeds[1]
                )
        self.embedding_ = np.concatenate(parts)
        self.labels_ = self._label_rows(parts, warned)
        self._repair(self.embedding_, constraints)

    def fit_chunks(
        self,
        source: Any,
        *,
        constraints: Constraints | None = None,
        progress: Progress | bool | None = None,
        scratch: str | None = None,
    ) -> Self:
        """Cluster rows that do not fit in memory.

        Rows are read twice: once to choose landmarks, unless they are given, and once to code them. What is
        kept of a row is its r nearest landmarks, in a temporary file; memory is for a few chunks, p x p
        matrices and the labels. Given the landmarks and `random_state`, the labels are those of `fit`.

        Parameters
        ----------
        source : array, memory map, data frame, path, iterable or callable
            A matrix; a Parquet file or a folder of them; a collection of chunks of rows; or a function that
            returns a fresh iterator over chunks. See `sidecut.graphs.RowChunks`.
        constraints : Constraints, optional
            What is known about the rows, numbered in the order they come.
        progress : True or callable, optional
            Wraps an iterable to show how far it has come: True is tqdm, or give another with its signature.
        scratch : str, optional
            Folder of the temporary file, 12 `n_nearest` bytes per row.

        Returns
        -------
        self
            Without `embedding_` and `affinity_matrix_`, which would be as long as the data.
        """
        self._check_parameters()
        if self.hard:
            raise ValueError("hard=True needs the embedding of all points: use fit, or hard=False.")
        refuse_other_than_constraints(constraints)
        shown, rows, seeds = shown_by(progress), RowChunks(source), self._seeds()
        self._forget("embedding_", "affinity_matrix_", "repair_", "feature_names_in_", "_confidence")
        with limit_threads(), SpooledNearest(scratch) as spool:
            codes = self._code_rows(rows, seeds[0], spool, shown)
            constraints = check_constraints(constraints, codes.n_rows, self.n_clusters)
            check_n_clusters(self.n_clusters, codes.n_rows)
            warn_about_components(component_sizes(codes.sums), self.n_clusters)
            self.n_features_in_ = codes.coder.n_features
            self._learn(codes, constraints)
            self._find_centers(
                lambda function: codes.each(lambda chunk: function(self._embed_rows(chunk))),
                codes.n_rows,
                seeds[1],
            )
            self.labels_ = self._label_rows(codes.each(self._embed_rows))
        self._name_clusters(constraints)
        return self

    def predict(self, X: Any) -> IntArray:
        """Return the cluster of every row of X: coded over the landmarks, embedded, the nearest centre.

        For rows of the training data it is their label, unless `hard` changed it.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (any, n_features)
            The points.

        Returns
        -------
        array of int
            Numbered as `labels_`.
        """
        check_is_fitted(self)
        X = check_points(self, X, reset=False, dtype="numeric")
        with limit_threads():
            return np.concatenate(list(each_chunk(self._predict_rows, RowChunks(X), self.n_jobs)))

    def _predict_rows(self, rows: Any) -> IntArray:
        codes = code_points(self._coder.nearest(rows), self.sigma_, self._coder.n_landmarks)
        return nearest_centers(self._embed_rows(codes), self.cluster_centers_)

    @abstractmethod
    def _solve(self, codes: RowCodes, constraints: Constraints) -> tuple[FloatArray, FloatArray]:
        """Return vectors u of shape (p, m) and how much each weighs in the embedding."""

    def _check_parameters(self) -> None:
        """Refuse parameters that make no sense, whatever the data."""
        counts = ("n_landmarks", "n_nearest", "n_init")
        check_parameters(self, flags=("unit_rows", "warm_start"), counts=counts)
        check_sigma(self.sigma)
        if isinstance(self.landmarks, str) and self.landmarks not in RULES:
            raise ValueError(
                f"landmarks={self.landmarks!r}: choose {', '.join(map(repr, RULES))}, row numbers, or points."
            )

    def _seeds(self) -> tuple[int, int]:
        """Return a seed for the landmarks and one for k-means: given landmarks do not change the latter."""
        rng = check_random_state(self.random_state)
        first, second = rng.randint(np.iinfo(np.int32).max, size=2)
        return int(first), int(second)

    def _coding(self) -> tuple:
        """Return what the codes of given points depend on; a seed only where it was given."""
        seed = self.random_state if isinstance(self.random_state, int | np.integer) else None
        return self.landmarks, self.n_landmarks, self.n_nearest, self.sigma, seed

    def _graph_of(self, X: Any, seed: int) -> tuple[CodedRows, LandmarkGraph]:
        codes = self._code_rows(RowChunks(X), seed)
        return codes, LandmarkGraph(codes.matrix, codes.sums)

    def _code_rows(
        self,
        rows: RowChunks,
        seed: int,
        spool: SpooledNearest | None = None,
        progress: Progress | None = None,
    ) -> CodedRows:
        """Choose landmarks and code all rows over them (steps 2 and 3)."""
        searched = rows if progress is None else rows.shown(progress, "landmarks")
        chosen = choose_landmarks(searched, self.landmarks, self.n_landmarks, seed)
        coder = LandmarkCoder(chosen, self.n_nearest)
        return code_rows(rows, coder, sigma=self.sigma, spool=spool, progress=progress, n_jobs=self.n_jobs)

    def _learn(self, codes: RowCodes, constraints: Constraints) -> None:
        """Solve the p x p problem, and keep what embeds a coded point."""
        self._coder, self.sigma_ = codes.coder, codes.sigma
        self.landmarks_ = codes.coder.landmarks
        vectors, weights = self._solve(codes, constraints)
        # A code z over landmarks becomes D^{-1/2} z, then v = uᵀD^{-1/2} z.
        self._projection = vectors * weights / np.sqrt(codes.sums.degrees)[:, None]

    def _embed_rows(self, codes: sp.csr_array) -> FloatArray:
        return embed_codes(codes, self._projection, self.unit_rows)

    def _find_centers(self, each: Each, n_rows: int, seed: int) -> None:
        self.cluster_centers_ = chunked_kmeans(
            each, n_rows, self.n_clusters, n_init=self.n_init, random_state=seed
        )

    def _label_rows(self, chunks: Iterable[FloatArray], warned: bool = False) -> IntArray:
        """Return the nearest centre of every row; clusters and centres are numbered by first appearance."""
        found = np.concatenate([nearest_centers(rows, self.cluster_centers_) for rows in chunks])
        labels = rename_by_first_appearance(found)
        order = np.full(len(self.cluster_centers_), len(self.cluster_centers_))
        order[found] = labels
        self.cluster_centers_ = self.cluster_centers_[np.argsort(order, kind="stable")]
        if not warned:
            warn_if_clusters_are_missing(labels, self.n_clusters, "kmeans", WHY_MISSING)
        return labels

    def __sklearn_tags__(self) -> Tags:
        """Tell scikit-learn that sparse data are welcome."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def embed_codes(codes: sp.csr_array, projection: FloatArray, unit_rows: bool) -> FloatArray:
    """Return the embedding of coded rows (steps 11 and 12).

    Parameters
    ----------
    codes : csr_array of shape (n, p)
        Zᵀ for these rows.
    projection : array of shape (p, m)
        D^{-1/2} u, weighted.
    unit_rows : bool
        Whether rows are scaled to length one; rows of zeros stay.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> from sidecut.methods.scacs.base import embed_codes
    >>> embed_codes(sp.csr_array([[0.5, 0.5]]), np.array([[3.0, 4.0], [3.0, 4.0]]), unit_rows=True)
    array([[0.6, 0.8]])
    """
    rows = np.asarray(codes @ projection)
    if not unit_rows:
        return rows
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    lengths[lengths == 0] = 1.0
    return rows / lengths[:, None]


def shown_by(progress: Progress | bool | None) -> Progress | None:
    """Return what shows progress: tqdm for True, nothing for None and False."""
    if progress is True:
        try:
            from tqdm.auto import tqdm
        except ImportError as error:
            raise ImportError("progress=True needs tqdm: pip install tqdm, or give another.") from error
        return tqdm
    return progress or None
