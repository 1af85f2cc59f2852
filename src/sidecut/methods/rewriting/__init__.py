"""Methods that rewrite the graph by what is known, then cut it."""

from sidecut.methods.rewriting.csap import CSAP
from sidecut.methods.rewriting.spectral_learning import SpectralLearning

__all__ = ["CSAP", "SpectralLearning"]
