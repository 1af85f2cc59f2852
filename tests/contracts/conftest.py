"""The estimators under contract. A new estimator is one line in CASES."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from sidecut import (
    CCSR,
    CSAP,
    CSP,
    E2CP,
    LCSC,
    LSC,
    NCSC,
    SCACS,
    SSKK,
    AutoCut,
    ConstrainedGMM,
    Constraints,
    COPKMeans,
    Layers,
    MetricKMeans,
    NormalizedCut,
    PoissonLearning,
    PoissonMBO,
    SpectralLearning,
)

#: What an estimator may promise beyond the contracts of all methods.
CONSTRAINTS = "uses constraints"
GRAPH = "cuts a graph of any form, and shows its eigenvalues"
CUT = "is the normalised cut where nothing is known"
ANY_K = "makes any number of clusters from 1 to n"
ANY_DATA = "answers, or says why not, whatever the data"
EMBEDDING = "shows the embedding it labelled"
SPARSE = "takes sparse points"
ALL = frozenset({CONSTRAINTS, GRAPH, CUT, ANY_K, ANY_DATA, EMBEDDING, SPARSE})


@dataclass(frozen=True)
class Case:
    """An estimator with some settings, and the contracts it keeps."""

    estimator: type
    settings: dict[str, Any] = field(default_factory=dict)
    promises: frozenset[str] = ALL

    def make(self, n_clusters=3, **more):
        """Return the estimator, with a seed; parameters it does not have or would not use are left out."""
        known = self.estimator().get_params()
        settings = {"random_state": 0, **self.settings, **more}
        if settings.get("affinity", "knn") != "knn":
            settings.pop("n_neighbors", None)
        return self.estimator(n_clusters, **{name: settings[name] for name in settings if name in known})

    def reference(self, n_clusters=3, **more):
        """Return the normalised cut with the same settings, as far as it has them."""
        return Case(NormalizedCut, self.settings).make(n_clusters, **more)

    def knows(self, constraints):
        """Return what this estimator may be told: the constraints if it uses them, else nothing."""
        return constraints if CONSTRAINTS in self.promises else None

    def __str__(self):
        settings = ", ".join(f"{name}={value!r}" for name, value in self.settings.items())
        return f"{self.estimator.__name__}({settings})"


CASES = [
    Case(NormalizedCut, promises=ALL - {CONSTRAINTS}),
    Case(NormalizedCut, {"assign_labels": "cluster_qr", "unit_rows": False}, promises=ALL - {CONSTRAINTS}),
    Case(SpectralLearning),
    Case(SpectralLearning, {"normalization": "additive"}, promises=ALL - {CUT}),
    Case(SpectralLearning, {"assign_labels": "discretize"}),
    Case(CSAP),
    Case(CSAP, {"eps_must": 0.1, "eps_cannot": 0.2}),
    Case(E2CP),
    Case(E2CP, {"rescale": False, "eigenvectors": "nontrivial"}, promises=ALL - {CUT}),
    # Where few clusters are spoken of, feasible cuts are few; on a graph that all but falls apart, eq. 13 is
    # all but singular.
    Case(CSP, promises=ALL - {ANY_DATA}),
    Case(CSP, {"beta": "eq19", "weighting": "one_minus_cost"}, promises=ALL - {ANY_DATA}),
    Case(CCSR),
    Case(LCSC, {"cannot_links": "ignore"}),
    # Without links, nonnegativity makes another problem of the normalised cut.
    Case(NCSC, promises=ALL - {CUT}),
    Case(NCSC, {"gamma_must": 2.0, "gamma_cannot": 1.0, "init": "kmeans"}, promises=ALL - {CUT}),
    Case(NCSC, {"solver": "exchange"}, promises=ALL - {CUT}),
    Case(NCSC, {"nonnegative": False, "gamma_cannot": 0}),
    # Scores in place of eigenvectors; labels of all clusters need no eigenvalues.
    Case(PoissonLearning, promises=ALL - {GRAPH}),
    Case(PoissonMBO, promises=ALL - {GRAPH, CUT}),
    Case(PoissonMBO, {"times": (5.0,), "sizes": "labels"}, promises=ALL - {GRAPH, CUT}),
    # A layout in place of eigenvectors; one of six points shows little.
    Case(Layers, promises=ALL - {GRAPH, CUT, ANY_DATA}),
    # Landmarks make their own graph, on which no point is isolated.
    Case(LSC, {"n_nearest": 12}, promises=frozenset({ANY_K, EMBEDDING, SPARSE})),
    Case(SCACS, {"n_nearest": 12}, promises=frozenset({CONSTRAINTS, ANY_K, EMBEDDING, SPARSE})),
    Case(
        SCACS,
        {"n_nearest": 12, "landmarks": "random", "orthogonal": True},
        promises=frozenset({CONSTRAINTS, ANY_K, EMBEDDING, SPARSE}),
    ),
    # Kernel k-means ends in the nearest of many minima, and has no eigenvalues.
    Case(SSKK, promises=frozenset({CONSTRAINTS, ANY_K, EMBEDDING, SPARSE})),
    Case(
        SSKK,
        {"weighting": "none", "init": "spectral"},
        promises=frozenset({CONSTRAINTS, ANY_K, EMBEDDING, SPARSE}),
    ),
    # No graph, no embedding; three classes of labels in two clusters are refused.
    Case(COPKMeans, promises=frozenset({CONSTRAINTS, ANY_K, SPARSE})),
    Case(COPKMeans, {"init": "random"}, promises=frozenset({CONSTRAINTS, ANY_K, SPARSE})),
    Case(ConstrainedGMM, promises=frozenset({CONSTRAINTS, ANY_K})),
    Case(
        ConstrainedGMM,
        {"covariance_type": "diag", "must_links": "penalty", "hard": True},
        promises=frozenset({CONSTRAINTS, ANY_K}),
    ),
    Case(MetricKMeans, promises=frozenset({CONSTRAINTS, ANY_K, SPARSE})),
    Case(MetricKMeans, {"hard": True}, promises=frozenset({CONSTRAINTS, ANY_K, SPARSE})),
    # A vote of several methods has no embedding of its own.
    Case(AutoCut, {"budget": 5}, promises=frozenset({CONSTRAINTS, ANY_K, SPARSE, ANY_DATA})),
]


def _promising(*promises):
    return [case for case in CASES if case.promises.issuperset(promises)]


@pytest.fixture(scope="session")
def cases():
    return CASES


@pytest.fixture(scope="session", params=CASES, ids=str)
def case(request):
    """Every estimator."""
    return request.param


@pytest.fixture(scope="session", params=_promising(CONSTRAINTS), ids=str)
def constrained(request):
    """Estimators that use constraints."""
    return request.param


@pytest.fixture(scope="session", params=_promising(CUT), ids=str)
def cutting(request):
    """Estimators that are the normalised cut where nothing is known."""
    return request.param


@pytest.fixture(scope="session", params=_promising(GRAPH), ids=str)
def graph_case(request):
    """Estimators that cut a graph."""
    return request.param


@pytest.fixture(scope="session", params=_promising(CONSTRAINTS, EMBEDDING), ids=str)
def embedding(request):
    """Estimators that use constraints and show the embedding they labelled."""
    return request.param


@pytest.fixture(
    scope="session",
    params=[case for case in _promising(CONSTRAINTS) if "eigen_solver" in case.estimator().get_params()],
    ids=str,
)
def building(request):
    """Estimators that use constraints, build the graph an affinity names and solve an eigenproblem on it."""
    return request.param


@pytest.fixture(
    scope="session", params=[case for case in CASES if "n_init" in case.estimator().get_params()], ids=str
)
def starting(request):
    """Estimators that start several times."""
    return request.param


@pytest.fixture(
    scope="session", params=[case for case in CASES if "unit_rows" in case.estimator().get_params()], ids=str
)
def scaling(request):
    """Estimators that scale the rows of their embedding."""
    return request.param


@pytest.fixture(scope="session", params=_promising(SPARSE), ids=str)
def sparse_case(request):
    """Estimators that take sparse points."""
    return request.param


@pytest.fixture(scope="session", params=_promising(ANY_K), ids=str)
def counting(request):
    """Estimators that make any number of clusters."""
    return request.param


@pytest.fixture(scope="session", params=_promising(ANY_DATA), ids=str)
def robust(request):
    """Estimators that answer, or say why not, whatever the data."""
    return request.param


@pytest.fixture(scope="session")
def blobs():
    """Three unmistakable clusters of 20 points, and which is which."""
    X, y = make_blobs(60, centers=[[0, 0], [6, 0], [0, 6]], cluster_std=0.8, random_state=0)
    X.flags.writeable = False
    return X, y


@pytest.fixture(scope="session")
def known(blobs):
    """True links between some of the points, and labels of others."""
    y = blobs[1]
    pairs = np.random.default_rng(0).integers(0, 60, size=(30, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    together = y[pairs[:, 0]] == y[pairs[:, 1]]
    links = Constraints.from_pairs(60, must_link=pairs[together], cannot_link=pairs[~together])
    return links | Constraints.from_labels(np.where(np.arange(60) % 4 == 0, y, -1))
