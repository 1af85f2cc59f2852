"""The fit of every method, and the walk every spectral one takes: data, graph, embedding, labels."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self, cast

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted

from sidecut.arrays import FloatArray, IntArray
from sidecut.constraints import Constraints
from sidecut.graphs import Graph, GraphRecipe, normalized_once, warn_about_graph
from sidecut.graphs.threads import use_threads
from sidecut.labelling import LabellingMethod, assign_labels, measure_confidence, satisfy_links, unit_rows
from sidecut.methods.inputs import (
    build_graph,
    check_data,
    check_task,
    check_y,
    is_precomputed,
)
from sidecut.parameters import check_flag, check_parameters
from sidecut.progress import stage, tell
from sidecut.spectral import Eigenpairs, laplacian_eigenpairs
from sidecut.spectral.laplacian import SOLVERS

#: The affinities for which X must not be negative: weights of a graph, and word counts.
NONNEGATIVE = ("precomputed", "cosine")
LABELLINGS = ("kmeans", "rotation", "qr", "sign")
#: What scikit-learn calls two of them.
SKLEARN_LABELLINGS = {"discretize": "rotation", "cluster_qr": "qr"}


class ConstrainedClusterer(ClusterMixin, BaseEstimator):
    """The base of every estimator here: a scikit-learn clusterer that takes constraints beside the data.

    A method says in `_fit` what it does; `fit` looks after what all have in common.
    """

    n_clusters: int
    hard: bool
    n_jobs: int | None
    verbose: int
    labels_: Any
    #: The data and the graph made of them, before constraints; `predict` needs both, most methods neither.
    _seen: tuple[Any, Any] = (None, None)
    _keeps_data = False
    _confidence: FloatArray | None

    def fit(self, X: Any, y: Any = None, *, constraints: Constraints | None = None) -> Self:
        """Cluster the data.

        Parameters
        ----------
        X : array, sparse matrix, tensor, data frame or table of shape (n_samples, n_features)
            The points, of NumPy, SciPy, PyTorch, pandas, polars or Arrow; with affinity="precomputed", where
            there is such a parameter, the graph itself.
        y : ignored
            Present for scikit-learn's sake. Labels that are known enter through `constraints`.
        constraints : Constraints, optional
            What is known about the points.

        Returns
        -------
        self
            With `labels_`, `confidence_` and the method's own results.
        """
        check_y(y)
        check_flag("safe", getattr(self, "safe", True))
        self._confidence = None
        with use_threads(self.n_jobs), tell(getattr(self, "verbose", 0), f"{type(self).__name__}:"):
            self._fit(X, constraints)
            self._safeguard(X, constraints)
        if not self._keeps_data:
            self._forget("_seen")
        self._name_clusters(constraints)
        return self

    @property
    def confidence_(self) -> FloatArray:
        """How sure each label is, from 0 to 1; at 0.5 another cluster is as likely.

        It is measured when it is first asked for, from what the fit kept. A fit on chunks of rows keeps too
        little for it.
        """
        check_is_fitted(self, "labels_")
        if "_confidence" not in self.__dict__:
            raise AttributeError("There is no confidence_: rows that came in chunks were not kept; use fit.")
        if self._confidence is None:
            with use_threads(self.n_jobs):
                self._confidence = self._measure_confidence()
        return self._confidence

    def _name_clusters(self, constraints: Constraints | None) -> None:
        """Remember which cluster is which class, where classes are known by name."""
        nothing: dict[int, Any] = {}
        n_clusters = getattr(self, "n_clusters_", self.n_clusters)
        named = None if constraints is None else constraints.name_clusters(self.labels_, n_clusters)
        self.cluster_classes_ = named or nothing

    @abstractmethod
    def _fit(self, X: Any, constraints: Constraints | None) -> None:
        """Cluster the data: what is the method's own."""

    def _safeguard(self, X: Any, constraints: Constraints | None) -> None:
        """Hook: look after knowledge that is too little for the method."""

    def _forget(self, *names: str) -> None:
        """Leave nothing of an earlier fit under these names."""
        for name in names:
            self.__dict__.pop(name, None)

    def _repair(self, rows: FloatArray, constraints: Constraints) -> None:
        """Change labels so that they satisfy the links, where `hard` asks for it; `rows` were clustered."""
        self._forget("repair_")
        if self.hard and not constraints.is_empty:
            self.labels_, self.repair_ = satisfy_links(self.labels_, rows, constraints, self.n_clusters)

    def _measure_confidence(self) -> FloatArray:
        """Hook: how sure every label is; by default from what was clustered and from the graph.

        A method that would need the data sets `_confidence` in its fit instead.
        """
        return measure_confidence(
            self.labels_, getattr(self, "embedding_", None), getattr(self, "affinity_matrix_", None)
        )

    def fit_predict(self, X: Any, y: Any = None, *, constraints: Constraints | None = None) -> IntArray:
        """Cluster the data and return the labels.

        Parameters
        ----------
        X : array, sparse matrix or data frame
            See `fit`.
        y : ignored
            Present for scikit-learn's sake. Labels that are known enter through `constraints`.
        constraints : Constraints, optional
            What is known about the points.

        Returns
        -------
        array of shape (n_samples,)
            The cluster of every point.
        """
        return self.fit(X, y, constraints=constraints).labels_


class SpectralClusterer(ConstrainedClusterer):
    """The base of the spectral methods: the walk, with two hooks.

    A method overrides `_constrain_graph` to rewrite the graph by what is known, or `_embed` to pose another
    problem on it. Without constraints both give the normalised cut.

    Parameters
    ----------
    n_clusters : int, default=8
        The number of clusters.
    affinity : str or GraphRecipe, default="knn"
        How data become a graph: "knn", "gaussian", "self_tuning", "heat", "cosine", a recipe such as
        ``Neighbors(15, search="approximate")``, or "precomputed", where X is the graph itself: a matrix, a
        networkx graph or a Graph.
    n_neighbors : int, default=20
        How many neighbours each point has in the graph of ``affinity="knn"``.
    labelling : {"kmeans", "rotation", "qr", "sign"}, default="kmeans"
        How the embedding becomes labels; "sign" is for two clusters and takes the sign of the second
        eigenvector.
    assign_labels : {"kmeans", "discretize", "cluster_qr"}, optional
        scikit-learn's name for `labelling`, and its words for "rotation" and "qr". Give one of the two.
    unit_rows : bool, default=True
        Scale every row of the embedding to length one before it is labelled. Without, k-means can collapse on
        graphs of real data, where the rows differ in length by orders of magnitude.
    n_init : int, default=10
        How many starts the labelling has.
    eigen_solver : {"auto", "dense", "lanczos", "factorized", "iterated"}, default="auto"
        See `sidecut.spectral.laplacian_eigenpairs`.
    hard : bool, default=False
        Finish with labels that satisfy all must-links and as many cannot-links as possible; `repair_` tells
        what it took.
    n_jobs : int or None, default=None
        How many threads a fit may use. None: all cores that OMP_NUM_THREADS allows, but one in a worker of
        joblib or Dask. -1: all cores.
    verbose : int or bool, default=0
        1: write the stages of the fit and their seconds to standard error, with a bar for long ones on a
        terminal. 2: also the stages within them.
    random_state : int, RandomState or None, default=None
        Starting vectors and k-means starts; an int makes the result reproducible.
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        affinity: str | GraphRecipe = "knn",
        n_neighbors: int = 20,
        labelling: LabellingMethod = "kmeans",
        assign_labels: str | None = None,
        unit_rows: bool = True,
        n_init: int = 10,
        eigen_solver: str = "auto",
        hard: bool = False,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.affinity = affinity
        self.n_neighbors = n_neighbors
        self.labelling = labelling
        self.assign_labels = assign_labels
        self.unit_rows = unit_rows
        self.n_init = n_init
        self.eigen_solver = eigen_solver
        self.hard = hard
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def _fit(self, X: Any, constraints: Constraints | None) -> None:
        # The graph is the dearest step: whatever can be refused is refused before it is built.
        self._check_parameters()
        data = check_data(self, X)
        constraints = check_task(self, data, constraints)
        rng = check_random_state(self.random_state)
        graph = self._build_graph(data)
        self.graph_recall_ = graph.recall
        self._seen = data, graph
        with normalized_once(graph):
            if not constraints.is_empty:
                with stage("constraints in the graph"):
                    graph = self._constrain_graph(graph, constraints)
            warn_about_graph(graph, self.n_clusters)
            self.affinity_matrix_ = graph
            with stage("embedding"):
                self.embedding_ = self._embed(graph, constraints, rng)
        with stage("labels"):
            self.labels_ = self._assign_labels(self.embedding_, rng)
            self._repair(self.embedding_, constraints)

    def _check_parameters(self) -> None:
        """Refuse parameters that make no sense, whatever the data."""
        choices = {"labelling": LABELLINGS, "eigen_solver": SOLVERS}
        if self.assign_labels is not None:
            choices["assign_labels"] = (*LABELLINGS, *SKLEARN_LABELLINGS)
        check_parameters(self, choices=choices, flags=("unit_rows",), counts=("n_init",))
        if self.assign_labels is not None and self.labelling != "kmeans":
            raise ValueError(
                f"labelling={self.labelling!r} and assign_labels={self.assign_labels!r} name the same "
                "choice: give one of them."
            )

    @property
    def _labelling(self) -> LabellingMethod:
        """How the embedding becomes labels, by whichever name it was asked for."""
        if self.assign_labels is None:
            return self.labelling
        return cast(LabellingMethod, SKLEARN_LABELLINGS.get(self.assign_labels, self.assign_labels))

    def _build_graph(self, data: Any) -> Graph:
        """Make the graph the affinity names, from what `check_data` let in."""
        return build_graph(self, data)

    def _constrain_graph(self, graph: Graph, constraints: Constraints) -> Graph:
        """Hook 1: rewrite the graph by what is known."""
        return graph

    def _embed(self, graph: Graph, constraints: Constraints, rng: np.random.RandomState) -> FloatArray:
        """Hook 2: the eigenvectors of the normalised cut, as D^{-1/2} V (Shi & Malik, 2000)."""
        needed = max(self.n_clusters, 2) if self._labelling == "sign" else self.n_clusters
        pairs = laplacian_eigenpairs(graph, needed, solver=self.eigen_solver, random_state=rng)
        self._remember(pairs)
        relaxed = graph.scale[:, None] * pairs.vectors
        if self._labelling == "sign":
            return relaxed[:, 1:]
        return unit_rows(relaxed) if self.unit_rows else relaxed

    def _remember(self, pairs: Eigenpairs) -> None:
        self.solution_ = pairs
        self.eigenvalues_ = pairs.values
        self.eigenvectors_ = pairs.vectors

    def _assign_labels(self, embedding: FloatArray, rng: np.random.RandomState) -> IntArray:
        return assign_labels(
            embedding, self.n_clusters, method=self._labelling, n_init=self.n_init, random_state=rng
        )

    def __sklearn_tags__(self) -> Tags:
        """Tell scikit-learn that sparse data are welcome and when X is a matrix of pairs."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = is_precomputed(self)
        tags.input_tags.positive_only = isinstance(self.affinity, str) and self.affinity in NONNEGATIVE
        return tags
