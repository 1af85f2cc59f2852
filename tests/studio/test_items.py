import base64
import io

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from sidecut.studio import Items, PictureFiles, PictureRows
from sidecut.studio.items import _spread, compare_texts, fit_square, written


def pixels_of(address):
    head, _, data = address.partition(",")
    assert head == "data:image/png;base64"
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(data))))


def test_numbers_differ_by_shares_of_their_spread():
    items = Items(["a", "b", "c"], {"x": [0.0, 1.0, 10.0], "same": ["u", "u", "v"]})
    spread = np.std([0.0, 1.0, 10.0])
    left = items.pair(0, 1)["left"]["fields"]
    assert [field["differs"] for field in left] == [pytest.approx(1 / (2 * spread)), 0.0]
    assert [field["differs"] for field in items.pair(0, 2)["right"]["fields"]] == [1.0, 1.0]


def test_missing_numbers_differ_from_others_only():
    items = Items("abc", {"x": [np.nan, np.nan, 1.0]})
    assert items.pair(0, 1)["left"]["fields"][0]["differs"] == 0.0
    assert items.pair(0, 2)["left"]["fields"][0]["differs"] == 1.0


def test_days_are_shown_without_midnight():
    assert written(pd.Timestamp("2024-05-06")) == "2024-05-06"
    assert written(pd.Timestamp("2024-05-06 07:30")) == "2024-05-06 07:30:00"
    assert written(pd.NaT) == ""


def test_texts_are_whole_and_differences_marked():
    one, other = "the cat sat, on the mat", "the dog sat on the mat!"
    left, right = compare_texts(one, other)
    assert "".join(piece["words"] for piece in left) == one
    assert "".join(piece["words"] for piece in right) == other
    assert [piece["words"] for piece in right if piece["differs"]] == ["dog", " ", "!"]


def test_rows_as_pictures():
    picture = pixels_of(PictureRows(np.array([[0.0, 1.0], [2.0, 0.0]]), (1, 2)).thumbnail(0))
    assert picture.shape == (48, 96)
    assert (picture[0, 0], picture[0, -1]) == (0, 128)
    with pytest.raises(ValueError, match="no pictures of 2 x 3"):
        PictureRows(np.zeros((2, 4)), (2, 3))


def test_pictures_come_from_their_folder_only(tmp_path):
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    for folder, color in ((inside, (255, 0, 0)), (outside, (0, 0, 255))):
        folder.mkdir()
        Image.new("RGB", (4, 4), color).save(folder / "a.png")
    (inside / "b.png").write_text("<svg onload='alert(1)'/>")
    (inside / "link.png").symlink_to(outside / "a.png")
    paths = ["a.png", "../outside/a.png", str(outside / "a.png"), "link.png", "b.png", "none.png", ""]
    pictures = PictureFiles(inside, paths)
    assert pixels_of(pictures.thumbnail(0))[0, 0].tolist() == [255, 0, 0]
    assert [pictures.thumbnail(k) for k in range(1, len(paths))] == [""] * 6


def test_large_pictures_become_thumbnails(tmp_path):
    Image.new("L", (1_000, 500)).save(tmp_path / "a.png")
    assert pixels_of(PictureFiles(tmp_path, ["a.png"]).thumbnail(0)).shape == (160, 320, 3)


def test_columns_fill_the_square_and_embeddings_keep_their_shape():
    places = np.array([[0.0, 0.0], [10.0, 1.0]])
    np.testing.assert_allclose(fit_square(places), [[-1, -0.1], [1, 0.1]])
    np.testing.assert_allclose(fit_square(places, keep_shape=False), [[-1, -1], [1, 1]])


def test_points_of_a_grain_go_between_their_neighbours_grains():
    from scipy.sparse import csr_array

    places = np.array([[0.0, 0.0], [100.0, 100.0]])
    weights = csr_array(np.array([[0.0, 1.0, 1.0], [1.0, 0.0, 0.0], [1.0, 0.0, 0.0]]))
    spread = _spread(places, np.array([0, 0, 1]), weights, 0)
    # Half of the own grain, half of the mean of the neighbours' grains; the noise has 0.3 of a step of 70.
    expected = [(25, 25), (0, 0), (50, 50)]
    noise = np.random.RandomState(0).normal(0, 0.3 * np.sqrt(100 * 100 / 2), (3, 2))
    np.testing.assert_allclose(spread, expected + noise)
