"""Methods on graphs in blocks, fitted on a Dask cluster: the same code as in memory, on another graph."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from distributed import Client

from sidecut.checks import FloatArray
from sidecut.constraints import Constraints
from sidecut.distributed.graphs import ClusterGraph, on_cluster
from sidecut.distributed.partitions import current_client
from sidecut.graphs import BlockGraph, Graph
from sidecut.graphs.landmark_codes import ProgressBar
from sidecut.methods.base import GraphClusterer
from sidecut.methods.scacs.base import shown_by
from sidecut.methods.task import is_precomputed
from sidecut.selection import AutoCut


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
