"""From data to a graph: kernels, neighbours, diffusion, graphs that need not exist in memory.

A `Graph` is known by what it does to a block of vectors. Recipes (`Neighbors`, `Gaussian`, `SelfTuning`,
`Heat`, `Cosine`, `Landmarks`) turn data into graphs; `as_graph` takes a matrix or a networkx graph as it is.
"""

from sidecut.graphs.blocks import BlockGraph
from sidecut.graphs.both import average_along, node_features, sum_graphs
from sidecut.graphs.chunks import RowChunks, each_chunk
from sidecut.graphs.edge_files import graph_from_edges
from sidecut.graphs.graph import (
    DenseGraph,
    Graph,
    NormalizedAffinity,
    SparseGraph,
    SparseProduct,
    as_graph,
    warn_about_graph,
)
from sidecut.graphs.kernels import (
    GaussianGraph,
    HeatGraph,
    JoinedResolventGraph,
    ResolventGraph,
    SelfTuningGraph,
    bandwidth,
)
from sidecut.graphs.landmark_codes import (
    CodedRows,
    LandmarkCoder,
    LandmarkSums,
    NearestLandmarks,
    SpooledNearest,
    code_points,
    code_rows,
    constraint_gram,
    landmark_sums,
)
from sidecut.graphs.landmarks import LandmarkGraph, Landmarks, choose_landmarks, landmark_components
from sidecut.graphs.lazy import CorrectedGraph, FactorGraph, TiledGraph, columns_of, correct_weights, rows_of
from sidecut.graphs.point_files import graph_from_points
from sidecut.graphs.recipes import (
    Cosine,
    Gaussian,
    GraphRecipe,
    Heat,
    Neighbors,
    Resolvent,
    SelfTuning,
    local_scales,
    nearest_by_affinity,
    recipe,
    symmetrize,
)
from sidecut.graphs.search import nearest_neighbors

__all__ = [
    "BlockGraph",
    "CodedRows",
    "CorrectedGraph",
    "Cosine",
    "DenseGraph",
    "FactorGraph",
    "Gaussian",
    "GaussianGraph",
    "Graph",
    "GraphRecipe",
    "Heat",
    "HeatGraph",
    "JoinedResolventGraph",
    "LandmarkCoder",
    "LandmarkGraph",
    "LandmarkSums",
    "Landmarks",
    "NearestLandmarks",
    "Neighbors",
    "NormalizedAffinity",
    "Resolvent",
    "ResolventGraph",
    "RowChunks",
    "SelfTuning",
    "SelfTuningGraph",
    "SparseGraph",
    "SparseProduct",
    "SpooledNearest",
    "TiledGraph",
    "as_graph",
    "average_along",
    "bandwidth",
    "choose_landmarks",
    "code_points",
    "code_rows",
    "columns_of",
    "constraint_gram",
    "correct_weights",
    "each_chunk",
    "graph_from_edges",
    "graph_from_points",
    "landmark_components",
    "landmark_sums",
    "local_scales",
    "nearest_by_affinity",
    "nearest_neighbors",
    "node_features",
    "recipe",
    "rows_of",
    "sum_graphs",
    "symmetrize",
    "warn_about_graph",
]
