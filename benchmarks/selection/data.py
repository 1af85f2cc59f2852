"""Which data sets the choice was set up on, and which ones it is reported on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from sklearn import datasets as bundled

from sidecut.datasets.loading import read_npz

#: Orders and constants were set on these alone.
DEVELOPMENT = (
    "iris",
    "wine",
    "breast cancer",
    "digits",
    "sonar",
    "hepatitis",
    "ionosphere",
    "soybean_small",
    "moons",
    "weights",
    "oblong",
    "unbalanced",
)
#: Nothing was set on these; a file, and how many of its classes are used.
REPORTED = {
    "20news_18828_comp2": None,
    "20news_18828_different3": None,
    "20news_18828_politics3": None,
    "covtype": None,
    "glass": None,
    "letter": 10,
    "mnist": None,
    "pendigits": None,
    "reuters_ml1200": None,
    "scene8_features": None,
    "segment": None,
    "usps": None,
    "yaleb_32x32": 10,
}
#: Larger sets are sampled anew in each draw.
MOST_POINTS = 600


def load(name: str, draw: int, folder: Path | None, n_points: int = MOST_POINTS) -> tuple[Any, np.ndarray]:
    """Return points and classes; classes with fewer than two points in a sample are left out.

    Parameters
    ----------
    name : str
        One of DEVELOPMENT or REPORTED.
    draw : int
        Which sample of a large set, or which synthetic one.
    folder : Path or None
        Where the .npz files are.
    n_points : int
        How many points a sample has.
    """
    X, y = _made(name, draw) or read_npz(Path(folder or ".") / f"{name}.npz")
    if REPORTED.get(name):
        X, y = X[y < REPORTED[name]], y[y < REPORTED[name]]
    if len(y) > n_points:
        rows = np.sort(np.random.default_rng(draw).permutation(len(y))[:n_points])
        X, y = X[rows], y[rows]
    many = np.bincount(y)[y] > 1
    X, y = X[many], y[many]
    return X, np.unique(y, return_inverse=True)[1]


def _made(name: str, draw: int) -> tuple[np.ndarray, np.ndarray] | None:
    """Return a bundled or synthetic set, None for others."""
    makers = {
        "iris": lambda: bundled.load_iris(return_X_y=True),
        "wine": lambda: bundled.load_wine(return_X_y=True),
        "breast cancer": lambda: bundled.load_breast_cancer(return_X_y=True),
        "digits": lambda: bundled.load_digits(return_X_y=True),
        "moons": lambda: bundled.make_moons(300, noise=0.15, random_state=draw),
        "weights": lambda: bundled.make_classification(
            400,
            20,
            n_informative=5,
            n_redundant=0,
            n_classes=4,
            n_clusters_per_class=1,
            class_sep=1.6,
            random_state=draw,
        ),
        "oblong": lambda: _stretch(
            *bundled.make_blobs(400, 12, centers=6, cluster_std=3.5, random_state=draw)
        ),
        "unbalanced": lambda: bundled.make_blobs([250, 80, 40, 20], 6, cluster_std=2.5, random_state=draw),
    }
    return makers[name]() if name in makers else None


def _stretch(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the points after a random linear map."""
    n_features = X.shape[1]
    return X @ np.random.default_rng(0).normal(size=(n_features, n_features)), y
