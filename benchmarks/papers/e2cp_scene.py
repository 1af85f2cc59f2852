"""What 2,400 pairs on Scene become, and how clear its classes then are (figure 7 of E2CP).

    python -m benchmarks.papers.e2cp_scene --data FOLDER

Figure 7 shows distances between rows of the embedding as grey values. Its number here is the mean distance
between images of two classes over that between images of one: the larger, the clearer the blocks. "pairs
reached" are the entries of F above the diagonal that are not zero; means over draws, to
results/e2cp_scene.csv.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.metrics import pairwise_distances

from benchmarks import stored
from benchmarks.papers.e2cp import SCENE
from benchmarks.papers.side_information import draw as draw_constraints
from sidecut import CSAP, E2CP, NormalizedCut, SpectralLearning
from sidecut.datasets import load

RESULTS = stored.RESULTS / "papers"
N_PAIRS, N_DRAWS = 2_400, 5
METHODS = {
    "NCuts": NormalizedCut(),
    "SL": SpectralLearning(safe=False),
    "AP": CSAP.as_published(8),
    "E2CP (paper)": E2CP(rescale=False, eigenvectors="nontrivial", approximate=False, safe=False),
    "E2CP (paper), first eigenvector too": E2CP.as_published(8, approximate=False, eigenvectors="leading"),
    "E2CP": E2CP(approximate=False, safe=False),
}


def contrast(embedding: np.ndarray, y: np.ndarray) -> float:
    """Return the mean distance between points of two classes over that of two points of one."""
    distances = pairwise_distances(embedding)
    same = y[:, None] == y
    np.fill_diagonal(same, False)
    apart = y[:, None] != y
    return float(distances[apart].mean() / distances[same].mean())


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, help="folder of .npz files (default: SIDECUT_DATA)")
    parser.add_argument("--draws", type=int, default=N_DRAWS)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    data = load(SCENE.data, args.data).scaled(SCENE.scaling)
    graph, rows = SCENE.graph.build(data.X), []
    upper = np.triu_indices(data.n_samples, k=1)
    for draw in range(args.draws):
        known = draw_constraints(SCENE, data.y, data.y, N_PAIRS, [draw, N_PAIRS])
        for name, method in METHODS.items():
            method.set_params(n_clusters=data.n_classes, affinity="precomputed", random_state=draw)
            model = method.fit(graph, constraints=None if name == "NCuts" else known)
            row = {"method": name, "contrast": contrast(model.embedding_, data.y)}
            if isinstance(model, E2CP):
                row["pairs reached"] = np.count_nonzero(model.propagated_constraints_.toarray()[upper])
                row["of pairs"] = len(upper[0])
            rows.append(row)
        print(pd.DataFrame(rows[-len(METHODS) :]).to_string(index=False), flush=True)
    table = pd.DataFrame(rows).groupby("method", sort=False).mean().round(4)
    table["draws"] = args.draws
    stored.save(table.reset_index(), RESULTS / "e2cp_scene.csv")


if __name__ == "__main__":
    main()
