import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.colors import to_rgb

from sidecut.plots.canvas import CANNOT, align_clusters, cluster_styles


def luminance(colour):
    """Relative luminance as the web's contrast rules define it."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
    return float(np.dot([0.2126, 0.7152, 0.0722], linear))


def contrast(first, second):
    low, high = sorted([luminance(first), luminance(second)])
    return (high + 0.05) / (low + 0.05)


def test_every_colour_shows_on_white_and_on_dark_paper():
    for colour, _ in cluster_styles(10):
        assert contrast(colour, "white") > 1.8
        assert contrast(colour, "#1c1f25") > 1.8


def test_no_two_clusters_look_alike_and_none_like_a_cannot_link():
    styles = cluster_styles(70)
    assert len(set(styles)) == 70
    distances = [np.abs(np.subtract(to_rgb(colour), to_rgb(CANNOT))).max() for colour, _ in styles]
    assert min(distances) > 0.25


@given(st.lists(st.integers(0, 4), min_size=1, max_size=40), st.integers(0, 2**16))
def test_aligning_only_renames(reference, seed):
    labels = np.random.default_rng(seed).integers(0, 6, len(reference))
    aligned = align_clusters(labels, reference)
    same_before = labels[:, None] == labels
    same_after = aligned[:, None] == aligned
    np.testing.assert_array_equal(same_before, same_after)


@given(st.lists(st.integers(0, 4), min_size=1, max_size=40), st.permutations(range(5)))
def test_a_renamed_clustering_is_recognised(reference, names):
    reference = np.unique(reference, return_inverse=True)[1]
    renamed = np.array(names)[reference]
    np.testing.assert_array_equal(align_clusters(renamed, reference), reference)
