"""One fit in a process of its own, so that imports and compilation count: prints seconds, saves labels.

    python fit_once.py METHOD POINTS.npy LABELS.npy SEED

Runs in the environment of the tool: nothing of sidecut is imported for the others. All take one thread.
"""

import json
import os
import resource
import sys
import time

for _library in ("OMP", "OPENBLAS", "MKL", "NUMBA"):
    os.environ[f"{_library}_NUM_THREADS"] = "1"

import numpy as np  # noqa: E402


def layers(X, seed):
    """Return the labels of Layers."""
    from sidecut import Layers

    return Layers(random_state=seed).fit(X).labels_


def normalized_cut(X, seed):
    """Return the labels of AutoCut, where nothing is known: the normalised cut, eigengaps give the number."""
    from sidecut import AutoCut

    return AutoCut(random_state=seed).fit(X).labels_


def evoc(X, seed):
    """Return the labels of EVoC, noise as -1."""
    from evoc import EVoC

    return EVoC(random_state=seed).fit_predict(X.astype(np.float32))


def hdbscan(X, seed):
    """Return the labels of scikit-learn's HDBSCAN with clusters of at least 15 points."""
    from sklearn.cluster import HDBSCAN

    return HDBSCAN(min_cluster_size=15).fit_predict(X)


def umap_hdbscan(X, seed):
    """Return the labels of HDBSCAN on UMAP's coordinates, set as UMAP's documentation does."""
    from sklearn.cluster import HDBSCAN
    from umap import UMAP

    places = UMAP(n_neighbors=30, min_dist=0.0, n_components=2, random_state=seed, n_jobs=1).fit_transform(X)
    return HDBSCAN(min_samples=10, min_cluster_size=500 if len(X) > 10_000 else 50).fit_predict(places)


METHODS = {
    "Layers": layers,
    "AutoCut": normalized_cut,
    "EVoC": evoc,
    "HDBSCAN": hdbscan,
    "UMAP + HDBSCAN": umap_hdbscan,
}


def main(method: str, points: str, labels: str, seed: str) -> None:
    """Fit once."""
    X = np.load(points)
    start = time.process_time()
    found = METHODS[method](X, int(seed))
    seconds = time.process_time() - start
    np.save(labels, np.asarray(found))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    sys.stdout.write(json.dumps({"cpu_seconds": seconds, "peak_mb": peak}) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
