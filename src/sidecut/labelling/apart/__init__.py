"""Clusters for nodes of which some must be apart: graph colouring with costs."""

from sidecut.labelling.apart.assignment import Assigner
from sidecut.labelling.apart.colouring import Verdict, find_colouring
from sidecut.labelling.apart.conflict_graph import ConflictGraph
from sidecut.labelling.apart.violation import Compromise, violate_least

__all__ = ["Assigner", "Compromise", "ConflictGraph", "Verdict", "find_colouring", "violate_least"]
