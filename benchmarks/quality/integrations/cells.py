"""Cells: types of synthetic cells, one in ten known, beside Leiden and label spreading on the same graph.

The counts are negative binomial; types are made in pairs that share most of what marks them, one type is
rare, and cells differ in depth. How clear the types are was chosen on a draw that is not reported, so that
the task is neither solved nor hopeless.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import anndata
import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score

from benchmarks.label_spreading import spread
from sidecut.graphs import Neighbors
from sidecut.integrations.anndata import cluster

SIZES = np.array([600, 500, 450, 400, 400, 350, 240, 60])
N_GENES = 1000
RESOLUTIONS = (0.5, 0.75, 1.0, 1.5)


def make_cells(clear: float, seed: int) -> anndata.AnnData:
    """Return cells with their type, one in ten of them told; `clear` is how far types are apart."""
    rng = np.random.default_rng(seed)
    kind = np.repeat(np.arange(len(SIZES)), SIZES)
    rates = np.tile(rng.gamma(0.5, 1.0, N_GENES), (len(SIZES), 1))
    for family in range(len(SIZES) // 2):
        genes = rng.choice(N_GENES, 40, replace=False)
        rates[2 * family : 2 * family + 2, genes] *= np.exp(clear * rng.normal(1.0, 0.5, 40))
    for number in range(len(SIZES)):
        genes = rng.choice(N_GENES, 15, replace=False)
        rates[number, genes] *= np.exp(clear * rng.normal(1.0, 0.5, 15))
    depth = rng.lognormal(0.0, 0.4, (len(kind), 1))
    counts = rng.poisson(rng.gamma(2.0, 0.5, (len(kind), N_GENES)) * depth * rates[kind])
    values = np.log1p(1e4 * counts / counts.sum(axis=1, keepdims=True))
    adata = anndata.AnnData(sp.csr_matrix(values))
    adata.obsm["X_pca"] = PCA(50, random_state=0).fit_transform(values)
    graph = Neighbors(15).build(adata.obsm["X_pca"])
    adata.obsp["connectivities"] = sp.csr_matrix(graph.tosparse())
    names = np.array([f"type {number}" for number in range(len(SIZES))])
    adata.obs["truth"] = names[kind]
    adata.obs["known"] = pd.Categorical(np.where(rng.random(len(kind)) < 0.1, names[kind], None))
    return adata


def leiden(adata: anndata.AnnData, resolution: float) -> np.ndarray:
    """Return the clusters of Leiden as scanpy calls it."""
    weights = sp.triu(adata.obsp["connectivities"]).tocoo()
    # Wanted by this comparison alone.
    import igraph
    import leidenalg

    graph = igraph.Graph(n=adata.n_obs, edges=np.stack([weights.row, weights.col], axis=1).tolist())
    found = leidenalg.find_partition(
        graph, leidenalg.RBConfigurationVertexPartition, weights=weights.data.tolist(),
        resolution_parameter=resolution, n_iterations=2, seed=0,
    )  # fmt: skip
    return np.asarray(found.membership)


def name_by_known(labels: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Call every cluster by the most frequent type of its known cells."""
    names = np.full(len(labels), "", dtype=object)
    for label in np.unique(labels):
        told = known[(labels == label) & (known != "")]
        if len(told):
            values, counts = np.unique(told.astype(str), return_counts=True)
            names[labels == label] = values[counts.argmax()]
    return names


def measure(n_draws: int, data: Path) -> list[dict[str, Any]]:
    rows = []
    for clear in (1.6, 1.3, 1.0):
        for draw in range(n_draws):
            for method, ari, accuracy, seconds in compare(make_cells(clear, draw)):
                rows.append(
                    {"clear": clear, "draw": draw, "method": method, "ARI": round(ari, 3),
                     "accuracy": round(accuracy, 3), "processor seconds": round(seconds, 2)}
                )  # fmt: skip
                print(rows[-1], flush=True)
    return rows


def compare(adata: anndata.AnnData) -> list[tuple[str, float, float, float]]:
    """Return method, ARI and accuracy on the cells that are not known, and processor seconds."""
    truth = adata.obs["truth"].to_numpy(dtype=object)
    known = np.where(adata.obs["known"].isna(), "", adata.obs["known"].astype(object))
    is_open = known == ""
    found = []

    def note(method: str, names: np.ndarray, labels: np.ndarray, start: float) -> None:
        right = float(np.mean(names[is_open] == truth[is_open]))
        ari = adjusted_rand_score(truth[is_open], labels[is_open])
        found.append((method, float(ari), right, time.process_time() - start))

    start = time.process_time()
    labels = leiden(adata, 1.0)
    note("Leiden, resolution 1", name_by_known(labels, known), labels, start)
    start = time.process_time()
    tried = [leiden(adata, resolution) for resolution in RESOLUTIONS]
    best = max(tried, key=lambda labels: adjusted_rand_score(truth, labels))
    note("Leiden, best resolution by the truth", name_by_known(best, known), best, start)
    types, codes = np.unique(truth, return_inverse=True)
    partial = np.where(is_open, -1, codes)
    for alpha in (0.2, 0.8):
        start = time.process_time()
        labels = spread(adata.obsp["connectivities"], partial, 1000, alpha)
        note(f"label spreading, alpha {alpha}", types[labels], labels, start)
    start = time.process_time()
    cluster(adata, labels="known")
    names = adata.obs["sidecut"].astype(str).to_numpy(dtype=object)
    note("sidecut", names, names, start)
    return found
