"""Diarization: who speaks when, from one embedding per segment of speech.

A clusterer in the shape that pyannote.audio and spectralcluster expect. It can be told what is known: two
speakers heard in the same chunk are two people, some segments are of people one knows, and how many people
there are lies between bounds.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import linear_sum_assignment
from sklearn.base import clone
from sklearn.utils import check_random_state

from sidecut.checks import BoolArray, FloatArray, IntArray, to_native
from sidecut.constraints import Constraints
from sidecut.graphs import Graph, Neighbors, as_graph
from sidecut.integrations._streams import Landmarks, keep_numbers
from sidecut.labelling import satisfy_links
from sidecut.methods import E2CP, SpectralLearning
from sidecut.selection.n_clusters import fewest_clusters, propose_by_gaps
from sidecut.spectral import laplacian_eigenpairs

__all__ = ["SpeakerClusterer"]


#: Where the second eigenvalue of the graph is above the first of these, and no relative gap after it above
#: the second, nothing divides the graph: one speaker. One voice has at least .29 and at most .23; several
#: have at most .21 or at least .26 (Gaussian voices of 16 to 192 dimensions, 30 to 2,000 segments).
UNDIVIDED, NO_GAP = 0.25, 0.25
#: Fewer segments than this have no graph of neighbours: all are compared with all.
FEW = 6
#: A speaker must be heard alone in this share of a chunk to be clustered rather than put to the nearest.
HEARD = 0.2
#: What pyannote calls a speaker who is not there.
ABSENT = -2


class SpeakerClusterer:
    """Cluster the embeddings of segments of speech by speaker.

    Parameters
    ----------
    min_clusters, max_clusters : int, default=1 and 15
        Bounds of the number of speakers. The widest gap in the spectrum of the graph decides between them.
    n_neighbors : int, default=20
        How many neighbours each segment has in the graph; fewer of short recordings.
    max_landmarks : int, default=1000
        How many segments `partial_fit` remembers of all it has seen.
    estimator : clusterer, optional
        A method of the library for the graph. Its `n_clusters`, `affinity` and `random_state` are set. By
        default ``SpectralLearning(hard=True)``; where names are known ``E2CP()``, and then the labels are
        changed as little as possible until everything known holds.
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

    def __init__(
        self,
        min_clusters: int = 1,
        max_clusters: int = 15,
        *,
        n_neighbors: int = 20,
        max_landmarks: int = 1000,
        estimator: Any = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.min_clusters = min_clusters
        self.max_clusters = max_clusters
        self.n_neighbors = n_neighbors
        self.max_landmarks = max_landmarks
        self.estimator = estimator
        self.random_state = random_state

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
            The names of speakers one knows; None, NaN or -1 where one does not.
        constraints : Constraints, optional
            Whatever else is known.
        num_clusters : int, optional
            The number of speakers, where it is known.
        min_clusters, max_clusters : int, optional
            Other bounds than those of the clusterer.
        """
        points = check_embeddings(embeddings)
        known = gather_knowledge(len(points), chunks, speakers, constraints)
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
        **knowledge: Any,
    ) -> IntArray:
        """Return the speaker of every segment, as the clusterings of pyannote.audio do.

        Parameters
        ----------
        embeddings : array of shape (n_segments, dimension)
            One vector per segment.
        min_clusters, max_clusters, num_clusters : int, optional
            Bounds of the number of speakers, or the number.
        **knowledge
            `chunks`, `speakers` and `constraints`, see `fit`.
        """
        knowledge |= {"min_clusters": min_clusters, "max_clusters": max_clusters}
        return self.fit(embeddings, num_clusters=num_clusters, **knowledge).labels_

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
        chunk = np.nonzero(clear)[0]
        least, most = _said_bounds(min_clusters, max_clusters)
        labels = self.cluster(voices[clear], least, most, num_clusters, chunks=chunk)
        centroids = np.stack([voices[clear][labels == k].mean(axis=0) for k in range(self.n_clusters_)])
        soft = np.full((*is_there.shape, len(centroids)), np.nan)
        soft[is_there] = 1.0 + _unit(voices[is_there]) @ _unit(centroids).T
        hard = np.full(is_there.shape, ABSENT, dtype=np.int64)
        hard[clear] = labels
        for row in np.flatnonzero((is_there & ~clear).any(axis=1)):
            _seat_the_rest(hard[row], soft[row], is_there[row] & ~clear[row])
        return hard, soft, centroids

    # Streams

    def partial_fit(
        self, embeddings: Any, *, chunks: ArrayLike | None = None, speakers: ArrayLike | None = None
    ) -> Self:
        """Take in the next segments of a recording that goes on.

        At most `max_landmarks` segments of all so far are remembered, as many of each speaker as of others.
        They and the new ones are clustered together; speakers keep the numbers they had. Segments that are no
        longer remembered keep the label they had last.

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
        gather_knowledge(len(points), chunks, speakers, None)
        if not hasattr(self, "_landmarks"):
            self._landmarks = Landmarks(points.shape[1])
            self.labels_, self.confidence_ = np.empty(0, dtype=np.int64), np.empty(0)
        landmarks, n_before = self._landmarks, len(self.labels_)
        apart = _pairs_within(np.arange(len(points)) if chunks is None else np.asarray(chunks), len(points))
        landmarks.add(points, apart, speakers)
        known = landmarks.knowledge()
        found, sure = self._divide(
            landmarks.points, known, self._bounds(len(landmarks), known, None, None, None)
        )
        heard = landmarks.segments[landmarks.segments < n_before]
        found = keep_numbers(found, self.labels_[heard], int(self.labels_.max(initial=-1)) + 1)
        self._note(landmarks.segments, found, sure, landmarks.n_heard)
        self.batch_labels_ = self.labels_[n_before:]
        self.n_clusters_ = len(np.unique(self.labels_))
        self.names_ = landmarks.name(found)
        landmarks.thin(found, self.max_landmarks, check_random_state(self.random_state))
        return self

    def _note(self, segments: IntArray, labels: IntArray, sure: FloatArray, n_heard: int) -> None:
        """Write the labels of some segments; all others stay."""
        all_labels, all_sure = np.zeros(n_heard, dtype=np.int64), np.zeros(n_heard)
        all_labels[: len(self.labels_)], all_sure[: len(self.labels_)] = self.labels_, self.confidence_
        all_labels[segments], all_sure[segments] = labels, sure
        self.labels_, self.confidence_ = all_labels, all_sure

    # The division

    def _bounds(
        self, n: int, known: Constraints, number: int | None, least: int | None, most: int | None
    ) -> tuple[int, int]:
        """Return the least and the greatest number of speakers there may be."""
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
        # People who are heard together, or known by name, are so many at least.
        return min(max(int(least), fewest_clusters(known.components)), most), most

    def _divide(
        self, points: FloatArray, known: Constraints, bounds: tuple[int, int]
    ) -> tuple[IntArray, FloatArray]:
        """Return the speaker of every segment, and how sure that is."""
        alone = np.zeros(len(points), dtype=np.int64), np.ones(len(points))
        if len(points) < 2 or bounds[1] == 1:
            return alone
        graph = self._graph(points)
        n_speakers = bounds[0] if len(points) < FEW else _count_speakers(graph, bounds)
        if n_speakers == 1:
            return alone
        by_default = SpectralLearning(hard=True) if known.labels is None else E2CP()
        model = by_default if self.estimator is None else clone(self.estimator)
        model.set_params(n_clusters=n_speakers, affinity="precomputed", random_state=self.random_state)
        labels = self._cut(model, graph, known)
        return _by_appearance(np.unique(labels, return_inverse=True)[1]), model.confidence_

    def _cut(self, model: Any, graph: Graph, known: Constraints) -> IntArray:
        """Return the labels of a cut that keeps what is known."""
        if self.estimator is not None or known.labels is None:
            return model.fit(graph, constraints=known).labels_
        # Names spread over the graph; the many pairs of chunks are kept by the repair, in far less time.
        model.fit(graph, constraints=Constraints.from_labels(known.labels))
        return satisfy_links(model.labels_, model.embedding_, known, model.n_clusters)[0]

    def _graph(self, points: FloatArray) -> Graph:
        if len(points) < FEW:
            return as_graph(np.maximum(1.0 + points @ points.T, 0.0))
        return Neighbors(min(self.n_neighbors, max(5, len(points) // 10))).build(points)


def _said_bounds(least: int | None, most: float | None) -> tuple[int | None, int | None]:
    """Return the bounds that a user of pyannote.audio gave; its pipeline writes 1 and infinity for none."""
    if most is None or np.isinf(most):
        return (None if least == 1 else least), None
    return least, int(most)


def _count_speakers(graph: Graph, bounds: tuple[int, int]) -> int:
    """Return the number of speakers by the widest gap in the spectrum, within the bounds."""
    least, most = bounds
    if least == most:
        return least
    values = laplacian_eigenpairs(graph, min(most + 1, graph.n_nodes), random_state=0).values
    gaps = 1.0 - values[1:-1] / np.maximum(values[2:], np.finfo(float).tiny)
    if least == 1 and values[1] > UNDIVIDED and gaps.max(initial=0.0) < NO_GAP:
        return 1
    return min(propose_by_gaps(values, max(least, 2), 1)[0], most)


def _by_appearance(labels: IntArray) -> IntArray:
    first = np.unique(labels, return_index=True)[1]
    return np.argsort(np.argsort(first))[labels]


def gather_knowledge(
    n: int, chunks: ArrayLike | None, speakers: ArrayLike | None, constraints: Constraints | None
) -> Constraints:
    """Return all that is known about the segments: names, those heard together, and what else is given.

    Examples
    --------
    >>> from sidecut.integrations.speakers import gather_knowledge
    >>> gather_knowledge(4, [0, 0, 1, 1], ["Ann", None, None, "Bob"], None)
    Constraints(n_samples=4, 0 must-links, 3 cannot-links)
    """
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
    """Tell who is heard alone for long enough in each chunk."""
    if segmentations is None:
        return np.ones_like(is_there)
    active = np.asarray(segmentations.data)
    alone = active * (active.sum(axis=2, keepdims=True) == 1)
    return alone.sum(axis=1) >= HEARD * active.shape[1]


def _seat_the_rest(hard: IntArray, soft: FloatArray, waiting: BoolArray) -> None:
    """Give those of a chunk who wait the best clusters that are still free, in place."""
    free = np.setdiff1d(np.arange(soft.shape[1]), hard)
    people = np.flatnonzero(waiting)
    rows, columns = linear_sum_assignment(soft[np.ix_(people, free)], maximize=True)
    hard[people[rows]] = free[columns]
