"""Every method that applies, from the work to a class for every point."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linear_sum_assignment
from sklearn.cluster import SpectralClustering

from benchmarks.quality.few_labels.work import Work
from sidecut import CCSR, CSAP, CSP, E2CP, NCSC, NormalizedCut, PoissonLearning, PoissonMBO
from sidecut.methods.e2cp.propagation import spread

Method = Callable[[Work], np.ndarray]


def by_labels(estimator: type, **settings: object) -> Method:
    """A method of this library; its clusters are named by the labels in them."""

    def run(work: Work) -> np.ndarray:
        model = estimator(work.n_clusters, affinity="precomputed", random_state=0, **settings)
        return name_clusters(model.fit(work.graph, constraints=work.constraints).labels_, work)

    return run


def with_sizes(factor: Callable[[int], float] | None = None, spread: float = 0.0) -> Method:
    """PoissonMBO, told the sizes: exactly, wrongly, or within bounds."""

    def run(work: Work) -> np.ndarray:
        order = work.classes_in_order()
        sizes = np.bincount(work.truth)[order].astype(float)
        if factor is not None:
            sizes *= [factor(c) for c in range(len(sizes))]
            sizes *= len(work.truth) / sizes.sum()
        bounds = sizes / sizes.sum() if spread == 0 else np.outer(sizes, [1 - spread, 1 + spread])
        model = PoissonMBO(work.n_clusters, affinity="precomputed", sizes=bounds, random_state=0)
        return order[model.fit(work.graph, constraints=work.constraints).labels_]

    return run


def label_spreading(alpha: float) -> Method:
    """What scikit-learn's LabelSpreading converges to on the same graph, by conjugate gradients."""

    def run(work: Work) -> np.ndarray:
        given = work.known[:, None] == np.arange(work.n_clusters)
        return spread(work.graph, given.astype(float), alpha).argmax(axis=1)

    return run


def cut(work: Work) -> np.ndarray:
    """The normalised cut, which knows nothing."""
    model = NormalizedCut(work.n_clusters, affinity="precomputed", random_state=0).fit(work.graph)
    return name_clusters(model.labels_, work)


def lobpcg(work: Work) -> np.ndarray:
    """scikit-learn's spectral clustering, which knows nothing: what all are timed against."""
    model = SpectralClustering(
        work.n_clusters, affinity="precomputed", eigen_solver="lobpcg", random_state=0, n_init=10
    )
    return name_clusters(model.fit_predict(sp.csr_matrix(work.graph.matrix)), work)


def name_clusters(labels: np.ndarray, work: Work) -> np.ndarray:
    """Give clusters the classes that fit best: the labels in them; without any, all points."""
    n = work.n_clusters
    given = work.known >= 0
    table = np.zeros((n, n))
    np.add.at(table, (labels[given], work.known[given]), 1.0)
    everyone = np.zeros((n, n))
    np.add.at(everyone, (labels, work.truth), 1.0)
    # The truth only decides where no label does.
    rows, columns = linear_sum_assignment(-(table + 1e-9 * everyone / len(labels)))
    names = np.empty(n, dtype=int)
    names[rows] = columns
    return names[labels]


def every_other(cluster: int) -> float:
    """Sizes that are wrong by a fifth, too large and too small in turn."""
    return 1.2 if cluster % 2 else 0.8


LABELS: dict[str, Method] = {
    "PoissonLearning": by_labels(PoissonLearning, safe=False),
    "PoissonMBO": by_labels(PoissonMBO),
    "PoissonMBO, sizes given": with_sizes(),
    "LabelSpreading .2": label_spreading(0.2),
    "LabelSpreading .8": label_spreading(0.8),
    "LabelSpreading .99": label_spreading(0.99),
    "CSP": by_labels(CSP),
    "E2CP": by_labels(E2CP),
    "NCSC": by_labels(NCSC),
    "CSAP": by_labels(CSAP),
    "CCSR": by_labels(CCSR),
    "NormalizedCut": cut,
    "scikit-learn lobpcg": lobpcg,
}
SIZES: dict[str, Method] = {
    "PoissonMBO": by_labels(PoissonMBO),
    "PoissonMBO, sizes given": with_sizes(),
    "sizes 20 % off": with_sizes(every_other),
    "bounds of 20 %": with_sizes(spread=0.2),
    "bounds of 20 % around sizes 20 % off": with_sizes(every_other, spread=0.2),
}
PAIRS: dict[str, Method] = {
    "PoissonMBO": by_labels(PoissonMBO),
    "PoissonLearning": by_labels(PoissonLearning, safe=False),
    "E2CP": by_labels(E2CP),
    "NCSC": by_labels(NCSC),
    "CSAP": by_labels(CSAP),
    "NormalizedCut": cut,
}
RANDOM: dict[str, Method] = LABELS | {"PoissonMBO, sizes by labels": by_labels(PoissonMBO, sizes="labels")}
#: Sizes cannot be told of a class whose label is missing.
MISSING: dict[str, Method] = {name: LABELS[name] for name in ("PoissonMBO", "PoissonLearning", "CSP", "E2CP")}
