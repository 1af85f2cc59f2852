"""What `segment` can be told."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from sidecut.cli.options.repeated import (
    KNOWLEDGE,
    METHOD,
    OUTPUT,
    Debug,
    Json,
    Quiet,
    Seed,
    Settings,
    Verbose,
)


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
