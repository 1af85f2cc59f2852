"""The reference: one page per public name, found in `__all__`, and links to them wherever they are named."""

from __future__ import annotations

import inspect
import re
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.util.nodes import make_refnode

import sidecut

#: A page and a place on it.
Target = tuple[str, str]
#: Rooms in the order a reader meets them; others come after, by name.
FIRST = ("sidecut", "sidecut.constraints", "sidecut.graphs", "sidecut.selection", "sidecut.active")
#: Modules within a room that are used by their own name, as in `sidecut.integrations.anndata.cluster`.
BY_NAME = ("sidecut.integrations.anndata",)
#: What is reached by its own commands, not by import.
COMMANDS = ("sidecut.cli", "sidecut.__main__")


def find_rooms() -> list[str]:
    """The modules that promise public names: packages with `__all__`, and the exceptions."""
    names = ["sidecut", "sidecut.exceptions"]
    for info in walk_packages(sidecut.__path__, "sidecut."):
        if is_room(info.name, info.ispkg):
            names.append(info.name)
    return sorted(names, key=lambda name: (FIRST.index(name) if name in FIRST else len(FIRST), name))


def is_room(name: str, is_package: bool) -> bool:
    """Whether users import from this module: a folder next to `sidecut`, or a module used by its own name."""
    return name in BY_NAME or (is_package and name.count(".") == 1 and not name.startswith(COMMANDS))


def public_names(room: str) -> list[str]:
    """What a room promises, without what it only passes on from another package."""
    module = import_module(room)
    names = getattr(module, "__all__", None) or [
        name for name, value in vars(module).items() if getattr(value, "__module__", None) == room
    ]
    return [name for name in names if not name.startswith("_")]


def assign_homes(rooms: list[str]) -> dict[str, dict[str, str]]:
    """For every room, each public name and the full name it is described under: once, where first met."""
    homes: dict[int, str] = {}
    table: dict[str, dict[str, str]] = {}
    for room in rooms:
        table[room] = {}
        for name in public_names(room):
            value = getattr(import_module(room), name)
            key = id(value)
            table[room][name] = homes.setdefault(key, f"{room}.{name}")
    return table


def kind_of(value: Any) -> str:
    """The heading under which a name is listed."""
    if inspect.isclass(value):
        return "Errors and warnings" if issubclass(value, BaseException) else "Classes"
    return "Functions" if callable(value) and hasattr(value, "__name__") else "Types"


def write_room(folder: Path, room: str, names: dict[str, str]) -> None:
    """The page of one room: what it is for, then its names by kind."""
    module = import_module(room)
    lines = [room, "=" * len(room), "", f".. module:: {room}", "", first_paragraph(module), ""]
    kinds: dict[str, list[str]] = {}
    for name in sorted(names, key=str.lower):
        kinds.setdefault(kind_of(getattr(module, name)), []).append(name)
    for kind in ("Classes", "Functions", "Errors and warnings", "Types"):
        own = [name for name in kinds.get(kind, []) if names[name] == f"{room}.{name}"]
        other = [name for name in kinds.get(kind, []) if names[name] != f"{room}.{name}"]
        lines += list_names(kind, room, own, [names[name] for name in other])
    write(folder / f"{room}.rst", "\n".join(lines) + "\n")


def list_names(kind: str, room: str, own: list[str], other: list[str]) -> list[str]:
    """One kind of names as a table, and those described elsewhere as a line."""
    if not own and not other:
        return []
    lines = [kind, "-" * len(kind), ""]
    if own:
        lines += [
            f".. currentmodule:: {room}",
            "",
            ".. autosummary::",
            "   :toctree: names",
            "   :nosignatures:",
            "",
        ]
        lines += [f"   {name}" for name in own] + [""]
    if other:
        links = ", ".join(f":py:obj:`~{name}`" for name in other)
        lines += [f"Described under the name by which they are usually imported: {links}.", ""]
    return lines


def first_paragraph(module: Any) -> str:
    """What a module's docstring begins with, without what follows for those who read the code."""
    return inspect.cleandoc(module.__doc__ or "").split("\n\n")[0]


def forget_old_names(folder: Path, table: dict[str, dict[str, str]]) -> None:
    """Delete pages of names that are no more, which an earlier build has left."""
    homes = {home for names in table.values() for home in names.values()}
    old = dict.fromkeys(folder.glob("names/*.rst"), homes) | {
        page: set(table) for page in folder.glob("s*.rst")
    }
    for page, valid in old.items():
        if page.stem not in valid:
            page.unlink()


def write(path: Path, text: str) -> None:
    """Write a file only if it changed, so that an unchanged page is not read again."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def write_reference(app: Sphinx, config: Config) -> None:
    """Write the page of every room and the page that lists them."""
    folder = Path(app.srcdir) / "reference"
    rooms = find_rooms()
    homes = assign_homes(rooms)
    forget_old_names(folder, homes)
    for room, names in homes.items():
        write_room(folder, room, names)
    lines = [
        "Reference",
        "=========",
        "",
        "Every public name of sidecut, with the parameters it takes and an example.",
        "",
    ]
    lines += [".. toctree::", "   :hidden:", ""] + [f"   {room}" for room in rooms] + [""]
    lines += [".. list-table::", "   :widths: 30 70", "   :class: rooms", ""]
    for room in rooms:
        said = first_paragraph(import_module(room)).replace("\n", " ")
        own = sorted((home for home in homes[room].values() if home.startswith(f"{room}.")), key=str.lower)
        links = ", ".join(f":py:obj:`~{home}`" for home in own if home.count(".") == room.count(".") + 1)
        lines += [f"   * - :doc:`{room}`", f"     - {said}", "", f"       {links}"]
    write(folder / "index.rst", "\n".join(lines) + "\n")
    # Named one by one: Sphinx does not see pages that are new since the last build.
    config.autosummary_generate = [f"reference/{room}.rst" for room in rooms]


def is_foreign(
    app: Sphinx, what: str, name: str, member: Any, skip: bool, options: dict[str, Any]
) -> bool | None:
    """Leave out what classes have from scikit-learn alone, such as `set_fit_request`."""
    return True if str(getattr(member, "__module__", "")).startswith("sklearn") else None


def escape_symbols(
    app: Sphinx, what: str, name: str, member: Any, options: dict[str, Any], lines: list[str]
) -> None:
    """Keep bars and trailing underscores what they are in code: no substitutions, no link targets."""
    for i, line in enumerate(lines):
        if not line.lstrip().startswith((">>>", "...", "..")):
            parts = re.split(r"(`+[^`]*`+)", line)
            parts[::2] = [re.sub(r"\||(?<=\w)_(?!\w)", r"\\\g<0>", part) for part in parts[::2]]
            lines[i] = "".join(parts)


def find_targets(app: Sphinx) -> dict[str, Target]:
    """What a name in code font may stand for: each way to end a full name that leads to one place alone."""
    places: dict[str, set[Target]] = {}
    for full, _, _, docname, anchor, _ in app.env.domains.python_domain.get_objects():
        parts = full.split(".")
        for start in range(len(parts)):
            places.setdefault(".".join(parts[start:]), set()).add((docname, anchor))
    return {end: found.pop() for end, found in places.items() if len(found) == 1}


def is_telling(text: str) -> bool:
    """Whether a name in code font can hardly be anything else: `CSP`, `sample_pairs`, `ask()`, not `fit`."""
    return text.endswith("()") or "." in text or "_" in text or text[:1].isupper()


def link_names(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Turn names in code font into links to the reference."""
    if not hasattr(app, "name_targets"):
        app.name_targets = find_targets(app)  # type: ignore[attr-defined]
    for literal in list(doctree.findall(nodes.literal)):
        text = literal.astext()
        target = app.name_targets.get(text.removesuffix("()"))  # type: ignore[attr-defined]
        if target is None or not is_telling(text) or has_link(literal) or target[0] == docname:
            continue
        to, anchor = target
        literal.replace_self(make_refnode(app.builder, docname, to, anchor, literal.deepcopy(), anchor))


def has_link(node: nodes.Node) -> bool:
    """Whether a node is part of a link or of a heading already."""
    while node is not None:
        if isinstance(node, (nodes.reference, nodes.title)):
            return True
        node = node.parent
    return False


def setup(app: Sphinx) -> dict[str, bool]:
    """Write the reference before pages are read; link names when they are written."""
    app.connect("config-inited", write_reference)
    app.connect("autodoc-skip-member", is_foreign)
    app.connect("autodoc-process-docstring", escape_symbols, priority=900)
    app.connect("doctree-resolved", link_names)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
