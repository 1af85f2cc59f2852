"""The cluster that does the work: what is asked of it, and how far it has come."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

import dask
from dask.delayed import Delayed
from distributed import Client, Future, as_completed, futures_of, get_client

from sidecut.graphs.landmark_rows import Progress

#: So many partial sums are added in one task: p x p matrices of 500 landmarks then take 32 MB in a worker.
FAN_IN = 16


@dataclass(frozen=True)
class Cluster:
    """Runs tasks where the rows are.

    Every task is kept as a recipe that leads back to the source of the rows, never as bare data. So what a
    lost worker held is made again by the others, and since the sums are made partition by partition in a
    fixed order, it is the same to the last bit.

    Attributes
    ----------
    client : Client
        The connection to the scheduler.
    progress : callable, optional
        Wraps an iterable to show how far it has come, as tqdm does.
    """

    client: Client
    progress: Progress | None = None

    def keep(self, tasks: Sequence[Delayed], what: str) -> list[Delayed]:
        """Let the workers compute tasks and hold the results, as long as they are referred to here."""
        with quiet_about_size():
            kept = list(self.client.persist(list(tasks)))
        finished: Iterable[Future] = as_completed(futures_of(kept), loop=self.client.loop)
        if self.progress is not None:
            finished = self.progress(finished, desc=what, total=len(kept))
        for future in finished:
            # Raises here what was raised there. What was lost with a worker is on its way again.
            if future.status in ("error", "cancelled"):
                future.result()
        return kept

    def fetch(self, tasks: Sequence[Delayed]) -> list[Any]:
        """Return the results of tasks."""
        with quiet_about_size():
            return list(self.client.gather(self.client.compute(list(tasks))))

    def total(self, parts: Sequence[Delayed]) -> Any:
        """Return the sum of the results of tasks, added up where they are, in a tree of fixed form."""
        return self.fetch([tree_sum(parts)])[0]


def tree_sum(parts: Sequence[Delayed]) -> Delayed:
    """Return the task that adds up parts, so many neighbours at a time.

    Examples
    --------
    >>> import dask
    >>> from sidecut.distributed.cluster import tree_sum
    >>> tree_sum([dask.delayed(number) for number in range(100)]).compute(scheduler="sync")
    4950
    """
    parts = list(parts)
    while len(parts) > 1:
        parts = [add_parts(parts[start : start + FAN_IN]) for start in range(0, len(parts), FAN_IN)]
    return parts[0]


@dask.delayed
def add_parts(parts: Iterable[Any]) -> Any:
    """Return the sum of a few parts, in their order."""
    return reduce(add, parts)


def share(value: Any) -> Delayed:
    """Return a value as a task of its own, which every worker fetches once and from its neighbours.

    A value scattered by the client would be gone with the last worker that holds it; a task is made again.
    """
    return dask.delayed(value, pure=False, traverse=False)


def current_client(client: Client | None) -> Client:
    """Return the client, or the one in use.

    Raises
    ------
    ValueError
        If there is none.
    """
    if client is not None:
        return client
    try:
        return get_client()
    except ValueError as error:
        raise ValueError(
            "no dask cluster is in use: start one with distributed.Client() on this machine, connect to one "
            "with distributed.Client('tcp://...'), or give client=. Without a cluster, fit_chunks reads rows "
            "a few at a time."
        ) from error


def quiet_about_size() -> Any:
    """Let landmarks of some ten megabytes travel with the tasks without a warning."""
    return dask.config.set({"distributed.admin.large-graph-warning-threshold": "200MB"})
