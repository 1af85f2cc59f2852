"""Files and options as people might write them, and as they should not."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from hypothesis import strategies as st

METHODS = ("csp", "ncsc", "e2cp", "csap", "ccsr", "sskk", "cop-kmeans", "constrained-gmm", "metric-kmeans")
NUMBERS = ("0", "1", "-1", "2.5", "1e300", "1e-300", "", "nan", "inf", "NA", "x", "1,5", "-0", "007")
NAMES = ("data.csv",) * 20 + ("data.txt", "data.npy", "data.edges", "data.jsonl")
SIGNS = (*("1", "-1", "0.5", "-2") * 5, "0", "nan", "")
LABELS = (*("cat", "dog", "cow", "") * 6, "?", "-1", "nan", "1", "2", "ÄÖ", '"a,b"')


@dataclass(frozen=True)
class CommandLine:
    """A command line and the files it speaks of.

    Parameters
    ----------
    words : tuple
        After the program's name.
    files : dict of str to bytes
        What the files hold.
    n_points : int or None
        How many points there are, where that is known.
    """

    words: tuple[Any, ...]
    files: dict[str, bytes]
    n_points: int | None

    def write_files(self, folder: Path) -> None:
        """Write the files."""
        for name, held in self.files.items():
            (folder / name).write_bytes(held)


def clean_table(pick: Random) -> tuple[bytes, int]:
    """Three clouds with names and a few labels: most commands should do with them."""
    rng = np.random.default_rng(pick.randrange(2**16))
    n = pick.randint(12, 30)
    classes = rng.integers(0, 3, n)
    scale = pick.choice([1.0, 1.0, 1.0, 1.0, 1e300, 1e-300, 0.0])
    X = (rng.normal(size=(n, 2)) + 5 * classes[:, None]) * scale
    known = [("cat", "dog", "cow")[c] if rng.random() < 0.4 else "" for c in classes]
    sign = pick.choice([",", ";", "\t"])
    cells = [(repr(float(x)), repr(float(y)), f"p{i}", known[i]) for i, (x, y) in enumerate(X)]
    rows = [sign.join(row) for row in cells]
    return "\n".join([sign.join(("x", "y", "name", "seen")), *rows, ""]).encode(), n


@st.composite
def broken_tables(draw: st.DrawFn) -> tuple[bytes, None]:
    """Cells of every kind, rows of every length, or no table at all."""
    if draw(st.booleans()):
        return draw(st.binary(max_size=200)), None
    rows = draw(st.lists(st.lists(st.sampled_from(NUMBERS), min_size=1, max_size=4), max_size=15))
    heading = draw(st.sampled_from(["x,y,name,seen", "x,y", "0,1", "id,x", ""]))
    return "\n".join([heading, *(",".join(row) for row in rows)]).encode(), None


def constraint_file(pick: Random) -> bytes:
    """Pairs and labels, by name and by number, right and contradictory and broken."""
    names = [f"p{i}" for i in range(12)]
    who = names if pick.random() < 0.8 else [*names, *map(str, range(8)), "99", "-1", "", "Zoë"]
    form = pick.choice(["pairs", "strengths", "labels", "labels", "none"])
    n_rows = pick.randint(0, 8)
    if form == "labels":
        rows = [(pick.choice(who), pick.choice(LABELS)) for _ in range(n_rows)]
        return "\n".join(["name,label", *(",".join(row) for row in rows)]).encode()
    kinds = ("must", "cannot", "ml", "cl", "maybe") if form == "pairs" else SIGNS
    pairs = [(pick.choice(who), pick.choice(who), pick.choice(kinds)) for _ in range(n_rows)]
    heading = [] if form == "none" else ["a,b,kind" if form == "pairs" else "a,b,strength"]
    return "\n".join([*heading, *(",".join(row) for row in pairs)]).encode()


COLUMNS = (
    *[("--id-column", "name", "--drop", "seen")] * 4,
    *[("--id-column", "name", "--label-column", "seen")] * 4,
    (),
)
#: Options that go with most commands are drawn more often than those that should be refused.
HARMLESS = (
    ("--standardize",),
    ("--hard",),
    ("--strict",),
    ("--header",),
    ("--unknown", "?"),
    ("--on-conflict", "drop"),
    ("--on-conflict", "weigh"),
    ("--set", "n_init=1"),
    ("--no-compare",),
    ("--json",),
    ("--seed", "1"),
    ("--impute",),
    ("--encode",),
    ("--model", "m.sidecut"),
    ("--quiet",),
)
OPTIONS = (
    ("--id-column", "name"),
    ("--label-column", "seen"),
    ("--drop", "seen"),
    ("--drop", "seen,name"),
    ("--columns", "x,y"),
    ("--columns", "z"),
    ("--standardize",),
    ("--impute",),
    ("--encode",),
    ("--hard",),
    ("--strict",),
    ("--no-header",),
    ("--header",),
    ("--unknown", "?"),
    ("--unknown", ""),
    ("--on-conflict", "drop"),
    ("--on-conflict", "weigh"),
    ("--neighbors", "5"),
    ("--neighbors", "0"),
    ("--neighbors", "many"),
    ("--affinity", "gaussian"),
    ("--affinity", "cosine"),
    ("--graph",),
    ("--input", "edges"),
    ("--input", "array"),
    ("--encoding", "latin-1"),
    ("--encoding", "klingon"),
    ("--decimal", ","),
    ("--set", "n_init=1"),
    ("--set", "hard=yes"),
    ("--set", "nonsense=1"),
    ("--set", "="),
    ("--no-compare",),
    ("--json",),
    ("--seed", "1"),
    ("--seed", "-1"),
    ("--model", "m.sidecut"),
    ("--feature", "x"),
    ("--truth-column", "seen"),
    ("--nonsense",),
    ("--on-conflict", "maybe"),
)


@st.composite
def command_lines(draw: st.DrawFn) -> CommandLine:
    """A command with options that may or may not go together, about files that may or may not be sound."""
    pick = Random(draw(st.integers(0, 2**63)))
    table, n_points = clean_table(pick) if pick.random() < 0.85 else draw(broken_tables())
    known = constraint_file(pick) if pick.random() < 0.9 else draw(st.binary(max_size=80))
    name = pick.choice(NAMES)
    files = {name: table, "known.csv": known}
    options = pick.sample(HARMLESS * 4 + OPTIONS, pick.randint(0, 3))
    extra = [word for option in options for word in option]
    command = pick.choice(["cluster"] * 16 + ["check", "check", "evaluate", "predict", "methods"])
    if command == "check":
        return CommandLine(
            (command, "known.csv", "--data", name, "--id-column", "name", "-k", "2"), files, None
        )
    if command == "evaluate":
        return CommandLine((command, name, name, "--column", "seen", "--truth-column", "seen"), files, None)
    if command == "predict":
        return CommandLine((command, "known.csv", name, "-o", "-", *extra), files, None)
    if command == "methods":
        return CommandLine((command, *extra), files, None)
    told = ("--constraints", "known.csv") if pick.random() < 0.5 else ()
    method = ("--method", pick.choice(METHODS)) if pick.random() < 0.9 else ()
    k = pick.choice(["2", "3", "3"] * 6 + ["auto", "auto"] + ["1", "0", "99", "two"])
    words = (
        command,
        name,
        "-k",
        k,
        "-o",
        "out.csv",
        "--no-report",
        *pick.choice(COLUMNS),
        *told,
        *method,
        *extra,
    )
    return CommandLine(words, files, None if "--no-header" in extra else n_points)
