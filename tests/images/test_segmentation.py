import importlib

import numpy as np
import pytest

from sidecut import CSP, NormalizedCut, SpectralLearning
from sidecut.exceptions import ConstraintError
from sidecut.images import RegionGraph, Seeds, pixel_graph, segment, touching_discs
from sidecut.images.files import read_labels
from sidecut.images.spectral_cut import mark_other_segments

#: The name of the module is that of the function, too.
region_module = importlib.import_module("sidecut.images.region_graph")


def accuracy_on_discs(labels, truth):
    """Share of disc pixels in the segment of their disc, whichever is called 0."""
    right = (labels == truth - 1)[truth > 0].mean()
    return max(right, 1 - right)


@pytest.mark.parametrize("seed", range(3))
def test_two_boxes_separate_what_no_unsupervised_cut_does(boxes, seed):
    image, truth = touching_discs(random_state=seed)
    plain = segment(image)
    assert accuracy_on_discs(plain.labels, truth) < 0.6
    marked = segment(image, boxes=boxes)
    # Segment 0 is the left disc because its class comes first, not by luck.
    assert (marked.labels == truth - 1)[truth > 0].mean() > 0.95
    assert marked.constraints.satisfaction(marked.labels.ravel()) == 1


def test_three_classes_are_three_segments(discs, boxes):
    image, truth = discs
    ground = [("under", 2, 30, 3, 12), ("under", 42, 30, 3, 12)]
    result = segment(image, boxes=boxes + ground)
    assert result.seeds.classes == ("left", "right", "under")
    assert (result.labels == (truth - 1) % 3).mean() > 0.97


def test_boxes_label_images_and_strokes_mean_the_same(discs, boxes):
    image, _ = discs
    by_boxes = segment(image, boxes=boxes)
    codes = by_boxes.seeds.codes
    by_labels = segment(image, 3 * (codes + 1))
    strokes = np.zeros((*image.shape, 4), dtype=np.uint8)
    strokes[codes == 0] = (0, 0, 255, 255)
    strokes[codes == 1] = (255, 0, 0, 255)
    by_strokes = segment(image, strokes)
    for other in (by_labels, by_strokes, segment(image, by_boxes.seeds)):
        np.testing.assert_array_equal(other.codes, by_boxes.codes)
        np.testing.assert_array_equal(other.indicator, by_boxes.indicator)
    # A label image in, a label image out, in its own numbers; names are numbered from 0.
    np.testing.assert_array_equal(by_labels.labels, 3 * (by_boxes.labels + 1))
    np.testing.assert_array_equal(by_boxes.labels, by_boxes.codes)


def test_the_indicator_of_csp_decides_the_segments(discs, boxes):
    result = segment(discs[0], boxes=boxes, radius=5)
    np.testing.assert_array_equal(result.labels == 1, result.indicator > 0)
    u = result.indicator.ravel()
    # u* satisfies eq. 13 of CSP and is scaled so that uᵀDu = vol.
    assert u**2 @ result.graph.degrees == pytest.approx(result.graph.volume)
    assert u @ result.constraints.apply(u) > result.model.beta_


def test_probabilities_decide_the_segments(discs, boxes):
    ground = [("under", 2, 30, 3, 12), ("under", 42, 30, 3, 12)]
    result = segment(discs[0], boxes=boxes + ground)
    np.testing.assert_array_equal(result.probabilities.argmax(axis=-1), result.codes)
    np.testing.assert_allclose(result.probabilities.sum(axis=-1), 1.0, atol=1e-5)
    assert result.indicator is None
    with pytest.raises(ValueError, match="no indicator of 3 segments"):
        result.heat_map()
    two = segment(discs[0], boxes=boxes)
    np.testing.assert_array_equal(two.indicator > 0, two.codes == 1)


def test_without_marks_the_picture_is_cut_by_the_second_eigenvector(discs):
    image, _ = discs
    result = segment(image)
    assert isinstance(result.model, NormalizedCut)
    np.testing.assert_array_equal(result.labels == 1, result.indicator > 0)
    u = result.indicator.ravel()
    residual = result.graph.apply(u) / result.graph.degrees - (1 - result.model.eigenvalues_[1]) * u
    assert np.abs(residual).max() < 1e-6 * np.abs(u).max()


def test_must_links_alone_join_what_is_apart():
    """Figure 6(c) of CSP: two marks of one class join the background on both sides of a bar."""
    rng = np.random.default_rng(0)
    truth = np.zeros((24, 36), dtype=int)
    truth[:, 14:22] = 1
    image = np.where(truth == 1, 0.3, 0.7) + 0.03 * rng.normal(size=truth.shape)
    image[:, 22:] -= 0.1
    result = segment(image, boxes=[("ground", 10, 4, 4, 4), ("ground", 10, 28, 4, 4)])
    assert result.model.n_clusters == 2
    right = (segment(image).labels == truth).mean()
    assert max(right, 1 - right) < 0.8
    assert (result.labels == truth).mean() > 0.9


def test_marks_of_very_different_size_are_both_kept(discs):
    image, truth = discs
    marks = [("left", 10, 20, 24, 10), ("right", 22, 50, 2, 2)]
    for result, least in ((segment(image, boxes=marks), 0.8), (segment(image, boxes=marks, radius=5), 0.9)):
        assert (result.labels == truth - 1)[truth > 0].mean() > least
        assert result.constraints.satisfaction(result.labels.ravel()) == 1


def test_any_method_cuts_the_picture(discs, boxes):
    image, truth = discs
    method = SpectralLearning(7, random_state=0)
    result = segment(image, boxes=boxes, method=method)
    assert isinstance(result.model, SpectralLearning)
    assert result.model.n_clusters == 2
    assert method.n_clusters == 7
    literal = segment(image, boxes=boxes, method=CSP(beta="eq19", random_state=0))
    assert literal.model.beta_ > 10 * segment(image, boxes=boxes, radius=5).model.beta_
    assert (literal.labels == truth - 1)[truth > 0].mean() > 0.9


def test_a_graph_made_before_gives_the_same_segments(discs, boxes):
    image, _ = discs
    graph = pixel_graph(image, radius=3)
    again = segment(image, boxes=boxes, graph=graph)
    np.testing.assert_array_equal(again.labels, segment(image, boxes=boxes, radius=3).labels)
    with pytest.raises(ValueError, match="12 nodes, the image 48 x 72"):
        segment(image, boxes=boxes, graph=pixel_graph(np.zeros((3, 4))))


def test_large_pictures_without_marks_are_linked_less(monkeypatch, discs, boxes):
    image, _ = discs
    monkeypatch.setattr("sidecut.images.spectral_cut.MAX_PIXELS", image.size - 1)
    assert segment(image, method=NormalizedCut(2)).graph.n_edges == pixel_graph(image, radius=2).n_edges
    assert segment(image, radius=3).graph.n_edges == pixel_graph(image, radius=3).n_edges
    assert segment(image, boxes=boxes, balance=True).graph.n_edges == pixel_graph(image).n_edges


def test_large_pictures_without_marks_are_cut_by_regions(monkeypatch, discs):
    """A photograph took half a minute, and the cut was five pixels of it."""
    image, _ = discs
    monkeypatch.setattr("sidecut.images.spectral_cut.MAX_PIXELS", image.size - 1)
    result = segment(image)
    assert isinstance(result.graph, RegionGraph)
    assert isinstance(result.model, NormalizedCut)
    assert result.codes.shape == image.shape
    assert np.mean((result.codes == 1) == (result.indicator > 0)) > 0.9
    assert min(np.bincount(result.codes.ravel())) > 0.1 * image.size
    np.testing.assert_array_equal(segment(image, graph=result.graph).codes, result.codes)
    # At half its size first, every region is a patch of the picture.
    monkeypatch.setattr(region_module, "MAX_PIXELS", image.size // 3)
    halved = segment(image[:-1, :-1])
    assert halved.codes.shape == (image.shape[0] - 1, image.shape[1] - 1)


def test_more_segments_than_classes_and_not_fewer(discs, boxes):
    image, _ = discs
    result = segment(image, n_segments=3)
    assert np.unique(result.labels).tolist() == [0, 1, 2]
    with pytest.raises(ConstraintError, match=r"3 classes \(a, left, right\), and 2 segments"):
        segment(image, boxes=[("a", 0, 0, 2, 2), *boxes], n_segments=2)


def test_nothing_marked_is_said(discs):
    image, _ = discs
    with pytest.raises(ConstraintError, match="Nothing is marked"):
        segment(image, np.zeros(image.shape, dtype=int))


@pytest.mark.parametrize("shape", [(1, 40), (40, 1), (3, 20)])
def test_thin_pictures_are_cut_between_their_marks(shape):
    image = np.zeros(shape)
    last = (shape[0] - 1, shape[1] - 1)
    codes = np.full(shape, -1)
    codes[0, 0], codes[last] = 0, 1
    result = segment(image, Seeds(codes, ("first", "last")))
    assert result.labels.shape == shape
    assert result.labels[0, 0] == 0
    assert result.labels[last] == 1
    # A flat picture: the cut lies in the middle.
    assert abs(int(result.sizes[0]) - int(result.sizes[1])) <= 3


@pytest.mark.parametrize("kind", [np.uint8, np.uint16])
def test_types_and_alpha_do_not_change_the_segments(discs, boxes, kind):
    image, truth = discs
    white = np.iinfo(kind).max
    whole = np.round(white * image).astype(kind)
    rgba = np.dstack([whole, whole, whole, np.full_like(whole, white)])
    for picture in (whole, rgba):
        labels = segment(picture, boxes=boxes).labels
        assert (labels == truth - 1)[truth > 0].mean() > 0.95


def test_a_missing_pixel_is_refused(discs, boxes):
    image = discs[0].copy()
    image[3, 4] = np.nan
    with pytest.raises(ValueError, match=r"image\[3, 4\] = nan"):
        segment(image, boxes=boxes)


@pytest.mark.parametrize("name", ["labels.npy", "labels.png"])
def test_saved_labels_come_back(discs, boxes, tmp_path, name):
    result = segment(discs[0], boxes=boxes)
    result.save(tmp_path / name)
    np.testing.assert_array_equal(read_labels(tmp_path / name), result.labels)


def test_a_segmentation_says_what_it_is(discs, boxes):
    result = segment(discs[0], boxes=boxes)
    assert repr(result).startswith("Segmentation(48 x 72, RegionCut, sizes ")
    assert repr(segment(discs[0], boxes=boxes, radius=3)).startswith("Segmentation(48 x 72, CSP, sizes ")
    assert result.sizes.sum() == 48 * 72
    assert result.overlay(discs[0], enlarge=2).shape == (96, 144, 3)
    assert result.heat_map().shape == (48, 72, 3)


def three_bands(seed):
    """Return a noisy picture of three bands of colour, and the band of every pixel."""
    truth = np.repeat([0, 1, 2], 20)[None, :].repeat(40, axis=0)
    colors = np.array([[0.2, 0.5, 0.2], [0.7, 0.3, 0.3], [0.2, 0.3, 0.8]])
    noise = np.random.default_rng(seed).normal(0, 0.05, (40, 60, 3))
    return np.clip(colors[truth] + noise, 0, 1), truth


@pytest.mark.parametrize("seed", [0, 1])
def test_every_mark_is_kept_where_more_segments_are_wanted_than_are_marked(seed):
    image, truth = three_bands(seed)
    marks = np.zeros_like(truth)
    marks[5:35, 5], marks[5:35, 30] = 4, 9
    # A stroke that is drawn too far: its end lies in the band that nobody marked.
    marks[20, 30:48] = 9
    result = segment(image, marks, n_segments=3)
    assert result.n_marks_lost == 0
    np.testing.assert_array_equal(result.labels[marks > 0], marks[marks > 0])
    assert set(np.unique(result.labels)) == {4, 9, 10}
    far = np.s_[:10, 45:]
    assert np.all(result.labels[far] == 10)
    assert result.probabilities.shape == (40, 60, 3)


def test_inner_pixels_of_segments_without_a_class_count_as_marks():
    segments = np.zeros((9, 20), dtype=int)
    segments[:, 8:] = 2
    marks = np.full((9, 20), -1)
    marks[4, 2], marks[4, 12] = 0, 1
    found = mark_other_segments(segments, marks, n_classes=2)
    np.testing.assert_array_equal(found[marks >= 0], marks[marks >= 0])
    added = (found == 2) & (marks < 0)
    assert added.any()
    assert np.all(segments[added] == 2)
    # Neither at the border of the segment nor beside a mark.
    assert not added[:, 8:10].any()
    assert not added[3:6, 11:14].any()


def test_a_part_that_holds_a_mark_is_not_taken_while_there_are_others():
    segments = np.zeros((9, 30), dtype=int)
    segments[:, 6:14], segments[:, 20:] = 2, 2
    marks = np.full((9, 30), -1)
    marks[4, 2], marks[4, 9] = 0, 1
    found = mark_other_segments(segments, marks, n_classes=2)
    assert not (found[:, 6:14] == 2).any()
    assert (found[:, 20:] == 2).any()
