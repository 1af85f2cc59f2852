"""Random graphs with planted clusters, sampled in time proportional to their edges.

An edge exists with probability p independently of all others, so the gaps between the positions of edges,
in any fixed order of the pairs, are geometric random numbers. Drawing gaps instead of coins never looks at
the pairs without an edge (V. Batagelj and U. Brandes, "Efficient generation of large random networks",
Physical Review E 71, 2005).
"""

from collections.abc import Sequence

import numpy as np
from scipy.sparse import coo_array, csr_array

from sidecut.arrays import IntArray


def stochastic_block_graph(
    sizes: Sequence[int],
    p_in: float,
    p_out: float,
    *,
    random_state: int | np.random.Generator | None = None,
) -> tuple[csr_array, IntArray]:
    """Draw a graph whose edges have probability `p_in` inside a block and `p_out` between blocks.

    Memory and time grow with the number of edges, plus `p_out` times the number of all pairs, so that a
    million points with a mean degree of ten take seconds.

    Parameters
    ----------
    sizes : sequence of int
        The number of points in each block; each at least 1.
    p_in, p_out : float
        Probabilities of an edge within a block and between two blocks.
    random_state : int, Generator or None
        Seed of the draw.

    Returns
    -------
    adjacency : csr_array of float64, shape (n_samples, n_samples)
        Symmetric, with ones on the edges and an empty diagonal.
    y : ndarray of intp, shape (n_samples,)
        The block of each point: `sizes[0]` zeros, then `sizes[1]` ones, and so on.

    Raises
    ------
    ValueError
        If there is no block, a block is empty, or a probability is outside [0, 1].

    Examples
    --------
    >>> from sidecut.datasets import stochastic_block_graph
    >>> adjacency, y = stochastic_block_graph([3, 2], p_in=1.0, p_out=0.0, random_state=0)
    >>> adjacency.toarray().astype(int)
    array([[0, 1, 1, 0, 0],
           [1, 0, 1, 0, 0],
           [1, 1, 0, 0, 0],
           [0, 0, 0, 0, 1],
           [0, 0, 0, 1, 0]])
    >>> y
    array([0, 0, 0, 1, 1])
    """
    counts = _check_sizes(sizes)
    for name, probability in (("p_in", p_in), ("p_out", p_out)):
        if not 0 <= probability <= 1:
            raise ValueError(f"{name}={probability} is not a probability; choose 0 <= {name} <= 1")
    rng = np.random.default_rng(random_state)
    y = np.repeat(np.arange(len(counts), dtype=np.intp), counts)
    starts = np.cumsum(counts) - counts
    blocks = [start + random_pairs(int(size), p_in, rng) for start, size in zip(starts, counts, strict=True)]
    across = random_pairs(len(y), p_out, rng)
    across = across[y[across[:, 0]] != y[across[:, 1]]]
    return _symmetric_adjacency(np.concatenate([*blocks, across]), len(y)), y


def _check_sizes(sizes: Sequence[int]) -> IntArray:
    counts = np.asarray(sizes)
    if counts.ndim != 1 or len(counts) == 0 or counts.dtype.kind not in "iu" or counts.min() < 1:
        raise ValueError(f"sizes={sizes!r} must be a non-empty list of whole numbers, each at least 1")
    return counts.astype(np.int64)


def _symmetric_adjacency(pairs: IntArray, n_samples: int) -> csr_array:
    """Put a one at (i, j) and (j, i) for each pair; the pairs are distinct, so nothing adds up."""
    # 32-bit indices halve the memory, and not every sparse solver takes 64-bit ones.
    fits = max(n_samples, 2 * len(pairs)) <= np.iinfo(np.int32).max
    low, high = pairs.T.astype(np.int32 if fits else np.int64)
    rows, columns = np.concatenate([low, high]), np.concatenate([high, low])
    adjacency = csr_array(coo_array((np.ones(len(rows)), (rows, columns)), shape=(n_samples, n_samples)))
    adjacency.sort_indices()
    return adjacency


def random_pairs(n_points: int, probability: float, rng: np.random.Generator) -> IntArray:
    """Keep each of the pairs i < j independently with the given probability.

    Parameters
    ----------
    n_points : int
        The number of points.
    probability : float
        In [0, 1].
    rng : Generator
        Source of the gaps.

    Returns
    -------
    ndarray of int64, shape (n_pairs, 2)
        The pairs kept, each once, the smaller number first.

    Examples
    --------
    >>> import numpy as np
    >>> random_pairs(3, 1.0, np.random.default_rng(0))
    array([[0, 1],
           [0, 2],
           [1, 2]])
    """
    return pair_at(random_positions(n_points * (n_points - 1) // 2, probability, rng))


def random_positions(n_positions: int, probability: float, rng: np.random.Generator) -> IntArray:
    """Keep each of 0..n_positions-1 independently with the given probability.

    Parameters
    ----------
    n_positions : int
        How many positions there are; they are never enumerated.
    probability : float
        In [0, 1].
    rng : Generator
        Source of the gaps.

    Returns
    -------
    ndarray of int64
        The positions kept, increasing.

    Examples
    --------
    >>> import numpy as np
    >>> random_positions(4, 1.0, np.random.default_rng(0))
    array([0, 1, 2, 3])
    """
    batches = [np.empty(0, dtype=np.int64)]
    last = -1
    while probability > 0 and last < n_positions - 1:
        left = n_positions - 1 - last
        # Four standard deviations more than expected: one batch nearly always suffices.
        expected = left * probability
        gaps = rng.geometric(probability, size=int(expected + 4 * np.sqrt(expected)) + 8)
        # A gap beyond the end ends the walk; cutting it short keeps the sum from overflowing.
        positions = last + np.cumsum(np.minimum(gaps, left + 1))
        batches.append(positions[positions < n_positions])
        last = int(positions[-1])
    return np.concatenate(batches)


def pair_at(positions: IntArray) -> IntArray:
    """Turn positions in the list (0,1), (0,2), (1,2), (0,3), (1,3), (2,3), ... into pairs.

    The pairs with larger element j occupy positions j(j-1)/2 to j(j+1)/2 - 1.

    Parameters
    ----------
    positions : ndarray of int64
        Non-negative positions.

    Returns
    -------
    ndarray of int64, shape (n_positions, 2)
        The pairs (i, j) with i < j.

    Examples
    --------
    >>> import numpy as np
    >>> pair_at(np.array([0, 3, 5]))
    array([[0, 1],
           [0, 3],
           [2, 3]])
    """
    high = ((1 + np.sqrt(1 + 8 * positions.astype(np.float64))) / 2).astype(np.int64)
    # In large graphs the square root may be rounded up to the next whole number, never below its own.
    high -= high * (high - 1) // 2 > positions
    return np.column_stack([positions - high * (high - 1) // 2, high])
