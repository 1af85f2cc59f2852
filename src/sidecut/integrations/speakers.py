"""Diarization: who speaks when, from one embedding per segment of speech.

A clusterer with the interface of pyannote.audio and spectralcluster. It takes constraints: two speakers in
the same chunk are two people, the speakers of some segments are known, and their number has bounds.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import linear_sum_assignment
from sklearn.base import clone
from sklearn.utils import check_random_state

from sidecut.checks import BoolArray, FloatArray, IntArray, to_native
from sidecut.constraints import Constraints
from sidecut.constraints.inputs import UNKNOWN, read_labels
from sidecut.graphs import Graph, Neighbors, as_graph
from sidecut.labelling import rename_by_first_appearance, satisfy_links
from sidecut.methods import E2CP, SpectralLearning
from sidecut.spectral import laplacian_eigenpairs

#: Fewer segments than this have no graph of neighbours: all are compared with all.
MIN_SEGMENTS = 6


class RememberedSegments:
    """A sample of all segments so far: their embeddings, their places in the recording, and constraints."""

    def __init__(self, dimension: int) -> None:
        self.points: FloatArray = np.empty((0, dimension))
        self.segments: IntArray = np.empty(0, dtype=np.int64)
        self.n_heard = 0
        self._apart: IntArray = np.empty((0, 2), dtype=np.int64)
        # The known speaker of every segment, by number, and the names of the speakers.
        self._speaker: IntArray = np.empty(0, dtype=np.int64)
        self._names: list[Any] = []

    def __len__(self) -> int:
        return len(self.points)

    def add(self, points: FloatArray, apart: IntArray, speakers: Any = None) -> None:
        """Add all new segments; `apart` are pairs of them with different speakers."""
        start = len(self)
        self.points = np.concatenate([self.points, points])
        self.segments = np.concatenate([self.segments, self.n_heard + np.arange(len(points))])
        self.n_heard += len(points)
        self._apart = np.concatenate([self._apart, start + apart.reshape(-1, 2)])
        self._speaker = np.concatenate([self._speaker, self._number(speakers, len(points))])

    def _number(self, speakers: Any, n: int) -> IntArray:
        """Return the numbers of known speakers; a name keeps its number."""
        if speakers is None:
            return np.full(n, UNKNOWN, dtype=np.int64)
        codes, names = read_labels(speakers, "speakers")
        self._names += [name for name in names if name not in self._names]
        numbers = np.array([self._names.index(name) for name in names] + [UNKNOWN], dtype=np.int64)
        return numbers[codes]

    def constraints(self) -> Constraints:
        """Return the constraints between the segments."""
        known = Constraints.from_labels(self._speaker)
        return known | Constraints.from_pairs(len(self), cannot_link=self._apart)

    def names(self, labels: IntArray) -> dict[int, Any]:
        """Return the names of known speakers by the most frequent label of their segments."""
        names: dict[int, Any] = {}
        for number, name in enumerate(self._names):
            found = labels[self._speaker == number]
            if len(found):
                names[int(np.bincount(found).argmax())] = name
        return names

    def thin(self, labels: IntArray, n_most: int, rng: np.random.RandomState) -> None:
        """Keep at most `n_most` segments, equally many of each speaker if possible, known ones first."""
        if len(self) <= n_most:
            return
        # Known segments, then others in random order; the first of every speaker come first.
        order = np.lexsort((rng.permutation(len(self)), self._speaker == UNKNOWN))
        rank = np.empty(len(self), dtype=np.int64)
        for label in np.unique(labels):
            mine = order[labels[order] == label]
            rank[mine] = np.arange(len(mine))
        kept = np.sort(np.argsort(rank, kind="stable")[:n_most])
        place = np.full(len(self), -1)
        place[kept] = np.arange(len(kept))
        apart = place[self._apart]
        self._apart = apart[(apart >= 0).all(axis=1)]
        self.points, self.segments = self.points[kept], self.segments[kept]
        self._speaker = self._speaker[kept]


def keep_numbers(labels: IntArray, before: IntArray, n_used: int = 0) -> IntArray:
    """Number clusters as before where most of their segments are the same; others get the next numbers."""
    # `before` holds the earlier labels of the first segments; `n_used` numbers were in use.
    n_new = int(labels.max()) + 1
    n_old = max(int(before.max(initial=-1)) + 1, n_used)
    shared = np.zeros((n_new, n_old))
    np.add.at(shared, (labels[: len(before)], before), 1)
    rows, columns = linear_sum_assignment(shared, maximize=True)
    numbers = np.full(n_new, -1, dtype=np.int64)
    kept = shared[rows, columns] > 0
    numbers[rows[kept]] = columns[kept]
    is_new = numbers < 0
    numbers[is_new] = n_old + np.arange(is_new.sum())
    return numbers[labels]


@dataclass(eq=False)
class SpeakerClusterer:
    """Cluster the embeddings of segments of speech by speaker.

    Parameters
    ----------
    min_clusters, max_clusters : int, default=1 and 15
        Bounds of the number of speakers. The widest gap in the spectrum of the graph decides between them.
    n_neighbors : int, default=20
        How many neighbours each segment has in the graph; fewer of short recordings.
    max_landmarks : int, default=1000
        How many segments `partial_fit` keeps.
    estimator : clusterer, optional
        A method of the library for the graph. Its `n_clusters`, `affinity` and `random_state` are set. By
        default ``SpectralLearning(hard=True)``; where names are known ``E2CP()``, and then the labels are
        changed as little as possible until all constraints hold.
    random_state : int, RandomState or None, default=None
        An int makes the result reproducible.

    Attributes
    ----------
    labels_ : array of shape (n_segments,)
        The speaker of every segment, from 0.
    confidence_ : array of shape (n_segments,)
        How sure each label is, from 0 to 1.
    n_clusters_ : int
        The number of speakers.
    names_ : dict
        The names of the speakers that are known, by label.

    References
    ----------
    Q. Wang, C. Downey, L. Wan, P. A. Mansfield, I. L. Moreno. Speaker diarization with LSTM. ICASSP, 2018.

    H. Bredin. pyannote.audio 2.1 speaker diarization pipeline. INTERSPEECH, 2023.

    Examples
    --------
    Three voices; the chunks say which segments are not of the same person:

    >>> import numpy as np
    >>> from sidecut.integrations.speakers import SpeakerClusterer
    >>> rng = np.random.default_rng(0)
    >>> who = np.tile([0, 1, 1, 2], 50)
    >>> voices = rng.normal(size=(3, 32))[who] + 1.2 * rng.normal(size=(200, 32))
    >>> chunks = np.repeat(np.arange(100), 2)
    >>> model = SpeakerClusterer(max_clusters=6, random_state=0).fit(voices, chunks=chunks)
    >>> model.n_clusters_, round(float(np.mean(model.labels_ == who)), 2)
    (3, 1.0)
    """

    min_clusters: int = 1
    max_clusters: int = 15
    _: KW_ONLY
    n_neighbors: int = 20
    max_landmarks: int = 1000
    estimator: Any = None
    random_state: int | np.random.RandomState | None = None

    def fit(
        self,
        embeddings: Any,
        *,
        chunks: ArrayLike | None = None,
        speakers: ArrayLike | None = None,
        constraints: Constraints | None = None,
        num_clusters: int | None = None,
        min_clusters: int | None = None,
        max_clusters: int | None = None,
    ) -> Self:
        """Cluster the segments of a recording.

        Parameters
        ----------
        embeddings : array or tensor of shape (n_segments, dimension)
            One vector per segment; only their directions count.
        chunks : array-like of shape (n_segments,), optional
            The chunk of every segment. Segments of the same chunk are of different speakers.
        speakers : array-like of shape (n_segments,), optional
            The names of known speakers; None, NaN or -1 for unknown ones.
        constraints : Constraints, optional
            Further constraints.
        num_clusters : int, optional
            The number of speakers, if it is known.
        min_clusters, max_clusters : int, optional
            Other bounds than those of the clusterer.
        """
        points = check_embeddings(embeddings)
        known = gather_constraints(len(points), chunks, speakers, constraints)
        bounds = self._bounds(len(points), known, num_clusters, min_clusters, max_clusters)
        self.labels_, self.confidence_ = self._divide(points, known, bounds)
        self.n_clusters_ = int(self.labels_.max()) + 1
        self.names_ = known.name_clusters(self.labels_)
        return self

    def cluster(
        self,
        embeddings: Any,
        min_clusters: int | None = None,
        max_clusters: int | None = None,
        num_clusters: int | None = None,
        **constraints: Any,
    ) -> IntArray:
        """Return the speaker of every segment, as the clusterings of pyannote.audio do.

        Parameters
        ----------
        embeddings : array of shape (n_segments, dimension)
            One vector per segment.
        min_clusters, max_clusters, num_clusters : int, optional
            Bounds of the number of speakers, or the number.
        **constraints
            `chunks`, `speakers` and `constraints`, see `fit`.
        """
        constraints |= {"min_clusters": min_clusters, "max_clusters": max_clusters}
        return self.fit(embeddings, num_clusters=num_clusters, **constraints).labels_

    def predict(self, embeddings: Any, constraint_matrix: Any = None) -> IntArray:
        """Cluster and return the labels, as spectralcluster's method of this name does.

        Parameters
        ----------
        embeddings : array of shape (n_segments, dimension)
            One vector per segment.
        constraint_matrix : array or sparse matrix of shape (n_segments, n_segments), optional
            Positive for the same speaker, negative for different ones, 0 for unknown.
        """
        known = None if constraint_matrix is None else Constraints.from_matrix(constraint_matrix)
        return self.fit(embeddings, constraints=known).labels_

    def __call__(
        self,
        embeddings: Any,
        segmentations: Any = None,
        num_clusters: int | None = None,
        min_clusters: int | None = None,
        max_clusters: int | None = None,
        **others: Any,
    ) -> tuple[IntArray, FloatArray, FloatArray]:
        """Cluster the speakers of all chunks, as a clustering of pyannote.audio's pipeline is called."""
        voices = np.asarray(to_native(embeddings), dtype=np.float64)
        is_there = np.asarray(np.isfinite(voices).all(axis=2))
        clear: BoolArray = is_there & _heard_alone(segmentations, is_there)
        if not clear.any():
            clear = is_there
        if max_clusters is None or np.isinf(max_clusters):
            # The pipeline of pyannote.audio passes 1 and infinity for no bounds.
            min_clusters, max_clusters = (None if min_clusters == 1 else min_clusters), None
        chunk = np.nonzero(clear)[0]
        labels = self.cluster(voices[clear], min_clusters, max_clusters, num_clusters, chunks=chunk)
        centroids = np.stack([voices[clear][labels == k].mean(axis=0) for k in range(self.n_clusters_)])
        soft = np.full((*is_there.shape, len(centroids)), np.nan)
        soft[is_there] = 1.0 + _unit(voices[is_there]) @ _unit(centroids).T
        # pyannote.audio marks a speaker who is not there by -2.
        hard = np.full(is_there.shape, -2, dtype=np.int64)
        hard[clear] = labels
        for row in np.flatnonzero((is_there & ~clear).any(axis=1)):
            _assign_rest(hard[row], soft[row], is_there[row] & ~clear[row])
        return hard, soft, centroids

    def partial_fit(
        self, embeddings: Any, *, chunks: ArrayLike | None = None, speakers: ArrayLike | None = None
    ) -> Self:
        """Cluster the next segments of a recording.

        At most `max_landmarks` of all segments so far are kept, equally many of each speaker if possible.
        They and the new ones are clustered together; speakers keep their numbers. Other segments keep their
        last label.

        Parameters
        ----------
        embeddings, chunks, speakers
            As in `fit`, for the new segments.

        Returns
        -------
        self
            `labels_` are those of all segments so far, `batch_labels_` those of the last ones.
        """
        points = check_embeddings(embeddings)
        gather_constraints(len(points), chunks, speakers, None)
        if not hasattr(self, "_kept"):
            self._kept = RememberedSegments(points.shape[1])
            self.labels_, self.confidence_ = np.empty(0, dtype=np.int64), np.empty(0)
        kept, n_before = self._kept, len(self.labels_)
        apart = _pairs_within(np.arange(len(points)) if chunks is None else np.asarray(chunks), len(points))
        kept.add(points, apart, speakers)
        known = kept.constraints()
        found, sure = self._divide(kept.points, known, self._bounds(len(kept), known, None, None, None))
        heard = kept.segments[kept.segments < n_before]
        found = keep_numbers(found, self.labels_[heard], int(self.labels_.max(initial=-1)) + 1)
        n_new = kept.n_heard - n_before
        self.labels_ = np.concatenate([self.labels_, np.zeros(n_new, dtype=np.int64)])
        self.confidence_ = np.concatenate([self.confidence_, np.zeros(n_new)])
        self.labels_[kept.segments], self.confidence_[kept.segments] = found, sure
        self.batch_labels_ = self.labels_[n_before:]
        self.n_clusters_ = len(np.unique(self.labels_))
        self.names_ = kept.names(found)
        kept.thin(found, self.max_landmarks, check_random_state(self.random_state))
        return self

    def _bounds(
        self, n: int, known: Constraints, number: int | None, least: int | None, most: int | None
    ) -> tuple[int, int]:
        """Return the least and the greatest possible number of speakers."""
        if number is not None:
            least = most = number
        least = self.min_clusters if least is None else least
        most = max(self.max_clusters, least) if most is None else most
        if not 1 <= least <= most:
            raise ValueError(
                f"min_clusters={least} and max_clusters={most}: the number of speakers is at least 1, and "
                "the bounds must be in order."
            )
        most = min(int(most), n)
        # Speakers in the same chunk, or with different names, are different people.
        return min(max(int(least), len(known.components.clique)), most), most

    def _divide(
        self, points: FloatArray, known: Constraints, bounds: tuple[int, int]
    ) -> tuple[IntArray, FloatArray]:
        """Return the speaker of every segment, and the confidence of that."""
        n = len(points)
        alone = np.zeros(n, dtype=np.int64), np.ones(n)
        if n < 2 or bounds[1] == 1:
            return alone
        if n < MIN_SEGMENTS:
            graph, n_speakers = as_graph(np.maximum(1.0 + points @ points.T, 0.0)), bounds[0]
        else:
            graph = Neighbors(min(self.n_neighbors, max(5, n // 10))).build(points)
            n_speakers = _count_speakers(graph, bounds)
        if n_speakers == 1:
            return alone
        by_default = SpectralLearning(hard=True) if known.labels is None else E2CP()
        model = by_default if self.estimator is None else clone(self.estimator)
        model.set_params(n_clusters=n_speakers, affinity="precomputed", random_state=self.random_state)
        if self.estimator is not None or known.labels is None:
            labels = model.fit(graph, constraints=known).labels_
        else:
            # Names spread over the graph; the repair satisfies the many pairs of chunks in far less time.
            model.fit(graph, constraints=Constraints.from_labels(known.labels))
            labels = satisfy_links(model.labels_, model.embedding_, known, n_speakers)[0]
        return rename_by_first_appearance(labels), model.confidence_


def _count_speakers(graph: Graph, bounds: tuple[int, int]) -> int:
    """Return the number of speakers by the widest gap in the spectrum, within the bounds."""
    least, most = bounds
    if least == most:
        return least
    values = laplacian_eigenpairs(graph, min(most + 1, graph.n_nodes), random_state=0).values
    gaps = 1.0 - values[1:-1] / np.maximum(values[2:], np.finfo(float).tiny)
    # One speaker has a large second eigenvalue and no wide relative gap after it. Measured on Gaussian voices
    # (16 to 192 dimensions, 30 to 2,000 segments): one voice has an eigenvalue of at least .29 and gaps of at
    # most .23, several voices have an eigenvalue of at most .21 or a gap of at least .26.
    if least == 1 and values[1] > 0.25 and gaps.max(initial=0.0) < 0.25:
        return 1
    # The null space of a graph in pieces has no gaps of its own.
    gaps[values[2:] < 1e-9] = 0.0
    first = max(least, 2)
    return min(first + int(np.argmax(gaps[first - 2 :])), most) if len(gaps) > first - 2 else most


def gather_constraints(
    n: int, chunks: ArrayLike | None, speakers: ArrayLike | None, constraints: Constraints | None
) -> Constraints:
    """Return the constraints from names, from segments of the same chunk, and those given."""
    known = Constraints.none(n)
    if speakers is not None:
        known = Constraints.from_labels(speakers)
        known.check_matches(n)
    if chunks is not None:
        known = known | Constraints.from_pairs(n, cannot_link=_pairs_within(np.asarray(chunks), n))
    return known if constraints is None else known | constraints


def _pairs_within(chunks: Any, n: int) -> IntArray:
    """Return all pairs of segments of the same chunk."""
    if chunks.shape != (n,):
        raise ValueError(f"chunks has shape {chunks.shape} for {n} segments: give one number per segment.")
    order = np.argsort(chunks, kind="stable")
    ordered, pairs = chunks[order], []
    for step in range(1, n):
        same = ordered[step:] == ordered[:-step]
        if not same.any():
            break
        pairs.append(np.stack([order[:-step][same], order[step:][same]], axis=1))
    return np.concatenate(pairs) if pairs else np.empty((0, 2), dtype=np.int64)


def check_embeddings(embeddings: Any) -> FloatArray:
    """Return embeddings as rows of length one, or say what is wrong with them."""
    points = np.asarray(to_native(embeddings), dtype=np.float64)
    if points.ndim != 2 or len(points) == 0:
        raise ValueError(f"embeddings has shape {points.shape}: give one row per segment.")
    bad = np.flatnonzero(~np.isfinite(points).all(axis=1) | ~points.any(axis=1))
    if len(bad):
        raise ValueError(
            f"the embedding of segment {bad[0]} is not finite or all zero: leave such segments out, or call "
            "the clusterer with embeddings of shape (n_chunks, n_speakers, dimension)."
        )
    return _unit(points)


def _unit(rows: FloatArray) -> FloatArray:
    return rows / np.linalg.norm(rows, axis=-1, keepdims=True)


def _heard_alone(segmentations: Any, is_there: BoolArray) -> BoolArray:
    """Return which speakers are heard alone in a fifth of the chunk, and so are clustered."""
    if segmentations is None:
        return np.ones_like(is_there)
    active = np.asarray(segmentations.data)
    alone = active * (active.sum(axis=2, keepdims=True) == 1)
    return alone.sum(axis=1) >= 0.2 * active.shape[1]


def _assign_rest(hard: IntArray, soft: FloatArray, waiting: BoolArray) -> None:
    """Give the other speakers of a chunk the best clusters that are still free, in place."""
    free = np.setdiff1d(np.arange(soft.shape[1]), hard)
    people = np.flatnonzero(waiting)
    rows, columns = linear_sum_assignment(soft[np.ix_(people, free)], maximize=True)
    hard[people[rows]] = free[columns]
