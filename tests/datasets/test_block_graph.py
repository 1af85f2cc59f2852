import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from sidecut.datasets import stochastic_block_graph
from sidecut.datasets.loading import pair_at, random_positions

probabilities = st.floats(0, 1)


@given(
    st.lists(st.integers(1, 12), min_size=1, max_size=4), probabilities, probabilities, st.integers(0, 1000)
)
def test_adjacency_is_simple_and_symmetric(sizes, p_in, p_out, seed):
    adjacency, y = stochastic_block_graph(sizes, p_in, p_out, random_state=seed)
    dense = adjacency.toarray()
    np.testing.assert_array_equal(dense, dense.T)
    assert set(np.unique(dense)) <= {0.0, 1.0}
    assert not np.diag(dense).any()
    np.testing.assert_array_equal(np.bincount(y), sizes)


def test_certain_edges_are_all_there():
    inside, y = stochastic_block_graph([4, 1, 3], 1.0, 0.0)
    same = np.equal.outer(y, y) & ~np.eye(8, dtype=bool)
    np.testing.assert_array_equal(inside.toarray().astype(bool), same)
    across, _ = stochastic_block_graph([4, 1, 3], 0.0, 1.0)
    np.testing.assert_array_equal(across.toarray().astype(bool), ~np.equal.outer(y, y))


def test_every_pair_has_the_probability_asked_for():
    draws = [stochastic_block_graph([3, 2], 0.7, 0.2, random_state=seed)[0].toarray() for seed in range(2000)]
    expected = np.where(np.equal.outer([0, 0, 0, 1, 1], [0, 0, 0, 1, 1]), 0.7, 0.2)
    np.fill_diagonal(expected, 0)
    # Standard deviation of each mean: at most sqrt(.25/2000) = 0.011.
    np.testing.assert_allclose(np.mean(draws, axis=0), expected, atol=0.05)


def test_number_of_positions_is_binomial_and_neighbours_are_independent():
    draws = [random_positions(20, 0.3, np.random.default_rng(seed)) for seed in range(4000)]
    counts = np.bincount([len(draw) for draw in draws], minlength=21) / len(draws)
    np.testing.assert_allclose(counts, binom.pmf(np.arange(21), 20, 0.3), atol=0.03)
    both = np.mean([{4, 5} <= set(draw) for draw in draws])
    assert both == pytest.approx(0.09, abs=0.02)


def test_positions_go_on_when_one_batch_is_too_short():
    class OnesOnly:
        """Gaps of one: many more positions than expected, so every batch falls short."""

        def geometric(self, p, size):
            return np.ones(size, dtype=np.int64)

    np.testing.assert_array_equal(random_positions(100, 0.01, OnesOnly()), np.arange(100))


def test_pairs_are_counted_in_order():
    pairs = sorted(itertools.combinations(range(9), 2), key=lambda pair: (pair[1], pair[0]))
    np.testing.assert_array_equal(pair_at(np.arange(36)), pairs)


@given(st.integers(2, 3_000_000_000), st.integers(-2, 2))
def test_pairs_next_to_a_boundary_are_exact_in_large_graphs(high, offset):
    position = max(0, high * (high - 1) // 2 + offset)
    ((i, j),) = pair_at(np.array([position])).tolist()
    assert 0 <= i < j
    assert j * (j - 1) // 2 + i == position


def test_large_sparse_graph_has_the_expected_degrees():
    adjacency, y = stochastic_block_graph([50_000] * 4, 2e-4, 1e-5, random_state=0)
    inside = adjacency.tocoo()
    same = y[inside.row] == y[inside.col]
    assert same.sum() / len(y) == pytest.approx(10, rel=0.02)
    assert (~same).sum() / len(y) == pytest.approx(1.5, rel=0.02)


def test_seed_decides():
    first, second, third = (stochastic_block_graph([30, 30], 0.3, 0.1, random_state=s)[0] for s in (1, 1, 2))
    assert (first != second).nnz == 0
    assert (first != third).nnz > 0


@pytest.mark.parametrize(
    ("sizes", "p_in", "p_out", "word"),
    [
        ([], 0.5, 0.5, "sizes"),
        ([2, 0], 0.5, 0.5, "sizes"),
        ([2.5], 0.5, 0.5, "sizes"),
        ([2], 1.5, 0.5, "p_in=1.5"),
        ([2], 0.5, float("nan"), "p_out=nan"),
    ],
)
def test_bad_arguments_are_named(sizes, p_in, p_out, word):
    with pytest.raises(ValueError, match=word):
        stochastic_block_graph(sizes, p_in, p_out)
