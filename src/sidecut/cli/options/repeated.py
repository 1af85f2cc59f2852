"""Options that several commands have, and the headings they stand under in the help."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

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
