"""Fitting a method to points, here or on the workers of a Dask cluster."""

from __future__ import annotations

import logging
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sidecut.cli.console import Stages, UsageError
from sidecut.cli.inputs import (
    existing_file,
    is_graph_folder,
    known_constraints,
    read_points,
    text_format,
    unknown_values,
)
from sidecut.cli.methods import METHODS, build_estimator, method_named
from sidecut.cli.options import ClusterOptions
from sidecut.cli.preparation import Points
from sidecut.cli.reading import TABLE_SUFFIXES, TextFormat, text_options
from sidecut.cli.result import ClusterRun
from sidecut.cli.tables import ColumnRoles, feature_columns, named_parts, points_from_table
from sidecut.constraints import Constraints
from sidecut.constraints.files import PARQUET
from sidecut.exceptions import InfeasibleError
from sidecut.graphs import recipe

if TYPE_CHECKING:
    from dask.dataframe import DataFrame
    from distributed import Client


def chosen_parameters(options: ClusterOptions) -> dict[str, Any]:
    """Return the parameters that have options of their own; None keeps the method's default."""
    n_clusters: Any = options.clusters.strip().lower()
    if n_clusters != "auto":
        least, dash, most = n_clusters.partition("-")
        try:
            n_clusters = (int(least), int(most)) if dash and least else int(n_clusters)
        except ValueError:
            raise UsageError(
                f"--clusters {options.clusters}: give a whole number, bounds such as 2-6, or auto."
            ) from None
    return {
        "n_clusters": n_clusters,
        "affinity": options.affinity,
        "n_neighbors": options.neighbors,
        "random_state": options.seed,
        "hard": options.hard or None,
    }


def fit(
    points: Points,
    constraints: Constraints,
    method: str,
    chosen: dict[str, Any],
    settings: list[str],
    client: Client | None = None,
) -> Any:
    """Fit a method with the chosen parameters and the settings ``name=value``, here or on a cluster."""
    estimator_class = method_named(method).load()
    if points.edges is not None and not estimator_class.takes_graph:
        raise UsageError(f"--edges is for methods that cut a graph, and {method} does not; leave it out.")
    wanted = _fitting_parameters(points, method, estimator_class, chosen)
    estimator = build_estimator(estimator_class, wanted, settings)
    if points.n_samples < 2:
        raise UsageError(f"{points.source} has only one row; clustering needs at least two.")
    _check_number(estimator, method, points.n_samples)
    try:
        if client is not None:
            from sidecut.distributed import fit as fit_there

            return fit_there(estimator, points.X, constraints=constraints, client=client)
        if points.edges is None:
            return estimator.fit(points.X, constraints=constraints)
        return estimator.fit(points.X, constraints=constraints, graph=points.edges)
    except InfeasibleError as error:
        if points.names is None or error.cannot_link is None:
            raise
        pairs = [f"{points.name(i)} and {points.name(j)}" for i, j in np.asarray(error.cannot_link).tolist()]
        more = f" and {len(pairs) - 10} more" if len(pairs) > 10 else ""
        raise UsageError(
            f"{estimator.n_clusters} clusters are too few to keep all of these apart: "
            f"{'; '.join(pairs[:10])}{more}. Ask for more clusters, or correct them."
        ) from error


def _check_number(estimator: Any, method: str, n_samples: int) -> None:
    """Refuse a number of clusters that the method or the points do not allow."""
    asked, default = estimator.n_clusters, type(estimator)().n_clusters
    if isinstance(asked, tuple):
        if not estimator.takes_bounds:
            raise UsageError(
                f"{method} needs the number of clusters: only --method auto and layers take bounds."
            )
    elif asked == "auto":
        if default != "auto":
            raise UsageError(
                f"{method} needs the number of clusters: say --clusters K. Only --method auto and layers "
                "choose one."
            )
    elif not 1 <= asked <= n_samples:
        raise UsageError(
            f"{asked} clusters of {n_samples} points: ask for at least 1 and at most as many clusters as "
            "there are points."
        )


def _fitting_parameters(
    points: Points, method: str, estimator_class: type[Any], chosen: dict[str, Any]
) -> dict[str, Any]:
    """Adapt the parameters to the method and the points, and refuse those that do not go together."""
    known = estimator_class().get_params(deep=False)
    wanted = dict(chosen)
    if method == "auto" and chosen.get("n_neighbors") is not None:
        wanted["affinity"] = recipe(chosen.get("affinity") or "knn", chosen["n_neighbors"])
        wanted["n_neighbors"] = None
    if points.is_graph:
        if "affinity" not in known:
            cutting = [
                name for name, other in METHODS.items() if "affinity" in other.load()().get_params(deep=False)
            ]
            raise UsageError(
                f"{points.source} is a graph, and {method} clusters points by their features. Choose a "
                f"method that cuts a graph: {', '.join(cutting)}."
            )
        if wanted.get("affinity") is not None:
            raise UsageError(
                f"--affinity {wanted['affinity']} builds a graph from features, but {points.source} is a "
                "graph already; leave it out."
            )
    for name, option in {"affinity": "--affinity", "n_neighbors": "--neighbors"}.items():
        if wanted.get(name) is not None and name not in known:
            raise UsageError(
                f"{option} is about a graph of neighbours, and {method} builds none; leave it out."
            )
    # COP-k-means keeps every link without an option.
    if wanted.get("hard") and "hard" not in known and method != "cop-kmeans":
        raise UsageError(f"--hard: {method} has no way to keep every constraint; choose another method.")
    if "hard" not in known:
        wanted.pop("hard", None)
    return {**wanted, "affinity": "precomputed", "n_neighbors": None} if points.is_graph else wanted


def refuse_unscheduled(options: ClusterOptions) -> None:
    """Refuse options that need all points in one place."""
    wanted = {
        "--report": options.report,
        "--picture": options.picture,
        "--model": options.model,
        "--impute": options.impute,
        "--edges": options.edges,
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
    if is_graph_folder(options.data):
        return
    if options.clusters == "auto":
        raise UsageError("--scheduler needs the number of clusters: --clusters K.")
    if options.method is not None and method_named(options.method).name not in ("scacs", "lsc"):
        raise UsageError(
            f"--method {options.method} cannot run on a cluster without its graph: build it first, sidecut "
            "graph build, and give its folder as DATA; or use scacs, or lsc without constraints."
        )


def compute_on_cluster(options: ClusterOptions, roles: ColumnRoles, stages: Stages) -> ClusterRun:
    """Read, cluster and bring back the labels."""
    try:
        from sidecut.distributed import fit as fit_rows
    except ImportError as error:
        raise UsageError(str(error)) from error
    if not options.data.is_dir():
        existing_file(options.data)
    assert options.scheduler is not None
    is_graph = is_graph_folder(options.data)
    with _connected(options.scheduler) as client:
        with stages.stage("reading", str(options.data)):
            if is_graph:
                points = read_points(options.data, roles=roles)
            else:
                points = _read(options.data, roles, text_format(options), options.standardize)
        with stages.stage("reading constraints", str(options.constraints or "")):
            constraints = known_constraints(
                points,
                options.constraints,
                options.on_conflict,
                unknown=unknown_values(options.unknown),
                encoding=options.encoding,
            )
        if is_graph:
            method = (options.method or "auto").lower().replace("_", "-")
            with stages.stage("clustering", f"{points.n_samples:,} nodes ({method}) on {options.scheduler}"):
                chosen = chosen_parameters(options)
                model = fit(points, constraints, method, chosen, options.set or [], client)
            return ClusterRun(points, constraints, method, model)
        method = (options.method or ("lsc" if constraints.is_empty else "scacs")).lower()
        model = build_estimator(method_named(method).load(), chosen_parameters(options), options.set or [])
        with stages.stage("clustering", f"{points.n_samples:,} points ({method}) on {options.scheduler}"):
            fit_rows(model, points.X, constraints=constraints, client=client)
            model.labels_ = model.labels_.compute()
            model.cluster_classes_ = constraints.name_clusters(model.labels_, model.n_clusters)
            # A lazy array is of no use once its cluster is gone.
            del model.embedding_
    return ClusterRun(points, constraints, method, model)


@contextmanager
def _connected(address: str) -> Iterator[Client]:
    from distributed import Client, LocalCluster
    from distributed.comm import get_address_host_port

    if address == "local":
        with (
            LocalCluster(dashboard_address=":0", silence_logs=logging.ERROR) as cluster,
            Client(cluster) as client,
        ):
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
            f"tcp://10.0.0.1:8786, or 'local' for workers on this machine."
        ) from error
    with client:
        yield client


def _read(path: Path, roles: ColumnRoles, text: TextFormat, standardize: bool) -> Points:
    """Open a table for the workers; only columns that are no features are read here."""
    frame = _opened(path, roles, text)
    # The first hundred rows show what the columns hold.
    head = frame.head(100, npartitions=-1)
    features = feature_columns(head, path, roles)
    points_from_table(head, path, replace(roles, label=None, truth=None, identity=None, keep=tuple(features)))
    X = frame[features].astype(np.float64).to_dask_array(lengths=True)
    if X.shape[0] == 0:
        raise UsageError(f"{path} has no rows; one row per point is expected.")
    if standardize:
        import dask

        mean, spread = dask.compute(X.mean(axis=0), X.std(axis=0))
        # A constant column is zero once it is centred, and stays so.
        X = (X - mean) / np.where(spread > 0, spread, 1.0)
    known: Any = frame[list(dict.fromkeys(roles.special))].compute().astype(object) if roles.special else {}
    values = {column: known[column].where(known[column].notna(), None).tolist() for column in roles.special}
    return Points(X=X, source=path, columns=tuple(features), **named_parts(values, roles, path))


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
    options = text_options(path, text) | {"dtype": dict.fromkeys(roles.special, str)}
    options |= {"decimal": text.sign or ".", "thousands": text.thousands}
    frame = dd.read_csv(str(path), **options)
    # A column that begins with whole numbers may go on with others.
    whole = [column for column, dtype in frame.dtypes.items() if dtype.kind in "iu"]
    options["dtype"] = {**dict.fromkeys(whole, np.float64), **options["dtype"]}
    frame = dd.read_csv(str(path), **options)
    return frame.rename(columns={column: str(column) for column in frame.columns})
