"""Marks on a picture: pixels of known class, from boxes, label images or strokes of colour."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from sidecut.checks import IntArray
from sidecut.constraints import Constraints
from sidecut.constraints.inputs import UNKNOWN
from sidecut.exceptions import ConstraintError
from sidecut.images.drawing import stroke_classes

#: Balanced constraints are stored pair by pair, so at most this many marks of a class take part, and in all
#: four times as many.
MAX_MARKS = 500


class Box(NamedTuple):
    """A rectangle of pixels of one class.

    Parameters
    ----------
    label : int or str
        The class.
    row, column : int
        The upper left pixel.
    height, width : int
        The size in pixels.
    """

    label: Any
    row: int
    column: int
    height: int
    width: int

    def __str__(self) -> str:
        return f"{self.label},{self.row},{self.column},{self.height},{self.width}"


@dataclass(frozen=True, eq=False)
class Seeds:
    """The pixels whose class is known.

    Make one with `from_boxes`, `from_labels` or `from_strokes`.

    Attributes
    ----------
    codes : array of shape (height, width)
        The number of the class of each pixel, its position in `classes`; -1 where it is unknown. Integers
        of few bits.
    classes : tuple
        The names of the classes: labels, or colours such as "#ff0000".
    is_label_image : bool
        Whether the marks came as a label image, so that its numbers are those of the result, too.
    label_type : type of integers
        That of the label image, if they did.

    Examples
    --------
    >>> from sidecut.images import Seeds
    >>> seeds = Seeds.from_boxes([("sky", 0, 0, 1, 2), ("sea", 2, 1, 1, 2)], shape=(3, 4))
    >>> seeds.codes
    array([[ 1,  1, -1, -1],
           [-1, -1, -1, -1],
           [-1,  0,  0, -1]], dtype=int8)
    >>> seeds.classes
    ('sea', 'sky')
    >>> seeds.constraints()
    Constraints(n_samples=12, 4 labels (1: 2, 0: 2))
    """

    codes: IntArray
    classes: tuple[Any, ...]
    is_label_image: bool = False
    label_type: npt.DTypeLike = "intp"

    @classmethod
    def from_boxes(cls, boxes: Iterable[Any], shape: tuple[int, ...]) -> Seeds:
        """Mark rectangles (label, row, column, height, width).

        Parameters
        ----------
        boxes : iterable of Box or tuples of five
            The rectangles; those of one label need not touch.
        shape : (int, int)
            Height and width of the picture.

        Raises
        ------
        ConstraintError
            If a box is not one, leaves the picture, or overlaps one of another label; the box is named.
        """
        boxes = [_checked_box(box, shape) for box in boxes]
        classes = _in_order({box.label for box in boxes})
        codes = np.full(shape, UNKNOWN, dtype=np.min_scalar_type(-max(len(classes), 1)))
        for box in boxes:
            code = classes.index(box.label)
            inside = codes[box.row : box.row + box.height, box.column : box.column + box.width]
            others = inside[(inside != UNKNOWN) & (inside != code)]
            if others.size:
                raise ConstraintError(
                    f"box {box} overlaps a box of class {classes[others[0]]!r}: a pixel has one class. Move "
                    "one of them."
                )
            inside[:] = code
        return cls(codes, classes)

    @classmethod
    def from_labels(cls, labels: npt.ArrayLike, shape: tuple[int, ...]) -> Seeds:
        """Read a label image: whole numbers, 0 or negative (or NaN) where the class is unknown.

        Parameters
        ----------
        labels : array of shape (height, width), or (depth, height, width) for volumes
            The class of every pixel that is known.
        shape : tuple of int
            The shape of the picture, without channels.

        Examples
        --------
        >>> from sidecut.images import Seeds
        >>> Seeds.from_labels([[0, 7], [3, 0]], shape=(2, 2)).codes
        array([[-1,  1],
               [ 0, -1]], dtype=int8)
        """
        values = np.asarray(labels)
        _check_same_size(values.shape[: len(shape)], shape)
        if values.ndim != len(shape) or values.dtype.kind not in "iuf":
            raise ConstraintError(
                f"A label image of shape {values.shape} and type {values.dtype}: expected one whole number "
                "per pixel, 0 where the class is unknown."
            )
        if values.dtype.kind == "f":
            values = np.nan_to_num(values, nan=0.0)
            if np.any(values != np.round(values)):
                place = tuple(int(index) for index in np.argwhere(values != np.round(values))[0])
                raise ConstraintError(f"labels{list(place)} = {values[place]}: expected a whole number.")
        places = np.flatnonzero(values > 0)
        names, codes = _numbered(values.reshape(-1)[places])
        kind: npt.DTypeLike = values.dtype if values.dtype.kind in "iu" else np.intp
        return cls(_scattered(places, codes, shape, names.size), tuple(names.tolist()), True, kind)

    @classmethod
    def from_strokes(cls, strokes: npt.ArrayLike, image: npt.ArrayLike) -> Seeds:
        """Read strokes of plain saturated colours, drawn over the picture or on a layer of their own.

        Parameters
        ----------
        strokes : array of shape (height, width, 3 or 4)
            RGB or RGBA. Every saturated colour is a class; pixels that are transparent, black, white, grey or
            equal to the picture are unknown.
        image : array
            The picture.

        Raises
        ------
        ConstraintError
            If there are more than sixteen colours, as anti-aliasing and JPEG make them, or a stroke on a
            transparent layer is of no saturated colour.

        Examples
        --------
        >>> import numpy as np
        >>> from sidecut.images import Seeds
        >>> image = np.full((1, 3, 3), 100, dtype=np.uint8)
        >>> strokes = image.copy()
        >>> strokes[0, 0], strokes[0, 2] = (255, 0, 0), (0, 0, 255)
        >>> seeds = Seeds.from_strokes(strokes, image)
        >>> seeds.codes, seeds.classes
        (array([[ 1, -1,  0]], dtype=int8), ('#0000ff', '#ff0000'))
        """
        _check_same_size(np.shape(strokes)[:2], np.shape(image)[:2])
        is_known, codes, names = stroke_classes(strokes, image)
        places = np.flatnonzero(is_known)
        return cls(_scattered(places, codes.ravel(), is_known.shape, len(names)), names)

    @property
    def n_known(self) -> int:
        """How many pixels are marked."""
        return int(np.count_nonzero(self.codes != UNKNOWN))

    @property
    def counts(self) -> IntArray:
        """How many pixels of each class are marked."""
        return np.bincount(self.codes[self.codes != UNKNOWN], minlength=len(self.classes))

    @property
    def numbers(self) -> IntArray:
        """The number of each class in a label image: its own, or its position in `classes`."""
        if self.is_label_image:
            return np.array(self.classes, dtype=self.label_type)
        return np.arange(len(self.classes))

    def joined(self, other: Seeds) -> Seeds:
        """Return these marks and others on the same picture; classes of the same name are one.

        Parameters
        ----------
        other : Seeds
            More marks.

        Raises
        ------
        ConstraintError
            If a pixel is marked with two classes; the first such pixel is named.

        Examples
        --------
        >>> from sidecut.images import Seeds
        >>> boxes = Seeds.from_boxes([(2, 0, 0, 1, 1), (5, 0, 1, 1, 1)], shape=(1, 4))
        >>> Seeds.from_labels([[0, 0, 0, 2]], shape=(1, 4)).joined(boxes)
        Seeds(1 x 4, 2: 2, 5: 1)
        """
        names = {str(name): name for name in (*other.classes, *self.classes)}
        classes = _in_order(set(names.values()))
        number = {str(name): code for code, name in enumerate(classes)}
        mine, theirs = (_renumbered(seeds, number) for seeds in (self, other))
        clash = (mine != UNKNOWN) & (theirs != UNKNOWN) & (mine != theirs)
        if clash.any():
            place = tuple(int(index) for index in np.argwhere(clash)[0])
            raise ConstraintError(
                f"{np.count_nonzero(clash)} pixels are marked with two classes, the first at row "
                f"{place[-2]}, column {place[-1]}: {classes[mine[place]]!r} by the scribbles, "
                f"{classes[theirs[place]]!r} by a box. A pixel has one class; take one of the marks away."
            )
        is_label_image = self.is_label_image and all(isinstance(name, int) and name > 0 for name in classes)
        fits = is_label_image and max(classes) <= np.iinfo(np.dtype(self.label_type)).max
        kind = self.label_type if fits else np.intp
        return Seeds(np.maximum(mine, theirs), classes, is_label_image, kind)

    def constraints(self, *, balanced: bool = False) -> Constraints:
        """Return the constraints between marked pixels.

        Parameters
        ----------
        balanced : bool, default=False
            Weight the pairs so that every class counts alike, however many of its pixels are marked.
            Otherwise all pairs count alike, and memory is proportional to the marked pixels, not to their
            pairs.
        """
        codes = self.codes.astype(np.intp)
        return balanced_constraints(codes) if balanced else Constraints.from_labels(codes.ravel())

    def __repr__(self) -> str:
        counts = ", ".join(f"{name}: {count}" for name, count in zip(self.classes, self.counts, strict=True))
        size = " x ".join(map(str, self.codes.shape))
        return f"Seeds({size}, {counts or 'nothing marked'})"


def balanced_constraints(codes: IntArray) -> Constraints:
    """Return the constraints between marks, weighted so that every class counts alike."""
    # A pair of marks has the weight w_i w_j, where w is inverse to the number of marks of a class.
    # Unweighted, the cut u = 1 satisfies most of Q as soon as one class has most of the marks, and the least
    # cut that satisfies more is a poor one: 100 marks on one of two discs and 25 on the other are enough to
    # lose the smaller. With equally many marks of every class this is ``Constraints.from_labels``.
    codes = _thinned(codes.ravel())
    points = np.flatnonzero(codes >= 0)
    classes = codes[points]
    counts = np.bincount(classes)
    if np.unique(counts[counts > 0]).size <= 1:
        return Constraints.from_labels(codes)
    weights = (points.size / np.count_nonzero(counts) / counts[classes])[:, None]
    strengths = np.where(classes[:, None] == classes, 1.0, -1.0) * weights * weights.T
    rows, columns = np.repeat(points, points.size), np.tile(points, points.size)
    shape = (codes.size, codes.size)
    return Constraints.from_matrix(sp.csr_array((strengths.ravel(), (rows, columns)), shape=shape))


def max_marks(n_classes: int) -> int:
    """Return how many marks of each class take part in balanced constraints, at most."""
    return max(1, min(MAX_MARKS, 4 * MAX_MARKS // max(n_classes, 1)))


def _thinned(codes: IntArray) -> IntArray:
    """Return the codes with at most `max_marks` marks of every class, evenly spread in reading order."""
    thinned = np.full_like(codes, UNKNOWN)
    present = np.unique(codes[codes >= 0])
    for code in present:
        marks, most = np.flatnonzero(codes == code), max_marks(present.size)
        if marks.size > most:
            marks = marks[np.linspace(0, marks.size - 1, most).round().astype(np.intp)]
        thinned[marks] = code
    return thinned


def as_seeds(scribbles: Any, boxes: Iterable[Any] | None, image: npt.ArrayLike) -> Seeds | None:
    """Return the seeds from scribbles in any form and from boxes, or None if there are neither."""
    drawn: Seeds | None = None
    shape = np.shape(image)[: 3 if is_volume(scribbles, image) else 2]
    if isinstance(scribbles, Seeds):
        _check_same_size(scribbles.codes.shape, shape)
        drawn = scribbles
    elif scribbles is not None:
        is_colored = np.ndim(scribbles) == 3 and len(shape) == 2
        drawn = Seeds.from_strokes(scribbles, image) if is_colored else Seeds.from_labels(scribbles, shape)
    if boxes is None:
        return drawn
    marked = Seeds.from_boxes(boxes, np.shape(image)[:2])
    return marked if drawn is None else drawn.joined(marked)


def is_volume(scribbles: Any, image: npt.ArrayLike) -> bool:
    """Return whether marks are of a volume: a label image with three axes, or seeds of three."""
    # Strokes of colour have three axes as well, the last of 3 or 4 channels. A volume of 3 or 4 columns needs
    # a fourth axis, ``image[..., None]``, to be distinguished from them.
    if isinstance(scribbles, Seeds):
        return scribbles.codes.ndim == 3
    if scribbles is None or np.ndim(scribbles) != 3:
        return False
    return np.ndim(image) == 4 or np.shape(scribbles)[2] not in (3, 4)


def _renumbered(seeds: Seeds, number: dict[str, int]) -> IntArray:
    kind = np.min_scalar_type(-max(len(number), 1))
    lookup = np.array([*(number[str(name)] for name in seeds.classes), UNKNOWN], dtype=kind)
    return lookup[seeds.codes]


def _checked_box(box: Any, shape: tuple[int, ...]) -> Box:
    box = tuple(box)
    if len(box) != 5:
        raise ConstraintError(f"box {box} has {len(box)} parts: give (label, row, column, height, width).")
    label, *place = box
    if any(isinstance(part, bool) or not isinstance(part, int | np.integer) for part in place):
        raise ConstraintError(f"box {box}: row, column, height and width are whole numbers of pixels.")
    row, column, height, width = (int(part) for part in place)
    fits = 0 <= row < row + height <= shape[0] and 0 <= column < column + width <= shape[1]
    if not fits:
        raise ConstraintError(
            f"box {Box(label, row, column, height, width)} covers rows {row} to {row + height - 1} and "
            f"columns {column} to {column + width - 1}; the image has rows 0 to {shape[0] - 1} and "
            f"columns 0 to {shape[1] - 1}, and a box at least one pixel."
        )
    return Box(label, row, column, height, width)


def _in_order(labels: set[Any]) -> tuple[Any, ...]:
    """Return labels in ascending order; those of different kinds by their names."""
    try:
        return tuple(sorted(labels))
    except TypeError:
        return tuple(sorted(labels, key=str))


def _numbered(values: npt.NDArray) -> tuple[IntArray, IntArray]:
    """Return the numbers that occur, in order, and which of them each value is."""
    if values.size and values.max() <= values.size:
        # Counting is faster than sorting, and needs no more memory here.
        numbers = values.astype(np.intp, copy=False)
        counts = np.bincount(numbers)
        return np.flatnonzero(counts), (np.cumsum(counts > 0) - 1)[numbers]
    names, codes = np.unique(values, return_inverse=True)
    return names.astype(np.intp), codes


def _scattered(places: IntArray, codes: IntArray, shape: tuple[int, ...], n_classes: int) -> IntArray:
    """Return the codes at their places, in as few bits as hold them: a picture may have many pixels."""
    result = np.full(shape, UNKNOWN, dtype=np.min_scalar_type(-max(n_classes, 1)))
    result.reshape(-1)[places] = codes
    return result


def _check_same_size(marks: tuple[int, ...], image: tuple[int, ...]) -> None:
    if tuple(marks) != tuple(image):
        raise ConstraintError(
            f"The scribbles have {' x '.join(map(str, marks))} pixels and the image "
            f"{' x '.join(map(str, image))} (rows x columns): they must be of the same size."
        )
