"""Data to try sidecut on: bundled examples and random graphs with planted clusters."""

from sidecut.datasets.block_graph import stochastic_block_graph
from sidecut.datasets.dataset import Dataset
from sidecut.datasets.examples import ExampleName, make_example, two_moons

__all__ = ["Dataset", "ExampleName", "make_example", "stochastic_block_graph", "two_moons"]
