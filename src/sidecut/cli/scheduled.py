"""``sidecut cluster --scheduler``: rows are read and clustered by the workers of a Dask cluster."""

from __future__ import annotations

import logging
import socket
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sidecut.cli.clustering import ClusterRun
from sidecut.cli.errors import UsageError
from sidecut.cli.inputs import existing_file
from sidecut.cli.methods import method_named
from sidecut.cli.parameters import build_estimator
from sidecut.cli.points import Points, checked_names
from sidecut.cli.progress import Progress
from sidecut.cli.side_information import known_constraints
from sidecut.cli.tables import TABLE_SUFFIXES, ColumnRoles, class_codes, feature_columns, text_options

if TYPE_CHECKING:
    import pandas as pd
    from dask.dataframe import DataFrame
    from distributed import Client

__all__ = ["LOCAL", "compute_on_cluster", "refuse_unscheduled"]

LOCAL = "local"
"""Instead of an address: workers on this machine, for as long as the command runs."""

METHODS_ON_CLUSTERS = ("scacs", "lsc")
PARQUET = (".parquet", ".pq")
#: Rows looked at to tell what columns hold.
PEEKED = 100


def refuse_unscheduled(args: Namespace) -> None:
    """Refuse options that need all points in one place.

    Raises
    ------
    UsageError
        Naming the option.
    """
    wanted = {
        "--report": args.report,
        "--picture": args.picture,
        "--graph": args.graph,
        "--key": args.key,
        "--affinity": args.affinity,
        "--neighbors": args.neighbors,
        "--input": args.input not in (None, "table"),
    }
    for option, value in wanted.items():
        if value:
            raise UsageError(
                f"{option} needs all points in one place, and --scheduler leaves them on the workers; leave "
                "one of the two out."
            )
    able = [method_named(name) for name in METHODS_ON_CLUSTERS]
    if args.method is not None and method_named(args.method) not in able:
        raise UsageError(
            f"--method {args.method} cannot run on a cluster: its graph does not come apart into rows. Use "
            "scacs, or lsc without constraints."
        )


def compute_on_cluster(
    args: Namespace, roles: ColumnRoles, chosen: dict[str, Any], progress: Progress
) -> ClusterRun:
    """Read, cluster and bring back the labels.

    Parameters
    ----------
    args : Namespace
        The parsed command line.
    roles : ColumnRoles
        What the columns mean.
    chosen : dict
        Parameters of the method from options of their own.
    progress : Progress
        Told of every stage.

    Returns
    -------
    ClusterRun
        With labels, names and known classes in memory, the points themselves on the workers.
    """
    try:
        from sidecut.distributed import fit
    except ImportError as error:
        raise UsageError(str(error)) from error
    if not args.data.is_dir():
        existing_file(args.data)
    with _connected(args.scheduler) as client:
        with progress.stage("reading", str(args.data)):
            points = _read(args.data, roles, args.header, args.standardize)
        with progress.stage("reading constraints", str(args.constraints or "")):
            constraints = known_constraints(points, args.constraints, args.on_conflict)
        method = (args.method or ("lsc" if constraints.is_empty else "scacs")).lower()
        model = build_estimator(method_named(method).load(), chosen, args.set)
        with progress.stage("clustering", f"{points.n_samples:,} points ({method}) on {args.scheduler}"):
            fit(model, points.X, constraints=constraints, client=client)
            model.labels_ = model.labels_.compute()
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


def _read(path: Path, roles: ColumnRoles, has_heading: bool | None, standardize: bool) -> Points:
    """Open a table for the workers, and bring back only what is not a feature."""
    frame = _opened(path, roles, has_heading)
    features = feature_columns(frame.head(PEEKED, npartitions=-1), path, roles)
    X = frame[features].astype(np.float64).to_dask_array(lengths=True)
    if X.shape[0] == 0:
        raise UsageError(f"{path} has no rows; one row per point is expected.")
    known: Any = frame[list(dict.fromkeys(roles.special))].compute() if roles.special else {}
    names, label, truth = roles.identity, roles.label, roles.truth
    return Points(
        X=_standardized(X) if standardize else X,
        source=path,
        names=checked_names(_plain(known[names]), names, path) if names else None,
        name_column=names or "index",
        columns=tuple(features),
        known_labels=class_codes(_plain(known[label])) if label else None,
        truth=class_codes(_plain(known[truth])) if truth else None,
    )


def _plain(column: pd.Series) -> list[Any]:
    """Return the values of a column, None where there is none."""
    values = column.astype(object)
    return values.where(values.notna(), None).tolist()


def _opened(path: Path, roles: ColumnRoles, has_heading: bool | None) -> DataFrame:
    import dask.dataframe as dd

    if path.suffix.lower() in PARQUET or path.is_dir():
        frame = dd.read_parquet(str(path))
        frame = frame.reset_index() if frame.index.name is not None else frame
        return frame.rename(columns={column: str(column) for column in frame.columns})
    if path.suffix.lower() not in TABLE_SUFFIXES:
        raise UsageError(
            f"{path}: --scheduler reads tables ({', '.join(TABLE_SUFFIXES)}) and folders of Parquet files."
        )
    options = text_options(path, has_heading, roles.special)
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
