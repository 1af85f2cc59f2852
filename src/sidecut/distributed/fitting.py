"""Methods on a Dask cluster: on landmarks, from rows to labels, and on graphs in blocks, as in memory."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import dask
import dask.array as da
import numpy as np
from distributed import Client
from sklearn.utils.validation import check_is_fitted

from sidecut.checks import FloatArray, IntArray, check_n_clusters, check_parameters
from sidecut.constraints import Constraints
from sidecut.distributed.graphs import ClusterGraph, on_cluster
from sidecut.distributed.partitions import (
    PartitionedCodes,
    PartitionedRows,
    Workers,
    as_dask_array,
    current_client,
    labels_that_stand,
    named_labels,
    numbers,
    partitioned_kmeans,
    partitions,
    share,
)
from sidecut.graphs import BlockGraph, Graph, LandmarkCoder, choose_landmarks
from sidecut.graphs.graph import warn_about_components
from sidecut.graphs.landmark_codes import ProgressBar
from sidecut.graphs.landmarks import component_sizes
from sidecut.labelling.labels import warn_if_clusters_are_missing
from sidecut.methods import LSC
from sidecut.methods.base import Clusterer, GraphClusterer
from sidecut.methods.scacs.base import WHY_MISSING, LandmarkClusterer, LandmarkModel, seeds, shown_by
from sidecut.methods.scacs.scacs import refuse_constraints
from sidecut.methods.task import Task, check_constraints, draw_seed, is_precomputed
from sidecut.running import limit_threads
from sidecut.selection import AutoCut

Model = TypeVar("Model", bound=Clusterer)


def fit(
    model: Model,
    X: Any,
    *,
    constraints: Constraints | None = None,
    client: Client | None = None,
    progress: ProgressBar | bool | None = None,
    n_parts: int | None = None,
) -> Model:
    """Cluster rows, or a graph in blocks, on a Dask cluster.

    Of rows, landmarks go to every worker, which codes its rows over them. Sums over the codes come back, and
    the p x p problem is solved here. Embedding and labels stay on the workers. Landmarks and labels are those
    of `model.fit` on the same rows in memory.

    Of a graph in blocks, every worker multiplies the parts that are pinned to it, and only rows of neighbours
    in other parts travel. The labels are those of `model.fit` on the graph.

    Parameters
    ----------
    model : estimator
        The method with its parameters, fitted in place as by its own `fit`. For rows SCACS or LSC, where
        `hard=True` is refused and `n_jobs` does nothing; for a graph any method with
        ``affinity="precomputed"``.
    X : dask array, dask data frame, BlockGraph or path
        The points, numbers only; a data frame may have partitions of unknown length: they are counted. Or a
        graph in blocks, in a folder that all workers see at the same path.
    constraints : Constraints, optional
        Which rows belong together and which do not; rows are numbered through all partitions. See
        `constraints_by_key`.
    client : Client, optional
        The client of a cluster; the current one by default.
    progress : True or callable, optional
        Wraps an iterable to show its progress: True is tqdm, or give a function with its signature.
    n_parts : int, optional
        For a graph: into how many parts it is divided; by default one for each worker, and at least 4.
        Results depend on it in their last digits, and not on the number of workers.

    Returns
    -------
    model
        Fitted. `labels_` and `embedding_` are dask arrays, with chunks as the partitions of X, held by the
        workers; `affinity_matrix_` is not there. Everything else, and `predict`, is as after `fit`. Of a
        graph, all results are arrays in memory, and nothing is left on the workers.

    Raises
    ------
    TypeError
        If the method cannot run on X, or X is neither a dask collection nor a graph in blocks.
    ValueError
        If there is no client, a value of X is not finite, or a parameter is invalid.
    ConstraintError
        If the constraints are for other data, or no cut satisfies them.
    MemoryError
        If workers of a graph die again and again; the message has the numbers.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from sklearn.datasets import make_moons
    >>> from sidecut import SCACS
    >>> from sidecut.constraints import sample_labels
    >>> from sidecut.distributed import fit
    >>> X, y = make_moons(2000, noise=0.15, random_state=0)
    >>> known = sample_labels(y, 20, random_state=0)
    >>> with Client(processes=False, n_workers=1, dashboard_address=":0") as client:
    ...     model = fit(SCACS(2, n_landmarks=200, random_state=0), da.from_array(X, 500), constraints=known)
    ...     model.labels_.chunks
    ...     known.satisfaction(model.labels_.compute())
    ((500, 500, 500, 500),)
    1.0
    """
    graph = as_blocks(X)
    if graph is not None:
        fitted: Model = fit_graph(model, graph, constraints, client, progress, n_parts)
        return fitted
    _check_model(model, constraints)
    return _fit_rows(model, X, constraints, Workers(current_client(client), shown_by(progress)))


def _fit_rows(model: Any, X: Any, constraints: Constraints | None, workers: Workers) -> Any:
    """Fit a landmark method on rows."""
    rows, seed = PartitionedRows(X, workers), draw_seed(model.random_state)
    constraints = check_constraints(constraints, rows.n_rows)
    check_n_clusters(model.n_clusters, rows.n_rows)
    first, second = seeds(seed)
    with limit_threads():
        chosen = choose_landmarks(rows, model.landmarks, model.n_landmarks, first)
        codes = PartitionedCodes(rows, LandmarkCoder(chosen, model.n_nearest), model.sigma)
        warn_about_components(component_sizes(codes.sums), model.n_clusters)
        task = Task(codes, None, constraints, model.n_clusters, seed)
        found, decision = model._choose_embedder(task)
    parts = codes.embedded(found.projection, model.unit_rows)
    centers = found.centers
    if centers is None:
        centers = partitioned_kmeans(parts, rows, model.n_clusters, n_init=model.n_init, random_state=second)
    labels, centers, n_found = named_labels(parts, rows, centers)
    if model.safe:
        labels = labels_that_stand(labels, rows, constraints, model.n_clusters)
    warn_if_clusters_are_missing(np.arange(n_found), model.n_clusters, "kmeans", WHY_MISSING)
    sizes = rows.sizes.tolist()
    embedding = as_dask_array(parts, sizes, np.float64, found.projection.shape[1])
    answer = model.answer(task, found, as_dask_array(labels, sizes, np.intp), centers, embedding)
    if getattr(model, "feature_names_in_", None) is not None:
        del model.feature_names_in_
    if rows.partitions.names is not None:
        model.feature_names_in_ = rows.partitions.names
    # Rows were not divided by a power of two; an earlier fit in memory may have been.
    model.n_features_in_, model._exponent = rows.n_features, 0
    # The workers need no longer hold the nearest landmarks.
    return model._keep(replace(task, data=None), replace(answer, decision=decision))


def predict(model: LandmarkClusterer, X: Any) -> da.Array:
    """Return the cluster of every row of a dask collection, lazily.

    Parameters
    ----------
    model : SCACS or LSC
        Fitted, here or in memory.
    X : dask array or dask data frame of shape (any, n_features)
        The points.

    Returns
    -------
    dask array of int
        With chunks as the partitions of X. It is computed again at every `compute`, `persist` or `to_zarr`.

    Examples
    --------
    >>> import dask.array as da
    >>> from sklearn.datasets import make_moons
    >>> from sidecut import LSC
    >>> from sidecut.distributed import predict
    >>> X, y = make_moons(1000, noise=0.05, random_state=0)
    >>> model = LSC(2, n_landmarks=100, random_state=0).fit(X)
    >>> labels = predict(model, da.from_array(X, 300))
    >>> bool((labels.compute() == model.labels_).all())
    True
    """
    check_is_fitted(model)
    pieces = partitions(X)
    if pieces.n_features != model.n_features_in_:
        raise ValueError(
            f"X has {pieces.n_features} features, but {type(model).__name__} was fitted on "
            f"{model.n_features_in_}."
        )
    fitted = getattr(model, "feature_names_in_", None)
    if fitted is not None and pieces.names is not None and list(fitted) != list(pieces.names):
        raise ValueError(
            f"X has the columns {list(pieces.names)}, but {type(model).__name__} was fitted on "
            f"{list(fitted)}; give the same columns in the same order."
        )
    starts: list[int | None] = [None] * len(pieces.blocks)
    if pieces.has_known_sizes:
        sizes = np.asarray(pieces.sizes, dtype=np.intp)
        starts = (np.cumsum(sizes) - sizes).tolist()
    place, label = share(model._answer.extend), dask.delayed(predict_rows)
    parts = [
        label(place, model._exponent, block, partition, start)
        for partition, (block, start) in enumerate(zip(pieces.blocks, starts, strict=True))
    ]
    return as_dask_array(parts, pieces.sizes, np.intp)


def predict_rows(
    place: LandmarkModel, exponent: int, block: Any, partition: int, start: int | None
) -> IntArray:
    """Return the cluster of every row of a partition, scaled as the points of the fit were."""
    rows = numbers(block, partition, start)
    if not rows.shape[0]:
        return np.empty(0, dtype=np.intp)
    return place(rows * 2.0**-exponent if exponent else rows)


def _check_model(model: Any, constraints: Constraints | None) -> None:
    if not isinstance(model, LandmarkClusterer):
        raise TypeError(
            f"{type(model).__name__} cannot run on rows on a cluster: it needs a graph between them. The "
            "methods on landmarks can: SCACS, and LSC without constraints. Others take a graph in blocks: "
            "sidecut.graphs.graph_from_points builds one."
        )
    check_parameters(model)
    if model.hard:
        raise ValueError(
            "hard=True needs the embedding of all points in one place: use the model's fit, or hard=False."
        )
    if isinstance(model, LSC):
        refuse_constraints(constraints)


def as_blocks(X: Any) -> BlockGraph | None:
    """Return the graph in blocks that X is or names, or None."""
    if isinstance(X, str | Path):
        return Graph.open(X, check=False)
    if isinstance(X, Graph) and not isinstance(X, BlockGraph):
        raise TypeError(
            f"X is a {type(X).__name__}, which lies in memory here; save it in a folder that all workers "
            "see, X.save(folder), and give Graph.open(folder)."
        )
    return X if isinstance(X, BlockGraph) else None


def fit_graph(
    model: Any,
    graph: BlockGraph,
    constraints: Constraints | None,
    client: Client | None,
    progress: ProgressBar | bool | None,
    n_parts: int | None,
) -> Any:
    """Fit a method in place on a graph whose parts lie with the workers; nothing of it is left there."""
    is_choice = isinstance(model, AutoCut)
    if not is_choice and not (isinstance(model, GraphClusterer) and is_precomputed(model)):
        raise TypeError(
            f"{type(model).__name__} does not take a graph as it is here: give a method on graphs with "
            "affinity='precomputed', such as CSP(k, affinity='precomputed'), or AutoCut()."
        )
    with on_cluster(graph, current_client(client), n_parts, shown_by(progress)) as there:
        model.fit(there, constraints=constraints)
        # What needs products is measured while there are workers.
        confidence = model.confidence_
    if is_choice:
        for one in getattr(model.best_estimator_, "estimators_", [model.best_estimator_]):
            _leave(one, graph, one.confidence_)
    return _leave(model, graph, confidence)


def _leave(model: Any, graph: BlockGraph, confidence: FloatArray) -> Any:
    """Return a fitted model that holds the graph on the disk in place of the one on the cluster."""

    def here(value: Any) -> Any:
        return graph if isinstance(value, ClusterGraph) else value

    results = {name: here(value) for name, value in model._answer.results.items()}
    answer = replace(model._answer, graph=None, extend=None, confidence=confidence, results=results)
    return model._keep(replace(model._task, graph=graph, data=here(model._task.data)), answer)
