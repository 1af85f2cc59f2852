"""From a picture to a graph: pixels are nodes, near and similar ones are linked."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sidecut.exceptions import GraphWarning, warn
from sidecut.graphs import Neighbors, SparseGraph
from sidecut.images.pixels import FloatArray, as_pixels
from sidecut.images.stencil import stencil_weights

#: σ_c is at least this share of the contrast of the whole picture, so that flat regions do not fall apart.
LEAST_SHARE_OF_CONTRAST = 0.2
#: σ_p relative to the radius, as Shi and Malik (2000) chose it: 4 for a radius of 5.
POSITION_SHARE = 0.8


def pixel_graph(
    image: npt.ArrayLike,
    *,
    radius: float = 5.0,
    n_neighbors: int | None = None,
    sigma_position: float | None = None,
    sigma_color: float | None = None,
) -> SparseGraph:
    """Return the graph of a picture, W_ij = exp(-‖p_i - p_j‖²/(2σ_p²) - ‖f_i - f_j‖²/(2σ_c²)).

    p is the position of a pixel and f its grey value or colour. Pixel (row, column) is node
    ``row * width + column``, so that ``labels.reshape(height, width)`` is a picture again. Any estimator cuts
    it with ``affinity="precomputed"``.

    Parameters
    ----------
    image : array of shape (height, width) or (height, width, channels)
        Grey or colour, see `as_pixels`.
    radius : float, default=5.0
        Pixels at most so far apart are linked; ``numpy.inf`` links all, for small pictures. Time and memory
        grow with its square.
    n_neighbors : int, optional
        Link instead every pixel with so many of its nearest in position and colour together, each in units of
        its σ; a one-sided edge has half its weight. Far pixels of the same colour can then be neighbours.
    sigma_position : float, optional
        σ_p in pixels: 0.8 times the radius by default, and for `n_neighbors` 0.8 times the radius of a disc
        of so many pixels.
    sigma_color : float, optional
        σ_c in units of the picture (white is 1 for unsigned integers): by default `color_width(image)`.

    Returns
    -------
    SparseGraph
        With height times width nodes.

    Raises
    ------
    ValueError
        If the picture is not one, has a single pixel, or a width is not positive.
    MemoryError
        If the radius asks for more than half a billion weights.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.images import pixel_graph
    >>> picture = np.array([[0.0, 0.0, 1.0], [0.0, 0.0, 1.0]])
    >>> pixel_graph(picture, radius=1)
    SparseGraph(n_nodes=6, n_edges=7)
    """
    pixels = as_pixels(image)
    height, width, _ = pixels.shape
    if height * width < 2:
        raise ValueError("An image of a single pixel cannot be cut; give one of at least two.")
    sigma_color = color_width(image) if sigma_color is None else _positive(sigma_color, "sigma_color")
    reach = _reach(radius, n_neighbors)
    if sigma_position is None:
        # All pixels linked: half the extent of the picture takes the place of the radius.
        sigma_position = POSITION_SHARE * min(reach, max(height, width) / 2)
    sigma_position = _positive(sigma_position, "sigma_position")
    if n_neighbors is not None:
        return _nearest(pixels, n_neighbors, sigma_position, sigma_color)
    weights = stencil_weights(pixels, reach, sigma_position, sigma_color)
    _warn_of_lost(int(np.count_nonzero(weights.data == 0)), weights.nnz, sigma_position, sigma_color)
    return SparseGraph(weights)


def color_width(image: npt.ArrayLike) -> float:
    """Return σ_c for a picture: how much adjacent pixels differ on average.

    That is what texture and noise amount to, so edges between objects stand out from it. It is at least a
    fifth of the standard deviation of the whole picture, which keeps smooth pictures from falling apart, and
    1 for a picture of one colour, where it does not matter.

    Parameters
    ----------
    image : array
        As for `pixel_graph`.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.images import color_width
    >>> color_width(np.tile([0.0, 1.0], (4, 4))), color_width(np.zeros((4, 4)))
    (0.5384615384615384, 1.0)
    """
    pixels = as_pixels(image)
    gaps = [np.linalg.norm(np.diff(pixels, axis=axis), axis=2).ravel() for axis in (0, 1)]
    contrast = float(np.sqrt(pixels.var(axis=(0, 1)).sum()))
    texture = float(np.concatenate(gaps).mean()) if pixels[..., 0].size > 1 else 0.0
    return max(texture, LEAST_SHARE_OF_CONTRAST * contrast) or 1.0


def _nearest(pixels: FloatArray, n_neighbors: int, sigma_position: float, sigma_color: float) -> SparseGraph:
    height, width, n_channels = pixels.shape
    rows, columns = np.mgrid[:height, :width]
    positions = np.stack([rows, columns], axis=2) / sigma_position
    features = np.concatenate([positions, pixels / sigma_color], axis=2)
    recipe = Neighbors(n_neighbors, weights="gaussian", sigma=1.0)
    return recipe.build(features.reshape(height * width, 2 + n_channels))


def _reach(radius: float, n_neighbors: int | None) -> float:
    """Return how far neighbours are apart: the radius, or that of a disc of `n_neighbors` pixels."""
    if n_neighbors is not None:
        return float(np.sqrt(max(n_neighbors, 1) / np.pi))
    if not radius >= 1:
        raise ValueError(f"radius={radius!r} must be at least 1: adjacent pixels are one pixel apart.")
    return float(radius)


def _positive(sigma: float, name: str) -> float:
    if not (np.isfinite(sigma) and sigma > 0):
        raise ValueError(f"{name}={sigma!r} must be a positive number.")
    return float(sigma)


def _warn_of_lost(n_lost: int, n_weights: int, sigma_position: float, sigma_color: float) -> None:
    if n_lost:
        warn(
            f"{n_lost} of {n_weights} weights underflow to zero with sigma_position={sigma_position:.3g} and "
            f"sigma_color={sigma_color:.3g}: pixels may fall out of the graph. Use larger widths.",
            GraphWarning,
        )
