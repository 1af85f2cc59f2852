"""The normalised cut: spectral clustering without constraints, the reference for all the others."""

from __future__ import annotations

from dataclasses import dataclass

from sidecut.exceptions import ConstraintError
from sidecut.methods.base import CutClusterer, documented
from sidecut.methods.cut import cut
from sidecut.methods.task import Answer, Task


@documented
@dataclass(eq=False, repr=False)
class NormalizedCut(CutClusterer):
    """Spectral clustering by the normalised cut (Shi & Malik, 2000; Ng, Jordan & Weiss, 2002).

    The rows of the leading eigenvectors of D^{-1/2} W D^{-1/2}, scaled to length one, are clustered. It takes
    no constraints, and is what most constrained methods here give without constraints.

    Parameters
    ----------
    n_clusters : int, default=8
        The number of clusters.
    {graph}
    {rows}
    {labels}
    {all}

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        The cluster of every point, numbered in order of first appearance.
    embedding_ : array of shape (n_samples, n_clusters)
        What was handed to the labelling.
    eigenvalues_, eigenvectors_ : arrays of shape (n_clusters,) and (n_samples, n_clusters)
        Of the normalised Laplacian, smallest first, before any weighting.
    affinity_matrix_ : Graph
        The graph that was cut.
    solution_ : Eigenpairs
        The eigenpairs with their residuals, the solver that ran and its certificate.
    {results}

    See Also
    --------
    CSP : The cut under constraints.
    LSC : The same over landmarks, for very many points.

    References
    ----------
    J. Shi, J. Malik: Normalized cuts and image segmentation. IEEE Transactions on Pattern Analysis and
    Machine Intelligence 22, 2000.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from sidecut import NormalizedCut
    >>> X, y = make_moons(200, noise=0.05, random_state=0)
    >>> model = NormalizedCut(n_clusters=2, n_neighbors=10, random_state=0).fit(X)
    >>> int(abs(sum(model.labels_ == y) - 100))
    100
    >>> model.solution_.certificate.is_proof
    True
    """

    def _solve(self, task: Task) -> Answer:
        if not task.constraints.is_empty:
            raise ConstraintError(
                "NormalizedCut cannot use constraints; choose a method that can, such as SpectralLearning."
            )
        return cut(task.graph, task, self)
