"""What `ask` and `studio` can be told."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from sidecut.cli.options.clustering import (
    KNOWLEDGE,
    METHOD,
    OUTPUT,
    Debug,
    Decimal,
    Encoding,
    Header,
    Json,
    OnConflict,
    Quiet,
    Seed,
    Settings,
    Unknown,
    Verbose,
)


@dataclass(frozen=True, kw_only=True)
class EvaluateOptions:
    """Options of ``sidecut evaluate``."""

    labels: Annotated[
        Path, typer.Argument(metavar="LABELS", help="What sidecut cluster wrote, or any table of labels.")
    ]
    truth: Annotated[Path, typer.Argument(metavar="TRUTH", help="True classes; empty where unknown.")]
    header: Header = None
    column: Annotated[str | None, typer.Option(metavar="NAME", help="Column of LABELS (default: label).")] = (
        None
    )
    truth_column: Annotated[
        str | None, typer.Option(metavar="NAME", help="Column of TRUTH (default: label).")
    ] = None
    id_column: Annotated[
        str | None, typer.Option(metavar="NAME", help="Match rows of both files by this column.")
    ] = None
    constraints: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Constraints the labels should keep.")
    ] = None
    unknown: Unknown = None
    on_conflict: OnConflict = "raise"
    encoding: Encoding = None
    json: Json = False
    debug: Debug = False


@dataclass(frozen=True, kw_only=True)
class CheckOptions:
    """Options of ``sidecut check``."""

    constraints: Annotated[
        Path,
        typer.Argument(
            metavar="CONSTRAINTS",
            help="File of pairs or labels; or a table with --label-column.",
        ),
    ]
    label_column: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Column of the table with known classes, empty where unknown."),
    ] = None
    samples: Annotated[int | None, typer.Option(metavar="N", help="Number of points they are about.")] = None
    data: Annotated[
        Path | None,
        typer.Option(metavar="DATA", help="The points they are about, for their number and names."),
    ] = None
    id_column: Annotated[
        str | None, typer.Option(metavar="NAME", help="Column of DATA with the names of the points.")
    ] = None
    clusters: Annotated[
        int | None,
        typer.Option("--clusters", "-k", metavar="K", help="Number of clusters, to see whether it suffices."),
    ] = None
    unknown: Unknown = None
    encoding: Encoding = None
    decimal: Decimal = "."
    json: Json = False
    debug: Debug = False


@dataclass(frozen=True, kw_only=True)
class SegmentOptions:
    """Options of ``sidecut segment``."""

    image: Annotated[
        Path, typer.Argument(metavar="IMAGE", help="A picture (.png, .jpg, ...) or an .npy array.")
    ]
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="OUT", help="The picture with its segments, .png.")
    ]

    scribbles: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Strokes of plain colours, or an image of class numbers (0: unknown), as large as IMAGE.",
            rich_help_panel=KNOWLEDGE,
        ),
    ] = None
    box: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CLASS,ROW,COLUMN,HEIGHT,WIDTH",
            help="Pixels of one class, as often as needed; row 0 and column 0 are the upper left pixel.",
            rich_help_panel=KNOWLEDGE,
        ),
    ] = None
    strict: Annotated[
        bool,
        typer.Option("--strict", help="Exit with 3 if a mark is not kept.", rich_help_panel=KNOWLEDGE),
    ] = False

    segments: Annotated[
        int | None,
        typer.Option(
            "--segments",
            "-k",
            metavar="K",
            help="Number of segments (default: classes marked, at least 2).",
            rich_help_panel=METHOD,
        ),
    ] = None
    method: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="See sidecut methods (default: by regions where two classes are marked).",
            rich_help_panel=METHOD,
        ),
    ] = None
    radius: Annotated[
        float | None,
        typer.Option(
            metavar="R",
            help="Link pixels so near (default: 5, or 2 if large and unmarked).",
            rich_help_panel=METHOD,
        ),
    ] = None
    neighbors: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Link each pixel with its N nearest in position and colour.",
            rich_help_panel=METHOD,
        ),
    ] = None
    sigma_position: Annotated[
        float | None,
        typer.Option(metavar="S", help="Width in pixels (default: 0.8 R).", rich_help_panel=METHOD),
    ] = None
    sigma_color: Annotated[
        float | None,
        typer.Option(
            metavar="S", help="Width in colour (default: from the picture).", rich_help_panel=METHOD
        ),
    ] = None
    seed: Seed = 0
    set: Settings = None

    labels: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Also write the label image (.npy or .png).", rich_help_panel=OUTPUT
        ),
    ] = None
    heat: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Also write the relaxed indicator in colours.", rich_help_panel=OUTPUT
        ),
    ] = None
    enlarge: Annotated[
        int, typer.Option(metavar="N", help="Show each pixel as N x N.", rich_help_panel=OUTPUT)
    ] = 1
    json: Json = False
    quiet: Quiet = False
    verbose: Verbose = False
    debug: Debug = False


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
