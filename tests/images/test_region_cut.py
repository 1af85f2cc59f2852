import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import softmax

from sidecut.images import region_graph
from sidecut.images.marked_cut import cut_regions, lowest_barriers, walk_to_marks
from sidecut.images.region_graph import TEXTURE_WEIGHT, Elimination


@pytest.fixture(scope="module")
def graph():
    rng = np.random.default_rng(0)
    return region_graph(rng.random((12, 14, 3)), n_regions=25)


@pytest.fixture(scope="module")
def votes(graph):
    votes = np.zeros((25, 3))
    votes[3, 0], votes[8, 1], votes[20, 2], votes[11, :2] = 4, 2, 1, (1, 3)
    return votes


def test_weights_fall_with_the_strength_of_the_edge(graph):
    weights = graph.weights(2.0, 2.0).toarray()
    regions = graph.regions
    for i, j, length, strength in zip(
        regions.first, regions.second, regions.lengths, graph.strengths, strict=True
    ):
        assert weights[i, j] == weights[j, i] == pytest.approx(length * np.exp(-2 * strength**2), abs=1e-8)
    assert np.count_nonzero(weights) == 2 * graph.n_edges


def test_strengths_are_relative_to_the_picture(graph):
    square = np.average(graph.strengths**2, weights=graph.regions.lengths)
    assert square == pytest.approx(1.0)


def test_the_walk_is_an_absorbing_markov_chain(graph, votes):
    """Walk until a marked region: (I - P_uu)⁻¹ P_um z, where P = D⁻¹W."""
    weights = graph.weights(4.0, 2.0).toarray()
    chain = weights / weights.sum(axis=1, keepdims=True)
    known = votes.sum(axis=1) > 0
    ends = votes[known] / votes[known].sum(axis=1, keepdims=True)
    inner = np.eye((~known).sum()) - chain[np.ix_(~known, ~known)]
    reached = walk_to_marks(graph, votes)
    np.testing.assert_allclose(
        reached[~known], np.linalg.solve(inner, chain[np.ix_(~known, known)] @ ends), atol=1e-8
    )
    np.testing.assert_allclose(reached[known], ends)
    np.testing.assert_allclose(reached.sum(axis=1), 1.0, atol=1e-8)


def test_beliefs_join_at_the_least_energy(graph, votes):
    """The solution is the minimum of Σ w_ij (u_i - u_j)² / 2 + Σ g_i (u_i - p_i)² with marks held fast."""
    rng = np.random.default_rng(1)
    beliefs, pull = softmax(rng.normal(size=(25, 3)), axis=1), 0.1 + rng.random(25)
    weights = graph.weights(1.0, 1.0).toarray()
    laplacian = np.diag(weights.sum(axis=1)) - weights
    matrix = Elimination(sp.csr_array(laplacian + np.diag(pull)), rng.permutation(25))
    found = matrix.grounded(votes).solve(pull[:, None] * beliefs)

    def energy(u):
        gaps = (u[:, None] - u[None]) ** 2
        # Each pair is met twice, so a half of a half.
        return 0.25 * np.sum(weights[..., None] * gaps) * 2 + np.sum(pull[:, None] * (u - beliefs) ** 2)

    free = votes.sum(axis=1) == 0
    least = energy(found)
    for _ in range(20):
        change = 1e-3 * rng.normal(size=(25, 3)) * free[:, None]
        assert energy(found + change) > least
    np.testing.assert_allclose(found[8], [0, 1, 0])


def test_rows_are_probabilities_and_marked_regions_keep_their_class(graph, votes):
    probabilities = cut_regions(graph, votes)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0, atol=1e-8)
    assert probabilities[[3, 8, 20]].argmax(axis=1).tolist() == [0, 1, 2]
    np.testing.assert_allclose(probabilities[11], [0.25, 0.75, 0.0])


def test_all_regions_may_be_marked(graph):
    votes = np.eye(3)[np.arange(25) % 3]
    np.testing.assert_array_equal(cut_regions(graph, votes), votes)


def test_strengths_compare_looks_before_and_after_a_look_around(graph):
    """Σ_k a_k x_k / rms(x_k): steps, hue, texture, and colour and texture of what lies around."""
    regions, n_regions = graph.regions, graph.regions.n_regions
    color, rough = graph.looks[:, :3], graph.looks[:, 3:] / TEXTURE_WEIGHT

    def relative(values):
        return values / np.sqrt(np.average(values**2, weights=regions.lengths))

    def gaps(looks):
        return np.sqrt(((looks[regions.first] - looks[regions.second]) ** 2).sum(axis=1))

    plain = relative(0.5 * gaps(np.hstack([color, rough])) + 0.5 * regions.steps)
    weights = np.zeros((n_regions, n_regions))
    for i, j, length, strength in zip(regions.first, regions.second, regions.lengths, plain, strict=True):
        weights[i, j] = weights[j, i] = length * np.exp(-strength)
    half = 0.5 * (np.eye(n_regions) + weights / weights.sum(axis=1, keepdims=True))
    wide = np.linalg.matrix_power(half, 12)
    literal = (
        0.25 * relative(regions.steps)
        + 0.6 * relative(gaps(color[:, 1:]))
        + 0.5 * relative(gaps(rough))
        + 1.1 * relative(gaps(wide @ color))
        + 0.25 * relative(gaps(wide @ rough))
    )
    np.testing.assert_allclose(graph.strengths, relative(literal))


def test_edges_within_a_texture_are_weaker_than_between_textures():
    """Light spots on dark ground beside dark spots on light ground: as many steps within as between."""
    rng = np.random.default_rng(0)
    spots = np.kron(rng.random((16, 24)) < 0.3, np.ones((6, 6), dtype=bool))
    truth = np.arange(144) >= 72
    picture = np.where(spots ^ truth, 0.7, 0.4) + 0.01 * rng.normal(size=spots.shape)
    graph = region_graph(picture, n_regions=300)
    side = graph.regions.average(np.broadcast_to(truth, spots.shape).astype(float)).round()
    between = side[graph.regions.first] != side[graph.regions.second]
    steps = graph.regions.steps > 0.1 * 100
    assert graph.strengths[between & steps].mean() > graph.strengths[~between & steps].mean()


@pytest.mark.parametrize("n_classes", [2, 3])
def test_barriers_are_the_weakest_strongest_edges(graph, n_classes):
    """Floyd and Warshall's closure with (min, max): the best way to a mark by its strongest edge."""
    regions, n_regions = graph.regions, graph.regions.n_regions
    votes = np.zeros((n_regions, n_classes))
    votes[[2, 9], 0], votes[[14, 21], 1], votes[5, -1] = 1, 3, 2
    ways = np.full((n_regions, n_regions), np.inf)
    ways[regions.first, regions.second] = ways[regions.second, regions.first] = graph.strengths
    np.fill_diagonal(ways, 0.0)
    for k in range(n_regions):
        ways = np.minimum(ways, np.maximum(ways[:, k, None], ways[k]))
    literal = np.stack([ways[:, votes[:, c] > 0].min(axis=1) for c in range(n_classes)], axis=1)
    np.testing.assert_allclose(lowest_barriers(graph, votes), literal)


@pytest.mark.parametrize("shape", [(1, 400), (20, 20), (3, 130)])
def test_a_tree_is_taken_apart_in_few_rounds(shape):
    """Every region but the last is taken out once, with neighbours that are there still."""
    graph = region_graph(np.random.default_rng(0).random(shape))
    left = set(range(graph.regions.n_regions))
    for out, one, other, _, _ in graph.tree:
        left -= set(out)
        assert left.issuperset({*one, *other})
    assert len(left) == 1
    assert sum(out.size for out, *_ in graph.tree) == graph.regions.n_regions - 1
    assert len(graph.tree) < 5 * np.log2(graph.regions.n_regions)


def test_a_graph_of_one_region_has_no_barriers():
    graph = region_graph(np.zeros((3, 3)), n_regions=1)
    np.testing.assert_array_equal(lowest_barriers(graph, np.ones((1, 2))), [[0.0, 0.0]])
