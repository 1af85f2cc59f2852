"""Pictures in files: PNG, JPEG and others through Pillow, arrays as .npy."""

from __future__ import annotations

import importlib
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_random_state

from sidecut.checks import FloatArray, IntArray
from sidecut.images.drawing import segment_colors

IMAGE_SUFFIXES = (".png", ".jpg", ".jpeg", ".bmp", ".tif", ".tiff", ".webp")
LABEL_SUFFIXES = (".npy", ".png")
#: Modes of Pillow whose pixels are numbers as they are; all others become RGB or RGBA.
_PLAIN_MODES = ("L", "RGB", "RGBA", "LA", "I;16", "I", "F")


def read_image(path: str | PathLike[str]) -> npt.NDArray:
    """Read a picture: any format of Pillow, or an array in an ``.npy`` file.

    Parameters
    ----------
    path : path
        The file.

    Returns
    -------
    array of shape (height, width) or (height, width, channels)
        As the file has it: 8 or 16 bits, grey or colour, with alpha if there is one.

    Raises
    ------
    ValueError
        If the file is no picture.
    ImportError
        If Pillow is needed and not installed.

    Examples
    --------
    >>> import numpy as np, tempfile, pathlib
    >>> from sidecut.images import read_image, write_image
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "grey.png"
    ...     write_image(path, np.array([[0, 128], [255, 7]], dtype=np.uint8))
    ...     read_image(path)
    array([[  0, 128],
           [255,   7]], dtype=uint8)
    """
    path = Path(path)
    if path.suffix.lower() == ".npy":
        return _read_array(path)
    pillow = _pillow()
    try:
        with pillow.open(path) as picture:
            if picture.mode not in _PLAIN_MODES:
                has_alpha = "transparency" in picture.info or picture.mode.endswith("A")
                picture = picture.convert("RGBA" if has_alpha else "L" if picture.mode == "1" else "RGB")
            return np.asarray(picture)
    except pillow.UnidentifiedImageError as error:
        raise ValueError(f"{path} is not an image that can be read; save it as PNG or JPEG.") from error


def write_image(path: str | PathLike[str], rgb: npt.NDArray) -> None:
    """Write a picture of 8 bits; the suffix chooses the format, ``.npy`` keeps the array.

    Parameters
    ----------
    path : path
        Where to write.
    rgb : array of uint8, shape (height, width) or (height, width, 3 or 4)
        The picture.

    Raises
    ------
    ValueError
        If the values are not of 8 bits, or the suffix is unknown.

    Examples
    --------
    >>> import numpy as np, tempfile, pathlib
    >>> from sidecut.images import segment, touching_discs, write_image
    >>> image, _ = touching_discs(random_state=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_image(pathlib.Path(folder) / "cut.png", segment(image).overlay(image))
    """
    path = Path(path)
    if rgb.dtype != np.uint8:
        raise ValueError(
            f"{path}: a picture of {rgb.dtype}; pictures are written with 8 bits (uint8), 255 is white."
        )
    if path.suffix.lower() == ".npy":
        np.save(path, rgb)
        return
    _check_suffix(path, IMAGE_SUFFIXES)
    _pillow().fromarray(np.ascontiguousarray(rgb)).save(path)


def write_labels(path: str | PathLike[str], labels: IntArray) -> None:
    """Write a label image: the labels themselves in ``.npy``, or in ``.png`` shown through a palette."""
    path = Path(path)
    _check_suffix(path, LABEL_SUFFIXES)
    if path.suffix.lower() == ".npy":
        np.save(path, labels)
        return
    if labels.max() > 255:
        raise ValueError(f"{path}: a .png holds 256 segments, there are {labels.max() + 1}; use .npy.")
    picture = _pillow().fromarray(labels.astype(np.uint8))
    picture.putpalette(segment_colors(int(labels.max()) + 1).tobytes())
    picture.save(path)


def read_labels(path: str | PathLike[str]) -> npt.NDArray:
    """Read a label image as `write_labels` wrote it."""
    if Path(path).suffix.lower() == ".npy":
        return _read_array(Path(path))
    with _pillow().open(path) as picture:
        return np.asarray(picture)


def _read_array(path: Path) -> npt.NDArray:
    try:
        return np.load(path, allow_pickle=False)
    except ValueError as error:
        raise ValueError(f"{path} is not an array of numbers: {error}") from error


def _check_suffix(path: Path, suffixes: tuple[str, ...]) -> None:
    if path.suffix.lower() not in suffixes:
        raise ValueError(f"{path}: cannot write {path.suffix!r}; use {', '.join(suffixes)}.")


def _pillow() -> Any:
    try:
        return importlib.import_module("PIL.Image")
    except ImportError as error:
        message = "Reading and writing pictures needs Pillow, which is not installed: pip install pillow"
        raise ImportError(message) from error


def touching_discs(
    height: int = 48,
    width: int = 72,
    *,
    noise: float = 0.03,
    random_state: int | np.random.RandomState | None = None,
) -> tuple[FloatArray, IntArray]:
    """Make a picture of two dark discs that touch, on a background that grows brighter, with noise.

    The discs have the same grey and a common border, so only marks can separate them, like two animals side
    by side.

    Parameters
    ----------
    height, width : int
        The size in pixels; the discs grow with it.
    noise : float, default=0.03
        Standard deviation of the noise; white is 1.
    random_state : int, RandomState or None
        For the noise.

    Returns
    -------
    image : array of shape (height, width)
        Grey values between 0 and 1.
    truth : array of shape (height, width)
        0 background, 1 left disc, 2 right disc.

    Examples
    --------
    >>> from sidecut.images import touching_discs
    >>> image, truth = touching_discs(random_state=0)
    >>> image.shape, [int((truth == part).sum()) > 500 for part in range(3)]
    ((48, 72), [True, True, True])
    """
    rows, columns = np.mgrid[:height, :width]
    radius = 0.3 * min(height, 0.72 * width)
    # A little closer than two radii: the discs share a border a third as long as they are high.
    apart = 1.9 * radius
    centers = [((height - 1) / 2, (width - 1) / 2 + side * apart / 2) for side in (-1, 1)]
    distances = np.stack([np.hypot(rows - row, columns - column) for row, column in centers])
    truth = np.where(distances.min(axis=0) <= radius, 1 + distances.argmin(axis=0), 0)
    background = 0.55 + 0.35 * columns / max(width - 1, 1)
    image = np.where(truth > 0, 0.3, background)
    image = image + noise * check_random_state(random_state).normal(size=image.shape)
    return np.clip(image, 0.0, 1.0), truth
