"""New points: their neighbours among the points of a fit, and a fit that takes them in."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from sidecut.checks import FloatArray, IntArray
from sidecut.constraints import Constraints
from sidecut.exceptions import ConstraintError
from sidecut.graphs import Neighbors
from sidecut.graphs.recipes import NeighborExtension
from sidecut.labelling.confidence import compare_with_other
from sidecut.lasting import Before, Corrections, Stream, place
from sidecut.methods.cut import vote_of_neighbors, weighted_means
from sidecut.methods.task import Answer, Task, as_constraints, check_points, check_y, is_precomputed
from sidecut.running import show_progress, use_threads


@dataclass(frozen=True, eq=False)
class Neighborhood:
    """The points of a fit and their neighbour graph, to which new points can be linked."""

    points: Any
    graph: Any

    def edges(self, rows: Any) -> tuple[sp.csr_array, IntArray]:
        """Return the weights from new points to old ones, and for each new point an old one it equals."""
        edges, exact_matches = self.graph.extension.edges(self.points, rows)
        return edges, exact_matches


def is_on_points(estimator: Any) -> bool:
    """Whether X holds points, to which new ones can be compared; a graph that is given has none."""
    if is_precomputed(estimator):
        raise AttributeError(
            "affinity='precomputed': new points have no place in a graph that is given. Fit on points, or "
            "add the new nodes to the graph and fit again."
        )
    return True


def neighborhood(model: Any) -> Neighborhood:
    """Return the neighbours of a fit: those of its graph, or of a graph made when it is first asked for."""
    task, answer = model._task, model._answer
    graph = answer.results.get("graph", task.graph)
    points = model._rows_of_fit()
    if points is None:
        raise AttributeError(
            "The rows came in chunks and were not kept: fit on rows in memory to add others."
        )
    if getattr(graph, "extension", None) is not None:
        return Neighborhood(points, graph)
    return answer.once("neighborhood", lambda: Neighborhood(points, model.neighbors.build(points)))


def is_updated(model: Any) -> bool:
    """Whether points were added since the fit."""
    return "update" in model._answer.results


def predict_by_neighbors(model: Any, rows: Any) -> IntArray:
    """Return the clusters of new points, by the rows of the method or else by their neighbours."""
    near = neighborhood(model)
    edges, exact_matches = near.edges(rows)
    is_own = model._answer.extend is not None and near.graph is model._task.graph
    labels = model._answer.extend(edges) if is_own else vote_of_neighbors(edges, model.labels_)
    return np.where(exact_matches >= 0, model.labels_[exact_matches], labels).astype(np.intp)


def confidence_of_new(model: Any, rows: Any, labels: IntArray) -> FloatArray:
    """Return how sure the labels of new points are, by their neighbours."""
    edges, exact_matches = neighborhood(model).edges(rows)
    members = np.eye(max(int(labels.max(initial=0)), int(model.labels_.max())) + 1)[model.labels_]
    sure = compare_with_other(weighted_means(edges, members), labels)
    return np.where(exact_matches >= 0, model.confidence_[exact_matches], sure)


def equal_rows(points: Any, rows: Any) -> IntArray:
    """Return for each of some rows the first point that is equal to it, -1 where there is none."""
    first: dict[bytes, int] = {}
    for number, key in enumerate(_keys(points)):
        first.setdefault(key, number)
    return np.array([first.get(key, -1) for key in _keys(rows)], dtype=np.intp)


def _keys(rows: Any) -> list[bytes]:
    if sp.issparse(rows):
        rows = sp.csr_array(rows)
        return [part.tobytes() for start in range(0, rows.shape[0], 1000) for part in _dense(rows, start)]
    # Adding zero turns -0.0 into 0.0, which is equal but has other bytes.
    return [row.tobytes() for row in np.asarray(rows, dtype=np.float64) + 0.0]


def _dense(rows: sp.csr_array, start: int) -> FloatArray:
    return np.asarray(rows[start : start + 1000].toarray(), dtype=np.float64) + 0.0


def take_in(model: Any, rows: Any, constraints: Any) -> tuple[Task, Answer]:
    """Return the task and the answer of old and new points together."""
    task, near = model._task, neighborhood(model)
    grown = near.graph.extension.grow(near.graph, near.points, rows)
    graph, n = grown.graph, grown.graph.n_nodes
    n_old = len(model.labels_)
    stated = _check(constraints, n_old, n)
    known = stated.merged_with(task.constraints.extended(n), on_conflict="weigh")
    n_clusters = max(task.n_clusters, int(model.labels_.max()) + 1)
    before = Before(model.labels_, model.confidence_, model.cluster_classes_, n_clusters)
    labels, confidence, changes = place(
        before, graph.matrix, known, stated, grown.exact_matches, grown.to_old, grown.points
    )
    both = sp.vstack if sp.issparse(near.points) else np.concatenate
    points = both([near.points, rows.toarray() if sp.issparse(rows) and both is np.concatenate else rows])
    n_now = max(n_clusters, int(labels.max()) + 1)
    results = {**model._answer.results, "changes_": changes, "n_clusters_": n_now, "graph": graph}
    # What describes the first fit only does not describe this one.
    results = {name: results[name] for name in results if name in model.lasting or name in LASTING}
    results |= {"update": model._answer.results.get("update", model._answer.extend)}
    grown_task = Task(sp.csr_array(points) if sp.issparse(points) else points, graph, known, n_now, task.seed)
    return grown_task, Answer(labels, confidence=confidence, results=results)


def begin_corrections(model: Any, weights: sp.csr_array | None) -> Corrections:
    """Return an empty list of corrections of a fit."""
    return Corrections(model.labels_, model.confidence_, weights)


def take_corrections(model: Any, corrections: Corrections) -> tuple[Task, Answer]:
    """Return the task and the answer of a fit with the corrections."""
    if not np.array_equal(corrections.initial, model.labels_):
        raise ConstraintError(
            "these corrections are about other clusters than the model's: begin with model.corrections()"
        )
    task, labels = model._task, corrections.labels
    known = corrections.constraints.merged_with(task.constraints, on_conflict="weigh")
    confidence = np.where(labels != model.labels_, 1.0, model.confidence_)
    n_clusters = max(task.n_clusters, int(labels.max()) + 1)
    names = {**model._answer.results.get("names", {}), **corrections.names}
    # Eigenvectors would extend the clusters that were corrected: neighbours decide about new points.
    near = None if is_precomputed(model) else neighborhood(model)
    results = {**model._answer.results, "changes_": corrections.changes, "names": names}
    results |= {"n_clusters_": n_clusters, "update": results.get("update", model._answer.extend)}
    task = replace(task, constraints=known, n_clusters=n_clusters)
    if near is not None:
        results["graph"], task = near.graph, replace(task, data=near.points)
    answer = replace(
        model._answer, labels=np.array(labels), confidence=confidence, extend=None, decision=None
    )
    return task, replace(answer, results=results)


#: Results that hold after an update, for every method.
LASTING = ("changes_", "n_clusters_", "graph", "names")


def _check(given: Any, n_old: int, n: int) -> Constraints:
    """Return what is said of old and new points; labels may be those of the new ones alone."""
    if isinstance(given, Constraints):
        if given.n_samples != n:
            raise ConstraintError(
                f"constraints are for {given.n_samples} samples, and there are {n} now, {n_old} old ones and "
                f"then {n - n_old} new ones: build them for all."
            )
        return given
    if np.ndim(given) == 1 and len(given) == n - n_old != n:
        given = [*[None] * n_old, *given]
    return as_constraints(given, n)


class TakesNewPoints:
    """What a fitted estimator does with new points and with corrections."""

    accepts: ClassVar[dict[str, Any]]
    #: The neighbours of points where the method has no graph of neighbours.
    neighbors: ClassVar[Neighbors] = Neighbors()
    #: Results of the method that hold after an update.
    lasting: ClassVar[tuple[str, ...]] = ()
    _keep: Any
    _task: Any
    _answer: Any
    labels_: Any
    n_jobs: Any
    verbose: Any

    def _rows_of_fit(self) -> Any:
        """Return what neighbours of the fitted points are looked for in."""
        return self._task.data

    def _as_rows(self, X: Any) -> Any:
        """Return the same for new points."""
        return X

    def _predict_new(self, X: Any) -> IntArray:
        """Return the clusters of new points; one that equals a point of the fit has its label."""
        return predict_by_neighbors(self, X)

    def _read_new(self, X: Any) -> Any:
        check_is_fitted(self, "labels_")
        return check_points(self, X, reset=False, **self.accepts)

    @available_if(is_on_points)
    def predict(self, X: Any) -> IntArray:
        """Put new points into the clusters that were found.

        A method on a graph links a new point to its nearest neighbours among the old ones. Where it has
        eigenvectors or scores they are extended to it; otherwise the point joins the cluster that most of its
        weight goes to. A method with centres takes the nearest one. After `update`, neighbours decide. A
        point equal to an old one gets its label.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_new, n_features)
            New points.

        Returns
        -------
        array of shape (n_new,)
            Their clusters.
        """
        X = self._read_new(X)
        return predict_by_neighbors(self, self._as_rows(X)) if is_updated(self) else self._predict_new(X)

    @available_if(is_on_points)
    def predict_confidence(self, X: Any) -> FloatArray:
        """Return how sure the clusters of new points are, from 0 to 1; at 0.5 another is as likely.

        It is the weight of a point's neighbours in its cluster, compared with that in the best other one. A
        point equal to an old one has its `confidence_`.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_new, n_features)
            New points.
        """
        labels, rows = self.predict(X), self._as_rows(self._read_new(X))
        return confidence_of_new(self, rows, labels)

    @available_if(is_on_points)
    def update(self, X: Any, y: Any = None, *, constraints: Any = None) -> Self:
        """Take new points in: old clusters are kept unless the evidence speaks against them.

        New points join clusters, found new ones where their neighbours are new points far more than their
        number explains, or are doubtful. An old point moves only if most of its neighbours are in another
        cluster since new points came, or if constraints say so. Numbers and names of clusters stay. No
        eigenvectors are computed.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_new, n_features)
            The new points; they follow the old ones in `labels_`.
        y : ignored
            Present for scikit-learn's sake.
        constraints : Constraints, labels or dict, optional
            What is known of old and new points together, ``n_old + n_new`` samples, beside what `fit` was
            given; labels may be those of the new points alone. A class that has no cluster founds one, or
            splits the one it is in.

        Returns
        -------
        self
            With `labels_` and `confidence_` of all points, and `changes_`, which says what changed and why.
        """
        check_y(y, self)
        with use_threads(self.n_jobs), show_progress(self.verbose, f"{type(self).__name__}:"):
            task, answer = take_in(self, self._as_rows(self._read_new(X)), constraints)
        return self._keep(task, answer)

    @available_if(is_on_points)
    def stream(self, n_kept: int = 5000) -> Stream:
        """Return a `Stream` that goes on from these clusters, for rows that come in batches.

        Parameters
        ----------
        n_kept : int, default=5000
            How many rows the stream keeps at most.
        """
        check_is_fitted(self, "labels_")
        extension = neighborhood(self).graph.extension
        own = isinstance(extension, NeighborExtension)
        recipe = Neighbors(extension.n_neighbors, weights=extension.weights) if own else None
        return Stream(self._rows_of_fit(), self.labels_, n_kept=n_kept, recipe=recipe)

    def corrections(self) -> Corrections:
        """Return an empty list of corrections of the clusters, to which you add your own."""
        # Its operations are `merge`, `split`, `detach`, `move` and `name`; `apply` takes the result.
        check_is_fitted(self, "labels_")
        weights = None
        if not is_precomputed(self):
            weights = neighborhood(self).graph.matrix
        elif self._task.graph is not None:
            weights = self._task.graph.matrix
        weights = sp.csr_array(weights) if sp.issparse(weights) else None
        return begin_corrections(self, weights)

    def apply(self, corrections: Corrections) -> Self:
        """Take corrections over: labels and names change, and what they say is known from now on.

        Parameters
        ----------
        corrections : Corrections
            Made from `corrections()`. A later `update` follows them; a later `fit` is given
            ``constraints=corrections.constraints``.

        Returns
        -------
        self
            With `labels_`, `cluster_classes_` and `changes_`.
        """
        check_is_fitted(self, "labels_")
        task, answer = take_corrections(self, corrections)
        return self._keep(task, answer)
