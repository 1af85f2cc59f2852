import numpy as np
import pytest

from sidecut.images import appearance
from sidecut.images.appearance import FLOOR, WIDTH, class_densities, pool_alike, texture


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
    monkeypatch.setattr(appearance, "MOST_EXAMPLES", 200)
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
