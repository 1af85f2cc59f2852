"""``sidecut segment``: a picture and marks in, segments out."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from sidecut.cli.console import Exit, Stages, UsageError, collected_warnings, show_rows
from sidecut.cli.inputs import existing_file
from sidecut.cli.methods import build_estimator, method_named
from sidecut.cli.options import SegmentOptions
from sidecut.cli.outputs import checked_output
from sidecut.images import (
    Box,
    RegionCut,
    Segmentation,
    pixel_graph,
    read_image,
    region_graph,
    segment,
    write_image,
)
from sidecut.images.files import IMAGE_SUFFIXES, LABEL_SUFFIXES
from sidecut.images.seeds import Seeds, as_seeds
from sidecut.images.spectral_cut import number_of_segments, usual_method, usual_radius

__all__ = ["parse_box", "run"]


@dataclass(frozen=True)
class SegmentRun:
    """A picture that was cut."""

    image: NDArray
    result: Segmentation
    messages: list[str]

    @property
    def n_lost(self) -> int:
        """How many marked pixels are not in the segment of their class."""
        return self.result.n_marks_lost


def run(options: SegmentOptions) -> int:
    """Cut a picture, write what was asked for, and tell of it."""
    files = _planned_files(options)
    stages = Stages.chosen(options.quiet, options.verbose)
    with collected_warnings() as messages:
        image, result = _compute(options, stages)
    done = SegmentRun(image, result, messages)
    with stages.stage("writing"):
        _write(done, files, options.enlarge)
    _tell(done, files, stages, options)
    return Exit.VIOLATED if options.strict and done.n_lost else Exit.OK


def parse_box(text: str) -> Box:
    """Read CLASS,ROW,COLUMN,HEIGHT,WIDTH."""
    label, *place = (part.strip() for part in text.split(","))
    try:
        row, column, height, width = (int(part) for part in place)
    except ValueError as error:
        raise UsageError(
            f"--box {text}: write CLASS,ROW,COLUMN,HEIGHT,WIDTH with whole numbers, for example "
            "--box sky,5,10,8,8."
        ) from error
    if not label:
        raise UsageError(f"--box {text} names no class; write it as CLASS,ROW,COLUMN,HEIGHT,WIDTH.")
    return Box(label, row, column, height, width)


def _compute(options: SegmentOptions, stages: Stages) -> tuple[NDArray, Segmentation]:
    with stages.stage("reading", str(options.image)):
        image = _read(options.image)
        seeds = _seeds(options, image)
        n_segments = number_of_segments(options.segments, seeds)
        by_regions = _cuts_regions(options, seeds, n_segments)
        method = None if by_regions else _method(options, seeds, n_segments)
    if by_regions:
        return image, _cut_regions(image, seeds, n_segments, options.seed, stages)
    with stages.stage("linking pixels", " x ".join(map(str, image.shape[:2]))):
        graph = pixel_graph(
            image,
            radius=usual_radius(image, seeds) if options.radius is None else options.radius,
            n_neighbors=options.neighbors,
            sigma_position=options.sigma_position,
            sigma_color=options.sigma_color,
        )
    with stages.stage("cutting", f"into {n_segments} segments ({type(method).__name__})"):
        return image, segment(image, seeds, n_segments=n_segments, method=method, graph=graph)


def _cuts_regions(options: SegmentOptions, seeds: Seeds | None, n_segments: int) -> bool:
    """Tell whether `segment` would cut by regions: two classes are marked, and no method is asked for."""
    wishes = (options.method, options.radius, options.neighbors, options.sigma_position, options.sigma_color)
    is_free = not options.set and all(wish is None for wish in wishes)
    return is_free and seeds is not None and 2 <= len(seeds.classes) <= n_segments


def _cut_regions(
    image: NDArray, seeds: Seeds | None, n_segments: int, seed: int, stages: Stages
) -> Segmentation:
    if seeds is not None and len(seeds.classes) < n_segments:
        with stages.stage("cutting", f"into {n_segments} segments, {len(seeds.classes)} of them marked"):
            return segment(image, seeds, n_segments=n_segments, random_state=seed)
    with stages.stage("finding regions", " x ".join(map(str, image.shape[:2]))):
        graph = region_graph(image)
    with stages.stage("cutting", f"{graph.regions.n_regions:,} regions"):
        return segment(image, seeds, graph=graph)


def _read(path: Path) -> NDArray:
    try:
        return read_image(existing_file(path))
    except ImportError as error:
        raise UsageError(str(error)) from error


def _seeds(options: SegmentOptions, image: NDArray) -> Seeds | None:
    scribbles = None if options.scribbles is None else _read(options.scribbles)
    boxes = [parse_box(text) for text in options.box or []]
    return as_seeds(scribbles, boxes or None, image)


def _method(options: SegmentOptions, seeds: Seeds | None, n_segments: int) -> Any:
    """Return the method asked for, not fitted, with the settings asked for."""
    chosen = usual_method(seeds, n_segments, options.seed)
    if options.method is not None and options.method.lower() != "csp":
        chosen = method_named(options.method).load()(n_segments, random_state=options.seed)
    elif options.method is not None and seeds is None:
        raise UsageError("--method csp cuts by marks; give --scribbles or --box, or leave --method out.")
    return build_estimator(type(chosen), chosen.get_params(deep=False), options.set or [])


def _planned_files(options: SegmentOptions) -> dict[str, Path]:
    """Check where everything goes before any time is spent on computing it."""
    files = {"overlay": checked_output(options.output, IMAGE_SUFFIXES)}
    if options.labels is not None:
        files["labels"] = checked_output(options.labels, LABEL_SUFFIXES)
    if options.heat is not None:
        files["heat"] = checked_output(options.heat, IMAGE_SUFFIXES)
    written = [path.resolve() for path in files.values()]
    if any(path is not None and path.resolve() in written for path in (options.image, options.scribbles)):
        raise UsageError("An output would overwrite an input; choose another name.")
    if len(set(written)) < len(written):
        raise UsageError("Two outputs have the same name; give each its own.")
    if options.enlarge < 1:
        raise UsageError(f"--enlarge {options.enlarge}: pixels are shown as squares of 1 or more.")
    return files


def _write(done: SegmentRun, files: dict[str, Path], enlarge: int) -> None:
    write_image(files["overlay"], done.result.overlay(done.image, enlarge=enlarge))
    if "labels" in files:
        done.result.save(files["labels"])
    if "heat" in files:
        write_image(files["heat"], done.result.heat_map(enlarge=enlarge))


def _tell(done: SegmentRun, files: dict[str, Path], stages: Stages, options: SegmentOptions) -> None:
    if options.json:
        print(json.dumps(_json_summary(done, files, stages, options.image)))
        return
    if not options.quiet:
        show_rows(_summary_rows(done, files, stages, options.image))
    for message in done.messages:
        print(f"sidecut: warning: {message}", file=sys.stderr)


def _json_summary(done: SegmentRun, files: dict[str, Path], stages: Stages, source: Path) -> dict[str, Any]:
    result, seeds = done.result, done.result.seeds
    return {
        "image": str(source),
        "height": result.shape[0],
        "width": result.shape[1],
        "method": type(result.model).__name__,
        "n_segments": result.model.n_clusters,
        "sizes": result.sizes.tolist(),
        "classes": [] if seeds is None else [str(name) for name in seeds.classes],
        "n_marked": 0 if seeds is None else seeds.n_known,
        "n_marks_lost": done.n_lost,
        "n_edges": result.graph.n_edges,
        **_solver(result),
        "files": {purpose: str(path) for purpose, path in files.items()},
        "warnings": done.messages,
        "seconds": {stage: round(time, 4) for stage, time in stages.seconds.items()},
    }


def _summary_rows(
    done: SegmentRun, files: dict[str, Path], stages: Stages, source: Path
) -> list[tuple[str, str]]:
    result, seeds = done.result, done.result.seeds
    rows = [
        ("image", f"{source}, {result.shape[0]} x {result.shape[1]} pixels"),
        ("method", f"{type(result.model).__name__} on {_graph_size(result)}, {stages.total:.2f} s"),
        ("segments", _named_sizes(result)),
    ]
    if seeds is not None:
        rows.append(("marks", f"{seeds.n_known - done.n_lost:,} of {seeds.n_known:,} pixels kept"))
    if not isinstance(result.model, RegionCut):
        rows.append(("solver", "; ".join(f"{said}" for said in _solver(result).values())))
    return [*rows, *((purpose, str(path)) for purpose, path in files.items())]


def _solver(result: Segmentation) -> dict[str, Any]:
    """Return how the cut was found: the number of regions, or the solver and its certificate."""
    if isinstance(result.model, RegionCut):
        return {"n_regions": result.model.n_regions}
    solution = result.model.solution_
    return {"solver": solution.solver, "certificate": str(solution.certificate)}


def _graph_size(result: Segmentation) -> str:
    if isinstance(result.model, RegionCut):
        return f"{result.model.n_regions:,} regions"
    return f"{result.graph.n_edges:,} edges"


def _named_sizes(result: Segmentation) -> str:
    """Return the segments with their pixels and their shares of the picture."""
    names = () if result.seeds is None else result.seeds.classes
    sizes, n_pixels = result.sizes, result.codes.size
    said = [f"{size:,} ({100 * size / n_pixels:.0f} %)" for size in sizes]
    return ", ".join(f"{names[k]}: {size}" if k < len(names) else size for k, size in enumerate(said))
