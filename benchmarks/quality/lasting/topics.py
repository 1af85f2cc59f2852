"""BERTopic's merge_models on the same scenarios: python -m benchmarks.quality.lasting.topics --data FOLDER.

A model of the old points and one of the new points are merged: topics of the second whose vectors are less
similar than .7 to all of the first are new. Points stand for embeddings of documents, and all documents have
the same words, which decide nothing here. Principal components take the place of UMAP. Wants safetensors.
"""

from __future__ import annotations

import argparse
import time
import warnings
from typing import Any

import numpy as np
import pandas as pd
from sklearn.decomposition import PCA

from benchmarks.quality.lasting.__main__ import AT_MOST, KEYS, SETS, judge, read, summary
from benchmarks.quality.lasting.scenarios import SCENARIOS, Scenario
from benchmarks.stored import RESULTS, merge
from sidecut.checks import IntArray

#: With fewer new points its model of them ends in an error.
FEWEST = 11
#: As many components as BERTopic asks of UMAP.
N_COMPONENTS = 5


def main() -> None:
    """Run all sets and scenarios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", required=True)
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--store", action="store_true")
    options = parser.parse_args()
    for name in options.sets.split(","):
        X, y = read(name, options.data)
        rows = []
        for draw in range(options.draws):
            some = np.random.default_rng(draw).permutation(len(X))[:AT_MOST]
            for scenario, make in SCENARIOS.items():
                made = make(X[some], y[some], np.random.default_rng(draw))
                if len(made.new) < FEWEST:
                    continue
                row = {"set": name, "scenario": scenario, "method": "BERTopic", "way": "merge_models"}
                rows.append({**row, "draw": draw, **merged(made)})
        print(summary(pd.DataFrame(rows)).to_string(), flush=True)
        if options.store:
            merge(rows, RESULTS / "quality" / "lasting.csv", KEYS)


def merged(made: Scenario) -> dict[str, float]:
    """Return what becomes of the topics of old points when a model of new ones is merged with theirs."""
    # Wanted by this comparison alone.
    from bertopic import BERTopic

    start = time.process_time()
    with warnings.catch_warnings(action="ignore"):
        models = [topics(points) for points in (made.old, made.new)]
        both = np.array(BERTopic.merge_models(models).topics_)
    before, outliers = numbered(np.array(models[0].topics_)), both == -1
    found = judge(made, before, numbered(both), time.process_time() - start)
    if made.new_class is not None and 2 * outliers[made.y == made.new_class].mean() > 1:
        # Points without a topic are no cluster.
        found["found"] = 0.0
    return found


def topics(points: Any) -> Any:
    """Return a model of some points, with BERTopic's defaults."""
    from bertopic import BERTopic

    reduction = PCA(min(N_COMPONENTS, *points.shape), random_state=0)
    model = BERTopic(embedding_model=None, umap_model=reduction)
    model.fit(["the same words everywhere"] * len(points), embeddings=np.asarray(points, dtype=np.float32))
    return model


def numbered(found: IntArray) -> IntArray:
    """Return topics with those of no topic as the last cluster."""
    return np.where(found < 0, 10_000, found)


if __name__ == "__main__":
    main()
