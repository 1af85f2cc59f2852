"""The regions of a picture, their looks, and the strength of the edges between them.

Nothing here depends on marks, so more marks on the same picture cost little.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy import ndimage
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import SuperLU, splu

from sidecut.checks import BoolArray, FloatArray, IntArray
from sidecut.graphs import SparseGraph
from sidecut.images.pixel_graph import as_pixels

#: The width of the kernel, in units of Lab (black is 0, white 100).
WIDTH = 7.0
#: Added to densities, so that a look without any mark does not decide between classes.
FLOOR = 0.01
#: The power in `pool_alike`: a class half as probable as the true one hardly shares its density.
SHARPNESS = 4
#: How many regions of a class make its density, at most.
MAX_EXAMPLES = 100
#: Weight of texture beside colour in the look of a region (for edges, its weight is 1).
TEXTURE_WEIGHT = 2.0
#: Counts of colours are smoothed with this width, in bins.
BIN_WIDTH = 0.6
#: From linear RGB (sRGB primaries) to XYZ relative to daylight D65, IEC 61966-2-1.
_XYZ = np.array(
    [[0.412453, 0.357580, 0.180423], [0.212671, 0.715160, 0.072169], [0.019334, 0.119193, 0.950227]]
) / np.array([[0.95047], [1.0], [1.08883]])
#: From XYZ, after the cube root, to L, a and b (CIE 1976).
_LAB = np.array([[0.0, 116.0, 0.0], [500.0, -500.0, 0.0], [0.0, 200.0, -200.0]])


#: Regions have this many pixels on average; there are at least 1,500 of them and at most MAX_REGIONS. In a
#: picture of no more pixels than MAX_REGIONS, every pixel is a region.
PIXELS_PER_REGION = 60
MAX_REGIONS = 6_000
#: A picture with more pixels than this is cut at half its size first, and again, until it has fewer.
MAX_PIXELS = 400_000
#: γ, how much the prior of a region counts beside its neighbours, per pixel.
REGION_PRIOR_WEIGHT = 0.03


def texture(lightness: FloatArray) -> list[FloatArray]:
    """Return the standard deviation of the lightness around every pixel, at scales of 2 and 4 pixels."""
    deviations = []
    for scale in (2.0, 4.0):
        mean = ndimage.gaussian_filter(lightness, scale)
        square = ndimage.gaussian_filter(lightness**2, scale)
        deviations.append(np.sqrt(np.maximum(square - mean**2, 0.0)))
    return deviations


def class_densities(looks: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the density of every class at the look of every region."""
    # Single precision is twice as fast, and accurate enough for densities.
    places = (looks * (np.sqrt(0.5) / WIDTH)).astype(np.float32)
    squares = np.einsum("ij,ij->i", places, places)[:, None]
    ones = np.ones_like(squares)
    # -‖x - y‖² = 2 x·y - ‖y‖² - ‖x‖², as one product.
    here, there = np.hstack([2.0 * places, ones, -squares]), np.hstack([places, -squares, ones])
    densities = []
    for weight in weights.T:
        examples = np.flatnonzero(weight > 0)
        if examples.size > MAX_EXAMPLES:
            examples = examples[np.linspace(0, examples.size - 1, MAX_EXAMPLES).astype(np.intp)]
        share = weight[examples] / weight[examples].sum()
        kernel = here @ there[examples].T
        np.exp(np.minimum(kernel, 0.0, out=kernel), out=kernel)
        densities.append((kernel @ share.astype(np.float32)).astype(np.float64))
    return np.stack(densities, axis=1)


def pool_alike(densities: FloatArray, votes: FloatArray) -> FloatArray:
    """Return densities in which classes that look alike on their marks share theirs."""
    # M_cd is the mean probability of class d, by look alone, on the marks of class c. Where M_cd is as large
    # as M_cc, small differences of the two densities are chance. So class c gets the mean of all densities,
    # weighted by (M_cd / M_cc)^4.
    likely = densities + FLOOR
    likely = likely / likely.sum(axis=1, keepdims=True)
    confusion = votes.T @ likely / votes.sum(axis=0)[:, None]
    alike = np.minimum(confusion / np.diag(confusion)[:, None], 1.0) ** SHARPNESS
    return densities @ (alike / alike.sum(axis=1, keepdims=True)).T


def color_bins(colors: npt.NDArray) -> npt.NDArray[np.uint16]:
    """Return the bin of every colour."""
    sizes, low, span = _bin_axes(colors.shape[-1])
    steps = np.floor((colors - low) * (np.array(sizes) / span)).astype(np.intp)
    inside = np.clip(steps, 0, np.array(sizes) - 1)
    return np.ravel_multi_index(tuple(np.moveaxis(inside, -1, 0)), sizes).astype(np.uint16)


def class_palettes(
    bins: npt.NDArray[np.uint16], codes: npt.NDArray, is_sure: BoolArray, n_classes: int, n_channels: int
) -> FloatArray:
    """Return the share of every bin among the pixels of each class."""
    sizes = _bin_axes(n_channels)[0]
    n_bins = int(np.prod(sizes))
    which = codes.reshape(-1).astype(np.intp) * n_bins + bins.reshape(-1)
    # Pixels near a border may change their class, so they count less.
    weights = np.where(is_sure.reshape(-1), 1.0, 0.3)
    counts = np.bincount(which, weights, n_classes * n_bins).reshape(n_classes, *sizes)
    smooth = ndimage.gaussian_filter(counts, (0.0, *(BIN_WIDTH for _ in sizes))).reshape(n_classes, n_bins)
    return smooth / smooth.sum(axis=1, keepdims=True)


def how_distinct(palettes: FloatArray) -> float:
    """Return how well single colours separate the two classes that are most alike, from 0 to 1."""
    # The mean probability of the true class of a pixel by its colour: 1/2 is a guess.
    chances = [
        float(((one**2 + other**2) / np.maximum(one + other, np.finfo(float).tiny)).sum()) / 2.0
        for one, other in combinations(palettes, 2)
    ]
    return max(0.0, 2.0 * min(chances, default=0.5) - 1.0)


def with_colors(
    probabilities: FloatArray, palettes: FloatArray, bins: npt.NDArray[np.uint16], weight: float = 1.0
) -> FloatArray:
    """Return probabilities of classes times the share of a pixel's colour in each class, normalised."""
    # Neither factor may be zero and decide alone.
    joined = (probabilities + 0.02) * (palettes[:, bins].T + 1e-4) ** weight
    return joined / joined.sum(axis=1, keepdims=True)


def _bin_axes(n_channels: int) -> tuple[tuple[int, ...], FloatArray, FloatArray]:
    """Return how many bins there are along each channel, where they begin, and how far they reach."""
    if n_channels == 1:
        return (48,), np.array([0.0]), np.array([100.0])
    return (20, 24, 24), np.array([0.0, -64.0, -64.0]), np.array([100.0, 128.0, 128.0])


def as_lab(pixels: npt.NDArray) -> FloatArray:
    """Return pixels in Lab, where black is 0 and white 100; grey pixels keep one channel."""
    values = np.asarray(pixels)
    if values.dtype != np.float32:
        values = values.astype(np.float64)
    if values.shape[-1] != 3:
        return 100.0 * values
    light = np.where(values > 0.04045, ((values + 0.055) / 1.055) ** 2.4, values / 12.92)
    xyz = light @ _XYZ.T.astype(values.dtype)
    root = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16.0 / 116.0)
    lab = root @ _LAB.T.astype(values.dtype)
    lab[..., 0] -= 16.0
    return lab


def in_unit_range(pixels: FloatArray) -> FloatArray:
    """Return pixels between 0 and 1: as they are if they lie there, stretched to fit if they do not."""
    low, high = float(pixels.min()), float(pixels.max())
    if low >= 0.0 and high <= 1.0:
        return pixels
    return (pixels - low) / max(high - low, np.finfo(float).tiny)


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


#: Regions that are taken out of a tree at once, two neighbours of each, and the edges to these.
TreeRound = tuple[IntArray, IntArray, IntArray, FloatArray, FloatArray]


@dataclass(frozen=True, eq=False)
class RegionGraph:
    """The graph of the regions of a picture.

    Attributes
    ----------
    levels : list of arrays of shape (..., n_channels)
        The picture between 0 and 1, then at half its size, and so on; regions are those of the last.
    regions : Regions
        Connected sets of similar pixels.
    looks : array of shape (n_regions, n_features)
        Colour and texture of each region.
    bins : array of the shape of the smallest level
        The bin of the colour of every pixel, see `color_bins`.
    strengths : array of shape (n_borders,)
        The strength of the edge along each border, divided by the root mean square over the picture.
    """

    levels: list[npt.NDArray[np.float32]]
    regions: Regions
    looks: FloatArray
    bins: npt.NDArray[np.uint16]
    strengths: FloatArray

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the picture."""
        return self.levels[0].shape[:-1]

    @property
    def n_edges(self) -> int:
        """How many pairs of regions have a common border."""
        return self.regions.first.size

    @cached_property
    def joining(self) -> Elimination:
        """L of the weights with decay 1 and power 1, over which priors are smoothed, plus γ n."""
        laplacian = sp.csgraph.laplacian(self.weights(1.0, 1.0))
        return Elimination(laplacian + sp.diags_array(REGION_PRIOR_WEIGHT * self.regions.sizes), self._order)

    @cached_property
    def walking(self) -> Elimination:
        """L of the weights for walks that hardly ever cross a strong edge."""
        return Elimination(sp.csgraph.laplacian(self.weights(4.0, 2.0)), self._order)

    @cached_property
    def _order(self) -> IntArray:
        """An order of the regions in which little is filled in when they are eliminated."""
        matrix = sp.csgraph.laplacian(self.weights(1.0, 1.0)) + sp.eye_array(self.regions.n_regions)
        return np.argsort(_factorize(matrix.tocsc(), "MMD_AT_PLUS_A").perm_c)

    @cached_property
    def tree(self) -> list[TreeRound]:
        """The tree of weakest edges, taken apart: see `take_apart`.

        On the way between two regions along this tree the strongest edge is as weak as it can be.
        """
        # An edge of strength zero would not be stored.
        edges = adjacency(self.regions, self.strengths + np.finfo(np.float32).tiny)
        # SciPy 1.15 has no spanning trees for indices of 64 bits.
        short = edges.data, edges.indices.astype(np.int32), edges.indptr.astype(np.int32)
        weakest = sp.csgraph.minimum_spanning_tree(sp.csr_array(short, shape=edges.shape)).tocoo()
        first, second = weakest.coords
        return take_apart(first, second, weakest.data, self.regions.n_regions)

    def weights(self, decay: float, power: float) -> sp.csr_array:
        """Return the weights between regions: length · exp(-decay · strength^power).

        Parameters
        ----------
        decay : float
            How fast weights fall with the strength of the edge.
        power : float
            2 separates weak edges from strong ones more sharply than 1.
        """
        regions = self.regions
        # The last term keeps the graph connected where strong edges make weights vanish.
        return adjacency(regions, regions.lengths * np.exp(-decay * self.strengths**power) + 1e-9)

    def graph(self, decay: float = 1.0, power: float = 1.0) -> SparseGraph:
        """Return the graph for any estimator with ``affinity="precomputed"``.

        Parameters
        ----------
        decay, power : float
            See `weights`.
        """
        return SparseGraph(self.weights(decay, power))

    def spread(self, values: npt.NDArray) -> npt.NDArray:
        """Return a value of every region as an image of the picture's size."""
        spread = values[self.regions.numbers]
        for level in reversed(self.levels[:-1]):
            spread = doubled(spread, level.shape[:-1])
        return spread


def doubled(values: npt.NDArray, shape: tuple[int, ...]) -> npt.NDArray:
    """Return every pixel twice along each axis that is longer in the new shape, cut to fit."""
    for axis in reversed(range(len(shape))):
        if values.shape[axis] != shape[axis]:
            wide = np.empty((*values.shape[:axis], shape[axis], *values.shape[axis + 1 :]), values.dtype)
            before = (slice(None),) * axis
            for side in (0, 1):
                half = wide[(*before, slice(side, None, 2))]
                half[...] = values[(*before, slice(half.shape[axis]))]
            values = wide
    return values


def region_graph(image: npt.ArrayLike, *, n_regions: int | None = None, volume: bool = False) -> RegionGraph:
    """Return the regions of a picture and how they are linked, for `segment` with ``graph=``.

    Parameters
    ----------
    image : array of shape (height, width) or (height, width, channels)
        Grey or colour, see `as_pixels`.
    n_regions : int, optional
        By default every pixel of a small picture, and otherwise one region for 60 pixels, at least 1,500 and
        at most 6,000.
    volume : bool, default=False
        Take the picture as a volume of shape (depth, height, width), with or without channels.

    Returns
    -------
    RegionGraph
        What `segment` needs to cut the picture by any marks.

    Examples
    --------
    >>> from sidecut.images import region_graph, touching_discs
    >>> image, truth = touching_discs(random_state=0)
    >>> region_graph(image).regions.n_regions
    3456
    """
    levels: list[npt.NDArray] = [in_unit_range(as_pixels(image, volume=volume)).astype(np.float32)]
    while levels[-1][..., 0].size > MAX_PIXELS:
        levels.append(halve(levels[-1]))
    colors = as_lab(levels[-1].astype(np.float64))
    spread = float(np.sqrt(colors.reshape(-1, colors.shape[-1]).var(axis=0).sum()))
    bins = color_bins(colors)
    if spread > 0:
        # Pictures of little contrast are enhanced to a spread of 8 in units of Lab.
        colors *= max(1.0, 8.0 / spread)
    # Noise is smoothed before pixels are merged.
    smooth = ndimage.gaussian_filter(colors, (*(0.5 for _ in colors.shape[:-1]), 0.0))
    n_pixels = colors[..., 0].size
    if n_regions is None:
        many = min(max(n_pixels // PIXELS_PER_REGION, 1_500), MAX_REGIONS)
        n_regions = n_pixels if n_pixels <= MAX_REGIONS else many
    regions = find_regions(smooth, n_regions)
    rough = np.stack([regions.average(scale) for scale in texture(colors[..., 0])], axis=1)
    looks = np.hstack([regions.means, TEXTURE_WEIGHT * rough])
    return RegionGraph(levels, regions, looks, bins, _strengths(regions, rough))


def _factorize(matrix: sp.csc_array, order: str) -> SuperLU:
    """Return the factors of a symmetric positive definite matrix."""
    # Regions have few neighbours: columns one by one are faster than blocks of them.
    return splu(
        matrix,
        permc_spec=order,
        diag_pivot_thresh=0.0,
        relax=1,
        panel_size=1,
        options={"SymmetricMode": True},
    )


class Elimination:
    """A matrix between regions, to be solved with some of them held fixed."""

    # The marked regions change with every stroke; the order of elimination does not.

    def __init__(self, matrix: sp.sparray, order: IntArray):
        self.order, self.matrix = order, matrix.tocsr()[order][:, order].tocsc()
        self.matrix.sort_indices()
        self.columns = np.repeat(np.arange(order.size), np.diff(self.matrix.indptr))
        self.is_diagonal = self.matrix.indices == self.columns

    def grounded(self, votes: FloatArray) -> Grounded:
        """Return the system in which the regions with votes have the classes of these."""
        return Grounded(self, votes[self.order])


class Grounded:
    """A system A u = r in which u is known on marked regions."""

    def __init__(self, elimination: Elimination, votes: FloatArray):
        counts = votes.sum(axis=1, keepdims=True)
        self.is_known = counts[:, 0] > 0
        self.known = votes / np.where(counts > 0, counts, 1.0)
        matrix, self.order = elimination.matrix, elimination.order
        self.pull = matrix @ self.known
        # Rows and columns of known regions are those of the identity.
        is_known = self.is_known[matrix.indices] | self.is_known[elimination.columns]
        values = np.where(is_known, elimination.is_diagonal, matrix.data)
        free = sp.csc_array((values, matrix.indices, matrix.indptr), shape=matrix.shape)
        self.factors = _factorize(free, "NATURAL")

    def solve(self, right: FloatArray) -> FloatArray:
        """Return u."""
        given = np.where(self.is_known[:, None], self.known, right[self.order] - self.pull)
        solution = np.empty_like(right)
        solution[self.order] = self.factors.solve(given)
        return solution


def take_apart(first: IntArray, second: IntArray, strengths: FloatArray, n_regions: int) -> list[TreeRound]:
    """Take a tree apart in few rounds, so that values spread along it in as many."""
    # Every round takes out leaves and regions with two neighbours, no two of them side by side. The two
    # neighbours are then linked by an edge as strong as the stronger one of the two that are gone. A leaf has
    # its one neighbour twice.
    rounds: list[TreeRound] = []
    rank = np.random.default_rng(0).permutation(n_regions)
    while first.size:
        ends, others = np.concatenate([first, second]), np.concatenate([second, first])
        edges = np.concatenate([strengths, strengths])
        is_out = np.bincount(ends, minlength=n_regions) <= 2
        is_beaten = is_out[first] & is_out[second]
        low = np.where(rank[first] < rank[second], first, second)[is_beaten]
        is_out[low] = False
        mine = np.flatnonzero(is_out[ends])
        mine = mine[np.argsort(ends[mine], kind="stable")]
        starts = np.flatnonzero(np.diff(ends[mine], prepend=-1))
        stops = np.append(starts[1:], mine.size) - 1
        one, other = mine[starts], mine[stops]
        rounds.append((ends[one], others[one], others[other], edges[one], edges[other]))
        is_left = ~(is_out[first] | is_out[second])
        is_pair = one != other
        first = np.append(first[is_left], others[one[is_pair]])
        second = np.append(second[is_left], others[other[is_pair]])
        strengths = np.append(strengths[is_left], np.maximum(edges[one], edges[other])[is_pair])
    return rounds


def _strengths(regions: Regions, texture: FloatArray) -> FloatArray:
    """Return how strong the edge along every border is, relative to the picture."""
    # A texture has many edges between small regions and none between their surroundings, so both count.
    color, n_channels = regions.means, regions.means.shape[1]
    around = _surroundings(regions, np.hstack([color, texture]))
    parts: list[tuple[float, FloatArray]] = [
        (0.25, regions.steps),
        (0.6, _gaps(regions, color[:, 1:] if n_channels > 1 else color)),
        (0.5, _gaps(regions, texture)),
        (1.1, _gaps(regions, around[:, :n_channels])),
        (0.25, _gaps(regions, around[:, n_channels:])),
    ]
    return _relative(regions, np.sum([weight * _relative(regions, part) for weight, part in parts], axis=0))


def _surroundings(regions: Regions, looks: FloatArray) -> FloatArray:
    """Return looks averaged over neighbours across weak edges: 12 times, half of each is its neighbours'."""
    plain = _relative(regions, 0.5 * _gaps(regions, looks) + 0.5 * regions.steps)
    weights = adjacency(regions, regions.lengths * np.exp(-plain))
    degrees = weights.sum(axis=1)
    shares = sp.diags_array(0.5 / np.maximum(degrees, np.finfo(float).tiny)) @ weights
    # A region without neighbours keeps its look.
    kept = np.where(degrees > 0, 0.5, 1.0)[:, None]
    for _ in range(12):
        looks = kept * looks + shares @ looks
    return looks


def adjacency(regions: Regions, values: FloatArray) -> sp.csr_array:
    """Return a value per border as a symmetric matrix between regions."""
    shape = (regions.n_regions, regions.n_regions)
    half = sp.coo_array((values, (regions.first, regions.second)), shape=shape)
    return (half + half.T).tocsr()


def _gaps(regions: Regions, looks: FloatArray) -> FloatArray:
    return np.linalg.norm(looks[regions.first] - looks[regions.second], axis=1)


def _relative(regions: Regions, values: FloatArray) -> FloatArray:
    """Return values of borders divided by their root mean square over the picture."""
    square = np.sum(regions.lengths * values**2) / max(regions.lengths.sum(), 1.0)
    return values / (np.sqrt(square) or 1.0)


def halve(pixels: npt.NDArray) -> npt.NDArray:
    """Return a picture at half its size: the mean of 2 x 2 pixels; a last odd row or column is repeated."""
    for axis in range(pixels.ndim - 1):
        size = pixels.shape[axis]
        if size > 1:
            even = pixels.take(range(0, size, 2), axis)
            odd = pixels.take([*range(1, size, 2), *([size - 1] if size % 2 else [])], axis)
            pixels = (even + odd) / 2
    return pixels
