"""CSAP: constrained spectral clustering by affinity propagation (Lu & Carreira-Perpiñán, 2008).

| file | holds |
|---|---|
| `estimator.py` | the estimator `CSAP` |
| `kernel.py` | algorithms A and B: a Gaussian process conditioned on links, as dense kernels |
| `graph.py` | the same on a graph of any size |
| `merged.py` | the same on a large sparse graph, must-linked sets as one node: linear time |
| `prior.py` | the diagonal that makes a graph a covariance |
| `conditioned_graph.py` | max(0, W - F Fᵀ - max_k g_k g_kᵀ) in tiles, and what a sparse graph keeps of it |
| `divergence.py` | the kernel of least divergence from the prior that keeps the links |
"""

from sidecut.methods.csap.estimator import CSAP
from sidecut.methods.csap.graph import ConditionedGraph
from sidecut.methods.csap.kernel import condition_kernel, equivalent_kernel, minimum_divergence

__all__ = [
    "CSAP",
    "ConditionedGraph",
    "condition_kernel",
    "equivalent_kernel",
    "minimum_divergence",
]
