"""The methods of the command line, what each is good for, and how options become their parameters."""

from __future__ import annotations

import ast
import csv
import importlib
import inspect
import json
import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sidecut.cli.console import Exit, UsageError, did_you_mean, show_table
from sidecut.cli.options import MethodsOptions
from sidecut.constraints import Constraints


@dataclass(frozen=True)
class Method:
    """A row of the table of methods."""

    name: str
    estimator: str
    takes: str
    purpose: str
    cost: str

    def load(self) -> type[Any]:
        """Return the estimator's class."""
        return getattr(importlib.import_module("sidecut"), self.estimator)

    @property
    def citation(self) -> str:
        """The references in the estimator's docstring."""
        found = re.search(r"References\n-+\n(.*?)(\n\n\w+\n-+\n|$)", inspect.getdoc(self.load()) or "", re.S)
        return " ".join(found[1].split()) if found else ""


with Path(__file__).with_name("methods.csv").open(encoding="utf-8", newline="") as _file:
    METHODS = {row["name"]: Method(**row) for row in csv.DictReader(_file)}


#: The methods most people need, in the order of the page "Which method?".
NEEDED_MOST = ("auto", "poisson-mbo", "ncsc", "csap", "e2cp", "scacs")


def method_named(name: str) -> Method:
    """Return a method by name."""
    known = name.lower().replace("_", "-")
    if known not in METHODS:
        raise UsageError(
            f"There is no method {name!r}{did_you_mean(known, METHODS) or '.'} There are "
            f"{', '.join(METHODS)} (see sidecut methods)."
        )
    return METHODS[known]


def default_method(constraints: Constraints, clusters: str) -> str:
    """Return the name of the method used when none is named (docs/which-method.md)."""
    # Without constraints and with a number of clusters, AutoCut is the normalised cut.
    return "normalized-cut" if constraints.is_empty and clusters.isdecimal() else "auto"


def parse_setting(text: str) -> tuple[str, Any]:
    """Split ``name=value``; true, false and none in any spelling, Python literals, anything else as text."""
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise UsageError(f"--set {text}: write it as name=value, for example --set n_neighbors=15.")
    words = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False, "none": None}
    if value.strip().lower() in words:
        return name.strip(), words[value.strip().lower()]
    try:
        return name.strip(), ast.literal_eval(value.strip())
    except (ValueError, SyntaxError):
        return name.strip(), value.strip()


def build_estimator(estimator_class: type[Any], chosen: dict[str, Any], settings: Iterable[str] = ()) -> Any:
    """Make an estimator from named options and ``--set`` texts."""
    wanted = {name: value for name, value in chosen.items() if value is not None}
    wanted.update(parse_setting(text) for text in settings)
    valid = sorted(estimator_class().get_params(deep=False))
    for name in wanted:
        if name not in valid:
            raise UsageError(
                f"{estimator_class.__name__} has no parameter {name!r}"
                f"{did_you_mean(name, valid, 0.6) or '.'} It has {', '.join(valid)}."
            )
    return estimator_class(**wanted)


def run(options: MethodsOptions) -> int:
    """Print the table of methods."""
    if options.json:
        table = {name: asdict(method) | {"citation": method.citation} for name, method in METHODS.items()}
        print(json.dumps(table))
        return Exit.OK
    rest = [name for name in METHODS if name not in NEEDED_MOST]
    for heading, names in (("", NEEDED_MOST), ("For comparison, and for special cases:", rest)):
        if heading:
            print(f"\n{heading}\n")
        show_table(
            ["METHOD", "USES", "GOOD FOR"],
            [(name, METHODS[name].takes, METHODS[name].purpose) for name in names],
            width=80,
        )
    print("\nCosts and references: sidecut methods --json, or the documentation.")
    return Exit.OK
