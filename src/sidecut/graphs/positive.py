"""The positive part of a matrix of low rank: entrywise, so no longer of low rank, yet never formed.

F⁺_ij = min(max(F_ij, 0), 1) is the part of propagated constraints that joins points. It is applied exactly,
by the cheapest way its structure allows: not at all where nothing is positive, through the factor where
nothing is negative, class by class for labels, and tile by tile otherwise.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp

from sidecut.graphs.classwise import ClasswisePart
from sidecut.graphs.graph import FloatArray
from sidecut.graphs.lowrank import AgreementMatrix, LowRankMatrix
from sidecut.graphs.tiles import TiledPart

PositivePart = Callable[[FloatArray], FloatArray]


def positive_part(matrix: LowRankMatrix, exact: bool = True) -> PositivePart | None:
    """Return the map X -> F⁺ X, or None where F has no positive entry.

    Parameters
    ----------
    matrix : LowRankMatrix
        F, with a factor that is not negative.
    exact : bool, default=True
        Whether an agreement of labels may not leave out entries for the sake of linear time, see
        `sidecut.graphs.classwise.ClasswisePart`.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.graphs import AgreementMatrix, positive_part
    >>> matrix = AgreementMatrix(np.array([[0.9, 0.1], [0.8, 0.0], [0.1, 0.6]]))
    >>> positive_part(matrix)(np.eye(3)).round(3)
    array([[0.64, 0.64, 0.  ],
           [0.64, 0.64, 0.  ],
           [0.  , 0.  , 0.25]])
    """
    values = matrix.core.data if sp.issparse(matrix.core) else matrix.core
    # The factor is not negative, so a core of one sign makes F of that sign.
    if np.all(values <= 0):
        return None
    if np.all(values >= 0) and matrix.largest() <= 1.0:
        return matrix.apply
    if isinstance(matrix, AgreementMatrix):
        return ClasswisePart(matrix, exact)
    return TiledPart(matrix)
