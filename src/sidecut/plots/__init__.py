"""Pictures of data, constraints, clusters and spectra, drawn with matplotlib.

matplotlib is imported only when a picture is drawn, and pyplot never: each function draws on the axes
it is given or on a figure of its own, and returns the axes.
"""

from sidecut.plots.canvas import align_clusters
from sidecut.plots.curves import (
    plot_candidates,
    plot_dialogue,
    plot_eigenvalues,
    plot_indicator,
    plot_layers,
    plot_n_clusters,
    plot_reliability,
)
from sidecut.plots.embedding import plot_before_after, plot_embedding, plot_update, project_for_picture
from sidecut.plots.links import plot_propagated, plot_propagated_links
from sidecut.plots.matrices import plot_affinity, plot_distances, plot_equivalent_kernel, plot_numerical_range

__all__ = [
    "align_clusters",
    "plot_affinity",
    "plot_before_after",
    "plot_candidates",
    "plot_dialogue",
    "plot_distances",
    "plot_eigenvalues",
    "plot_embedding",
    "plot_equivalent_kernel",
    "plot_indicator",
    "plot_layers",
    "plot_n_clusters",
    "plot_numerical_range",
    "plot_propagated",
    "plot_propagated_links",
    "plot_reliability",
    "plot_update",
    "project_for_picture",
]
