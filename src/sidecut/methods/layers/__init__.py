"""Layers of clusters: `layout.py` lays a graph out, `tree.py` reads clusters off its density.

`estimator.py` is the method: it chooses, splits, joins and names them by what is known.
"""

from sidecut.methods.layers.estimator import Layers
from sidecut.methods.layers.tree import find_branches, persistent_layers

__all__ = ["Layers", "find_branches", "persistent_layers"]
