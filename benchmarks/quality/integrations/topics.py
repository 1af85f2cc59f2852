"""Topics: newsgroups, one label in a hundred known, beside BERTopic's own clustering of the same embeddings.

There is no language model here: the embeddings are 100 components of TF-IDF. UMAP and HDBSCAN are as BERTopic
sets them. BERTopic hands known topics to UMAP; that is measured, too.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import hdbscan
import numpy as np
import scipy.sparse as sp
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.metrics import adjusted_rand_score

from sidecut.integrations.bertopic import TopicClusterer

SETS = ("comp2", "different3", "politics3")


def measure(n_draws: int, data: Path) -> list[dict[str, Any]]:
    rows = []
    for name in SETS:
        path = data / f"20news_18828_{name}.npz"
        counts, y = sp.load_npz(path), np.load(path)["y"].astype(np.int64)
        weights = TfidfTransformer(sublinear_tf=True).fit_transform(counts)
        embeddings = TruncatedSVD(100, random_state=0).fit_transform(weights)
        plain = reduce(embeddings)
        for draw in range(n_draws):
            rng = np.random.default_rng(draw)
            known = np.where(rng.random(len(y)) < 0.01, y, -1)
            for method, labels, seconds in compare(embeddings, plain, known):
                row = {"set": name, "documents": len(y), "draw": draw, "known": int((known >= 0).sum())}
                rows.append(
                    {
                        **row,
                        "method": method,
                        **score(y, labels, known),
                        "processor seconds": round(seconds, 1),
                    }
                )
                print(rows[-1], flush=True)
    return rows


def reduce(embeddings: np.ndarray, known: np.ndarray | None = None) -> np.ndarray:
    """Reduce embeddings as BERTopic does by default."""
    # Wanted by this comparison alone.
    import umap

    model = umap.UMAP(n_neighbors=15, n_components=5, min_dist=0.0, metric="cosine", random_state=0)
    return model.fit_transform(embeddings, y=known)


def compare(
    embeddings: np.ndarray, plain: np.ndarray, known: np.ndarray
) -> list[tuple[str, np.ndarray, float]]:
    told = reduce(embeddings, known)
    unit = embeddings / np.maximum(np.linalg.norm(embeddings, axis=1, keepdims=True), 1e-12)
    runs = (
        ("BERTopic's default: UMAP, HDBSCAN", plain, False),
        ("BERTopic's with known topics: UMAP told, HDBSCAN", told, False),
        ("sidecut after UMAP", plain, True),
        ("sidecut after UMAP told", told, True),
        ("sidecut without UMAP", unit, True),
    )
    found = []
    for method, points, is_ours in runs:
        start = time.process_time()
        if is_ours:
            labels = TopicClusterer(random_state=0).fit(points, y=known).labels_
        else:
            labels = hdbscan.HDBSCAN(min_cluster_size=10, prediction_data=True).fit(points).labels_
        found.append((method, labels, time.process_time() - start))
    return found


def score(y: np.ndarray, labels: np.ndarray, known: np.ndarray) -> dict[str, Any]:
    """Return the ARI on documents that were not known; outliers are one more cluster, or left out."""
    is_open = known < 0
    inside = is_open & (labels >= 0)
    return {
        "ARI": round(float(adjusted_rand_score(y[is_open], labels[is_open])), 3),
        "ARI without outliers": round(float(adjusted_rand_score(y[inside], labels[inside])), 3),
        "outliers": round(float(np.mean(labels < 0)), 3),
        "topics": len(np.unique(labels[labels >= 0])),
    }
