"""The options of each command: one dataclass per command, from which its options and its help are made."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any, Literal

import typer


def command_line(name: str, options: Any) -> str:
    """Return the command line that gives these options, defaults left out."""
    words = ["sidecut", name]
    for field in fields(options):
        value = getattr(options, field.name)
        if value == field.default:
            continue
        flag = f"--{field.name.replace('_', '-')}"
        if isinstance(value, bool):
            words.append(flag if value else f"--no-{flag[2:]}")
            continue
        for one in value if isinstance(value, list) else [value]:
            words += [str(one)] if "typer.Argument" in str(field.type) else [flag, str(one)]
    return shlex.join(words)


INPUT, KNOWLEDGE, METHOD, OUTPUT = "What is clustered", "What is known", "Method", "What is written"


def _option(panel: str | None, text: str, metavar: str | None = None, *names: str) -> Any:
    """Return an option of a panel of the help; its name is that of the field unless names are given."""
    return typer.Option(*names, help=text, metavar=metavar, rich_help_panel=panel)


def _switch(panel: str | None, text: str, *names: str, show_default: bool = True) -> Any:
    """Return an option without a value. The blank keeps newer versions of typer from writing <bool>."""
    return typer.Option(*names, help=text, metavar=" ", rich_help_panel=panel, show_default=show_default)


Header = Annotated[
    bool | None,
    _switch(
        INPUT,
        "Whether the first line names the columns (default: unless it is all numbers).",
        "--header/--no-header",
        show_default=False,
    ),
]
OnConflict = Annotated[
    Literal["raise", "drop", "weigh"],
    _option(KNOWLEDGE, "Contradictions: refuse them, drop the weaker links, or keep all as beliefs."),
]
LabelColumn = Annotated[str | None, _option(KNOWLEDGE, "Known classes; empty where unknown.", "NAME")]
Apart = Annotated[
    str | None, _option(KNOWLEDGE, "Rows with the same value here are in different clusters.", "NAME")
]
Together = Annotated[
    str | None, _option(KNOWLEDGE, "Rows with the same value here are in one cluster.", "NAME")
]
Unknown = Annotated[
    list[str] | None,
    _option(
        KNOWLEDGE,
        "A value that means unknown among classes, as often as needed; '' if all but empty are classes.",
        "VALUE",
    ),
]
Edges = Annotated[
    Path | None,
    _option(INPUT, "A graph of the same points, source,target[,weight]: used with the features.", "FILE"),
]
Encoding = Annotated[
    str | None, _option(INPUT, "Encoding of text files (default: UTF-8, or Windows' cp1252).", "NAME")
]
Decimal = Annotated[
    str | None, _option(INPUT, "The decimal sign of numbers (default: what the columns show).", "SIGN")
]
Thousands = Annotated[str | None, _option(INPUT, "The sign that sets off thousands, as in 1.234,5.", "SIGN")]
Sheet = Annotated[str | None, _option(INPUT, "Sheet of an Excel file, if it has several.", "NAME")]
Seed = Annotated[int, _option(METHOD, "Seed of everything random.", "N")]
Settings = Annotated[
    list[str] | None, _option(METHOD, "Any other parameter of the method.", "NAME=VALUE", "--set")
]
Json = Annotated[bool, _switch(OUTPUT, "Print one JSON object instead of the summary.", "--json")]
Quiet = Annotated[bool, _switch(OUTPUT, "No progress and no summary.", "--quiet", "-q")]
Verbose = Annotated[bool, _switch(OUTPUT, "Show progress, and how the mathematics went.", "--verbose", "-v")]
Debug = Annotated[bool, _switch(None, "Show the traceback of an error.", "--debug")]
Labels = Annotated[
    Path, _option(None, ".csv, .tsv, .jsonl, .npy or .parquet; - prints CSV.", "OUT", "--output", "-o")
]
Clusters = Annotated[
    int | None, _option(None, "Number of clusters (default: answers decide).", "K", "--clusters", "-k")
]
Shown = Annotated[
    str | None, _option(OUTPUT, "Columns to show, with commas between (default: all).", "NAMES")
]
Costs = Annotated[
    str | None,
    _option(
        None,
        "What each kind of question costs, as pair=4,label=5,set=10; only these are asked. seconds: this "
        "list (default: pairs alone).",
        "LIST",
    ),
]
Reliability = Annotated[
    str | None,
    _option(
        None,
        "The share of answers that are right; below 1 some are checked (default: 1). estimate: it is learnt "
        "from the answers.",
        "P",
    ),
]
Raw = Annotated[
    bool, _switch(INPUT, "Take the columns as they are, not standardised (as PC1, PC2, ... are).", "--raw")
]


@dataclass(frozen=True, kw_only=True)
class TableOptions:
    """How a file becomes points and what is known of them: options of all commands that cluster."""

    data: Annotated[
        Path,
        typer.Argument(
            metavar="DATA",
            help=".csv, .tsv, .txt, .xlsx, .json, .jsonl, .parquet, .npy, .npz, .edges or .edgelist.",
        ),
    ]
    header: Header = None
    sheet: Sheet = None
    id_column: Annotated[
        str | None, _option(INPUT, "Names of the points; constraints may then use them.", "NAME")
    ] = None
    columns: Annotated[
        list[str] | None, _option(INPUT, "Columns to use (default: all the others).", "A,B")
    ] = None
    drop: Annotated[list[str] | None, _option(INPUT, "Columns to leave out.", "A,B")] = None
    feature: Annotated[
        list[str] | None, _option(INPUT, "Columns that look like ids or dates but are features.", "A,B")
    ] = None
    impute: Annotated[
        bool, _switch(INPUT, "Fill gaps: with the median of a number, the most frequent text.", "--impute")
    ] = False
    encode: Annotated[
        bool, _switch(INPUT, "Cluster by text, too; every column then counts alike.", "--encode")
    ] = False
    encoding: Encoding = None
    decimal: Decimal = None
    thousands: Thousands = None
    truth_column: Annotated[str | None, _option(INPUT, "True classes, used for scoring only.", "NAME")] = None

    label_column: LabelColumn = None
    apart: Apart = None
    together: Together = None
    constraints: Annotated[
        Path | None,
        _option(
            KNOWLEDGE, "Pairs (i,j,same, i,j,kind or i,j,strength), or two columns: names, labels.", "FILE"
        ),
    ] = None
    unknown: Unknown = None
    on_conflict: OnConflict = "raise"


@dataclass(frozen=True, kw_only=True)
class ClusterOptions(TableOptions):
    """Options of ``sidecut cluster``."""

    output: Labels
    clusters: Annotated[
        str, _option(None, "Number of clusters, bounds such as 2-6, or auto.", "K", "--clusters", "-k")
    ] = "auto"

    input: Annotated[
        Literal["table", "array", "edges"] | None, _option(INPUT, "What DATA is, if its suffix does not say.")
    ] = None
    graph: Annotated[
        bool, _switch(INPUT, "DATA is a square matrix of weights between the points.", "--graph")
    ] = False
    key: Annotated[
        str | None, _option(INPUT, "Array of an .npz file that holds the points (default: X).", "NAME")
    ] = None
    standardize: Annotated[
        bool, _switch(INPUT, "Give every column mean 0 and variance 1.", "--standardize")
    ] = False

    edges: Edges = None

    strict: Annotated[
        bool, _switch(KNOWLEDGE, "Exit with 3 if a hard constraint is violated.", "--strict")
    ] = False
    hard: Annotated[
        bool,
        _switch(KNOWLEDGE, "Repair labels: all must-links, and as many cannot-links as can be.", "--hard"),
    ] = False

    method: Annotated[
        str | None,
        _option(METHOD, "See sidecut methods (default: auto, which chooses by what is known).", "NAME"),
    ] = None
    affinity: Annotated[
        Literal["knn", "gaussian", "self_tuning", "cosine", "heat"] | None,
        _option(METHOD, "How features become a graph (default: knn)."),
    ] = None
    neighbors: Annotated[int | None, _option(METHOD, "Neighbours in the graph (default: 20).", "N")] = None
    seed: Seed = 0
    set: Settings = None
    scheduler: Annotated[
        str | None,
        _option(
            METHOD,
            "Cluster on the workers of a Dask scheduler (tcp://...), or local (scacs, lsc).",
            "ADDRESS",
        ),
    ] = None

    report: Annotated[
        Path | None, _option(OUTPUT, "Where the report goes (default: beside OUT).", "HTML")
    ] = None
    no_report: Annotated[bool, _switch(OUTPUT, "Write no report.", "--no-report")] = False
    picture: Annotated[
        Path | None, _option(OUTPUT, "Also write the picture (.png, .svg or .pdf).", "PNG")
    ] = None
    model: Annotated[
        Path | None, _option(OUTPUT, "Also save the model (.sidecut), for sidecut predict.", "MODEL")
    ] = None
    no_compare: Annotated[
        bool, _switch(OUTPUT, "Do not also cluster without the constraints.", "--no-compare")
    ] = False
    json: Json = False
    quiet: Quiet = False
    verbose: Verbose = False


@dataclass(frozen=True, kw_only=True)
class PredictOptions:
    """Options of ``sidecut predict``."""

    model: Annotated[Path, typer.Argument(metavar="MODEL", help="What sidecut cluster --model wrote.")]
    data: Annotated[
        Path, typer.Argument(metavar="NEW", help="New points, in a file like the one that was clustered.")
    ]
    output: Labels
    id_column: Annotated[
        str | None, _option(None, "Names of the points (default: the column that named them before).", "NAME")
    ] = None
    key: Annotated[
        str | None, _option(None, "Array of an .npz file that holds the points (default: X).", "NAME")
    ] = None
    header: Header = None
    sheet: Sheet = None
    encoding: Encoding = None
    decimal: Decimal = None
    thousands: Thousands = None
    report: Annotated[Path | None, _option(OUTPUT, "Also write a page about the new points.", "HTML")] = None
    quiet: Quiet = False


@dataclass(frozen=True, kw_only=True)
class UpdateOptions(PredictOptions):
    """Options of ``sidecut update``."""

    label_column: LabelColumn = None
    apart: Apart = None
    together: Together = None
    corrections: Annotated[
        Path | None, _option(KNOWLEDGE, "Corrections of the old clusters, as the library saves them.", "FILE")
    ] = None
    changes: Annotated[
        Path | None, _option(OUTPUT, "Also write the table of changes, with reasons.", "CSV")
    ] = None
    save: Annotated[
        Path | None, _option(OUTPUT, "Where the updated model goes (default: MODEL itself).", "FILE")
    ] = None


@dataclass(frozen=True, kw_only=True)
class DemoOptions:
    """Options of ``sidecut demo``."""

    output: Annotated[Path, _option(None, "Directory to write to.", "DIR", "--output", "-o")]
    quiet: Quiet = False
    verbose: Verbose = False


@dataclass(frozen=True, kw_only=True)
class MethodsOptions:
    """Options of ``sidecut methods``."""

    json: Json = False


@dataclass(frozen=True, kw_only=True)
class EvaluateOptions:
    """Options of ``sidecut evaluate``."""

    labels: Annotated[
        Path, typer.Argument(metavar="LABELS", help="What sidecut cluster wrote, or any table of labels.")
    ]
    truth: Annotated[Path, typer.Argument(metavar="TRUTH", help="True classes; empty where unknown.")]
    header: Header = None
    column: Annotated[str | None, _option(None, "Column of LABELS (default: label).", "NAME")] = None
    truth_column: Annotated[str | None, _option(None, "Column of TRUTH (default: label).", "NAME")] = None
    id_column: Annotated[str | None, _option(None, "Match rows of both files by this column.", "NAME")] = None
    constraints: Annotated[Path | None, _option(None, "Constraints the labels should keep.", "FILE")] = None
    unknown: Unknown = None
    on_conflict: OnConflict = "raise"
    encoding: Encoding = None
    json: Json = False


@dataclass(frozen=True, kw_only=True)
class CheckOptions:
    """Options of ``sidecut check``."""

    constraints: Annotated[
        Path,
        typer.Argument(
            metavar="CONSTRAINTS", help="File of pairs or labels; or a table with --label-column."
        ),
    ]
    label_column: Annotated[
        str | None, _option(None, "Column of the table with known classes, empty where unknown.", "NAME")
    ] = None
    samples: Annotated[int | None, _option(None, "Number of points they are about.", "N")] = None
    data: Annotated[
        Path | None, _option(None, "The points they are about, for their number and names.", "DATA")
    ] = None
    id_column: Annotated[
        str | None, _option(None, "Column of DATA with the names of the points.", "NAME")
    ] = None
    clusters: Annotated[
        int | None, _option(None, "Number of clusters, to see whether it suffices.", "K", "--clusters", "-k")
    ] = None
    unknown: Unknown = None
    sheet: Sheet = None
    encoding: Encoding = None
    decimal: Decimal = None
    thousands: Thousands = None
    json: Json = False


@dataclass(frozen=True, kw_only=True)
class SegmentOptions:
    """Options of ``sidecut segment``."""

    image: Annotated[
        Path, typer.Argument(metavar="IMAGE", help="A picture (.png, .jpg, ...) or an .npy array.")
    ]
    output: Annotated[Path, _option(None, "The picture with its segments, .png.", "OUT", "--output", "-o")]

    scribbles: Annotated[
        Path | None,
        _option(
            KNOWLEDGE,
            "Strokes of plain colours, or an image of class numbers (0: unknown), as large as IMAGE.",
            "FILE",
        ),
    ] = None
    box: Annotated[
        list[str] | None,
        _option(
            KNOWLEDGE,
            "Pixels of one class, as often as needed; row 0 and column 0 are the upper left pixel.",
            "CLASS,ROW,COLUMN,HEIGHT,WIDTH",
        ),
    ] = None
    strict: Annotated[bool, _switch(KNOWLEDGE, "Exit with 3 if a mark is not kept.", "--strict")] = False

    segments: Annotated[
        int | None,
        _option(METHOD, "Number of segments (default: classes marked, at least 2).", "K", "--segments", "-k"),
    ] = None
    method: Annotated[
        str | None,
        _option(METHOD, "See sidecut methods (default: by regions; CSP where one class is marked).", "NAME"),
    ] = None
    radius: Annotated[
        float | None,
        _option(METHOD, "Link pixels up to R apart (default: 5, or 2 if large and unmarked).", "R"),
    ] = None
    neighbors: Annotated[
        int | None, _option(METHOD, "Link each pixel with its N nearest in position and colour.", "N")
    ] = None
    sigma_position: Annotated[float | None, _option(METHOD, "Width in pixels (default: 0.8 R).", "S")] = None
    sigma_color: Annotated[
        float | None, _option(METHOD, "Width in colour (default: from the picture).", "S")
    ] = None
    seed: Seed = 0
    set: Settings = None

    labels: Annotated[Path | None, _option(OUTPUT, "Also write the label image (.npy or .png).", "FILE")] = (
        None
    )
    heat: Annotated[Path | None, _option(OUTPUT, "Also write the relaxed indicator in colours.", "FILE")] = (
        None
    )
    cutout: Annotated[
        Path | None, _option(OUTPUT, "Also write one segment on transparent ground (.png).", "FILE")
    ] = None
    cutout_class: Annotated[
        str | None, _option(OUTPUT, "Which segment that is (default: the class marked first).", "CLASS")
    ] = None
    enlarge: Annotated[int, _option(OUTPUT, "Show each pixel as N x N.", "N")] = 1
    json: Json = False
    quiet: Quiet = False
    verbose: Verbose = False


@dataclass(frozen=True, kw_only=True)
class AskOptions(TableOptions):
    """Options of ``sidecut ask``."""

    output: Annotated[
        Path, _option(None, "Labels: .csv, .tsv, .jsonl, .npy or .parquet.", "OUT", "--output", "-o")
    ]
    show: Shown = None
    clusters: Clusters = None
    questions: Annotated[int | None, _option(None, "Stop after N answers (default: when you quit).", "N")] = (
        None
    )
    reliability: Reliability = None
    answers: Annotated[
        Path | None,
        _option(None, "Where answers are kept; it goes on from there (default: OUT.answers).", "DIR"),
    ] = None
    report: Annotated[
        Path | None, _option(None, "Write a page (.html) of the questions, answers and clusters.", "PAGE")
    ] = None
    costs: Costs = None
    raw: Raw = False
    seed: Seed = 0


@dataclass(frozen=True, kw_only=True)
class StudioOptions(TableOptions):
    """Options of ``sidecut studio``."""

    data: Annotated[
        Path,
        typer.Argument(
            metavar="DATA", help="A table, an array, a list of edges, a picture, or a folder of pictures."
        ),
    ]
    project: Annotated[
        Path | None,
        _option(None, "Where answers are kept; it goes on from there (default: DATA.studio).", "DIR"),
    ] = None
    edges: Edges = None
    show: Shown = None
    text: Annotated[
        str | None, _option(None, "A column of text to read; clustered by its words if all is text.", "NAME")
    ] = None
    images: Annotated[
        Path | None, _option(None, "A folder of pictures, one per row; nothing else is read.", "DIR")
    ] = None
    image_column: Annotated[
        str | None, _option(None, "The picture of each row (default: in order of name).", "NAME")
    ] = None
    image_shape: Annotated[
        str | None, _option(None, "Rows are pictures of height x width pixels, as 28x28.", "HxW")
    ] = None
    series: Annotated[bool, _switch(None, "Rows are time series: draw them as lines.", "--series")] = False
    map: Annotated[str | None, _option(None, "Two columns as the map (default: an embedding).", "X,Y")] = None
    clusters: Clusters = None
    reliability: Reliability = None
    costs: Costs = None
    raw: Raw = False
    port: Annotated[int, _option(None, "Port on this machine (default: a free one).", "N")] = 0
    browser: Annotated[bool, _switch(None, "Open the page.", "--browser/--no-browser")] = True
    seed: Seed = 0


@dataclass(frozen=True, kw_only=True)
class GraphBuildOptions:
    """Options of ``sidecut graph build``."""

    data: Annotated[
        Path,
        typer.Argument(metavar="DATA", help="Points: a Parquet file, a folder of them, or .npy. Or --edges."),
    ]
    output: Annotated[Path, _option(None, "The folder of the graph.", "DIR", "--output", "-o")]
    edges: Annotated[
        bool, _switch(None, "DATA lists edges: two columns of nodes from 0 on, one of weights.", "--edges")
    ] = False
    neighbors: Annotated[int, _option(None, "Link each point with its N nearest.", "N")] = 20
    nodes: Annotated[
        int | None, _option(None, "With --edges: how many nodes (default: the largest listed).", "N")
    ] = None
    seed: Seed = 0
    quiet: Quiet = False


@dataclass(frozen=True, kw_only=True)
class GraphShowOptions:
    """Options of ``sidecut graph show``."""

    data: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of a graph.")]
    parts: Annotated[int, _option(None, "How many parts it will be divided into.", "N")] = 4
    check: Annotated[bool, _switch(None, "Compare checksums first.", "--check/--no-check")] = True
