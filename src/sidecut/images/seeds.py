"""What a person marks on a picture: pixels of known class, from boxes, label images or strokes of colour."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from sidecut.constraints import Constraints
from sidecut.exceptions import ConstraintError
from sidecut.images.balance import balanced_constraints
from sidecut.images.strokes import stroke_classes

UNKNOWN = -1

IntArray = npt.NDArray[np.intp]


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
        The number of the class of each pixel, its position in `classes`; -1 where it is unknown.
    classes : tuple
        What the classes are called: labels, or colours such as "#ff0000".

    Examples
    --------
    >>> from sidecut.images import Seeds
    >>> seeds = Seeds.from_boxes([("sky", 0, 0, 1, 2), ("sea", 2, 1, 1, 2)], shape=(3, 4))
    >>> seeds.codes
    array([[ 1,  1, -1, -1],
           [-1, -1, -1, -1],
           [-1,  0,  0, -1]])
    >>> seeds.classes
    ('sea', 'sky')
    >>> seeds.constraints()
    Constraints(n_samples=12, 2 must-links, 4 cannot-links)
    """

    codes: IntArray
    classes: tuple[Any, ...]

    @classmethod
    def from_boxes(cls, boxes: Iterable[Any], shape: tuple[int, int]) -> Seeds:
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
        codes = np.full(shape, UNKNOWN, dtype=np.intp)
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
    def from_labels(cls, labels: npt.ArrayLike, shape: tuple[int, int]) -> Seeds:
        """Read a label image: whole numbers, 0 or negative (or NaN) where the class is unknown.

        Parameters
        ----------
        labels : array of shape (height, width)
            The class of every pixel that is known.
        shape : (int, int)
            Height and width of the picture.

        Examples
        --------
        >>> from sidecut.images import Seeds
        >>> Seeds.from_labels([[0, 7], [3, 0]], shape=(2, 2)).codes
        array([[-1,  1],
               [ 0, -1]])
        """
        values = np.asarray(labels)
        _check_same_size(values.shape[:2], shape)
        if values.ndim != 2 or values.dtype.kind not in "iuf":
            raise ConstraintError(
                f"A label image of shape {values.shape} and type {values.dtype}: expected one whole number "
                "per pixel, 0 where the class is unknown."
            )
        numbers = np.nan_to_num(values, nan=0.0)
        if np.any(numbers != np.round(numbers)):
            row, column = np.argwhere(numbers != np.round(numbers))[0]
            raise ConstraintError(
                f"labels[{row}, {column}] = {values[row, column]}: expected a whole number."
            )
        is_known = numbers > 0
        names, codes = np.unique(numbers[is_known], return_inverse=True)
        return cls(_scattered(is_known, codes), tuple(int(name) for name in names))

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
        (array([[ 1, -1,  0]]), ('#0000ff', '#ff0000'))
        """
        _check_same_size(np.shape(strokes)[:2], np.shape(image)[:2])
        is_known, codes, names = stroke_classes(strokes, image)
        return cls(_scattered(is_known, codes), names)

    @property
    def n_known(self) -> int:
        """How many pixels are marked."""
        return int(np.count_nonzero(self.codes != UNKNOWN))

    @property
    def counts(self) -> IntArray:
        """How many pixels of each class are marked."""
        return np.bincount(self.codes[self.codes != UNKNOWN], minlength=len(self.classes))

    def constraints(self, *, balanced: bool = False) -> Constraints:
        """Return what the marks say about pairs of pixels.

        Parameters
        ----------
        balanced : bool, default=False
            Weigh the pairs so that every class counts alike, see `balanced_constraints`. Otherwise all pairs
            count alike, and memory is proportional to the marked pixels, not to their pairs.
        """
        return balanced_constraints(self.codes) if balanced else Constraints.from_labels(self.codes.ravel())

    def __repr__(self) -> str:
        said = ", ".join(f"{name}: {count}" for name, count in zip(self.classes, self.counts, strict=True))
        height, width = self.codes.shape
        return f"Seeds({height} x {width}, {said or 'nothing marked'})"


def as_seeds(scribbles: Any, boxes: Iterable[Any] | None, image: npt.ArrayLike) -> Seeds | None:
    """Return the seeds a user gave in any form, or None if there are none.

    Parameters
    ----------
    scribbles : Seeds, label image or strokes of colour, optional
        Told apart by their shape.
    boxes : iterable of boxes, optional
        Not together with scribbles.
    image : array
        The picture.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.images.seeds import as_seeds
    >>> as_seeds(np.array([[0, 1], [2, 2]]), None, np.zeros((2, 2)))
    Seeds(2 x 2, 1: 1, 2: 2)
    """
    shape = np.shape(image)[:2]
    if scribbles is not None and boxes is not None:
        raise ConstraintError("scribbles and boxes were both given; mark the pixels in one way.")
    if boxes is not None:
        return Seeds.from_boxes(boxes, (shape[0], shape[1]))
    if scribbles is None:
        return None
    if isinstance(scribbles, Seeds):
        _check_same_size(scribbles.codes.shape, shape)
        return scribbles
    if np.ndim(scribbles) == 3:
        return Seeds.from_strokes(scribbles, image)
    return Seeds.from_labels(scribbles, (shape[0], shape[1]))


def _checked_box(box: Any, shape: tuple[int, int]) -> Box:
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


def _scattered(is_known: npt.NDArray[np.bool_], codes: npt.NDArray) -> IntArray:
    result = np.full(is_known.shape, UNKNOWN, dtype=np.intp)
    result[is_known] = codes.ravel()
    return result


def _check_same_size(marks: tuple[int, ...], image: tuple[int, ...]) -> None:
    if tuple(marks) != tuple(image):
        raise ConstraintError(
            f"The scribbles have {' x '.join(map(str, marks))} pixels and the image "
            f"{' x '.join(map(str, image))} (rows x columns): they must be of the same size."
        )
