"""``sidecut segment``: a picture and marks in, segments out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from sidecut.cli.console import Exit, Stages, UsageError, collected_warnings, show_rows, show_warnings
from sidecut.cli.inputs import existing_file
from sidecut.cli.methods import build_estimator, method_named
from sidecut.cli.options import SegmentOptions
from sidecut.cli.outputs import checked_output, refuse_overwriting
from sidecut.images import (
    Box,
    RegionCut,
    RegionGraph,
    Segmentation,
    pixel_graph,
    read_image,
    region_graph,
    segment,
    write_image,
)
from sidecut.images.files import IMAGE_SUFFIXES, LABEL_SUFFIXES
from sidecut.images.seeds import Seeds, as_seeds
from sidecut.images.spectral_cut import is_cut_by_regions, number_of_segments, usual_method, usual_radius

#: What was done where nothing is marked, and what would find the thing that is meant.
WITHOUT_MARKS = (
    "none: the {} segments are where few alike pixels are cut apart, which need not be things. Mark what you "
    "want with --scribbles (strokes painted on a copy of the picture) or --box CLASS,ROW,COLUMN,HEIGHT,WIDTH"
)


def run(options: SegmentOptions) -> int:
    """Cut a picture, write the files, and print a summary."""
    files = _planned_files(options)
    stages = Stages.chosen(options.quiet, options.verbose)
    with collected_warnings() as messages:
        image, result = _compute(options, stages)
    with stages.stage("writing"):
        write_image(files["overlay"], result.overlay(image, enlarge=options.enlarge))
        if "labels" in files:
            result.save(files["labels"])
        if "cutout" in files:
            write_image(files["cutout"], _cutout(result, image, options.cutout_class))
        if "heat" in files:
            write_image(files["heat"], result.heat_map(enlarge=options.enlarge))
    if options.json:
        print(json.dumps(_json_summary(result, files, messages, stages, options.image)))
    else:
        if not options.quiet:
            show_rows(_summary_rows(result, files, stages, options))
        show_warnings(messages)
    return Exit.VIOLATED if options.strict and result.n_marks_lost else Exit.OK


def _cutout(result: Segmentation, image: NDArray, name: str | None) -> NDArray:
    try:
        return result.cutout(image, name)
    except ValueError as error:
        raise UsageError(f"--cutout-class: {error}") from error


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
        scribbles = None if options.scribbles is None else _read(options.scribbles)
        seeds = as_seeds(scribbles, [parse_box(text) for text in options.box or []] or None, image)
        n_segments = number_of_segments(options.segments, seeds)
        n_marked = 0 if seeds is None else len(seeds.classes)
        graph_options = (options.radius, options.neighbors, options.sigma_position, options.sigma_color)
        is_free = not options.set and all(one is None for one in (options.method, *graph_options))
        # As in `segment`: two marked classes, or large pictures without marks, unless a method is chosen.
        by_regions = is_free and (2 <= n_marked <= n_segments or is_cut_by_regions(image, seeds))
        method = None if by_regions else _method(options, seeds, n_segments)
    shape = " x ".join(map(str, image.shape[:2]))
    if by_regions and 0 < n_marked < n_segments:
        with stages.stage("cutting", f"into {n_segments} segments, {n_marked} of them marked"):
            return image, segment(image, seeds, n_segments=n_segments, random_state=options.seed)
    if by_regions:
        with stages.stage("finding regions", shape):
            regions = region_graph(image)
        with stages.stage("cutting", f"{regions.regions.n_regions:,} regions"):
            return image, segment(
                image, seeds, graph=regions, n_segments=n_segments, random_state=options.seed
            )
    with stages.stage("linking pixels", shape):
        graph = pixel_graph(
            image,
            radius=usual_radius(image, seeds) if options.radius is None else options.radius,
            n_neighbors=options.neighbors,
            sigma_position=options.sigma_position,
            sigma_color=options.sigma_color,
        )
    with stages.stage("cutting", f"into {n_segments} segments ({type(method).__name__})"):
        return image, segment(image, seeds, n_segments=n_segments, method=method, graph=graph)


def _read(path: Path) -> NDArray:
    try:
        return read_image(existing_file(path))
    except ImportError as error:
        raise UsageError(str(error)) from error


def _method(options: SegmentOptions, seeds: Seeds | None, n_segments: int) -> Any:
    """Return the chosen method with its settings, not fitted."""
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
    if options.cutout is not None:
        files["cutout"] = checked_output(options.cutout, (".png",))
    elif options.cutout_class is not None:
        raise UsageError("--cutout-class names the segment of a cut-out; name its file with --cutout.")
    refuse_overwriting(files.values(), (options.image, options.scribbles))
    if options.enlarge < 1:
        raise UsageError(f"--enlarge {options.enlarge}: pixels are shown as squares of 1 or more.")
    return files


def _json_summary(
    result: Segmentation, files: dict[str, Path], messages: list[str], stages: Stages, source: Path
) -> dict[str, Any]:
    seeds = result.seeds
    return {
        "image": str(source),
        "height": result.shape[0],
        "width": result.shape[1],
        "method": type(result.model).__name__,
        "n_segments": result.model.n_clusters,
        "sizes": result.sizes.tolist(),
        "classes": [] if seeds is None else [str(name) for name in seeds.classes],
        "n_marked": 0 if seeds is None else seeds.n_known,
        "n_marks_lost": result.n_marks_lost,
        **({"advice": WITHOUT_MARKS.format(len(result.sizes))} if seeds is None else {}),
        "n_edges": result.graph.n_edges,
        **_solver(result),
        "files": {purpose: str(path) for purpose, path in files.items()},
        "warnings": messages,
        "seconds": {stage: round(time, 4) for stage, time in stages.seconds.items()},
    }


def _summary_rows(
    result: Segmentation, files: dict[str, Path], stages: Stages, options: SegmentOptions
) -> list[tuple[str, str]]:
    graph = result.graph
    by_regions = isinstance(graph, RegionGraph)
    nodes = f"{graph.regions.n_regions:,} regions" if by_regions else f"{graph.n_edges:,} edges"
    sizes = [f"{size:,} ({100 * size / result.codes.size:.0f} %)" for size in result.sizes]
    names = () if result.seeds is None else result.seeds.classes
    sizes = [f"{names[k]}: {size}" if k < len(names) else size for k, size in enumerate(sizes)]
    rows = [
        ("image", f"{options.image}, {result.shape[0]} x {result.shape[1]} pixels"),
        ("method", f"{type(result.model).__name__} on {nodes}, {stages.total:.2f} s"),
        ("segments", ", ".join(sizes)),
    ]
    if result.seeds is not None:
        n_known = result.seeds.n_known
        rows.append(("marks", f"{n_known - result.n_marks_lost:,} of {n_known:,} pixels kept"))
    else:
        rows.append(("marks", WITHOUT_MARKS.format(len(result.sizes))))
    if options.verbose and not isinstance(result.model, RegionCut):
        rows.append(("solver", "; ".join(_solver(result).values())))
    return [*rows, *((purpose, str(path)) for purpose, path in files.items())]


def _solver(result: Segmentation) -> dict[str, Any]:
    """Return how the cut was found: the number of regions, or the solver and its certificate."""
    if isinstance(result.model, RegionCut):
        return {"n_regions": result.model.n_regions}
    solution = result.model.solution_
    return {"solver": solution.solver, "certificate": str(solution.certificate)}
