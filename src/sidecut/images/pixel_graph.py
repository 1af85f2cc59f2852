"""Pictures as arrays, and from a picture to a graph: pixels are nodes, near and similar ones are linked."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from sidecut.checks import FloatArray, check_positive
from sidecut.exceptions import GraphWarning, warn
from sidecut.graphs import Neighbors, SparseGraph

#: More edges than this are refused: their weights alone would take 8 GB.
MAX_ENTRIES = 500_000_000


def as_pixels(image: npt.ArrayLike, *, volume: bool = False) -> FloatArray:
    """Return a picture as floats of shape (height, width, channels), without its alpha channel.

    Parameters
    ----------
    image : array of shape (height, width) or (height, width, 1 to 4)
        Grey, grey with alpha, RGB or RGBA. Unsigned integers are divided by the largest number of their type,
        so that white is 1 whether a picture has 8 or 16 bits; other numbers are taken as they are.
    volume : bool, default=False
        Take it as a volume of shape (depth, height, width), with or without channels.

    Returns
    -------
    array of shape (height, width, 1 or 3)
        Grey or colour; volumes have one axis more.

    Raises
    ------
    ValueError
        If it has another shape, no pixels, or values that are not finite; the pixel is named.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.images import as_pixels
    >>> as_pixels(np.array([[0, 255]], dtype=np.uint8))[..., 0]
    array([[0., 1.]])
    """
    values = np.asarray(image)
    n_axes = 3 if volume else 2
    _check_shape(values.shape, n_axes)
    if values.dtype.kind not in "buif":
        raise ValueError(f"An image of {values.dtype} values: expected real numbers.")
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        where = tuple(int(index) for index in np.argwhere(~np.isfinite(values))[0])
        raise ValueError(
            f"image[{', '.join(map(str, where))}] = {values[where]}: every pixel must be a finite number. "
            "Replace missing pixels first, for example by the mean of their neighbours."
        )
    pixels = values[..., None] if values.ndim == n_axes else values
    if pixels.shape[-1] in (2, 4):
        pixels = pixels[..., :-1]
    return np.ascontiguousarray(pixels, dtype=np.float64) / white_of(values.dtype)


def white_of(dtype: np.dtype[Any]) -> float:
    """Return the value of white: the largest number of an unsigned integer type, 1 for any other."""
    return float(np.iinfo(dtype).max) if dtype.kind == "u" else 1.0


def as_rgb(image: npt.ArrayLike) -> FloatArray:
    """Return a picture as RGB between 0 and 1, to be looked at; values beyond are stretched to fit."""
    pixels = as_pixels(image)
    low, high = min(float(pixels.min()), 0.0), max(float(pixels.max()), 1.0)
    return np.broadcast_to((pixels - low) / (high - low), (*pixels.shape[:2], 3)).copy()


def _check_shape(shape: tuple[int, ...], n_axes: int) -> None:
    is_picture = len(shape) == n_axes or (len(shape) == n_axes + 1 and 1 <= shape[-1] <= 4)
    if not is_picture:
        axes = "height, width" if n_axes == 2 else "depth, height, width"
        raise ValueError(
            f"An image of shape {shape}: expected ({axes}) for grey or ({axes}, channels) with "
            "at most 4 channels, the last axis being the colours. A volume needs a label image of the same "
            "shape."
        )
    if 0 in shape:
        raise ValueError(f"An image of shape {shape} has no pixels.")


Offset = tuple[int, int]


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
        Pixels at most this far apart are linked; ``numpy.inf`` links all, for small pictures. Time and memory
        grow with its square.
    n_neighbors : int, optional
        Link instead every pixel with its `n_neighbors` nearest in position and colour together, each in units
        of its σ; a one-sided edge has half its weight. Far pixels of the same colour can then be neighbours.
    sigma_position : float, optional
        σ_p in pixels: 0.8 times the radius by default, and for `n_neighbors` 0.8 times the radius of a disc
        of `n_neighbors` pixels.
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
    if sigma_color is None:
        sigma_color = color_width(image)
    reach = _reach(radius, n_neighbors)
    if sigma_position is None:
        # 4 for a radius of 5 (Shi & Malik, 2000). If all pixels are linked, half the extent of the picture
        # takes the place of the radius.
        sigma_position = 0.8 * min(reach, max(height, width) / 2)
    check_positive("sigma_color", sigma_color)
    check_positive("sigma_position", sigma_position)
    if n_neighbors is not None:
        positions = np.moveaxis(np.mgrid[:height, :width], 0, -1) / sigma_position
        features = np.concatenate([positions, pixels / sigma_color], axis=2)
        recipe = Neighbors(n_neighbors, weights="gaussian", sigma=1.0)
        return recipe.build(features.reshape(height * width, features.shape[2]))
    weights = stencil_weights(pixels, reach, sigma_position, sigma_color)
    n_lost = int(np.count_nonzero(weights.data == 0))
    if n_lost:
        warn(
            f"{n_lost} of {weights.nnz} weights underflow to zero with sigma_position={sigma_position:.3g} "
            f"and sigma_color={sigma_color:.3g}: pixels may fall out of the graph. Use larger widths.",
            GraphWarning,
        )
    return SparseGraph(weights)


def color_width(image: npt.ArrayLike) -> float:
    """Return σ_c for a picture: how much adjacent pixels differ on average.

    This is the size of texture and noise, so edges between objects stand out from it. It is at least a
    fifth of the standard deviation of the whole picture, which keeps smooth pictures connected, and 1 for a
    picture of one colour, where it does not matter.

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
    return max(texture, 0.2 * contrast) or 1.0


def _reach(radius: float, n_neighbors: int | None) -> float:
    """Return how far neighbours are apart: the radius, or that of a disc of `n_neighbors` pixels."""
    if n_neighbors is not None:
        return float(np.sqrt(max(n_neighbors, 1) / np.pi))
    if not radius >= 1:
        raise ValueError(f"radius={radius!r} must be at least 1: adjacent pixels are one pixel apart.")
    return float(radius)


def offsets_within(radius: float, shape: tuple[int, int]) -> list[Offset]:
    """Return the steps (rows, columns) from a pixel to its neighbours, in the order of reading."""
    down, across = (int(min(radius, extent - 1)) for extent in shape)
    steps = ((r, c) for r in range(-down, down + 1) for c in range(-across, across + 1))
    return [(r, c) for r, c in steps if 0 < r * r + c * c <= radius * radius]


def stencil_weights(
    pixels: FloatArray, radius: float, sigma_position: float, sigma_color: float
) -> sp.csr_array:
    """Return the Gaussian weights between all pixels no farther apart than a radius."""
    height, width, _ = pixels.shape
    offsets = offsets_within(radius, (height, width))
    n_entries = height * width * len(offsets)
    if n_entries > MAX_ENTRIES:
        raise MemoryError(
            f"radius={radius:g} on an image of {height} x {width} pixels would need {n_entries:,} "
            f"weights, {9 * n_entries / 1e9:.0f} GB or more. Use a smaller radius, or a smaller image."
        )
    slots = {offset: slot for slot, offset in enumerate(offsets)}
    weights = np.zeros((height, width, len(offsets)))
    exists = np.zeros((height, width, len(offsets)), dtype=bool)
    for down, across in offsets:
        if (down, across) < (0, 0):
            # Every edge has two directions; the forward one gives the weight of both.
            continue
        left, right = max(0, -across), width - max(0, across)
        here = (slice(0, height - down), slice(left, right))
        there = (slice(down, height), slice(left + across, right + across))
        gap = pixels[here] - pixels[there]
        near = (down * down + across * across) / (2.0 * sigma_position**2)
        # Widths divide before squares are taken, so that neither square overflows.
        edge = np.exp(-near - 0.5 * ((gap / sigma_color) ** 2).sum(axis=2))
        for pixel, slot in ((here, slots[down, across]), (there, slots[-down, -across])):
            weights[(*pixel, slot)] = edge
            exists[(*pixel, slot)] = True
    return _compressed(weights, exists, offsets)


def _compressed(weights: FloatArray, exists: npt.NDArray[np.bool_], offsets: list[Offset]) -> sp.csr_array:
    """Return compressed rows: offsets in the order of reading are columns in ascending order."""
    height, width, n_offsets = weights.shape
    n_pixels = height * width
    is_edge = exists.reshape(n_pixels, n_offsets)
    starts = np.concatenate([[0], np.cumsum(np.count_nonzero(is_edge, axis=1))])
    kind = np.int32 if max(n_pixels, int(starts[-1])) < np.iinfo(np.int32).max else np.int64
    steps = np.array([down * width + across for down, across in offsets], dtype=kind)
    columns = (np.arange(n_pixels, dtype=kind)[:, None] + steps)[is_edge]
    return sp.csr_array((weights[exists], columns, starts.astype(kind)), shape=(n_pixels, n_pixels))
