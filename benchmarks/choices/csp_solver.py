"""Davidson's iteration against scipy's lobpcg on the pencils that CSP poses.

    python -m benchmarks.choices.csp_solver

Every fit of CSP on a large graph hands a pencil, vectors to start from, a number of eigenpairs and a
tolerance to `solve_davidson`. Here each of them is solved by both: by Davidson's iteration, and by
`scipy.sparse.linalg.lobpcg` from the best vectors in the span of the same start, without a preconditioner
and with the operator that Davidson's corrections use. lobpcg stops at an absolute residual; it is told the
one that is equal to CSP's tolerance. It gets at most 300 iterations. For each: seconds of CPU, products of L̄
with one vector, the worst relative residual of eq. 13, and how far the eigenvalues differ from Davidson's.
The last rows are hard: three clouds joined by edges of weight 1e-7, so that the graph nearly falls apart,
with one label in twenty wrong, so that some cuts cost nothing and others much, to a tolerance of 1e-9; and
digits to 1e-10.
"""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, lobpcg
from sklearn.datasets import load_digits, make_blobs, make_moons

from benchmarks import stored
from sidecut import CSP
from sidecut.constraints import sample_labels, sample_pairs
from sidecut.graphs import Neighbors
from sidecut.methods.csp import pencil as solvers
from sidecut.methods.csp.pencil import ConstrainedPencil, largest_of_pencil, symmetric
from sidecut.spectral.conjugate_gradients import solve_columns

STORED = stored.RESULTS / "choices" / "csp_solver.json"
MAX_ITERATIONS = 300


class Lobpcg:
    """The pencil B' w = μ (L̄ + N Nᵀ) w for lobpcg; the second matrix is definite and leaves μ > 0 alone."""

    def __init__(self, pencil: ConstrainedPencil, seeds: np.ndarray, count: int) -> None:
        self.pencil, null = pencil, pencil.problem.null
        self.surplus = self._operator(
            lambda block: pencil.apply_B(block) - pencil.null_image @ pencil.null_coefficients(block)
        )
        self.definite = self._operator(
            lambda block: pencil.problem.apply_laplacian(block) + null @ (null.T @ block)
        )
        basis = np.linalg.qr(pencil.problem.project(seeds))[0]
        forms = (symmetric(basis.T @ (operator @ basis)) for operator in (self.surplus, self.definite))
        mu, coordinates = largest_of_pencil(*forms, count)
        self.start, self.least = basis @ coordinates, max(float(mu[-1]), pencil.b)

    def _operator(self, apply: Callable[[np.ndarray], np.ndarray]) -> LinearOperator:
        n = self.pencil.problem.n
        return LinearOperator((n, n), matvec=apply, matmat=apply, dtype=np.float64)

    def preconditioner(self) -> LinearOperator:
        """Return (μ L̄ + b I)⁻¹ as Davidson's corrections have it, with one μ for all."""

        def shifted(block: np.ndarray, columns: np.ndarray) -> np.ndarray:
            return self.least * self.pencil.problem.apply_laplacian(block) + self.pencil.b * block

        def solve(block: np.ndarray) -> np.ndarray:
            block = block.reshape(self.pencil.problem.n, -1)
            return solve_columns(shifted, block, solvers.INNER_TOLERANCE, solvers.INNER_STEPS)

        return self._operator(solve)

    def solve(self, tolerance: float, is_preconditioned: bool) -> tuple[np.ndarray, np.ndarray]:
        """Return μ and unit v."""
        mu, w = lobpcg(
            self.surplus,
            self.start,
            B=self.definite,
            M=self.preconditioner() if is_preconditioned else None,
            tol=tolerance,
            maxiter=MAX_ITERATIONS,
            largest=True,
        )
        order = np.argsort(-mu)
        v = self.pencil.complete(self.pencil.problem.project(w[:, order]))
        return mu[order], v / np.linalg.norm(v, axis=0)


def absolute(pencil: ConstrainedPencil, mu: np.ndarray, vectors: np.ndarray, tolerance: float) -> float:
    """Return the residual of vectors of length one in L̄ that is as small as a relative `tolerance`."""
    image = np.linalg.norm(pencil.apply_Q(vectors), axis=0) + pencil.b
    lengths = np.sqrt(np.einsum("ij,ij->j", vectors, pencil.problem.apply_laplacian(vectors)))
    return float(tolerance * np.min(image / lengths))


def measure(pencil: ConstrainedPencil, solve: Callable[[], tuple]) -> tuple[dict[str, Any], tuple]:
    """Return what one solver took and reached, and its result."""
    problem, counts = pencil.problem, []
    apply = problem.apply_laplacian

    def counted(block: np.ndarray) -> np.ndarray:
        counts.append(1 if block.ndim == 1 else block.shape[1])
        return apply(block)

    start = time.process_time()
    with patch.object(problem, "apply_laplacian", counted):
        result = solve()
    row = {"seconds": round(time.process_time() - start, 3), "products": sum(counts)}
    worst = float(pencil.residuals(*result[:2]).max())
    return row | {"worst residual": float(f"{worst:.1e}")}, result


def compare(rows: list[dict], case: dict) -> Callable[..., tuple]:
    """Return what stands in for `solve_davidson`: it also runs lobpcg and writes both down."""
    original = solvers.solve_davidson

    def both(
        pencil: ConstrainedPencil, seeds: np.ndarray, count: int, tolerance: float, n_exact: int | None = None
    ) -> tuple:
        ours, result = measure(pencil, lambda: original(pencil, seeds, count, tolerance, n_exact))
        row = case | {"nodes": pencil.problem.n, "cuts": count, "Davidson": ours}
        enough = absolute(pencil, result[0], result[1], tolerance)
        for name, is_preconditioned in (("lobpcg", False), ("lobpcg, preconditioned", True)):
            theirs = Lobpcg(pencil, seeds, count)
            found, (mu, _) = measure(pencil, lambda: theirs.solve(enough, is_preconditioned))  # noqa: B023
            difference = float(np.abs(mu / result[0] - 1.0).max())
            row[name] = found | {"eigenvalues differ by": float(f"{difference:.1e}")}
        rows.append(row)
        print(row, flush=True)
        return result

    return both


def cases() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return points and classes."""
    found = {"digits": load_digits(return_X_y=True)}
    for n in (3_000, 30_000):
        found[f"moons {n}"] = make_moons(n, noise=0.15, random_state=0)
        found[f"blobs {n}"] = make_blobs(n, 10, centers=8, cluster_std=4.0, random_state=0)
    return found


def bridged(weight: float) -> tuple[sp.csr_array, np.ndarray]:
    """Return three clouds as a graph, joined by edges of this weight, and their classes, some wrong."""
    clouds = [make_blobs(400, 5, centers=1, random_state=seed)[0] for seed in range(3)]
    graph = sp.block_diag([Neighbors(10).build(cloud).matrix for cloud in clouds], format="lil")
    for i, j in ((0, 400), (400, 800)):
        graph[i, j] = graph[j, i] = weight
    y, rng = np.repeat([0, 1, 2], 400), np.random.default_rng(0)
    y[rng.random(1200) < 0.05] += 1
    return graph.tocsr(), y % 3


def run(rows: list[dict], name: str, X: Any, y: np.ndarray, **settings: Any) -> None:
    """Fit CSP to labels and to pairs."""
    known = {
        "100 labels": sample_labels(y, 100, random_state=0),
        f"{len(y) // 20} pairs": sample_pairs(y, len(y) // 20, random_state=0),
    }
    for told, constraints in known.items():
        case = {"data": name, "known": told}
        with patch.object(solvers, "solve_davidson", compare(rows, case)):
            model = CSP(len(np.unique(y)), safe=False, random_state=0, **settings)
            model.fit(X, constraints=constraints)


def main() -> None:
    warnings.simplefilter("ignore")
    rows: list[dict] = []
    for name, (X, y) in cases().items():
        run(rows, name, X.astype(float), y)
    for share in (0.3, 0.075):
        hard = {"affinity": "precomputed", "beta": ("fraction", share), "tol": 1e-9}
        run(rows, f"bridges, beta {share}", *bridged(1e-7), **hard)
    run(rows, "digits, tol=1e-10", *load_digits(return_X_y=True), tol=1e-10)
    STORED.write_text(
        json.dumps({**stored.stamp(), "machine": stored.facts(), "tolerance": 1e-6, "rows": rows}, indent=1)
        + "\n"
    )


if __name__ == "__main__":
    main()
