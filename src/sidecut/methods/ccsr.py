"""CCSR, constrained clustering via spectral regularisation (Li, Liu & Tang, 2009)."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, eigsh
from sklearn.utils import gen_batches

from sidecut.checks import FloatArray, IntArray, Rule, check_count, check_not_negative, optional
from sidecut.constraints import Constraints
from sidecut.exceptions import SolverError, SolverWarning, warn
from sidecut.graphs import Graph, warn_about_graph
from sidecut.labelling import assign_labels, unit_rows
from sidecut.methods.base import SpectralClusterer, TakesConstraints, documented
from sidecut.methods.cut import cut
from sidecut.methods.task import Answer, Task
from sidecut.running import stage
from sidecut.spectral import Eigenpairs, laplacian_eigenpairs

#: Matrices of more rows are found by projected gradients: an interior-point method solves systems in all
#: p = m (m + 1) / 2 unknowns, which takes p³ time and p² memory several times over.
MAX_INTERIOR_POINT_ROWS = 24
#: With more eigenvectors the Hessian of the programme, m⁴ / 4 numbers, is applied and not formed (32 MB).
MAX_FORMED_ROWS = 62
#: With more points the eigenvectors beyond the first K, which lie close together, are computed roughly.
MAX_EXACT_POINTS = 5_000


@dataclass(frozen=True)
class ProgrammeSolution:
    """The minimiser of a `KernelProgramme`, and how near to one it is."""

    matrix: FloatArray
    objective: float
    stationarity: float
    status: str
    n_iterations: int


@dataclass(frozen=True)
class KernelProgramme:
    """Minimise J(M) = xᵀ H x - 2 gᵀ x + c over symmetric M ⪰ 0, with x = svec(M)."""

    # Sums of squares (⟨A, M⟩ - t)² have this form, with H the sum of svec(A) svec(A)ᵀ; how many there are
    # does not show in its size. Programmes of the same size can be added and weighed.

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
        """Return the programme with a pull of the given strength towards a matrix, as one more square."""
        # `strength` is relative to the mean curvature, tr(H) / p: at 1 the pull is as strong as all the
        # squares together in a direction of average curvature.
        pull = strength * float(np.trace(self.hessian)) / self.linear.size
        x = svec(target)
        hessian = self.hessian + pull * np.eye(x.size)
        return replace(
            self, hessian=hessian, linear=self.linear + pull * x, constant=self.constant + pull * float(x @ x)
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
        """Return the minimiser, by an interior-point method (Clarabel) or, where M is large, by gradients."""
        if self.size > MAX_INTERIOR_POINT_ROWS:
            return self._solve_by_gradients()
        import clarabel

        settings = clarabel.DefaultSettings()
        settings.verbose = False
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-10
        n_unknowns = self.linear.size
        # The solver's form: minimise ½ xᵀPx + qᵀx where b - A x lies in the cone, so that A = -I, b = 0.
        answer = clarabel.DefaultSolver(
            sp.csc_matrix(np.triu(2.0 * self.hessian)),
            -2.0 * self.linear,
            sp.csc_matrix(-sp.eye_array(n_unknowns)),
            np.zeros(n_unknowns),
            [clarabel.PSDTriangleConeT(self.size)],
            settings,
        ).solve()
        if str(answer.status) not in ("Solved", "AlmostSolved"):
            raise SolverError(
                f"the semidefinite programme for a matrix of {self.size} rows ended as {answer.status} after "
                f"{answer.iterations} steps; use fewer eigenvectors, or a larger ridge."
            )
        return self._checked(np.array(answer.x), str(answer.status), int(answer.iterations))

    def _checked(self, x: FloatArray, status: str, n_iterations: int) -> ProgrammeSolution:
        """Return the answer of a solver with its projected gradient, and warn if that is large."""
        matrix = nearest_semidefinite(smat(x))
        stationarity = self.stationarity(matrix)
        if stationarity > 1e-4 * (1.0 + float(np.linalg.norm(matrix))):
            warn(
                f"the semidefinite programme for a matrix of {self.size} rows ended as {status} with "
                f"a projected gradient of {stationarity:.1e}: its answer may be inexact. Use fewer "
                "eigenvectors, or a larger ridge.",
                SolverWarning,
            )
        return ProgrammeSolution(matrix, self.objective(matrix), stationarity, status, n_iterations)

    def _solve_by_gradients(self) -> ProgrammeSolution:
        """Take projected gradient steps with momentum, restarted where it points uphill."""
        # The method of Beck and Teboulle (2009) with the restarts of O'Donoghue and Candès (2015): a step
        # costs a product with H and the eigenvalues of an m by m matrix.
        # The largest eigenvalue to a thousandth, and a hundredth more, so that it is a bound.
        n_unknowns = self.linear.size
        operator = LinearOperator((n_unknowns,) * 2, matvec=lambda x: self.hessian @ x, dtype=np.float64)
        top = eigsh(operator, 1, which="LA", tol=1e-3, v0=np.ones(n_unknowns), return_eigenvectors=False)
        length = 0.5 / max(1.01 * float(top[0]), np.finfo(np.float64).tiny)
        now = ahead = np.zeros(n_unknowns)
        momentum, n_steps, is_done = 1.0, 0, False
        while not is_done and n_steps < 20_000:
            n_steps += 1
            slope = 2.0 * (self.hessian @ ahead - self.linear)
            after = svec(nearest_semidefinite(smat(ahead - length * slope)))
            is_done = bool(np.linalg.norm(after - ahead) <= 1e-10 * np.linalg.norm(after))
            following = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * momentum**2))
            if (ahead - after) @ (after - now) > 0:
                following, momentum = 1.0, 1.0
            ahead = after + (momentum - 1.0) / following * (after - now)
            now, momentum = after, following
        return self._checked(now, "Solved" if is_done else "AlmostSolved", n_steps)


@dataclass(frozen=True)
class FactoredHessian:
    """H of the squares of points and pairs, which is only ever applied: it would have m⁴ / 4 entries."""

    # With K = F M Fᵀ, H svec(M) is svec of Σ_i K_ii f_i f_iᵀ + Σ_{i<j} |Q_ij| K_ij (f_i f_jᵀ + f_j f_iᵀ) / 2.

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
        values = self.strengths * self._between(R @ matrix, R)
        pairs = sp.csr_array((values, tuple(self.pairs.T)), shape=(len(R),) * 2)
        image += 0.5 * R.T @ (pairs @ R + pairs.T @ R)
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
        if 20 * first.size > len(left) ** 2:
            # Labels: nearly every two points are a pair, and one product of matrices is faster.
            return np.asarray((left @ right.T)[first, second])
        result = np.empty(first.size)
        for some in gen_batches(first.size, 20_000):
            result[some] = np.einsum("ij,ij->i", left[first[some]], right[second[some]])
        return result


def upper_triangle(size: int) -> tuple[IntArray, IntArray]:
    """Return the rows and columns of the upper triangle, column by column, the order of `svec`."""
    columns, rows = np.tril_indices(size)
    return rows, columns


def matrix_size(n_unknowns: int) -> int:
    """Return m where `n_unknowns` = m (m + 1) / 2."""
    return (int(np.sqrt(8 * n_unknowns + 1)) - 1) // 2


def svec(matrix: FloatArray) -> FloatArray:
    """Return the upper triangle as a vector, off-diagonals times √2, so that svec(A)ᵀ svec(B) = tr(AB)."""
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


def point_squares(features: FloatArray) -> KernelProgramme:
    """Return Σ_i (f_iᵀ M f_i - 1)² as a programme for M: every point should have length one."""
    n_points, size = features.shape
    n_unknowns = size * (size + 1) // 2
    squares = KernelProgramme(np.zeros((n_unknowns, n_unknowns)), np.zeros(n_unknowns), 0.0)
    # Of many points the eigenvectors are rough; their products need no more than single precision.
    features = features.astype(np.float32 if n_points > MAX_EXACT_POINTS else np.float64)
    scale = svec(np.ones((size, size))).astype(features.dtype)
    for part in gen_batches(n_points, 8_192):
        lifted = _products(features[part]) * scale
        moments = (lifted.T @ lifted).astype(np.float64)
        squares += KernelProgramme(moments, lifted.sum(axis=0, dtype=np.float64), float(len(lifted)))
    return squares


def link_squares(features: FloatArray, constraints: Constraints) -> KernelProgramme:
    """Return Σ_{i<j} |Q_ij| (f_iᵀ M f_j - t_ij)² as a programme for M; t_ij is 1 on must-links, else 0."""
    # Pairs are never listed. With z_i = f_i ⊗ f_i, the coefficient of M_ar M_bs is the sum over pairs of
    # |Q_ij| f_ia f_ib f_jr f_js, an entry of Zᵀ |Q| Z; and |Q| is only ever applied to a block, which costs
    # the labels of c points O(c).
    Q, points = constraints.with_diagonal(0.0).restricted()
    together = Q.must_part()
    rows = features[points]
    products = _products(rows)
    # |Q| = 2 max(Q, 0) - Q; every pair enters the sums twice, as (i, j) and as (j, i).
    strength = 2.0 * together.apply(products) - Q.apply(products)
    return KernelProgramme(
        _pair(0.5 * products.T @ strength, features.shape[1]),
        svec(0.5 * rows.T @ together.apply(rows)),
        0.5 * together.total(),
    )


def _products(rows: FloatArray) -> FloatArray:
    """Return f_a f_b for every row and every place (a, b) of the upper triangle."""
    first, second = upper_triangle(rows.shape[1])
    return rows[:, first] * rows[:, second]


def _pair(moments: FloatArray, size: int) -> FloatArray:
    """Turn Σ |Q_ij| f_ia f_ib f_jr f_js from places (ab, rs) to places (ar, bs), in the scale of svec."""
    first, second = upper_triangle(size)
    place = np.empty((size, size), dtype=np.intp)
    place[first, second] = place[second, first] = np.arange(len(first))
    # With u = ar and v = bs, the two orders of each place are averaged: M is symmetric.
    a, r = first[:, None], second[:, None]
    b, s = first[None, :], second[None, :]
    averaged = 0.5 * (moments[place[a, b], place[r, s]] + moments[place[a, s], place[r, b]])
    averaged = 0.5 * (averaged + averaged.T)
    scale = svec(np.ones((size, size)))
    return scale[:, None] * averaged * scale


@documented
@dataclass(eq=False, repr=False)
class CCSR(TakesConstraints, SpectralClusterer):
    """Constrained clustering via spectral regularisation (Li, Liu & Tang, 2009).

    The first m eigenvectors F of the graph are adapted to the links: K = F M Fᵀ should be 1 on must-links, 0
    on cannot-links and 1 on the diagonal, as nearly as any M ⪰ 0 allows. That is a semidefinite programme
    whose size depends on m alone. The rows of F M^{1/2} are clustered. Links reach all points through F, and
    none of them alone can do much harm.

    Parameters
    ----------
    {n_clusters}
    n_eigenvectors : int or None, default=None
        m. None is 15, as in the paper, or five more than there are clusters if that is more.
    ridge : float, default=0.5
        How strongly M is pulled towards the normalised cut's own, 1 on the first `n_clusters` eigenvectors
        and 0 on the others, relative to the mean curvature of the squares. 0 is the paper's programme, which
        a few links hardly determine.
    {graph}
    {rows}
    {constraints}
    {all}

    Attributes
    ----------
    {labels_}
    embedding_ : array of shape (n_samples, n_eigenvectors)
        F M^{1/2}, what was handed to the labelling; without constraints the normalised cut's.
    programme_ : ProgrammeSolution
        M, the mean square that is left with the pull of the ridge, and how exactly the programme was solved;
        only with constraints.
    eigenvalues_, eigenvectors_ : arrays of shape (n_eigenvectors,) and (n_samples, n_eigenvectors)
        Of the normalised Laplacian, smallest first, before any scaling.
    {cut_graph}
    {results}

    See Also
    --------
    NCSC : Links as penalties on indicators.
    E2CP : Propagates constraints over the graph.

    References
    ----------
    Z. Li, J. Liu, X. Tang: Constrained clustering via spectral regularization. CVPR 2009.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sidecut import CCSR
    >>> from sidecut.constraints import sample_labels
    >>> X, y = load_iris(return_X_y=True)
    >>> known = sample_labels(y, 30, random_state=0)
    >>> model = CCSR(n_clusters=3, random_state=0).fit(X, constraints=known)
    >>> known.satisfaction(model.labels_) > 0.9
    True
    >>> model.programme_.status, model.programme_.matrix.shape
    ('Solved', (15, 15))
    """

    _: KW_ONLY
    n_eigenvectors: int | None = None
    ridge: float = 0.5
    published: ClassVar[dict[str, Any]] = {
        "safe": False,
        "n_eigenvectors": 15,
        "ridge": 0.0,
        "unit_rows": False,
    }
    rules: ClassVar[dict[str, Rule]] = {"n_eigenvectors": optional(check_count), "ridge": check_not_negative}

    def _build(self, data: Any, seed: int) -> tuple[Any, Graph | None]:
        data, graph = super()._build(data, seed)
        if self.n_eigenvectors is not None and graph is not None and self.n_eigenvectors > graph.n_nodes:
            raise ValueError(
                f"n_eigenvectors={self.n_eigenvectors} is more than the n_samples={graph.n_nodes} points."
            )
        return data, graph

    def _solve(self, task: Task) -> Answer:
        graph, known, k = task.graph, task.constraints, task.n_clusters
        if known.n_pairs == 0:
            return cut(graph, task, self)
        warn_about_graph(graph, k)
        rng = task.rng()
        with stage("embedding"):
            # A refit of the guard has the eigenvectors of the first fit.
            is_refit = task.sample is not None and task.start is not None
            pairs = task.start.solution if is_refit else self._spectrum(task, rng)
            features = unit_rows(pairs.vectors) if self.unit_rows else np.sqrt(graph.n_nodes) * pairs.vectors
            programme = self._programme(features, known, k).solve()
            values, vectors = np.linalg.eigh(programme.matrix)
            adapted = features @ ((vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T)
            rows = unit_rows(adapted) if self.unit_rows else adapted
        with stage("labels"):
            labels = np.full(len(rows), -1, dtype=np.intp)
            some = slice(None) if task.sample is None else task.sample
            n_init = self.n_init if task.sample is None else min(self.n_init, 3)
            labels[some] = assign_labels(rows[some], k, n_init=n_init, random_state=rng)
        return Answer(labels, rows, graph, pairs, results={"programme_": programme})

    def _spectrum(self, task: Task, rng: np.random.RandomState) -> Eigenpairs:
        """Return the first m eigenvectors: 15 as in the paper, or K + 5, unless m is given."""
        n_points = task.n_points
        count = min(self.n_eigenvectors or max(15, task.n_clusters + 5), n_points)
        accuracy = "sketch" if n_points > MAX_EXACT_POINTS else task.accuracy
        return laplacian_eigenpairs(
            task.graph, count, solver=self.eigen_solver, accuracy=accuracy, random_state=rng
        )

    def _programme(self, features: FloatArray, constraints: Constraints, k: int) -> KernelProgramme:
        if features.shape[1] > MAX_FORMED_ROWS:
            return factored_programme(features, constraints, self.ridge, k)
        squares = point_squares(features) + link_squares(features, constraints)
        # A mean rather than a sum: the solver's tolerances are absolute as well as relative.
        Q = constraints.with_diagonal(0.0)
        total = len(features) + 0.5 * (2.0 * Q.must_part().total() - Q.total())
        cut_only = np.diag((np.arange(features.shape[1]) < k).astype(np.float64))
        return squares.scaled(1.0 / total).with_ridge(self.ridge, cut_only)


def factored_programme(
    features: FloatArray, constraints: Constraints, ridge: float, n_clusters: int
) -> KernelProgramme:
    """Return the mean of the squares of points and links with the pull of the ridge, its H never formed."""
    # It is ``(point_squares + link_squares).scaled(1 / total).with_ridge(ridge, cut)`` in O(n m + pairs)
    # memory.
    Q, points = constraints.with_diagonal(0.0).restricted()
    together, rows = Q.must_part(), features[points]
    hessian = FactoredHessian(features, rows, Q.pairs, np.abs(Q.strengths))
    factor = 1.0 / (len(features) + float(hessian.strengths.sum()))
    pull = ridge * factor * hessian.trace() / (features.shape[1] * (features.shape[1] + 1) // 2)
    cut = svec(np.diag((np.arange(features.shape[1]) < n_clusters).astype(np.float64)))
    targets = features.T @ features + 0.5 * rows.T @ together.apply(rows)
    constant = factor * (len(features) + 0.5 * together.total()) + pull * float(cut @ cut)
    return KernelProgramme(
        replace(hessian, factor=factor, pull=pull), factor * svec(targets) + pull * cut, constant
    )
