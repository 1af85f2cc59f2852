"""The commands and options of ``sidecut``."""

from __future__ import annotations

import argparse
from pathlib import Path

from sidecut import __version__
from sidecut.cli.methods import METHODS

__all__ = ["build_parser"]

AFFINITIES = ("knn", "gaussian", "self_tuning", "cosine", "heat")
ON_CONFLICT = ("raise", "drop", "weigh")

_EXIT_CODES = """\
exit codes:
  0  done
  1  the computation failed
  2  the command or its input cannot be used (the message says what to do)
  3  done, but hard constraints are violated (only with --strict)
"""

_EXAMPLES = """\
examples:
  sidecut demo -o demo                                        see what it does, on bundled data
  sidecut cluster points.csv --clusters 3 -o labels.csv
  sidecut cluster points.csv --clusters 3 --constraints pairs.csv -o labels.csv
  sidecut cluster points.csv --clusters 3 --label-column known --truth-column species -o labels.csv
  sidecut cluster friends.edges --clusters 2 --constraints known.csv -o labels.csv
  sidecut segment photo.jpg --scribbles strokes.png -o cut.png
  sidecut segment photo.jpg --box sky,5,10,8,8 --box sea,90,10,8,8 -o cut.png

"""


def build_parser() -> argparse.ArgumentParser:
    """Build the parser of the whole command line.

    Returns
    -------
    argparse.ArgumentParser
        Its namespaces have a ``command``.

    Examples
    --------
    >>> args = build_parser().parse_args(["cluster", "points.csv", "--clusters", "3", "-o", "labels.csv"])
    >>> args.command, args.clusters
    ('cluster', 3)
    """
    parser = argparse.ArgumentParser(
        prog="sidecut",
        description="Constrained spectral clustering: a little side information, far better clusters.",
        epilog=_EXAMPLES + _EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"sidecut {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    _add_cluster(commands)
    _add_segment(commands)
    _add_methods(commands)
    _add_evaluate(commands)
    _add_check(commands)
    _add_demo(commands)
    _add_bench(commands)
    return parser


def _add_command(commands: argparse._SubParsersAction, name: str, summary: str) -> argparse.ArgumentParser:
    command = commands.add_parser(
        name,
        help=summary,
        description=summary[0].upper() + summary[1:] + ".",
        epilog=_EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_argument("--debug", action="store_true", help="show the traceback of an error")
    return command


def _add_cluster(commands: argparse._SubParsersAction) -> None:
    command = _add_command(commands, "cluster", "cluster points, with or without constraints")
    command.add_argument(
        "data", metavar="DATA", type=Path, help=".csv, .tsv, .parquet, .npy, .npz, .edges or .edgelist"
    )
    command.add_argument("--clusters", "-k", metavar="K", type=int, required=True, help="number of clusters")
    command.add_argument(
        "-o", "--output", metavar="OUT", type=Path, required=True, help=".csv, .tsv, .npy or .parquet"
    )
    _add_input_options(command)
    _add_constraint_options(command)
    _add_method_options(command)
    _add_output_options(command)


def _add_input_options(command: argparse.ArgumentParser) -> None:
    group = command.add_argument_group("input")
    group.add_argument(
        "--input", choices=("table", "array", "edges"), help="what DATA is, if its suffix does not say"
    )
    group.add_argument(
        "--graph", action="store_true", help="DATA is a square matrix of weights between the points"
    )
    group.add_argument(
        "--key", metavar="NAME", help="array of an .npz file that holds the points (default: X)"
    )
    _add_header(group)
    group.add_argument(
        "--id-column", metavar="NAME", help="names of the points; constraints may then use them"
    )
    group.add_argument("--label-column", metavar="NAME", help="known classes; empty or -1 where unknown")
    group.add_argument("--truth-column", metavar="NAME", help="true classes, used for scoring only")
    group.add_argument(
        "--columns",
        metavar="A,B",
        action="append",
        default=[],
        help="columns to use (default: all the others)",
    )
    group.add_argument("--drop", metavar="A,B", action="append", default=[], help="columns to leave out")
    group.add_argument("--standardize", action="store_true", help="give every column mean 0 and variance 1")


def _add_header(group: argparse._ArgumentGroup | argparse.ArgumentParser) -> None:
    group.add_argument(
        "--header",
        action=argparse.BooleanOptionalAction,
        help="whether the first line names the columns (default: unless it is all numbers)",
    )


def _add_constraint_options(command: argparse.ArgumentParser) -> None:
    group = command.add_argument_group("constraints")
    group.add_argument(
        "--constraints",
        metavar="FILE",
        type=Path,
        help="CSV of pairs (i,j,kind or i,j,strength) or labels (i,label)",
    )
    _add_on_conflict(group)
    group.add_argument("--strict", action="store_true", help="exit with 3 if a hard constraint is violated")


def _add_on_conflict(group: argparse._ArgumentGroup | argparse.ArgumentParser) -> None:
    group.add_argument(
        "--on-conflict",
        choices=ON_CONFLICT,
        default="raise",
        help="contradictions: refuse them, drop the weaker links, or keep all as beliefs (default: raise)",
    )


def _add_method_options(command: argparse.ArgumentParser) -> None:
    group = command.add_argument_group("method")
    group.add_argument(
        "--method",
        metavar="NAME",
        help=f"{', '.join(METHODS)} (default: chosen by whether there are constraints)",
    )
    group.add_argument("--affinity", choices=AFFINITIES, help="how features become a graph (default: knn)")
    group.add_argument("--neighbors", metavar="N", type=int, help="neighbours in the graph (default: 20)")
    group.add_argument(
        "--seed", metavar="N", type=int, default=0, help="seed of everything random (default: 0)"
    )
    group.add_argument(
        "--set", metavar="NAME=VALUE", action="append", default=[], help="any other parameter of the method"
    )
    group.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        help="cluster on the workers of a Dask scheduler (tcp://...), or local; scacs and lsc, no report",
    )


def _add_output_options(command: argparse.ArgumentParser) -> None:
    group = command.add_argument_group("output")
    group.add_argument(
        "--report", metavar="HTML", type=Path, help="where the report goes (default: beside OUT)"
    )
    group.add_argument("--no-report", action="store_true", help="write no report")
    group.add_argument(
        "--picture", metavar="PNG", type=Path, help="also write the picture (.png, .svg or .pdf)"
    )
    group.add_argument(
        "--no-compare", action="store_true", help="do not also cluster without the constraints"
    )
    group.add_argument("--json", action="store_true", help="print one JSON object instead of the summary")
    group.add_argument("--quiet", "-q", action="store_true", help="no progress and no summary")
    group.add_argument(
        "--verbose", "-v", action="store_true", help="show progress even when not at a terminal"
    )


def _add_segment(commands: argparse._SubParsersAction) -> None:
    command = _add_command(commands, "segment", "cut a picture into segments, by what is marked on it")
    command.add_argument(
        "image", metavar="IMAGE", type=Path, help="a picture (.png, .jpg, ...) or an .npy array"
    )
    command.add_argument(
        "-o", "--output", metavar="OUT", type=Path, required=True, help="the picture with its segments, .png"
    )
    _add_mark_options(command)
    _add_pixel_options(command)
    _add_segment_outputs(command)


def _add_mark_options(command: argparse.ArgumentParser) -> None:
    group = command.add_argument_group("marks")
    either = group.add_mutually_exclusive_group()
    either.add_argument(
        "--scribbles",
        metavar="FILE",
        type=Path,
        help="strokes of plain colours, or an image of class numbers (0: unknown), as large as IMAGE",
    )
    either.add_argument(
        "--box",
        metavar="CLASS,ROW,COLUMN,HEIGHT,WIDTH",
        action="append",
        default=[],
        help="pixels of one class, as often as needed; row 0 and column 0 are the upper left pixel",
    )
    group.add_argument("--strict", action="store_true", help="exit with 3 if a mark is not kept")


def _add_pixel_options(command: argparse.ArgumentParser) -> None:
    group = command.add_argument_group("method")
    group.add_argument(
        "--segments",
        "-k",
        metavar="K",
        type=int,
        help="number of segments (default: classes marked, at least 2)",
    )
    group.add_argument(
        "--method",
        metavar="NAME",
        help=f"csp, {', '.join(m for m in METHODS if m != 'csp')} (default: csp with marks)",
    )
    group.add_argument(
        "--radius",
        metavar="R",
        type=float,
        help="link pixels so near (default: 5, or 2 if large and unmarked)",
    )
    group.add_argument(
        "--neighbors", metavar="N", type=int, help="link each pixel with its N nearest in position and colour"
    )
    group.add_argument("--sigma-position", metavar="S", type=float, help="width in pixels (default: 0.8 R)")
    group.add_argument(
        "--sigma-color", metavar="S", type=float, help="width in colour (default: from the picture)"
    )
    group.add_argument(
        "--seed", metavar="N", type=int, default=0, help="seed of everything random (default: 0)"
    )
    group.add_argument(
        "--set", metavar="NAME=VALUE", action="append", default=[], help="any other parameter of the method"
    )


def _add_segment_outputs(command: argparse.ArgumentParser) -> None:
    group = command.add_argument_group("output")
    group.add_argument(
        "--labels", metavar="FILE", type=Path, help="also write the label image (.npy or .png)"
    )
    group.add_argument(
        "--heat", metavar="FILE", type=Path, help="also write the relaxed indicator in colours"
    )
    group.add_argument(
        "--enlarge", metavar="N", type=int, default=1, help="show each pixel as N x N (default: 1)"
    )
    group.add_argument("--json", action="store_true", help="print one JSON object instead of the summary")
    group.add_argument("--quiet", "-q", action="store_true", help="no progress and no summary")
    group.add_argument(
        "--verbose", "-v", action="store_true", help="show progress even when not at a terminal"
    )


def _add_methods(commands: argparse._SubParsersAction) -> None:
    command = _add_command(commands, "methods", "list the methods and what they are good for")
    command.add_argument("--json", action="store_true", help="print one JSON object")


def _add_evaluate(commands: argparse._SubParsersAction) -> None:
    command = _add_command(commands, "evaluate", "score labels against the truth and the constraints")
    command.add_argument(
        "labels", metavar="LABELS", type=Path, help="what sidecut cluster wrote, or any table of labels"
    )
    command.add_argument("truth", metavar="TRUTH", type=Path, help="true classes; empty or -1 where unknown")
    _add_header(command)
    command.add_argument("--column", metavar="NAME", help="column of LABELS (default: label)")
    command.add_argument("--truth-column", metavar="NAME", help="column of TRUTH (default: label)")
    command.add_argument("--id-column", metavar="NAME", help="match rows of both files by this column")
    command.add_argument(
        "--constraints", metavar="FILE", type=Path, help="constraints the labels should keep"
    )
    _add_on_conflict(command)
    command.add_argument("--json", action="store_true", help="print one JSON object")


def _add_check(commands: argparse._SubParsersAction) -> None:
    command = _add_command(commands, "check", "look at constraints: how many, what follows, what contradicts")
    command.add_argument("constraints", metavar="CONSTRAINTS", type=Path, help="CSV of pairs or labels")
    about = command.add_mutually_exclusive_group(required=True)
    about.add_argument("--samples", metavar="N", type=int, help="number of points they are about")
    about.add_argument(
        "--data", metavar="DATA", type=Path, help="the points they are about, for their number and names"
    )
    command.add_argument("--id-column", metavar="NAME", help="column of DATA with the names of the points")
    command.add_argument("--json", action="store_true", help="print one JSON object")


def _add_demo(commands: argparse._SubParsersAction) -> None:
    command = _add_command(commands, "demo", "cluster bundled data with a few constraints, before and after")
    command.add_argument(
        "-o", "--output", metavar="DIR", type=Path, required=True, help="directory to write to"
    )
    command.add_argument("--quiet", "-q", action="store_true", help="no progress")
    command.add_argument(
        "--verbose", "-v", action="store_true", help="show progress even when not at a terminal"
    )


def _add_bench(commands: argparse._SubParsersAction) -> None:
    command = _add_command(commands, "bench", "run the experiments of the papers again, in a clone")
    command.add_argument("suite", choices=("papers",), help="which benchmarks")
    command.add_argument(
        "arguments",
        metavar="...",
        nargs=argparse.REMAINDER,
        help="what they take, such as --only csp --quick; see sidecut bench papers --help",
    )
