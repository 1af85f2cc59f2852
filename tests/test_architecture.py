"""The house rules that a reader of the imports can check."""

import ast
import importlib
import inspect
import re
from dataclasses import dataclass
from pathlib import Path

import pytest

import sidecut

ROOMS = (
    "constraints",
    "graphs",
    "spectral",
    "labelling",
    "lasting",
    "methods",
    "evaluation",
    "selection",
    "diagnostics",
    "active",
    "datasets",
    "images",
    "distributed",
    "integrations",
    "plots",
    "studio",
    "cli",
)
#: Below all rooms.
FOUNDATION = ("checks", "exceptions", "running")
#: At the door of the house, above all rooms.
DOORS = ("__init__", "__main__")
FORBIDDEN_NAMES = {"utils", "util", "helpers", "helper", "common", "misc"}
#: Constructors of generators that are then passed around; everything else in np.random is global state.
SEEDED = {"default_rng", "Generator", "RandomState", "SeedSequence", "BitGenerator", "PCG64"}

HOUSE = Path(sidecut.__file__).parent
FILES = sorted(HOUSE.rglob("*.py"))


@dataclass(frozen=True)
class Import:
    """One imported module, as the source names it, made absolute."""

    module: str
    line: int


def imports_of(source, package):
    """Every import in a source text, those inside functions included, as absolute module names."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found += [Import(alias.name, node.lineno) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = _absolute(node, package)
            # "from sidecut import graphs" imports the room graphs.
            found += [Import(f"{base}.{alias.name}", node.lineno) for alias in node.names]
    return found


def _absolute(node, package):
    if node.level == 0:
        return node.module
    parents = package.split(".")
    parents = parents[: len(parents) - node.level + 1]
    return ".".join([*parents, *([node.module] if node.module else [])])


def upward_imports(source, room, package):
    """The imports of a module in `room` that do not point to earlier rooms."""
    allowed = {*FOUNDATION, room, *ROOMS[: ROOMS.index(room)]}
    wrong = []
    for found in imports_of(source, package):
        parts = found.module.split(".")
        if parts[0] != "sidecut":
            continue
        target = parts[1] if len(parts) > 1 else ""
        # The version may be shown anywhere; other names of the top level live in rooms and are found there.
        if target not in allowed | {"__version__"}:
            wrong.append(found)
    return wrong


def private_sklearn_imports(source):
    """Imports of modules or names of scikit-learn that begin with an underscore."""
    return [
        found
        for found in imports_of(source, "sidecut")
        if found.module.split(".")[0] == "sklearn"
        and any(re.match(r"_[^_]", part) for part in found.module.split("."))
    ]


def global_draws(source):
    """Uses of np.random that read or set the global state."""
    return [
        Import(ast.unparse(node), node.lineno)
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Attribute)
        and ast.unparse(node.value) in ("np.random", "numpy.random")
        and node.attr not in SEEDED
    ]


def printing(source):
    """Calls of print."""
    return [
        Import("print", node.lineno)
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
    ]


def room_of(path):
    """The room a file is in, or None at the doors and for the foundation."""
    parts = path.relative_to(HOUSE).parts
    return parts[0] if len(parts) > 1 else None


def package_of(path):
    """The package a file's relative imports start from."""
    return ".".join(["sidecut", *path.relative_to(HOUSE).parts[:-1]])


def said(path, faults):
    """Say where each fault is."""
    return [f"{path.relative_to(HOUSE.parent)}:{fault.line}: {fault.module}" for fault in faults]


IN_ROOMS = [path for path in FILES if room_of(path)]


def _name(path):
    return str(path.relative_to(HOUSE))


# The rules, on made-up sources


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("from sidecut.methods import CSP", "sidecut.methods.CSP"),
        ("import sidecut.cli", "sidecut.cli"),
        ("def f():\n    from sidecut.plots import plot", "sidecut.plots.plot"),
        ("from sidecut import labelling", "sidecut.labelling"),
        ("from sidecut import NormalizedCut", "sidecut.NormalizedCut"),
        ("from ..labelling import sign", "sidecut.labelling.sign"),
        ("import sidecut", "sidecut"),
    ],
)
def test_an_import_from_a_later_room_is_found(line, fault):
    (found,) = upward_imports(f"import numpy\n{line}\n", "spectral", "sidecut.spectral")
    assert found.module == fault
    assert found.line == 2 + line.count("\n")


@pytest.mark.parametrize(
    "line",
    [
        "from sidecut.graphs import Graph",
        "from sidecut.exceptions import SpectralError",
        "from sidecut.spectral.laplacian import solve_dense",
        "from .dense import solve_dense",
        "from ..graphs import Graph",
        "from sidecut import __version__",
        "import scipy.sparse",
    ],
)
def test_an_import_from_an_earlier_room_is_let_pass(line):
    assert upward_imports(line, "spectral", "sidecut.spectral") == []


def test_the_other_readers_find_what_they_look_for():
    assert private_sklearn_imports("from sklearn.cluster._kmeans import KMeans")
    assert private_sklearn_imports("from sklearn.utils.validation import _check_sample_weight")
    assert not private_sklearn_imports("from sklearn.cluster import KMeans\nfrom sklearn import __version__")
    assert global_draws("np.random.seed(0)")
    assert global_draws("x = numpy.random.rand(3)")
    assert not global_draws("np.random.default_rng(0).normal()\nrng: np.random.RandomState")
    assert printing("def f():\n    print('hello')")
    assert not printing("table.print('hello')\nfingerprint(1)")


# The rules, on the house


def test_every_file_is_in_a_known_room():
    unknown = {room_of(path) for path in IN_ROOMS} - set(ROOMS)
    assert not unknown, f"rooms that are not in the list of rooms: {sorted(unknown)}"
    doors = {path.stem for path in FILES if not room_of(path)}
    assert doors <= {*FOUNDATION, *DOORS}


@pytest.mark.parametrize("path", IN_ROOMS, ids=_name)
def test_imports_point_to_earlier_rooms(path):
    faults = upward_imports(path.read_text(), room_of(path), package_of(path))
    assert not faults, f"imports from a later room: {said(path, faults)}"


@pytest.mark.parametrize("name", FOUNDATION)
def test_the_foundation_stands_on_nothing(name):
    source = (HOUSE / f"{name}.py").read_text()
    assert [found for found in imports_of(source, "sidecut") if found.module.startswith("sidecut")] == []


@pytest.mark.parametrize("path", FILES, ids=_name)
def test_house_rules(path):
    source = path.read_text()
    assert not FORBIDDEN_NAMES & {
        part.removesuffix(".py").strip("_") for part in path.relative_to(HOUSE).parts
    }
    assert not said(path, private_sklearn_imports(source)), "private scikit-learn imports"
    assert not said(path, global_draws(source)), "global random state"
    if room_of(path) != "cli":
        assert not said(path, printing(source)), "print in the library"


# Public names


def rooms_there_are():
    """The rooms that exist, and the house itself, as modules."""
    rooms = [room for room in ROOMS if (HOUSE / room).is_dir()]
    return [sidecut, *(importlib.import_module(f"sidecut.{room}") for room in rooms)]


def public_names():
    """Every name in the __all__ of the package and of its rooms."""
    for module in rooms_there_are():
        for name in getattr(module, "__all__", ()):
            yield pytest.param(module, name, id=f"{module.__name__}.{name}")


@pytest.mark.parametrize("module", rooms_there_are(), ids=lambda module: module.__name__)
def test_every_room_says_what_is_public(module):
    assert module.__doc__, f"{module.__name__} has no docstring"
    assert len(set(module.__all__)) == len(module.__all__) > 0


def is_documented_kind(thing):
    """Classes and functions have docstrings of their own; type aliases and strings do not."""
    return inspect.isclass(thing) or inspect.isfunction(thing)


def needs_example(thing):
    """Tell what a user calls with arguments of her own.

    Abstract classes cannot be called, and warnings and records (results, graphs that recipes build) are made
    by other functions, whose examples show them.
    """
    if inspect.isfunction(thing):
        return True
    return hasattr(thing, "fit") and thing.__name__ in sidecut.__all__


@pytest.mark.parametrize(("module", "name"), list(public_names()))
def test_public_names_exist_and_are_documented(module, name):
    thing = getattr(module, name)
    if not is_documented_kind(thing):
        return
    # Since Python 3.13 docstrings have lost their indentation.
    words = inspect.cleandoc(thing.__doc__ or "")
    assert len(words.split()) >= 5, f"{module.__name__}.{name} has no docstring"
    if needs_example(thing):
        assert "\nExamples\n--------" in words, f"{module.__name__}.{name} has no Examples section"
        assert ">>> " in words


ESTIMATORS = [name for name in sidecut.__all__ if hasattr(getattr(sidecut, name), "fit")]


@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_estimator_says_what_is_like_it_and_where_it_comes_from(name):
    words = inspect.cleandoc(getattr(sidecut, name).__doc__)
    for section in ("Parameters", "Attributes", "See Also", "References", "Examples"):
        assert f"\n{section}\n{'-' * len(section)}\n" in words, f"{name} has no section {section}"
    seen = re.search(r"See Also\n-+\n(.*?)\n\n", words, re.DOTALL).group(1)
    for other in re.findall(r"^(\w+) :", seen, re.MULTILINE):
        assert hasattr(sidecut, other), f"{name} points to {other}, which does not exist"
