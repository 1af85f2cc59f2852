"""Pictures: pixels to a graph, marks to constraints, labels to pictures.

`segment` does all of it. With marks it cuts the graph of regions (`region_graph`, then `marked_cut` and,
along the borders, `border`); `pixel_graph` and `Seeds` serve any estimator with ``affinity="precomputed"``.
Reading and writing files needs Pillow, nothing else here does.
"""

from sidecut.images.files import read_image, touching_discs, write_image
from sidecut.images.marked_cut import RegionCut
from sidecut.images.pixel_graph import as_pixels, color_width, pixel_graph
from sidecut.images.region_graph import RegionGraph, region_graph
from sidecut.images.seeds import Box, Seeds
from sidecut.images.segmentation import Segmentation, segment
from sidecut.images.spectral_cut import attainable_beta

__all__ = [
    "Box",
    "RegionCut",
    "RegionGraph",
    "Seeds",
    "Segmentation",
    "as_pixels",
    "attainable_beta",
    "color_width",
    "pixel_graph",
    "read_image",
    "region_graph",
    "segment",
    "touching_discs",
    "write_image",
]
