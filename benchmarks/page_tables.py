"""Tables on the pages: what stands between marks is made anew from stored results.

A mark is ``<!-- begin NAME: made by COMMAND -->``, and ``<!-- end -->`` after it. The words around them are
written by hand, and have to be read again when numbers change.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path

MARKED = re.compile(r"(<!-- begin ([a-z0-9-]+)[^>]*-->\n\n).*?(\n\n<!-- end -->)", re.DOTALL)
DOCS = Path(os.environ.get("SIDECUT_DOCS", Path(__file__).parents[1] / "docs"))

Makers = Mapping[str, Callable[[], str]]


def fill(text: str, makers: Makers) -> str:
    r"""Return a page with all that is between marks made anew; marks without a maker stay.

    Examples
    --------
    >>> fill("<!-- begin sum: made here -->\n\nold\n\n<!-- end -->", {"sum": lambda: "1 + 1 = 2"})
    '<!-- begin sum: made here -->\n\n1 + 1 = 2\n\n<!-- end -->'
    """
    return MARKED.sub(
        lambda found: found[1] + makers[found[2]]() + found[3] if found[2] in makers else found[0], text
    )


def names(text: str) -> list[str]:
    r"""Return the names of a page's marks, but for that of `benchmarks.evidence`, which many pages have.

    Examples
    --------
    >>> names("<!-- begin sum: made here -->\n\nold\n\n<!-- end -->")
    ['sum']
    """
    return [found[2] for found in MARKED.finditer(text) if found[2] != "evidence"]


def rewrite(page: Path, makers: Makers) -> None:
    """Write a page with all that is between marks made anew."""
    page.write_text(fill(page.read_text(encoding="utf-8"), makers), encoding="utf-8")


def short(value: float, places: int = 3) -> str:
    """Return a share without its leading zero; nothing where it is missing.

    Examples
    --------
    >>> short(0.5), short(-0.04, 2), short(1.0), short(float("nan"))
    ('.500', '-.04', '1.000', '')
    """
    return "" if value != value else f"{value:.{places}f}".replace("0.", ".", 1)
