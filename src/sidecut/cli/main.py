"""The program: a command line in, an exit code out."""

from __future__ import annotations

import importlib
import inspect
import os
import sys
import traceback
import warnings
from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from sidecut import __version__
from sidecut.cli import options
from sidecut.cli.console import Exit, UsageError, existing_file, in_options, show_warnings

_EXIT_CODES = (
    "Exit codes: 0 done; 1 the computation failed; 2 the command or its input cannot be used (the message "
    "says what to do); 3 done, but hard constraints are violated (only with --strict)."
)
_EXAMPLES = (
    "Examples:",
    "sidecut demo -o demo",
    "sidecut cluster points.csv --clusters 3 -o labels.csv",
    "sidecut cluster points.csv --clusters 3 --constraints pairs.csv -o labels.csv",
    "sidecut check points.csv --label-column known",
    "sidecut cluster points.csv --label-column known -o labels.csv",
    "sidecut cluster friends.edges --clusters 2 --constraints known.csv -o labels.csv",
    "sidecut segment photo.jpg --scribbles strokes.png -o cut.png",
    "sidecut studio points.csv",
)


class _PlainHelp:
    """Keeps newer versions of typer from writing <bool> behind --help, and braces around DATA."""

    def collect_usage_pieces(self, context: Any) -> list[str]:
        return [piece.strip("{}") for piece in super().collect_usage_pieces(context)]  # type: ignore[misc]

    def get_help_option(self, context: Any) -> Any:
        option = super().get_help_option(context)  # type: ignore[misc]
        if option is not None:
            option.metavar = " "
        return option


class _Group(_PlainHelp, TyperGroup):
    pass


class _Command(_PlainHelp, TyperCommand):
    pass


app = typer.Typer(
    name="sidecut",
    cls=_Group,
    help="Cluster a table, a graph or a picture with what you know: a few labels, or pairs of points.",
    epilog="\n\n".join((*_EXAMPLES, _EXIT_CODES)),
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"]},
)
graph_app = typer.Typer(cls=_Group, help="Graphs on a disk, larger than memory.")
app.add_typer(graph_app, name="graph")


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line.

    Parameters
    ----------
    argv : sequence of str, optional
        Arguments after the program's name; those of the process by default.

    Returns
    -------
    int
        Exit code: 0 done, 1 the computation failed, 2 bad usage or input, 3 hard constraints violated.

    Examples
    --------
    >>> main(["methods", "--json"])
    {"auto": ...
    0
    """
    if argv is None:
        warnings.showwarning = _show_warning
    arguments = list(sys.argv[1:] if argv is None else argv)
    if arguments in ([], ["graph"]):
        arguments.append("--help")
    try:
        code = app(arguments, prog_name="sidecut", standalone_mode=False)
        sys.stdout.flush()
        return int(code or 0)
    except (KeyboardInterrupt, typer.Abort):
        return _complain("interrupted", Exit.INTERRUPTED)
    except BrokenPipeError:
        # The reader of the output has closed it, as `head` does: no error.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        if "--debug" in arguments:
            traceback.print_exc()
        return _explain(error)


def _explain(error: Exception) -> int:
    if isinstance(error, typer.TyperException):
        message = error.format_message()
        if "'--output'" in message:
            return _complain("Say where the result goes with -o (--help lists the options)", Exit.BAD_INPUT)
        return _complain(f"{message} (--help lists the options)", Exit.BAD_INPUT)
    if isinstance(error, UsageError):
        # An empty line parts what is said on lines of its own.
        return _complain(
            "\n".join(" ".join(part.split()) for part in str(error).split("\n\n")), Exit.BAD_INPUT
        )
    # Imported here: --help, --version and a missing file should not wait for NumPy.
    from numpy.linalg import LinAlgError

    from sidecut.exceptions import SpectralError

    message = " ".join(str(error).split()) or type(error).__name__
    # First, because a failure to solve can be a ValueError too (LinAlgError is one).
    if isinstance(error, SpectralError | LinAlgError | MemoryError):
        return _complain(f"the computation failed: {message}", Exit.FAILED)
    if isinstance(error, OSError) and error.filename is not None:
        return _complain(f"{error.filename}: {error.strerror}", Exit.BAD_INPUT)
    if isinstance(error, ValueError | OSError):
        return _complain(message, Exit.BAD_INPUT)
    rule = "this is unexpected; --debug shows where it happened"
    return _complain(f"{type(error).__name__}: {message} ({rule})", Exit.FAILED)


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    """Print a warning that no command collected as the others are printed, without a path of the code."""
    show_warnings([in_options(" ".join(str(message).split()))])


def _complain(message: str, code: int) -> int:
    print(f"sidecut: error: {message}", file=sys.stderr)
    return code


def _show_version(is_asked: bool) -> None:
    if is_asked:
        print(f"sidecut {__version__}")
        raise typer.Exit


@app.callback()
def _program(
    version: bool = typer.Option(
        False,
        "--version",
        metavar=" ",
        callback=_show_version,
        is_eager=True,
        help="Show the version, and exit.",
    ),
) -> None:
    pass


def _add_command(name: str, summary: str, asked: type[Any], group: str | None = None) -> None:
    """Make a command of the options in a dataclass."""
    # Its work is `run` in the module of its name; in a group, the function of its name in the module of that.
    inputs = [field.name for field in fields(asked) if "typer.Argument" in str(field.type)]

    def command(**values: Any) -> int:
        for path in (*(values[name] for name in inputs), values.get("constraints")):
            if path is not None and not path.exists():
                existing_file(path)
        # Imported when used: --help and --version should not wait for it.
        module = importlib.import_module(f"sidecut.cli.{group or name}")
        run: Callable[[Any], int] = getattr(module, name if group else "run")
        del values["debug"]
        return run(asked(**values))

    signature = inspect.signature(asked, eval_str=True)
    debug = inspect.Parameter(
        "debug", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=options.Debug
    )
    command.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=[*signature.parameters.values(), debug]
    )
    command.__annotations__ = {}
    (graph_app if group else app).command(name, cls=_Command, help=summary, epilog=_EXIT_CODES)(command)


_add_command("cluster", "Cluster points, with or without constraints.", options.ClusterOptions)
_add_command("segment", "Cut a picture into segments, by what is marked on it.", options.SegmentOptions)
_add_command("ask", "Ask about pairs of rows, and cluster by the answers.", options.AskOptions)
_add_command("studio", "See the clusters and answer questions in a browser.", options.StudioOptions)
_add_command("predict", "Put new points into the clusters of a saved model.", options.PredictOptions)
_add_command("update", "Take new points into a saved model; its clusters stay.", options.UpdateOptions)
_add_command("methods", "List the methods and what they are good for.", options.MethodsOptions)
_add_command("evaluate", "Score labels against the truth and the constraints.", options.EvaluateOptions)
_add_command(
    "check",
    "Look at what you know before it is used: contradictions, and what looks wrong.",
    options.CheckOptions,
)
_add_command("demo", "Cluster bundled data with a few constraints, before and after.", options.DemoOptions)
_add_command("build", "Build a graph from points or edges.", options.GraphBuildOptions, "graph")
_add_command("show", "Show what products with a graph take.", options.GraphShowOptions, "graph")
