"""The studio: see the clusters, answer questions, and watch them change, in a browser or a notebook.

| file | holds |
|---|---|
| `session.py` | `Session`: data, answers, clusters; on disk at every step; usable without the page |
| `items.py` | what is shown of a point, and of two side by side |
| `layout.py` | where points are on the map, and the colours of clusters |
| `messages.py` | the messages between page and session, and how answers become facts and contradictions |
| `project.py` | the folder of a session, and the files it exports |
| `image_annotation.py` | strokes on a picture, and its segments |
| `requests.py` | requests of the page and their replies |
| `server.py` | the server on this machine, and what it refuses |
| `widget.py` | the same in a notebook |
| `static/` | the page: plain modules of JavaScript, no build step |
"""

from sidecut.studio.image_annotation import Painter
from sidecut.studio.items import Items, PictureFiles, PictureRows, recognise_pictures
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
    "recognise_pictures",
    "show",
]
