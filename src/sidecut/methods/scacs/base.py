"""The walk of the landmark methods: rows, codes, the p x p problem, embedding, centres, labels.

Rows may come in chunks: everything about n points is a sum
over chunks, so that data larger than memory give the same labels as data in memory.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils import Tags

from sidecut.checks import (
    FloatArray,
    IntArray,
    Rule,
    check_count,
    check_flag,
    check_n_clusters,
    check_parameters,
)
from sidecut.constraints import Constraints
from sidecut.graphs import (
    CodedRows,
    Graph,
    LandmarkCoder,
    LandmarkGraph,
    Neighbors,
    RowChunks,
    SpooledNearest,
    choose_landmarks,
    code_points,
    code_rows,
    each_chunk,
    warn_about_graph,
)
from sidecut.graphs.graph import warn_about_components
from sidecut.graphs.landmark_codes import ProgressBar, check_sigma
from sidecut.graphs.landmarks import RULES, component_sizes
from sidecut.labelling import chunked_kmeans, kmeans_labels, nearest_centers, rename_by_first_appearance
from sidecut.labelling.labels import warn_if_clusters_are_missing
from sidecut.methods.base import Clusterer
from sidecut.methods.guard import draw_sample
from sidecut.methods.new_points import equal_rows
from sidecut.methods.task import (
    Answer,
    Decision,
    Task,
    check_constraints,
    draw_seed,
    make_once,
    refuse_other_forms,
)
from sidecut.running import limit_threads, stage
from sidecut.spectral import Eigenpairs

#: Why there may be fewer clusters than were asked for, and what to do about it.
WHY_MISSING = "the points have fewer different codes; ask for fewer clusters, or use more landmarks"


class Embedder(NamedTuple):
    """The projection that embeds a coded point, v = uᵀD^{-1/2} z, and the eigenpairs of u."""

    # `centers` are those of the clusters, where they are known before k-means.

    projection: FloatArray
    solution: Eigenpairs
    results: dict[str, Any]
    centers: FloatArray | None = None


@dataclass(frozen=True, eq=False)
class LandmarkModel:
    """The cluster of a point: its code over landmarks, embedded, and the nearest centre."""

    coder: LandmarkCoder
    sigma: float
    projection: FloatArray
    unit_rows: bool
    centers: FloatArray

    def code(self, rows: Any) -> sp.csr_array:
        """Return the codes of points."""
        return code_points(self.coder.nearest(rows), self.sigma, self.coder.n_landmarks)

    def __call__(self, rows: Any) -> IntArray:
        """Return the clusters of points."""
        codes = self.code(rows)
        return nearest_centers(embed_codes(codes, self.projection, self.unit_rows), self.centers)


def check_landmarks(name: str, landmarks: Any) -> None:
    """Refuse a word that is no rule for landmarks."""
    if isinstance(landmarks, str) and landmarks not in RULES:
        raise ValueError(
            f"{name}={landmarks!r}: choose {', '.join(map(repr, RULES))}, row numbers, or points."
        )


@dataclass(eq=False, repr=False)
class LandmarkClusterer(Clusterer):
    """The base of the methods on landmark graphs: a method implements `_embedder`."""

    _: KW_ONLY
    n_landmarks: int = 500
    n_nearest: int = 3
    landmarks: str | npt.ArrayLike = "kmeans"
    sigma: float | str = "mean"
    unit_rows: bool = True
    n_init: int = 10
    warm_start: bool = False
    rules: ClassVar[dict[str, Rule]] = {
        **dict.fromkeys(("n_landmarks", "n_nearest", "n_init"), check_count),
        **dict.fromkeys(("unit_rows", "warm_start"), check_flag),
        "sigma": lambda _, value: check_sigma(value),
        "landmarks": check_landmarks,
    }

    accepts: ClassVar[dict[str, Any]] = {"dtype": "numeric"}
    #: Many codes are equal, so that the distance to a neighbour is no width.
    neighbors: ClassVar[Neighbors] = Neighbors(weights="cosine")

    def _build(self, data: Any, seed: int) -> tuple[Any, Graph | None]:
        # Codes of given points depend on the seed only where it was given.
        own = seed if isinstance(self.random_state, int | np.integer) else None
        settings = (self.landmarks, self.n_landmarks, self.n_nearest, self.sigma, own)
        with limit_threads(), stage("landmarks"):
            return make_once(self, settings, data, lambda: self._graph_of(data, seeds(seed)[0]))

    def _graph_of(self, X: Any, seed: int) -> tuple[CodedRows, LandmarkGraph]:
        codes = self._code_rows(RowChunks(X), seed)
        return codes, LandmarkGraph(codes.matrix, codes.sums)

    def _code_rows(
        self,
        rows: RowChunks,
        seed: int,
        spool: SpooledNearest | None = None,
        progress: ProgressBar | None = None,
    ) -> CodedRows:
        """Choose landmarks and code all rows over them (steps 2 and 3)."""
        searched = rows if progress is None else rows.shown(progress, "landmarks")
        chosen = choose_landmarks(searched, self.landmarks, self.n_landmarks, seed)
        coder = LandmarkCoder(chosen, self.n_nearest)
        return code_rows(rows, coder, sigma=self.sigma, spool=spool, progress=progress, n_jobs=self.n_jobs)

    @abstractmethod
    def _embedder(self, task: Task) -> Embedder:
        """Solve the p x p problem: steps 4 to 10."""

    def _answer_to(self, task: Task) -> Answer:
        with limit_threads():
            found, decision = self._choose_embedder(task)
            return replace(self._label(task, found), decision=decision)

    def _choose_embedder(self, task: Task) -> tuple[Embedder, Decision | None]:
        """Return the projection of the points, and the decision of the guard, which compares on a sample."""
        if task.graph is not None:
            warn_about_graph(task.graph, task.n_clusters)
        if not self._is_guarded(task):
            return self._embedder(task), None
        rough = super()._answer_to(replace(task, sample=draw_sample(task)))
        return rough.results["embedder"], rough.decision

    def _solve(self, task: Task) -> Answer:
        with stage("embedding"):
            found = self._embedder(task)
        return self._label(task, found) if task.sample is None else self._label_sample(task, found)

    def _label(self, task: Task, found: Embedder) -> Answer:
        """Return the clusters of all rows; rows from a file are embedded again for every step."""
        codes = task.data
        embed = partial(embed_codes, projection=found.projection, unit_rows=self.unit_rows)
        parts = None if task.graph is None else list(codes.each(embed))

        def each(function: Any) -> Any:
            if parts is None:
                return codes.each(lambda chunk: function(embed(chunk)))
            return each_chunk(function, parts, self.n_jobs)

        with stage("labels"):
            centers = found.centers
            if centers is None:
                centers = chunked_kmeans(
                    each, task.n_points, task.n_clusters, n_init=self.n_init, random_state=seeds(task.seed)[1]
                )
            labels, centers = label_rows(codes.each(embed) if parts is None else parts, centers)
        warn_if_clusters_are_missing(labels, task.n_clusters, "kmeans", WHY_MISSING)
        return self.answer(task, found, labels, centers, None if parts is None else np.concatenate(parts))

    def answer(self, task: Task, found: Embedder, labels: Any, centers: FloatArray, embedding: Any) -> Answer:
        """Return the answer, from labels that were found here or on a cluster."""
        codes = task.data
        place = LandmarkModel(codes.coder, codes.sigma, found.projection, self.unit_rows, centers)
        results = {
            **found.results,
            "sigma_": codes.sigma,
            "landmarks_": codes.coder.landmarks,
            "cluster_centers_": centers,
        }
        return Answer(labels, embedding, task.graph, found.solution, extend=place, results=results)

    def _label_sample(self, task: Task, found: Embedder) -> Answer:
        """Return labels of some rows, found by k-means among them; -1 for the others."""
        labels = np.full(task.n_points, -1, dtype=np.intp)
        rows = embed_codes(task.data.take(task.sample), found.projection, self.unit_rows)
        if found.centers is not None:
            labels[task.sample] = nearest_centers(rows, found.centers)
        else:
            labels[task.sample] = kmeans_labels(
                rows, task.n_clusters, n_init=self.n_init, random_state=task.rng()
            )
        return Answer(labels, results={"embedder": found})

    def fit_chunks(
        self,
        source: Any,
        *,
        constraints: Constraints | None = None,
        progress: ProgressBar | bool | None = None,
        scratch: str | None = None,
    ) -> Self:
        """Cluster rows that do not fit in memory."""
        # Rows are read twice: once to choose landmarks, unless they are given, and once to code them. Only
        # the r nearest landmarks of a row are kept, in a temporary file; memory holds a few chunks, p x p
        # matrices and the labels. Given the landmarks and `random_state`, the labels are those of `fit`.
        check_parameters(self)
        refuse_other_forms(constraints)
        if self.hard:
            raise ValueError("hard=True needs the embedding of all points: use fit, or hard=False.")
        shown, rows, seed = shown_by(progress), RowChunks(source), draw_seed(self.random_state)
        with limit_threads(), SpooledNearest(scratch) as spool:
            codes = self._code_rows(rows, seeds(seed)[0], spool, shown)
            constraints = check_constraints(constraints, codes.n_rows, self.n_clusters)
            n_clusters = check_n_clusters(self.n_clusters, codes.n_rows)
            warn_about_components(component_sizes(codes.sums), n_clusters)
            task = Task(codes, None, constraints, n_clusters, seed)
            answer = self._let_stand(task, self._answer_to(task))
        if getattr(self, "feature_names_in_", None) is not None:
            del self.feature_names_in_
        self.n_features_in_, self._exponent = codes.coder.n_features, 0
        # The rows are in a temporary file that is gone.
        return self._keep(replace(task, data=None), answer)

    def _rows_of_fit(self) -> Any:
        data = self._task.data
        return data.matrix if isinstance(data, CodedRows) else data

    def _as_rows(self, X: Any) -> Any:
        place = self._answer.results.get("update", self._answer.extend)
        return place.code(X)

    def _predict_new(self, X: Any) -> IntArray:
        """Return the cluster of every row: coded over the landmarks, embedded, the nearest centre."""
        with limit_threads():
            labels = np.concatenate(list(each_chunk(self._answer.extend, RowChunks(X), self.n_jobs)))
        results, rows = self._answer.results, self._rows_of_fit()
        moved = np.asarray(results.get("contradicted_", ()), dtype=np.intp)
        if "repair_" in results:
            moved = np.union1d(moved, results["repair_"].moved)
        if rows is not None and len(moved):
            # Points that kept the class they were given, or were repaired, and lie in another cluster.
            equal = equal_rows(rows[moved], self._as_rows(X))
            labels = np.where(equal >= 0, self.labels_[moved][equal], labels)
        return labels

    def _measure_confidence(self) -> FloatArray:
        rows, centers = self._answer.embedding, self._answer.results["cluster_centers_"]
        if not isinstance(rows, np.ndarray):
            raise AttributeError("There is no confidence_: rows that came in chunks were not kept; use fit.")
        if rows.shape[1] > 1 or len(centers) != 2 or centers[0] == centers[1]:
            return super()._measure_confidence()
        # A single cut of two clusters: where a row lies on the way from one centre to the other. Beyond a
        # centre nothing is doubtful, however far away it is.
        share = np.clip((rows[:, 0] - centers[0]) / (centers[1] - centers[0]), 0.0, 1.0)
        return np.where(self.labels_ == 1, share, 1.0 - share)

    def __sklearn_tags__(self) -> Tags:
        """Tell scikit-learn that sparse data are welcome."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def seeds(seed: int) -> tuple[int, int]:
    """Return a seed for the landmarks and one for k-means: given landmarks do not change the latter."""
    first, second = np.random.RandomState(seed).randint(np.iinfo(np.int32).max, size=2)
    return int(first), int(second)


def label_rows(chunks: Any, centers: FloatArray) -> tuple[IntArray, FloatArray]:
    """Return the nearest centre of every row, and the centres; both are numbered by first appearance."""
    found = np.concatenate([nearest_centers(rows, centers) for rows in chunks])
    labels = rename_by_first_appearance(found)
    order = np.full(len(centers), len(centers))
    order[found] = labels
    return labels, centers[np.argsort(order, kind="stable")]


def embed_codes(codes: sp.csr_array, projection: FloatArray, unit_rows: bool) -> FloatArray:
    """Return the embedding of coded rows (steps 11 and 12)."""
    # A single column is left as it is: of unit length, nothing but its sign would remain.
    rows = np.asarray(codes @ projection)
    if not unit_rows or rows.shape[1] == 1:
        return rows
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    lengths[lengths == 0] = 1.0
    return rows / lengths[:, None]


def shown_by(progress: ProgressBar | bool | None) -> ProgressBar | None:
    """Return the progress bar: tqdm for True, nothing for None and False."""
    if progress is True:
        try:
            from tqdm.auto import tqdm
        except ImportError as error:
            raise ImportError("progress=True needs tqdm: pip install tqdm, or give another.") from error
        return tqdm
    return progress or None
