"""Leaving one out by algebra is the same as refitting without it."""

import numpy as np
import pytest

from sidecut import Constraints
from sidecut.diagnostics.influence import (
    ALPHA,
    RIDGES,
    WIDTHS,
    score_labels,
    score_labels_by_places,
    score_links,
    spread_between,
)
from sidecut.graphs import Neighbors
from sidecut.methods.e2cp import propagate


@pytest.fixture
def graph():
    return Neighbors(5).build(np.random.default_rng(0).normal(size=(30, 2)))


def dense_spread(graph):
    """P = (1 - α)(I - α Ā)⁻¹ by its definition."""
    weights = graph.toarray()
    root = 1 / np.sqrt(weights.sum(axis=1))
    affinity = root[:, None] * weights * root
    return (1 - ALPHA) * np.linalg.inv(np.eye(len(weights)) - ALPHA * affinity)


def test_a_label_left_out_is_a_spreading_without_it(graph):
    points, classes = np.array([1, 4, 9, 16, 25, 28]), np.array([0, 0, 1, 1, 2, 2])
    shares = score_labels(*spread_between(graph, points), classes)
    full = dense_spread(graph)
    for place, point in enumerate(points):
        known = np.zeros((30, 3))
        known[points, classes] = 1.0
        known[point] = 0.0
        scores = (full @ known)[point] / (full @ known).sum(axis=0)
        np.testing.assert_allclose(shares[place], scores / scores.sum(), atol=1e-10)


def test_a_link_left_out_is_a_propagation_without_it(graph):
    must, cannot = [(1, 4), (9, 16), (4, 25)], [(1, 9), (16, 28)]
    known = Constraints.from_pairs(30, must_link=must, cannot_link=cannot)
    points = known.constrained_points
    between, _ = spread_between(graph, points)
    first, second = np.searchsorted(points, known.pairs).T
    found = score_links(between, first, second, known.strengths)
    lengths = np.linalg.norm(between, axis=1)
    for place, (i, j) in enumerate(known.pairs.tolist()):
        rest = Constraints.from_pairs(
            30,
            must_link=[pair for pair in must if pair != (i, j)],
            cannot_link=[pair for pair in cannot if pair != (i, j)],
        )
        belief = propagate(graph, rest, ALPHA).matrix.toarray()[i, j]
        scale = lengths[first[place]] * lengths[second[place]]
        assert found[place] * scale == pytest.approx(belief, abs=1e-12)


def test_of_the_only_label_of_its_class_nothing_is_foretold(graph):
    points, classes = np.array([1, 4, 9, 16]), np.array([0, 0, 0, 1])
    shares = score_labels(*spread_between(graph, points), classes)
    np.testing.assert_array_equal(shares[3], [0.5, 0.5])
    assert shares[0, 1] > 0


def test_of_a_label_that_nobody_reaches_nothing_is_foretold():
    shares = score_labels(np.eye(3), np.ones(3), np.array([0, 0, 1]))
    np.testing.assert_array_equal(shares, np.full((3, 2), 0.5))


def test_labels_by_features_are_those_of_a_refit_without_the_label():
    rng = np.random.default_rng(0)
    rows, classes = rng.normal(size=(12, 3)), np.arange(12) % 3
    squared = ((rows[:, None] - rows[None]) ** 2).sum(axis=2)
    unit = np.median(squared[squared > 0])
    found = iter(score_labels_by_places(rows, classes))
    for width in WIDTHS:
        kernel = np.exp(-squared / (width * unit)) + 1
        for ridge in RIDGES:
            shares = next(found)
            for left in range(12):
                kept = np.arange(12) != left
                weights = np.linalg.solve(
                    kernel[np.ix_(kept, kept)] + ridge * np.eye(11), np.eye(3)[classes[kept]]
                )
                foretold = np.exp(4 * kernel[left, kept] @ weights)
                np.testing.assert_allclose(shares[left], foretold / foretold.sum(), atol=1e-9)
    assert next(found, None) is None


def test_labels_by_features_of_points_that_are_all_alike():
    shares = score_labels_by_places(np.ones((4, 2)), np.array([0, 0, 1, 1]))
    assert all(np.isfinite(one).all() for one in shares)
