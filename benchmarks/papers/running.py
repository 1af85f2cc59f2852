"""Run experiments in parallel processes, cell by cell, keeping every cell as soon as it is finished."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from joblib import Parallel, delayed

from benchmarks.papers.cells import points, run_cell
from benchmarks.papers.experiment import Experiment
from benchmarks.papers.storing import Store
from sidecut.exceptions import DataUnavailableError

#: Seconds between two lines of progress.
PACE = 5.0


def tell(message: str) -> None:
    print(message, file=sys.stderr, flush=True)


@dataclass
class Progress:
    """Lines on stderr: how far an experiment is, and how long the rest will take."""

    name: str
    total: int
    done: int = 0

    def __post_init__(self) -> None:
        self.start = self.told = time.perf_counter()

    def step(self) -> None:
        """Count a cell, and say so now and then."""
        self.done += 1
        now = time.perf_counter()
        if self.done == self.total or now - self.told > PACE:
            self.told = now
            left = (now - self.start) / self.done * (self.total - self.done)
            tell(f"{self.name}: {self.done}/{self.total} cells, {left:.0f} s to go")


def run(
    experiment: Experiment,
    store: Store,
    *,
    methods: list[str] | None = None,
    folder: Path | None = None,
    n_jobs: int = 1,
    retry: bool = False,
) -> bool:
    """Run what is missing of an experiment and write its summary.

    Parameters
    ----------
    experiment : Experiment
        What to run.
    store : Store
        Where finished cells are.
    methods : list of str, optional
        Labels of the contenders to run; all by default. Stored rows of the others stay.
    folder : Path, optional
        Where the data are, see `sidecut.datasets.load`.
    n_jobs : int
        Number of processes.
    retry : bool
        Run methods again that failed before.

    Returns
    -------
    bool
        Whether the data could be had.
    """
    try:
        data = points(experiment.data, 0, experiment.scaling, folder)
    except DataUnavailableError as error:
        tell(f"{experiment.name}: left out: {error}")
        return False
    contenders = [c for c in experiment.contenders if methods is None or c.label in methods]
    cells = store.missing(experiment, contenders, retry=retry)
    if cells:
        progress = Progress(experiment.name, len(cells))
        for rows in _finished(experiment, cells, folder, n_jobs):
            store.append(experiment.name, rows)
            progress.step()
    else:
        tell(f"{experiment.name}: finished before")
    if store.summarise(experiment, data.checksum, methods) is None:
        tell(
            f"{experiment.name}: {store.summary_path(experiment.name)} has more draws and stays; these cells "
            f"are in {store.raw_path(experiment.name)}. Give --results to have a table of them."
        )
    return True


def _finished(experiment: Experiment, cells: list, folder: Path | None, n_jobs: int) -> Iterable[list[dict]]:
    """Yield the rows of cells as they finish."""
    parallel = Parallel(n_jobs=n_jobs, return_as="generator_unordered", batch_size=1)
    return parallel(delayed(run_cell)(experiment, *cell, folder) for cell in cells)
