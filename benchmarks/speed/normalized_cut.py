"""NormalizedCut against scikit-learn's SpectralClustering on the same precomputed k-NN graphs.

    python -m benchmarks.speed.normalized_cut --data FOLDER

Times are of whole fits (eigenvectors and k-means with ten starts), medians of three, interleaved.
"missed" counts the directions of the certified eigenspace that a solver's embedding does not contain
(principal angle over 0.1). The moons have eigenvalues near zero with no gap to speak of: there the
question is not speed but whether the answer is right.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from sklearn.cluster import SpectralClustering
from sklearn.manifold import spectral_embedding

from benchmarks import stored
from benchmarks.speed.graphs import N_CLUSTERS, graph
from benchmarks.speed.timing import alternately, one_blas_thread
from sidecut import NormalizedCut

RESULTS = stored.RESULTS / "speed"
SOLVERS = ("lobpcg", "amg", "arpack")
#: scikit-learn's ARPACK factorises the graph; in many dimensions that takes minutes at 10,000 points.
ARPACK_ON = ("moons",)


def measure(family: str, n_points: int, data: Path | None, repeats: int) -> list[dict]:
    """Return one row per solver."""
    weights, k = graph(family, n_points, data).matrix, N_CLUSTERS[family]
    # scikit-learn wants 32-bit indices and the older matrix class.
    matrix = sp.csr_matrix(weights)
    models = {"sidecut": NormalizedCut(k, affinity="precomputed", random_state=0)}
    for solver in SOLVERS:
        if solver != "arpack" or family in ARPACK_ON:
            models[f"scikit-learn {solver}"] = SpectralClustering(
                k, affinity="precomputed", eigen_solver=solver, random_state=0
            )
    with one_blas_thread():
        taken = alternately([lambda m=model: m.fit(matrix) for model in models.values()], repeats)
    ours, fastest, rows = models["sidecut"], min(taken[1:]), []
    for name, seconds in zip(models, taken, strict=True):
        missed = 0 if name == "sidecut" else _missed(matrix, k, name.split()[-1], ours.eigenvectors_)
        rows.append(
            {
                "graph": family,
                "points": n_points,
                "solver": name,
                "seconds": seconds,
                "times the fastest of scikit-learn": seconds / fastest,
                "missed": missed,
                "certificate": ours.solution_.certificate.method if name == "sidecut" else "",
            }
        )
        print(rows[-1], flush=True)
    return rows


def _missed(matrix: sp.csr_matrix, k: int, solver: str, vectors: np.ndarray) -> int:
    """Count the directions of the true eigenspace that scikit-learn's embedding lacks."""
    embedding = spectral_embedding(
        matrix, n_components=k, eigen_solver=solver, random_state=0, drop_first=False
    )
    roots = np.sqrt(np.asarray(matrix.sum(axis=1)).ravel())
    angles = scipy.linalg.subspace_angles(roots[:, None] * embedding, vectors)
    return int(np.count_nonzero(angles > 0.1))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder that holds mnist.npz")
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 30_000, 70_000])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--families", nargs="+", default=["blobs", "moons", "mnist"])
    args = parser.parse_args()
    families = [family for family in args.families if args.data or family != "mnist"]
    warnings.simplefilter("ignore")
    rows = [
        row
        for family in families
        for size in args.sizes
        for row in measure(family, size, args.data, args.repeats)
    ]
    stored.merge(rows, RESULTS / "normalized_cut.csv", ["graph", "points", "solver"])


if __name__ == "__main__":
    main()
