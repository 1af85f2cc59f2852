"""From a graph to eigenvectors that can be trusted.

`laplacian_eigenpairs` solves for the normalised Laplacian of a graph, `pencil_eigenpairs` for a symmetric
definite pencil. Both choose a solver, check that no eigenvector was missed, and say how sure they are.
"""

from sidecut.spectral.laplacian import laplacian_eigenpairs
from sidecut.spectral.pencil import pencil_eigenpairs
from sidecut.spectral.result import Certificate, Eigenpairs

__all__ = ["Certificate", "Eigenpairs", "laplacian_eigenpairs", "pencil_eigenpairs"]
