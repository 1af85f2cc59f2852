"""What marks say about the look of a class: a density of colour and texture, and from it beliefs."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import ndimage

FloatArray = npt.NDArray[np.float64]

#: The width of the kernel, in units of Lab (black is 0, white 100).
WIDTH = 9.0
#: A look that nobody marked: a density so low that it says nothing against or for a class.
FLOOR = 1e-3
#: How many regions of a class make its density, at most.
MOST_EXAMPLES = 100
#: The scales of texture, in pixels, and its weight beside colour (for edges, its weight is 1).
TEXTURE_SCALES = (2.0, 4.0)
TEXTURE_WEIGHT = 2.0


def texture(lightness: FloatArray) -> list[FloatArray]:
    """Return how much the lightness varies around every pixel, at several scales.

    Parameters
    ----------
    lightness : array of any number of dimensions
        L of Lab, or 100 times the grey.

    Returns
    -------
    list of arrays
        The standard deviation under a Gaussian window, one array per scale.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.images.appearance import texture
    >>> stripes = np.tile([0.0, 100.0], (20, 10))
    >>> [round(float(scale[10, 10])) for scale in texture(stripes)]
    [50, 50]
    """
    return [_deviation(lightness, scale) for scale in TEXTURE_SCALES]


def class_densities(looks: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the density of every class at the look of every region.

    Parameters
    ----------
    looks : array of shape (n_regions, n_features)
        Colour and texture.
    weights : array of shape (n_regions, n_classes)
        How much a region is an example of a class, 0 if it is none.

    Returns
    -------
    array of shape (n_regions, n_classes)
        Σ_j w_jc exp(-‖x_i - x_j‖² / (2 h²)) / Σ_j w_jc: 1 where all examples look the same as the region.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.images.appearance import class_densities
    >>> class_densities(np.array([[0.0], [9.0]]), np.array([[1.0], [0.0]])).round(3)
    array([[1.   ],
           [0.607]])
    """
    densities = [_density(looks, weight) for weight in weights.T]
    return np.stack(densities, axis=1)


def _density(looks: FloatArray, weights: FloatArray) -> FloatArray:
    examples = np.flatnonzero(weights > 0)
    if examples.size > MOST_EXAMPLES:
        examples = examples[np.linspace(0, examples.size - 1, MOST_EXAMPLES).astype(np.intp)]
    chosen, share = looks[examples], weights[examples] / weights[examples].sum()
    squares = (looks**2).sum(axis=1)[:, None] + (chosen**2).sum(axis=1) - 2.0 * looks @ chosen.T
    return np.exp(np.minimum(-squares, 0.0) / (2.0 * WIDTH**2)) @ share


def _deviation(values: npt.NDArray, scale: float) -> FloatArray:
    mean = ndimage.gaussian_filter(values, scale)
    square = ndimage.gaussian_filter(values**2, scale)
    return np.sqrt(np.maximum(square - mean**2, 0.0))
