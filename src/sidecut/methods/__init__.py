"""The methods: those that rewrite the graph, and those that pose another problem on it."""

from sidecut.methods.base import SpectralClusterer
from sidecut.methods.posing import CSP, NormalizedCut
from sidecut.methods.rewriting import CSAP, E2CP, SpectralLearning

__all__ = ["CSAP", "CSP", "E2CP", "NormalizedCut", "SpectralClusterer", "SpectralLearning"]
