"""Points in small cells, so that a search for neighbours looks into a few cells and not at all points.

The cells are those of k-means, made again inside every cell that is too large. A point's candidates come from
the cells whose centres lie nearest to it. Everything here is in single precision: it proposes candidates, and
whoever asked compares them by their true distance.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from sidecut.arrays import IntArray

Coordinates = npt.NDArray[np.float32]

#: One k-means divides a set into at most this many parts, from so many points for each.
PARTS, POINTS_PER_PART = 64, 100
#: How many distances are held at a time (16 MB).
DISTANCES_HELD = 4_000_000
#: The smallest entries of a row are looked for among the minima of groups of at most this many.
GROUP = 16


@dataclass(frozen=True)
class Cells:
    """A partition of points into cells.

    Attributes
    ----------
    coordinates : array of shape (n, d)
        The points, cell by cell.
    order : array of shape (n,)
        Which point each row of `coordinates` is.
    starts : array of shape (n_cells + 1,)
        Where each cell begins.
    centres : array of shape (n_cells, d)
        The mean of every cell.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.graphs.cells import Cells
    >>> line = np.arange(100, dtype=np.float32)[:, None]
    >>> cells = Cells.of(line, largest=10, rng=np.random.RandomState(0))
    >>> [int(np.ptp(cells.order[rows])) < 10 for rows in cells.chunks(100)]
    [False]
    >>> int(cells.sizes.max()), np.sort(cells.candidates(slice(0, 1), 3, 5) - cells.order[0]).shape
    (10, (1, 5))
    """

    coordinates: Coordinates
    order: IntArray
    starts: IntArray
    centres: Coordinates

    @classmethod
    def of(cls, coordinates: Coordinates, largest: int, rng: np.random.RandomState) -> Cells:
        """Divide points into cells of at most `largest`."""
        members = _divide(coordinates, largest, rng)
        sizes = np.array([cell.size for cell in members])
        starts = np.concatenate([[0], np.cumsum(sizes)])
        order = np.concatenate(members)
        rows = coordinates[order]
        centres = np.add.reduceat(rows, starts[:-1], axis=0) / sizes[:, None]
        return cls(rows, order, starts, centres.astype(np.float32))

    @property
    def sizes(self) -> IntArray:
        """How many points every cell holds."""
        return np.diff(self.starts)

    @property
    def cell_of(self) -> IntArray:
        """The cell of every point."""
        result = np.empty(self.order.size, dtype=np.intp)
        result[self.order] = np.repeat(np.arange(self.sizes.size), self.sizes)
        return result

    def from_centres(self, queries: Coordinates) -> Coordinates:
        """Return ‖c - x‖² - ‖x‖² for queries x (q, d) and all centres c."""
        return np.einsum("ij,ij->i", self.centres, self.centres) - 2 * (queries @ self.centres.T)

    def chunks(self, width: int) -> Iterator[slice]:
        """Return runs of rows of `coordinates` that may be searched together, `width` distances each."""
        step = max(1, DISTANCES_HELD // width)
        return (slice(a, min(a + step, self.order.size)) for a in range(0, self.order.size, step))

    def candidates(self, rows: slice, n_cells: int, count: int) -> IntArray:
        """Return the `count` nearest points in the `n_cells` nearest cells of some rows, in any order.

        Where those cells hold fewer points, -1 fills the rest.
        """
        queries = self.coordinates[rows]
        probed = smallest(self.from_centres(queries), n_cells)
        distances = self._distances(queries, probed)
        width = distances.shape[1] // n_cells
        places = smallest(distances, count)
        cell, member = np.divmod(places, width)
        found = self.order[(self.starts[np.take_along_axis(probed, cell, 1)] + member) % self.order.size]
        found[np.isinf(np.take_along_axis(distances, places, 1))] = -1
        return found

    def _distances(self, queries: Coordinates, probed: IntArray) -> Coordinates:
        """Return ‖y‖² - 2xᵀy for every query x and the members y of its cells; infinite where none is."""
        sizes, n_probed = self.sizes, probed.shape[1]
        width = int(sizes.max())
        result = np.full((probed.size, width), np.inf, dtype=np.float32)
        order = np.argsort(probed, axis=None, kind="stable")
        cells, begins = np.unique(probed.ravel()[order], return_index=True)
        for cell, asking in zip(cells, np.split(order, begins[1:]), strict=True):
            members = self.coordinates[self.starts[cell] : self.starts[cell + 1]]
            norms = np.einsum("ij,ij->i", members, members)
            result[asking, : sizes[cell]] = norms - 2 * (queries[asking // n_probed] @ members.T)
        return result.reshape(queries.shape[0], n_probed * width)


def smallest(values: Coordinates, count: int) -> IntArray:
    """Return where the `count` smallest entries of every row are, in any order.

    The count-th smallest minimum of groups bounds the count-th smallest entry from above. To look for it
    among the minima, and then for all entries below it, is several times as fast as `np.argpartition`.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.graphs.cells import smallest
    >>> np.sort(smallest(np.array([[5.0, 1.0, 3.0, 2.0]]), 2))
    array([[1, 3]])
    """
    n_rows, width = values.shape
    group = min(GROUP, width // (4 * count))
    if group < 2:
        return np.argpartition(values, min(count, width) - 1, axis=1)[:, :count]
    n_groups = width // group
    minima = values[:, : group * n_groups].reshape(n_rows, group, n_groups).min(axis=1)
    bounds = np.partition(minima, count - 1, axis=1)[:, count - 1]
    hits = np.flatnonzero(values <= bounds[:, None])
    row = hits // width
    counts = np.bincount(row, minlength=n_rows)
    places = np.arange(hits.size) - (np.cumsum(counts) - counts)[row]
    # Ties can be many; rows that have them are searched as they are.
    crowded = counts > 4 * count
    few = ~crowded[row]
    table = np.zeros((n_rows, int(counts[~crowded].max(initial=count))), dtype=np.intp)
    near = np.full(table.shape, np.inf, dtype=values.dtype)
    table[row[few], places[few]] = hits[few] - row[few] * width
    near[row[few], places[few]] = values.ravel()[hits[few]]
    result = np.take_along_axis(table, np.argpartition(near, count - 1, axis=1)[:, :count], 1)
    if crowded.any():
        result[crowded] = np.argpartition(values[crowded], count - 1, axis=1)[:, :count]
    return result


def _divide(coordinates: Coordinates, largest: int, rng: np.random.RandomState) -> list[IntArray]:
    done: list[IntArray] = []
    waiting: list[IntArray] = [np.arange(coordinates.shape[0])]
    while waiting:
        members = waiting.pop()
        if members.size <= largest:
            done.append(members)
        else:
            waiting += _parts(coordinates, members, largest, rng)
    return done


def _parts(
    coordinates: Coordinates, members: IntArray, largest: int, rng: np.random.RandomState
) -> list[IntArray]:
    """Divide one set by k-means on a sample; what it cannot divide, such as duplicates, into equal parts."""
    # Parts of one size are an ideal; with some room, few have to be divided again.
    n_parts = int(np.clip(np.ceil(1.6 * members.size / largest), 2, PARTS))
    n_sampled = min(members.size, n_parts * POINTS_PER_PART)
    sample = coordinates[rng.choice(members, n_sampled, replace=False)]
    if not np.ptp(sample, axis=0).any():
        return np.array_split(members, -(-members.size // largest))
    means = KMeans(n_parts, init="random", n_init=1, max_iter=6, random_state=rng)
    with warnings.catch_warnings():
        # Fewer distinct points than parts: some parts stay empty.
        warnings.simplefilter("ignore", ConvergenceWarning)
        means.fit(sample)
    part = means.predict(coordinates[members])
    order = np.argsort(part, kind="stable")
    parts = np.split(members[order], np.searchsorted(part[order], np.arange(1, n_parts)))
    parts = [some for some in parts if some.size]
    return parts if len(parts) > 1 else np.array_split(members, -(-members.size // largest))
