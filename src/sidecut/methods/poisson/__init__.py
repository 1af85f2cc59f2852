"""Poisson learning, and volume-constrained diffusion with labels, pairs and sizes in one energy.

| file | holds |
|---|---|
| `learning` | `PoissonLearning`: the potentials of point charges (Calder et al., 2020) |
| `mbo` | `PoissonMBO`: diffusion and thresholding of one energy, for given, bounded or unknown sizes |
| `base` | what the two share: the walk, anchors, `predict` |
| `anchors` | which points stand for which cluster, and a first clustering where not every one has some |
| `pieces` | where labels are missing: pieces of the graph, joined by pairs and by heat |
| `signed_graph` | the graph with must-links as edges and cannot-links as repulsion; its null space |
| `equation` | the Poisson equation by conjugate gradients; e^{-tA} by Chebyshev polynomials |
| `sizes` | the price of a member, and labels that maximise scores less prices, exactly |
| `descent` | the energy, and the iteration that cannot raise it |
"""

from sidecut.methods.poisson.learning import PoissonLearning
from sidecut.methods.poisson.mbo import PoissonMBO

__all__ = ["PoissonLearning", "PoissonMBO"]
