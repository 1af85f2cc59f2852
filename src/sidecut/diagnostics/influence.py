"""How much each link matters: what would change in all that is believed if it were not there."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.special import softmax
from sklearn.metrics.pairwise import euclidean_distances

from sidecut.checks import BoolArray, FloatArray, IntArray
from sidecut.constraints import Constraints
from sidecut.exceptions import ConstraintError
from sidecut.graphs import Graph, each_chunk
from sidecut.methods import NormalizedCut
from sidecut.methods.e2cp.propagation import spread, spread_units
from sidecut.methods.inputs import build_graph, check_data
from sidecut.spectral import laplacian_eigenpairs

#: An array in single precision.
SingleArray = npt.NDArray[np.floating[Any]]
#: How far knowledge spreads: α of E2CP, nearer to one than its default, since one label must be judged by
#: others that may be far away. Set on iris, wine, breast cancer and digits.
ALPHA = 0.95
#: So many columns of P are made at a time; only their rows at the known points are kept.
COLUMNS_AT_ONCE = 256
#: From so many numbers on, nodes times points, eigenvectors are set apart and single precision is enough.
MANY = 20_000_000
#: So many eigenvectors are set apart.
SET_APART = 30
#: So many columns at once stay in the cache of a processor.
COLUMNS_IN_CACHE = 32
#: The error of a column relative to its length.
TOLERANCE = 1e-6


def spread_between(graph: Graph, points: IntArray, alpha: float = ALPHA) -> tuple[FloatArray, FloatArray]:
    """Return P between some points, and how much each of them gives to all points."""
    # P is symmetric, so its column sums are what a block of ones becomes.
    given = spread(graph, np.ones(graph.n_nodes), alpha)[points]
    if sp.issparse(graph.matrix) and graph.n_nodes * len(points) >= MANY:
        return _between_many(graph, points, alpha), given
    between = np.empty((len(points), len(points)))
    for start in range(0, len(points), COLUMNS_AT_ONCE):
        part = slice(start, start + COLUMNS_AT_ONCE)
        between[:, part] = spread_units(graph, points[part], np.arange(len(points[part])), alpha)[points]
    return between, given


def _between_many(graph: Graph, points: IntArray, alpha: float) -> FloatArray:
    """Return P between some points, by eigenvectors and by an iteration on what they leave."""
    pairs = laplacian_eigenpairs(graph, min(SET_APART, graph.n_nodes), random_state=0)
    inside = pairs.vectors[points]
    between = (inside * ((1.0 - alpha) / (1.0 - alpha + alpha * pairs.values))) @ inside.T
    affinity = sp.csr_array(graph.normalized.matrix, dtype=np.float32)
    vectors = pairs.vectors.astype(np.float32)
    # No eigenvalue of Ā that is left lies above the last one that was set apart.
    largest = 1.0 - float(pairs.values[-1])

    def solve(part: slice) -> SingleArray:
        rest: npt.NDArray = -vectors @ vectors[points[part]].T
        rest[points[part], np.arange(rest.shape[1])] += 1.0
        return _iterate(affinity, np.float32(1.0 - alpha) * rest, alpha, largest)[points]

    parts = [
        slice(a, min(a + COLUMNS_IN_CACHE, len(points))) for a in range(0, len(points), COLUMNS_IN_CACHE)
    ]
    for part, block in zip(parts, each_chunk(solve, parts), strict=True):
        between[:, part] += block
    # P = (1 - α) Σ αᵗ Āᵗ has no negative entry; rounding alone could make one.
    return np.maximum(0.5 * (between + between.T), 0.0)


def _iterate(affinity: sp.csr_array, block: npt.NDArray, alpha: float, largest: float) -> npt.NDArray:
    """Solve (I - α Ā) X = B by Chebyshev's iteration, where B has no part above the eigenvalue `largest`.

    The eigenvalues that matter lie between 1 - α largest and 1 + α. With their middle d and half their
    width c, the error falls by d/c + √((d/c)² - 1) in every step (Saad, Iterative methods, section 12.3.1).
    """
    middle, half = 1.0 + 0.5 * alpha * (1.0 - largest), 0.5 * alpha * (1.0 + largest)
    ratio = middle / half
    n_steps = int(np.ceil(np.log(2.0 / TOLERANCE) / np.arccosh(ratio)))
    step = block / np.float32(middle)
    solution, rest, weight = np.zeros_like(block), block.copy(), 1.0 / ratio
    for _ in range(n_steps):
        solution += step
        rest -= step - np.float32(alpha) * (affinity @ step)
        before, weight = weight, 1.0 / (2.0 * ratio - weight)
        step = np.float32(weight * before) * step + np.float32(2.0 * weight / half) * rest
    return solution


#: Widths of the Gaussian kernel, in units of the median squared distance, and ridges λ that are tried.
WIDTHS, RIDGES = (0.25, 0.5, 1.0, 2.0), (0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
#: What is foretold becomes shares by the softmax of so many times it.
GAIN = 4.0
#: Of more labelled points than this the features are not looked at: the time grows with the cube.
MOST_BY_FEATURES = 2_000
#: So many points may be known at most: P between them is a square matrix of this many rows, 3 GB.
MOST_POINTS = 20_000


def check_amount(points: IntArray) -> None:
    """Refuse knowledge about more points than a square matrix has room for."""
    if len(points) > MOST_POINTS:
        raise ConstraintError(
            f"something is known about {len(points):,} points; at most {MOST_POINTS:,} are judged at a time. "
            "Judge a part: constraints.restricted_to(rows) and the same rows of X."
        )


def score_labels(between: FloatArray, given: FloatArray, classes: IntArray) -> FloatArray:
    """Return what the other labels say of every labelled point: one share per class, rows adding up to one.

    Each class is divided by all that its other labels give to the graph, so that a class with many labels has
    no advantage. Of the only label of its class the others foretell nothing: all classes are alike.
    """
    members = np.eye(int(classes.max()) + 1)[classes]
    others = between - np.diag(np.diag(between))
    amount = given @ members - given[:, None] * members
    scores = np.divide(others @ members, amount, out=np.zeros_like(amount), where=amount > 0)
    total = scores.sum(axis=1, keepdims=True)
    is_judged = (total > 0) & (members.sum(axis=0)[classes] > 1)[:, None]
    alike = np.full_like(scores, 1.0 / scores.shape[1])
    return np.divide(scores, total, out=alike, where=is_judged)


def score_labels_by_features(rows: Any, classes: IntArray) -> list[FloatArray]:
    """Return what the other labels say of every labelled point by its features alone, for several settings.

    This is ridge regression of the classes with a Gaussian kernel, y = (K + 1)(K + 1 + λI)⁻¹ Y. With
    H = (K + 1 + λI)⁻¹, what a fit without point i foretells of it is Y_i - (H Y)_i / H_ii, exactly.
    """
    members = np.eye(int(classes.max()) + 1)[classes]
    squared = euclidean_distances(rows, squared=True)
    apart = squared[squared > 0]
    unit = float(np.median(apart)) if apart.size else 1.0
    found = []
    for width in WIDTHS:
        values, vectors = np.linalg.eigh(np.exp(-squared / (width * unit)) + 1.0)
        for ridge in RIDGES:
            inverse = (vectors / (np.maximum(values, 0.0) + ridge)) @ vectors.T
            foretold = members - (inverse @ members) / np.diag(inverse)[:, None]
            found.append(softmax(GAIN * foretold, axis=1))
    return found


def score_links(between: FloatArray, first: IntArray, second: IntArray, strengths: FloatArray) -> FloatArray:
    """Return the belief that other links spread to every linked pair: positive for together.

    Each is divided by the largest that links of strength one could spread there, |P_i| |P_j|.
    """
    ends = np.concatenate([first, second]), np.concatenate([second, first])
    known = sp.csr_array((np.concatenate([strengths, strengths]), ends), shape=between.shape)
    spread = np.einsum("ij,ij->i", (known @ between[first].T).T, between[second])
    diagonal = np.diag(between)
    own = strengths * (diagonal[first] * diagonal[second] + between[first, second] ** 2)
    lengths = np.linalg.norm(between, axis=1)
    return (spread - own) / (lengths[first] * lengths[second])


def find_redundant(constraints: Constraints) -> BoolArray:
    """Tell for each pair of `constraints.pairs` whether it follows from the pairs before it.

    A must-link is redundant if its ends are joined already; a cannot-link if the sets its ends belong to are
    apart already. What is left, the others, says all that the constraints say.

    Parameters
    ----------
    constraints : Constraints
        What is known.

    Returns
    -------
    array of bool, shape (n_pairs,)
        In the order of `constraints.pairs`.

    Examples
    --------
    >>> from sidecut import Constraints
    >>> from sidecut.diagnostics import find_redundant
    >>> known = Constraints.from_pairs(4, must_link=[(0, 1), (1, 2), (0, 2)], cannot_link=[(0, 3), (2, 3)])
    >>> known.pairs[find_redundant(known)].tolist()
    [[1, 2], [2, 3]]
    """
    pairs, is_must = constraints.pairs, constraints.strengths > 0
    redundant = np.zeros(len(pairs), dtype=bool)
    redundant[is_must] = _find_closing_edges(pairs[is_must], constraints.n_samples)
    sets = constraints.must_link_components()
    between = np.sort(sets[pairs[~is_must]], axis=1)
    first = np.unique(between, axis=0, return_index=True)[1]
    repeated = np.ones(len(between), dtype=bool)
    repeated[first] = False
    redundant[~is_must] = repeated
    return redundant


def _find_closing_edges(pairs: IntArray, n_samples: int) -> BoolArray:
    """Tell which edges join points that earlier edges have joined."""
    root = np.arange(n_samples)

    def find(point: int) -> int:
        while root[point] != point:
            root[point] = root[root[point]]
            point = int(root[point])
        return point

    closing = np.zeros(len(pairs), dtype=bool)
    for place, (one, other) in enumerate(pairs):
        here, there = find(int(one)), find(int(other))
        closing[place] = here == there
        root[here] = there
    return closing


def measure_influence(
    X: Any, constraints: Constraints, *, affinity: Any = "knn", n_neighbors: int = 20
) -> FloatArray:
    """Return how much each pair of `constraints.pairs` matters, as a share of all that the pairs say.

    The belief that comes to all pairs of points is F = P Z P (eq. 3 of E2CP). Without the link (i, j) of
    strength q it is less by q (P_i P_jᵀ + P_j P_iᵀ), where P_i is a column of P. What is returned is the
    length of that over the length of F; it is exact, since F is linear in Z. It is above one where links
    cancel. See `find_redundant` for what follows from other links by logic alone.

    Parameters
    ----------
    X : array, sparse matrix or data frame; with affinity="precomputed" the graph itself
        The data.
    constraints : Constraints
        What is known; labels count by the pairs they make.
    affinity, n_neighbors : as for the estimators
        How data become a graph.

    Returns
    -------
    array of shape (n_pairs,)
        In the order of `constraints.pairs`.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut import Constraints
    >>> from sidecut.diagnostics import measure_influence
    >>> path = np.diag(np.ones(4), 1) + np.diag(np.ones(4), -1)
    >>> known = Constraints.from_pairs(5, must_link=[(0, 1)], cannot_link=[(0, 4)])
    >>> measure_influence(path, known, affinity="precomputed").round(2)
    array([2.6 , 1.79])
    """
    if constraints.is_empty:
        raise ConstraintError("nothing is known, so nothing matters: give labels or links.")
    cut = NormalizedCut(2, affinity=affinity, n_neighbors=n_neighbors)
    graph = build_graph(cut, check_data(cut, X))
    constraints.check_matches(graph.n_nodes)
    points = constraints.constrained_points
    check_amount(points)
    columns = spread_units(graph, points, np.arange(len(points)), ALPHA)
    first, second = np.searchsorted(points, constraints.pairs).T
    return share_of_belief(columns.T @ columns, first, second, constraints.strengths)


def share_of_belief(gram: FloatArray, first: IntArray, second: IntArray, strengths: FloatArray) -> FloatArray:
    """Return ‖q (P_i P_jᵀ + P_j P_iᵀ)‖ / ‖P Z P‖ for every link, from the products P_iᵀP_j.

    The square of the first is 2 q² (‖P_i‖² ‖P_j‖² + (P_iᵀP_j)²), that of the second tr(Z G Z G).
    """
    known = np.zeros_like(gram)
    known[first, second] = known[second, first] = strengths
    spread = known @ gram
    total = np.einsum("ij,ji->", spread, spread)
    squares = np.diag(gram)
    own = 2.0 * strengths**2 * (squares[first] * squares[second] + gram[first, second] ** 2)
    return np.sqrt(own / max(float(total), np.finfo(float).tiny))
