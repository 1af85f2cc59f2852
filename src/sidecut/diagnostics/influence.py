"""Leave-one-out scores of labels and links, and how much each link matters.

P = (1 - α)(I - α Ā)⁻¹ spreads labels and links over the graph, as in E2CP. A score of a label or link is what
the others spread to it; to leave one out is to leave one term out of a sum, so no refit is needed.
"""

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
from sidecut.labelling import unit_rows
from sidecut.methods import NormalizedCut
from sidecut.methods.base import build_graph
from sidecut.methods.e2cp.propagation import spread, spread_units
from sidecut.methods.task import check_data
from sidecut.spectral import laplacian_eigenpairs

#: α: nearer to one than the default of E2CP, since one label must be judged by others that may be far away.
#: Set on iris, wine, breast cancer and digits.
ALPHA = 0.95
#: Columns of P computed at a time; only their rows at the constrained points are kept.
COLUMNS_AT_ONCE = 256
#: From this many entries of P on, nodes times points, eigenvectors are deflated and single precision is used.
MIN_DEFLATED_ENTRIES = 20_000_000
#: Widths of the Gaussian kernel, in units of the median squared distance, and ridges λ that are tried.
WIDTHS, RIDGES = (0.25, 0.5, 1.0, 2.0), (0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
#: Constrained points at most: P between them is a square matrix, 3 GB.
MAX_POINTS = 20_000


def read_problem(
    X: Any, constraints: Constraints, affinity: Any, n_neighbors: int
) -> tuple[Any, Graph, IntArray]:
    """Return the checked data, their graph and the constrained points."""
    if constraints.is_empty:
        raise ConstraintError("There are no constraints to judge: give labels or links.")
    cut = NormalizedCut(2, affinity=affinity, n_neighbors=n_neighbors)
    data = check_data(cut, X)
    graph = build_graph(cut, data)
    constraints.check_matches(graph.n_nodes)
    points = constraints.constrained_points
    if len(points) > MAX_POINTS:
        raise ConstraintError(
            f"The constraints name {len(points):,} points; at most {MAX_POINTS:,} can be judged at a time. "
            "Judge a part: constraints.restricted_to(rows) and the same rows of X."
        )
    return data, graph, points


def spread_between(graph: Graph, points: IntArray, alpha: float = ALPHA) -> tuple[FloatArray, FloatArray]:
    """Return P between some points, and the sum of the column of P of each."""
    # P is symmetric, so its column sums are P applied to ones.
    given = spread(graph, np.ones(graph.n_nodes), alpha)[points]
    if sp.issparse(graph.matrix) and graph.n_nodes * len(points) >= MIN_DEFLATED_ENTRIES:
        return _between_many(graph, points, alpha), given
    between = np.empty((len(points), len(points)))
    for start in range(0, len(points), COLUMNS_AT_ONCE):
        part = slice(start, start + COLUMNS_AT_ONCE)
        between[:, part] = spread_units(graph, points[part], np.arange(len(points[part])), alpha)[points]
    return between, given


def _between_many(graph: Graph, points: IntArray, alpha: float) -> FloatArray:
    """Return P between some points: exactly on 30 eigenvectors, by an iteration on their complement."""
    pairs = laplacian_eigenpairs(graph, min(30, graph.n_nodes), random_state=0)
    inside = pairs.vectors[points]
    between = (inside * ((1.0 - alpha) / (1.0 - alpha + alpha * pairs.values))) @ inside.T
    affinity = sp.csr_array(graph.normalized.matrix, dtype=np.float32)
    vectors = pairs.vectors.astype(np.float32)
    # The largest eigenvalue of Ā on the complement.
    largest = 1.0 - float(pairs.values[-1])

    def solve(part: slice) -> npt.NDArray:
        rest: npt.NDArray = -vectors @ vectors[points[part]].T
        rest[points[part], np.arange(rest.shape[1])] += 1.0
        return _iterate(affinity, np.float32(1.0 - alpha) * rest, alpha, largest)[points]

    # 32 columns stay in the cache of a processor.
    parts = [slice(a, min(a + 32, len(points))) for a in range(0, len(points), 32)]
    for part, block in zip(parts, each_chunk(solve, parts), strict=True):
        between[:, part] += block
    # P = (1 - α) Σ αᵗ Āᵗ has no negative entries but for rounding.
    return np.maximum(0.5 * (between + between.T), 0.0)


def _iterate(affinity: sp.csr_array, block: npt.NDArray, alpha: float, largest: float) -> npt.NDArray:
    """Solve (I - α Ā) X = B by Chebyshev's iteration, for B orthogonal to eigenvalues above `largest`."""
    # The remaining eigenvalues lie between 1 - α largest and 1 + α. With their middle d and half their width
    # c, the error falls by d/c + √((d/c)² - 1) in every step (Saad, Iterative methods, section 12.3.1).
    middle, half = 1.0 + 0.5 * alpha * (1.0 - largest), 0.5 * alpha * (1.0 + largest)
    ratio = middle / half
    n_steps = int(np.ceil(np.log(2.0 / 1e-6) / np.arccosh(ratio)))
    step = block / np.float32(middle)
    solution, rest, weight = np.zeros_like(block), block.copy(), 1.0 / ratio
    for _ in range(n_steps):
        solution += step
        rest -= step - np.float32(alpha) * (affinity @ step)
        before, weight = weight, 1.0 / (2.0 * ratio - weight)
        step = np.float32(weight * before) * step + np.float32(2.0 * weight / half) * rest
    return solution


def score_labels(between: FloatArray, given: FloatArray, classes: IntArray) -> FloatArray:
    """Return the shares of the classes at every labelled point, spread from the other labels."""
    # Each class is divided by the total that its other labels spread, so a class with many labels has no
    # advantage. At the only label of a class all shares are equal: the others predict nothing.
    members = np.eye(int(classes.max()) + 1)[classes]
    others = between - np.diag(np.diag(between))
    amount = given @ members - given[:, None] * members
    scores = np.divide(others @ members, amount, out=np.zeros_like(amount), where=amount > 0)
    total = scores.sum(axis=1, keepdims=True)
    is_judged = (total > 0) & (members.sum(axis=0)[classes] > 1)[:, None]
    alike = np.full_like(scores, 1.0 / scores.shape[1])
    return np.divide(scores, total, out=alike, where=is_judged)


def embed(graph: Graph, n_classes: int) -> FloatArray:
    """Return the rows of the smallest eigenvectors, one for each class, at unit length."""
    pairs = laplacian_eigenpairs(graph, min(n_classes, graph.n_nodes), random_state=0)
    return unit_rows(pairs.vectors)


def score_labels_by_places(rows: FloatArray, classes: IntArray) -> list[FloatArray]:
    """Return the shares of the classes at every labelled point, predicted from the places of the others."""
    # One array for each width and ridge of a ridge regression with a Gaussian kernel, y = (K + 1) H Y with H
    # = (K + 1 + λI)⁻¹. The prediction of a fit without point i is Y_i - (H Y)_i / H_ii, exactly.
    members = np.eye(int(classes.max()) + 1)[classes]
    squared = euclidean_distances(rows, squared=True)
    apart = squared[squared > 0]
    unit = float(np.median(apart)) if apart.size else 1.0
    found = []
    for width in WIDTHS:
        values, vectors = np.linalg.eigh(np.exp(-squared / (width * unit)) + 1.0)
        for ridge in RIDGES:
            inverse = (vectors / (np.maximum(values, 0.0) + ridge)) @ vectors.T
            predicted = members - (inverse @ members) / np.diag(inverse)[:, None]
            found.append(softmax(4.0 * predicted, axis=1))
    return found


def score_links(between: FloatArray, first: IntArray, second: IntArray, strengths: FloatArray) -> FloatArray:
    """Return what the other links spread to every linked pair: positive for together."""
    # Each is divided by |P_i| |P_j|, the most that links of strength one could spread there.
    ends = np.concatenate([first, second]), np.concatenate([second, first])
    known = sp.csr_array((np.concatenate([strengths, strengths]), ends), shape=between.shape)
    spread = np.einsum("ij,ij->i", (known @ between[first].T).T, between[second])
    diagonal = np.diag(between)
    own = strengths * (diagonal[first] * diagonal[second] + between[first, second] ** 2)
    lengths = np.linalg.norm(between, axis=1)
    return (spread - own) / (lengths[first] * lengths[second])


def find_redundant(constraints: Constraints) -> BoolArray:
    """Mark the pairs of `constraints.pairs` that follow from the pairs before them.

    A must-link is redundant if earlier must-links join its ends; a cannot-link if an earlier one separates
    the must-linked sets of its ends. The other pairs imply all constraints.

    Parameters
    ----------
    constraints : Constraints
        The labels or links.

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
    redundant[is_must] = _closing_edges(pairs[is_must], constraints.n_samples)
    sets = constraints.must_link_components()
    between = np.sort(sets[pairs[~is_must]], axis=1)
    first = np.unique(between, axis=0, return_index=True)[1]
    repeated = np.ones(len(between), dtype=bool)
    repeated[first] = False
    redundant[~is_must] = repeated
    return redundant


def _closing_edges(pairs: IntArray, n_samples: int) -> BoolArray:
    """Mark the edges whose ends earlier edges join."""
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
    """Return the influence of each pair of `constraints.pairs` on the propagated constraints.

    The propagated constraints are F = P Z P (eq. 3 of E2CP). The link (i, j) of strength q adds
    q (P_i P_jᵀ + P_j P_iᵀ) to F, where P_i is a column of P. Its influence is the norm of that term over the
    norm of F. It is exact, since F is linear in Z, and above one where links cancel. See `find_redundant` for
    links that follow from others by logic alone.

    Parameters
    ----------
    X : array, sparse matrix or data frame; with affinity="precomputed" the graph itself
        The data.
    constraints : Constraints
        The links; labels count by the pairs they make.
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
    _, graph, points = read_problem(X, constraints, affinity, n_neighbors)
    columns = spread_units(graph, points, np.arange(len(points)), ALPHA)
    first, second = np.searchsorted(points, constraints.pairs).T
    gram, strengths = columns.T @ columns, constraints.strengths
    links = np.zeros_like(gram)
    links[first, second] = links[second, first] = strengths
    # ‖F‖² = tr(Z G Z G) with G = PᵀP; a link's term has the square 2 q² (‖P_i‖² ‖P_j‖² + (P_iᵀP_j)²).
    spread = links @ gram
    total = np.einsum("ij,ji->", spread, spread)
    squares = np.diag(gram)
    own = 2.0 * strengths**2 * (squares[first] * squares[second] + gram[first, second] ** 2)
    return np.sqrt(own / max(float(total), np.finfo(float).tiny))
