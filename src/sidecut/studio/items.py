"""How a point is shown: as a row of a table, a text, a picture, a curve or a node of a graph."""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from difflib import SequenceMatcher
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp

from sidecut.checks import FloatArray
from sidecut.studio.messages import Card, Face, Field, Pair, Words

#: A card holds at most this number of fields, of two cards those that differ most; and of neighbours.
MAX_FIELDS = 100


@dataclass(frozen=True)
class Items:
    """The points as a person knows them.

    Attributes
    ----------
    names : sequence of str
        What each point is called.
    table : mapping of str to sequences
        Columns to show, by name.
    more : mapping of str to sequences
        Further columns, to colour points by and not to show: true classes, for example.
    text : sequence of str, optional
        A longer text for each point.
    pictures : PictureSource, optional
        A picture of each point.
    series : array of shape (n, length), optional
        Values to draw as a line.
    graph : sparse array of shape (n, n), optional
        Whose neighbours to list by name.
    name_column : str
        What the names are called in files; "index" for row numbers.
    unused : collection of str
        Columns by which the points are not clustered: shown last, and no difference in them is marked.
    about : str
        A sentence for the page: by which columns the points are clustered.

    Examples
    --------
    >>> from sidecut.studio import Items
    >>> items = Items(["pen", "pencil"], {"price": [2, 1], "colour": ["blue", "blue"]})
    >>> [(field["name"], field["value"], field["differs"]) for field in items.pair(0, 1)["left"]["fields"]]
    [('price', '2', 1.0), ('colour', 'blue', 0.0)]
    """

    names: Sequence[str]
    table: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    more: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    text: Sequence[str] | None = None
    pictures: PictureSource | None = None
    series: FloatArray | None = None
    graph: sp.csr_array | None = None
    name_column: str = "index"
    unused: Collection[str] = ()
    about: str = ""

    def __len__(self) -> int:
        return len(self.names)

    def card(self, i: int) -> Card:
        """Return what is shown of one point."""
        return self._card(i, dict.fromkeys(list(self.table)[:MAX_FIELDS], 0.0))

    def _card(self, i: int, shares: dict[str, float]) -> Card:
        """Return what is shown of one point: the columns of `shares`, each with how much it differs."""
        fields = [
            Field(
                name=name,
                value=written(self.table[name][i]),
                differs=share,
                is_used=name not in self.unused,
            )
            for name, share in shares.items()
        ]
        card = Card(point=i, name=str(self.names[i]), fields=fields, n_more=len(self.table) - len(fields))
        if self.text is not None:
            card["text"] = [Words(words=str(self.text[i]), differs=False)]
        if self.pictures is not None:
            card["picture"] = self.pictures.thumbnail(i)
        if self.series is not None:
            card["series"] = [float(value) for value in self.series[i]]
        if self.graph is not None:
            card["neighbours"] = [Words(words=name, differs=False) for name in self._neighbours(i)]
        return card

    def face(self, i: int) -> Face:
        """Return the name and the small picture of a point, for lists."""
        return Face(name=str(self.names[i]), picture=self.pictures.thumbnail(i) if self.pictures else "")

    def in_words(self, i: int) -> dict[str, str]:
        """Return the name, the text and the columns of a point, for programs."""
        card = self.card(i)
        text = {} if self.text is None else {"text": str(self.text[i])}
        return {"name": card["name"], **text, **{one["name"]: one["value"] for one in card["fields"]}}

    def pair(self, i: int, j: int) -> Pair:
        """Return what is shown of two points, what differs most first."""
        differing = {
            name: 0.0 if name in self.unused else self._difference(name, i, j) for name in self.table
        }
        most = sorted(differing, key=lambda name: (name in self.unused, -differing[name]))[:MAX_FIELDS]
        shares = {name: differing[name] for name in most}
        left, right = self._card(i, shares), self._card(j, shares)
        if self.text is not None:
            left["text"], right["text"] = compare_texts(str(self.text[i]), str(self.text[j]))
        if self.graph is not None:
            shared = set(self._neighbours(i)) & set(self._neighbours(j))
            for words in (*left["neighbours"], *right["neighbours"]):
                words["differs"] = words["words"] not in shared
        return Pair(left=left, right=right)

    def column(self, name: str) -> Sequence[Any]:
        """Return a column by name."""
        if name in self.more:
            return self.more[name]
        if name not in self.table:
            known = ", ".join([*self.table, *self.more]) or "none"
            raise ValueError(f"There is no column {name!r}; there are {known}.")
        return self.table[name]

    @cached_property
    def _spreads(self) -> dict[str, float]:
        """The standard deviation of every column of numbers."""
        return {
            name: float(np.nanstd(np.asarray(values, dtype=float))) or 1.0
            for name, values in self.table.items()
            if is_number_column(values)
        }

    def _difference(self, name: str, i: int, j: int) -> float:
        a, b = self.table[name][i], self.table[name][j]
        if name not in self._spreads:
            return float(str(a) != str(b))
        # Numbers two standard deviations apart count as wholly different.
        share = abs(float(a) - float(b)) / (2.0 * self._spreads[name])
        return min(1.0, share) if np.isfinite(share) else float(np.isnan(float(a)) != np.isnan(float(b)))

    def _neighbours(self, i: int) -> list[str]:
        assert self.graph is not None
        row = self.graph[[i]].tocoo()
        order = np.argsort(-row.data, kind="stable")[:MAX_FIELDS]
        return [str(self.names[column]) for column in row.col[order]]


def is_number_column(values: Sequence[Any]) -> bool:
    """Return whether all values are numbers."""
    return np.asarray(values).dtype.kind in "fiu"


def written(value: Any) -> str:
    """Return a value as text: whole numbers in full, others with six digits, days without midnight.

    What is missing is empty.
    """
    if isinstance(value, float | np.floating):
        number = float(value)
        if np.isnan(number):
            return ""
        return f"{number:.0f}" if number.is_integer() and abs(number) < 1e15 else f"{number:.6g}"
    if value is None or type(value).__name__ in ("NaTType", "NAType"):
        return ""
    return str(value).removesuffix(" 00:00:00") if isinstance(value, date) else str(value)


def compare_texts(one: str, other: str) -> tuple[list[Words], list[Words]]:
    """Return two texts in pieces; those that the other text lacks are marked."""
    # Words and what is between them, up to 300 words.
    a, b = (re.findall(r"\w+|\W+", text)[:600] for text in (one, other))
    left: list[Words] = []
    right: list[Words] = []
    for kind, a0, a1, b0, b1 in SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        differs = kind != "equal"
        left += [Words(words="".join(a[a0:a1]), differs=differs)] if a1 > a0 else []
        right += [Words(words="".join(b[b0:b1]), differs=differs)] if b1 > b0 else []
    return left, right


class PictureSource(Protocol):
    """A source with a picture of every point, as a data address; empty where there is none."""

    thumbnail: Callable[[int], str]


class PictureFiles:
    """Pictures in files of one folder; nothing outside of it is read.

    Parameters
    ----------
    folder : Path
        The folder.
    paths : sequence of str
        The file of each point, within the folder.
    """

    def __init__(self, folder: Path, paths: Sequence[str]) -> None:
        self.folder = Path(folder).resolve()
        self.paths = [str(path) for path in paths]
        self.thumbnail: Callable[[int], str] = lru_cache(4_000)(self._make)

    def _make(self, i: int) -> str:
        """Return a picture as a data address; empty where there is none, or none inside the folder."""
        path = (self.folder / self.paths[i]).resolve()
        if not path.is_relative_to(self.folder) or not path.is_file():
            return ""
        image_type = _pillow()
        try:
            with image_type.open(path) as picture:
                picture.thumbnail((320, 320))
                return data_address(picture.convert("RGB"))
        except (OSError, ValueError, image_type.DecompressionBombError):
            return ""


class PictureRows:
    """Pictures whose pixels are the numbers of a row, as in tables of digits.

    Parameters
    ----------
    rows : array of shape (n, height * width) or (n, height * width * 3)
        The pixels; the largest number of all is white.
    shape : (height, width)
        Of every picture.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.studio import PictureRows
    >>> PictureRows(np.eye(4), (2, 2)).thumbnail(0)[:22]
    'data:image/png;base64,'
    """

    def __init__(self, rows: FloatArray, shape: tuple[int, int]) -> None:
        height, width = shape
        if rows.shape[1] not in (height * width, 3 * height * width):
            raise ValueError(
                f"Rows of {rows.shape[1]} numbers are no pictures of {height} x {width} pixels, grey or "
                "colour."
            )
        self.rows, self.shape = rows, shape
        self._low = float(np.min(rows))
        self._span = float(np.max(rows)) - self._low or 1.0
        self.thumbnail: Callable[[int], str] = lru_cache(4_000)(self._make)

    def _make(self, i: int) -> str:
        row = np.asarray(self.rows[i], dtype=float)
        pixels = np.round(255 * (row - self._low) / self._span).astype(np.uint8)
        is_color = len(row) == 3 * self.shape[0] * self.shape[1]
        picture = _pillow().fromarray(
            pixels.reshape(*self.shape, 3) if is_color else pixels.reshape(self.shape)
        )
        # Small pictures are enlarged to about 96 pixels.
        scale = max(1, 96 // max(self.shape))
        return data_address(picture.resize((scale * self.shape[1], scale * self.shape[0]), resample=0))


def recognise_pictures(rows: FloatArray, names: Sequence[str]) -> tuple[int, int] | None:
    """Return height and width of square grey pictures, if that is what the numbers of the rows are.

    Their columns differ in their numbers only and come in order, hold no negative values and at least 64
    pixels, and a pixel is more like the one below it than like the one half a row away, which is nearer in
    a time series.

    Parameters
    ----------
    rows : array of shape (n, height * width)
        The numbers.
    names : sequence of str
        What the columns are called.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sidecut.studio import recognise_pictures
    >>> X, _ = load_digits(return_X_y=True)
    >>> recognise_pictures(X, [f"pixel {k}" for k in range(64)])
    (8, 8)
    """
    n = rows.shape[1] if rows.ndim == 2 else 0
    side = round(n**0.5)
    if side < 8 or side**2 != n:
        return None
    numbers = [[int(number) for number in re.findall(r"\d+", name)] for name in names]
    if len({re.sub(r"\d+", "#", name) for name in names}) > 1 or sorted(numbers) != numbers:
        return None
    some = np.asarray(rows[:500], dtype=float)
    if not np.isfinite(some).all() or some.min() < 0:
        return None
    below, aside = (np.abs(some[:, lag:] - some[:, :-lag]).mean() for lag in (side, side // 2))
    return (side, side) if below < 0.9 * aside else None


def data_address(picture: Any) -> str:
    """Return a picture as an address that holds it: made anew, so that only pixels go to the page."""
    buffer = io.BytesIO()
    picture.save(buffer, format="PNG")
    return "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode("ascii")


def _pillow() -> Any:
    try:
        from PIL import Image
    except ImportError as error:
        raise ImportError("Showing pictures needs Pillow: pip install pillow.") from error
    return Image
