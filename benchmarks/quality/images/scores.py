"""How well a cut agrees with the truth."""

from __future__ import annotations

import numpy as np
from scipy import ndimage


def mean_iou(labels: np.ndarray, truth: np.ndarray) -> float:
    """Return the intersection over union, averaged over classes.

    Examples
    --------
    >>> import numpy as np
    >>> from benchmarks.quality.images.scores import mean_iou
    >>> mean_iou(np.array([[1, 1, 2, 2]]), np.array([[1, 2, 2, 2]]))
    0.5833333333333333
    """
    shares = [
        np.sum((labels == number) & (truth == number)) / np.sum((labels == number) | (truth == number))
        for number in range(1, int(truth.max()) + 1)
    ]
    return float(np.mean(shares))


def boundary_f(labels: np.ndarray, truth: np.ndarray, tolerance: float | None = None) -> float:
    """Return the F measure of the border pixels; those within 0.75 % of the diagonal agree (Martin, 2004).

    Examples
    --------
    >>> import numpy as np
    >>> from benchmarks.quality.images.scores import boundary_f
    >>> truth = np.repeat([1, 2], 20)[None].repeat(30, axis=0)
    >>> boundary_f(truth, truth), boundary_f(np.roll(truth, 5, axis=1), truth) < 0.6
    (1.0, True)
    """
    if tolerance is None:
        tolerance = max(1.0, 0.0075 * float(np.hypot(*truth.shape)))
    found, real = borders(labels), borders(truth)
    if not found.any() or not real.any():
        return float(found.any() == real.any())
    precision = np.mean(ndimage.distance_transform_edt(~real)[found] <= tolerance)
    recall = np.mean(ndimage.distance_transform_edt(~found)[real] <= tolerance)
    return float(2 * precision * recall / max(precision + recall, 1e-12))


def borders(labels: np.ndarray) -> np.ndarray:
    """Tell which pixels have another label to their right or below."""
    border = np.zeros(labels.shape, dtype=bool)
    border[:-1] |= labels[:-1] != labels[1:]
    border[:, :-1] |= labels[:, :-1] != labels[:, 1:]
    return border


def marks_kept(labels: np.ndarray, marks: np.ndarray) -> float:
    """Return the share of marked pixels that are in their class.

    Examples
    --------
    >>> import numpy as np
    >>> from benchmarks.quality.images.scores import marks_kept
    >>> marks_kept(np.array([1, 1, 2]), np.array([1, 2, 0]))
    0.5
    """
    known = marks > 0
    return float(np.mean(labels[known] == marks[known]))
