import importlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import ndimage

from sidecut.exceptions import ConstraintError
from sidecut.images import region_graph, segment, touching_discs
from sidecut.images.border import band_around
from sidecut.images.marked_cut import Cut, Level, _one_level_up, cut_by_marks
from sidecut.images.region_graph import halve

#: The name of the module is that of the function, too.
region_module = importlib.import_module("sidecut.images.region_graph")


def marks_on(truth, n_each, seed=0):
    rng = np.random.default_rng(seed)
    marks = np.zeros(truth.shape, dtype=int)
    for code in np.unique(truth):
        places = np.argwhere(truth == code)
        marks[tuple(places[rng.choice(len(places), n_each)].T)] = code + 1
    return marks


@settings(max_examples=40, deadline=None)
@given(
    shape=st.tuples(st.integers(1, 12), st.integers(2, 14)),
    channels=st.sampled_from([None, 1, 3, 4]),
    seed=st.integers(0, 10_000),
    n_classes=st.integers(2, 4),
    share=st.floats(0.01, 1.0),
)
def test_every_mark_holds(shape, channels, seed, n_classes, share):
    rng = np.random.default_rng(seed)
    image = rng.random(shape if channels is None else (*shape, channels))
    marks = rng.integers(1, n_classes + 1, shape) * (rng.random(shape) < share)
    if np.unique(marks[marks > 0]).size < 2:
        marks.ravel()[:2] = 1, 2
    result = segment(image, marks)
    np.testing.assert_array_equal(result.labels[marks > 0], marks[marks > 0])
    assert np.isin(result.labels, marks[marks > 0]).all()
    assert np.isfinite(result.probabilities).all()
    assert result.n_marks_lost == 0


def test_marks_hold_where_the_picture_says_otherwise():
    """A mark of class 2 in the middle of class 1, of the same colour, is a part of its own."""
    image = np.zeros((60, 80))
    marks = np.zeros(image.shape, dtype=int)
    marks[:, 2], marks[30, 40] = 1, 2
    assert segment(image, marks).labels[30, 40] == 2


@pytest.mark.parametrize("seed", range(3))
def test_things_are_found_by_place_and_by_look(seed):
    """Two dark squares; one of them is marked. Both are dark: the other one is of its class, too."""
    rng = np.random.default_rng(seed)
    truth = np.zeros((80, 120), dtype=int)
    truth[20:50, 15:45] = truth[35:70, 70:100] = 1
    image = np.where(truth == 1, 0.2, 0.7) + 0.03 * rng.normal(size=truth.shape)
    marks = np.zeros_like(truth)
    marks[30:34, 25:29], marks[5, 30:60] = 2, 1
    assert (segment(image, marks).labels == truth + 1).mean() > 0.99


def test_texture_tells_what_colour_does_not():
    rng = np.random.default_rng(0)
    truth = np.zeros((90, 120), dtype=int)
    truth[:, 60:] = 1
    image = 0.5 + np.where(truth == 1, 0.15, 0.01) * rng.normal(size=truth.shape)
    marks = np.zeros_like(truth)
    marks[40:50, 20:30], marks[40:50, 90:100] = 1, 2
    assert (segment(np.clip(image, 0, 1), marks).labels == truth + 1).mean() > 0.95


def test_more_marks_on_the_same_graph_are_as_good_as_a_fresh_start(discs):
    image, truth = discs
    first = segment(image, marks_on(truth, 3))
    more = marks_on(truth, 8)
    again, fresh = segment(image, more, graph=first.graph), segment(image, more)
    np.testing.assert_array_equal(again.labels, fresh.labels)
    np.testing.assert_array_equal(again.probabilities, fresh.probabilities)
    assert again.graph is first.graph


@pytest.mark.parametrize("shape", [(90, 121), (8, 31, 40)])
@pytest.mark.parametrize("seed", range(3))
def test_a_second_cut_is_what_a_fresh_one_is(monkeypatch, shape, seed):
    """Strokes are added one by one, on a picture that is cut from coarse to fine; every bit is the same."""
    monkeypatch.setattr(region_module, "MAX_PIXELS", 3_000)
    rng = np.random.default_rng(seed)
    smooth = ndimage.gaussian_filter(rng.normal(size=shape), 4)
    image, marks = smooth / smooth.std() + 0.3 * rng.normal(size=shape), np.zeros(shape, dtype=np.uint8)
    graph = region_graph(image, volume=len(shape) == 3)
    for stroke in range(6):
        start = tuple(rng.integers(0, size - 6) for size in shape)
        marks[tuple(slice(at, at + rng.integers(1, 6)) for at in start)] = 1 + stroke % 3
        if stroke:
            again, fresh = segment(image, marks, graph=graph), segment(image, marks)
            np.testing.assert_array_equal(again.labels, fresh.labels)
            np.testing.assert_array_equal(again.probabilities, fresh.probabilities)
            np.testing.assert_array_equal(again.labels[marks > 0], marks[marks > 0])


@pytest.mark.parametrize("shape", [(61, 90), (10, 30, 43)])
def test_borders_of_a_level_are_found_from_the_smaller_one(shape):
    """Doubled, with marks set; the pixels near borders are those that a look at all of them finds."""
    rng = np.random.default_rng(0)
    half = tuple((size + 1) // 2 for size in shape)
    small = (ndimage.gaussian_filter(rng.normal(size=half), 3) > 0).astype(np.uint8)
    level = Level(half, *(np.zeros(0, dtype=np.intp) for _ in range(3)), np.zeros((0, 2)))
    marked = np.flatnonzero(rng.random(shape) < 0.01)
    marks = rng.integers(0, 2, marked.size)
    codes, near = _one_level_up(Cut(small, small, np.zeros((1, 2)), levels=(level,)), shape, (marked, marks))
    literal = small
    for axis, size in enumerate(shape):
        literal = literal.repeat(2, axis=axis).take(range(size), axis=axis)
    literal.reshape(-1)[marked] = marks
    np.testing.assert_array_equal(codes, literal)
    np.testing.assert_array_equal(near, band_around(literal, 1))


@pytest.mark.parametrize("kind", [np.uint8, np.int16, np.int64, np.float64])
@pytest.mark.parametrize("numbers", [(1, 2, 3), (7, 2, 9)])
def test_labels_are_of_the_type_of_the_marks(discs, kind, numbers):
    image, truth = discs
    marks = marks_on(truth, 8)
    marks[marks > 0] = np.array(numbers)[marks[marks > 0] - 1]
    labels = segment(image, marks.astype(kind)).labels
    assert labels.dtype == (np.intp if kind == np.float64 else kind)
    np.testing.assert_array_equal(labels, segment(image, marks).labels)
    assert set(np.unique(labels)) == set(numbers)


def test_a_graph_of_another_picture_is_refused(discs):
    image, truth = discs
    graph = region_graph(np.zeros((10, 12)))
    with pytest.raises(ValueError, match="graph is of a picture of 10 x 12 pixels, the marks of 48 x 72"):
        segment(image, marks_on(truth, 3), graph=graph)


def test_what_regions_cannot_do_is_said(discs):
    image, truth = discs
    graph = region_graph(image)
    with pytest.raises(ValueError, match="two classes or more"):
        segment(image, graph=graph)
    with pytest.raises(ValueError, match="two classes or more"):
        segment(image, marks_on(truth, 3), graph=graph, n_segments=5)


@pytest.mark.parametrize("shape", [(180, 271), (181, 270)])
def test_large_pictures_are_cut_from_coarse_to_fine(monkeypatch, shape):
    monkeypatch.setattr(region_module, "MAX_PIXELS", 4_000)
    image, truth = touching_discs(*shape, random_state=0)
    marks = marks_on(truth, 60)
    result = segment(image, marks)
    assert [level.shape[:2] for level in result.graph.levels] == [
        shape,
        tuple((size + 1) // 2 for size in shape),
        tuple(((size + 1) // 2 + 1) // 2 for size in shape),
    ]
    assert (result.labels == truth + 1).mean() > 0.98
    np.testing.assert_array_equal(result.labels[marks > 0], marks[marks > 0])


@pytest.mark.parametrize("shape", [(61, 90), (9, 30, 43)])
def test_what_is_known_of_a_pixel_is_what_the_smaller_level_says(monkeypatch, shape):
    """Cut.beliefs looks a few pixels up; Cut.probabilities, doubled, has them all."""
    monkeypatch.setattr(region_module, "MAX_PIXELS", 400)
    rng = np.random.default_rng(0)
    graph = region_graph(rng.random(shape), n_regions=40, volume=len(shape) == 3)
    marks = np.where(rng.random(shape) < 0.02, rng.integers(0, 3, shape), -1)
    cut = cut_by_marks(graph, marks, 3)
    assert len(cut.levels) == len(graph.levels) > 2
    for n_levels in range(1, len(cut.levels)):
        smaller = Cut(cut.codes, cut.regions, cut.by_region, levels=cut.levels[:n_levels])
        there = cut.levels[n_levels].shape
        places = tuple(rng.integers(0, size, 200) for size in there)
        literal = smaller.probabilities[tuple(axis // 2 for axis in places)]
        np.testing.assert_allclose(smaller.priors(places), literal, rtol=1e-6)
    np.testing.assert_array_equal(cut.probabilities.argmax(axis=-1), cut.codes)
    np.testing.assert_allclose(cut.probabilities.sum(axis=-1), 1.0, rtol=1e-5)


@pytest.mark.parametrize("channels", [None, 3])
def test_volumes_are_cut_as_pictures_are(channels):
    rng = np.random.default_rng(0)
    truth = np.zeros((14, 30, 32), dtype=int)
    depth, row, column = np.mgrid[:14, :30, :32]
    truth[(depth - 7) ** 2 + (row - 15) ** 2 + (column - 15) ** 2 < 36] = 1
    volume = np.where(truth == 1, 0.3, 0.6) + 0.04 * rng.normal(size=truth.shape)
    if channels:
        volume = np.repeat(volume[..., None], channels, axis=-1)
    marks = np.zeros_like(truth)
    marks[7, 15, 13:17], marks[2, 3, 3:9] = 2, 1
    result = segment(volume, marks)
    assert result.labels.shape == truth.shape
    assert result.probabilities.shape == (*truth.shape, 2)
    assert (result.labels == truth + 1).mean() > 0.98
    with pytest.raises(ValueError, match="slice by slice"):
        result.overlay(volume)


def test_a_volume_can_be_large(monkeypatch):
    monkeypatch.setattr(region_module, "MAX_PIXELS", 1_000)
    volume = np.zeros((9, 20, 21))
    volume[:, :, 10:] = 1.0
    marks = np.zeros(volume.shape, dtype=int)
    marks[4, 10, 3], marks[4, 10, 17] = 1, 2
    result = segment(volume, marks)
    np.testing.assert_array_equal(result.labels, 1 + (volume == 1))


def same_picture_in_many_types():
    rgb = np.zeros((40, 50, 3), dtype=np.uint8)
    rgb[...] = 60, 120, 200
    rgb[10:30, 15:40] = 200, 120, 60
    alpha = np.full((40, 50, 1), 255, dtype=np.uint8)
    grey = rgb[..., 0]
    return {
        "RGB": rgb,
        "RGBA": np.concatenate([rgb, alpha], axis=2),
        "RGB of floats": rgb / 255,
        "RGB of 16 bits": rgb.astype(np.uint16) * 257,
        "grey": grey,
        "grey of floats": grey / 255,
        "single precision": (grey / 255).astype(np.float32),
        "signed": grey.astype(np.int16) * 10 - 1000,
        "counts": grey.astype(float) * 1e6,
        "low contrast": 0.5 + grey / 255e3,
        "bool": grey > 100,
    }


@pytest.mark.parametrize("kind", same_picture_in_many_types())
def test_a_picture_may_have_any_type(kind):
    image = same_picture_in_many_types()[kind]
    truth = np.zeros((40, 50), dtype=int)
    truth[10:30, 15:40] = 1
    marks = np.zeros_like(truth)
    marks[20, 20:25], marks[2, 10:20] = 9, 4
    np.testing.assert_array_equal(segment(image, marks).labels, np.where(truth == 1, 9, 4))


def test_overlays_have_the_colours_of_the_strokes(discs):
    image, _ = discs
    strokes = np.zeros((*image.shape, 4), dtype=np.uint8)
    strokes[20:28, 20:28], strokes[20:28, 50:58] = (0, 200, 0, 255), (200, 0, 200, 255)
    result = segment(image, strokes)
    shown = result.overlay(np.zeros_like(image), opacity=1.0, show_seeds=False)
    assert shown[24, 15].tolist() == [0, 200, 0]
    assert shown[24, 60].tolist() == [200, 0, 200]
    # Inside its rim, a stroke is shown as it was drawn.
    assert result.overlay(image)[24, 24].tolist() == [0, 200, 0]


def test_halving_takes_means_and_repeats_the_last():
    picture = np.arange(15.0).reshape(3, 5)[..., None]
    literal = [[3, 5, 6.5], [10.5, 12.5, 14]]
    np.testing.assert_allclose(halve(picture)[..., 0], literal)


def test_marks_of_the_wrong_shape_are_refused():
    with pytest.raises(ConstraintError, match="same size"):
        segment(np.zeros((8, 9, 10)), np.ones((8, 9, 11), dtype=int))
