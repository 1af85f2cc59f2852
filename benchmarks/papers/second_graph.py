"""CSP's figure 11: documents in one language, with their graph in another language as soft must-links."""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np

import sidecut
from benchmarks.papers.experiment import Contender, Experiment
from sidecut import Constraints
from sidecut.datasets import Dataset
from sidecut.evaluation import evaluate
from sidecut.graphs import Graph

#: Words per language, and documents per draw.
WORDS, DOCUMENTS = 2_000, 1_000


def rows_of_languages(
    experiment: Experiment, language: int, draw: int, contenders: list[Contender], data: Dataset
) -> list[dict[str, Any]]:
    """Cluster a random thousand of documents by one language, the other, and one constrained by the other."""
    chosen = np.random.default_rng(draw).choice(data.n_samples, DOCUMENTS, replace=False)
    y = data.y[chosen]

    def graph(view: int) -> Graph:
        return experiment.graph.build(data.X[chosen][:, view * WORDS : (view + 1) * WORDS])

    with warnings.catch_warnings(action="ignore"):
        english, translation = graph(0), graph(language)
        rows = []
        for contender in contenders:
            cut, by = (
                (english, translation) if contender.label.startswith("English") else (translation, english)
            )
            known = Constraints.from_graph(by.toarray()) if contender.uses_constraints else None
            method = getattr(sidecut, contender.method)
            start = time.perf_counter()
            model = method(len(np.unique(y)), affinity="precomputed", random_state=draw, **contender.settings)
            labels = model.fit(cut, constraints=known).labels_
            scores = evaluate(y, labels).all_points
            rows.append(
                {
                    "method": contender.label,
                    "setting": "",
                    "size": language,
                    "draw": draw,
                    "n_must": 0,
                    "n_cannot": 0,
                    "ari": round(scores.adjusted_rand_index, 5),
                    "rand": round(scores.rand_index, 5),
                    "acc": round(scores.clustering_accuracy, 5),
                    "seconds": round(time.perf_counter() - start, 4),
                    "failure": "",
                    "config": experiment.fingerprint(contender),
                }
            )
    return rows
