"""Marks as a person might set them, drawn by rule from the truth.

- dots: three discs of 7 pixels across per class.
- thin: two strokes per class, one pixel wide, each between two random places of the class.
- short: one stroke per class, 3 pixels wide, half as long as a square of the area of the class is wide, or
  less where the class ends.
- long: three strokes per class, 5 pixels wide, each between two random places of the class.
- wide: five strokes per class, 11 pixels wide, each between two random places of the class.
- box: one square per class, as large as fits around a random place, at most 40 pixels wide.
- boxes: three of them.

Places are at least 4 pixels from the border of the class where it is wide enough. A stroke is the cheapest
path between two places within a class, where a pixel costs less the deeper it lies within: people draw along
the middle of things.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from scipy import ndimage
from skimage.graph import route_through_array

KINDS = ("dots", "thin", "short", "long", "wide", "box", "boxes")
#: Places are so far from the border, or half as far as the deepest, if that is less.
DEPTH = 4.0
LARGEST_BOX = 40


def draw_marks(truth: np.ndarray, kind: str, seed: int) -> np.ndarray:
    """Return a label image: classes from 1, 0 where nothing is marked.

    Examples
    --------
    >>> import numpy as np
    >>> from benchmarks.quality.images.marks import draw_marks
    >>> truth = np.repeat([1, 2], 40)[None].repeat(60, axis=0)
    >>> marks = draw_marks(truth, "dots", seed=0)
    >>> bool((marks == truth)[marks > 0].all()), np.unique(marks).tolist()
    (True, [0, 1, 2])
    """
    rng = np.random.default_rng(seed)
    marks = np.zeros_like(truth)
    for number in range(1, int(truth.max()) + 1):
        inside = truth == number
        marks[_MARK[kind](inside, rng) & inside] = number
    return marks


def _dots(inside: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    places = _places(inside, rng, 3)
    return _widened(places, inside.shape, 7)


def _short(inside: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    path = _path(inside, rng)
    most = max(5, round(0.5 * np.sqrt(inside.sum())))
    return _widened(path[:most], inside.shape, 3)


def _strokes(inside: np.ndarray, rng: np.random.Generator, count: int, width: int) -> np.ndarray:
    paths = [_path(inside, rng) for _ in range(count)]
    return _widened(np.concatenate(paths), inside.shape, width)


def _box(inside: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    depth = ndimage.distance_transform_cdt(np.pad(inside, 1), metric="chessboard")[1:-1, 1:-1]
    row, column = _places(inside, rng, 1)[0]
    reach = min(depth[row, column] - 1, LARGEST_BOX // 2)
    box = np.zeros_like(inside)
    box[row - reach : row + reach + 1, column - reach : column + reach + 1] = True
    return box


def _boxes(inside: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return _box(inside, rng) | _box(inside, rng) | _box(inside, rng)


_MARK = {
    "dots": _dots,
    "thin": partial(_strokes, count=2, width=1),
    "short": _short,
    "long": partial(_strokes, count=3, width=5),
    "wide": partial(_strokes, count=5, width=11),
    "box": _box,
    "boxes": _boxes,
}


def _depth(inside: np.ndarray) -> np.ndarray:
    """Return the distance to the border of a class; the frame of the picture is a border, too."""
    return ndimage.distance_transform_edt(np.pad(inside, 1))[1:-1, 1:-1]


def _places(inside: np.ndarray, rng: np.random.Generator, count: int) -> np.ndarray:
    depth = _depth(inside)
    deep = np.argwhere(depth >= min(DEPTH, depth.max() / 2))
    return deep[rng.choice(len(deep), count)]


def _path(inside: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return the pixels from one random place of a class to another that can be reached within it."""
    start = _places(inside, rng, 1)[0]
    pieces = ndimage.label(inside)[0]
    end = _places(inside & (pieces == pieces[tuple(start)]), rng, 1)[0]
    cost = np.where(inside, 1.0 / np.minimum(_depth(inside), 20.0).clip(1.0), 1e6)
    return np.array(route_through_array(cost, start, end)[0])


def _widened(pixels: np.ndarray, shape: tuple[int, ...], width: int) -> np.ndarray:
    line = np.ones(shape, dtype=bool)
    line[tuple(pixels.T)] = False
    return ndimage.distance_transform_edt(line) <= width / 2
