import numpy as np
import pytest
import scipy.sparse as sp

from sidecut.images import region_graph
from sidecut.images.marked_cut import Grounded, cut_regions, normalize, walk_to_marks


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
    weights = graph.weights(16.0, 2.0).toarray()
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
    beliefs, pull = normalize(rng.normal(size=(25, 3))), 0.1 + rng.random(25)
    weights = graph.weights(1.0, 1.0).toarray()
    laplacian = np.diag(weights.sum(axis=1)) - weights
    found = Grounded(sp.csr_array(laplacian + np.diag(pull)), votes).solve(pull[:, None] * beliefs)

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
