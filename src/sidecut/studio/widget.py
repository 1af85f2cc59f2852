"""The studio in a notebook: an anywidget that runs the same modules as the page."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from sidecut.studio.items import Items
from sidecut.studio.requests import SessionHandler
from sidecut.studio.session import Session, Setup

STATIC = Path(__file__).parent / "static"
IMPORT = re.compile(r'^import \{[^}]*\} from "\./(\w+)\.js";\n', re.MULTILINE)
NAME = re.compile(r"^(?:export )?(?:async )?(?:function|class|const) (\w+)", re.MULTILINE)
ENTRY = "export default { render: ({ model, el }) => { renderInNotebook(model, el); } };\n"


def bundle(name: str = "notebook") -> str:
    """Return a module and all it imports as one: notebooks load a single text."""
    # Modules come before those that import them, without their imports and exports. Names must differ between
    # modules.
    sources: dict[str, str] = {}
    _collect(name, sources)
    seen: dict[str, str] = {}
    for module, source in sources.items():
        for found in NAME.findall(source):
            if found in seen:
                raise ValueError(f"{found} is a name in both {seen[found]}.js and {module}.js; rename one.")
            seen[found] = module
    plain = (
        re.sub(r"^export ", "", IMPORT.sub("", source), flags=re.MULTILINE) for source in sources.values()
    )
    return "\n".join(plain)


def _collect(name: str, sources: dict[str, str]) -> None:
    source = (STATIC / f"{name}.js").read_text(encoding="utf-8")
    for other in IMPORT.findall(source):
        if other not in sources:
            _collect(other, sources)
    sources[name] = source


def show(
    X: Any,
    items: Items | None = None,
    *,
    folder: str | Path | None = None,
    setup: Setup | None = None,
    title: str = "data",
    height: int = 640,
) -> Any:
    """Show data in a notebook and ask questions about them.

    Parameters
    ----------
    X, items, folder, setup, title
        As in `Session`.
    height : int
        Of the widget, in pixels.

    Returns
    -------
    anywidget.AnyWidget
        With the session in ``widget.session``; ``widget.session.labels`` are the clusters.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sidecut.studio import show
    >>> widget = show(load_iris().data, title="iris")
    >>> len(widget.session.labels)
    150
    """
    try:
        import anywidget
        import traitlets
    except ImportError as error:
        raise ImportError("The studio in a notebook needs anywidget: pip install anywidget.") from error

    session = Session(X, items, folder=folder, setup=setup, title=title)
    handler = SessionHandler(session)

    class StudioWidget(anywidget.AnyWidget):
        """The studio."""

        _esm = bundle() + ENTRY
        _css = (STATIC / "style.css").read_text(encoding="utf-8")

    widget = StudioWidget()
    widget.add_traits(height=traitlets.Int(height).tag(sync=True))
    widget.session = session

    def reply(widget: Any, message: Any, buffers: Any) -> None:
        widget.send({"id": message["id"], "reply": handler.handle(message["request"])})

    widget.on_msg(reply)
    return widget
