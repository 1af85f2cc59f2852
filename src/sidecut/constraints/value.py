"""The Constraints value: everything the user knows about which samples belong together."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sidecut.arrays import BoolArray, IntArray
from sidecut.constraints.classes import Classes, merge_classes, name_clusters
from sidecut.constraints.closure import (
    Contraction,
    Knowledge,
    close,
    contract,
    count_conflicts,
    must_link_components,
)
from sidecut.constraints.conflicts import Conflict, find_conflicts, merge, refuse_conflicts, settle
from sidecut.constraints.inputs import (
    UNKNOWN,
    check_belief_matrix,
    check_graph,
    check_n_samples,
    check_positive,
    encode_clustering,
    read_labels,
    read_links,
)
from sidecut.constraints.links import (
    make_groups,
    read_only,
    replace_diagonal,
    split_signs,
    symmetric_matrix,
)
from sidecut.constraints.matrix import ConstraintMatrix
from sidecut.constraints.satisfaction import satisfied_pairs, tally
from sidecut.exceptions import ConstraintError

NO_PAIRS = np.empty((0, 2), dtype=np.int64)


class Constraints(ConstraintMatrix):
    """Which samples belong together and which do not, as far as is known.

    Make one with `from_pairs`, `from_labels`, `from_matrix`, `from_graph` or `none`. The value is immutable,
    hashable, and knows its `n_samples`; two are equal when they hold the same knowledge in the same form.

    Examples
    --------
    >>> from sidecut.constraints import Constraints
    >>> Constraints.from_pairs(5, must_link=[(0, 1), (1, 2)], cannot_link=[(2, 4)])
    Constraints(n_samples=5, 2 must-links, 1 cannot-link)
    >>> Constraints.from_labels(["cat", "cat", None, "dog"])
    Constraints(n_samples=4, 1 must-link, 2 cannot-links)
    """

    @classmethod
    def from_pairs(
        cls,
        n_samples: int,
        must_link: ArrayLike | None = None,
        cannot_link: ArrayLike | None = None,
        must_weight: ArrayLike = 1.0,
        cannot_weight: ArrayLike = 1.0,
        on_conflict: str = "raise",
    ) -> Constraints:
        """Constraints from pairs of samples; a pair given more than once keeps its greatest weight.

        Parameters
        ----------
        n_samples : int
            Number of rows of X.
        must_link, cannot_link : array-like of shape (m, 2), optional
            Pairs that belong together, and pairs that do not; (i, j) and (j, i) are the same pair.
        must_weight, cannot_weight : float or array-like of shape (m,)
            How firmly each is believed: positive, one for all or one per pair.
        on_conflict : {"raise", "drop", "weigh"}
            What to do when a cannot-link contradicts a chain of must-links. "raise" refuses. "drop" accepts
            links from the strongest to the weakest (of equals, must-links first, then smaller indices), drops
            those that contradict what is accepted, and warns. "weigh" keeps all as beliefs; opposite
            strengths of one pair add.

        Returns
        -------
        Constraints
            With a zero diagonal.

        Raises
        ------
        ConstraintError
            Naming a pair or weight that makes no sense.
        ConflictError
            Showing the chain of must-links that contradicts a cannot-link.

        Examples
        --------
        >>> c = Constraints.from_pairs(6, must_link=[(0, 1), (1, 0)], cannot_link=[(0, 5)], cannot_weight=2.0)
        >>> c.pairs.tolist(), c.strengths.tolist()
        ([[0, 1], [0, 5]], [1.0, -2.0])
        """
        n = check_n_samples(n_samples)
        must = read_links(must_link, must_weight, "must_link", "must_weight", n)
        cannot = read_links(cannot_link, cannot_weight, "cannot_link", "cannot_weight", n)
        return cls(n, settle(Knowledge(n, must, cannot), on_conflict), None)

    @classmethod
    def from_labels(cls, y: ArrayLike, weight: float = 1.0, unknown: Any = None) -> Constraints:
        """Constraints from the labels of some samples: same label together, different labels apart.

        Parameters
        ----------
        y : array-like of shape (n_samples,)
            Labels of any kind. Unknown are None, NaN, NaT, pandas.NA, masked entries, empty text and the
            number -1.
        weight : float
            How firmly they are believed.
        unknown : value or collection of values, optional
            Further values that mean unknown. Text such as "?" or "unknown" is refused unless it is named
            here, or unless an empty collection says that all values are classes.

        Returns
        -------
        Constraints
            In memory proportional to the number of labels, with `weight` on the diagonal of labelled samples.

        Examples
        --------
        >>> Constraints.from_labels([1, 1, -1, 2]).as_matrix().toarray()
        array([[ 1.,  1.,  0., -1.],
               [ 1.,  1.,  0., -1.],
               [ 0.,  0.,  0.,  0.],
               [-1., -1.,  0.,  1.]])
        """
        codes, names = read_labels(y, "y", unknown)
        weight = check_positive(weight, "weight")
        points = np.flatnonzero(codes != UNKNOWN)
        groups = make_groups(points, codes[points], weight=weight) if len(points) else None
        classes = Classes(points, codes[points], names) if len(points) else None
        return cls(len(codes), symmetric_matrix(len(codes), NO_PAIRS, np.empty(0)), groups, classes)

    @classmethod
    def from_matrix(cls, Q: Any) -> Constraints:
        """Constraints from degrees of belief; the diagonal is kept as given (CSP, section 4.1).

        Parameters
        ----------
        Q : array-like or sparse matrix of shape (n_samples, n_samples)
            Real and symmetric: positive for together, negative for apart, 0 for unknown.

        Returns
        -------
        Constraints
            Beliefs may contradict each other; `conflicts` tells.

        Examples
        --------
        >>> Constraints.from_matrix([[0, 0.5], [0.5, 0]]).strengths
        array([0.5])
        """
        matrix = check_belief_matrix(Q, "Q")
        return cls(matrix.shape[0], matrix, None)

    @classmethod
    def from_graph(cls, A: Any) -> Constraints:
        """Constraints from a second graph on the same samples, as soft must-links (CSP, eq. 17).

        Parameters
        ----------
        A : array-like, sparse matrix, tensor, networkx or igraph graph
            Nonnegative symmetric weights; the nodes of a graph are samples in the order listed.

        Returns
        -------
        Constraints
            With the diagonal as given.

        Examples
        --------
        >>> Constraints.from_graph([[0, 3, 0], [3, 0, 1], [0, 1, 0]])
        Constraints(n_samples=3, 2 must-links, 0 cannot-links)
        """
        matrix = check_graph(A, "A")
        return cls(matrix.shape[0], matrix, None)

    @classmethod
    def none(cls, n_samples: int) -> Constraints:
        """Nothing known about `n_samples` samples.

        Examples
        --------
        >>> Constraints.none(3).is_empty
        True
        """
        n = check_n_samples(n_samples)
        return cls(n, symmetric_matrix(n, NO_PAIRS, np.empty(0)), None)

    def __repr__(self) -> str:
        counts = [(self.n_must_link, "must-link"), (self.n_cannot_link, "cannot-link")]
        said = ", ".join(f"{count} {name}{'' if count == 1 else 's'}" for count, name in counts)
        return f"Constraints(n_samples={self.n_samples}, {said})"

    # What follows

    def closed(self) -> Constraints:
        """Return all that follows by transitivity, as facts of strength 1.

        Together with together is together, together with apart is apart. The result is held as groups, so
        that a chain of a million must-links costs memory for a million points. Its diagonal is 1 on
        constrained points.

        Raises
        ------
        ConflictError
            If the constraints contradict each other.

        Examples
        --------
        >>> c = Constraints.from_pairs(4, must_link=[(0, 1), (1, 2)], cannot_link=[(2, 3)])
        >>> c.closed()
        Constraints(n_samples=4, 3 must-links, 3 cannot-links)
        """
        knowledge = self._knowledge()
        refuse_conflicts(knowledge, "call without_conflicts() first, or correct them")
        nothing = symmetric_matrix(self._n_samples, NO_PAIRS, np.empty(0))
        return Constraints(self._n_samples, nothing, close(knowledge), self._classes)

    def must_link_components(self) -> IntArray:
        """Return for each sample the number of the set of samples that must-links join it to, from 0.

        Examples
        --------
        >>> Constraints.from_pairs(4, must_link=[(0, 2)]).must_link_components()
        array([0, 1, 0, 2])
        """
        return read_only(must_link_components(self._knowledge())[: self._n_samples].copy())

    def contracted(self) -> Contraction:
        """Return the must-link components as nodes, and the cannot-links between them as edges.

        Raises
        ------
        ConflictError
            If the constraints contradict each other.

        Examples
        --------
        >>> Constraints.from_labels([0, 0, -1, 1, 2]).contracted().apart.tolist()
        [[0, 1], [0, 2], [1, 2]]
        """
        knowledge = self._knowledge()
        refuse_conflicts(knowledge, "call without_conflicts() first, or correct them")
        return contract(knowledge)

    @property
    def n_conflicts(self) -> int:
        """Number of cannot-links (or relations between two groups) that must-links contradict."""
        return count_conflicts(self._knowledge())

    def conflicts(self, max_chains: int | None = 10) -> tuple[Conflict, ...]:
        """Return contradictions, each proved by a shortest chain of must-links.

        Parameters
        ----------
        max_chains : int or None
            Prove at most so many, each by one search through the must-links; None proves all `n_conflicts`.

        Examples
        --------
        >>> c = Constraints.from_pairs(3, [(0, 1), (1, 2)], [(0, 2)], on_conflict="weigh")
        >>> print(*c.conflicts())
        cannot_link (0, 2) contradicts the must-links 0 - 1 - 2
        """
        return find_conflicts(self._knowledge(), max_chains)

    def without_conflicts(self) -> Constraints:
        """Drop the weakest links until nothing contradicts, as ``on_conflict="drop"`` does, and warn of them.

        Examples
        --------
        >>> import warnings
        >>> c = Constraints.from_pairs(3, [(0, 1), (1, 2)], [(0, 2)], [1, 2], 1.5, on_conflict="weigh")
        >>> with warnings.catch_warnings(action="ignore"):
        ...     c.without_conflicts().pairs.tolist()
        [[0, 2], [1, 2]]
        """
        kept = settle(self._knowledge(), "drop")
        links = replace_diagonal(kept, self._links.diagonal())
        return Constraints(self._n_samples, links, self._groups, self._classes)

    # Combining

    def merged_with(self, other: Constraints, on_conflict: str = "raise") -> Constraints:
        """Return what both know; also written ``self | other``.

        A pair known to both keeps its greater strength; with "weigh" the strengths of links add. The classes
        of two sets of labels are numbered, not named, so they are matched through the samples both label, and
        only through them.

        Parameters
        ----------
        other : Constraints
            On the same samples.
        on_conflict : {"raise", "drop", "weigh"}
            As in `from_pairs`. Labels are kept before links; labels that contradict labels are refused.

        Examples
        --------
        >>> a = Constraints.from_labels([0, 0, 1, -1])
        >>> a | Constraints.from_pairs(4, must_link=[(2, 3)])
        Constraints(n_samples=4, 2 must-links, 2 cannot-links)
        """
        if self._n_samples != other._n_samples:
            raise ConstraintError(
                f"cannot merge constraints for {self._n_samples} samples with constraints for "
                f"{other._n_samples}: both must be about the same rows of X"
            )
        merged = merge((self._links, self._groups), (other._links, other._groups), on_conflict)
        return Constraints(self._n_samples, *merged, merge_classes(self._classes, other._classes))

    def __or__(self, other: object) -> Constraints:
        return self.merged_with(other) if isinstance(other, Constraints) else NotImplemented

    # Against a clustering

    def satisfied_by(self, labels: ArrayLike) -> BoolArray:
        """Tell for each of the `pairs` whether a clustering respects it.

        Parameters
        ----------
        labels : array-like of shape (n_samples,)
            The cluster of each sample; every value is a cluster.

        Examples
        --------
        >>> c = Constraints.from_pairs(3, must_link=[(0, 1)], cannot_link=[(1, 2)])
        >>> c.satisfied_by([0, 0, 0])
        array([ True, False])
        """
        clusters = encode_clustering(labels, self._n_samples)
        return read_only(satisfied_pairs(*self._list_pairs(), clusters))

    def satisfaction(self, labels: ArrayLike, weighted: bool = False) -> float:
        """Return the share of pairs a clustering respects, without listing them.

        Parameters
        ----------
        labels : array-like of shape (n_samples,)
            The cluster of each sample.
        weighted : bool
            Let each pair count as much as its strength.

        Returns
        -------
        float
            Between 0 and 1; 1 when there are no pairs, since none is violated.
        """
        clusters = encode_clustering(labels, self._n_samples)
        return tally(self._links, self._groups, clusters, weighted).share

    def name_clusters(self, labels: ArrayLike, n_clusters: int | None = None) -> dict[int, Any]:
        """Tell which cluster is which class, and warn of classes that have no cluster of their own.

        Parameters
        ----------
        labels : array-like of shape (n_samples,)
            The cluster of each sample.
        n_clusters : int, optional
            Where there are fewer clusters than classes, nothing is warned of: some must share.

        Returns
        -------
        dict
            The class most known points of a cluster are of; clusters without known points are not in it.

        Examples
        --------
        >>> Constraints.from_labels(["cat", "cat", None, "dog"]).name_clusters([2, 2, 0, 1])
        {1: 'dog', 2: 'cat'}
        """
        return name_clusters(np.asarray(labels), self._classes, n_clusters)

    def violations(self, labels: ArrayLike) -> IntArray:
        """Return the pairs a clustering violates, shape (m, 2)."""
        return read_only(self.pairs[~self.satisfied_by(labels)])

    def _knowledge(self) -> Knowledge:
        must, cannot = split_signs(self._links)
        return Knowledge(self._n_samples, must, cannot, () if self._groups is None else (self._groups,))
