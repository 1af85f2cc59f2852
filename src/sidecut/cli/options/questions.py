"""What `ask` and `studio` can be told."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from sidecut.cli.options.repeated import (
    Debug,
    Decimal,
    Encoding,
    Header,
    Seed,
)


@dataclass(frozen=True, kw_only=True)
class AskOptions:
    """Options of ``sidecut ask``."""

    data: Annotated[Path, typer.Argument(metavar="DATA", help="A table, one row per point.")]
    output: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="OUT", help="Labels: .csv, .tsv, .jsonl, .npy or .parquet."),
    ]
    show: Annotated[
        str | None,
        typer.Option(metavar="NAMES", help="Columns to show, with commas between (default: all)."),
    ] = None
    id_column: Annotated[str | None, typer.Option(metavar="NAME", help="Names of the points.")] = None
    drop: Annotated[
        str | None, typer.Option(metavar="NAMES", help="Columns not to cluster by, with commas between.")
    ] = None
    clusters: Annotated[
        int | None,
        typer.Option("--clusters", "-k", metavar="K", help="Number of clusters (default: answers decide)."),
    ] = None
    questions: Annotated[
        int | None, typer.Option(metavar="N", help="Stop after so many answers (default: when you quit).")
    ] = None
    reliability: Annotated[
        float | None,
        typer.Option(
            metavar="P", help="The share of answers that are right; below 1 some are checked (default: 1)."
        ),
    ] = None
    answers: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Where answers are kept; it goes on from there (default: OUT.answers)."
        ),
    ] = None
    report: Annotated[
        Path | None,
        typer.Option(metavar="PAGE", help="Write a page (.html) of the questions, answers and clusters."),
    ] = None
    truth_column: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="True classes: never shown, only for the report's curve."),
    ] = None
    raw: Annotated[bool, typer.Option("--raw", help="Take the columns as they are, not standardised.")] = (
        False
    )
    impute: Annotated[bool, typer.Option("--impute", help="Fill missing values.")] = False
    header: Header = None
    encoding: Encoding = None
    decimal: Decimal = "."
    seed: Seed = 0
    debug: Debug = False


@dataclass(frozen=True, kw_only=True)
class StudioOptions:
    """Options of ``sidecut studio``."""

    data: Annotated[
        Path,
        typer.Argument(
            metavar="DATA", help="A table, an array, a list of edges, a picture, or a folder of pictures."
        ),
    ]
    project: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Where answers are kept; it goes on from there (default: DATA.studio)."
        ),
    ] = None
    id_column: Annotated[str | None, typer.Option(metavar="NAME", help="Names of the points.")] = None
    show: Annotated[
        str | None,
        typer.Option(metavar="NAMES", help="Columns to show, with commas between (default: all)."),
    ] = None
    drop: Annotated[
        str | None, typer.Option(metavar="NAMES", help="Columns not to cluster by, with commas between.")
    ] = None
    text: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="A column of text to read; clustered by its words if all is text."),
    ] = None
    images: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="A folder of pictures, one per row; nothing else is read."),
    ] = None
    image_column: Annotated[
        str | None, typer.Option(metavar="NAME", help="The picture of each row (default: in order of name).")
    ] = None
    image_shape: Annotated[
        str | None, typer.Option(metavar="HxW", help="Rows are pictures of so many pixels, as 28x28.")
    ] = None
    series: Annotated[bool, typer.Option("--series", help="Rows are time series: draw them as lines.")] = (
        False
    )
    truth_column: Annotated[
        str | None, typer.Option(metavar="NAME", help="True classes, to colour by; never used.")
    ] = None
    map: Annotated[
        str | None, typer.Option(metavar="X,Y", help="Two columns as the map (default: an embedding).")
    ] = None
    clusters: Annotated[
        int | None,
        typer.Option("--clusters", "-k", metavar="K", help="Number of clusters (default: answers decide)."),
    ] = None
    constraints: Annotated[
        Path | None, typer.Option(metavar="FILE", help="What is known already; read when a project starts.")
    ] = None
    reliability: Annotated[
        float, typer.Option(metavar="P", help="The chance that an answer is right, above 0.5.")
    ] = 1.0
    raw: Annotated[bool, typer.Option("--raw", help="Take the columns as they are, not standardised.")] = (
        False
    )
    impute: Annotated[bool, typer.Option("--impute", help="Fill missing values.")] = False
    port: Annotated[int, typer.Option(metavar="N", help="Port on this machine (default: a free one).")] = 0
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page.")] = True
    header: Header = None
    encoding: Encoding = None
    decimal: Decimal = "."
    seed: Seed = 0
    debug: Debug = False
