"""Poisson learning, and diffusion with thresholding (MBO) of labels, pairs and sizes in one energy.

| file | holds |
|---|---|
| `mbo` | `PoissonMBO`: diffusion and thresholding of one energy, for given, bounded or unknown sizes |
| `base` | `PoissonLearning`: the potentials of point charges (Calder et al., 2020); what both methods share |
| `seeds` | points whose cluster is known, and a first clustering where clusters have none |
| `starts` | where labels are missing or few: pieces of the graph, joined by pairs, labels and diffusion |
| `equation` | the signed graph, the Poisson equation on it, and e^{-tA} by Chebyshev polynomials |
| `descent` | sizes of clusters, optimal labels for them, and the iteration that lowers the energy |
"""

from sidecut.methods.poisson.base import PoissonLearning
from sidecut.methods.poisson.mbo import PoissonMBO

__all__ = ["PoissonLearning", "PoissonMBO"]
