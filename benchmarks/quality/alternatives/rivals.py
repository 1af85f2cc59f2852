"""The others, each with the settings among which the best is taken in hindsight."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.cluster import HDBSCAN, KMeans
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.semi_supervised import LabelPropagation, LabelSpreading
from sklearn.svm import SVC

Answer = Callable[[Any, np.ndarray], np.ndarray]


def classifiers() -> dict[str, Answer]:
    """Four usual classifiers, trained on the told points alone."""
    models: dict[str, Any] = {f"logistic, C={C}": LogisticRegression(C=C, max_iter=200) for C in (0.1, 1, 10)}
    models |= {f"SVM, C={C}": SVC(C=C) for C in (1, 10, 100)}
    models |= {f"nearest neighbour, {k}": KNeighborsClassifier(k) for k in (1, 3)}
    models |= {"random forest": RandomForestClassifier(100, random_state=0)}
    return {name: _train(model) for name, model in models.items()}


def propagations() -> dict[str, Answer]:
    """Label spreading and label propagation on graphs of neighbours."""
    models: dict[str, Any] = {
        f"spreading, alpha={alpha}, {k} neighbours": LabelSpreading(
            "knn", n_neighbors=k, alpha=alpha, max_iter=300
        )
        for alpha in (0.2, 0.8, 0.99)
        for k in (7, 20)
    }
    models |= {
        f"propagation, {k} neighbours": LabelPropagation("knn", n_neighbors=k, max_iter=300) for k in (7, 20)
    }
    return {name: _spread(model) for name, model in models.items()}


def _train(model: Any) -> Answer:
    def answer(X: Any, told: np.ndarray) -> np.ndarray:
        seen = told >= 0
        if getattr(model, "n_neighbors", 1) > seen.sum():
            return np.zeros(len(told), dtype=int)
        return np.asarray(model.fit(X[seen], told[seen]).predict(X))

    return answer


def _spread(model: Any) -> Answer:
    def answer(X: Any, told: np.ndarray) -> np.ndarray:
        return np.asarray(model.fit(X, told).transduction_)

    return answer


def hdbscans(n_clusters: int) -> dict[str, Any]:
    """HDBSCAN, which finds the number of clusters by itself and cannot be told anything."""
    return {
        f"at least {size}, {samples or 'same'} samples": HDBSCAN(
            min_cluster_size=size, min_samples=samples, copy=True
        )
        for size in (5, 10, 20, 40)
        for samples in (None, 2)
    }


def kmeans(n_clusters: int) -> dict[str, Any]:
    """K-means with the true number of clusters."""
    return {"ten starts": KMeans(n_clusters, n_init=10, random_state=0)}


def fit_without_labels(model: Any, X: Any) -> np.ndarray:
    """Cluster; noise goes to the cluster of the nearest point that has one, which scores better."""
    labels = np.asarray(model.fit_predict(X))
    noise = labels < 0
    if noise.any() and not noise.all():
        labels[noise] = KNeighborsClassifier(1).fit(X[~noise], labels[~noise]).predict(X[noise])
    return labels


RIVALS: dict[str, Callable[[], dict[str, Answer]]] = {
    "classifier": classifiers,
    "label propagation": propagations,
}
CLUSTERERS: dict[str, Callable[[int], dict[str, Any]]] = {"HDBSCAN": hdbscans, "k-means": kmeans}
