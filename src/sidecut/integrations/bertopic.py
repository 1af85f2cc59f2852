"""Topics: a cluster model for BERTopic that can be corrected.

BERTopic clusters documents by HDBSCAN, which takes no constraints. This model takes its place as
``hdbscan_model=``: it reads the known topics of documents and corrections, and keeps them when the model is
fitted again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClusterMixin, clone
from sklearn.neighbors import NearestNeighbors
from sklearn.utils.validation import check_is_fitted, validate_data

from sidecut.checks import BoolArray, IntArray, to_native
from sidecut.constraints import Constraints
from sidecut.constraints.inputs import read_labels
from sidecut.exceptions import ConstraintError, ConstraintWarning, warn
from sidecut.selection import AutoCut

#: The topic of documents without a topic, as in BERTopic.
OUTLIER = -1
Pairs = Iterable[tuple[int, int]]


@dataclass(eq=False, repr=False)
class TopicClusterer(ClusterMixin, BaseEstimator):
    """A cluster model for ``BERTopic(hdbscan_model=...)`` with known topics and corrections.

    Parameters
    ----------
    n_topics : int, tuple of int or "auto", default="auto"
        The number of topics, or bounds such as (10, 40); "auto" is by the known topics and the graph, see
        `AutoCut`.
    outliers : float, default=0.0
        The share of documents, the least sure ones, that belong to no topic: -1, as BERTopic expects.
        Documents whose topic is known are never among them.
    known : dict of int to topic, optional
        The topics of some documents, by their place in the list of documents. A topic can be any value: a
        name, or a number that `y` has, too.
    must_link, cannot_link : sequence of pairs of int, optional
        Documents of the same topic, and documents of different topics.
    estimator : clusterer, optional
        A method of the library; by default `AutoCut`. Its `n_clusters`, unless `n_topics` is "auto", and its
        `random_state` are set.
    random_state : int, RandomState or None, default=None
        An int makes the result reproducible.

    Attributes
    ----------
    labels_ : array of shape (n_documents,)
        The topic of every document from 0, -1 for outliers. BERTopic numbers topics anew, by size.
    probabilities_ : array of shape (n_documents,)
        How sure each topic is, from 0 to 1; 0 for outliers.
    names_ : dict
        The known topics, by label.
    model_ : clusterer
        The fitted method.
    n_features_in_ : int
        The number of features.

    See Also
    --------
    sidecut.AutoCut : what clusters the documents.

    References
    ----------
    M. Grootendorst. BERTopic: Neural topic modeling with a class-based TF-IDF procedure. arXiv:2203.05794,
    2022.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from sidecut.integrations.bertopic import TopicClusterer
    >>> X, y = load_iris(return_X_y=True)
    >>> partial = np.where(np.arange(150) % 10 == 0, y, -1)
    >>> model = TopicClusterer(random_state=0).fit(X, y=partial)
    >>> round(float(np.mean(model.labels_ == y)), 2)
    0.96

    A correction is kept, however often the model is fitted:

    >>> model.correct(known={133: 2, 77: 1}).fit(X, y=partial).labels_[[133, 77]]
    array([2, 1])
    """

    n_topics: int | str = "auto"
    _: KW_ONLY
    outliers: float = 0.0
    known: Mapping[int, Any] | None = None
    must_link: Pairs | None = None
    cannot_link: Pairs | None = None
    estimator: Any = None
    random_state: int | np.random.RandomState | None = None

    def correct(
        self, known: Mapping[int, Any] | None = None, must_link: Pairs = (), cannot_link: Pairs = ()
    ) -> Self:
        """Use corrections in every fit from now on; the same documents must keep their places.

        An estimator with ``safe=True`` follows few corrections only if they improve the clustering in
        cross-validation; with ``safe=False`` it always follows them.

        Parameters
        ----------
        known : dict of int to topic, optional
            The right topics of some documents; None removes an earlier one.
        must_link, cannot_link : sequence of pairs of int, optional
            Further documents of the same topic, and of different topics. They win over `y`.

        Raises
        ------
        ConflictError
            If the corrections contradict each other; none of them is taken.

        Examples
        --------
        >>> TopicClusterer().correct(must_link=[(4, 8)]).correct(cannot_link=[(8, 4)])
        Traceback (most recent call last):
        sidecut.exceptions.ConflictError: ...
        """
        topics = {**(self.known or {}), **(known or {})}
        topics = {place: topic for place, topic in topics.items() if topic is not None}
        together, apart = [*(self.must_link or ()), *must_link], [*(self.cannot_link or ()), *cannot_link]
        n = 1 + max((*topics, *(place for pair in (*together, *apart) for place in pair)), default=0)
        _corrections(n, topics, together, apart)
        self.known, self.must_link, self.cannot_link = topics, together, apart
        return self

    def fit(self, X: Any, y: ArrayLike | None = None) -> Self:
        """Cluster documents.

        Parameters
        ----------
        X : array of shape (n_documents, n_features)
            Their embeddings, as BERTopic's reduction leaves them.
        y : array-like of shape (n_documents,), optional
            The topics of documents that are known, -1 for all others.
        """
        X = validate_data(self, to_native(X), dtype=np.float64, ensure_min_samples=2)
        if not (isinstance(self.outliers, int | float) and 0 <= self.outliers < 1):
            raise ValueError(f"outliers={self.outliers!r}: the share of outliers is at least 0 and below 1.")
        constraints, is_known = self._gather(len(X), y)
        self.model_ = AutoCut() if self.estimator is None else clone(self.estimator)
        self.model_.set_params(random_state=self.random_state)
        if self.n_topics != "auto" or self.estimator is None:
            self.model_.set_params(n_clusters=self.n_topics)
        self.model_.fit(X, constraints=constraints)
        self.names_ = dict(self.model_.cluster_classes_)
        self.labels_ = self.model_.labels_.copy()
        self.probabilities_ = np.array(self.model_.confidence_, dtype=np.float64)
        candidates = np.flatnonzero(~is_known)
        by_confidence = candidates[np.argsort(self.probabilities_[candidates], kind="stable")]
        least = by_confidence[: int(self.outliers * len(X))]
        self.labels_[least], self.probabilities_[least] = OUTLIER, 0.0
        # New documents join the topic of most of their 15 nearest documents.
        self._nearest = NearestNeighbors(n_neighbors=min(15, len(X))).fit(X)
        return self

    def predict(self, X: Any) -> IntArray:
        """Put new documents into the topics of the documents next to them.

        Parameters
        ----------
        X : array of shape (n_new, n_features)
            Their embeddings.

        Returns
        -------
        array of shape (n_new,)
            The topic of most of the nearest documents; -1 where that is no topic.
        """
        check_is_fitted(self, "labels_")
        X = validate_data(self, to_native(X), dtype=np.float64, reset=False)
        neighbors = self.labels_[self._nearest.kneighbors(X, return_distance=False)]
        votes = np.stack([(neighbors == topic).sum(axis=1) for topic in range(OUTLIER, neighbors.max() + 1)])
        return votes.argmax(axis=0) + OUTLIER

    def names_of(self, topics: ArrayLike) -> dict[int, Any]:
        """Return the names of known topics by the numbers BERTopic gave them.

        Parameters
        ----------
        topics : array-like of shape (n_documents,)
            ``topic_model.topics_`` after the fit.
        """
        numbers = np.asarray(topics)
        check_is_fitted(self, "labels_")
        return {
            int(np.bincount(numbers[(self.labels_ == label) & (numbers >= 0)]).argmax()): name
            for label, name in self.names_.items()
            if ((self.labels_ == label) & (numbers >= 0)).any()
        }

    def _gather(self, n: int, y: ArrayLike | None) -> tuple[Constraints, BoolArray]:
        """Return the constraints, and which documents have a known topic."""
        topics: NDArray[Any] = np.full(n, None, dtype=object)
        if y is not None:
            codes, names = read_labels(y, "y")
            if len(codes) != n:
                raise ConstraintError(f"y has {len(codes)} topics for {n} documents: give one for each.")
            topics[codes >= 0] = np.array([*names, None], dtype=object)[codes[codes >= 0]]
        for place, topic in (self.known or {}).items():
            if not 0 <= place < n:
                raise ConstraintError(
                    f"the topic of document {place} is known, but there are {n} documents: corrections "
                    "are by place; after a change of documents, set known, must_link and cannot_link anew."
                )
            topics[place] = topic
        pairs = _corrections(n, {}, self.must_link or (), self.cannot_link or ())
        _let_corrections_win(topics, pairs, self.known or {})
        is_known = np.array([topic is not None for topic in topics])
        return Constraints.from_labels(topics) | pairs, is_known


def _corrections(n: int, known: Mapping[int, Any], together: Pairs, apart: Pairs) -> Constraints:
    """Return what corrections say of n documents; refuse those that contradict each other."""
    topics: NDArray[Any] = np.full(n, None, dtype=object)
    for place, topic in known.items():
        topics[place] = topic
    return Constraints.from_labels(topics) | Constraints.from_pairs(n, list(together), list(apart))


def _let_corrections_win(topics: NDArray[Any], pairs: Constraints, known: Mapping[int, Any]) -> None:
    """Forget the topics of `y` that pairs contradict, and say so."""
    group = pairs.must_link_components()
    members: dict[int, list[int]] = {}
    for place in pairs.constrained_points.tolist():
        members.setdefault(int(group[place]), []).append(place)

    def topics_of(number: int) -> set[Any]:
        return {topics[place] for place in members[number]} - {None}

    wrong = {number for number in members if len(topics_of(number)) > 1}
    for i, j in pairs.cannot_link.tolist():
        if topics_of(int(group[i])) & topics_of(int(group[j])):
            wrong |= {int(group[i]), int(group[j])}
    lost = [p for number in wrong for p in members[number] if topics[p] is not None and p not in known]
    if lost:
        topics[lost] = None
        shown = ", ".join(map(str, sorted(lost)[:5]))
        warn(
            f"y contradicts the corrections: its topics of {len(lost)} documents ({shown}) are not used.",
            ConstraintWarning,
        )
