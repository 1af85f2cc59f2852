import numpy as np
import pytest

from sidecut.exceptions import GraphWarning
from sidecut.images import color_width, pixel_graph

SIGMA_P, SIGMA_C = 1.7, 0.4


def squared_distances(image):
    """Squared distances in position and in colour, pair by pair."""
    height, width = image.shape[:2]
    colors = image.reshape(height * width, -1)
    n = height * width
    position, color = np.zeros((n, n)), np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            position[i, j] = (i // width - j // width) ** 2 + (i % width - j % width) ** 2
            color[i, j] = sum((a - b) ** 2 for a, b in zip(colors[i], colors[j], strict=True))
    return position, color


@pytest.mark.parametrize("kind", ["grey", "colour"])
@pytest.mark.parametrize("radius", [1, 2.3, 5, np.inf])
def test_radius_graph_equals_the_double_loop(small_pictures, kind, radius):
    image = small_pictures[kind]
    position, color = squared_distances(image)
    literal = np.exp(-position / (2 * SIGMA_P**2) - color / (2 * SIGMA_C**2))
    literal[(position == 0) | (position > radius**2)] = 0
    graph = pixel_graph(image, radius=radius, sigma_position=SIGMA_P, sigma_color=SIGMA_C)
    np.testing.assert_allclose(graph.toarray(), literal, rtol=1e-12)
    assert graph.n_edges == np.count_nonzero(literal) // 2


@pytest.mark.parametrize("kind", ["grey", "colour"])
def test_neighbour_graph_equals_the_double_loop(small_pictures, kind):
    image = small_pictures[kind]
    position, color = squared_distances(image)
    exponent = position / SIGMA_P**2 + color / SIGMA_C**2
    np.fill_diagonal(exponent, np.inf)
    directed = np.zeros_like(exponent)
    for i, row in enumerate(exponent):
        nearest = np.argsort(row)[:4]
        directed[i, nearest] = np.exp(-row[nearest] / 2)
    graph = pixel_graph(image, n_neighbors=4, sigma_position=SIGMA_P, sigma_color=SIGMA_C)
    np.testing.assert_allclose(graph.toarray(), (directed + directed.T) / 2, rtol=1e-9)


def test_nodes_are_pixels_in_reading_order():
    image = np.zeros((3, 4))
    image[1, 2] = 5.0
    graph = pixel_graph(image, radius=1, sigma_color=1.0)
    different = graph.degrees.reshape(3, 4) < graph.degrees.max() / 2
    lonely = np.unravel_index(np.argmin(graph.degrees), (3, 4))
    assert lonely == (1, 2)
    assert different[1, 2]


@pytest.mark.parametrize("shape", [(1, 9), (9, 1), (1, 2), (2, 7)])
def test_thin_pictures_are_paths_and_ladders(shape):
    graph = pixel_graph(np.zeros(shape), radius=1)
    height, width = shape
    assert graph.n_edges == height * (width - 1) + width * (height - 1)
    assert graph.n_components == 1


def test_a_picture_turned_on_its_side_has_the_same_weights(small_pictures):
    image = small_pictures["colour"]
    order = np.arange(42).reshape(7, 6).T.ravel()
    turned = pixel_graph(image.transpose(1, 0, 2), radius=3).toarray()
    np.testing.assert_allclose(
        turned, pixel_graph(image, radius=3).toarray()[np.ix_(order, order)], rtol=1e-12
    )


@pytest.mark.parametrize("factor", [1e-3, 255.0])
def test_default_weights_do_not_depend_on_the_unit_of_the_picture(small_pictures, factor):
    image = small_pictures["grey"]
    scaled = pixel_graph(factor * image).toarray()
    np.testing.assert_allclose(scaled, pixel_graph(image).toarray(), rtol=1e-9)


def test_types_of_one_picture_give_one_graph():
    eight = np.random.default_rng(0).integers(0, 256, (6, 5, 3)).astype(np.uint8)
    alpha = np.concatenate([eight, np.full((6, 5, 1), 9, np.uint8)], axis=2)
    wanted = pixel_graph(eight).toarray()
    for other in (eight / 255, 257 * eight.astype(np.uint16), alpha):
        np.testing.assert_allclose(pixel_graph(other).toarray(), wanted, rtol=1e-9)


def test_a_flat_picture_has_weights_by_position_only():
    weights = pixel_graph(np.full((4, 4), 0.3), radius=2, sigma_position=1.0).toarray()
    assert weights[0, 1] == pytest.approx(np.exp(-0.5))
    assert weights[0, 5] == pytest.approx(np.exp(-1.0))


def test_colour_width_is_texture_or_a_share_of_contrast():
    rng = np.random.default_rng(0)
    noisy = 0.5 + 0.1 * rng.normal(size=(200, 200))
    # The difference of two normal numbers has a mean size of 2σ/√π.
    assert color_width(noisy) == pytest.approx(0.2 / np.sqrt(np.pi), rel=0.01)
    halves = np.repeat([0.0, 1.0], 100)[None, :] * np.ones((100, 1))
    assert color_width(halves) == pytest.approx(0.2 * 0.5)
    assert color_width(np.full((3, 3), 0.7)) == 1.0


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"radius": 0.5}, "radius=0.5"),
        ({"radius": np.nan}, "radius=nan"),
        ({"sigma_color": 0}, "sigma_color=0"),
        ({"sigma_position": -1.0}, r"sigma_position=-1.0"),
        ({"n_neighbors": 0}, "n_neighbors=0"),
    ],
)
def test_widths_and_radii_that_make_no_sense_are_named(options, complaint):
    with pytest.raises(ValueError, match=complaint):
        pixel_graph(np.zeros((4, 4)), **options)


def test_one_pixel_cannot_be_cut():
    with pytest.raises(ValueError, match="single pixel"):
        pixel_graph(np.zeros((1, 1)))


def test_weights_lost_to_underflow_are_told():
    image = np.repeat([0.0, 1.0], 3)[None, :] * np.ones((4, 1))
    with pytest.warns(GraphWarning, match="underflow to zero with .* sigma_color=0.01"):
        graph = pixel_graph(image, sigma_color=0.01)
    assert graph.n_components == 2
