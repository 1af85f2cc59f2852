"""Points in small cells, so that a search for neighbours looks into a few cells and not at all points.

The cells are those of k-means, made again inside every cell that is too large. A point's candidates come from
the cells whose centres lie nearest to it. Everything here is in single precision: it proposes candidates,
which the caller compares by their true distance.

How many principal components and cells a search needs is measured: the true neighbours of a sample of points
are searched exactly, and the fewest are taken that would have found enough of them.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from sidecut.checks import FloatArray, IntArray

Coordinates = npt.NDArray[np.float32]

#: How many distances are held at a time (16 MB).
DISTANCES_HELD = 4_000_000
#: In how many groups of centres the nearest cells are looked for, where centres are in groups.
GROUPS = 12
#: The numbers of principal components that are tried, from the fewest on.
COMPONENTS = (16, 32, 64, 96, 128, 192, 256, 384)
#: Principal components are those of this many points.
COMPONENT_SAMPLE = 8_000


@dataclass(frozen=True)
class Cells:
    """A partition of points into cells."""

    coordinates: Coordinates
    order: IntArray
    starts: IntArray
    centres: Coordinates
    #: The centres in cells of their own, where there are so many that a search does not look at all.
    guide: Cells | None = None

    @classmethod
    def of(
        cls,
        coordinates: Coordinates,
        largest: int,
        rng: np.random.RandomState,
        parts: Iterable[IntArray] | None = None,
    ) -> Cells:
        """Divide points, which may be in parts already, into cells of at most `largest`."""
        members: list[IntArray] = []
        waiting: list[IntArray] = [np.arange(coordinates.shape[0])] if parts is None else list(parts)
        while waiting:
            some = waiting.pop()
            if some.size <= largest:
                members.append(some)
            else:
                waiting += _parts(coordinates, some, largest, rng)
        sizes = np.array([cell.size for cell in members])
        starts = np.concatenate([[0], np.cumsum(sizes)])
        order = np.concatenate(members)
        rows = coordinates[order]
        centres = np.add.reduceat(rows, starts[:-1], axis=0) / sizes[:, None]
        return cls(rows, order, starts, centres.astype(np.float32))

    def with_rows(self, rows: Coordinates, largest: int) -> Cells:
        """Return cells that hold more points as well, numbered on; each joins the nearest cell."""
        nearest = self.from_centres(rows).argmin(axis=1)
        cell_of = np.concatenate([self.cell_of, nearest])
        everyone = np.empty((len(cell_of), rows.shape[1]), dtype=np.float32)
        everyone[self.order], everyone[self.order.size :] = self.coordinates, rows
        parts = np.split(np.argsort(cell_of, kind="stable"), np.cumsum(np.bincount(cell_of))[:-1])
        return Cells.of(everyone, largest, np.random.RandomState(0), parts)

    @cached_property
    def sizes(self) -> IntArray:
        """How many points every cell holds."""
        return np.diff(self.starts)

    @cached_property
    def squared_norms(self) -> Coordinates:
        """‖x‖² of the points, in the order of the cells."""
        return np.einsum("ij,ij->i", self.coordinates, self.coordinates)

    @property
    def cell_of(self) -> IntArray:
        """The cell of every point."""
        result = np.empty(self.order.size, dtype=np.intp)
        result[self.order] = np.repeat(np.arange(self.sizes.size), self.sizes)
        return result

    def from_centres(self, queries: Coordinates) -> Coordinates:
        """Return ‖c - x‖² - ‖x‖² for queries x (q, d) and all centres c."""
        return np.einsum("ij,ij->i", self.centres, self.centres) - 2 * (queries @ self.centres.T)

    def nearest(self, queries: Coordinates, count: int) -> IntArray:
        """Return the `count` cells with the nearest centres, in any order; with a guide, nearly those."""
        if self.guide is None:
            return smallest(self.from_centres(queries), count)
        # Even the smallest groups must hold so many.
        fewest = int(np.searchsorted(np.cumsum(np.sort(self.guide.sizes)), count)) + 1
        return self.guide.candidates(queries, max(fewest, min(GROUPS, self.guide.sizes.size)), count)

    def guided(self, rng: np.random.RandomState) -> Cells:
        """Return the same cells with a guide to them."""
        largest = max(2, int(0.6 * np.sqrt(len(self.centres))))
        return replace(self, guide=Cells.of(self.centres, largest, rng))

    def chunks(self, width: int) -> Iterator[slice]:
        """Return runs of rows of `coordinates` that may be searched together, `width` distances each."""
        step = max(1, DISTANCES_HELD // width)
        return (slice(a, min(a + step, self.order.size)) for a in range(0, self.order.size, step))

    def candidates(self, queries: Coordinates, n_cells: int, count: int) -> IntArray:
        """Return the `count` nearest points in the `n_cells` cells nearest to some rows, in any order."""
        # Where those cells hold fewer points, -1 fills the rest.
        probed = self.nearest(queries, n_cells)
        distances = self._distances(queries, probed)
        width = distances.shape[1] // n_cells
        places = smallest(distances, count)
        cell, member = np.divmod(places, width)
        found = self.order[(self.starts[np.take_along_axis(probed, cell, 1)] + member) % self.order.size]
        found[np.isinf(np.take_along_axis(distances, places, 1))] = -1
        return found

    def _distances(self, queries: Coordinates, probed: IntArray) -> Coordinates:
        """Return ‖y‖² - 2xᵀy for every query x and the members y of its cells; infinite where none is."""
        sizes, norms, n_probed = self.sizes, self.squared_norms, probed.shape[1]
        width = int(sizes.max())
        result = np.full((probed.size, width), np.inf, dtype=np.float32)
        order = np.argsort(probed, axis=None, kind="stable")
        cells, begins = np.unique(probed.ravel()[order], return_index=True)
        for cell, asking in zip(cells, np.split(order, begins[1:]), strict=True):
            members = slice(self.starts[cell], self.starts[cell + 1])
            products = queries[asking // n_probed] @ self.coordinates[members].T
            result[asking, : sizes[cell]] = norms[members] - 2 * products
        return result.reshape(queries.shape[0], n_probed * width)


def smallest(values: Coordinates, count: int) -> IntArray:
    """Return where the `count` smallest entries of every row are, in any order."""
    # The count-th smallest minimum of groups bounds the count-th smallest entry from above. To look for it
    # among the minima, and then for all entries below it, is several times as fast as `np.argpartition`.
    n_rows, width = values.shape
    group = min(16, width // (4 * count))
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


def _parts(
    coordinates: Coordinates, members: IntArray, largest: int, rng: np.random.RandomState
) -> list[IntArray]:
    """Divide one set by k-means on a sample; what it cannot divide, such as duplicates, into equal parts."""
    # Parts of one size are an ideal; with some room, few have to be divided again.
    n_parts = int(np.clip(np.ceil(1.6 * members.size / largest), 2, 64))
    n_sampled = min(members.size, 100 * n_parts)
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


@dataclass(frozen=True)
class SingleProducts:
    """All pairs compared in single precision, by matrix products."""

    coordinates: Coordinates
    squared_norms: Coordinates
    error: float

    @classmethod
    def of(cls, coordinates: FloatArray) -> SingleProducts:
        """Round the coordinates of points."""
        n_points, n_features = coordinates.shape
        rounded = np.empty((n_points, n_features), dtype=np.float32)
        middle = coordinates[:: max(1, n_points // COMPONENT_SAMPLE)].mean(axis=0)
        for start in range(0, n_points, COMPONENT_SAMPLE):
            rows = slice(start, start + COMPONENT_SAMPLE)
            rounded[rows] = coordinates[rows] - middle
        norms = np.einsum("ij,ij->i", rounded, rounded)
        # Rounded coordinates, d products added up, and three terms added: each is off by 2^-24 of
        # (‖x‖ + ‖y‖)² at most.
        error = (n_features + 8) * 2.0**-24 * 4 * float(norms.max(initial=0.0))
        return cls(rounded, norms, error)

    def nearest(self, points: IntArray, count: int, among: int | None = None) -> tuple[IntArray, FloatArray]:
        """Return the `count` nearest of some points, themselves included, and a squared distance."""
        # No point that is not one of these is nearer than that. Only the first `among` points are looked at.
        norms = self.squared_norms[:among]
        distances = self.coordinates[points] @ self.coordinates[:among].T
        distances *= -2
        distances += norms
        places = smallest(distances, count)
        last = np.take_along_axis(distances, places, 1).max(axis=1)
        if count == norms.size:
            return places, np.full(points.size, np.inf)
        return places, last.astype(np.float64) + self.squared_norms[points] - self.error


@dataclass(frozen=True)
class Axes:
    """The directions in which a sample of points varies most, the first of them first."""

    middle: FloatArray
    directions: Coordinates

    @classmethod
    def of(cls, coordinates: FloatArray, rng: np.random.RandomState) -> Axes:
        """Return the principal axes of points; their own axes where there are few."""
        n_points, n_features = coordinates.shape
        some = coordinates[rng.choice(n_points, min(COMPONENT_SAMPLE, n_points), replace=False)]
        middle = some.mean(axis=0)
        if n_features <= COMPONENTS[0]:
            return cls(middle, np.eye(n_features, dtype=np.float32))
        some = some - middle
        directions = np.linalg.eigh(some.T @ some)[1][:, ::-1][:, : COMPONENTS[-1]]
        return cls(middle, directions.astype(np.float32))

    def first(self, count: int) -> Axes:
        """Return the first few."""
        return Axes(self.middle, np.ascontiguousarray(self.directions[:, :count]))

    def project(self, coordinates: FloatArray) -> Coordinates:
        """Return points along these axes."""
        result = np.empty((len(coordinates), self.directions.shape[1]), dtype=np.float32)
        for start in range(0, len(coordinates), COMPONENT_SAMPLE):
            rows = slice(start, start + COMPONENT_SAMPLE)
            result[rows] = (coordinates[rows] - self.middle).astype(np.float32) @ self.directions
        return result


@dataclass(frozen=True)
class CellSearch:
    """Cells of points in principal components, and how wide to search them."""

    cells: Cells
    n_cells: int
    n_candidates: int
    largest: int
    axes: Axes

    @property
    def scanned(self) -> int:
        """How many distances the search takes per point, empty places and centres included."""
        sizes = self.cells.sizes
        return int(self.n_cells * sizes.max() + sizes.size)

    def runs(self) -> Iterator[slice]:
        """Return runs of rows of the cells that may be searched together."""
        return self.cells.chunks(self.n_cells * int(self.cells.sizes.max()))

    def propose(self, rows: slice) -> IntArray:
        """Return the candidates of some rows of the cells."""
        return self.cells.candidates(self.cells.coordinates[rows], self.n_cells, self.n_candidates)

    def propose_to(self, coordinates: FloatArray) -> IntArray:
        """Return the candidates of new points."""
        rows = self.axes.project(coordinates)
        step = max(1, DISTANCES_HELD // (self.n_cells * int(self.cells.sizes.max())))
        found = [
            self.cells.candidates(rows[start : start + step], self.n_cells, self.n_candidates)
            for start in range(0, len(rows), step)
        ]
        return np.concatenate(found)

    def with_points(self, coordinates: FloatArray) -> CellSearch:
        """Return the search among more points; it looks into the same share of the cells."""
        cells = self.cells.with_rows(self.axes.project(coordinates), self.largest)
        n_cells = -(-self.n_cells * cells.sizes.size // self.cells.sizes.size)
        return replace(self, cells=cells, n_cells=n_cells)


def calibrate(
    coordinates: FloatArray, sample: IntArray, neighbors: IntArray, rng: np.random.RandomState
) -> CellSearch:
    """Return a search that finds enough of the true neighbours of a sample."""
    k = neighbors.shape[1]
    # In all features, candidates differ from neighbours by rounding alone.
    n_candidates = 2 * k + 1 if coordinates.shape[1] > COMPONENTS[0] else k + 11
    axes = Axes.of(coordinates, rng)
    reduced = axes.project(coordinates)
    for n_components in [*(d for d in COMPONENTS if d < reduced.shape[1]), reduced.shape[1]]:
        part = np.ascontiguousarray(reduced[:, :n_components])
        among = _among_nearest(part, sample, neighbors, n_candidates)
        # Principal components may lose 0.4 % of the true neighbours.
        if among.mean() >= 1 - 0.004:
            break
    largest = max(64, int(0.6 * np.sqrt(part.shape[0])))
    cells = Cells.of(part, largest, rng)
    # The number of cells to look into: enough for the neighbours that are candidates.
    ranks = np.argsort(np.argsort(cells.from_centres(part[sample]), axis=1), axis=1)
    needed = np.take_along_axis(ranks, cells.cell_of[neighbors], 1)[among]
    # The share of the sample's true neighbours to find is a little more than the 98 % promised.
    place = min(int(np.ceil(0.987 * neighbors.size)), needed.size) - 1
    n_cells = int(np.partition(needed, place)[place]) + 1
    return CellSearch(cells, n_cells, n_candidates, largest, axes.first(part.shape[1]))


def _among_nearest(
    coordinates: Coordinates, sample: IntArray, neighbors: IntArray, count: int
) -> npt.NDArray[np.bool_]:
    """Return which of the sample's neighbours are among the `count` nearest points of these coordinates."""
    norms = np.einsum("ij,ij->i", coordinates, coordinates)
    result = np.empty(neighbors.shape, dtype=bool)
    step = max(1, DISTANCES_HELD // norms.size)
    for start in range(0, sample.size, step):
        part = slice(start, start + step)
        distances = coordinates[sample[part]] @ coordinates.T
        distances *= -2
        distances += norms
        reach = np.take_along_axis(distances, smallest(distances, count), 1).max(axis=1, keepdims=True)
        result[part] = np.take_along_axis(distances, neighbors[part], 1) <= reach
    return result
