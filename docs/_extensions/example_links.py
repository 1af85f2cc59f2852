"""Links to example scripts: in a checkout they lead to the file, on the site to its page in the gallery."""

import re
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.config import Config

#: Examples that are to be read first; the others follow by name.
FIRST = ("two_moons.py", "digits.py", "pairs.py", "pictures.py", "text.py", "million_points.py")
LINK = re.compile(r"\]\((?:\.\./)+examples/([\w/-]+)\.py\)")


class ReadingOrder:
    """The order of the examples in a section, for sphinx-gallery."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def __call__(self, name: str) -> tuple[int, str]:
        """Return what to sort by."""
        return (FIRST.index(name) if name in FIRST else len(FIRST), name)


def link_to_gallery(app: Sphinx, docname: str, source: list[str]) -> None:
    """Point links to scripts at the pages made of them."""
    up = "../" * docname.count("/")
    source[0] = LINK.sub(rf"]({up}gallery/\1.rst)", source[0])


def forget_old_examples(app: Sphinx, config: Config) -> None:
    """Delete pages of examples that are no more, which an earlier build has left."""
    gallery, examples = Path(app.srcdir) / "gallery", Path(app.srcdir).parent / "examples"
    for script in gallery.rglob("*.py"):
        if not (examples / script.relative_to(gallery)).exists():
            for page in script.parent.glob(f"{script.stem}.*"):
                page.unlink()


def setup(app: Sphinx) -> dict[str, bool]:
    """Rewrite the links when a page is read."""
    app.connect("config-inited", forget_old_examples)
    app.connect("source-read", link_to_gallery)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
