"""Methods that pose a problem on the graph as it is."""

from sidecut.methods.posing.normalized_cut import NormalizedCut

__all__ = ["NormalizedCut"]
