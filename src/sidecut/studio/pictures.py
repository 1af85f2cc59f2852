"""Pictures of points: from files of one folder, or from rows of numbers."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from sidecut.arrays import FloatArray

#: Thumbnails are at most so wide and high; small pictures are enlarged to about this.
LARGEST, SMALLEST = 320, 96
#: So many thumbnails are kept.
KEPT = 4_000


class PictureSource(Protocol):
    """Something that has a picture of every point."""

    def thumbnail(self, i: int) -> str:
        """Return a picture as a data address; empty where there is none."""
        ...


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
        self._thumbnail = lru_cache(KEPT)(self._make)

    def thumbnail(self, i: int) -> str:
        """Return a picture as a data address; empty where there is none, or none inside the folder."""
        return self._thumbnail(i)

    def _make(self, i: int) -> str:
        path = (self.folder / self.paths[i]).resolve()
        if not path.is_relative_to(self.folder) or not path.is_file():
            return ""
        image_type = _pillow()
        try:
            with image_type.open(path) as picture:
                picture.thumbnail((LARGEST, LARGEST))
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
        self._thumbnail = lru_cache(KEPT)(self._make)

    def thumbnail(self, i: int) -> str:
        """Return a picture as a data address."""
        return self._thumbnail(i)

    def _make(self, i: int) -> str:
        row = np.asarray(self.rows[i], dtype=float)
        pixels = np.round(255 * (row - self._low) / self._span).astype(np.uint8)
        is_color = len(row) == 3 * self.shape[0] * self.shape[1]
        picture = _pillow().fromarray(
            pixels.reshape(*self.shape, 3) if is_color else pixels.reshape(self.shape)
        )
        scale = max(1, SMALLEST // max(self.shape))
        return data_address(picture.resize((scale * self.shape[1], scale * self.shape[0]), resample=0))


def data_address(picture: Any) -> str:
    """Return a picture as an address that holds it: made anew, so that only pixels go to the page."""
    buffer = io.BytesIO()
    picture.save(buffer, format="PNG")
    return "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode("ascii")


def _pillow() -> Any:
    try:
        from PIL import Image
    except ImportError as error:
        raise ImportError("Showing pictures needs Pillow: pip install 'sidecut[studio]'.") from error
    return Image
