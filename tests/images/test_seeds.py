import numpy as np
import pytest

from sidecut import Constraints
from sidecut.exceptions import ConstraintError
from sidecut.images import Box, Seeds
from sidecut.images.seeds import as_seeds, is_volume


def test_boxes_mark_their_pixels_and_no_others():
    seeds = Seeds.from_boxes([("b", 0, 1, 2, 3), ("a", 3, 0, 1, 1), ("b", 3, 4, 1, 1)], (4, 5))
    literal = np.full((4, 5), -1)
    literal[0:2, 1:4] = 1
    literal[3, 0] = 0
    literal[3, 4] = 1
    np.testing.assert_array_equal(seeds.codes, literal)
    assert seeds.classes == ("a", "b")
    assert seeds.n_known == 8


def test_constraints_link_every_marked_pair_and_no_other():
    seeds = Seeds.from_boxes([(1, 0, 0, 1, 2), (2, 1, 1, 1, 2)], (2, 3))
    labels = np.array([1, 1, -1, -1, 2, 2])
    known = labels >= 0
    literal = np.where(labels[:, None] == labels, 1.0, -1.0) * (known[:, None] & known)
    np.testing.assert_array_equal(seeds.constraints().as_matrix().toarray(), literal)
    assert seeds.constraints() == Constraints.from_labels(labels)


def test_many_marks_do_not_take_the_memory_of_their_pairs():
    codes = np.zeros((1000, 1000), dtype=int)
    codes[:500] = 1
    constraints = Seeds(codes, ("a", "b")).constraints()
    assert constraints.n_must_link == 2 * (500_000 * 499_999 // 2)


@pytest.mark.parametrize(
    "box", [(1, -1, 0, 2, 2), (1, 3, 0, 2, 2), (1, 0, 4, 1, 2), (1, 0, 0, 0, 2), (1, 0, 0, 1, -1)]
)
def test_a_box_outside_the_picture_is_named(box):
    with pytest.raises(ConstraintError, match=f"box {Box(*box)} covers rows .* the image has rows 0 to 3"):
        Seeds.from_boxes([box], (4, 5))


@pytest.mark.parametrize(
    ("box", "complaint"),
    [
        ((1, 0, 0, 1), "has 4 parts"),
        ((1, 0.5, 0, 1, 1), "whole numbers"),
        ((1, 0, 0, True, 1), "whole numbers"),
    ],
)
def test_what_is_no_box_is_refused(box, complaint):
    with pytest.raises(ConstraintError, match=complaint):
        Seeds.from_boxes([box], (4, 5))


def test_boxes_of_different_classes_may_not_overlap():
    with pytest.raises(ConstraintError, match="box b,1,1,2,2 overlaps a box of class 'a'"):
        Seeds.from_boxes([("a", 0, 0, 2, 2), ("b", 1, 1, 2, 2)], (4, 4))
    same = Seeds.from_boxes([("a", 0, 0, 2, 2), ("a", 1, 1, 2, 2)], (4, 4))
    assert same.n_known == 7


@pytest.mark.parametrize("dtype", [np.uint8, np.int64, float])
def test_label_images_of_any_type_are_read(dtype):
    labels = np.array([[0, 9, 9], [4, 0, 0]], dtype=dtype)
    seeds = Seeds.from_labels(labels, (2, 3))
    np.testing.assert_array_equal(seeds.codes, [[-1, 1, 1], [0, -1, -1]])
    assert seeds.classes == (4, 9)


def test_negative_and_missing_labels_are_unknown():
    seeds = Seeds.from_labels([[-1.0, np.nan, 2.0]], (1, 3))
    np.testing.assert_array_equal(seeds.codes, [[-1, -1, 0]])


def test_labels_that_are_no_numbers_of_classes_are_refused():
    with pytest.raises(ConstraintError, match=r"labels\[0, 1\] = 0.5"):
        Seeds.from_labels([[0.0, 0.5]], (1, 2))
    with pytest.raises(ConstraintError, match="type bool"):
        Seeds.from_labels(np.ones((1, 2), dtype=bool), (1, 2))


@pytest.mark.parametrize(
    "marks", [np.zeros((3, 5), int), np.zeros((3, 5, 3), np.uint8), np.zeros((5, 3), int)]
)
def test_marks_of_another_size_name_both_sizes(marks):
    size = " x ".join(map(str, marks.shape[:2]))
    with pytest.raises(ConstraintError, match=f"scribbles have {size} pixels and the image 4 x 5"):
        as_seeds(marks, None, np.zeros((4, 5, 3), np.uint8))


def test_boxes_and_strokes_go_together():
    image = np.zeros((2, 4))
    labels = np.array([[0, 0, 7, 0], [0, 0, 0, 0]])
    seeds = as_seeds(labels, [(7, 1, 0, 1, 2), (9, 0, 0, 1, 1)], image)
    np.testing.assert_array_equal(seeds.codes, [[1, -1, 0, -1], [0, 0, -1, -1]])
    assert seeds.classes == (7, 9)
    assert seeds.numbers.tolist() == [7, 9]
    assert as_seeds(None, None, image) is None


def test_boxes_named_in_text_are_those_of_the_label_image():
    """The command line has no numbers: "7" is class 7."""
    seeds = as_seeds(np.array([[7, 0, 0]]), [("7", 0, 2, 1, 1)], np.zeros((1, 3)))
    assert seeds.classes == (7,)
    np.testing.assert_array_equal(seeds.codes, [[0, -1, 0]])


def test_names_that_are_no_numbers_are_numbered_by_position():
    seeds = as_seeds(np.array([[7, 0, 0]]), [("sky", 0, 2, 1, 1)], np.zeros((1, 3)))
    assert seeds.classes == (7, "sky")
    assert seeds.numbers.tolist() == [0, 1]


def test_marks_that_contradict_each_other_are_shown():
    labels = np.array([[0, 0, 0], [0, 3, 3]])
    with pytest.raises(
        ConstraintError, match=r"2 pixels .* row 1, column 1: 3 by the scribbles, 'a' by a box"
    ):
        as_seeds(labels, [("a", 0, 1, 2, 2)], np.zeros((2, 3)))


def test_a_volume_is_told_by_its_label_image():
    volume, labels = np.zeros((4, 5, 6)), np.zeros((4, 5, 6), dtype=int)
    labels[1, 2, 3] = 2
    assert is_volume(labels, volume)
    assert as_seeds(labels, None, volume).codes.shape == (4, 5, 6)
    # Three columns would be channels; a fourth axis says that they are not.
    assert not is_volume(labels[..., :3], volume[..., :3])
    assert is_volume(labels[..., :3], volume[..., :3, None])


def test_seeds_say_what_they_hold():
    seeds = Seeds.from_boxes([("sky", 0, 0, 1, 3), ("sea", 1, 0, 1, 2)], (2, 3))
    assert repr(seeds) == "Seeds(2 x 3, sea: 2, sky: 3)"
    assert repr(Seeds.from_labels([[0, 0]], (1, 2))) == "Seeds(1 x 2, nothing marked)"
