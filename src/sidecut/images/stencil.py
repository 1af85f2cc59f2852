"""Edges between pixels at most a radius apart: the same offsets everywhere, so nothing is searched."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from sidecut.images.pixels import FloatArray

#: More edges than this are refused: their weights alone would take 8 GB.
MAX_ENTRIES = 500_000_000

Offset = tuple[int, int]


def offsets_within(radius: float, shape: tuple[int, int]) -> list[Offset]:
    """Return the steps (rows, columns) from a pixel to its neighbours, in the order of reading.

    Parameters
    ----------
    radius : float
        Steps longer than this are left out; infinity leaves out none.
    shape : (int, int)
        Height and width of the picture: longer steps lead nowhere.

    Examples
    --------
    >>> from sidecut.images.stencil import offsets_within
    >>> offsets_within(1, (9, 9))
    [(-1, 0), (0, -1), (0, 1), (1, 0)]
    """
    down, across = (int(min(radius, extent - 1)) for extent in shape)
    steps = ((r, c) for r in range(-down, down + 1) for c in range(-across, across + 1))
    return [(r, c) for r, c in steps if 0 < r * r + c * c <= radius * radius]


def stencil_weights(
    pixels: FloatArray, radius: float, sigma_position: float, sigma_color: float
) -> sp.csr_array:
    """Return the Gaussian weights between all pixels no farther apart than a radius.

    Parameters
    ----------
    pixels : array of shape (height, width, channels)
        The picture.
    radius : float
        In pixels.
    sigma_position, sigma_color : float
        The widths: W_ij = exp(-‖p_i - p_j‖² / (2 σ_p²) - ‖f_i - f_j‖² / (2 σ_c²)).

    Raises
    ------
    MemoryError
        If there would be more than half a billion weights.
    """
    height, width, _ = pixels.shape
    offsets = offsets_within(radius, (height, width))
    _check_size(height * width * len(offsets), radius, (height, width))
    slots = {offset: slot for slot, offset in enumerate(offsets)}
    weights = np.zeros((height, width, len(offsets)))
    exists = np.zeros((height, width, len(offsets)), dtype=bool)
    for (down, across), here, there in _forward_edges(offsets, (height, width)):
        gap = pixels[here] - pixels[there]
        near = (down * down + across * across) / (2.0 * sigma_position**2)
        # Widths divide before squares are taken: neither square need be a finite number.
        edge = np.exp(-near - 0.5 * ((gap / sigma_color) ** 2).sum(axis=2))
        for pixel, slot in ((here, slots[down, across]), (there, slots[-down, -across])):
            weights[(*pixel, slot)] = edge
            exists[(*pixel, slot)] = True
    return _compressed(weights, exists, offsets)


def _forward_edges(
    offsets: list[Offset], shape: tuple[int, int]
) -> Iterator[tuple[Offset, tuple[slice, slice], tuple[slice, slice]]]:
    """Yield each step that goes forward, the pixels it can be made from, and those it leads to."""
    height, width = shape
    for down, across in offsets:
        if (down, across) < (0, 0):
            continue
        left, right = max(0, -across), width - max(0, across)
        here = (slice(0, height - down), slice(left, right))
        there = (slice(down, height), slice(left + across, right + across))
        yield (down, across), here, there


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


def _check_size(n_entries: int, radius: float, shape: tuple[int, int]) -> None:
    if n_entries > MAX_ENTRIES:
        raise MemoryError(
            f"radius={radius:g} on an image of {shape[0]} x {shape[1]} pixels would need {n_entries:,} "
            f"weights, {9 * n_entries / 1e9:.0f} GB or more. Use a smaller radius, or a smaller image."
        )
