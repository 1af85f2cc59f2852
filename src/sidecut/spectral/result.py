"""What a spectral solver returns: the eigenpairs, and how sure it is that none was missed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from sidecut.arrays import FloatArray


class RitzPairs(NamedTuple):
    """What Rayleigh-Ritz makes of a basis: values in order, orthonormal vectors, the norms of residuals."""

    values: FloatArray
    vectors: FloatArray
    residuals: FloatArray


@dataclass(frozen=True)
class Certificate:
    """The reason to believe that no eigenvector was missed.

    Small residuals prove that what was found is right; they say nothing about what was not found.
    A certificate does.

    Attributes
    ----------
    method : str
        "full decomposition", "inertia", "random start", "components" or "none".
    certified_below : float
        Every eigenvalue below this number has been found. For the end of the spectrum that was asked for;
        with `which="largest"` read it as "above".
    failure_probability : float
        The chance that the statement is wrong; 0 where it is a proof up to rounding, which does not tell
        eigenvalues apart that differ by less than 1e-13.
    complete : bool
        The statement covers all eigenvalues that were asked for.
    detail : str
        The statement in words.
    """

    method: str
    certified_below: float
    failure_probability: float
    complete: bool
    detail: str

    @property
    def is_proof(self) -> bool:
        """True where the certificate does not rest on chance."""
        return self.complete and self.failure_probability == 0.0

    def __str__(self) -> str:
        return self.detail


@dataclass(frozen=True)
class Eigenpairs:
    """Eigenvalues and eigenvectors, with their residuals, the solver that ran and its certificate.

    Attributes
    ----------
    values : array of shape (k,)
        Eigenvalues, from the end of the spectrum that was asked for inwards.
    vectors : array of shape (n, k)
        Orthonormal eigenvectors (in the inner product of the problem), the largest entry of each positive.
    residuals : array of shape (k,)
        The norm of what each pair leaves of its equation.
    solver : str
        Which solver ran, in words.
    certificate : Certificate
        How sure it is that no eigenvector was missed.
    """

    values: FloatArray
    vectors: FloatArray
    residuals: FloatArray
    solver: str
    certificate: Certificate

    def first(self, count: int) -> Eigenpairs:
        """Return the first `count` pairs."""
        return replace(
            self,
            values=self.values[:count],
            vectors=np.ascontiguousarray(self.vectors[:, :count]),
            residuals=self.residuals[:count],
        )


def orient(vectors: FloatArray) -> FloatArray:
    """Flip every column so that its entry of largest magnitude is positive.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.spectral.result import orient
    >>> orient(np.array([[0.6, 0.8], [-0.8, 0.6]]))
    array([[-0.6,  0.8],
           [ 0.8,  0.6]])
    """
    if vectors.size == 0:
        return vectors
    largest = np.abs(vectors).argmax(axis=0)
    signs = np.sign(vectors[largest, np.arange(vectors.shape[1])])
    return vectors * np.where(signs == 0, 1.0, signs)
