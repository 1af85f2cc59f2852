import sys

import numpy as np
import pytest
from PIL import Image

from sidecut.images import read_image, write_image
from sidecut.images.files import read_labels, write_labels


@pytest.mark.parametrize("shape", [(5, 7), (5, 7, 3), (5, 7, 4)])
@pytest.mark.parametrize("suffix", [".png", ".npy", ".tif"])
def test_pictures_come_back(tmp_path, shape, suffix):
    picture = np.random.default_rng(0).integers(0, 256, shape).astype(np.uint8)
    write_image(tmp_path / f"p{suffix}", picture)
    np.testing.assert_array_equal(read_image(tmp_path / f"p{suffix}"), picture)


def test_16_bits_stay_16_bits(tmp_path):
    picture = np.array([[0, 300], [65535, 7]], dtype=np.uint16)
    Image.fromarray(picture).save(tmp_path / "deep.png")
    again = read_image(tmp_path / "deep.png")
    assert again.dtype == np.uint16
    np.testing.assert_array_equal(again, picture)


def test_palettes_become_colours_and_bits_become_grey(tmp_path):
    rgb = Image.new("RGB", (4, 3), (255, 0, 0))
    rgb.convert("P").save(tmp_path / "p.png")
    np.testing.assert_array_equal(read_image(tmp_path / "p.png"), np.asarray(rgb))
    Image.new("1", (4, 3), 1).save(tmp_path / "b.png")
    np.testing.assert_array_equal(read_image(tmp_path / "b.png"), np.full((3, 4), 255))
    clear = Image.new("RGBA", (4, 3), (255, 0, 0, 0)).convert("P")
    clear.info["transparency"] = 0
    clear.save(tmp_path / "t.gif", transparency=clear.getpixel((0, 0)))
    assert read_image(tmp_path / "t.gif").shape == (3, 4, 4)


@pytest.mark.parametrize("name", ["l.png", "l.npy"])
def test_labels_come_back_and_show_their_colours(tmp_path, name):
    labels = np.arange(12).reshape(3, 4)
    write_labels(tmp_path / name, labels)
    np.testing.assert_array_equal(read_labels(tmp_path / name), labels)


def test_a_png_of_labels_shows_a_colour_for_each(tmp_path):
    write_labels(tmp_path / "l.png", np.array([[0, 1], [1, 2]]))
    colors = read_image(tmp_path / "l.png").reshape(4, 3).tolist()
    assert colors[1] == colors[2]
    assert len({tuple(color) for color in colors}) == 3


def test_too_many_labels_for_a_png_are_refused(tmp_path):
    with pytest.raises(ValueError, match=r"there are 257; use .npy"):
        write_labels(tmp_path / "l.png", np.arange(257)[None, :])


def test_floats_are_not_cut_to_bytes_in_silence(tmp_path):
    with pytest.raises(ValueError, match="a picture of float64"):
        write_image(tmp_path / "f.png", np.full((2, 2), 0.5))


def test_what_is_no_picture_is_named(tmp_path):
    (tmp_path / "a.png").write_text("hello")
    with pytest.raises(ValueError, match=r"a.png is not an image"):
        read_image(tmp_path / "a.png")
    (tmp_path / "a.npy").write_text("hello")
    with pytest.raises(ValueError, match=r"a.npy is not an array"):
        read_image(tmp_path / "a.npy")
    with pytest.raises(ValueError, match=r"cannot write '.xyz'"):
        write_image(tmp_path / "a.xyz", np.zeros((2, 2), np.uint8))


def test_without_pillow_the_maths_works_and_files_say_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "PIL.Image", None)
    with pytest.raises(ImportError, match="pip install pillow"):
        read_image(tmp_path / "a.png")
    np.save(tmp_path / "a.npy", np.eye(3))
    np.testing.assert_array_equal(read_image(tmp_path / "a.npy"), np.eye(3))
