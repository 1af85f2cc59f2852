"""One way to call ARPACK: reproducible, with its failures turned into SpectralError."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
from scipy.sparse.linalg import ArpackError, ArpackNoConvergence, LinearOperator, eigsh

from sidecut.exceptions import SpectralError
from sidecut.spectral.result import FloatArray

#: Since SciPy 1.17 one can give the generator from which ARPACK draws a vector when a Krylov space closes.
TAKES_RNG = "rng" in inspect.signature(eigsh).parameters


def largest_eigenvectors(
    operator: LinearOperator,
    count: int,
    start: FloatArray,
    rng: np.random.RandomState,
    *,
    tolerance: float,
    max_products: int | None = None,
    **pencil: LinearOperator,
) -> FloatArray:
    """Return eigenvectors of the `count` largest eigenvalues of a symmetric operator, in no certain order.

    Parameters
    ----------
    operator : LinearOperator of order n
        The operator.
    count : int
        How many, less than n.
    start : array of shape (n,)
        The starting vector.
    rng : RandomState
        Seeds what ARPACK draws by itself.
    tolerance : float
        Relative accuracy of the eigenvalues.
    max_products : int, optional
        Give up after about this many products.
    **pencil : LinearOperator
        `M` and `Minv` of a generalised problem.

    Raises
    ------
    SpectralError
        If the iteration does not converge.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse.linalg import aslinearoperator
    >>> from sidecut.spectral.arpack import largest_eigenvectors
    >>> diagonal = aslinearoperator(np.diag(np.arange(30.0)))
    >>> vectors = largest_eigenvectors(diagonal, 1, np.ones(30), np.random.RandomState(0), tolerance=1e-10)
    >>> int(np.abs(vectors[:, 0]).argmax())
    29
    """
    n = operator.shape[0]
    width = min(n, max(2 * count + 1, count + 20))
    options: dict[str, Any] = dict(pencil)
    if max_products is not None:
        options["maxiter"] = max(1, max_products // max(width - count, 1))
    if TAKES_RNG:
        options["rng"] = np.random.default_rng(rng.randint(2**31))
    try:
        _, vectors = eigsh(operator, count, which="LA", v0=start, ncv=width, tol=tolerance, **options)
    except ArpackNoConvergence as error:
        within = "" if max_products is None else f" within {max_products} products"
        raise SpectralError(f"Lanczos iteration did not converge{within}.") from error
    except ArpackError as error:
        raise SpectralError(f"Lanczos iteration broke down ({str(error).rstrip('.')}).") from error
    return np.asarray(vectors)
