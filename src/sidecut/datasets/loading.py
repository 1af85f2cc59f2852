"""The data of the papers, bundled, from a folder or from openml.org; and small sets to try things on."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import scipy.sparse as sp
from scipy.sparse import csr_array
from sklearn.datasets import fetch_openml, load_breast_cancer, load_digits, load_iris, load_wine, make_moons
from sklearn.preprocessing import StandardScaler

from sidecut.checks import FloatArray, IntArray
from sidecut.constraints.groups import adjacency
from sidecut.datasets.dataset import Dataset, variant
from sidecut.exceptions import DatasetWarning, DataUnavailableError, warn

#: The environment variable that names a folder of data sets.
FOLDER = "SIDECUT_DATA"
ExampleName = Literal["moons", "digits", "iris", "wine"]


def load(name: str, folder: str | Path | None = None) -> Dataset:
    """Return a data set of the papers by its name.

    It is looked for in this order: bundled with scikit-learn; as ``<name>.npz`` in a folder; at openml.org,
    whose data are kept once fetched. Features are as they come: see `Dataset.scaled`.

    Parameters
    ----------
    name : str
        A name of the catalogue, such as "wine" or "usps", or a subset of one after a slash:
        "iris/without-setosa", "wine/without-class-3", "glass/windows", "usps/first-300", "letter/classes-5",
        "usps/3-8", "20news_18828_comp2/even-1000".
    folder : str or Path, optional
        Where .npz files with X and y are; by default what the environment variable SIDECUT_DATA names.

    Returns
    -------
    Dataset
        The points and their classes, 0 to k - 1.

    Raises
    ------
    DataUnavailableError
        If it is to be had nowhere; the message says where it was looked for.
    ValueError
        If there is no data set or subset of that name, or a copy has another shape.

    Examples
    --------
    >>> from sidecut.datasets import load
    >>> load("wine/without-class-3")
    Dataset('wine/without-class-3', 130 points, 13 features, 2 classes)
    """
    base, _, which = name.partition("/")
    if base not in CATALOGUE:
        raise ValueError(f"there is no data set {base!r}; choose one of {', '.join(CATALOGUE)}")
    entry = CATALOGUE[base]
    X, y = _find(base, entry, folder)
    found = (*X.shape, len(np.unique(y)))
    if found != entry.shape or len(y) != X.shape[0]:
        wanted, got = ("{} points, {} features, {} classes".format(*shape) for shape in (entry.shape, found))
        raise ValueError(f"data set {base!r} must have {wanted}; this copy has {got}")
    data = Dataset(base, X, y, entry.description)
    return variant(data, which) if which else data


def _find(name: str, entry: Entry, folder: str | Path | None) -> tuple[Any, IntArray]:
    if entry.bundled is not None:
        X, y = entry.bundled(return_X_y=True)
        return X.astype(np.float64), (1 - y if entry.flipped else y).astype(np.intp)
    place = folder if folder is not None else os.environ.get(FOLDER)
    path = None if place is None else Path(place) / f"{name}.npz"
    if path is not None and path.exists():
        X, y = read_npz(path)
        return (X / entry.divisor if entry.divisor != 1 else X), y
    return _fetch(name, entry, path)


def _fetch(name: str, entry: Entry, path: Path | None) -> tuple[Any, IntArray]:
    looked = f"there is no {path}" if path is not None else f"no folder was given ({FOLDER} is not set)"
    way_out = f"put {name}.npz with X and y into a folder and name it by the argument or by {FOLDER}"
    if entry.openml is None:
        raise DataUnavailableError(f"data set {name!r}: {looked}, and it is not at openml.org; {way_out}")
    try:
        X, y = fetch(entry.openml, complete=entry.complete)
    except DataUnavailableError as error:
        raise DataUnavailableError(f"data set {name!r}: {looked}, and {error}; {way_out}") from error
    if entry.checksum is not None and Dataset(name, X, y, "").checksum != entry.checksum:
        warn(
            f"data set {name!r} from openml.org/d/{entry.openml} is not the copy that the stored results "
            "were made with (its checksum differs: another order of rows, scale or coding); expect small "
            "differences",
            DatasetWarning,
        )
    return X, y


def read_npz(path: Path) -> tuple[Any, IntArray]:
    """Read points and classes from a file."""
    try:
        file = np.load(path, allow_pickle=False)
    except (OSError, ValueError) as error:
        raise DataUnavailableError(f"{path} cannot be read: {error}") from error
    with file:
        is_sparse = "indptr" in file
        missing = {"y"} - set(file) if is_sparse else {"X", "y"} - set(file)
        if missing:
            raise DataUnavailableError(
                f"{path} holds {', '.join(file) or 'nothing'}, but no {' and no '.join(sorted(missing))}; "
                "write it with np.savez(path, X=X, y=y)"
            )
        y = file["y"].astype(np.intp)
        if is_sparse:
            return sp.csr_array(sp.load_npz(path)).astype(np.float64), y
        X = file["X"]
        # Whole numbers of 16 bits are exact in single precision, which saves memory for large data.
        is_exact = X.dtype.itemsize <= 2 or X.dtype == np.float32
        precision = np.float32 if is_exact and X.size > 10_000_000 else np.float64
        return np.ascontiguousarray(X, dtype=precision), y


def fetch(number: int, *, complete: bool = False) -> tuple[FloatArray, IntArray]:
    """Fetch points and classes from openml.org, or from the cache of scikit-learn."""
    try:
        # This parser numbers categories and needs nothing that is not installed.
        X, classes = fetch_openml(
            data_id=number, return_X_y=True, as_frame=False, parser="liac-arff", cache=True
        )
    except Exception as error:
        raise DataUnavailableError(f"openml.org/d/{number} could not be fetched: {error}") from error
    points = np.asarray(X, dtype=np.float64)
    kept = ~np.isnan(points).any(axis=1) if complete else np.full(len(points), True)
    values = np.asarray(classes)[kept]
    # Numbers are sorted as numbers, "10" after "2"; other names as text.
    try:
        values = values.astype(np.float64)
    except ValueError:
        values = values.astype(str)
    return points[kept], np.unique(values, return_inverse=True)[1].astype(np.intp)


@dataclass(frozen=True)
class Entry:
    """One data set of the papers: its number at openml.org and its checksum, or how it is loaded."""

    description: str
    shape: tuple[int, int, int]
    openml: int | None = None
    checksum: str | None = None
    bundled: Callable | None = None
    divisor: float = 1.0
    complete: bool = False
    flipped: bool = False


#: By name; the file of a data set in a folder is called <name>.npz.
CATALOGUE: dict[str, Entry] = {
    "iris": Entry(
        "Lengths and widths of sepals and petals of three species of iris (UCI).",
        (150, 4, 3),
        bundled=load_iris,
    ),
    "wine": Entry(
        "Chemical analysis of wines from three cultivars of one region (UCI).",
        (178, 13, 3),
        bundled=load_wine,
    ),
    "wdbc": Entry(
        "Cell nuclei of breast tumours: benign (0) or malignant (1) (UCI, Wisconsin, diagnostic).",
        (569, 30, 2),
        bundled=load_breast_cancer,
        flipped=True,
    ),
    "digits": Entry(
        "Handwritten digits as 8 x 8 images (UCI optical recognition, test part).",
        (1797, 64, 10),
        bundled=load_digits,
    ),
    "ionosphere": Entry(
        "Radar returns from the ionosphere, good or bad (UCI).", (351, 34, 2), 59, "125d63088635dcac"
    ),
    "soybean_small": Entry(
        "Symptoms of soybean plants with four diseases (UCI).", (47, 35, 4), None, "cdbbc859a0dc5b2b"
    ),
    "hepatitis": Entry(
        "Patients with hepatitis, those without missing values (UCI).",
        (80, 19, 2),
        55,
        "7abafa56dc0227f6",
        complete=True,
    ),
    "glass": Entry("Chemical analysis of six types of glass (UCI).", (214, 9, 6), 41, "66884ffc63a261a9"),
    "sonar": Entry("Sonar returns from mines and rocks (UCI).", (208, 60, 2), 40, "3310402b8872a251"),
    "segment": Entry(
        "Regions of outdoor images, hand-segmented into seven classes (UCI).",
        (2310, 19, 7),
        36,
        "9883cdeebd20de8f",
    ),
    "pendigits": Entry(
        "Digits written with a pen, as eight points each (UCI).", (10992, 16, 10), 32, "17147845ca6d0696"
    ),
    "letter": Entry(
        "Capital letters in twenty fonts, distorted (UCI).", (20000, 16, 26), 6, "8990c1257da28616"
    ),
    "covtype": Entry(
        "Forest cover of squares of 30 m, from maps (UCI).", (581012, 54, 7), 1596, "f2b3475f6456439c"
    ),
    "usps": Entry(
        "Digits from envelopes as 16 x 16 images, grey values from -1 to 1.",
        (9298, 256, 10),
        41082,
        "09656b93b6d8a8a3",
        divisor=1000.0,
    ),
    "mnist": Entry("Handwritten digits as 28 x 28 images.", (70000, 784, 10), 554, "fcf004f68ceabcfe"),
    "yaleb_32x32": Entry(
        "Faces of 38 people under many lights, 32 x 32 pixels (Extended Yale B, cropped).",
        (2414, 1024, 38),
        None,
        "4938eae939e1827e",
    ),
    "scene8_features": Entry(
        "Eight kinds of outdoor scenes (MIT), as 119 global features of each image.",
        (2688, 119, 8),
        None,
        "1ef009e75dc4cb23",
    ),
    "reuters_ml1200": Entry(
        "News in six topics, each in five languages of 2,000 words side by side, tf-idf.",
        (1200, 10000, 6),
        None,
        "90e02e37dcf46e02",
    ),
    "20news_18828_different3": Entry(
        "Word counts of newsgroup posts on atheism, baseball and space.",
        (2780, 12413, 3),
        None,
        "d5e4d9df71ff4394",
    ),
    "20news_18828_comp2": Entry(
        "Word counts of newsgroup posts on Windows and Macintosh.", (1946, 7325, 2), None, "e1c0373893b1e13e"
    ),
    "20news_18828_politics3": Entry(
        "Word counts of newsgroup posts on politics: miscellaneous, guns, the Middle East.",
        (2625, 14775, 3),
        None,
        "1f60db799bf71501",
    ),
}


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
    """Turn positions in the list (0,1), (0,2), (1,2), (0,3), (1,3), (2,3), ... into pairs."""
    # The pairs with larger element j occupy positions j(j-1)/2 to j(j+1)/2 - 1.
    high = ((1 + np.sqrt(1 + 8 * positions.astype(np.float64))) / 2).astype(np.int64)
    # In large graphs the square root may be rounded up to the next whole number, never below its own.
    high -= high * (high - 1) // 2 > positions
    return np.column_stack([positions - high * (high - 1) // 2, high])
