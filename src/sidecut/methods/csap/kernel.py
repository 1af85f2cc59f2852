"""The covariance of a Gaussian process after links were observed (Lu & Carreira-Perpiñán, 2008, eqs. 2-8).

A must-link observes f_i - f_j, a cannot-link f_i + f_j, each with noise of variance ε². Conditioned on them,
the covariance K becomes K̄ = (K⁻¹ + M)⁻¹ with M = Σ a aᵀ / ε² (eq. 3), where a = e_i - e_j or e_i + e_j.
Everything here uses the form K̄ = K - K E (EᵀKE + diag ε²)⁻¹ EᵀK, whose matrices are as small as the links
are few, and never K⁻¹: kernels that are smooth have none in floating point.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.linalg import LinAlgError, cholesky, eigh, solve_triangular

from sidecut.arrays import FloatArray, IntArray

#: No observation is taken as more exact than this share of the largest variance: beyond, it is rounding.
SHARPEST = 1e-13
#: Eigenvalues of M below this share of the largest are zero: the links say nothing in that direction.
NEGLIGIBLE = 1e-12


@dataclass(frozen=True)
class Observations:
    """Linear observations aᵀf = 0, each with some variance, of a Gaussian process at c points.

    Parameters
    ----------
    directions : array of shape (c, n_observations)
        The vectors a, one a column.
    variances : array of shape (n_observations,)
        ε² of each.
    """

    directions: FloatArray
    variances: FloatArray

    @property
    def size(self) -> int:
        """How many there are."""
        return int(self.variances.size)

    def thin_directions(self) -> Any:
        """The directions as a sparse array where most entries are zero, as those of single links are."""
        share = np.count_nonzero(self.directions) / max(self.directions.size, 1)
        return sp.csc_array(self.directions) if share < 0.1 else self.directions

    def covariance(self, kernel: FloatArray) -> FloatArray:
        """Return EᵀKE, the covariance of what is observed, K being the kernel at the c points."""
        return self.directions.T @ kernel @ self.directions


def observe_links(
    n_points: int, pairs: npt.ArrayLike, eps: float | FloatArray, sign: int, merge: bool = True
) -> Observations:
    """Return what links observe: e_i - e_j for must-links (sign -1), e_i + e_j for cannot-links (sign 1).

    More links than points are merged: M = Σ a aᵀ / ε² is a matrix on the points, and its eigenvectors, with
    variances one over its eigenvalues, are observations that say exactly the same. Labels of c points are so
    c observations and not c².

    Parameters
    ----------
    n_points : int
        Number of points.
    pairs : array of shape (n_links, 2)
        The links.
    eps : float or array of shape (n_links,)
        ε, one for all or one each.
    sign : {-1, 1}
        Must-links or cannot-links.
    merge : bool, default=True
        Merge where links outnumber points.

    Examples
    --------
    >>> from sidecut.methods.csap.kernel import observe_links
    >>> observe_links(3, [(0, 2)], 0.1, sign=-1).directions.ravel()
    array([ 1.,  0., -1.])
    >>> observe_links(3, [(0, 1), (0, 2), (1, 2)], 1.0, sign=-1).size
    3
    >>> observe_links(3, [(0, 1), (0, 2), (1, 2), (1, 2)], 1.0, sign=-1).variances.round(6)
    array([0.333333, 0.2     ])
    """
    ends = np.asarray(pairs, dtype=np.intp).reshape(-1, 2)
    variances = np.broadcast_to(np.square(np.asarray(eps, dtype=np.float64)), len(ends)).copy()
    if merge and len(ends) > n_points:
        return _merge(n_points, ends, variances, sign)
    directions = np.zeros((n_points, len(ends)))
    links = np.arange(len(ends))
    directions[ends[:, 0], links] = 1.0
    directions[ends[:, 1], links] = sign
    return Observations(directions, variances)


def _merge(n_points: int, ends: IntArray, variances: FloatArray, sign: int) -> Observations:
    """Return the eigenvectors of M that are not zero, as observations."""
    # Relative to the smallest variance, so that the smallest ε there is cannot overflow.
    unit = variances.min()
    weights = unit / variances
    M = np.zeros((n_points, n_points))
    np.add.at(M, (ends[:, 0], ends[:, 1]), sign * weights)
    M += M.T
    M[np.diag_indices(n_points)] = np.bincount(ends.ravel(), np.repeat(weights, 2), minlength=n_points)
    values, vectors = eigh(M)
    kept = values > NEGLIGIBLE * values[-1]
    return Observations(vectors[:, kept], unit / values[kept])


def spent_factor(columns: Any, points: IntArray, seen: Observations) -> FloatArray:
    """Return F with K̄ = K - F Fᵀ: what observations at some points take from the covariance (eq. 2).

    Parameters
    ----------
    columns : dense or sparse array of shape (n, c)
        The columns of K at the observed points.
    points : array of shape (c,)
        Which points these are.
    seen : Observations
        On these points.

    Returns
    -------
    array of shape (n, n_observations)
        F = K E R⁻¹ with RᵀR = EᵀKE + diag ε².

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.methods.csap.kernel import observe_links, spent_factor
    >>> K = np.eye(2)
    >>> F = spent_factor(K, np.array([0, 1]), observe_links(2, [(0, 1)], eps=1e-5, sign=-1))
    >>> (K - F @ F.T).round(6)
    array([[0.5, 0.5],
           [0.5, 0.5]])
    """
    directions = seen.thin_directions()
    carried = columns @ directions
    covariance = directions.T @ carried[points]
    if sp.issparse(carried):
        carried, covariance = carried.toarray(), covariance.toarray()
    covariance = 0.5 * (covariance + covariance.T)
    noise = _floor(seen.variances, columns, points)
    covariance[np.diag_indices_from(covariance)] += noise
    try:
        root = cholesky(covariance, lower=True)
    except LinAlgError:
        # Rounding in K can exceed the smallest noise; eigenvalues are then held at that noise.
        values, vectors = eigh(covariance)
        return carried @ (vectors / np.sqrt(np.maximum(values, noise.min())))
    return solve_triangular(root, carried.T, lower=True).T


def rival_updates(
    columns: Any, points: IntArray, seen: Observations, spent: FloatArray | None = None
) -> FloatArray:
    """Return u_k with K - u_k u_kᵀ the covariance after the k-th observation alone (Algorithm B, step 1b).

    Parameters
    ----------
    columns, points, seen
        As in `spent_factor`.
    spent : array of shape (n, rank), optional
        F, if other observations came before and left K - F Fᵀ.

    Returns
    -------
    array of shape (n, n_observations)
        The u_k, one a column.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.methods.csap.kernel import observe_links, rival_updates
    >>> two = observe_links(3, [(0, 1), (1, 2)], eps=1e-5, sign=1)
    >>> rival_updates(np.eye(3), np.arange(3), two).round(4)
    array([[0.7071, 0.    ],
           [0.7071, 0.7071],
           [0.    , 0.7071]])
    """
    directions = seen.thin_directions()
    carried = columns @ directions
    carried = carried.toarray() if sp.issparse(carried) else np.asarray(carried)
    if spent is not None:
        carried -= spent @ (directions.T @ spent[points]).T
    own = np.einsum("pk,pk->k", seen.directions, carried[points])
    return carried / np.sqrt(np.maximum(own, 0.0) + _floor(seen.variances, columns, points))


def _floor(variances: FloatArray, columns: Any, points: IntArray) -> FloatArray:
    """Return the variances, none below what floating point can tell from zero beside K."""
    largest = columns[points].diagonal().max(initial=0.0)
    return np.maximum(variances, SHARPEST * largest)


def condition_kernel(
    K: npt.ArrayLike,
    must_link: npt.ArrayLike = (),
    cannot_link: npt.ArrayLike = (),
    eps_must: float | FloatArray = 1e-5,
    eps_cannot: float | FloatArray = 1e-5,
) -> FloatArray:
    """Return K̄ = (K⁻¹ + M)⁻¹, the covariance once all links are observed (eqs. 2 and 3).

    Parameters
    ----------
    K : array of shape (n, n)
        A positive semidefinite kernel.
    must_link, cannot_link : arrays of shape (m, 2)
        The links; each counts as often as it is listed.
    eps_must, eps_cannot : float or array of shape (m,), default=1e-5
        ε_m and ε_c, the standard deviation of the noise: small is hard.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.methods.csap.kernel import condition_kernel
    >>> condition_kernel(np.eye(3), must_link=[(0, 1)], cannot_link=[(1, 2)]).round(4)
    array([[ 0.3333,  0.3333, -0.3333],
           [ 0.3333,  0.3333, -0.3333],
           [-0.3333, -0.3333,  0.3333]])
    """
    K = np.asarray(K, dtype=np.float64)
    must = observe_links(len(K), must_link, eps_must, sign=-1)
    cannot = observe_links(len(K), cannot_link, eps_cannot, sign=1)
    both = join_points(must, cannot)
    factor = spent_factor(K, np.arange(len(K)), both)
    return K - factor @ factor.T


def join_points(first: Observations, second: Observations) -> Observations:
    """Return the observations of both."""
    return Observations(
        np.hstack([first.directions, second.directions]), np.concatenate([first.variances, second.variances])
    )


def equivalent_kernel(K: npt.ArrayLike, link: tuple[int, int], kind: str, eps: float = 0.0) -> FloatArray:
    """Return the kernel that one link makes of K, in closed form (eqs. 6 to 8 and table 1).

    A hard must-link between points 1 and 2 makes K'_ij = K_ij - (K_i1 - K_i2)(K_j1 - K_j2) / (2(1 - K_12)),
    a hard cannot-link the same with plus signs; a soft one the average of K and K' that weighs K by ε². The
    kernel is taken with any diagonal, so 2(1 ∓ K_12) reads K_11 + K_22 ∓ 2K_12; ε is that of eq. 3 (the
    paper's eqs. 6 and 7, which follow eq. 5, hold with ε / √2).

    Parameters
    ----------
    K : array of shape (n, n)
        The kernel.
    link : tuple of two ints
        The points linked.
    kind : {"must", "cannot"}
        What links them.
    eps : float, default=0.0
        ε; zero is the hard link.

    Returns
    -------
    array of shape (n, n)
        The equivalent kernel; K itself where the link says what K already knows (a must-link between points
        that K cannot tell apart).

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.methods.csap.kernel import equivalent_kernel
    >>> equivalent_kernel(np.eye(3), (0, 1), "must")
    array([[0.5, 0.5, 0. ],
           [0.5, 0.5, 0. ],
           [0. , 0. , 1. ]])
    >>> equivalent_kernel(np.eye(3), (0, 1), "cannot")
    array([[ 0.5, -0.5,  0. ],
           [-0.5,  0.5,  0. ],
           [ 0. ,  0. ,  1. ]])
    """
    if kind not in ("must", "cannot"):
        raise ValueError(f"kind={kind!r}: choose 'must' or 'cannot'.")
    if not eps >= 0:
        raise ValueError(f"eps={eps!r}: the noise of a link is not negative.")
    K = np.asarray(K, dtype=np.float64)
    first, second = link
    sign = -1.0 if kind == "must" else 1.0
    update = K[:, first] + sign * K[:, second]
    variance = update[first] + sign * update[second]
    if variance + eps**2 <= 0:
        return K.copy()
    return K - np.outer(update, update) / (variance + eps**2)
