"""What the site is made of: examples that run offline and can be told apart, pages that can be reached."""

import ast
import re
from pathlib import Path

import pytest

from sidecut import __version__
from sidecut.cli.methods import METHODS

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").rglob("*.py"))
FOLDERS = (".", "lab", "lab/papers")
PAGES = [page for folder in FOLDERS for page in sorted((ROOT / "docs" / folder).glob("*.md"))]


def test_there_are_examples_of_every_kind():
    names = {path.stem for path in EXAMPLES}
    first = {"two_moons", "digits", "choosing", "pairs", "second_graph", "asking", "wrong_labels"}
    assert names >= first | {
        "million_points",
        "dask_cluster",
        "pictures",
        "text",
        "single_cells",
        "own_method",
    }


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_has_a_title_and_fetches_nothing(path):
    tree = ast.parse(path.read_text())
    title, line, *_ = ast.get_docstring(tree).splitlines()
    assert set(line) == {"="}
    assert len(line) == len(title)
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    names |= {
        alias.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for alias in node.names
    }
    assert not {name for name in names if name.startswith("fetch_") or name == "urlopen"}


def test_every_page_is_in_a_table_of_contents():
    listed = {
        page.parent / line.strip()
        for page in PAGES
        for table in re.findall(r"```\{toctree\}\n(.*?)```", page.read_text(), re.DOTALL)
        for line in table.splitlines()
        if line and not line.startswith(":")
    }
    pages = {page.with_suffix("") for page in PAGES} - {ROOT / "docs" / "index"}
    assert pages - listed == set()


@pytest.mark.parametrize("name", ["README.md", "docs/index.md"])
def test_the_first_screen_says_how_to_install_and_shows_the_studio(name):
    before = (ROOT / name).read_text(encoding="utf-8").split("```python")[0]
    assert 'pip install ".[all]"' in before
    assert f"version {__version__}" in before or "version {sub-ref}`release`" in before
    assert "images/studio/question.png" in before


def test_the_method_shown_by_itself_is_the_first_to_try_by_hand():
    section = (
        (ROOT / "README.md").read_text(encoding="utf-8").split("## One method by itself")[1].split("\n## ")[0]
    )
    assert "first to try by hand" in METHODS["poisson-mbo"].purpose
    assert "PoissonMBO(" in section
