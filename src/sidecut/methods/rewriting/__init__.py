"""Methods that rewrite the graph by what is known, then cut it."""

from sidecut.methods.rewriting.csap import CSAP
from sidecut.methods.rewriting.divergence import minimum_divergence
from sidecut.methods.rewriting.e2cp import E2CP, nontrivial
from sidecut.methods.rewriting.linked_kernel import equivalent_kernel, linked_kernel
from sidecut.methods.rewriting.propagation import PropagatedConstraints, propagated, propagated_by_iteration
from sidecut.methods.rewriting.spectral_learning import SpectralLearning
from sidecut.methods.rewriting.spreading import spread

__all__ = [
    "CSAP",
    "E2CP",
    "PropagatedConstraints",
    "SpectralLearning",
    "equivalent_kernel",
    "linked_kernel",
    "minimum_divergence",
    "nontrivial",
    "propagated",
    "propagated_by_iteration",
    "spread",
]
