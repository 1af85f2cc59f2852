"""The Constraints value: everything the user knows about which samples belong together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from sidecut.checks import BoolArray, FloatArray, IntArray
from sidecut.constraints.closure import (
    Components,
    Conflict,
    Statements,
    close,
    count_conflicts,
    find_components,
    find_conflicts,
    refuse_conflicts,
    related_parts,
)
from sidecut.constraints.groups import (
    MAX_LISTED_PAIRS,
    Classes,
    Groups,
    PairCounts,
    canonical,
    count_links,
    make_groups,
    number_by_appearance,
    read_only,
    replace_diagonal,
    satisfied_pairs,
    split_signs,
    upper_entries,
)
from sidecut.constraints.inputs import (
    UNKNOWN,
    check_belief_matrix,
    check_graph,
    check_n_samples,
    check_positive,
    check_rows,
    encode_clustering,
    read_labels,
    read_links,
)
from sidecut.constraints.resolution import as_matrix, consistent_layers, merge
from sidecut.constraints.spectrum import Spectrum, factor, scaled_spectrum
from sidecut.exceptions import ConstraintError, ConstraintWarning, warn


class Constraints:
    """Which samples belong together and which do not: links and labels of some samples.

    Make one with `from_pairs`, `from_labels`, `from_groups`, `from_partition`, `from_matrix`, `from_graph` or
    `none`. The value is immutable,
    hashable, and knows its `n_samples`; two are equal when they hold the same statements in the same form.

    Constraints are a real symmetric matrix Q: a sparse part plus groups, which is never made dense.
    ``Q[i, j] > 0`` is the belief that i and j belong together, ``< 0`` that they do not, 0 that nothing is
    known (CSP, section 4.1). The value has no length, shape or items, so that nothing can slice it like the
    rows of X.

    Examples
    --------
    >>> from sidecut.constraints import Constraints
    >>> Constraints.from_pairs(5, must_link=[(0, 1), (1, 2)], cannot_link=[(2, 4)])
    Constraints(n_samples=5, 2 must-links, 1 cannot-link)
    >>> Constraints.from_labels(["cat", "cat", None, "dog"])
    Constraints(n_samples=4, 3 labels (cat: 2, dog: 1))
    """

    __array_ufunc__ = None  # arrays must not broadcast over it
    _n_samples: int
    _links: sparse.csr_array
    _groups: Groups | None
    _classes: Classes | None
    _layers: tuple[Groups, ...]

    def __init__(
        self,
        n_samples: int,
        links: sparse.csr_array,
        groups: Groups | None,
        classes: Classes | None = None,
        layers: Sequence[Groups] = (),
    ) -> None:
        # Labels and what follows from them are `groups`; each layer is a grouping of its own, and all add.
        self.__dict__.update(
            _n_samples=n_samples,
            _links=canonical(links),
            _groups=groups,
            _classes=classes,
            _layers=tuple(sorted(layers, key=lambda layer: layer.key)),
        )

    def __setattr__(self, name: str, *value: object) -> NoReturn:
        raise AttributeError(f"constraints are immutable: cannot {'set' if value else 'delete'} {name!r}")

    __delattr__ = __setattr__

    def __reduce__(self) -> tuple[Any, ...]:
        return Constraints, (self._n_samples, self._links, self._groups, self._classes, self._layers)

    def __copy__(self, *memo: object) -> Constraints:
        return self

    __deepcopy__ = __copy__

    def __eq__(self, other: object) -> bool:
        return self._key() == other._key() if isinstance(other, Constraints) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[Any, ...]:
        structure = (array.astype(np.int64).tobytes() for array in (self._links.indptr, self._links.indices))
        groups = None if self._groups is None else self._groups.key
        layers = tuple(layer.key for layer in self._layers)
        return (self._n_samples, *structure, self._links.data.tobytes(), groups, layers)

    @property
    def _all_groups(self) -> tuple[Groups, ...]:
        """Everything that is said by groups: labels, and each layer."""
        return self._layers if self._groups is None else (self._groups, *self._layers)

    def __repr__(self) -> str:
        counts, said = [(self.n_must_link, "must-link"), (self.n_cannot_link, "cannot-link")], []
        if self._classes is not None:
            said = [self._classes.words]
            # The links beside those that follow from the labels.
            implied = (self._classes.n_together, self._classes.n_apart)
            counts = [(n - less, name) for (n, name), less in zip(counts, implied, strict=True) if n > less]
        said += [f"{count} {name}{'' if count == 1 else 's'}" for count, name in counts]
        return f"Constraints(n_samples={self.n_samples}, {', '.join(said)})"

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
        return cls(n, as_matrix(Statements(n, must, cannot), on_conflict), None)

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
        return cls(len(codes), sparse.csr_array((len(codes),) * 2), groups, classes)

    @classmethod
    def from_groups(
        cls, source: ArrayLike, *, apart: bool, weight: float = 1.0, unknown: Any = None
    ) -> Constraints:
        """Constraints from a column that says which rows have a source in common.

        Faces of one photograph, speakers of one recording or records of one table are all different: rows
        with the same value are apart. Or they are one: photographs of one burst are together.

        Parameters
        ----------
        source : array-like of shape (n_samples,)
            The photograph, recording or table of each row. Missing values, as in `from_labels`, say nothing.
        apart : bool
            True: rows with the same value are all in different clusters. False: they are in one cluster.
            Rows with different values may be together or apart.
        weight : float
            How firmly that is believed.
        unknown : value or collection of values, optional
            Further values that say nothing.

        Returns
        -------
        Constraints
            In memory proportional to the rows, however many pairs they stand for; with a zero diagonal.

        Examples
        --------
        >>> photo = ["beach", "beach", "beach", "party", "party", None]
        >>> Constraints.from_groups(photo, apart=True)
        Constraints(n_samples=6, 0 must-links, 4 cannot-links)
        >>> Constraints.from_groups(photo, apart=False)
        Constraints(n_samples=6, 4 must-links, 0 cannot-links)
        """
        codes, _ = read_labels(source, "source", unknown)
        weight = check_positive(weight, "weight")
        shared = (codes != UNKNOWN) & (np.bincount(codes[codes != UNKNOWN], minlength=1)[codes] > 1)
        points = np.flatnonzero(shared)
        nothing = sparse.csr_array((len(codes),) * 2)
        if len(points) == 0:
            return cls(len(codes), nothing, None)
        own: IntArray = codes[points].astype(np.int64)
        if apart:
            layer = make_groups(points, np.arange(len(points)), clique=own, weight=weight, diagonal=0.0)
        else:
            own = number_by_appearance(own)
            free = np.full(int(own.max()) + 1, -1, dtype=np.int64)
            layer = make_groups(points, own, clique=free, weight=weight, diagonal=0.0)
        return cls(len(codes), nothing, None, layers=(layer,))

    @classmethod
    def from_partition(cls, labels: ArrayLike, strength: float = 1.0) -> Constraints:
        """Constraints from a clustering that was there before, as a belief about all its pairs.

        Points of one cluster are believed to be together, points of two clusters to be apart. Labels and
        links can be added to it with ``|``, or with ``merged_with(..., on_conflict="weigh")`` where they
        disagree with the clustering: strengths add.

        Parameters
        ----------
        labels : array-like of shape (n_samples,)
            The cluster of each sample; -1, None and NaN are in none.
        strength : float
            How strong the belief in each pair is, beside links and labels of strength 1.

        Returns
        -------
        Constraints
            In memory proportional to the samples; with a zero diagonal. Clusters are no classes:
            `known_classes` and `labels` do not hold them.

        Examples
        --------
        >>> before = Constraints.from_partition([0, 0, 1, 1, -1], strength=0.2)
        >>> before
        Constraints(n_samples=5, 2 must-links, 4 cannot-links)
        >>> moved = Constraints.from_pairs(5, must_link=[(1, 2)])
        >>> before.merged_with(moved, on_conflict="weigh").entries(np.array([1]), np.array([2]))
        array([0.8])
        """
        codes, _ = read_labels(labels, "labels", ())
        strength = check_positive(strength, "strength")
        points = np.flatnonzero(codes != UNKNOWN)
        layers = [make_groups(points, codes[points], weight=strength, diagonal=0.0)] if len(points) else []
        return cls(len(codes), sparse.csr_array((len(codes),) * 2), None, layers=layers)

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
            Beliefs may contradict each other; see `conflicts`.

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
        return cls(n, sparse.csr_array((n, n)), None)

    @property
    def n_samples(self) -> int:
        """Number of samples: the rows of X."""
        return self._n_samples

    @cached_property
    def n_must_link(self) -> int:
        """Number of pairs believed together, counted without listing them."""
        return round(self._counts.together)

    @cached_property
    def n_cannot_link(self) -> int:
        """Number of pairs believed apart, counted without listing them."""
        return round(self._counts.apart)

    @cached_property
    def n_pairs(self) -> int:
        """Number of pairs about which something is believed, counted without listing them."""
        counts = self._counts
        return round(counts.together + counts.apart)

    @cached_property
    def is_empty(self) -> bool:
        """Whether nothing is known: Q = 0."""
        if self._links.nnz == 0 and not self._all_groups:
            return True
        return self.n_entries() == 0

    @property
    def clique_bound(self) -> int:
        """No more points than this are all apart from one another: the groups, and the points with links."""
        n_groups = sum(groups.n_groups for groups in self._all_groups)
        return n_groups + int(np.count_nonzero(np.diff(self._links.indptr)))

    @cached_property
    def constrained_points(self) -> IntArray:
        """Sorted indices of the points about which anything is known, their own diagonal included."""
        listed = np.flatnonzero(np.diff(self._links.indptr))
        grouped = [groups.points for groups in self._all_groups]
        return read_only(np.unique(np.concatenate([listed, *grouped])).astype(np.int64))

    @cached_property
    def labels(self) -> IntArray | None:
        """The group of each sample that labels or closure put it in, -1 for none; None without groups."""
        if self._groups is None:
            return None
        labels = np.full(self._n_samples, -1, dtype=np.int64)
        labels[self._groups.points] = self._groups.group
        return read_only(labels)

    @property
    def are_labels(self) -> bool:
        """Whether nothing but labels of one strength is known."""
        groups = self._groups
        if groups is None or self._layers or self._links.nnz:
            return False
        return groups.are_exclusive and groups.diagonal == groups.weight

    @property
    def known_classes(self) -> NDArray[np.object_] | None:
        """What the class of each sample is called, None where unknown; None if no labels were given."""
        return None if self._classes is None else self._classes.of_samples(self._n_samples)

    @property
    def pairs(self) -> IntArray:
        """All pairs ``i < j`` about which something is believed, sorted, shape (n_pairs, 2)."""
        return self._list_pairs()[0]

    @property
    def strengths(self) -> FloatArray:
        """The signed strength of each of the `pairs`."""
        return self._list_pairs()[1]

    @property
    def must_link(self) -> IntArray:
        """The pairs believed together."""
        pairs, strengths = self._list_pairs()
        return read_only(pairs[strengths > 0])

    @property
    def cannot_link(self) -> IntArray:
        """The pairs believed apart."""
        pairs, strengths = self._list_pairs()
        return read_only(pairs[strengths < 0])

    def as_matrix(self) -> sparse.csr_array:
        """Return Q with every entry stored, as a fresh sparse matrix."""
        if not self._all_groups:
            return self._links.copy()
        n_listed = self._links.nnz // 2
        n_listed += sum(groups.n_must_link() + groups.n_cannot_link() for groups in self._all_groups)
        if n_listed > MAX_LISTED_PAIRS:
            raise ConstraintError(
                f"these constraints stand for {n_listed} pairs (labels of c points for c² / 2), more than "
                f"the {MAX_LISTED_PAIRS} that are listed: use apply(), satisfaction() or restricted_to()"
            )
        matrix = self._links
        for groups in self._all_groups:
            matrix = sparse.csr_array(matrix + groups.matrix(self._n_samples))
        matrix.eliminate_zeros()
        matrix.sort_indices()
        return matrix

    def apply(self, X: ArrayLike) -> FloatArray:
        """Return Q @ X without forming Q."""
        values = np.asarray(X, dtype=np.float64)
        if values.ndim not in (1, 2) or values.shape[0] != self._n_samples:
            raise ConstraintError(
                f"X has shape {values.shape}: constraints on {self._n_samples} samples apply to shape "
                f"({self._n_samples},) or ({self._n_samples}, b)"
            )
        result = self._links @ values
        for groups in self._all_groups:
            result[groups.points] += groups.apply(values[groups.points])
        return result

    def entries(self, rows: IntArray, columns: IntArray) -> FloatArray:
        """Return the entries of Q at the given places, without listing the pairs."""
        if len(rows) == 0:
            # SciPy gives an empty sparse array back, which no float array can hold.
            return np.zeros(0)
        values = np.asarray(self._links[rows, columns], dtype=np.float64).ravel()
        return sum((groups.entry(rows, columns) for groups in self._all_groups), values)

    def largest_strength(self) -> float:
        """Return max |Q_ij| over pairs i ≠ j, 0 where nothing is known."""
        links = sparse.coo_array(self._links)
        largest = float(np.abs(links.data[links.row != links.col]).max(initial=0.0))
        return max([largest, *(groups.weight for groups in self._all_groups)])

    __matmul__ = apply

    def quadratic(self, X: ArrayLike) -> FloatArray:
        """Return xᵀ Q x for each column x: how well each agrees with the beliefs (CSP, section 4.1)."""
        return np.asarray((np.asarray(X, dtype=np.float64) * self.apply(X)).sum(axis=0))

    def total(self) -> float:
        """Return 1ᵀ Q 1, the sum of all entries of Q."""
        return float(self._links.sum()) + sum(groups.total() for groups in self._all_groups)

    def diagonal(self) -> FloatArray:
        """Return the diagonal of Q, shape (n_samples,)."""
        diagonal = np.asarray(self._links.diagonal(), dtype=np.float64).copy()
        for groups in self._all_groups:
            diagonal[groups.points] += groups.diagonal
        return read_only(diagonal)

    def n_entries(self) -> int:
        """Return the number of nonzero entries of Q: ordered pairs, and the diagonal (CSP, eq. 19)."""
        return 2 * self.n_pairs + int(np.count_nonzero(self.diagonal()))

    def check_matches(self, n_samples: int) -> None:
        """Raise ConstraintError unless the constraints are for an X of `n_samples` rows."""
        if n_samples != self._n_samples:
            raise ConstraintError(
                f"constraints are for {self._n_samples} samples, X has {n_samples}: build them for this X, "
                "or use restricted_to(...) with the rows kept"
            )

    def scaled(self, factor: float) -> Constraints:
        """Return the same beliefs, `factor` times as strong (`factor` > 0)."""
        factor = check_positive(factor, "factor")
        groups, *layers = (
            part and replace(part, weight=part.weight * factor, diagonal=part.diagonal * factor)
            for part in (self._groups, *self._layers)
        )
        return Constraints(self._n_samples, self._links * factor, groups, self._classes, _given(layers))

    def with_diagonal(self, value: float) -> Constraints:
        """Return the same beliefs with `value` on the diagonal of constrained points."""
        if not np.isfinite(value):
            raise ConstraintError(f"value = {value!r}: the diagonal must be finite")
        diagonal = np.zeros(self._n_samples)
        diagonal[self.constrained_points] = value
        layers = [replace(layer, diagonal=0.0) for layer in self._layers]
        groups = self._groups
        if groups is not None:
            diagonal[groups.points] = 0.0
            groups = replace(groups, diagonal=float(value))
        links = replace_diagonal(self._links, diagonal)
        return Constraints(self._n_samples, links, groups, self._classes, layers)

    def must_part(self) -> Constraints:
        """Return the beliefs that pairs belong together alone, with the same diagonal.

        What is left, ``self @ X - self.must_part() @ X``, are the beliefs that pairs are apart, so that
        methods that treat the two differently need not list either.
        """
        links = self._links.tocoo()
        known, together = np.zeros(links.nnz), np.zeros(links.nnz)
        for part in self._all_groups:
            entries = part.entry(links.row, links.col)
            known, together = known + entries, together + np.maximum(entries, 0.0)
        positive = np.maximum(links.data + known, 0.0) - together
        links.data = np.where(links.row == links.col, links.data, positive)
        groups = None if self._groups is None else self._groups.together()
        layers = [layer.together() for layer in self._layers if layer.n_must_link() or layer.diagonal]
        return Constraints(self._n_samples, links, groups, self._classes, layers)

    def restricted_to(self, indices: ArrayLike) -> Constraints:
        """Return the constraints among some rows, for ``X[indices]``."""
        rows = check_rows(indices, self._n_samples)
        classes = None if self._classes is None else self._classes.restricted_to(rows)
        groups = None if self._groups is None else self._groups.selected(rows)
        layers = _given(layer.selected(rows) for layer in self._layers)
        return Constraints(len(rows), self._links[rows][:, rows], groups, classes, layers)

    def extended(self, n_samples: int) -> Constraints:
        """Return the same about more samples: nothing is known of those that follow.

        Examples
        --------
        >>> Constraints.from_labels([0, 1]).extended(4)
        Constraints(n_samples=4, 2 labels (0: 1, 1: 1))
        """
        if n_samples < self._n_samples:
            raise ConstraintError(
                f"n_samples = {n_samples}: there are {self._n_samples} already; use restricted_to(...)"
            )
        more = np.full(n_samples - self._n_samples, self._links.indptr[-1])
        parts = (self._links.data, self._links.indices, np.append(self._links.indptr, more))
        links = sparse.csr_array(parts, shape=(n_samples, n_samples))
        return Constraints(n_samples, links, self._groups, self._classes, self._layers)

    def among(self, indices: ArrayLike) -> Constraints:
        """Return the constraints among some rows, for the same X: the other rows have none."""
        rows = np.sort(check_rows(indices, self._n_samples))
        kept = np.zeros(self._n_samples)
        kept[rows] = 1.0
        only = sparse.diags_array(kept, format="csr")
        groups, *layers = (part and part.selected(rows) for part in (self._groups, *self._layers))
        groups, *layers = (part and replace(part, points=rows[part.points]) for part in (groups, *layers))
        return Constraints(self._n_samples, only @ self._links @ only, groups, layers=_given(layers))

    def restricted(self) -> tuple[Constraints, IntArray]:
        """Return the constraints on the constrained points alone, and those points."""
        points = self.constrained_points
        if len(points) == 0:
            raise ConstraintError(
                "nothing is constrained: there are no points to restrict to, ask is_empty first"
            )
        return self.restricted_to(points), points

    def permuted(self, order: ArrayLike) -> Constraints:
        """Return the constraints for ``X[order]``, all rows in another order."""
        rows = check_rows(order, self._n_samples)
        if len(rows) != self._n_samples:
            raise ConstraintError(
                f"order has {len(rows)} rows of {self._n_samples}: a permutation names every row once; "
                "use restricted_to(...) to keep some"
            )
        return self.restricted_to(rows)

    def factored(self, max_rank: int) -> tuple[sparse.csr_array, FloatArray] | None:
        """Return F and G with Q = F G Fᵀ, or None if F needs more than `max_rank` columns.

        Labels of any number of points need as many columns as there are classes; links, one for every point.
        """
        return factor(self._links, self._all_groups, self.constrained_points, max_rank)

    def spectrum(self, scale: ArrayLike | None = None) -> Spectrum:
        """Return all nonzero eigenvalues of S Q S and their eigenvectors, exactly."""
        return scaled_spectrum(self._links, self._all_groups, scale, self.constrained_points, threshold=None)

    def positive_spectrum(
        self,
        scale: ArrayLike | None = None,
        threshold: float = 0.0,
        n_largest: int | None = None,
        tolerance: float = 1e-9,
    ) -> Spectrum:
        """Return the eigenvalues of S Q S above a threshold and their eigenvectors."""
        if not threshold >= 0:
            raise ConstraintError(f"threshold = {threshold}: it must not be negative; use spectrum() for all")
        if n_largest is not None and not n_largest >= 1:
            raise ConstraintError(f"n_largest = {n_largest}: ask for at least 1, or None for all")
        return scaled_spectrum(
            self._links,
            self._all_groups,
            scale,
            self.constrained_points,
            threshold=threshold,
            n_largest=n_largest,
            tolerance=tolerance,
        )

    def _list_pairs(self) -> tuple[IntArray, FloatArray]:
        """All pairs and their strengths, in one pass over the matrix."""
        pairs, strengths = upper_entries(sparse.triu(self.as_matrix(), k=1, format="csr"))
        return read_only(pairs), read_only(strengths)

    @cached_property
    def _counts(self) -> PairCounts:
        return count_links(self._links, self._all_groups, np.zeros(self._n_samples, dtype=np.int64))

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
        refuse_conflicts(self._statements, "call without_conflicts() first, or correct them")
        nothing = sparse.csr_array((self._n_samples,) * 2)
        return Constraints(self._n_samples, nothing, close(self._statements), self._classes)

    def must_link_components(self) -> IntArray:
        """Return for each sample the number of the set of samples that must-links join it to, from 0.

        Examples
        --------
        >>> Constraints.from_pairs(4, must_link=[(0, 2)]).must_link_components()
        array([0, 1, 0, 2])
        """
        return read_only(self._statements.component[: self._n_samples].copy())

    @cached_property
    def components(self) -> Components:
        """Return the must-link components as nodes, and the cannot-links between them as edges.

        Raises
        ------
        ConflictError
            If the constraints contradict each other.

        Examples
        --------
        >>> Constraints.from_labels([0, 0, -1, 1, 2]).components.apart.tolist()
        [[0, 1], [0, 2], [1, 2]]
        """
        if self.n_conflicts:
            refuse_conflicts(self._statements, "call without_conflicts() first, or correct them")
        return find_components(self._statements)

    @cached_property
    def n_conflicts(self) -> int:
        """Number of cannot-links (or relations between two groups) that must-links contradict."""
        # One set of groups, such as labels alone, contradicts nothing.
        if not self._links.nnz and len(self._all_groups) < 2:
            return 0
        return count_conflicts(self._statements)

    def conflicts(self, max_chains: int | None = 10) -> tuple[Conflict, ...]:
        """Return contradictions, each proved by a shortest chain of must-links.

        Parameters
        ----------
        max_chains : int or None
            How many to prove at most, each by one search through the must-links; None proves all.

        Examples
        --------
        >>> c = Constraints.from_pairs(3, [(0, 1), (1, 2)], [(0, 2)], on_conflict="weigh")
        >>> print(*c.conflicts())
        cannot_link (0, 2) contradicts the must-links 0 - 1 - 2
        """
        return find_conflicts(self._statements, max_chains)

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
        if not self.n_conflicts:
            return self
        labels = self._all_groups[: len(self._all_groups) - len(self._layers)]
        layers = consistent_layers(replace(self._statements, groups=labels), self._layers)
        kept = as_matrix(replace(self._statements, groups=(*labels, *layers)), "drop")
        links = replace_diagonal(kept, self._links.diagonal())
        _warn_about_dropped(self._layers, layers)
        return Constraints(self._n_samples, links, self._groups, self._classes, layers)

    def merged_with(self, other: Constraints, on_conflict: str = "raise") -> Constraints:
        """Return what both know; also written ``self | other``.

        A pair known to both keeps its greater strength; with "weigh" the strengths of links add. So do the
        strengths of `from_groups` and `from_partition` and those of all else. The classes
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
        Constraints(n_samples=4, 3 labels (0: 2, 1: 1), 1 must-link)
        """
        if self._n_samples != other._n_samples:
            raise ConstraintError(
                f"cannot merge constraints for {self._n_samples} samples with constraints for "
                f"{other._n_samples}: both must be about the same rows of X"
            )
        merged = merge((self._links, self._groups), (other._links, other._groups), on_conflict)
        classes = self._classes or other._classes
        if self._classes is not None and other._classes is not None:
            classes = self._classes.merged_with(other._classes)
        layers = {layer.key: layer for layer in (*self._layers, *other._layers)}
        both = Constraints(self._n_samples, *merged, classes, list(layers.values()))
        if layers and on_conflict == "raise":
            refuse_conflicts(both._statements)
        return both.without_conflicts() if layers and on_conflict == "drop" else both

    def __or__(self, other: object) -> Constraints:
        return self.merged_with(other) if isinstance(other, Constraints) else NotImplemented

    def satisfied_by(self, labels: ArrayLike) -> BoolArray:
        """Return for each of the `pairs` whether a clustering satisfies it.

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
        return count_links(self._links, self._all_groups, clusters, weighted).share

    def agreement(self, labels: ArrayLike) -> float:
        """Return how far a clustering agrees with the pairs beyond chance: 1 for all pairs, 0 for chance.

        It is the adjusted Rand index where all pairs of some points are known. Links of one kind alone are
        compared with the share that clusters of these sizes satisfy by chance.

        Parameters
        ----------
        labels : array-like of shape (n_samples,)
            The cluster of each sample.

        Examples
        --------
        >>> known = Constraints.from_labels([0, 0, 1, 1, None])
        >>> known.agreement([5, 5, 7, 7, 7]), known.agreement([5, 7, 7, 5, 5])
        (1.0, -0.5)
        """
        clusters = encode_clustering(labels, self._n_samples)
        return count_links(self._links, self._all_groups, clusters).beyond_chance(clusters)

    @cached_property
    def n_independent_pairs(self) -> int:
        """Number of pairs that do not follow from others: one less than labels, as many as scattered pairs.

        Examples
        --------
        >>> Constraints.from_labels([0, 0, 1, 1, None]).n_independent_pairs
        3
        """
        parts = related_parts(self._statements)[self.constrained_points]
        return len(parts) - np.unique(parts).size

    def name_clusters(self, labels: ArrayLike, n_clusters: int | None = None) -> dict[int, Any]:
        """Return the class of each cluster, and warn of classes that have no cluster of their own.

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
        return {} if self._classes is None else self._classes.name_clusters(np.asarray(labels), n_clusters)

    def violations(self, labels: ArrayLike) -> IntArray:
        """Return the pairs a clustering violates, shape (m, 2)."""
        return read_only(self.pairs[~self.satisfied_by(labels)])

    @cached_property
    def _statements(self) -> Statements:
        must, cannot = split_signs(self._links)
        return Statements(self._n_samples, must, cannot, self._all_groups)


def _given(layers: Iterable[Groups | None]) -> list[Groups]:
    """Return the layers that are left."""
    return [layer for layer in layers if layer is not None]


def _warn_about_dropped(before: Sequence[Groups], after: Sequence[Groups]) -> None:
    n_dropped = sum(len(layer.points) for layer in before) - sum(len(layer.points) for layer in after)
    if n_dropped:
        one = n_dropped == 1
        warn(
            f"left {n_dropped} point{'' if one else 's'} out of groups that stronger statements about "
            f"{'it' if one else 'them'} contradict",
            ConstraintWarning,
        )
