from importlib import import_module

import numpy as np
import pytest

from sidecut.images.region_graph import (
    FLOOR,
    WIDTH,
    class_densities,
    class_palettes,
    color_bins,
    how_distinct,
    pool_alike,
    texture,
    with_colors,
)


def test_densities_are_kernel_averages():
    rng = np.random.default_rng(0)
    looks, weights = 20 * rng.random((30, 4)), rng.random((30, 3)) * (rng.random((30, 3)) > 0.5)
    literal = np.zeros((30, 3))
    for i in range(30):
        for c in range(3):
            kernel = [np.exp(-((looks[i] - looks[j]) ** 2).sum() / (2 * WIDTH**2)) for j in range(30)]
            literal[i, c] = np.dot(kernel, weights[:, c]) / weights[:, c].sum()
    np.testing.assert_allclose(class_densities(looks, weights), literal, atol=1e-5)


def test_of_many_examples_an_even_part_is_taken(monkeypatch):
    looks, weights = np.linspace(0, 50, 200)[:, None], np.ones((200, 1))
    whole = class_densities(looks, weights)
    monkeypatch.setattr(import_module("sidecut.images.region_graph"), "MAX_EXAMPLES", 200)
    np.testing.assert_allclose(whole, class_densities(looks, weights), atol=0.01)


def test_densities_are_pooled_by_what_marks_prove():
    rng = np.random.default_rng(0)
    densities, votes = rng.random((6, 3)), np.zeros((6, 3))
    votes[0, 0], votes[1, 1], votes[2, 1], votes[3, 2] = 3, 1, 2, 1
    likely = (densities + FLOOR) / (densities + FLOOR).sum(axis=1, keepdims=True)
    told = np.array([likely[0], (likely[1] + 2 * likely[2]) / 3, likely[3]])
    pooled = np.zeros((6, 3))
    for c in range(3):
        weights = [min(told[c, d] / told[c, c], 1.0) ** 4 for d in range(3)]
        pooled[:, c] = sum(weight * densities[:, d] for d, weight in enumerate(weights)) / sum(weights)
    np.testing.assert_allclose(pool_alike(densities, votes), pooled)


def test_classes_that_look_alike_are_not_told_apart_and_others_are():
    votes = np.eye(4, 3)
    # Classes 0 and 1 look the same on their marks, up to chance; class 2 does not.
    densities = np.array([[0.5, 0.49, 0.0], [0.49, 0.5, 0.0], [0.0, 0.0, 1.0], [0.5, 0.25, 0.0]])
    pooled = pool_alike(densities, votes)
    assert pooled[3, 0] / pooled[3, 1] < 1.05
    assert pooled[3, 2] < 1e-6
    np.testing.assert_allclose(pooled[2], [0, 0, 1], atol=1e-6)


@pytest.mark.parametrize("shape", [(40, 40), (30, 30, 30)])
def test_texture_is_the_standard_deviation_around_a_pixel(shape):
    noise = np.random.default_rng(0).normal(0, 5, size=shape)
    flat = [scale.mean() for scale in texture(np.full(shape, 30.0))]
    assert flat == pytest.approx([0, 0], abs=1e-5)
    assert texture(noise)[1].mean() == pytest.approx(5.0, rel=0.1)


def test_palettes_are_shares_of_pixels_and_sum_to_one(monkeypatch):
    monkeypatch.setattr(import_module("sidecut.images.region_graph"), "BIN_WIDTH", 0.0)
    bins = np.array([[0, 0, 5], [5, 5, 7]], dtype=np.uint16)
    codes = np.array([[0, 0, 0], [1, 1, 1]])
    is_sure = np.array([[True, False, True], [True, True, False]])
    palettes = class_palettes(bins, codes, is_sure, 2, 1)
    # One sure pixel and one that counts 0.3 in bin 0, one sure pixel in bin 5.
    np.testing.assert_allclose(palettes[0, [0, 5, 7]], np.array([1.3, 1.0, 0.0]) / 2.3)
    np.testing.assert_allclose(palettes[1, [0, 5, 7]], np.array([0.0, 2.0, 0.3]) / 2.3)
    np.testing.assert_allclose(palettes.sum(axis=1), 1.0)


def test_bins_divide_lab_evenly():
    colors = np.array([[0.0, -64.0, -64.0], [100.0, 63.9, 63.9], [5.1, 0.1, -0.1], [200.0, -90.0, 90.0]])
    literal = [0, 20 * 24 * 24 - 1, (1 * 24 + 12) * 24 + 11, (19 * 24 + 0) * 24 + 23]
    assert color_bins(colors).tolist() == literal


def test_colours_decide_between_what_is_believed_alike():
    palettes = np.array([[0.2, 0.0], [0.1, 0.4]])
    beliefs = np.array([[0.5, 0.5], [0.9, 0.1]])
    joined = with_colors(beliefs, palettes, np.array([0, 1]))
    literal = np.array([[0.52 * 0.2001, 0.52 * 0.1001], [0.92 * 0.0001, 0.12 * 0.4001]])
    np.testing.assert_allclose(joined, literal / literal.sum(axis=1, keepdims=True))
    nothing = with_colors(beliefs, palettes, np.array([0, 1]), 0.0)
    np.testing.assert_allclose(nothing, (beliefs + 0.02) / 1.04)


def test_classes_of_one_colour_are_not_distinct():
    """Half of the colours in common: a pixel of a common colour is a guess, any other is sure."""
    palettes = np.array([[0.5, 0.5, 0.0], [0.0, 0.5, 0.5]])
    # By colour the true class has 1 with probability 1/2 and 1/2 otherwise: 0.75, half way from a guess.
    assert how_distinct(palettes) == pytest.approx(0.5)
    # Of three classes, the two that are most alike count.
    assert how_distinct(np.array([[1.0, 0.0, 0.0], *palettes])) == pytest.approx(1 / 3)
    assert how_distinct(palettes[:1]) == 0.0
