"""How a point is shown, as a row, a text, a picture, a curve or a node, and where it is on the map."""

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
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.manifold import TSNE

from sidecut.active.precomputed import Precomputed
from sidecut.checks import FloatArray, IntArray
from sidecut.graphs import Graph
from sidecut.labelling import unit_rows
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
    """Return a value as text: whole numbers in full, others with six digits, days without midnight."""
    # What is missing is empty.
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


def place_points(precomputed: Precomputed, graph: Graph, random_state: int = 0) -> FloatArray:
    """Return a place in the square [-1, 1]² for every point; similar points are near each other."""
    # The grains are placed by t-SNE, by their features or else by their spectral coordinates. Where grains
    # have more than one point, each point goes to the mean place of the grains of its neighbours in the
    # graph.
    places = _place_grains(_coordinates(precomputed), random_state)
    grain = precomputed.micro_clusters.index_of
    if len(places) < len(grain):
        places = _spread(places, grain, sp.csr_array(graph.matrix), random_state)
    return fit_square(places)


def fit_square(places: FloatArray, keep_shape: bool = True) -> FloatArray:
    """Move and scale places into [-1, 1]²; both axes alike, unless they are different columns."""
    low, high = places.min(axis=0), places.max(axis=0)
    spans = np.where(high > low, high - low, 1.0)
    return 2.0 * (places - (low + high) / 2) / (spans.max() if keep_shape else spans)


def _coordinates(precomputed: Precomputed) -> FloatArray:
    features: Any = precomputed.features
    if features is None:
        return np.asarray(unit_rows(precomputed.eigenvectors), dtype=float)
    # t-SNE gets at most 30 dimensions.
    if features.shape[1] <= 30 and not sp.issparse(features):
        return np.asarray(features, dtype=float)
    n = min(30, min(features.shape) - 1)
    reduce = TruncatedSVD(n, random_state=0) if sp.issparse(features) else PCA(n, random_state=0)
    return np.asarray(reduce.fit_transform(features), dtype=float)


def _place_grains(coordinates: FloatArray, random_state: int) -> FloatArray:
    n = len(coordinates)
    if n < 8:
        return np.pad(coordinates, ((0, 0), (0, 2)))[:, :2]
    start = "pca" if coordinates.shape[1] > 1 else "random"
    # Fewer neighbours where there are few points, whose groups would otherwise shrink to dots.
    perplexity = min(30, max(0.07 * n, 5.0), (n - 1) / 3)
    tsne = TSNE(init=start, max_iter=400, perplexity=perplexity, random_state=random_state)
    return np.asarray(tsne.fit_transform(coordinates), dtype=float)


def _spread(places: FloatArray, grain: IntArray, weights: sp.csr_array, random_state: int) -> FloatArray:
    """Put every point near the mean place of its neighbours' grains, with noise to keep points apart."""
    degrees = np.asarray(weights.sum(axis=1)).ravel()
    means = (weights @ places[grain]) / np.maximum(degrees, 1e-12)[:, None]
    own = places[grain]
    around = np.where(degrees[:, None] > 0, (means + own) / 2, own)
    step = np.sqrt(np.prod(np.ptp(places, axis=0)) / len(places))
    return around + np.random.RandomState(random_state).normal(0.0, 0.3 * step, around.shape)


def first_numbers(labels: IntArray) -> IntArray:
    """Return a number for every cluster, the largest first; its colour follows from the number."""
    sizes = np.bincount(labels)
    numbers = np.empty(len(sizes), dtype=np.intp)
    numbers[np.argsort(-sizes, kind="stable")] = np.arange(len(sizes))
    return numbers


def carry_numbers(shown: IntArray, first: IntArray, labels: IntArray) -> IntArray:
    """Return numbers for new clusters: each takes the number most of its points had, if that is free."""
    # What a point had before the first answer counts as much as what it had last: a cluster that splits and
    # grows together again gets its number back.
    known = max(shown.max(), first.max()) + 1
    shared = np.zeros((known, int(labels.max()) + 1), dtype=np.intp)
    np.add.at(shared, (shown, labels), 1)
    np.add.at(shared, (first, labels), 1)
    numbers = np.full(shared.shape[1], -1, dtype=np.intp)
    for at in np.argsort(-shared, axis=None, kind="stable"):
        number, cluster = np.unravel_index(int(at), shared.shape)
        if shared[number, cluster] and numbers[cluster] < 0 and number not in numbers:
            numbers[cluster] = number
    free = (number for number in range(len(numbers) + known) if number not in numbers)
    for cluster in np.flatnonzero(numbers < 0):
        numbers[cluster] = next(free)
    return numbers
