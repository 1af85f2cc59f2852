import numpy as np
import pytest

from sidecut import Constraints
from sidecut.graphs import Neighbors
from sidecut.methods.e2cp import propagate
from sidecut.plots import plot_propagated_links

X = np.random.default_rng(0).normal(size=(40, 2))
F = propagate(Neighbors(5).build(X), Constraints.from_pairs(40, must_link=[(0, 1)], cannot_link=[(2, 3)]))


def lines_of(ax):
    return {lines.get_label().split()[0]: lines for lines in ax.collections[1:]}


def test_lines_join_the_strongest_pairs():
    drawn = lines_of(plot_propagated_links(X, F, n_pairs=50))
    pairs, strengths = F.strongest(50)
    for word, here in (("together", strengths > 0), ("apart", strengths < 0)):
        np.testing.assert_allclose(drawn[word].get_segments(), X[pairs[here]])
        assert drawn[word].get_label() == f"{word} ({here.sum()})"


def test_confidence_is_opacity():
    drawn = lines_of(plot_propagated_links(X, F, n_pairs=50))
    strengths = F.strongest(50)[1]
    together = strengths[strengths > 0]
    np.testing.assert_allclose(
        drawn["together"].get_colors()[:, 3], 0.1 + 0.9 * together / np.abs(strengths).max()
    )


def test_pairs_of_little_confidence_are_left_out():
    strengths = np.abs(F.strongest(50)[1])
    drawn = lines_of(plot_propagated_links(X, F, n_pairs=50, at_least=strengths[9]))
    assert sum(len(lines.get_segments()) for lines in drawn.values()) == np.sum(strengths >= strengths[9])


def test_nothing_known_draws_points_alone():
    nothing = propagate(Neighbors(5).build(X), Constraints.none(40))
    ax = plot_propagated_links(X, nothing)
    assert len(ax.collections) == 1
    assert ax.get_legend() is None


def test_points_must_be_in_the_plane():
    with pytest.raises(ValueError, match=r"points has shape \(40, 3\): two coordinates for each of 40"):
        plot_propagated_links(np.zeros((40, 3)), F)
