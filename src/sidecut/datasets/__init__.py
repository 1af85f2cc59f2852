"""Data to try sidecut on: bundled examples, the data of the papers, random graphs with planted clusters."""

from sidecut.datasets.dataset import Dataset
from sidecut.datasets.loading import ExampleName, load, make_example, stochastic_block_graph, two_moons

__all__ = ["Dataset", "ExampleName", "load", "make_example", "stochastic_block_graph", "two_moons"]
