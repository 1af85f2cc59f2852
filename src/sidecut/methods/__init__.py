"""The methods: those that rewrite the graph, and those that pose another problem on it."""

from sidecut.methods.base import SpectralClusterer
from sidecut.methods.posing import NormalizedCut
from sidecut.methods.rewriting import SpectralLearning

__all__ = ["NormalizedCut", "SpectralClusterer", "SpectralLearning"]
