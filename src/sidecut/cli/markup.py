"""Small pieces of HTML; everything that comes from outside is escaped here."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from html import escape

__all__ = ["figure", "paragraph", "section", "table", "tile"]


def section(title: str, *parts: str) -> str:
    """Put parts of a page under a heading.

    Examples
    --------
    >>> print(section("A & B", "<p>x</p>"))
    <section>
    <h2>A &amp; B</h2>
    <p>x</p>
    </section>
    """
    return "\n".join(["<section>", f"<h2>{escape(title)}</h2>", *filter(None, parts), "</section>"])


def paragraph(text: str, style: str = "") -> str:
    """Make a paragraph of plain text.

    Examples
    --------
    >>> paragraph("1 < 2")
    '<p>1 &lt; 2</p>'
    """
    return f"<p{_class(style)}>{escape(text)}</p>"


def tile(value: str, caption: str) -> str:
    """Make a tile: a large figure above small words.

    Examples
    --------
    >>> tile("3", "clusters")
    '<div class="tile"><b>3</b><span>clusters</span></div>'
    """
    return f'<div class="tile"><b>{escape(value)}</b><span>{escape(caption)}</span></div>'


def table(
    heads: Sequence[str], rows: Iterable[Sequence[str]], caption: str = "", numeric: Sequence[int] = ()
) -> str:
    """Make a table of plain text.

    Parameters
    ----------
    heads : sequence of str
        Heads of the columns.
    rows : iterable of sequence of str
        Cells, row by row; the first of each row is its head.
    caption : str
        What the table shows.
    numeric : sequence of int
        Columns aligned on the right.

    Returns
    -------
    str
        HTML.

    Examples
    --------
    >>> print(table(["a"], [["<"]]))
    <div class="scroll"><table>
    <thead><tr><th scope="col">a</th></tr></thead>
    <tbody>
    <tr><th scope="row">&lt;</th></tr>
    </tbody></table></div>
    """
    styles = ["number" if column in numeric else "" for column in range(len(heads))]
    head = "".join(f'<th scope="col"{_class(s)}>{escape(h)}</th>' for h, s in zip(heads, styles, strict=True))
    title = f"<caption>{escape(caption)}</caption>\n" if caption else ""
    body = [_row([escape(cell) for cell in row], styles) for row in rows]
    opening = f'<div class="scroll"><table>\n{title}<thead><tr>{head}</tr></thead>\n<tbody>'
    return "\n".join([opening, *body, "</tbody></table></div>"])


def _row(cells: Sequence[str], styles: Sequence[str]) -> str:
    first = f'<th scope="row"{_class(styles[0])}>{cells[0]}</th>'
    rest = [f"<td{_class(style)}>{cell}</td>" for cell, style in zip(cells[1:], styles[1:], strict=True)]
    return f"<tr>{first}{''.join(rest)}</tr>"


def figure(light: bytes, dark: bytes, alt: str, caption: str, style: str = "") -> str:
    """Embed a picture, in the colours the reader's screen asks for.

    Parameters
    ----------
    light, dark : bytes
        PNG files for light and for dark paper.
    alt : str
        What the picture shows, for those who cannot see it.
    caption : str
        What is written below it.
    style : str
        Class of the figure.

    Returns
    -------
    str
        HTML.

    Examples
    --------
    >>> print(figure(b"a", b"b", "points", "The data."))
    <figure><picture>
    <source media="(prefers-color-scheme: dark)" srcset="data:image/png;base64,Yg==">
    <img src="data:image/png;base64,YQ==" alt="points">
    </picture><figcaption>The data.</figcaption></figure>
    """
    return "\n".join(
        [
            f"<figure{_class(style)}><picture>",
            f'<source media="(prefers-color-scheme: dark)" srcset="{_data(dark)}">',
            f'<img src="{_data(light)}" alt="{escape(alt)}">',
            f"</picture><figcaption>{escape(caption)}</figcaption></figure>",
        ]
    )


def _data(png: bytes) -> str:
    return f"data:image/png;base64,{base64.b64encode(png).decode('ascii')}"


def _class(style: str) -> str:
    return f' class="{style}"' if style else ""
