"""Strokes on a picture and the segments that follow; every stroke is saved before the next one."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from threading import Lock
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from sidecut.images import RegionGraph, Segmentation, region_graph, segment, write_image
from sidecut.images.files import write_labels
from sidecut.studio.items import data_address
from sidecut.studio.messages import Array, Canvas, File, Painting, pack, unpack
from sidecut.studio.project import Project, as_file, fingerprint, replace_file
from sidecut.studio.requests import StaleError, reply_to

#: Larger pictures are shown and cut with sides of at most this number of pixels.
MAX_PIXELS = 1_000
#: Each class has a key of its own, from 1 to 8.
MAX_CLASSES = 8

Marks = npt.NDArray[np.uint8]


class Painter:
    """A picture, strokes on it, and the segments that follow from them.

    Parameters
    ----------
    image : array of shape (height, width) or (height, width, channels)
        The picture, as `sidecut.images.read_image` reads it.
    folder : path, optional
        Where every stroke is kept; strokes that are there are taken up again.
    title : str
        What the picture is called.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.images import touching_discs
    >>> from sidecut.studio import Painter
    >>> image, truth = touching_discs(random_state=0)
    >>> marks = np.zeros(truth.shape, dtype=np.uint8)
    >>> marks[24, 20:26], marks[2, 10:60] = 1, 2
    >>> int(Painter(image).paint(marks).segmentation.labels[24, 22])
    1
    """

    def __init__(self, image: npt.NDArray, folder: str | Path | None = None, title: str = "picture") -> None:
        self.full, self.title = image, title
        self.stride = max(1, -(-max(image.shape[:2]) // MAX_PIXELS))
        self.image = np.ascontiguousarray(image[:: self.stride, :: self.stride])
        self.project = None if folder is None else Project(folder)
        self._graph: RegionGraph | None = None
        self.history: list[Marks] = [np.zeros(self.image.shape[:2], dtype=np.uint8)]
        if self.project is not None:
            self._resume(self.project)
        self.step = 0
        self.segmentation: Segmentation | None = None
        self._cut()

    @property
    def marks(self) -> Marks:
        """What is painted: a label image, 0 where nothing is."""
        return self.history[-1]

    def paint(self, marks: npt.ArrayLike) -> Self:
        """Put a label image in place of what was painted; the last one can be brought back."""
        new = np.asarray(marks)
        if new.shape != self.marks.shape or new.dtype.kind not in "iu":
            raise ValueError(
                f"What is painted must be whole numbers of shape {self.marks.shape}, not {new.shape}."
            )
        if new.size and (new.min() < 0 or new.max() > MAX_CLASSES):
            raise ValueError(f"Classes are numbered from 1 to {MAX_CLASSES}, and 0 is nothing.")
        self.history.append(new.astype(np.uint8))
        if self.project is not None:
            # Four bits per pixel are enough for the classes.
            bits = np.unpackbits(self.marks.reshape(-1, 1), axis=1)[:, 4:]
            replace_file(self._file(len(self.history) - 1), np.packbits(bits).tobytes())
        self.step += 1
        return self._cut()

    def undo(self) -> Self:
        """Take the last stroke back."""
        if len(self.history) == 1:
            raise ValueError("There is no stroke to take back.")
        if self.project is not None:
            self._file(len(self.history) - 1).unlink(missing_ok=True)
        self.history.pop()
        self.step += 1
        return self._cut()

    def labels(self) -> npt.NDArray[np.intp]:
        """Return the segment of every pixel of the picture in its full size."""
        if self.segmentation is None:
            raise ValueError("Paint strokes of two classes first: then there are segments.")
        wide = self.segmentation.labels.repeat(self.stride, axis=0).repeat(self.stride, axis=1)
        height, width = self.full.shape[:2]
        return np.asarray(wide[:height, :width], dtype=np.intp)

    def cutout(self, segment: int | None = None) -> npt.NDArray[np.uint8]:
        """Return one segment of the picture, in its full size, on transparent ground."""
        labels = self.labels()
        there = np.unique(labels)
        if segment is not None and segment not in there:
            raise ValueError(
                f"Nothing is painted in colour {segment}; there are {', '.join(map(str, there))}."
            )
        rgb = np.asarray(_as_picture(self.full).convert("RGB"))
        return np.dstack(
            [rgb, np.where(labels == (there[0] if segment is None else segment), 255, 0)]
        ).astype(np.uint8)

    def close(self) -> None:
        """Unlock the folder."""
        if self.project is not None:
            self.project.close()

    def _cut(self) -> Self:
        if len(np.setdiff1d(self.marks, 0)) < 2:
            self.segmentation = None
            return self
        if self._graph is None:
            self._graph = region_graph(self.image)
        self.segmentation = segment(self.image, self.marks.astype(np.intp), graph=self._graph)
        return self

    def _resume(self, project: Project) -> None:
        project.check_data(fingerprint(self.full))
        project.keep({"fingerprint": fingerprint(self.full), "title": self.title})
        while self._file(len(self.history)).is_file():
            flat = np.unpackbits(np.frombuffer(self._file(len(self.history)).read_bytes(), dtype=np.uint8))
            bits = flat[: 4 * self.marks.size].reshape(-1, 4)
            self.history.append((bits @ np.array([8, 4, 2, 1], dtype=np.uint8)).reshape(self.marks.shape))

    def _file(self, number: int) -> Path:
        assert self.project is not None
        return self.project.folder / f"strokes-{number:04d}.bits"


class PaintHandler:
    """What the page may ask of a painter."""

    def __init__(self, painter: Painter) -> None:
        self.painter, self._lock = painter, Lock()
        self._verbs: dict[str, Callable[..., Any]] = {
            "open": self.open,
            "alive": lambda: True,
            "state": self.state,
            "paint": self.paint,
            "undo": self.undo,
            "export": self.export,
        }

    @property
    def project(self) -> Project | None:
        """The folder of the painter."""
        return self.painter.project

    def handle(self, request: Any) -> dict[str, Any]:
        """Return the reply to a request; one at a time."""
        with self._lock:
            return reply_to(self._verbs, request)

    def open(self) -> Canvas:
        """Return the picture and what is painted."""
        painter = self.painter
        height, width = painter.image.shape[:2]
        return Canvas(
            kind="picture",
            title=painter.title,
            width=width,
            height=height,
            picture=data_address(_as_picture(painter.image)),
            kept_in="" if painter.project is None else str(painter.project.folder),
            state=self.state(),
        )

    def state(self) -> Painting:
        """Return strokes and segments."""
        painter = self.painter
        cut = painter.segmentation
        classes = np.setdiff1d(painter.marks, 0)
        words = "Paint on two things that differ, each with its own colour."
        if len(classes) == 1:
            words = "Now choose another colour (keys 1 to 8) and paint on something else."
        if cut is not None:
            words = f"{len(classes)} segments. Paint where a border is wrong."
        return Painting(
            step=painter.step,
            strokes=pack(painter.marks.ravel(), "u1"),
            segments=None if cut is None else pack(cut.labels.ravel(), "u1"),
            sizes=[] if cut is None else np.bincount(cut.labels.ravel(), minlength=10).tolist(),
            words=words,
            can_undo=len(painter.history) > 1,
        )

    def paint(self, step: int, strokes: Array) -> Painting:
        """Take a label image of strokes."""
        self._check_step(step)
        flat = unpack(strokes)
        if flat.size != self.painter.marks.size:
            raise ValueError(f"{flat.size} pixels came, but the picture has {self.painter.marks.size}.")
        self.painter.paint(flat.reshape(self.painter.marks.shape))
        return self.state()

    def undo(self, step: int) -> Painting:
        """Take the last stroke back."""
        self._check_step(step)
        self.painter.undo()
        return self.state()

    def export(self, what: str, segment: int | None = None) -> File:
        """Return a file: the label image, the picture with its segments, or one segment cut out of it."""
        labels = self.painter.labels()
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"{what}.png"
            if what == "labels":
                write_labels(path, labels)
            elif what == "overlay":
                assert self.painter.segmentation is not None
                write_image(path, self.painter.segmentation.overlay(self.painter.image))
            elif what == "cutout":
                write_image(path, self.painter.cutout(segment))
            else:
                raise ValueError(f"There is no export {what!r}; there are labels, overlay and cutout.")
            return as_file(path.name, "image/png", path.read_bytes())

    def _check_step(self, step: int) -> None:
        if step != self.painter.step:
            raise StaleError("Something was painted on another page in the meantime; the page shows it now.")


def _as_picture(image: npt.NDArray) -> Any:
    from PIL import Image

    pixels = np.asarray(image)
    if pixels.dtype.kind == "f":
        pixels = np.round(255 * np.clip(pixels / max(1.0, float(pixels.max())), 0, 1))
    elif pixels.dtype.itemsize > 1:
        pixels = pixels / 257.0
    pixels = pixels.astype(np.uint8)
    return Image.fromarray(pixels[..., :3] if pixels.ndim == 3 and pixels.shape[2] > 2 else pixels.squeeze())
