"""Constrained spectral clustering: clustering with side information."""

__version__ = "0.1.0"
