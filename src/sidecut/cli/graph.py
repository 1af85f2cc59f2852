"""``sidecut graph``: graphs on a disk, made of points or edges that may be larger than memory."""

from __future__ import annotations

import shutil
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from sidecut.cli.console import Exit, UsageError, require
from sidecut.cli.options import GraphBuildOptions, GraphShowOptions
from sidecut.graphs import BlockGraph, Graph, graph_from_edges, graph_from_points
from sidecut.graphs.blocks import in_bytes


class Steps:
    """Writes the steps of a build to standard error, with what is done of each."""

    def __init__(self, is_quiet: bool, total: int | None = None) -> None:
        self._is_quiet = is_quiet
        self._of = "" if total is None else f" of {total:,}"
        self._step, self._done, self._written = "", 0, 0.0

    def __call__(self, step: str, done: int) -> None:
        """Count what is done of a step."""
        if step != self._step:
            self.finish()
            self._step, self._done = step, 0
        self._done += done
        if sys.stderr.isatty() and time.monotonic() - self._written > 0.2:
            self._write("\r", "")
            self._written = time.monotonic()

    def finish(self) -> None:
        """End the line of the last step."""
        if self._step:
            self._write("\r" if sys.stderr.isatty() else "", "\n")

    def _write(self, start: str, end: str) -> None:
        if not self._is_quiet:
            sys.stderr.write(f"{start}{self._step}: {self._done:,}{self._of}{end}")
            sys.stderr.flush()


def build(options: GraphBuildOptions) -> int:
    """Build the graph and print what it is."""
    if options.output.exists():
        raise UsageError(f"{options.output} is there already; choose another name, or remove it.")
    started = time.monotonic()
    _say_what_is_left(options)
    if options.edges:
        steps = Steps(options.quiet)
        graph = graph_from_edges(options.data, options.output, n_nodes=options.nodes, progress=steps)
    else:
        steps = Steps(options.quiet, _say_what_it_takes(options))
        graph = graph_from_points(
            _points(options.data),
            options.output,
            n_neighbors=options.neighbors,
            random_state=options.seed,
            progress=steps,
        )
    steps.finish()
    recall = "" if graph.recall is None else f", with {graph.recall:.1%} of the true neighbours of a sample"
    seconds = time.monotonic() - started
    blocks = "1 block" if len(graph.blocks) == 1 else f"{len(graph.blocks)} blocks"
    print(f"{options.output}: a graph in {blocks}{recall}; {seconds:.0f} s.")
    _show(graph, 4)
    return Exit.OK


def show(options: GraphShowOptions) -> int:
    """Print what products with a graph take."""
    _show(Graph.open(options.data, check=options.check), options.parts)
    return Exit.OK


def _show(graph: BlockGraph, n_parts: int) -> None:
    print(graph.forecast(n_parts))


def _points(path: Path) -> Any:
    """Return what points are read from: an array is mapped, Parquet is read in chunks."""
    return np.load(path, mmap_mode="r") if path.suffix == ".npy" else path


def _say_what_is_left(options: GraphBuildOptions) -> None:
    """Name the folders of builds that were killed before they could remove them."""
    output = options.output.absolute()
    for partial in sorted(output.parent.glob(f".{output.name}.*.partial")):
        print(
            f"{partial} is left of a build that was killed, if none is running: remove it.", file=sys.stderr
        )


def _say_what_it_takes(options: GraphBuildOptions) -> int:
    """Print an estimate of the bytes on the disk, refuse too full a disk, and return the number of points."""
    n_points, n_features = _shape(options.data)
    # Both directions of an edge, of which about a third are the same.
    graph = 8 * 1.5 * n_points * options.neighbors
    meanwhile = n_points * (4 * n_features + 52 * options.neighbors)
    free = shutil.disk_usage(options.output.absolute().parent).free
    if not options.quiet:
        print(
            f"{n_points:,} points of {n_features} features, {options.neighbors} neighbours: about "
            f"{in_bytes(graph)} of graph, and {in_bytes(meanwhile)} meanwhile; "
            f"{in_bytes(free)} are free.",
            file=sys.stderr,
        )
    if graph + meanwhile > free:
        raise UsageError(
            f"{options.output.absolute().parent} has {in_bytes(free)} free; "
            f"{in_bytes(graph + meanwhile)} are needed. Use another disk, or fewer neighbours."
        )
    return n_points


def _shape(path: Path) -> tuple[int, int]:
    if path.suffix == ".npy":
        shape = np.load(path, mmap_mode="r").shape
        if len(shape) != 2:
            raise UsageError(f"{path} has shape {shape}; a matrix with one row per point is expected.")
        return shape
    if not path.is_dir() and path.suffix != ".parquet":
        raise UsageError(
            f"{path} is neither a Parquet file or folder nor an .npy file; with --edges, CSV is read as well."
        )
    dataset = require("pyarrow.dataset", "reading Parquet").dataset(path, format="parquet")
    return dataset.count_rows(), len(dataset.schema)
