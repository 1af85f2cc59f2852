"""Points and what is known about them to a fitted method, and to the same method told nothing."""

from __future__ import annotations

import logging
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sidecut.cli.console import Stages, UsageError
from sidecut.cli.inputs import existing_file, known_constraints, unknown_values
from sidecut.cli.methods import METHODS, build_estimator, method_named
from sidecut.cli.options import ClusterOptions
from sidecut.cli.preparation import Points, PreparationOptions, learn_preparation
from sidecut.cli.result import ClusterRun
from sidecut.cli.tables import (
    TABLE_SUFFIXES,
    ColumnRoles,
    TextFormat,
    feature_columns,
    named_parts,
    text_options,
)
from sidecut.constraints import Constraints
from sidecut.constraints.tables import PARQUET
from sidecut.exceptions import InfeasibleError
from sidecut.graphs import recipe

if TYPE_CHECKING:
    import pandas as pd
    from dask.dataframe import DataFrame
    from distributed import Client

__all__ = ["chosen_parameters", "fit"]


LOCAL = "local"

_BUILD_A_GRAPH = {"affinity": "--affinity", "n_neighbors": "--neighbors"}


def chosen_parameters(options: ClusterOptions) -> dict[str, Any]:
    """Return the parameters that have options of their own; None where nothing was said."""
    return {
        "n_clusters": _n_clusters(options.clusters),
        "affinity": options.affinity,
        "n_neighbors": options.neighbors,
        "random_state": options.seed,
        "hard": options.hard or None,
    }


def _n_clusters(text: str) -> int | str:
    if text.strip().lower() == "auto":
        return "auto"
    try:
        return int(text)
    except ValueError:
        raise UsageError(f"--clusters {text}: give a whole number, or auto.") from None


def fit(
    points: Points, constraints: Constraints, method: str, chosen: dict[str, Any], settings: list[str]
) -> Any:
    """Fit a method.

    Parameters
    ----------
    points : Points
        What to cluster.
    constraints : Constraints
        What is known.
    method : str
        Name of the method.
    chosen : dict
        Parameters from options of their own; those that are None keep the method's default.
    settings : list of str
        Texts ``name=value``.

    Returns
    -------
    estimator
        Fitted.

    Raises
    ------
    UsageError
        If the number of clusters does not fit the points, or the method cannot take what it is given.
    """
    estimator = _make(points, method, chosen, settings)
    try:
        return estimator.fit(points.X, constraints=constraints)
    except InfeasibleError as error:
        raise UsageError(_infeasible_words(error, points, estimator.n_clusters)) from error


def _make(points: Points, method: str, chosen: dict[str, Any], settings: list[str]) -> Any:
    """Return the method with its parameters, not fitted, or say why they do not go with the points."""
    estimator_class = method_named(method).load()
    wanted = _fitting_parameters(points, method, estimator_class, chosen)
    estimator = build_estimator(estimator_class, wanted, settings)
    if points.n_samples < 2:
        raise UsageError(f"{points.source} has only one row; clustering needs at least two.")
    if estimator.n_clusters == "auto":
        if method != "auto":
            raise UsageError(
                f"{method} needs the number of clusters: say --clusters K. Only --method auto chooses one."
            )
    elif not 1 <= estimator.n_clusters <= points.n_samples:
        raise UsageError(
            f"{estimator.n_clusters} clusters of {points.n_samples} points: ask for at least 1 and at most "
            "as many clusters as there are points."
        )
    return estimator


def _infeasible_words(error: InfeasibleError, points: Points, n_clusters: int) -> str:
    """Say which cannot-links cannot all hold, by the names of their points."""
    if points.names is None or error.cannot_link is None:
        return str(error)
    pairs = [f"{points.name(i)} and {points.name(j)}" for i, j in np.asarray(error.cannot_link).tolist()]
    more = f" and {len(pairs) - 10} more" if len(pairs) > 10 else ""
    return (
        f"{n_clusters} clusters are too few to keep all of these apart: {'; '.join(pairs[:10])}{more}. "
        "Ask for more clusters, or correct them."
    )


def _fitting_parameters(
    points: Points, method: str, estimator_class: type[Any], chosen: dict[str, Any]
) -> dict[str, Any]:
    """Leave out and add what the method and the points ask for, and say what does not go together."""
    known = estimator_class().get_params(deep=False)
    if method == "auto" and chosen.get("n_neighbors") is not None:
        asked = recipe(chosen.get("affinity") or "knn", chosen["n_neighbors"])
        chosen = {**chosen, "affinity": asked, "n_neighbors": None}
    if points.is_graph and "affinity" not in known:
        raise UsageError(
            f"{points.source} is a graph, and {method} clusters points by their features. Choose a method "
            f"that cuts a graph: {', '.join(_graph_methods())}."
        )
    if points.is_graph and chosen.get("affinity") is not None:
        raise UsageError(
            f"--affinity {chosen['affinity']} builds a graph from features, but {points.source} is a graph "
            "already; leave it out."
        )
    for name, option in _BUILD_A_GRAPH.items():
        if chosen.get(name) is not None and name not in known:
            raise UsageError(
                f"{option} is about a graph of neighbours, and {method} builds none; leave it out."
            )
    wanted = dict(chosen)
    if wanted.get("hard") and "hard" not in known:
        if method != "cop-kmeans":
            raise UsageError(f"--hard: {method} has no way to keep every constraint; choose another method.")
        # It keeps every link as it is.
        wanted.pop("hard")
    return {**wanted, "affinity": "precomputed", "n_neighbors": None} if points.is_graph else wanted


def _graph_methods() -> list[str]:
    return [name for name, method in METHODS.items() if "affinity" in method.load()().get_params(deep=False)]


# ``sidecut cluster --scheduler``: rows are read and clustered by the workers of a Dask cluster.
"""Instead of an address: workers on this machine, for as long as the command runs."""

METHODS_ON_CLUSTERS = ("scacs", "lsc")
#: Rows looked at to tell what columns hold.
PEEKED = 100


def refuse_unscheduled(options: ClusterOptions) -> None:
    """Refuse options that need all points in one place."""
    wanted = {
        "--report": options.report,
        "--picture": options.picture,
        "--model": options.model,
        "--impute": options.impute,
        "--encode": options.encode,
        "--graph": options.graph,
        "--key": options.key,
        "--affinity": options.affinity,
        "--neighbors": options.neighbors,
        "--input": options.input not in (None, "table"),
    }
    for option, value in wanted.items():
        if value:
            raise UsageError(
                f"{option} needs all points in one place, and --scheduler leaves them on the workers; leave "
                "one of the two out."
            )
    if options.clusters == "auto":
        raise UsageError("--scheduler needs the number of clusters: --clusters K.")
    able = [method_named(name) for name in METHODS_ON_CLUSTERS]
    if options.method is not None and method_named(options.method) not in able:
        raise UsageError(
            f"--method {options.method} cannot run on a cluster: its graph does not come apart into rows. "
            "Use scacs, or lsc without constraints."
        )


def compute_on_cluster(options: ClusterOptions, roles: ColumnRoles, stages: Stages) -> ClusterRun:
    """Read, cluster and bring back the labels."""
    try:
        from sidecut.distributed import fit
    except ImportError as error:
        raise UsageError(str(error)) from error
    if not options.data.is_dir():
        existing_file(options.data)
    assert options.scheduler is not None
    with _connected(options.scheduler) as client:
        with stages.stage("reading", str(options.data)):
            text = TextFormat(options.header, options.encoding, options.decimal)
            points = _read(options.data, roles, text, options.standardize)
        with stages.stage("reading constraints", str(options.constraints or "")):
            constraints = known_constraints(
                points,
                options.constraints,
                options.on_conflict,
                unknown=unknown_values(options.unknown),
                encoding=options.encoding,
            )
        method = (options.method or ("lsc" if constraints.is_empty else "scacs")).lower()
        model = build_estimator(method_named(method).load(), chosen_parameters(options), options.set or [])
        with stages.stage("clustering", f"{points.n_samples:,} points ({method}) on {options.scheduler}"):
            fit(model, points.X, constraints=constraints, client=client)
            model.labels_ = model.labels_.compute()
            model.cluster_classes_ = constraints.name_clusters(model.labels_, model.n_clusters)
            # It would be of no use without its cluster.
            del model.embedding_
    return ClusterRun(points, constraints, method, model)


@contextmanager
def _connected(address: str) -> Iterator[Client]:
    from distributed import Client, LocalCluster
    from distributed.comm import get_address_host_port

    if address == LOCAL:
        quiet = logging.ERROR
        with LocalCluster(dashboard_address=":0", silence_logs=quiet) as cluster, Client(cluster) as client:
            yield client
        return
    try:
        # A client that fails to connect is cleaned up at any later moment, and may block the next one.
        if not address.startswith("inproc"):
            socket.create_connection(get_address_host_port(address), timeout=10).close()
        client = Client(address)
    except (OSError, ValueError) as error:
        raise UsageError(
            f"--scheduler {address}: no Dask scheduler answers there ({error}). Give its address, such as "
            f"tcp://10.0.0.1:8786, or {LOCAL!r} for workers on this machine."
        ) from error
    with client:
        yield client


def _read(path: Path, roles: ColumnRoles, text: TextFormat, standardize: bool) -> Points:
    """Open a table for the workers, and bring back only what is not a feature."""
    frame = _opened(path, roles, text)
    head = frame.head(PEEKED, npartitions=-1)
    features = feature_columns(head, path, roles)
    learn_preparation(head, features, path, PreparationOptions())
    X = frame[features].astype(np.float64).to_dask_array(lengths=True)
    if X.shape[0] == 0:
        raise UsageError(f"{path} has no rows; one row per point is expected.")
    known: Any = frame[list(dict.fromkeys(roles.special))].compute() if roles.special else {}
    values = {column: _plain(known[column]) for column in roles.special}
    return Points(
        X=_standardized(X) if standardize else X,
        source=path,
        columns=tuple(features),
        **named_parts(values, roles, path),
    )


def _plain(column: pd.Series) -> list[Any]:
    """Return the values of a column, None where there is none."""
    values = column.astype(object)
    return values.where(values.notna(), None).tolist()


def _opened(path: Path, roles: ColumnRoles, text: TextFormat) -> DataFrame:
    import dask.dataframe as dd

    if path.suffix.lower() in PARQUET or path.is_dir():
        frame = dd.read_parquet(str(path))
        frame = frame.reset_index() if frame.index.name is not None else frame
        return frame.rename(columns={column: str(column) for column in frame.columns})
    if path.suffix.lower() not in TABLE_SUFFIXES:
        raise UsageError(
            f"{path}: --scheduler reads tables ({', '.join(TABLE_SUFFIXES)}) and folders of Parquet files."
        )
    options = text_options(path, text, roles.special)
    frame = dd.read_csv(str(path), **options)
    # A column that begins with whole numbers may go on with others.
    whole = [column for column, dtype in frame.dtypes.items() if dtype.kind in "iu"]
    options["dtype"] = {**dict.fromkeys(whole, np.float64), **options["dtype"]}
    frame = dd.read_csv(str(path), **options)
    return frame.rename(columns={column: str(column) for column in frame.columns})


def _standardized(X: Any) -> Any:
    import dask

    mean, spread = dask.compute(X.mean(axis=0), X.std(axis=0))
    # A constant column carries nothing: centring makes it zero, and dividing by one keeps it so.
    return (X - mean) / np.where(spread > 0, spread, 1.0)
