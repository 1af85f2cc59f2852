"""Real cells: 700 blood cells of ten types, 2 to 20 % of them known, and what people use for them.

The cells are `pbmc68k_reduced`, which scanpy carries, with their components and their neighbour graph as they
come. Every type has one known cell at least. Scores are of the cells that are not known.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import adjusted_rand_score, recall_score

from benchmarks.label_spreading import spread
from benchmarks.quality.integrations.cells import RESOLUTIONS, leiden, name_by_known
from sidecut import PoissonMBO
from sidecut.integrations.anndata import cluster

SHARES = (0.02, 0.05, 0.1, 0.2)
ALPHAS = (0.2, 0.5, 0.8, 0.9, 0.99)
TRUTH = "bulk_labels"
#: What is found: names of the cells, and their clusters.
Found = tuple[np.ndarray, np.ndarray]


def draw_known(types: np.ndarray, share: float, draw: int) -> np.ndarray:
    """Return which cells are known: a share of all, and at least one of every type."""
    rng = np.random.default_rng(draw)
    known = rng.random(len(types)) < share
    for name in np.unique(types):
        cells = np.flatnonzero(types == name)
        if not known[cells].any():
            known[rng.choice(cells)] = True
    return known


def methods(adata: Any, known: np.ndarray) -> dict[str, Callable[[], Found]]:
    """Return what is compared; "best by the truth" is a choice that only the truth can make."""
    truth = adata.obs[TRUTH].to_numpy(dtype=object)
    types, codes = np.unique(truth.astype(str), return_inverse=True)
    told = np.where(known, truth, "")

    def best_by_truth(found: list[Found]) -> Found:
        return max(found, key=lambda one: np.mean(one[0][~known] == truth[~known]))

    def spreading(alpha: float) -> Found:
        labels = spread(adata.obsp["connectivities"], np.where(known, codes, -1), 1000, alpha)
        return types[labels], labels

    def communities(resolution: float) -> Found:
        labels = leiden(adata, resolution)
        return name_by_known(labels, told), labels

    def regression() -> Found:
        points = adata.obsm["X_pca"]
        model = LogisticRegression(max_iter=2000).fit(points[known], codes[known])
        labels = model.predict(points)
        return types[labels], labels

    def ours(**settings: Any) -> Found:
        cluster(adata, labels="known", **settings)
        names = adata.obs["sidecut"].astype(str).to_numpy(dtype=object)
        return names, names

    n_types = len(types)
    return {
        "Leiden, resolution 1": lambda: communities(1.0),
        "Leiden, best resolution by the truth": lambda: best_by_truth([communities(r) for r in RESOLUTIONS]),
        "logistic regression": regression,
        "label spreading, alpha 0.2": lambda: spreading(0.2),
        "label spreading, alpha 0.8": lambda: spreading(0.8),
        "label spreading, best alpha by the truth": lambda: best_by_truth([spreading(a) for a in ALPHAS]),
        "sidecut": ours,
        "sidecut, number of types given": lambda: ours(n_clusters=n_types),
        "PoissonMBO on the graph": lambda: ours(estimator=PoissonMBO(), n_clusters=n_types),
        "PoissonMBO on components and graph": lambda: ours(
            estimator=PoissonMBO(), n_clusters=n_types, neighbors_key="neighbors", use_rep="X_pca"
        ),
    }


def measure(n_draws: int, data: Path) -> list[dict[str, Any]]:
    # scanpy is not among what the tests of this module install.
    import scanpy

    adata = scanpy.datasets.pbmc68k_reduced()
    truth = adata.obs[TRUTH].to_numpy(dtype=object)
    rows = []
    for share in SHARES:
        for draw in range(n_draws):
            known = draw_known(truth, share, draw)
            adata.obs["known"] = pd.Categorical(np.where(known, truth, None))
            for name, find in methods(adata, known).items():
                start = time.process_time()
                names, labels = find()
                seconds = time.process_time() - start
                scores = {
                    "accuracy": np.mean(names[~known] == truth[~known]),
                    "balanced accuracy": recall_score(
                        truth[~known], names[~known], labels=np.unique(truth[~known]), average="macro"
                    ),
                    "ARI": adjusted_rand_score(truth[~known], labels[~known]),
                }
                rounded = {score: round(float(value), 3) for score, value in scores.items()}
                rows.append(
                    {"share": share, "draw": draw, "known": int(known.sum()), "method": name, **rounded,
                     "processor seconds": round(seconds, 2)}
                )  # fmt: skip
                print(rows[-1], flush=True)
    return rows
