"""From a graph to eigenvectors that can be trusted.

`laplacian_eigenpairs` solves for the normalised Laplacian of a graph: it chooses a solver, checks that no
eigenvector was missed, and says how sure it is.
"""

from sidecut.spectral.certificate import Certificate, Eigenpairs
from sidecut.spectral.laplacian import laplacian_eigenpairs

__all__ = ["Certificate", "Eigenpairs", "laplacian_eigenpairs"]
