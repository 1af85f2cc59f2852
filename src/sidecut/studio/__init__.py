"""The studio: see the clusters, answer questions, and watch them change, in a browser or a notebook.

| file | holds |
|---|---|
| `session.py` | `Session`: data, answers, clusters; on disk at every step; usable without the page |
| `items.py`, `pictures.py` | what is shown of a point, and of two side by side |
| `layout.py` | where points are on the map |
| `clusters.py`, `facts.py`, `contradictions.py`, `colors.py` | what the lists on the page show |
| `painting.py` | strokes on a picture, and its segments |
| `messages.py`, `requests.py` | what the page asks and is told, typed |
| `server.py`, `safety.py` | the server on this machine, and what it refuses |
| `widget.py` | the same in a notebook |
| `static/` | the page: plain modules of JavaScript, no build step |
"""

from sidecut.studio.items import Items, PictureFiles, PictureRows
from sidecut.studio.painting import Painter
from sidecut.studio.session import ContradictionError, Session, Setup
from sidecut.studio.widget import show

__all__ = [
    "ContradictionError",
    "Items",
    "Painter",
    "PictureFiles",
    "PictureRows",
    "Session",
    "Setup",
    "show",
]
