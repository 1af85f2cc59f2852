"""A small convex programme: a sum of squares of a symmetric matrix, over the positive semidefinite cone."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, eigsh

from sidecut.arrays import FloatArray, IntArray
from sidecut.exceptions import ProgrammeError, ProgrammeWarning, warn

if TYPE_CHECKING:
    import clarabel

#: What the solver is asked for; the projected gradient that may be left without a warning.
SOLVER_TOLERANCE = 1e-10
STATIONARITY_TOLERANCE = 1e-4
#: Matrices of more rows are found by projected gradients: an interior point has a system in all p unknowns to
#: solve, p = m (m + 1) / 2, which takes p³ time and p² memory several times over.
INTERIOR_POINT_ROWS = 24
#: Projected gradients stop when a step, in units of its length, is below this share of M, or after so many.
GRADIENT_TOLERANCE = 1e-10
GRADIENT_STEPS = 20_000
#: If more than one in so many pairs of linked points is a link, all their products are computed at once.
DENSE_SHARE = 20
#: How many pairs of rows are multiplied at a time.
PAIRS_HELD = 20_000


@dataclass(frozen=True)
class ProgrammeSolution:
    """The minimiser of a `KernelProgramme`, and how near to one it is.

    Attributes
    ----------
    matrix : array of shape (m, m)
        M, symmetric and positive semidefinite.
    objective : float
        J(M), with all that was put into the programme: for `CCSR` the weighted mean of squares that is left
        and the pull of the ridge.
    stationarity : float
        The length of M - Π(M - ∇J(M)), with Π the projection on the cone: 0 at the minimum and nowhere else.
    status : str
        What the solver says of its answer: "Solved" or "AlmostSolved".
    n_iterations : int
        How many steps it took.
    """

    matrix: FloatArray
    objective: float
    stationarity: float
    status: str
    n_iterations: int


@dataclass(frozen=True)
class KernelProgramme:
    """Minimise J(M) = xᵀ H x - 2 gᵀ x + c over symmetric M ⪰ 0, with x = svec(M).

    Sums of squares (⟨A, M⟩ - t)² have this form, with H the sum of svec(A) svec(A)ᵀ; how many there are does
    not show in its size. Programmes of the same size can be added and weighed.

    Parameters
    ----------
    hessian : array of shape (p, p) or FactoredHessian
        H, positive semidefinite; p = m (m + 1) / 2.
    linear : array of shape (p,)
        The vector g.
    constant : float
        The value at M = 0.
    """

    hessian: Any
    linear: FloatArray
    constant: float

    @property
    def size(self) -> int:
        """The number of rows of M."""
        return matrix_size(self.linear.size)

    def __add__(self, other: KernelProgramme) -> KernelProgramme:
        return KernelProgramme(
            self.hessian + other.hessian, self.linear + other.linear, self.constant + other.constant
        )

    def scaled(self, factor: float) -> KernelProgramme:
        """Return the programme with every square weighed by `factor`."""
        return KernelProgramme(factor * self.hessian, factor * self.linear, factor * self.constant)

    def with_ridge(self, strength: float, target: FloatArray) -> KernelProgramme:
        """Return the programme with a pull of the given strength towards a matrix, as one more square.

        `strength` is relative to the mean curvature, tr(H) / p: at 1 the pull is as strong as all the squares
        together in a direction of average curvature.
        """
        pull = strength * float(np.trace(self.hessian)) / self.linear.size
        x = svec(target)
        hessian = self.hessian + pull * np.eye(x.size)
        return replace(
            self,
            hessian=hessian,
            linear=self.linear + pull * x,
            constant=self.constant + pull * float(x @ x),
        )

    def objective(self, matrix: FloatArray) -> float:
        """Return J(M)."""
        x = svec(matrix)
        return float(x @ (self.hessian @ x) - 2.0 * self.linear @ x + self.constant)

    def gradient(self, matrix: FloatArray) -> FloatArray:
        """Return ∇J(M), a symmetric matrix."""
        return smat(2.0 * (self.hessian @ svec(matrix) - self.linear))

    def stationarity(self, matrix: FloatArray) -> float:
        """Return the length of M - Π(M - ∇J(M)): how far M is from where the minimum's conditions hold."""
        return float(np.linalg.norm(matrix - nearest_semidefinite(matrix - self.gradient(matrix))))

    def solve(self) -> ProgrammeSolution:
        """Return the minimiser, by an interior-point method (Clarabel) or, where M is large, by gradients.

        Raises
        ------
        ProgrammeError
            If the solver gives up.

        Warns
        -----
        ProgrammeWarning
            If its answer is less exact than it was asked to be.

        Examples
        --------
        With one row, (M - 2)² is least at 2 and (M + 2)² at the edge of the cone, 0:

        >>> import numpy as np
        >>> from sidecut.methods.ccsr.program import KernelProgramme
        >>> one = np.ones((1, 1))
        >>> KernelProgramme(one, np.array([2.0]), 4.0).solve().matrix.round(6)
        array([[2.]])
        >>> KernelProgramme(one, np.array([-2.0]), 4.0).solve().matrix.round(6) + 0.0
        array([[0.]])
        """
        if self.size > INTERIOR_POINT_ROWS:
            return self._solve_by_gradients()
        answer = self._run_solver()
        if str(answer.status) not in ("Solved", "AlmostSolved"):
            raise ProgrammeError(
                f"the semidefinite programme for a matrix of {self.size} rows ended as {answer.status} after "
                f"{answer.iterations} steps; use fewer eigenvectors, or a larger ridge."
            )
        return self._checked(np.array(answer.x), str(answer.status), int(answer.iterations))

    def _checked(self, x: FloatArray, status: str, n_iterations: int) -> ProgrammeSolution:
        """Return the answer of a solver with the measure of how exact it is, and warn if it is not."""
        matrix = nearest_semidefinite(smat(x))
        stationarity = self.stationarity(matrix)
        if stationarity > STATIONARITY_TOLERANCE * (1.0 + float(np.linalg.norm(matrix))):
            warn(
                f"the semidefinite programme for a matrix of {self.size} rows ended as {status} with "
                f"a projected gradient of {stationarity:.1e}: its answer may be inexact. Use fewer "
                "eigenvectors, or a larger ridge.",
                ProgrammeWarning,
            )
        return ProgrammeSolution(matrix, self.objective(matrix), stationarity, status, n_iterations)

    def _solve_by_gradients(self) -> ProgrammeSolution:
        """Take projected gradient steps with momentum, begun again where it points uphill.

        The method of Beck and Teboulle (2009) with the restarts of O'Donoghue and Candès (2015): a step costs
        a product with H and the eigenvalues of an m by m matrix.
        """
        # The largest eigenvalue to a thousandth, and a hundredth more, so that it is a bound.
        n_unknowns = self.linear.size
        operator = LinearOperator((n_unknowns,) * 2, matvec=lambda x: self.hessian @ x, dtype=np.float64)
        top = eigsh(operator, 1, which="LA", tol=1e-3, v0=np.ones(n_unknowns), return_eigenvectors=False)
        length = 0.5 / max(1.01 * float(top[0]), np.finfo(np.float64).tiny)
        now = ahead = np.zeros(n_unknowns)
        momentum, n_steps, is_done = 1.0, 0, False
        while not is_done and n_steps < GRADIENT_STEPS:
            n_steps += 1
            slope = 2.0 * (self.hessian @ ahead - self.linear)
            after = svec(nearest_semidefinite(smat(ahead - length * slope)))
            is_done = bool(np.linalg.norm(after - ahead) <= GRADIENT_TOLERANCE * np.linalg.norm(after))
            following = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * momentum**2))
            if (ahead - after) @ (after - now) > 0:
                following, momentum = 1.0, 1.0
            ahead = after + (momentum - 1.0) / following * (after - now)
            now, momentum = after, following
        return self._checked(now, "Solved" if is_done else "AlmostSolved", n_steps)

    def _run_solver(self) -> clarabel.DefaultSolution:
        import clarabel

        settings = clarabel.DefaultSettings()
        settings.verbose = False
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = SOLVER_TOLERANCE
        n_unknowns = self.linear.size
        # The solver's form: minimise ½ xᵀPx + qᵀx where b - A x lies in the cone, so that A = -I, b = 0.
        return clarabel.DefaultSolver(
            sp.csc_matrix(np.triu(2.0 * self.hessian)),
            -2.0 * self.linear,
            sp.csc_matrix(-sp.eye_array(n_unknowns)),
            np.zeros(n_unknowns),
            [clarabel.PSDTriangleConeT(self.size)],
            settings,
        ).solve()


@dataclass(frozen=True)
class FactoredHessian:
    """H of the squares of points and pairs, which is only ever applied: it would have m⁴ / 4 entries.

    With K = F M Fᵀ, H svec(M) is svec of Σ_i K_ii f_i f_iᵀ + Σ_{i<j} |Q_ij| K_ij (f_i f_jᵀ + f_j f_iᵀ) / 2.

    Attributes
    ----------
    features : array of shape (n, m)
        The rows f_i of all points.
    linked : array of shape (c, m)
        The rows of the points that are in a pair.
    pairs : array of shape (l, 2)
        Pairs of rows of `linked`.
    strengths : array of shape (l,)
        |Q_ij| of every pair.
    factor : float, default=1.0
        All squares are weighed by it.
    pull : float, default=0.0
        What is added to the diagonal.
    """

    features: FloatArray
    linked: FloatArray
    pairs: IntArray
    strengths: FloatArray
    factor: float = 1.0
    pull: float = 0.0

    def __matmul__(self, x: FloatArray) -> FloatArray:
        """Return H @ x."""
        matrix = smat(x)
        F, R = self.features, self.linked
        lengths = np.einsum("ij,ij->i", F @ matrix, F)
        image = F.T @ (lengths[:, None] * F)
        beliefs = self._spread(self.strengths * self._between(R @ matrix, R))
        image += 0.5 * R.T @ (beliefs @ R + beliefs.T @ R)
        return self.factor * svec(image) + self.pull * x

    def trace(self) -> float:
        """Return tr(H), without factor and pull."""
        F, R = self.features, self.linked
        norms, linked_norms = np.einsum("ij,ij->i", F, F), np.einsum("ij,ij->i", R, R)
        first, second = self.pairs.T
        squares = linked_norms[first] * linked_norms[second] + self._between(R, R) ** 2
        return float(norms @ norms + 0.5 * self.strengths @ squares)

    def _between(self, left: FloatArray, right: FloatArray) -> FloatArray:
        """Return the inner product of every pair of rows."""
        first, second = self.pairs.T
        if DENSE_SHARE * first.size > len(left) ** 2:
            # Labels: nearly every two points are a pair.
            return np.asarray((left @ right.T)[first, second])
        result = np.empty(first.size)
        for start in range(0, first.size, PAIRS_HELD):
            some = slice(start, start + PAIRS_HELD)
            result[some] = np.einsum("ij,ij->i", left[first[some]], right[second[some]])
        return result

    def _spread(self, values: FloatArray) -> sp.csr_array:
        """Return the matrix that holds a value on every pair."""
        first, second = self.pairs.T
        return sp.csr_array((values, (first, second)), shape=(len(self.linked),) * 2)


def upper_triangle(size: int) -> tuple[IntArray, IntArray]:
    """Return the rows and columns of the upper triangle, column by column, the order of `svec`."""
    columns, rows = np.tril_indices(size)
    return rows, columns


def matrix_size(n_unknowns: int) -> int:
    """Return m where `n_unknowns` = m (m + 1) / 2."""
    return (int(np.sqrt(8 * n_unknowns + 1)) - 1) // 2


def svec(matrix: FloatArray) -> FloatArray:
    """Return the upper triangle as a vector, off-diagonals times √2, so that svec(A)ᵀ svec(B) = tr(AB).

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.methods.ccsr.program import svec
    >>> svec(np.array([[1.0, 2.0], [2.0, 3.0]])).round(4)
    array([1.    , 2.8284, 3.    ])
    """
    rows, columns = upper_triangle(len(matrix))
    return np.where(rows == columns, 1.0, np.sqrt(2.0)) * matrix[rows, columns]


def smat(vector: FloatArray) -> FloatArray:
    """Return the symmetric matrix that `svec` turns into `vector`."""
    size = matrix_size(vector.size)
    rows, columns = upper_triangle(size)
    matrix = np.empty((size, size))
    matrix[rows, columns] = matrix[columns, rows] = np.where(rows == columns, 1.0, np.sqrt(0.5)) * vector
    return matrix


def nearest_semidefinite(matrix: FloatArray) -> FloatArray:
    """Return the positive semidefinite matrix nearest to a symmetric one: negative eigenvalues become 0."""
    values, vectors = np.linalg.eigh(matrix)
    return (vectors * np.maximum(values, 0.0)) @ vectors.T
