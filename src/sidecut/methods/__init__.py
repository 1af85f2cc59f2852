"""The methods: those that rewrite the graph, and those that pose another problem on it."""

from sidecut.methods.base import SpectralClusterer
from sidecut.methods.posing import CCSR, CSP, LCSC, LSC, NCSC, SCACS, NormalizedCut
from sidecut.methods.rewriting import CSAP, E2CP, SpectralLearning

__all__ = [
    "CCSR",
    "CSAP",
    "CSP",
    "E2CP",
    "LCSC",
    "LSC",
    "NCSC",
    "SCACS",
    "NormalizedCut",
    "SpectralClusterer",
    "SpectralLearning",
]
