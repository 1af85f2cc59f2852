"""Small data sets to try things on; nothing is downloaded."""

from collections.abc import Callable
from typing import Literal, get_args

import numpy as np
from sklearn.datasets import load_digits, load_iris, load_wine, make_moons
from sklearn.preprocessing import StandardScaler

from sidecut.datasets.dataset import Dataset

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
    >>> make_example("wine", standardize=True).X.mean(axis=0).round(12).any()
    np.False_
    """
    if name not in get_args(ExampleName):
        known = ", ".join(repr(example) for example in get_args(ExampleName))
        raise ValueError(f"there is no example {name!r}; choose one of {known}")
    data = two_moons(random_state=random_state) if name == "moons" else _load_bundled(name)
    if not standardize:
        return data
    scaled = StandardScaler().fit_transform(data.X)
    return Dataset(data.name, scaled, data.y, f"{data.description} Each feature standardised.")


_BUNDLED: dict[str, tuple[Callable, str]] = {
    "digits": (load_digits, "Handwritten digits as 8 x 8 images (UCI optical recognition, test part)."),
    "iris": (load_iris, "Lengths and widths of sepals and petals of three species of iris (UCI)."),
    "wine": (load_wine, "Chemical analysis of wines from three cultivars of one region (UCI)."),
}


def _load_bundled(name: str) -> Dataset:
    """Load a data set that comes with scikit-learn."""
    load, description = _BUNDLED[name]
    X, y = load(return_X_y=True)
    return Dataset(name, X.astype(np.float64), y.astype(np.intp), description)
