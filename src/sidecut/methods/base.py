"""What every estimator has: `fit`, which reads a task, solves it and keeps the answer; and its parameters."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, replace
from inspect import signature
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from sidecut.checks import FloatArray, IntArray, Rule, check_count, check_flag, one_of
from sidecut.exceptions import ParameterWarning, warn
from sidecut.graphs import Graph, GraphRecipe, recipe
from sidecut.labelling import Repair, keep_given_classes, measure_confidence, satisfy_links
from sidecut.methods.cut import LABELLINGS
from sidecut.methods.guard import are_ample, guard
from sidecut.methods.new_points import TakesNewPoints, equal_rows
from sidecut.methods.parts import solve_in_parts
from sidecut.methods.task import Answer, Decision, Task, is_precomputed, make_once, read_task
from sidecut.running import show_progress, stage, use_threads
from sidecut.spectral import Eigenpairs
from sidecut.spectral.laplacian import SOLVERS

#: The affinities for which X must not be negative: weights of a graph, and word counts.
NONNEGATIVE = ("precomputed", "cosine")

AFFINITY = """affinity : str or GraphRecipe, default="knn"
        How data become a graph: "knn", "gaussian", "self_tuning", "heat", "cosine", a recipe such as
        ``Neighbors(15, search="approximate")``, or "precomputed", where X is the graph itself: a matrix, a
        networkx graph or a Graph.
    n_neighbors : int, default=20
        How many neighbours each point has in the graph of ``affinity="knn"``."""

SOLUTION = """solution_ : Eigenpairs
        The eigenpairs with their residuals, the solver that ran and its certificate."""

#: What the docstrings of all estimators say of the parameters and results they share.
SHARED = {
    "n_clusters": """n_clusters : int, default=8
        The number of clusters.""",
    "labels_": """labels_ : array of shape (n_samples,)
        The cluster of every point, numbered in order of first appearance.""",
    "embedding_": """embedding_ : array of shape (n_samples, n_clusters)
        What was handed to the labelling.""",
    "solution_": SOLUTION,
    "cut_graph": f"""affinity_matrix_ : Graph
        The graph that was cut.
    {SOLUTION}""",
    "graph": f"""{AFFINITY}
    n_init : int, default=10
        How many starts k-means has.
    eigen_solver : {{"auto", "dense", "lanczos", "factorized", "iterated"}}, default="auto"
        See `sidecut.spectral.laplacian_eigenpairs`.
    split_parts : bool, default=True
        Cluster the connected parts of a graph one by one where that is called for: each with the clusters
        whose labels it holds. Small parts without labels take no cluster of their own. False: all parts in
        one cut, as in the papers.""",
    "affinity": AFFINITY,
    "rows": """unit_rows : bool, default=True
        Scale every row of the embedding to length one before it is labelled. Without, k-means can collapse on
        graphs of real data, where the rows differ in length by orders of magnitude.""",
    "labels": """assign_labels : {"kmeans", "discretize", "cluster_qr"}, default="kmeans"
        How the embedding becomes labels, as in `sklearn.cluster.SpectralClustering`.""",
    "constraints": """hard : bool, default=False
        Finish with labels that satisfy all must-links and as many cannot-links as possible; `repair_` tells
        what it took.
    safe : bool, default=True
        Keep the answer without constraints where it satisfies them all, or where they are too few to show
        that they improve it; `decision_` says which was kept. Points whose class was given are put into the
        cluster of that class. False always follows the constraints, and leaves labels as they are found.""",
    "all": """n_jobs : int or None, default=None
        How many threads a fit may use. None: all cores that OMP_NUM_THREADS allows, but one in a worker of
        joblib or Dask. -1: all cores.
    verbose : int or bool, default=0
        1: write the stages of the fit and their seconds to standard error, with a bar for long ones on a
        terminal. 2: also the stages within them.
    random_state : int, RandomState or None, default=None
        An int makes the result reproducible.""",
    "results": """decision_ : Decision
        With `safe`: which answer was kept, and why.
    used_constraints_ : bool
        Whether the constraints were used: False where the answer without them was kept.
    contradicted_ : array of int
        With `safe`: the points whose given class is not that of the cluster they were found in. They are in
        the cluster of their class all the same.
    repair_ : Repair
        With `hard`: which labels were changed to satisfy the links, at what cost, and what could not be.
    cluster_classes_ : dict
        The class of each cluster, where labels were given.
    confidence_ : array of shape (n_samples,)
        How sure each label is, from 0 to 1; measured when it is first asked for.
    n_features_in_ : int
        Number of features seen in fit.""",
}

Class = TypeVar("Class", bound=type)


def documented(estimator: Class) -> Class:
    """Write what all estimators share into the docstring of one, in place of {graph}, {all} and the like."""
    for name, text in SHARED.items():
        estimator.__doc__ = (estimator.__doc__ or "").replace(f"{{{name}}}", text)
    return estimator


class Fitted:
    """What a fit may leave on an estimator."""

    labels_: Any
    embedding_: Any
    affinity_matrix_: Graph
    solution_: Eigenpairs
    eigenvalues_: FloatArray
    eigenvectors_: FloatArray
    cluster_classes_: dict[int, Any]
    decision_: Decision
    used_constraints_: bool
    contradicted_: IntArray
    repair_: Repair
    _task: Task
    _answer: Answer
    _kept: tuple[str, ...]
    #: Points were divided by this power of two.
    _exponent = 0


@dataclass(eq=False, repr=False)
class Clusterer(TakesNewPoints, Fitted, ClusterMixin, BaseEstimator):
    """The base of every estimator here: a method implements `_solve(task) -> Answer`, and nothing else."""

    n_clusters: int = 8
    _: KW_ONLY
    n_jobs: int | None = None
    verbose: int = 0
    random_state: int | np.random.RandomState | None = None

    #: What parameters may be: checked before anything is computed.
    rules: ClassVar[dict[str, Rule]] = {}
    # Parameters of some methods. Where they are none, this holds.
    hard = False
    safe = False
    warm_start = False
    #: What `check_points` lets in beside floating-point numbers.
    accepts: ClassVar[dict[str, Any]] = {}
    #: Whether the method finds the number of clusters: `n_clusters` may be "auto", or bounds.
    takes_bounds: ClassVar[bool] = False
    #: Whether a graph may be given beside the points.
    takes_graph: ClassVar[bool] = False
    #: How much the guard needs to follow constraints: 0 follows all that change anything, see `guard`.
    caution = 1.0

    def fit(self, X: Any, y: Any = None, *, constraints: Any = None, graph: Any = None) -> Self:
        """Cluster the data.

        Parameters
        ----------
        X : array, sparse matrix, tensor, data frame or table of shape (n_samples, n_features)
            The points, of NumPy, SciPy, PyTorch, pandas, polars or Arrow; with affinity="precomputed", where
            there is such a parameter, the graph itself.
        y : ignored
            Present for scikit-learn's sake. Labels that are known are given as `constraints`.
        constraints : Constraints, array-like, Series or dict, optional
            Which points belong together and which do not; or the labels of some points, as for
            `Constraints.from_labels`. A dict or a series names rows by the index of X, if X has one.
        graph : matrix, networkx.Graph, igraph.Graph or Graph, optional
            A graph of the same points, such as links between texts; node i is row i of X. The method then
            works on features averaged over two steps along it.

        Returns
        -------
        self
            With `labels_`, `confidence_` and the method's own results.
        """
        with use_threads(self.n_jobs), show_progress(self.verbose, f"{type(self).__name__}:"):
            task = read_task(self, X, y, constraints, graph)
            answer = self._let_stand(task, self._finish(task, self._answer_to(task)))
        return self._keep(task, answer)

    def _answer_to(self, task: Task) -> Answer:
        """Return the answer of the method or the guard, part by part where the graph is in parts."""
        return self._solve_parts(task, self._solve_guarded)

    def _solve_guarded(self, task: Task) -> Answer:
        """Return the answer of the method, or the one that the guard keeps."""
        if not self._is_guarded(task):
            return self._solve(task)
        return guard(task, self._solve, self.caution, self._has_ample_constraints(task))

    def _solve_parts(self, task: Task, solve: Callable[[Task], Answer] | None = None) -> Answer:
        """Return the answer to a task whose graph may be in parts; without `solve`, by the method alone."""
        return (solve or self._solve)(task)

    @abstractmethod
    def _solve(self, task: Task) -> Answer:
        """Return the clusters: the method itself. It reads its parameters and changes nothing on `self`."""

    def _build(self, data: Any, seed: int) -> tuple[Any, Graph | None]:
        """Return the data and the graph the method works on, made of points or a graph that were checked."""
        return data, None

    def _is_guarded(self, task: Task) -> bool:
        """Tell whether the answer without constraints may be kept."""
        is_asked = self.safe and not self.hard and not task.constraints.is_empty
        return is_asked and task.n_clusters > 1 and not self._must_follow

    @property
    def _must_follow(self) -> bool:
        """Whether the parameters say how constraints are followed, so that nothing else may be kept."""
        return False

    def _has_ample_constraints(self, task: Task) -> bool:
        """Tell whether the guard may follow the constraints without holding some out."""
        return are_ample(task.constraints, task.n_clusters)

    def _finish(self, task: Task, answer: Answer) -> Answer:
        """Return the answer with labels that satisfy the links, where `hard` asks for it."""
        if not self.hard or task.constraints.is_empty:
            return answer
        labels, repair = satisfy_links(
            answer.labels, self._rows_to_repair(task, answer), task.constraints, task.n_clusters
        )
        return replace(answer, labels=labels).with_results(repair_=repair)

    def _let_stand(self, task: Task, answer: Answer) -> Answer:
        """Return the answer in which labelled points keep their class; without `safe`, as it was found."""
        if not self.safe or not isinstance(answer.labels, np.ndarray):
            return answer
        return stand(task, answer)

    def _rows_to_repair(self, task: Task, answer: Answer) -> FloatArray:
        return np.asarray(answer.embedding)

    def _keep(self, task: Task, answer: Answer) -> Self:
        """Keep the answer, and nothing of an earlier fit."""
        for name in getattr(self, "_kept", ()):
            delattr(self, name)
        kept = {name: value for name, value in answer.results.items() if name.endswith("_")}
        kept["labels_"] = answer.labels
        shown = {
            "embedding_": answer.embedding,
            "affinity_matrix_": answer.graph,
            "solution_": answer.solution,
            "decision_": answer.decision,
        }
        kept |= {name: value for name, value in shown.items() if value is not None}
        if answer.solution is not None:
            kept |= {"eigenvalues_": answer.solution.values, "eigenvectors_": answer.solution.vectors}
        if isinstance(answer.labels, np.ndarray):
            n_clusters = kept.get("n_clusters_", task.n_clusters)
            kept["cluster_classes_"] = task.constraints.name_clusters(answer.labels, n_clusters) or {}
            kept["cluster_classes_"] |= answer.results.get("names", {})
        is_kept = answer.decision is None or answer.decision.kept == "constrained"
        kept.setdefault("used_constraints_", is_kept and not task.constraints.is_empty)
        for name, value in kept.items():
            setattr(self, name, value)
        for graph in (answer.graph, task.graph):
            # Ā can be made again. A graph that was given may be fitted again.
            if graph is not None and (graph is not task.graph or task.data is not None):
                graph.release()
        self._task, self._answer, self._kept = task, answer, tuple(kept)
        self._confidence = answer.confidence
        return self

    @property
    def confidence_(self) -> FloatArray:
        """How sure each label is, from 0 to 1; at 0.5 another cluster is as likely.

        It is measured when it is first asked for, from what the fit kept. A fit on chunks of rows keeps too
        little for it.
        """
        check_is_fitted(self, "labels_")
        if self._confidence is None:
            with use_threads(self.n_jobs):
                self._confidence = self._measure_confidence()
            unsure = self._answer.unsure
            if unsure is not None:
                self._confidence = np.where(np.isnan(unsure), self._confidence, unsure)
        return self._confidence

    def _measure_confidence(self) -> FloatArray:
        return measure_confidence(self.labels_, self._answer.embedding, self._answer.graph)

    def fit_predict(self, X: Any, y: Any = None, *, constraints: Any = None, graph: Any = None) -> IntArray:
        """Cluster the data and return the labels.

        Parameters
        ----------
        X : array, sparse matrix or data frame
            See `fit`.
        y : ignored
            Present for scikit-learn's sake. Labels that are known are given as `constraints`.
        constraints : Constraints, array-like, Series or dict, optional
            As for `fit`.
        graph : matrix, networkx.Graph, igraph.Graph or Graph, optional
            A graph of the same points, see `fit`.

        Returns
        -------
        array of shape (n_samples,)
            The cluster of every point.
        """
        return self.fit(X, y, constraints=constraints, graph=graph).labels_


def stand(task: Task, answer: Answer, named: IntArray | None = None) -> Answer:
    """Return the answer in which every point with a given class is in a cluster of its class."""
    labels, moved = keep_given_classes(answer.labels, task.constraints, task.n_clusters, named)
    return replace(answer, labels=labels).with_results(contradicted_=moved)


@dataclass(eq=False, repr=False)
class TakesConstraints:
    """The parameters of a method that uses constraints."""

    _: KW_ONLY
    hard: bool = False
    safe: bool = True
    rules: ClassVar[dict[str, Rule]] = {"hard": check_flag, "safe": check_flag}
    #: The parameters with which a method is its paper's algorithm.
    published: ClassVar[dict[str, Any]] = {"safe": False}

    @classmethod
    def as_published(cls, n_clusters: int, **settings: Any) -> Self:
        """Return the algorithm of the paper as printed: every default that departs from it is switched off.

        Parameters
        ----------
        n_clusters : int
            The number of clusters.
        settings
            Parameters that the paper leaves open, such as `affinity` or `random_state`, or its own, such as
            `beta` of CSP.

        Returns
        -------
        estimator
            Not fitted.
        """
        as_printed: dict[str, Any] = {}
        for owner in reversed(cls.__mro__):
            as_printed |= vars(owner).get("published", {})
        return cls(**{"n_clusters": n_clusters, **as_printed, **settings})


@dataclass(eq=False, repr=False)
class GraphClusterer(Clusterer):
    """The base of the methods on a graph: of points, or given as it is."""

    _: KW_ONLY
    affinity: str | GraphRecipe = "knn"
    n_neighbors: int = 20
    takes_graph: ClassVar[bool] = True

    def _build(self, data: Any, seed: int) -> tuple[Any, Graph | None]:
        return (None if isinstance(data, Graph) else data), build_graph(self, data)

    @property
    def graph_recall_(self) -> float | None:
        """The share of true neighbours that an approximate search found, as far as a sample tells."""
        check_is_fitted(self, "labels_")
        return None if self._task.graph is None else self._task.graph.recall

    def __sklearn_tags__(self) -> Tags:
        """Tell scikit-learn that sparse data are welcome and when X is a matrix of pairs."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = is_precomputed(self)
        tags.input_tags.positive_only = isinstance(self.affinity, str) and self.affinity in NONNEGATIVE
        return tags


@dataclass(eq=False, repr=False)
class EigenClusterer(GraphClusterer):
    """The base of the methods that solve eigenproblems on the graph, or on its parts, and start k-means."""

    _: KW_ONLY
    n_init: int = 10
    eigen_solver: str = "auto"
    split_parts: bool = True
    rules: ClassVar[dict[str, Rule]] = {
        "n_init": check_count,
        "eigen_solver": one_of(*SOLVERS),
        "split_parts": check_flag,
    }
    published: ClassVar[dict[str, Any]] = {"split_parts": False}
    #: Whether clusters are numbered in the order of the labelled points, not of all points.
    numbers_by_seeds: ClassVar[bool] = False

    def _solve_parts(self, task: Task, solve: Callable[[Task], Answer] | None = None) -> Answer:
        solve = solve or self._solve
        # A start of given rows is for all of them.
        is_whole = self._must_follow or not isinstance(getattr(self, "init", ""), str)
        if not self.split_parts or is_whole or task.graph is None or not task.graph.is_in_parts:
            return solve(task)
        return solve_in_parts(task, solve, self.numbers_by_seeds)


@dataclass(eq=False, repr=False)
class SpectralClusterer(EigenClusterer):
    """The base of the methods whose embedding has rows that may be scaled."""

    _: KW_ONLY
    unit_rows: bool = True
    rules: ClassVar[dict[str, Rule]] = {"unit_rows": check_flag}
    assign_labels = "kmeans"


@dataclass(eq=False, repr=False)
class CutClusterer(SpectralClusterer):
    """The base of the methods that end with a normalised cut, whose rows may be labelled in several ways."""

    _: KW_ONLY
    assign_labels: str = "kmeans"
    rules: ClassVar[dict[str, Rule]] = {"assign_labels": one_of(*LABELLINGS)}


def build_graph(estimator: Any, data: Any) -> Graph:
    """Return the graph an estimator is to cut, from what `check_data` let in."""
    warn_about_unused_neighbors(estimator)
    if isinstance(data, Graph):
        return data
    with stage("graph"):
        how = recipe(estimator.affinity, estimator.n_neighbors)
        if not estimator.warm_start:
            return how.build(data)
        return make_once(estimator, (type(how), how.get_params()), data, lambda: how.build(data))


def warn_about_unused_neighbors(estimator: BaseEstimator) -> None:
    """Warn where `n_neighbors` was chosen though the affinity does not look at it."""
    default = signature(type(estimator)).parameters["n_neighbors"].default
    is_used = isinstance(estimator.affinity, str) and estimator.affinity in ("knn", "nearest_neighbors")
    if is_used or estimator.n_neighbors == default:
        return
    named = estimator.affinity if isinstance(estimator.affinity, str) else type(estimator.affinity).__name__
    warn(
        f"n_neighbors={estimator.n_neighbors} has no effect with affinity={named!r}: it is for 'knn'. Leave "
        "it out, or set it in the recipe, as in affinity=Neighbors(15).",
        ParameterWarning,
    )


@dataclass(eq=False, repr=False)
class PointClusterer(Clusterer):
    """The base of the methods on points themselves: a method implements `_nearest`."""

    def _predict_new(self, X: Any) -> IntArray:
        exact_matches = equal_rows(self._task.data, X)
        return np.where(exact_matches >= 0, self.labels_[exact_matches], self._nearest(X)).astype(np.intp)

    @abstractmethod
    def _nearest(self, X: Any) -> IntArray:
        """Return the cluster whose centre or distribution is nearest to each new point."""
