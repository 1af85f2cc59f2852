"""What a data set is to sidecut: points, their classes, and where they come from."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Dataset:
    """Points with known classes.

    Parameters
    ----------
    name : str
        A short name.
    X : ndarray of float64, shape (n_samples, n_features)
        The points.
    y : ndarray of intp, shape (n_samples,)
        The class of each point, 0..n_classes-1.
    description : str
        One sentence: what the points are and where they come from.

    Examples
    --------
    >>> from sidecut.datasets import make_example
    >>> make_example("iris")
    Dataset('iris', 150 points, 4 features, 3 classes)
    """

    name: str
    X: NDArray[np.float64]
    y: NDArray[np.intp]
    description: str

    def __post_init__(self) -> None:
        if self.X.ndim != 2 or self.y.shape != (len(self.X),):
            raise ValueError(
                f"data set '{self.name}': X has shape {self.X.shape} and y {self.y.shape};"
                " X must have one row, and y one entry, per point"
            )

    @property
    def n_samples(self) -> int:
        """The number of points."""
        return len(self.X)

    @property
    def n_classes(self) -> int:
        """The number of different classes."""
        return len(np.unique(self.y))

    def __repr__(self) -> str:
        counts = f"{self.n_samples} points, {self.X.shape[1]} features, {self.n_classes} classes"
        return f"Dataset({self.name!r}, {counts})"
