import numpy as np
import pytest

from sidecut.images import segment, touching_discs
from sidecut.studio import Painter
from sidecut.studio.image_annotation import PaintHandler
from sidecut.studio.messages import pack, unpack


@pytest.fixture
def discs():
    image, _ = touching_discs(random_state=0)
    marks = np.zeros(image.shape[:2], dtype=np.uint8)
    marks[24, 20:26], marks[24, 50:56], marks[2, 10:60] = 1, 2, 3
    return image, marks


def test_segments_are_those_of_the_library(discs):
    image, marks = discs
    painter = Painter(image).paint(marks)
    np.testing.assert_array_equal(painter.segmentation.labels, segment(image, marks.astype(int)).labels)


def test_strokes_are_kept_and_taken_back(discs, tmp_path):
    image, marks = discs
    painter = Painter(image, tmp_path / "p").paint(np.where(marks == 1, 1, 0)).paint(marks)
    painter.close()
    again = Painter(image, tmp_path / "p")
    np.testing.assert_array_equal(again.marks, marks)
    assert again.segmentation is not None
    again.undo()
    np.testing.assert_array_equal(again.marks, np.where(marks == 1, 1, 0))
    assert again.segmentation is None
    again.close()
    assert len(Painter(image, tmp_path / "p").history) == 2


def test_requests_paint(discs):
    image, marks = discs
    handler = PaintHandler(Painter(image))
    assert handler.handle({"do": "export", "what": "labels"})["error"]["words"].startswith("Paint strokes")
    canvas = handler.handle({"do": "open"})["reply"]
    assert (canvas["width"], canvas["height"]) == (72, 48)
    reply = handler.handle({"do": "paint", "step": 0, "strokes": pack(marks.ravel(), "u1")})["reply"]
    assert unpack(reply["segments"]).reshape(marks.shape)[24, 22] == 1
    assert sum(reply["sizes"]) == marks.size
    assert handler.handle({"do": "export", "what": "overlay"})["reply"]["type"] == "image/png"
    late = handler.handle({"do": "paint", "step": 0, "strokes": pack(marks.ravel(), "u1")})
    assert late["error"]["is_stale"]
    short = handler.handle({"do": "paint", "step": 1, "strokes": pack([1, 2], "u1")})
    assert "2 pixels came" in short["error"]["words"]


def test_large_pictures_are_cut_smaller_and_labelled_in_full():
    image = np.zeros((30, 2_300, 3), dtype=np.uint8)
    image[:, 1_000:] = 200
    painter = Painter(image)
    assert painter.image.shape == (10, 767, 3)
    marks = np.zeros((10, 767), dtype=np.uint8)
    marks[5, 10:40], marks[5, 700:740] = 1, 2
    labels = painter.paint(marks).labels()
    assert labels.shape == (30, 2_300)
    assert (labels[15, 5], labels[15, 2_295]) == (1, 2)


def test_classes_beyond_eight_are_refused(discs):
    image, marks = discs
    with pytest.raises(ValueError, match="from 1 to 8"):
        Painter(image).paint(marks * 5)
