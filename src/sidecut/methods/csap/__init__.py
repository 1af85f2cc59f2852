"""CSAP: constrained spectral clustering by affinity propagation (Lu & Carreira-Perpiñán, 2008).

| file | holds |
|---|---|
| `estimator.py` | the estimator `CSAP` |
| `kernel.py` | algorithms A and B on dense kernels; the kernel of least divergence (appendix A) |
| `graph.py` | the same on a graph of any size, and the diagonal that makes a graph a covariance |
| `merged.py` | the same on a large sparse graph, must-linked sets as one node: linear time |
"""

from sidecut.methods.csap.estimator import CSAP
from sidecut.methods.csap.graph import ConditionedGraph
from sidecut.methods.csap.kernel import condition_kernel, equivalent_kernel, minimum_divergence

__all__ = ["CSAP", "ConditionedGraph", "condition_kernel", "equivalent_kernel", "minimum_divergence"]
