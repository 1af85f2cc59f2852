import numpy as np
import pytest

from sidecut.methods.csap import equivalent_kernel
from sidecut.plots import plot_equivalent_kernel

X = np.linspace(0, 6, 25)
K = np.exp(-0.5 * (X[:, None] - X) ** 2)


@pytest.mark.parametrize("kind", ["must", "cannot"])
@pytest.mark.parametrize("eps", [0.0, 0.5])
def test_pixels_are_the_equivalent_kernel_or_what_it_changed(kind, eps):
    linked = equivalent_kernel(K, (4, 20), kind, eps)
    after = plot_equivalent_kernel(K, (4, 20), kind, eps=eps)
    np.testing.assert_array_equal(after.images[0].get_array(), linked)
    change = plot_equivalent_kernel(K, (4, 20), kind, eps=eps, change=True)
    np.testing.assert_allclose(change.images[0].get_array(), linked - K, atol=1e-15)
    assert change.get_title() == f"change by a {kind}-link"


def test_zero_is_in_the_middle_of_the_colours():
    ax = plot_equivalent_kernel(K, (4, 20), "cannot")
    low, high = ax.images[0].get_clim()
    assert low == -high == -np.abs(equivalent_kernel(K, (4, 20), "cannot")).max()


def test_lines_mark_the_linked_points():
    solid = plot_equivalent_kernel(K, (4, 20), "must").lines
    dashed = plot_equivalent_kernel(K, (4, 20), "cannot").lines
    assert {4, 20} <= {line.get_ydata()[0] for line in solid}
    assert {line.get_linestyle() for line in solid} == {"-"}
    assert {line.get_linestyle() for line in dashed} == {"--"}


def test_it_is_drawn_where_told():
    ax = plot_equivalent_kernel(K, (4, 20))
    assert plot_equivalent_kernel(K, (1, 2), ax=ax) is ax
