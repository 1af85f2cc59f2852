"""Clusters for nodes of which some must be apart: graph colouring with costs."""

from sidecut.labelling.coloring.assignment import Assigner, Assignment, violate_least
from sidecut.labelling.coloring.conflict_graph import ConflictGraph, Verdict, find_colouring

__all__ = ["Assigner", "Assignment", "ConflictGraph", "Verdict", "find_colouring", "violate_least"]
