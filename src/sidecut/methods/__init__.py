"""The methods: those that rewrite the graph, and those that pose another problem on it."""

from sidecut.methods.base import SpectralClusterer
from sidecut.methods.posing import CSP, NormalizedCut
from sidecut.methods.rewriting import CSAP, SpectralLearning

__all__ = ["CSAP", "CSP", "NormalizedCut", "SpectralClusterer", "SpectralLearning"]
