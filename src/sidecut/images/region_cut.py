"""Which class a region belongs to: where it lies, what it looks like, and what its neighbours are.

1. Place. A random walk over the regions that hardly ever crosses a strong edge ends at a mark of class c with
   probability q_c: L q = 0 on regions without marks (Grady, 2006).
2. Look. Marks give the density d_c of colour and texture of each class.
3. Both are beliefs, p_c ∝ (q_c + ε)^a (d_c + δ)^b, and join on the graph: u minimises
   Σ_ij w_ij (u_i - u_j)² / 2 + γ Σ_i n_i (u_i - p_i)², n_i the pixels of region i.
4. Regions that are sure by now are examples of their class, and steps 2 and 3 are done again.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from sidecut.images.appearance import FLOOR, class_densities, pool_alike
from sidecut.images.region_graph import RegionGraph, factorize

FloatArray = npt.NDArray[np.float64]

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
    >>> from sidecut.images.region_cut import normalize
    >>> normalize(np.log([[1.0, 3.0]]))
    array([[0.25, 0.75]])
    """
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)
