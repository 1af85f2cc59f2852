"""Speakers: synthetic embeddings of recordings of five hours, beside the package spectralcluster.

Both are told that there are two to seven speakers; there are six. The matrices of spectralcluster are dense,
so the whole recording is given to it with `max_spectral_size`, which first merges segments. With its
constraints that cannot be done, so these are compared on the first 1,000 segments.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score
from spectralcluster import SpectralClusterer, configs

from sidecut.integrations.speakers import SpeakerClusterer

N_SPEAKERS, DIMENSION = 6, 192


def make_recording(n_chunks: int, spread: float, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return embeddings, speakers and chunks: people stay for some chunks, two in ten segments overlap."""
    rng = np.random.default_rng(seed)
    means = np.sqrt(0.3) * rng.normal(size=DIMENSION) + np.sqrt(0.7) * rng.normal(
        size=(N_SPEAKERS, DIMENSION)
    )
    share = rng.dirichlet(np.full(N_SPEAKERS, 2.0))
    people: np.ndarray = np.empty(0, dtype=int)
    who, chunks = [], []
    for chunk in range(n_chunks):
        if chunk == 0 or rng.random() < 0.2:
            people = rng.choice(N_SPEAKERS, 1 + rng.choice(3, p=[0.3, 0.4, 0.3]), replace=False, p=share)
        who.append(people)
        chunks.append(np.full(len(people), chunk))
    others = np.concatenate([np.roll(group, 1) for group in who])
    speaker, chunk_of = np.concatenate(who), np.concatenate(chunks)
    n = len(speaker)
    noise = spread * np.where(rng.random(n) < 0.3, 2.0, 1.0)[:, None]
    leak = np.where(rng.random(n) < 0.2, 0.7, 0.0)[:, None] * (others != speaker)[:, None]
    return means[speaker] + leak * means[others] + noise * rng.normal(size=(n, DIMENSION)), speaker, chunk_of


def measure(n_draws: int, data: Path) -> list[dict[str, Any]]:
    rows = []
    for spread in (1.6, 2.2):
        for seed in range(n_draws):
            recording = make_recording(6000, spread, seed)
            short = tuple(part[:1000] for part in recording)
            runs = [(method, short, run) for method, run in small_runs(*short)]
            if seed == 0 and spread == 1.6:
                runs += [(method, recording, run) for method, run in large_runs(*recording)]
            for method, (_, who, chunks), run in runs:
                start = time.process_time()
                labels = run()
                case = {"spread": spread, "seed": seed, "segments": len(who), "method": method}
                rows.append(
                    {
                        **case,
                        **score(who, labels, chunks),
                        "processor seconds": round(time.process_time() - start, 1),
                    }
                )
                print(rows[-1], flush=True)
    return rows


Run = tuple[str, Callable[[], np.ndarray]]


def ours() -> SpeakerClusterer:
    return SpeakerClusterer(2, 7, random_state=0)


def small_runs(points: np.ndarray, who: np.ndarray, chunks: np.ndarray) -> list[Run]:
    apart = -(chunks[:, None] == chunks).astype(float)
    np.fill_diagonal(apart, 0.0)
    names = np.where(np.arange(len(who)) % 20 == 0, who, -1)
    return [
        ("spectralcluster, ICASSP 2018", lambda: configs.icassp2018_clusterer.predict(points)),
        ("spectralcluster, Turn-to-Diarize", lambda: configs.turntodiarize_clusterer.predict(points, apart)),
        ("sidecut, nothing known", lambda: ours().cluster(points)),
        ("sidecut, chunks", lambda: ours().cluster(points, chunks=chunks)),
        ("sidecut, chunks and 5 % known", lambda: ours().cluster(points, chunks=chunks, speakers=names)),
    ]


def large_runs(points: np.ndarray, who: np.ndarray, chunks: np.ndarray) -> list[Run]:
    merged = SpectralClusterer(
        min_clusters=2, max_clusters=7, max_spectral_size=500, custom_dist="cosine", row_wise_renorm=True,
        refinement_options=configs.turntodiarize_refinement_options,
        autotune=configs.turntodiarize_auto_tune, laplacian_type=configs.LaplacianType.GraphCut,
    )  # fmt: skip
    return [
        ("spectralcluster, Turn-to-Diarize, 500 after merging", lambda: merged.predict(points)),
        ("sidecut, nothing known", lambda: ours().cluster(points)),
        ("sidecut, chunks", lambda: ours().cluster(points, chunks=chunks)),
        ("sidecut, chunks, as a stream of 600", lambda: stream(points, chunks)),
    ]


def stream(points: np.ndarray, chunks: np.ndarray) -> np.ndarray:
    model = ours()
    for start in range(0, len(points), 600):
        model.partial_fit(points[start : start + 600], chunks=chunks[start : start + 600])
    return model.labels_


def score(who: np.ndarray, labels: np.ndarray, chunks: np.ndarray) -> dict[str, Any]:
    """Return the ARI, the number of speakers found, and the share of pairs in a chunk told apart."""
    same = (chunks[1:] == chunks[:-1]) & (who[1:] != who[:-1])
    told = float(np.mean((labels[1:] != labels[:-1])[same]))
    return {
        "ARI": round(float(adjusted_rand_score(who, labels)), 3),
        "speakers": len(np.unique(labels)),
        "told apart": round(told, 3),
    }
