"""A search for neighbours that is as wide as it has to be: in principal components, in a few cells.

How many components and cells are needed is not guessed. The true neighbours of a sample of points are
searched exactly, and the fewest are taken with which enough of them would have been found.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sidecut.arrays import FloatArray, IntArray
from sidecut.graphs.cells import Cells, Coordinates

#: The share of the sample's true neighbours that has to be found: a little more than is promised.
AIM = 0.987
#: The share of them that the principal components may lose.
LOST_BY_COMPONENTS = 0.004
#: How many principal components are tried, from the fewest on.
COMPONENTS = (16, 32, 64, 96, 128, 192, 256, 384)
#: So many points tell the principal components.
COMPONENT_SAMPLE = 8_000


@dataclass(frozen=True)
class CellSearch:
    """Cells of points in principal components, and how wide to search them.

    Attributes
    ----------
    cells : Cells
        The points, in `n_components` principal components.
    n_cells : int
        Into how many cells every point looks.
    n_candidates : int
        How many points it proposes for each, to be compared by their true distance.
    """

    cells: Cells
    n_cells: int
    n_candidates: int

    @property
    def n_components(self) -> int:
        """In how many principal components the cells lie."""
        return int(self.cells.coordinates.shape[1])

    @property
    def scanned(self) -> int:
        """How many distances the search takes per point, empty places and centres included."""
        sizes = self.cells.sizes
        return int(self.n_cells * sizes.max() + sizes.size)

    def candidates(self) -> Iterator[tuple[IntArray, slice]]:
        """Return runs of points, and for each which rows of the cells they are."""
        for rows in self.cells.chunks(self.n_cells * int(self.cells.sizes.max())):
            yield self.cells.order[rows], rows

    def proposed(self, rows: slice) -> IntArray:
        """Return the candidates of some rows of the cells."""
        return self.cells.candidates(rows, self.n_cells, self.n_candidates)


def calibrate(
    coordinates: FloatArray, sample: IntArray, neighbors: IntArray, rng: np.random.RandomState
) -> CellSearch:
    """Return a search that finds enough of the true neighbours of a sample.

    Parameters
    ----------
    coordinates : array of shape (n, d)
        The points.
    sample : array of shape (s,)
        Which of them the search is fitted to.
    neighbors : array of shape (s, k)
        Their true nearest neighbours.
    rng : RandomState
        For the samples that components and cells are made from.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.graphs.cell_search import calibrate
    >>> rng = np.random.RandomState(0)
    >>> line = np.arange(1000.0)[:, None]
    >>> search = calibrate(line, np.array([500]), np.array([[499, 501]]), rng)
    >>> search.n_components, bool(search.n_cells <= 2)
    (1, True)
    """
    k = neighbors.shape[1]
    # In all features, candidates differ from neighbours by rounding alone.
    n_candidates = 2 * k + 1 if coordinates.shape[1] > COMPONENTS[0] else k + 11
    reduced = _principal_components(coordinates, rng)
    for n_components in [*(d for d in COMPONENTS if d < reduced.shape[1]), reduced.shape[1]]:
        part = np.ascontiguousarray(reduced[:, :n_components])
        among = _among_nearest(part, sample, neighbors, n_candidates)
        if among.mean() >= 1 - LOST_BY_COMPONENTS:
            break
    largest = max(64, int(0.6 * np.sqrt(part.shape[0])))
    cells = Cells.of(part, largest, rng)
    return CellSearch(cells, _needed_cells(cells, part, sample, neighbors, among), n_candidates)


def _principal_components(coordinates: FloatArray, rng: np.random.RandomState) -> Coordinates:
    """Return the points along the directions in which a sample varies most, the first of them first."""
    n_points, n_features = coordinates.shape
    some = coordinates[rng.choice(n_points, min(COMPONENT_SAMPLE, n_points), replace=False)]
    middle = some.mean(axis=0)
    if n_features <= COMPONENTS[0]:
        return (coordinates - middle).astype(np.float32)
    some = some - middle
    directions = np.linalg.eigh(some.T @ some)[1][:, ::-1]
    if n_features > COMPONENTS[-1]:
        directions = directions[:, : COMPONENTS[-1]]
    result = np.empty((n_points, directions.shape[1]), dtype=np.float32)
    directions = directions.astype(np.float32)
    for start in range(0, n_points, COMPONENT_SAMPLE):
        rows = slice(start, start + COMPONENT_SAMPLE)
        result[rows] = (coordinates[rows] - middle).astype(np.float32) @ directions
    return result


def _among_nearest(
    coordinates: Coordinates, sample: IntArray, neighbors: IntArray, count: int
) -> npt.NDArray[np.bool_]:
    """Return which of the sample's neighbours are among the `count` nearest points of these coordinates."""
    queries = coordinates[sample]
    norms = np.einsum("ij,ij->i", coordinates, coordinates)
    distances = norms - 2 * (queries @ coordinates.T)
    reach = np.partition(distances, count - 1, axis=1)[:, count - 1 : count]
    return np.take_along_axis(distances, neighbors, 1) <= reach


def _needed_cells(
    cells: Cells,
    coordinates: Coordinates,
    sample: IntArray,
    neighbors: IntArray,
    among: npt.NDArray[np.bool_],
) -> int:
    """Return into how many cells points must look to find enough neighbours that are candidates."""
    centres = cells.from_centres(coordinates[sample])
    ranks = np.argsort(np.argsort(centres, axis=1), axis=1)
    needed = np.take_along_axis(ranks, cells.cell_of[neighbors], 1)[among]
    place = min(int(np.ceil(AIM * neighbors.size)), needed.size) - 1
    return int(np.partition(needed, place)[place]) + 1
