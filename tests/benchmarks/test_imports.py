"""The measuring code follows the library: every module of it can be imported."""

import importlib
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
#: These run in environments of their own.
ELSEWHERE = ("tests", "runners", "peer.py", "page.py", "screenshots.py")
FILES = [path for path in sorted(BENCHMARKS.rglob("*.py")) if not set(path.parts) & set(ELSEWHERE)]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(BENCHMARKS)))
def test_a_module_can_be_imported(path, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["benchmark"])
    parts = path.relative_to(BENCHMARKS.parent).with_suffix("").parts
    importlib.import_module(".".join(part for part in parts if part != "__init__"))
