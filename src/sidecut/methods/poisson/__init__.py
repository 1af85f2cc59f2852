"""Poisson learning, and diffusion with thresholding (MBO) of labels, pairs and sizes in one energy.

| file | holds |
|---|---|
| `learning` | `PoissonLearning`: the potentials of point charges (Calder et al., 2020) |
| `mbo` | `PoissonMBO`: diffusion and thresholding of one energy, for given, bounded or unknown sizes |
| `base` | the shared base class: problem, first clustering, `predict`, confidence |
| `seeds` | points whose cluster is known, and a first clustering where clusters have none |
| `starts` | where labels are missing or few: pieces of the graph, joined by pairs, labels and diffusion |
| `equation` | the signed graph, the Poisson equation on it, and e^{-tA} by Chebyshev polynomials |
| `descent` | sizes of clusters, optimal labels for them, and the iteration that lowers the energy |
"""

from sidecut.methods.poisson.learning import PoissonLearning
from sidecut.methods.poisson.mbo import PoissonMBO

__all__ = ["PoissonLearning", "PoissonMBO"]
