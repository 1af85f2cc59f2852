"""Records: synthetic pairs with match probabilities, beside connected components; and a million pairs, timed.

`absent=0.35`, the default, was set on tables made with seed 0; those measured here have other seeds. The
thresholds of connected components: as in splink's documentation, and the best of a grid by the truth.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from sidecut.integrations.records import cluster_records

GRID = (0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.999)


def make_pairs(
    n_entities: int, compared: float, clear: float, seed: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the entity of every record, the compared pairs, and how likely each is a match.

    Of the pairs of an entity the share `compared` is there, and half as many pairs of other records. The
    log-odds are normal with mean ±3 `clear` and variance 6 `clear`, so the probabilities are what they say.
    """
    rng = np.random.default_rng(seed)
    sizes = 1 + rng.poisson(3, n_entities)
    entity, starts = np.repeat(np.arange(n_entities), sizes), np.concatenate([[0], np.cumsum(sizes)])
    inside = np.concatenate(
        [
            np.stack(np.triu_indices(size, 1), axis=1) + start
            for start, size in zip(starts, sizes, strict=False)
        ]
    )
    inside = inside[rng.random(len(inside)) < compared]
    across = rng.integers(0, len(entity), (len(inside) // 2, 2))
    across = across[entity[across[:, 0]] != entity[across[:, 1]]]
    pairs = np.concatenate([inside, across])
    side = np.repeat([1.0, -1.0], [len(inside), len(across)])
    odds = side * 3 * clear + np.sqrt(6 * clear) * rng.normal(size=len(pairs))
    return entity, pairs, 1 / (1 + np.exp(-odds - np.log(len(inside) / len(across))))


def scores(entity: np.ndarray, labels: np.ndarray) -> dict[str, float]:
    """Return precision, recall and F of pairs said to be one, and the largest cluster."""
    table = sp.coo_array((np.ones(len(entity)), (entity, labels))).tocsr()
    table.sum_duplicates()
    both, true, said = (
        float((n * (n - 1) / 2).sum())
        for n in (table.data, np.bincount(entity).astype(float), np.bincount(labels).astype(float))
    )
    return {
        "precision": round(both / max(said, 1), 3),
        "recall": round(both / true, 3),
        "F": round(2 * both / (true + said), 3),
        "largest": int(np.bincount(labels).max()),
    }


def components(n: int, pairs: np.ndarray, probability: np.ndarray, threshold: float) -> np.ndarray:
    a, b = pairs[probability >= threshold].T
    return connected_components(sp.coo_array((np.ones(len(a)), (a, b)), shape=(n, n)), directed=False)[1]


def measure(n_draws: int, data: Path) -> list[dict[str, Any]]:
    rows = []
    for compared, clear in ((0.95, 1.0), (0.95, 2.0), (0.6, 1.0), (0.6, 2.0)):
        for seed in range(1, n_draws + 1):
            case = {"compared": compared, "clear": clear, "seed": seed}
            rows += [{**case, **row} for row in compare(*make_pairs(3000, compared, clear, seed))]
    rows += time_a_million()
    return rows


def compare(entity: np.ndarray, pairs: np.ndarray, probability: np.ndarray) -> list[dict[str, Any]]:
    n = len(entity)
    found = []
    by_threshold = {at: scores(entity, components(n, pairs, probability, at)) for at in GRID}
    for at in (0.5, 0.9, 0.99):
        found.append({"method": f"connected components at {at}", **by_threshold[at]})
    best = max(by_threshold.values(), key=lambda row: row["F"])
    found.append({"method": "connected components, best threshold by the truth", **best})
    edges = as_edges(pairs, probability)
    labels = cluster_records(edges, records=np.arange(n))["cluster_id"].to_numpy()
    found.append({"method": "sidecut", **scores(entity, labels)})
    # A person looks at 300 of the pairs that are least clear.
    asked = pairs[np.argsort(np.abs(probability - 0.5))[:300]]
    same = entity[asked[:, 0]] == entity[asked[:, 1]]
    links = {"must_link": asked[same].tolist(), "cannot_link": asked[~same].tolist()}
    labels = cluster_records(edges, records=np.arange(n), **links)["cluster_id"].to_numpy()
    found.append({"method": "sidecut, 300 pairs decided by a person", **scores(entity, labels)})
    return found


def as_edges(pairs: np.ndarray, probability: np.ndarray) -> pd.DataFrame:
    return pd.DataFrame(
        {"unique_id_l": pairs[:, 0], "unique_id_r": pairs[:, 1], "match_probability": probability}
    )


def time_a_million() -> list[dict[str, Any]]:
    """Return wall and processor seconds for about a million pairs of the less clear kind."""
    entity, pairs, probability = make_pairs(94_000, 0.95, 1.0, 5)
    edges = as_edges(pairs, probability)
    start, spent = time.perf_counter(), time.process_time()
    labels = cluster_records(edges, records=np.arange(len(entity)))["cluster_id"].to_numpy()
    seconds = {"seconds": time.perf_counter() - start, "processor seconds": time.process_time() - spent}
    case = {"compared": 0.95, "clear": 1.0, "seed": 5, "pairs": len(pairs), "records": len(entity)}
    rounded = {name: round(value, 1) for name, value in seconds.items()}
    return [{**case, "method": "sidecut", **scores(entity, labels), **rounded}]
