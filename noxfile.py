"""The test matrix: `nox` runs it, `nox -l` lists it, `nox -s oldest -- tests/graphs` runs a part of it.

`make test` is what one environment needs; this is every Python and both ends of the dependencies.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

import nox

PYTHONS = ("3.11", "3.12", "3.13")
ROOT = Path(__file__).parent

nox.options.sessions = ["tests", "oldest"]
nox.options.reuse_existing_virtualenvs = True


def read_extras() -> tuple[list[str], dict[str, list[str]]]:
    """The requirements of the package and of its extras, as pyproject.toml has them."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return project["dependencies"], project["optional-dependencies"]


def lower_bounds() -> list[str]:
    """The requirements of the package and its extras, each at the oldest version pyproject.toml allows."""
    needed, extras = read_extras()
    lines = needed + [
        line for name in extras if name not in ("test", "docs", "topics") for line in extras[name]
    ]
    return sorted({line.replace(">=", "==") for line in lines if not line.startswith("sidecut")})


def beside() -> list[str]:
    """What the tests need beside the package; without splink, which needs a newer pyarrow than we do."""
    left_out = ("sidecut", "splink", "build", "mypy", "ruff", "pandas-stubs")
    return [line for line in read_extras()[1]["test"] if not line.startswith(left_out)]


@nox.session(python=PYTHONS)
def tests(session: nox.Session) -> None:
    """All tests with the newest dependencies."""
    session.install("-e", ".[test]")
    # Without what it requires, which is gigabytes.
    session.install("--no-deps", "bertopic>=0.17")
    session.run("pytest", "-q", *(session.posargs or ["-n", "auto"]), env={"OMP_NUM_THREADS": "1"})


@nox.session(python="3.11")
def oldest(session: nox.Session) -> None:
    """All tests with the oldest dependencies that are allowed."""
    session.install(*lower_bounds(), *beside(), "-e", ".")
    session.install("--no-deps", "bertopic>=0.17")
    folders = ["tests", "src", "-n", "auto", "--ignore=tests/benchmarks", "--ignore=tests/papers"]
    session.run("pytest", "-q", *(session.posargs or folders), env={"OMP_NUM_THREADS": "1"})


@nox.session(python="3.11")
def integrations(session: nox.Session) -> None:
    """The packages that are too large for `tests`: PyTorch, pyannote.audio and dedupe themselves."""
    # dedupe 3.0.3 cannot be trained with BTrees 6.5.
    session.install("-e", ".[records]", "pytest>=8", "hypothesis>=6.100", "dedupe>=3.0.3", "BTrees<6.5")
    session.install("torch", "pyannote.audio>=4.0")
    folder = "tests/integrations"
    session.run("pytest", "-q", *(f"{folder}/with_{name}.py" for name in ("torch", "pyannote", "dedupe")))


@nox.session(python="3.12")
def docs(session: nox.Session) -> None:
    """The site, with warnings as errors."""
    session.install("-e", ".[docs]")
    session.install("--no-deps", "bertopic>=0.17")
    session.run(
        "python", "-m", "sphinx", "-W", "--keep-going", "-n", "-q", "-j", "2", "docs", "docs/_build/html"
    )
    session.run("python", "docs/check_site.py", "docs/_build/html")
