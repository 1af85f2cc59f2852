import numpy as np
import pytest

from sidecut.constraints import Constraints
from sidecut.plots import plot_before_after, plot_embedding, plot_update
from sidecut.plots.embedding import MAX_SHARP_POINTS


def points_of(ax):
    return {artist.get_gid(): artist for artist in ax.collections if artist.get_gid()}


def lines_of(ax):
    return {artist.get_label(): artist for artist in ax.collections if not artist.get_gid()}


@pytest.fixture
def cloud():
    rng = np.random.default_rng(0)
    return rng.normal(size=(30, 2)), rng.integers(0, 3, 30)


def test_each_cluster_is_drawn_where_its_points_are(cloud):
    X, labels = cloud
    drawn = points_of(plot_embedding(X, labels))
    assert set(drawn) == {"cluster-0", "cluster-1", "cluster-2"}
    for cluster in range(3):
        offsets = drawn[f"cluster-{cluster}"].get_offsets()
        np.testing.assert_array_equal(offsets, X[labels == cluster])


def test_constraints_are_drawn_and_explained(cloud):
    X, labels = cloud
    constraints = Constraints.from_pairs(30, must_link=[(0, 1), (1, 2)], cannot_link=[(2, 3), (4, 9)])
    ax = plot_embedding(X, labels, constraints)
    lines = lines_of(ax)
    assert sum(len(group.get_segments()) for group in lines.values()) == 4
    assert {text.get_text() for text in ax.get_legend().get_texts()} == set(lines)


def test_only_constrained_points_have_a_rim(cloud):
    X, labels = cloud
    constraints = Constraints.from_pairs(30, must_link=[(3, 7)], cannot_link=[(7, 11)])
    drawn = points_of(plot_embedding(X, labels, constraints))
    widths = np.empty(30)
    for cluster in range(3):
        widths[labels == cluster] = drawn[f"cluster-{cluster}"].get_linewidths()
    np.testing.assert_array_equal(np.flatnonzero(widths), [3, 7, 11])


def test_too_many_links_are_sampled_and_the_legend_says_so():
    n = 60
    constraints = Constraints.from_pairs(n, must_link=np.column_stack(np.triu_indices(n, k=1)))
    ax = plot_embedding(np.random.default_rng(0).normal(size=(n, 2)), np.zeros(n, dtype=int), constraints)
    (caption,) = lines_of(ax)
    assert caption == "must-link (200 of 1,770 drawn)"


def test_known_labels_are_ringed_and_misplaced_ones_crossed_out():
    X = np.array([[0.0, 0], [1, 0], [2, 0], [8, 0], [9, 0], [10, 0]])
    known = Constraints.from_labels(["a", "a", "a", "b", "b", None])
    # The cluster of "b" holds one point of class "a".
    ax = plot_embedding(X, [1, 1, 0, 0, 0, 0], known)
    drawn = points_of(ax)
    assert lines_of(ax) == {}
    np.testing.assert_array_equal(drawn["known"].get_offsets(), X[:5])
    np.testing.assert_array_equal(drawn["misplaced"].get_offsets(), X[2:3])
    captions = [text.get_text() for text in ax.get_legend().get_texts()]
    assert captions == ["label known (5)", "in the cluster of another class (1)"]


@pytest.mark.parametrize(("n", "is_raster"), [(MAX_SHARP_POINTS, False), (MAX_SHARP_POINTS + 1, True)])
def test_many_points_are_rasterised_and_transparent(n, is_raster):
    (drawn,) = points_of(plot_embedding(np.zeros((n, 2)), np.zeros(n, dtype=int))).values()
    assert bool(drawn.get_rasterized()) is is_raster
    assert (drawn.get_alpha() < 0.6) is is_raster


def test_given_axes_are_drawn_on_and_no_global_figure_is_made(cloud):
    from matplotlib import pyplot
    from matplotlib.figure import Figure

    X, labels = cloud
    pyplot.close("all")
    ax = Figure().add_subplot()
    assert plot_embedding(X, labels, ax=ax) is ax
    plot_embedding(X, labels)
    plot_before_after(X, labels, labels)
    assert pyplot.get_fignums() == []


def test_before_and_after_use_the_same_colour_for_the_same_group(cloud):
    X, labels = cloud
    left, right = plot_before_after(X, labels, (labels + 1) % 3)
    for name, artist in points_of(left).items():
        np.testing.assert_array_equal(artist.get_offsets(), points_of(right)[name].get_offsets())
        np.testing.assert_array_equal(artist.get_facecolor(), points_of(right)[name].get_facecolor())


def test_an_update_is_drawn_in_the_colours_of_before_and_marks_what_is_new_moved_or_doubtful():
    X = np.arange(12.0).reshape(6, 2)
    left, right = plot_update(X, [0, 0, 2, 2], [0, 2, 2, 2, 0, 5], doubtful=[4], names={2: "Ann"})
    np.testing.assert_array_equal(points_of(left)["cluster-2"].get_offsets(), X[2:4])
    drawn = [some for some in right.collections if len(some.get_offsets())]
    sizes = {tuple(row): some.get_sizes()[0] for some in drawn for row in some.get_offsets().tolist()}
    large = max(sizes.values())
    assert [sizes[tuple(row)] == large for row in X.tolist()] == [False, True, False, False, True, True]
    rings = [some for some in drawn if len(some.get_facecolor()) == 0]
    assert [some.get_offsets().tolist() for some in rings] == [X[4:5].tolist()]
    same = next(some for some in drawn if X[3].tolist() in some.get_offsets().tolist())
    before = points_of(left)["cluster-2"].get_facecolor()[0]
    np.testing.assert_array_equal(same.get_facecolor()[0][:3], before[:3])
    assert [text.get_text() for text in right.texts] == ["Ann"]
    assert right.get_title(loc="left") == "After: 2 new points"


def test_text_labels_are_numbered_in_order():
    drawn = points_of(plot_embedding([[0, 0], [1, 1], [2, 2]], ["b", "a", "b"]))
    np.testing.assert_array_equal(drawn["cluster-0"].get_offsets(), [[1, 1]])


@pytest.mark.parametrize(
    ("X", "labels", "constraints", "complaint"),
    [
        (np.zeros((3, 3)), [0, 0, 0], None, "two columns"),
        (np.zeros((3, 2)), [0, 0], None, "one label for each of 3 points"),
        (np.zeros((3, 2)), [0, 0, 0], Constraints.none(4), "about 4 points and the picture has 3"),
    ],
)
def test_what_does_not_fit_is_refused(X, labels, constraints, complaint):
    with pytest.raises(ValueError, match=complaint):
        plot_embedding(X, labels, constraints)


@pytest.mark.parametrize(
    ("text", "ground"), [("black", "#ffffff"), ("#1d2129", "#ffffff"), ("#e8eaee", "#14161a")]
)
def test_names_are_readable_on_light_and_on_dark_paper(text, ground):
    import matplotlib
    from matplotlib.colors import to_hex

    with matplotlib.rc_context({"text.color": text}):
        ax = plot_embedding([[0, 0], [1, 0]], [0, 0], names={0: "Ann"})
    assert to_hex(ax.texts[0].get_bbox_patch().get_facecolor()) == ground


def test_noise_is_grey_and_no_cluster_changes_its_colour(cloud):
    X, labels = cloud
    with_noise = np.where(np.arange(30) < 5, -1, labels)
    before, drawn = (points_of(plot_embedding(X, some)) for some in (labels, with_noise))
    colours = {gid: tuple(artist.get_facecolor()[0]) for gid, artist in drawn.items()}
    assert set(drawn) == {"cluster--1", "cluster-0", "cluster-1", "cluster-2"}
    assert len(set(colours.values())) == 4
    for gid, artist in before.items():
        assert colours[gid] == tuple(artist.get_facecolor()[0])


def test_noise_stays_noise_beside_clusters_without_constraints(cloud):
    X, labels = cloud
    before, after = np.where(np.arange(30) < 5, -1, labels), np.where(np.arange(30) < 9, -1, (labels + 1) % 3)
    for ax, some in zip(plot_before_after(X, before, after), (before, after), strict=True):
        drawn = points_of(ax)
        np.testing.assert_array_equal(drawn["cluster--1"].get_offsets(), X[some == -1])
        for number in range(3):
            # The same groups have the same numbers.
            np.testing.assert_array_equal(
                drawn[f"cluster-{number}"].get_offsets(), X[(labels == number) & (some >= 0)]
            )
