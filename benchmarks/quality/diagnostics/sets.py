"""The data: four sets of scikit-learn, on which constants of the suspicion were set, and eight others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine

BUNDLED = {"iris": load_iris, "wine": load_wine, "breast cancer": load_breast_cancer, "digits": load_digits}
OTHERS = ("glass", "ionosphere", "sonar", "segment", "pendigits", "usps", "letter", "mnist")
#: Pixels are all on one scale.
AS_THEY_ARE = ("digits", "usps", "mnist")
MOST_POINTS = 1_000


def load_set(name: str, folder: Path) -> tuple[Any, Any]:
    """Return at most 1,000 points of a set, drawn with a fixed seed, their features standardised."""
    X, y = _read(name, folder)
    if len(y) > MOST_POINTS:
        chosen = np.random.default_rng(0).choice(len(y), MOST_POINTS, replace=False)
        X, y = X[chosen], y[chosen]
    y = np.unique(y, return_inverse=True)[1]
    if name in AS_THEY_ARE:
        return X, y
    return (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-12), y


def _read(name: str, folder: Path) -> tuple[Any, Any]:
    if name in BUNDLED:
        return BUNDLED[name](return_X_y=True)
    data = np.load(folder / f"{name}.npz", allow_pickle=False)
    return np.asarray(data["X"], dtype=float).reshape(len(data["y"]), -1), np.asarray(data["y"])
