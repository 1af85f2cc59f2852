import numpy as np
import pytest

from sidecut.plots import plot_eigenvalues


def dots(ax):
    return {artist.get_gid(): artist for artist in ax.collections if artist.get_gid()}


def test_used_and_unused_eigenvalues_are_told_apart():
    drawn = dots(plot_eigenvalues([0.5, 0.0, 0.1, 0.9], n_clusters=2))
    np.testing.assert_array_equal(drawn["used"].get_offsets(), [[1, 0.0], [2, 0.1]])
    np.testing.assert_array_equal(drawn["unused"].get_offsets(), [[3, 0.5], [4, 0.9]])
    assert len(drawn["unused"].get_facecolor()) == 0


def test_the_gap_is_marked_between_the_eigenvalues_it_separates():
    ax = plot_eigenvalues([0.0, 0.1, 0.5, 0.9], n_clusters=2)
    (band,) = [patch for patch in ax.patches if patch.get_gid() == "gap"]
    assert band.get_y() == pytest.approx(0.1)
    assert band.get_height() == pytest.approx(0.4)
    assert [text.get_text() for text in ax.texts] == ["gap 0.4"]


def test_no_gap_is_marked_when_nothing_follows():
    ax = plot_eigenvalues([0.0, 0.1], n_clusters=2)
    assert not ax.patches
    assert not ax.texts


@pytest.mark.parametrize("values", [[], [0.0, np.nan]])
def test_eigenvalues_that_are_none_are_refused(values):
    with pytest.raises(ValueError, match="finite"):
        plot_eigenvalues(values, 1)
