from functools import partial

import numpy as np
import pytest

from sidecut import CSP, Constraints
from sidecut.plots import plot_indicator

# The methods themselves are tested here; the guard has tests of its own.
CSP = partial(CSP, safe=False)


def lines(ax):
    return {line.get_gid(): line for line in ax.lines if line.get_gid()}


def test_the_profile_is_sorted_and_cut_at_zero():
    ax = plot_indicator(np.array([0.5, -1.0, 2.0, -0.5, 1.0]))
    drawn = lines(ax)
    np.testing.assert_array_equal(drawn["negative"].get_ydata(), [-1.0, -0.5])
    np.testing.assert_array_equal(drawn["positive"].get_ydata(), [0.5, 1.0, 2.0])
    assert drawn["cut"].get_xdata()[0] == 2.5
    assert [text.get_text() for text in ax.texts] == ["2 | 3"]


def test_a_one_sided_indicator_has_no_cut():
    assert "cut" not in lines(plot_indicator(np.array([0.5, 1.0])))


def test_points_are_coloured_by_side_with_grey_for_the_undecided():
    X = np.arange(8.0).reshape(4, 2)
    ax = plot_indicator(np.array([-2.0, 2.0, 0.0, -2.0]), X, title="Sides")
    (points,) = (artist for artist in ax.collections if artist.get_gid() == "points")
    values, places = np.asarray(points.get_array()), np.asarray(points.get_offsets())
    for value, place in zip([-2.0, 2.0, 0.0, -2.0], X, strict=True):
        assert value in values[np.all(places == place, axis=1)]
    assert points.norm.vmin == -points.norm.vmax
    assert points.norm(0.0) == 0.5
    assert ax.get_title(loc="left") == "Sides"


def test_a_fitted_model_is_drawn_by_its_indicator():
    X = np.random.default_rng(0).normal(size=(40, 2))
    known = Constraints.from_pairs(40, cannot_link=[(0, 1)])
    model = CSP(2, n_neighbors=8).fit(X, constraints=known)
    drawn = lines(plot_indicator(model))
    shown = np.concatenate([drawn["negative"].get_ydata(), drawn["positive"].get_ydata()])
    np.testing.assert_array_equal(shown, np.sort(model.indicator_))


def test_what_is_no_indicator_is_refused():
    with pytest.raises(ValueError, match="fit a CSP"):
        plot_indicator(CSP(2))
    with pytest.raises(ValueError, match="finite"):
        plot_indicator([1.0, np.nan])
    with pytest.raises(ValueError, match="two coordinates"):
        plot_indicator([1.0, -1.0], np.zeros((3, 2)))
