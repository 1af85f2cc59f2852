"""The constraint matrix Q as an immutable value: what it holds, how large it is, what it does to vectors."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NoReturn, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from sidecut.arrays import FloatArray, IntArray
from sidecut.constraints.classes import Classes
from sidecut.constraints.inputs import check_positive, check_rows, check_scale
from sidecut.constraints.links import (
    Groups,
    canonical,
    must_part,
    read_only,
    replace_diagonal,
)
from sidecut.constraints.satisfaction import PairCounts, tally
from sidecut.constraints.spectrum import Spectrum, factor, scaled_spectrum
from sidecut.exceptions import ConstraintError

MAX_LISTED_PAIRS = 20_000_000


class ConstraintMatrix:
    """A real symmetric matrix Q: a sparse part plus groups, neither ever changed nor made dense.

    ``Q[i, j] > 0`` is the belief that i and j belong together, ``< 0`` that they do not, 0 that nothing is
    known (CSP, section 4.1). The value has no length, shape or items, so that nothing can slice it like the
    rows of X.

    Parameters
    ----------
    n_samples : int
        Number of rows of the X it speaks of.
    links : csr_array of shape (n_samples, n_samples)
        Canonical symmetric matrix of pairs listed one by one.
    groups : Groups or None
        Groups of points, added to the links.
    classes : Classes, optional
        What the classes of labelled points are called. Two values that differ in names alone are equal.
    """

    __array_ufunc__ = None  # arrays must not broadcast over it
    _n_samples: int
    _links: sparse.csr_array
    _groups: Groups | None
    _classes: Classes | None

    def __init__(
        self, n_samples: int, links: sparse.csr_array, groups: Groups | None, classes: Classes | None = None
    ) -> None:
        self.__dict__.update(_n_samples=n_samples, _links=canonical(links), _groups=groups, _classes=classes)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"constraints are immutable: cannot set {name!r}")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"constraints are immutable: cannot delete {name!r}")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._n_samples, self._links, self._groups, self._classes)

    def __copy__(self) -> ConstraintMatrix:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> ConstraintMatrix:
        return self

    def __eq__(self, other: object) -> bool:
        return self._key() == other._key() if isinstance(other, ConstraintMatrix) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[Any, ...]:
        structure = (array.astype(np.int64).tobytes() for array in (self._links.indptr, self._links.indices))
        groups = None if self._groups is None else self._groups.key
        return (self._n_samples, *structure, self._links.data.tobytes(), groups)

    @property
    def n_samples(self) -> int:
        """Number of samples the constraints speak of."""
        return self._n_samples

    @property
    def n_must_link(self) -> int:
        """Number of pairs believed together, counted without listing them."""
        return round(self._counts().together)

    @property
    def n_cannot_link(self) -> int:
        """Number of pairs believed apart, counted without listing them."""
        return round(self._counts().apart)

    @property
    def n_pairs(self) -> int:
        """Number of pairs about which something is believed, counted without listing them."""
        counts = self._counts()
        return round(counts.together + counts.apart)

    @property
    def is_empty(self) -> bool:
        """Whether nothing is known: Q = 0."""
        if self._links.nnz == 0 and (self._groups is None or self._groups.diagonal != 0.0):
            return self._groups is None
        return self.n_entries() == 0

    @property
    def most_apart(self) -> int:
        """No more points than this are all apart from one another: the groups, and the points with links."""
        n_groups = 0 if self._groups is None else self._groups.n_groups
        return n_groups + int(np.count_nonzero(np.diff(self._links.indptr)))

    @property
    def constrained_points(self) -> IntArray:
        """Sorted indices of the points about which anything is known, their own diagonal included."""
        listed = np.flatnonzero(np.diff(self._links.indptr))
        grouped = listed[:0] if self._groups is None else self._groups.points
        return read_only(np.union1d(listed, grouped).astype(np.int64))

    @property
    def labels(self) -> IntArray | None:
        """The group of each sample that labels or closure put it in, -1 for none; None without groups."""
        if self._groups is None:
            return None
        labels = np.full(self._n_samples, -1, dtype=np.int64)
        labels[self._groups.points] = self._groups.group
        return read_only(labels)

    @property
    def known_classes(self) -> NDArray[np.object_] | None:
        """What the class of each sample is called, None where unknown; None if no labels were given.

        Examples
        --------
        >>> from sidecut.constraints import Constraints
        >>> Constraints.from_labels(["cat", None, "dog"]).closed().known_classes.tolist()
        ['cat', None, 'dog']
        """
        return None if self._classes is None else read_only(self._classes.of_samples(self._n_samples))

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
        """Return Q with every entry stored, as a fresh sparse matrix.

        Raises
        ------
        ConstraintError
            If it would hold more than 20 million pairs.
        """
        if self._groups is None:
            return self._links.copy()
        n_listed = self._groups.n_must_link() + self._groups.n_cannot_link() + self._links.nnz // 2
        if n_listed > MAX_LISTED_PAIRS:
            raise ConstraintError(
                f"these constraints stand for {n_listed} pairs (labels of c points for c² / 2), more than "
                f"the {MAX_LISTED_PAIRS} that are listed: use apply(), satisfaction() or restricted_to()"
            )
        matrix = sparse.csr_array(self._links + self._groups.matrix(self._n_samples))
        matrix.eliminate_zeros()
        matrix.sort_indices()
        return matrix

    def apply(self, X: ArrayLike) -> FloatArray:
        """Return Q @ X without forming Q.

        Parameters
        ----------
        X : array-like of shape (n_samples,) or (n_samples, b)
            A vector or a block of vectors.

        Returns
        -------
        ndarray of the same shape
            In O(links + grouped points) per column.
        """
        values = np.asarray(X, dtype=np.float64)
        if values.ndim not in (1, 2) or values.shape[0] != self._n_samples:
            raise ConstraintError(
                f"X has shape {values.shape}: constraints on {self._n_samples} samples apply to shape "
                f"({self._n_samples},) or ({self._n_samples}, b)"
            )
        result = self._links @ values
        if self._groups is not None:
            result[self._groups.points] += self._groups.apply(values[self._groups.points])
        return result

    def entries(self, rows: IntArray, columns: IntArray) -> FloatArray:
        """Return the entries of Q at the given places, without listing the pairs."""
        if len(rows) == 0:
            # SciPy gives an empty sparse array back, which no float array can hold.
            return np.zeros(0)
        values = np.asarray(self._links[rows, columns], dtype=np.float64).ravel()
        return values if self._groups is None else values + self._groups.entry(rows, columns)

    def largest_strength(self) -> float:
        """Return max |Q_ij| over pairs i ≠ j, 0 where nothing is known."""
        links = sparse.coo_array(self._links)
        largest = float(np.abs(links.data[links.row != links.col]).max(initial=0.0))
        return largest if self._groups is None else max(largest, self._groups.weight)

    def __matmul__(self, X: ArrayLike) -> FloatArray:
        return self.apply(X)

    def quadratic(self, X: ArrayLike) -> FloatArray:
        """Return xᵀ Q x for each column x: how well each agrees with the beliefs (CSP, section 4.1)."""
        return np.asarray((np.asarray(X, dtype=np.float64) * self.apply(X)).sum(axis=0))

    def total(self) -> float:
        """Return 1ᵀ Q 1, the sum of all entries of Q."""
        return float(self._links.sum()) + (0.0 if self._groups is None else self._groups.total())

    def diagonal(self) -> FloatArray:
        """Return the diagonal of Q, shape (n_samples,)."""
        diagonal = np.asarray(self._links.diagonal(), dtype=np.float64).copy()
        if self._groups is not None:
            diagonal[self._groups.points] += self._groups.diagonal
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

    def scaled(self, factor: float) -> Self:
        """Return the same beliefs, `factor` times as strong (`factor` > 0)."""
        factor = check_positive(factor, "factor")
        groups = None if self._groups is None else self._groups.scaled(factor)
        return type(self)(self._n_samples, canonical(self._links * factor), groups, self._classes)

    def with_diagonal(self, value: float) -> Self:
        """Return the same beliefs with `value` on the diagonal of constrained points.

        Examples
        --------
        >>> from sidecut.constraints import Constraints
        >>> Constraints.from_labels([0, 1, -1]).with_diagonal(0).diagonal()
        array([0., 0., 0.])
        """
        if not np.isfinite(value):
            raise ConstraintError(f"value = {value!r}: the diagonal must be finite")
        diagonal = np.zeros(self._n_samples)
        diagonal[self.constrained_points] = value
        if self._groups is None:
            return type(self)(self._n_samples, replace_diagonal(self._links, diagonal), None)
        diagonal[self._groups.points] = 0.0
        groups = self._groups.with_diagonal(value)
        return type(self)(self._n_samples, replace_diagonal(self._links, diagonal), groups, self._classes)

    def must_part(self) -> Self:
        """Return the beliefs that pairs belong together alone, with the same diagonal.

        What is left, ``self @ X - self.must_part() @ X``, are the beliefs that pairs are apart, so that
        methods that treat the two differently need not list either.

        Examples
        --------
        >>> from sidecut.constraints import Constraints
        >>> Constraints.from_labels([0, 0, 1, 1]).must_part()
        Constraints(n_samples=4, 2 must-links, 0 cannot-links)
        """
        return type(self)(self._n_samples, *must_part(self._links, self._groups), self._classes)

    def restricted_to(self, indices: ArrayLike) -> Self:
        """Return the constraints among some rows, for ``X[indices]``.

        Parameters
        ----------
        indices : array-like of int, or of bool of shape (n_samples,)
            Distinct rows in any order, or a mask.

        Examples
        --------
        >>> from sidecut.constraints import Constraints
        >>> c = Constraints.from_pairs(5, must_link=[(1, 4)], cannot_link=[(0, 1)])
        >>> c.restricted_to([4, 1]).pairs
        array([[0, 1]])
        """
        rows = check_rows(indices, self._n_samples)
        classes = None if self._classes is None else self._classes.restricted_to(rows)
        groups = None if self._groups is None else self._groups.selected(rows)
        return type(self)(len(rows), self._links[rows][:, rows], groups, classes)

    def among(self, indices: ArrayLike) -> Self:
        """Return what is known among some rows, for the same X: about the other rows nothing is known.

        Parameters
        ----------
        indices : array-like of int, or of bool of shape (n_samples,)
            Distinct rows in any order, or a mask.

        Examples
        --------
        >>> from sidecut.constraints import Constraints
        >>> c = Constraints.from_pairs(5, must_link=[(1, 4)], cannot_link=[(0, 1)])
        >>> c.among([1, 4]).pairs
        array([[1, 4]])
        """
        rows = np.sort(check_rows(indices, self._n_samples))
        kept = np.zeros(self._n_samples)
        kept[rows] = 1.0
        only = sparse.diags_array(kept, format="csr")
        groups = None if self._groups is None else self._groups.selected(rows)
        groups = None if groups is None else replace(groups, points=rows[groups.points])
        return type(self)(self._n_samples, only @ self._links @ only, groups)

    def restricted(self) -> tuple[Self, IntArray]:
        """Return the constraints on the constrained points alone, and those points.

        Raises
        ------
        ConstraintError
            If nothing is constrained.
        """
        points = self.constrained_points
        if len(points) == 0:
            raise ConstraintError(
                "nothing is constrained: there are no points to restrict to, ask is_empty first"
            )
        return self.restricted_to(points), points

    def permuted(self, order: ArrayLike) -> Self:
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

        Parameters
        ----------
        max_rank : int
            The most columns F may have.

        Returns
        -------
        F : csr_array of shape (n_samples, r)
            With orthonormal columns.
        G : array of shape (r, r)
            Symmetric.

        Examples
        --------
        >>> from sidecut.constraints import Constraints
        >>> F, G = Constraints.from_labels([0, 0, 1, 1, -1]).factored(max_rank=2)
        >>> F.shape, G.round(6).tolist()
        ((5, 2), [[2.0, -2.0], [-2.0, 2.0]])
        """
        return factor(self._links, self._groups, self.constrained_points, max_rank)

    def spectrum(self, scale: ArrayLike | None = None) -> Spectrum:
        """Return all nonzero eigenvalues of S Q S and their eigenvectors, exactly.

        Parameters
        ----------
        scale : array-like of shape (n_samples,), optional
            Diagonal of S, not negative; ones by default. CSP takes D^{-1/2}.
        """
        s = check_scale(scale, self._n_samples)
        return scaled_spectrum(self._links, self._groups, s, self.constrained_points, threshold=None)

    def positive_spectrum(
        self,
        scale: ArrayLike | None = None,
        threshold: float = 0.0,
        n_largest: int | None = None,
        tolerance: float = 1e-9,
    ) -> Spectrum:
        """Return the eigenvalues of S Q S above a threshold and their eigenvectors.

        Parameters
        ----------
        scale : array-like of shape (n_samples,), optional
            Diagonal of S, not negative; ones by default. CSP takes D^{-1/2}.
        threshold : float
            Keep eigenvalues greater than this, not less than 0.
        n_largest : int, optional
            At most so many. Needed only when more than 4000 points or groups hang together by links, where
            the leading eigenvectors are found by Lanczos iteration.
        tolerance : float, default=1e-9
            Relative accuracy of that iteration; what it finds is never too large.

        Returns
        -------
        Spectrum
            Values descending, eigenvectors on the constrained points.

        Examples
        --------
        >>> from sidecut.constraints import Constraints
        >>> c = Constraints.from_labels([0, 0, 1, 1, -1, -1])
        >>> c.positive_spectrum().values
        array([4.])
        """
        if not threshold >= 0:
            raise ConstraintError(f"threshold = {threshold}: it must not be negative; use spectrum() for all")
        if n_largest is not None and not n_largest >= 1:
            raise ConstraintError(f"n_largest = {n_largest}: ask for at least 1, or None for all")
        s = check_scale(scale, self._n_samples)
        return scaled_spectrum(
            self._links,
            self._groups,
            s,
            self.constrained_points,
            threshold=threshold,
            n_largest=n_largest,
            tolerance=tolerance,
        )

    def _list_pairs(self) -> tuple[IntArray, FloatArray]:
        """All pairs and their strengths, in one pass over the matrix."""
        upper = sparse.triu(self.as_matrix(), k=1, format="csr").tocoo()
        return read_only(np.column_stack([upper.row, upper.col]).astype(np.int64)), read_only(upper.data)

    def _counts(self) -> PairCounts:
        return tally(self._links, self._groups, np.zeros(self._n_samples, dtype=np.int64))
