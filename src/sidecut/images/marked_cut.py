"""A picture cut by marks: regions first, then the pixels along the borders, from coarse to fine."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from sidecut.arrays import FloatArray, IntArray
from sidecut.images.appearance import FLOOR, class_densities, pool_alike
from sidecut.images.border import band_around, decide_pixels, remove_specks
from sidecut.images.region_graph import RegionGraph, factorize


@dataclass(frozen=True, eq=False)
class Cut:
    """Classes of pixels, at one level of a picture.

    Attributes
    ----------
    codes : array of the shape of the level
        The class of every pixel.
    probabilities : array of the shape of the level and one more axis
        Of every class.
    """

    codes: IntArray
    probabilities: npt.NDArray[np.float32]


@dataclass(frozen=True)
class RegionCut:
    """How the cut was made: by regions, then by the pixels along the borders.

    Attributes
    ----------
    n_clusters : int
        How many classes there are.
    n_regions : int
        How many regions there were to be told apart.
    """

    n_clusters: int
    n_regions: int


def cut_by_marks(graph: RegionGraph, marks: IntArray, n_classes: int) -> Cut:
    """Return the class of every pixel, those of marked pixels being what the marks say.

    Parameters
    ----------
    graph : RegionGraph
        The picture.
    marks : array of the shape of the picture
        The class of marked pixels, from 0; -1 elsewhere.
    n_classes : int
        How many classes there are; each has a mark.
    """
    levels = _marks_by_level(graph, marks)
    regions = graph.regions
    votes = _votes(graph, marks, n_classes)
    probabilities = cut_regions(graph, votes)
    is_split = np.count_nonzero(votes, axis=1) > 1
    cut = _exact(
        probabilities.astype(np.float32)[regions.numbers],
        levels[-1],
        graph.levels[-1],
        is_split[regions.numbers] if is_split.any() else None,
    )
    for pixels, known in zip(graph.levels[-2::-1], levels[-2::-1], strict=True):
        cut = _exact(_doubled(cut.probabilities, known.shape), known, pixels, None)
    return cut


def _exact(
    probabilities: npt.NDArray[np.float32],
    marks: IntArray,
    pixels: npt.NDArray,
    undecided: npt.NDArray[np.bool_] | None,
) -> Cut:
    """Decide the pixels along the borders, keep the marks, and remove specks."""
    is_marked = marks >= 0
    codes = np.where(is_marked, marks, probabilities.argmax(axis=-1))
    band = band_around(codes)
    if undecided is not None:
        band |= undecided
    band &= ~is_marked
    if band.any():
        probabilities[band] = decide_pixels(pixels, codes, band, probabilities[band].astype(np.float64))
        codes[band] = probabilities[band].argmax(axis=-1)
    codes = remove_specks(codes, marks)
    probabilities[is_marked] = np.eye(probabilities.shape[-1])[marks[is_marked]]
    _agree(probabilities, codes)
    return Cut(codes, probabilities)


def _agree(probabilities: npt.NDArray[np.float32], codes: IntArray) -> None:
    """Let the chosen class be the most probable where specks were removed, by a swap."""
    most = probabilities.argmax(axis=-1)
    where = np.nonzero(most != codes)
    if where[0].size:
        chosen, likely = (*where, codes[where]), (*where, most[where])
        probabilities[chosen], probabilities[likely] = probabilities[likely], probabilities[chosen]


def _votes(graph: RegionGraph, marks: IntArray, n_classes: int) -> FloatArray:
    """Count the marked pixels of every region by class, at the size of the picture."""
    places = np.nonzero(marks >= 0)
    coarse = graph.regions.numbers.shape
    shrink = 2 ** (len(graph.levels) - 1)
    there = tuple(
        np.minimum(place // (shrink if size > 1 else 1), small - 1)
        for place, size, small in zip(places, marks.shape, coarse, strict=True)
    )
    votes = np.zeros((graph.regions.n_regions, n_classes))
    np.add.at(votes, (graph.regions.numbers[there], marks[places]), 1.0)
    return votes


def _marks_by_level(graph: RegionGraph, marks: IntArray) -> list[IntArray]:
    """Return the marks at every level; where several pixels become one, one of their marks stays."""
    places, codes = np.nonzero(marks >= 0), marks[marks >= 0]
    result = [marks]
    for level in graph.levels[1:]:
        shape = level.shape[:-1]
        places = tuple(
            np.minimum(place // (2 if old > 1 else 1), new - 1)
            for place, old, new in zip(places, result[-1].shape, shape, strict=True)
        )
        coarse = np.full(shape, -1, dtype=np.intp)
        coarse[places] = codes
        result.append(coarse)
    return result


def _doubled(values: npt.NDArray[np.float32], shape: tuple[int, ...]) -> npt.NDArray[np.float32]:
    for axis, size in enumerate(shape):
        if values.shape[axis] != size:
            values = values.repeat(2, axis=axis).take(range(size), axis=axis)
    return values


# Which class a region belongs to: where it lies, what it looks like, and what its neighbours are.
#
# 1. Place. A random walk over the regions that hardly ever crosses a strong edge ends at a mark of class c
# with probability q_c: L q = 0 on regions without marks (Grady, 2006). 2. Look. Marks give the density d_c
# of colour and texture of each class. 3. Both are beliefs, p_c ∝ (q_c + ε)^a (d_c + δ)^b, and join on the
# graph: u minimises Σ_ij w_ij (u_i - u_j)² / 2 + γ Σ_i n_i (u_i - p_i)², n_i the pixels of region i. 4.
# Regions that are sure by now are examples of their class, and steps 2 and 3 are done again.


#: ε, a and b of step 3.
DOUBT = 1e-3
PLACE_WEIGHT = 0.5
LOOK_WEIGHT = 2.0
#: γ of step 3, per pixel.
BELIEF = 0.03
#: Rounds of steps 2 and 3; a region takes part in the next if it is as sure as this.
ROUNDS = 3
SURE = 0.8
#: A marked pixel counts as many pixels of sure regions.
MARK_WEIGHT = 5.0


def cut_regions(graph: RegionGraph, votes: FloatArray) -> FloatArray:
    """Return the probability of every class for every region.

    Parameters
    ----------
    graph : RegionGraph
        The regions.
    votes : array of shape (n_regions, n_classes)
        How many pixels of a region are marked with each class.

    Returns
    -------
    array of shape (n_regions, n_classes)
        Rows sum to 1. Regions with marks of one class belong to it.
    """
    place = PLACE_WEIGHT * np.log(walk_to_marks(graph, votes) + DOUBT)
    problem = Grounded(graph.laplacian + sp.diags_array(BELIEF * graph.regions.sizes), votes)
    examples = votes
    for _ in range(ROUNDS):
        densities = pool_alike(class_densities(graph.looks, examples), votes)
        beliefs = normalize(place + LOOK_WEIGHT * np.log(densities + FLOOR))
        probabilities = problem.solve(BELIEF * graph.regions.sizes[:, None] * beliefs)
        sure = np.where(probabilities > SURE, probabilities, 0.0)
        examples = MARK_WEIGHT * votes + graph.regions.sizes[:, None] * sure
    return probabilities


def walk_to_marks(graph: RegionGraph, votes: FloatArray) -> FloatArray:
    """Return the probability that a walk from each region first meets a mark of each class.

    Parameters
    ----------
    graph : RegionGraph
        The regions.
    votes : array of shape (n_regions, n_classes)
        The marks; a region marked with several classes ends the walk at each in proportion.
    """
    return np.clip(Grounded(graph.path_laplacian, votes).solve(np.zeros_like(votes)), 0.0, 1.0)


class Grounded:
    """A system A u = r in which u is known on marked regions.

    Parameters
    ----------
    matrix : sparse array of shape (n_regions, n_regions)
        A, symmetric, positive definite where nothing is marked.
    votes : array of shape (n_regions, n_classes)
        The marks: u is the share of each class there.
    """

    def __init__(self, matrix: sp.sparray, votes: FloatArray):
        self.is_known = votes.sum(axis=1) > 0
        self.known = votes[self.is_known] / votes[self.is_known].sum(axis=1, keepdims=True)
        rows = matrix.tocsr()[~self.is_known]
        self.pull = rows[:, self.is_known] @ self.known
        free = rows[:, ~self.is_known].tocsc()
        self.factors = factorize(free) if free.shape[0] else None

    def solve(self, right: FloatArray) -> FloatArray:
        """Return u.

        Parameters
        ----------
        right : array of shape (n_regions, n_classes)
            r; what it is on marked regions does not matter.
        """
        solution = np.empty_like(right)
        solution[self.is_known] = self.known
        if self.factors is not None:
            solution[~self.is_known] = self.factors.solve(right[~self.is_known] - self.pull)
        return solution


def normalize(scores: FloatArray) -> FloatArray:
    """Return exp(scores), divided by the sums of rows.

    Parameters
    ----------
    scores : array of shape (n, n_classes)
        Logarithms, up to a constant per row.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.images.marked_cut import normalize
    >>> normalize(np.log([[1.0, 3.0]]))
    array([[0.25, 0.75]])
    """
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)
