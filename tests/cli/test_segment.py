import json

import numpy as np
import pytest
from PIL import Image

from sidecut.images import read_image, touching_discs, write_image
from sidecut.images.files import read_labels

BOXES = ("--box", "left,22,22,5,5", "--box", "right,22,50,5,5")


@pytest.fixture
def discs(shell):
    """The picture of two touching discs as discs.png, and which disc each pixel is on."""
    image, truth = touching_discs(random_state=0)
    write_image("discs.png", np.round(255 * image).astype(np.uint8))
    return truth


@pytest.fixture
def strokes(discs):
    layer = np.zeros((*discs.shape, 4), dtype=np.uint8)
    layer[15:33, 18:20] = (0, 0, 255, 255)
    layer[24:26, 46:58] = (255, 0, 0, 255)
    write_image("strokes.png", layer)


def accuracy(labels, truth):
    return (labels == truth - 1)[truth > 0].mean()


def test_boxes_cut_a_picture_and_everything_is_written(shell, discs):
    outputs = ("-o", "cut.png", "--labels", "labels.npy", "--heat", "heat.png")
    assert shell("segment", "discs.png", *BOXES, *outputs) == 0, shell.err
    assert accuracy(np.load("labels.npy"), discs) > 0.95
    assert read_image("cut.png").shape == (*discs.shape, 3)
    heat = read_image("heat.png").astype(int)
    # Blue over the left disc, red over the right one.
    assert heat[24, 20, 2] > heat[24, 20, 0]
    assert heat[24, 60, 0] > heat[24, 60, 2]
    assert "50 of 50 pixels kept" in shell.out
    assert "left: " in shell.out


def test_strokes_cut_a_picture(shell, discs, strokes):
    assert (
        shell("segment", "discs.png", "--scribbles", "strokes.png", "-o", "cut.png", "--labels", "l.png") == 0
    )
    # Both discs are of one grey: where exactly they part between the strokes is chance.
    assert accuracy(read_labels("l.png"), discs) > 0.9


@pytest.mark.parametrize("name", ["marks.npy", "marks.png"])
def test_a_label_image_cuts_a_picture(shell, discs, name):
    marks = np.zeros(discs.shape, dtype=np.uint8)
    marks[20:26, 20:26], marks[20:26, 50:56] = 3, 7
    write_image(name, marks)
    assert (
        shell("segment", "discs.png", "--scribbles", name, "-o", "cut.png", "--labels", "l.npy", "--json")
        == 0
    )
    labels = np.load("l.npy")
    # Numbers in, the same numbers out.
    assert np.unique(labels).tolist() == [3, 7]
    assert accuracy(labels // 4, discs) > 0.95
    assert json.loads(shell.out)["classes"] == ["3", "7"]


def test_a_jpeg_in_colour_is_read(shell, discs):
    Image.open("discs.png").convert("RGB").save("discs.jpg", quality=95)
    assert shell("segment", "discs.jpg", *BOXES, "-o", "cut.png", "--labels", "l.npy") == 0
    assert accuracy(np.load("l.npy"), discs) > 0.95


def test_without_marks_the_discs_stay_together(shell, discs):
    assert shell("segment", "discs.png", "-o", "cut.png", "--labels", "l.npy", "--json") == 0
    told = json.loads(shell.out)
    assert told["method"] == "NormalizedCut"
    assert told["n_marked"] == 0
    assert told["advice"].startswith("none: the 2 segments are")
    labels = np.load("l.npy")
    assert max(np.bincount(labels[discs > 0])) / np.count_nonzero(discs) > 0.99


def test_without_marks_marks_are_asked_for(shell, discs):
    assert shell("segment", "discs.png", "-o", "cut.png") == 0
    said = " ".join(shell.out.split())
    assert "marks none: the 2 segments are where" in said
    assert "--scribbles" in said
    assert "--box CLASS,ROW,COLUMN,HEIGHT,WIDTH" in said
    assert shell("segment", "discs.png", *BOXES, "-o", "cut.png") == 0
    assert "marks none" not in " ".join(shell.out.split())


def test_json_tells_everything(shell, discs):
    assert shell("segment", "discs.png", *BOXES, "-o", "cut.png", "--json", "--radius", 3) == 0
    told = json.loads(shell.out)
    assert (told["height"], told["width"]) == discs.shape
    assert sum(told["sizes"]) == discs.size
    assert told["classes"] == ["left", "right"]
    assert (told["n_marked"], told["n_marks_lost"]) == (50, 0)
    assert told["files"] == {"overlay": "cut.png"}
    assert told["certificate"]
    assert set(told["seconds"]) == {"reading", "linking pixels", "cutting", "writing"}


def test_options_reach_the_graph_and_the_method(shell, discs):
    words = ("segment", "discs.png", *BOXES, "-o", "cut.png", "--json")
    shell(*words, "--radius", 1)
    few = json.loads(shell.out)["n_edges"]
    assert few == 48 * 71 + 47 * 72
    shell(*words, "--neighbors", 9, "--method", "spectral-learning", "--segments", 3)
    told = json.loads(shell.out)
    assert told["method"] == "SpectralLearning"
    assert told["n_segments"] == 3
    assert told["n_edges"] != few
    assert shell(*words, "--method", "csp", "--set", "beta=eq19", "--sigma-color", 0.1) == 0


def test_enlarged_pictures(shell, discs):
    shell("segment", "discs.png", *BOXES, "-o", "cut.png", "--heat", "heat.png", "--enlarge", 4)
    assert read_image("cut.png").shape == (192, 288, 3)
    assert read_image("heat.png").shape == (192, 288, 3)


def test_strict_runs_end_with_three_if_a_mark_is_lost(shell, discs):
    # Both marks on one disc, side by side, and a method that prefers the cheaper cut around the discs.
    marks = ("--box", "a,22,22,2,2", "--box", "b,22,24,2,2")
    words = ("segment", "discs.png", *marks, "-o", "cut.png", "--method", "spectral-learning")
    assert shell(*words) == 0
    assert shell(*words, "--strict") == 3
    assert shell("segment", "discs.png", *BOXES, "-o", "cut.png", "--strict") == 0


def test_progress_is_on_stderr_and_the_quiet_hear_nothing(shell, discs):
    shell("segment", "discs.png", *BOXES, "-o", "cut.png", "--verbose")
    assert "finding regions 48 x 72 ... " in shell.err
    assert "..." not in shell.out
    shell("segment", "discs.png", *BOXES, "-o", "cut.png", "--quiet")
    assert (shell.out, shell.err) == ("", "")


@pytest.mark.parametrize(
    ("command", "complaint"),
    [
        ("disc.png -o o.png", "no file disc.png; did you mean discs.png?"),
        ("text.png -o o.png", "text.png is not an image"),
        ("discs.png -o o.xyz", "cannot write '.xyz'"),
        ("discs.png -o no/o.png", "no directory no"),
        ("discs.png -o discs.png", "overwrite an input"),
        ("discs.png -o o.png --heat o.png", "same name"),
        ("discs.png -o o.png --labels l.jpg", "cannot write '.jpg'"),
        ("discs.png -o o.png --scribbles none.png", "no file none.png"),
        ("discs.png -o o.png --scribbles small.png", "scribbles have 5 x 9 pixels and the image 48 x 72"),
        ("discs.png -o o.png --scribbles blank.png", "Nothing is marked"),
        ("discs.png -o o.png --box a,1,1,3,3 --box b,2,2,3,3", "overlaps a box of class 'a'"),
        ("discs.png -o o.png --box a,1,1,1", "CLASS,ROW,COLUMN,HEIGHT,WIDTH"),
        ("discs.png -o o.png --box ,1,1,1,1", "names no class"),
        ("discs.png -o o.png --box a,46,1,5,5", "box a,46,1,5,5 covers rows 46 to 50"),
        ("discs.png -o o.png --box a,1,1,9,9 --box b,5,5,9,9", "overlaps"),
        (
            "discs.png -o o.png --segments 2 --box a,1,1,1,1 --box b,5,5,1,1 --box c,9,9,1,1",
            "3 classes (a, b, c)",
        ),
        ("discs.png -o o.png --segments 0", "n_clusters=0"),
        ("discs.png -o o.png --method csp", "give --scribbles or --box"),
        ("discs.png -o o.png --method magic", "no method 'magic'"),
        ("discs.png -o o.png --set a=1", "no parameter 'a'"),
        ("discs.png -o o.png --radius 0.5", "radius=0.5"),
        ("discs.png -o o.png --sigma-color -1", "sigma_color=-1"),
        ("discs.png -o o.png --enlarge 0", "--enlarge 0"),
        ("discs.png", "Say where the result goes with -o"),
    ],
)
def test_bad_usage_ends_with_two_and_says_what_to_do(shell, discs, command, complaint):
    shell.write("text.png", "hello")
    write_image("small.png", np.zeros((5, 9, 3), np.uint8))
    write_image("blank.png", np.zeros((*discs.shape, 3), np.uint8))
    assert shell("segment", *command.split()) == 2
    assert complaint in shell.err
    assert "Traceback" not in shell.err
    assert shell.out == ""
    assert not (shell.directory / "o.png").exists()


def test_marks_are_kept_where_more_segments_are_wanted(shell):
    truth = np.repeat([0, 1, 2], 20)[None, :].repeat(30, axis=0)
    colors = np.array([[50, 130, 50], [180, 80, 80], [50, 80, 200]])
    image = np.clip(colors[truth] + np.random.default_rng(0).normal(0, 10, (30, 60, 3)), 0, 255)
    np.save("image.npy", image.astype(np.uint8))
    marks = np.zeros((30, 60), dtype=np.uint8)
    marks[5:25, 5], marks[5:25, 30] = 1, 2
    marks[15, 30:46] = 2
    np.save("marks.npy", marks)
    words = (
        "segment",
        "image.npy",
        "--scribbles",
        "marks.npy",
        "-k",
        3,
        "-o",
        "cut.png",
        "--json",
        "--strict",
    )
    assert shell(*words) == 0, shell.err
    said = json.loads(shell.out)
    assert said["method"] == "RegionCut"
    assert said["n_marks_lost"] == 0
    assert len(said["sizes"]) == 3


def test_a_segment_is_cut_out(shell, discs):
    words = ("segment", "discs.png", *BOXES, "-o", "cut.png", "--cutout", "one.png", "--labels", "l.npy")
    for extra, number in (((), 0), (("--cutout-class", "right"), 1)):
        assert shell(*words, *extra) == 0, shell.err
        cut = np.asarray(Image.open("one.png"))
        np.testing.assert_array_equal(cut[..., 3] == 255, np.load("l.npy") == number)
        np.testing.assert_array_equal(cut[..., 0], np.asarray(Image.open("discs.png")))
    assert shell(*words, "--cutout-class", "middle") == 2
    assert "segment='middle' must be one of left, right" in shell.err
    assert shell("segment", "discs.png", *BOXES, "-o", "cut.png", "--cutout-class", "right") == 2
    assert "name its file with --cutout" in shell.err
