"""The map in docs/architecture.md names files and functions that exist."""

import importlib
import operator
import re
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[1] / "docs" / "architecture.md").read_text()


def places_on_the_map():
    """What the page says to open: files of the house, each with the names to look for in it."""
    table = PAGE.split("| looking for | open |")[1].split("\n\n")[0]
    for cell in re.findall(r"`([^`]+\.py)`((?:, `[\w.]+`)*)", table):
        yield pytest.param(cell[0], re.findall(r"`([\w.]+)`", cell[1]), id=cell[0] + cell[1])


@pytest.mark.parametrize(("file", "names"), list(places_on_the_map()))
def test_the_map_shows_what_is_there(file, names):
    thing = importlib.import_module("sidecut." + file.removesuffix(".py").replace("/", "."))
    for name in names:
        operator.attrgetter(name)(thing)
