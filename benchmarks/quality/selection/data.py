"""Which data sets the choice was set up on, and which ones it is reported on."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from sklearn import datasets as bundled
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

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
    "docstrings of SciPy",
    "docstrings of scikit-learn",
    "two photographs",
    "five digits",
    "rare digits",
    "noisy digits",
    "circles",
    "units",
    "mixed",
    "noise",
    "parts",
    "overlap",
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
        "docstrings of SciPy": lambda: _docstrings(
            "scipy", ("optimize", "stats", "signal", "linalg", "ndimage", "special")
        ),
        "docstrings of scikit-learn": lambda: _docstrings(
            "sklearn", ("cluster", "linear_model", "metrics", "preprocessing", "datasets")
        ),
        "two photographs": lambda: _patches(draw),
        "five digits": lambda: _digits(draw, {1: 100, 3: 100, 7: 100, 8: 100, 9: 100}),
        "rare digits": lambda: _digits(draw, {0: 178, 1: 90, 2: 90, 4: 60, 5: 30, 6: 15, 9: 15}),
        "noisy digits": lambda: _digits(draw, dict.fromkeys(range(6), 70), noise=6.0),
        "circles": lambda: bundled.make_circles(300, factor=0.55, noise=0.08, random_state=draw),
        "units": lambda: _in_units(
            *bundled.make_blobs(300, 8, centers=5, cluster_std=3.0, random_state=draw), draw
        ),
        "mixed": lambda: _mixed(draw),
        "noise": lambda: bundled.make_classification(
            400, 40, n_informative=8, n_redundant=4, n_classes=3, n_clusters_per_class=1, random_state=draw
        ),
        "parts": lambda: bundled.make_classification(
            400, 8, n_informative=6, n_classes=3, n_clusters_per_class=2, class_sep=1.5, random_state=draw
        ),
        "overlap": lambda: bundled.make_blobs(400, 5, centers=4, cluster_std=5.5, random_state=draw),
        "unbalanced": lambda: bundled.make_blobs([250, 80, 40, 20], 6, cluster_std=2.5, random_state=draw),
    }
    return makers[name]() if name in makers else None


def _stretch(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the points after a random linear map."""
    n_features = X.shape[1]
    return X @ np.random.default_rng(0).normal(size=(n_features, n_features)), y


def _docstrings(package: str, modules: tuple[str, ...]) -> tuple[Any, np.ndarray]:
    """Return counts of the words in the docstrings of some modules' functions, the module as class."""
    texts, classes = [], []
    for number, name in enumerate(modules):
        module = import_module(f"{package}.{name}")
        for member in sorted(set(dir(module))):
            text = getattr(getattr(module, member), "__doc__", None)
            if not member.startswith("_") and text and len(text) > 200:
                texts.append(text)
                classes.append(number)
    vectorizer = CountVectorizer if package == "sklearn" else TfidfVectorizer
    words = vectorizer(min_df=3, max_df=0.5, stop_words="english").fit_transform(texts).astype(float)
    return words, np.array(classes)


def _patches(draw: int) -> tuple[np.ndarray, np.ndarray]:
    """Return patches of 6 x 6 coloured pixels from two photographs, and which one they are of."""
    rng, rows, size = np.random.default_rng(draw), [], 6
    images = bundled.load_sample_images().images
    for image in images:
        for top, left in zip(rng.integers(0, 420, 200), rng.integers(0, 630, 200), strict=True):
            rows.append(image[top : top + size, left : left + size].ravel())
    return np.array(rows, dtype=float), np.repeat(np.arange(len(images)), 200)


def _digits(draw: int, sizes: dict[int, int], noise: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """Return so many points of each digit, with noise on every pixel."""
    X, y = bundled.load_digits(return_X_y=True)
    rng = np.random.default_rng(draw)
    rows = np.concatenate([rng.permutation(np.flatnonzero(y == digit))[:n] for digit, n in sizes.items()])
    return X[rows] + noise * rng.normal(size=X[rows].shape), np.unique(y[rows], return_inverse=True)[1]


def _in_units(X: np.ndarray, y: np.ndarray, draw: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the points with every feature in a unit of its own."""
    return X * 10.0 ** np.random.default_rng(draw).uniform(-1.5, 1.5, X.shape[1]), y


def _mixed(draw: int) -> tuple[np.ndarray, np.ndarray]:
    """Return points whose classes show in yes-or-no features, beside broad features that say little."""
    rng = np.random.default_rng(draw)
    y = rng.choice(4, 400, p=[0.4, 0.3, 0.2, 0.1])
    answers = rng.random((400, 12)) < rng.uniform(0.05, 0.95, (4, 12))[y]
    broad = 30.0 * rng.normal(size=(400, 4)) + 15.0 * rng.normal(size=(4, 4))[y]
    return np.column_stack([answers, broad]), y
