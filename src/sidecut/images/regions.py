"""Regions: neighbouring pixels of one colour taken together, so that a cut is of regions, not of pixels.

Every round each region joins the neighbour it is most like (Borůvka's rounds, as in the superpixel hierarchy
of Wei et al., 2018), by Ward's price: how much the squared distances of pixels from the mean of their region
grow. Small regions are cheap to join, so regions grow evenly, and borders stay on the edges of the picture.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from sidecut.checks import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Regions:
    """Regions of a picture and the borders between them."""

    numbers: IntArray
    sizes: FloatArray
    means: FloatArray
    first: IntArray
    second: IntArray
    lengths: FloatArray
    steps: FloatArray

    @property
    def n_regions(self) -> int:
        """How many regions there are."""
        return self.sizes.size

    def average(self, values: npt.NDArray) -> FloatArray:
        """Return the mean of something over the pixels of each region."""
        return np.bincount(self.numbers.ravel(), values.ravel(), self.n_regions) / self.sizes


def find_regions(pixels: FloatArray, n_regions: int) -> Regions:
    """Merge the pixels of a picture or a volume until `n_regions` are left."""
    regions = _single_pixels(pixels)
    while regions.n_regions > max(n_regions, 1):
        regions = _joined(regions, _cheapest_borders(regions, n_regions))
    return regions


def _single_pixels(pixels: FloatArray) -> Regions:
    """Return every pixel as a region; adjacent pixels have a border of length 1."""
    shape = pixels.shape[:-1]
    colors = pixels.reshape(-1, pixels.shape[-1])
    numbers = np.arange(colors.shape[0]).reshape(shape)
    axes = range(len(shape))
    first = np.concatenate([np.delete(numbers, -1, axis=axis).ravel() for axis in axes])
    second = np.concatenate([np.delete(numbers, 0, axis=axis).ravel() for axis in axes])
    steps = np.linalg.norm(colors[first] - colors[second], axis=1)
    return Regions(numbers, np.ones(numbers.size), colors, first, second, np.ones(first.size), steps)


def _cheapest_borders(regions: Regions, n_regions: int) -> IntArray:
    """Return the borders to give up in this round: the cheapest of every region, not more than needed."""
    price = _prices(regions)
    least = np.full(regions.n_regions, np.inf)
    np.minimum.at(least, regions.first, price)
    np.minimum.at(least, regions.second, price)
    given_up = np.flatnonzero((price <= least[regions.first]) | (price <= least[regions.second]))
    n_left = regions.n_regions - n_regions
    if given_up.size > n_left:
        given_up = given_up[np.argsort(price[given_up], kind="stable")[:n_left]]
    return given_up


def _prices(regions: Regions) -> FloatArray:
    """Return Ward's price of every border, with the step across it counted beside the gap of the means."""
    gaps = regions.means[regions.first] - regions.means[regions.second]
    squares = np.einsum("ij,ij->i", gaps, gaps) + regions.steps**2
    sizes = regions.sizes[regions.first], regions.sizes[regions.second]
    # The last term decides on flat ground, where all prices are zero.
    return squares * sizes[0] * sizes[1] / (sizes[0] + sizes[1]) + 1e-9 * (sizes[0] + sizes[1])


def _joined(regions: Regions, given_up: IntArray) -> Regions:
    """Return the regions that are left when some borders are given up."""
    shape = (regions.n_regions, regions.n_regions)
    links = (np.ones(given_up.size), (regions.first[given_up], regions.second[given_up]))
    n_left, new = connected_components(sp.coo_array(links, shape=shape), directed=False)
    sizes: FloatArray = np.bincount(new, regions.sizes, n_left).astype(np.float64)
    sums = [np.bincount(new, regions.sizes * channel, n_left) for channel in regions.means.T]
    means = np.stack(sums, axis=1) / sizes[:, None]
    new = new.astype(np.intp)
    first, second = new[regions.first], new[regions.second]
    is_left = first != second
    low, high = np.minimum(first, second)[is_left], np.maximum(first, second)[is_left]
    pairs, which = np.unique(low * n_left + high, return_inverse=True)
    lengths: FloatArray = np.bincount(which, regions.lengths[is_left]).astype(np.float64)
    steps = np.bincount(which, (regions.lengths * regions.steps)[is_left]) / lengths
    return Regions(new[regions.numbers], sizes, means, pairs // n_left, pairs % n_left, lengths, steps)
