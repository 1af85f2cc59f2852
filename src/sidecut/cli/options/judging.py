"""What `evaluate` and `check` can be told."""

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
    Json,
    OnConflict,
    Unknown,
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
