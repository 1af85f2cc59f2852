"""Small data sets to try things on; nothing is downloaded."""

from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np
from scipy.sparse import csr_array
from sklearn.datasets import make_moons
from sklearn.preprocessing import StandardScaler

from sidecut.checks import IntArray
from sidecut.constraints.groups import adjacency
from sidecut.datasets.dataset import Dataset
from sidecut.datasets.loading import load

ExampleName = Literal["moons", "digits", "iris", "wine"]


def two_moons(
    n_samples: int = 400, *, noise: float = 0.1, random_state: int | np.random.RandomState | None = None
) -> Dataset:
    """Two interleaved half circles in the plane, which no straight line separates.

    Parameters
    ----------
    n_samples : int, default=400
        The number of points, shared evenly; at least 2.
    noise : float, default=0.1
        Standard deviation of the Gaussian noise on each coordinate. Up to about 0.1 the moons are separate;
        from about 0.2 on they touch, and constraints begin to matter.
    random_state : int, RandomState instance or None
        Seed of the noise and of the order of the points.

    Returns
    -------
    Dataset
        The upper moon is class 0, the lower class 1.

    Raises
    ------
    ValueError
        If there are fewer than two points or the noise is negative.

    Examples
    --------
    >>> from sidecut.datasets import two_moons
    >>> two_moons(200, noise=0.05, random_state=0)
    Dataset('moons', 200 points, 2 features, 2 classes)
    """
    if n_samples < 2:
        raise ValueError(f"n_samples={n_samples}: two moons need at least 2 points")
    if not noise >= 0:
        raise ValueError(f"noise={noise} is a standard deviation and cannot be negative")
    X, y = make_moons(n_samples, noise=noise, random_state=random_state)
    description = f"Two interleaved half circles with Gaussian noise of standard deviation {noise}."
    return Dataset("moons", X, y.astype(np.intp), description)


def make_example(
    name: ExampleName, *, random_state: int | np.random.RandomState | None = 0, standardize: bool = False
) -> Dataset:
    """Return one of the example data sets by name.

    Parameters
    ----------
    name : {"moons", "digits", "iris", "wine"}
        "moons": 400 noisy points in the plane. "digits": 1797 handwritten digits of 8 x 8 pixels, values 0
        to 16. "iris": 150 flowers, 4 measurements. "wine": 178 wines, 13 measurements on very different
        scales.
    random_state : int, RandomState instance or None, default=0
        Seed of "moons"; the others are fixed.
    standardize : bool, default=False
        Shift and scale each feature to mean zero and variance one. "wine" needs it; leave pixels alone.

    Returns
    -------
    Dataset
        The points and their classes.

    Raises
    ------
    ValueError
        If there is no example of that name.

    Examples
    --------
    >>> from sidecut.datasets import make_example
    >>> make_example("digits")
    Dataset('digits', 1797 points, 64 features, 10 classes)
    >>> bool(make_example("wine", standardize=True).X.mean(axis=0).round(12).any())
    False
    """
    if name not in get_args(ExampleName):
        known = ", ".join(repr(example) for example in get_args(ExampleName))
        raise ValueError(f"there is no example {name!r}; choose one of {known}")
    data = two_moons(random_state=random_state) if name == "moons" else load(name)
    if not standardize:
        return data
    scaled = StandardScaler().fit_transform(data.X)
    return Dataset(data.name, scaled, data.y, f"{data.description} Each feature standardised.")


def stochastic_block_graph(
    sizes: Sequence[int], p_in: float, p_out: float, *, random_state: int | np.random.Generator | None = None
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
    counts = np.asarray(sizes)
    if counts.ndim != 1 or len(counts) == 0 or counts.dtype.kind not in "iu" or counts.min() < 1:
        raise ValueError(f"sizes={sizes!r} must be a non-empty list of whole numbers, each at least 1")
    counts = counts.astype(np.int64)
    for name, probability in (("p_in", p_in), ("p_out", p_out)):
        if not 0 <= probability <= 1:
            raise ValueError(f"{name}={probability} is not a probability; choose 0 <= {name} <= 1")
    rng = np.random.default_rng(random_state)
    y = np.repeat(np.arange(len(counts), dtype=np.intp), counts)
    starts = np.cumsum(counts) - counts
    blocks = [start + random_pairs(int(size), p_in, rng) for start, size in zip(starts, counts, strict=True)]
    across = random_pairs(len(y), p_out, rng)
    across = across[y[across[:, 0]] != y[across[:, 1]]]
    return adjacency(np.concatenate([*blocks, across]), len(y)), y


def random_pairs(n_points: int, probability: float, rng: np.random.Generator) -> IntArray:
    """Keep each of the pairs i < j independently with the given probability."""
    return pair_at(random_positions(n_points * (n_points - 1) // 2, probability, rng))


def random_positions(n_positions: int, probability: float, rng: np.random.Generator) -> IntArray:
    """Keep each of 0..n_positions-1 independently with the given probability."""
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
    """
    high = ((1 + np.sqrt(1 + 8 * positions.astype(np.float64))) / 2).astype(np.int64)
    # In large graphs the square root may be rounded up to the next whole number, never below its own.
    high -= high * (high - 1) // 2 > positions
    return np.column_stack([positions - high * (high - 1) // 2, high])
