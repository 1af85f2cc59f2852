"""What `cluster`, `predict`, `demo` and `methods` can be told."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any, Literal

import typer


def command_line(name: str, options: Any) -> str:
    """Return the command line that says what `options` say, defaults left out."""
    words = ["sidecut", name]
    for field in fields(options):
        value = getattr(options, field.name)
        if value != field.default:
            words += _words(field.name, value, is_argument="typer.Argument" in str(field.type))
    return shlex.join(words)


def _words(name: str, value: Any, is_argument: bool) -> Iterator[str]:
    flag = f"--{name.replace('_', '-')}"
    if isinstance(value, bool):
        yield flag if value else f"--no-{flag[2:]}"
        return
    for one in value if isinstance(value, list) else [value]:
        if not is_argument:
            yield flag
        yield str(one)


INPUT, KNOWLEDGE, METHOD, OUTPUT = "What is clustered", "What is known", "Method", "What is written"

Header = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header",
        help="Whether the first line names the columns (default: unless it is all numbers).",
        rich_help_panel=INPUT,
        show_default=False,
    ),
]
OnConflict = Annotated[
    Literal["raise", "drop", "weigh"],
    typer.Option(
        help="Contradictions: refuse them, drop the weaker links, or keep all as beliefs.",
        rich_help_panel=KNOWLEDGE,
    ),
]
Unknown = Annotated[
    list[str] | None,
    typer.Option(
        metavar="VALUE",
        help="A value that means unknown among classes, as often as needed; '' if all but empty are classes.",
        rich_help_panel=KNOWLEDGE,
    ),
]
Encoding = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Encoding of text files (default: utf-8).", rich_help_panel=INPUT),
]
Decimal = Annotated[
    str, typer.Option(metavar="SIGN", help="The decimal point of numbers.", rich_help_panel=INPUT)
]
Seed = Annotated[int, typer.Option(metavar="N", help="Seed of everything random.", rich_help_panel=METHOD)]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="NAME=VALUE", help="Any other parameter of the method.", rich_help_panel=METHOD
    ),
]
Json = Annotated[
    bool,
    typer.Option("--json", help="Print one JSON object instead of the summary.", rich_help_panel=OUTPUT),
]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="No progress and no summary.", rich_help_panel=OUTPUT)
]
Verbose = Annotated[
    bool,
    typer.Option(
        "--verbose", "-v", help="Show progress even when not at a terminal.", rich_help_panel=OUTPUT
    ),
]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]


@dataclass(frozen=True, kw_only=True)
class ClusterOptions:
    """Options of ``sidecut cluster``."""

    data: Annotated[
        Path,
        typer.Argument(
            metavar="DATA", help=".csv, .tsv, .txt, .jsonl, .parquet, .npy, .npz, .edges or .edgelist."
        ),
    ]
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", metavar="OUT", help=".csv, .tsv, .jsonl, .npy or .parquet; - prints CSV."
        ),
    ]

    clusters: Annotated[
        str, typer.Option("--clusters", "-k", metavar="K", help="Number of clusters, or auto.")
    ] = "auto"
    input: Annotated[
        Literal["table", "array", "edges"] | None,
        typer.Option(help="What DATA is, if its suffix does not say.", rich_help_panel=INPUT),
    ] = None
    graph: Annotated[
        bool,
        typer.Option(
            "--graph",
            help="DATA is a square matrix of weights between the points.",
            rich_help_panel=INPUT,
        ),
    ] = False
    key: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Array of an .npz file that holds the points (default: X).",
            rich_help_panel=INPUT,
        ),
    ] = None
    header: Header = None
    id_column: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Names of the points; constraints may then use them.",
            rich_help_panel=INPUT,
        ),
    ] = None
    columns: Annotated[
        list[str] | None,
        typer.Option(metavar="A,B", help="Columns to use (default: all the others).", rich_help_panel=INPUT),
    ] = None
    drop: Annotated[
        list[str] | None, typer.Option(metavar="A,B", help="Columns to leave out.", rich_help_panel=INPUT)
    ] = None
    feature: Annotated[
        list[str] | None,
        typer.Option(
            metavar="A,B", help="Columns that look like ids but are features.", rich_help_panel=INPUT
        ),
    ] = None
    impute: Annotated[
        bool,
        typer.Option(
            "--impute",
            help="Fill gaps: with the median of a number, the most frequent text.",
            rich_help_panel=INPUT,
        ),
    ] = False
    encode: Annotated[
        bool,
        typer.Option("--encode", help="Turn text into columns of zeros and ones.", rich_help_panel=INPUT),
    ] = False
    standardize: Annotated[
        bool,
        typer.Option("--standardize", help="Give every column mean 0 and variance 1.", rich_help_panel=INPUT),
    ] = False
    encoding: Encoding = None
    decimal: Decimal = "."
    truth_column: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="True classes, used for scoring only.", rich_help_panel=INPUT),
    ] = None

    label_column: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Known classes; empty where unknown.", rich_help_panel=KNOWLEDGE),
    ] = None
    constraints: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="CSV of pairs (i,j,same, i,j,kind or i,j,strength) or labels (i,label).",
            rich_help_panel=KNOWLEDGE,
        ),
    ] = None
    unknown: Unknown = None
    on_conflict: OnConflict = "raise"
    strict: Annotated[
        bool,
        typer.Option(
            "--strict", help="Exit with 3 if a hard constraint is violated.", rich_help_panel=KNOWLEDGE
        ),
    ] = False

    hard: Annotated[
        bool,
        typer.Option(
            "--hard",
            help="End with labels that keep every must-link and as many cannot-links as can be.",
            rich_help_panel=KNOWLEDGE,
        ),
    ] = False

    method: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="See sidecut methods (default: auto, which chooses by what is known).",
            rich_help_panel=METHOD,
        ),
    ] = None
    affinity: Annotated[
        Literal["knn", "gaussian", "self_tuning", "cosine", "heat"] | None,
        typer.Option(help="How features become a graph (default: knn).", rich_help_panel=METHOD),
    ] = None
    neighbors: Annotated[
        int | None,
        typer.Option(metavar="N", help="Neighbours in the graph (default: 20).", rich_help_panel=METHOD),
    ] = None
    seed: Seed = 0
    set: Settings = None
    scheduler: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Cluster on the workers of a Dask scheduler (tcp://...), or local (scacs, lsc).",
            rich_help_panel=METHOD,
        ),
    ] = None

    report: Annotated[
        Path | None,
        typer.Option(
            metavar="HTML", help="Where the report goes (default: beside OUT).", rich_help_panel=OUTPUT
        ),
    ] = None
    no_report: Annotated[
        bool, typer.Option("--no-report", help="Write no report.", rich_help_panel=OUTPUT)
    ] = False
    picture: Annotated[
        Path | None,
        typer.Option(
            metavar="PNG", help="Also write the picture (.png, .svg or .pdf).", rich_help_panel=OUTPUT
        ),
    ] = None
    model: Annotated[
        Path | None,
        typer.Option(
            metavar="MODEL",
            help="Also save the model (.sidecut), for sidecut predict.",
            rich_help_panel=OUTPUT,
        ),
    ] = None
    no_compare: Annotated[
        bool,
        typer.Option(
            "--no-compare", help="Do not also cluster without the constraints.", rich_help_panel=OUTPUT
        ),
    ] = False
    json: Json = False
    quiet: Quiet = False
    verbose: Verbose = False
    debug: Debug = False


@dataclass(frozen=True, kw_only=True)
class PredictOptions:
    """Options of ``sidecut predict``."""

    model: Annotated[Path, typer.Argument(metavar="MODEL", help="What sidecut cluster --model wrote.")]
    data: Annotated[
        Path, typer.Argument(metavar="NEW", help="New points, in a file like the one that was clustered.")
    ]
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", metavar="OUT", help=".csv, .tsv, .jsonl, .npy or .parquet; - prints CSV."
        ),
    ]
    id_column: Annotated[
        str | None, typer.Option(metavar="NAME", help="Names of the points, for the output.")
    ] = None
    key: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Array of an .npz file that holds the points (default: X)."),
    ] = None
    header: Header = None
    encoding: Encoding = None
    decimal: Decimal = "."
    quiet: Quiet = False
    debug: Debug = False


@dataclass(frozen=True, kw_only=True)
class DemoOptions:
    """Options of ``sidecut demo``."""

    output: Annotated[Path, typer.Option("--output", "-o", metavar="DIR", help="Directory to write to.")]
    quiet: Quiet = False
    verbose: Verbose = False
    debug: Debug = False


@dataclass(frozen=True, kw_only=True)
class MethodsOptions:
    """Options of ``sidecut methods``."""

    json: Json = False
    debug: Debug = False
