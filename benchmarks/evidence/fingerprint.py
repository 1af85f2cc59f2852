"""The code a measurement ran through, and its hash: without comments and docstrings, which change nothing."""

from __future__ import annotations

import ast
import hashlib
import io
import tokenize
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).parents[2]


def path_of(module: str) -> Path:
    """Return the file of a module of sidecut or of the measurements.

    Examples
    --------
    >>> path_of("sidecut.methods.csp.cuts").relative_to(ROOT).as_posix()
    'src/sidecut/methods/csp/cuts.py'
    """
    base = ROOT / ("src" if module.split(".")[0] == "sidecut" else "") / Path(*module.split("."))
    return base / "__init__.py" if base.is_dir() else base.with_suffix(".py")


def bare(source: str) -> str:
    r"""Return code without comments, docstrings and empty lines.

    Examples
    --------
    >>> bare("'Says.'\n\nk = 2  # clusters\n\n\ndef f():\n    'Says.'\n    return k\n")
    'k = 2\ndef f():\n    return k'
    """
    lines = source.splitlines()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column]
    for node in ast.walk(ast.parse(source)):
        has_docstring = isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef))
        if has_docstring and ast.get_docstring(node, clean=False) is not None:
            said = node.body[0]
            first, last = said.lineno, said.end_lineno or said.lineno
            lines[first - 1 : last] = [""] * (last - first + 1)
    return "\n".join(line.rstrip() for line in lines if line.strip())


def hash_of(modules: Iterable[str]) -> str:
    """Return the hash of the code of modules; a module that is gone changes it."""
    found = hashlib.sha256()
    for module in sorted(modules):
        path = path_of(module)
        found.update(module.encode())
        found.update(bare(path.read_text(encoding="utf-8")).encode() if path.exists() else b"gone")
    return found.hexdigest()[:16]
