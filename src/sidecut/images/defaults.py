"""What `segment` chooses where nothing is said: how far pixels are linked, the method, how many segments."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sidecut.exceptions import ConstraintError
from sidecut.images.balance import attainable_beta, most_of_a_class
from sidecut.images.seeds import Seeds
from sidecut.labelling import LabellingMethod
from sidecut.methods import CSP, NormalizedCut

#: Relative residual of the cut: its sign does not change below this, and pixels are many.
TOLERANCE = 1e-5
#: Pictures with more pixels than this are linked less where nothing is marked.
LARGE = 40_000


def usual_radius(image: npt.ArrayLike, seeds: Seeds | None) -> float:
    """Return the radius `segment` uses when none is given: 5, and 2 for large pictures without marks.

    Without marks the eigenvalues of a large picture crowd near zero, and only an exact factorisation tells
    them apart in reasonable time; it is affordable where few pixels are linked.

    Parameters
    ----------
    image : array
        The picture.
    seeds : Seeds or None
        The marks.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.images.defaults import usual_radius
    >>> usual_radius(np.zeros((32, 48)), None), usual_radius(np.zeros((321, 481)), None)
    (5.0, 2.0)
    """
    height, width = np.shape(image)[:2]
    return 2.0 if seeds is None and height * width > LARGE else 5.0


def usual_method(
    seeds: Seeds | None, n_segments: int, random_state: int | np.random.RandomState | None = 0
) -> CSP | NormalizedCut:
    """Return the method `segment` uses when none is given.

    Parameters
    ----------
    seeds : Seeds or None
        The marks: with any, CSP with β from `attainable_beta`; without, the normalised cut.
    n_segments : int
        K.
    random_state : int, RandomState or None, default=0
        For the method.

    Examples
    --------
    >>> from sidecut.images.defaults import usual_method
    >>> usual_method(None, 2)
    NormalizedCut(labelling='sign', n_clusters=2, random_state=0)
    """
    if seeds is None:
        labelling: LabellingMethod = "sign" if n_segments == 2 else "kmeans"
        return NormalizedCut(n_segments, labelling=labelling, random_state=random_state)
    counts = np.minimum(seeds.counts, most_of_a_class(len(seeds.classes)))
    beta = attainable_beta(counts, seeds.codes.size)
    return CSP(n_segments, beta=beta, tol=TOLERANCE, random_state=random_state)


def number_of_segments(n_segments: int | None, seeds: Seeds | None) -> int:
    """Return how many segments there are to be: as many as asked for, or as there are classes, at least two.

    Parameters
    ----------
    n_segments : int or None
        What was asked for.
    seeds : Seeds or None
        The marks.

    Raises
    ------
    ConstraintError
        If nothing is marked, or more classes than segments.

    Examples
    --------
    >>> from sidecut.images.defaults import number_of_segments
    >>> number_of_segments(None, None)
    2
    """
    n_classes = 0 if seeds is None else len(seeds.classes)
    if seeds is not None and n_classes == 0:
        raise ConstraintError(
            "Nothing is marked: every pixel of the scribbles is unknown. Draw with plain saturated colours, "
            "or give class numbers from 1."
        )
    if n_segments is None:
        return max(n_classes, 2)
    if seeds is not None and n_segments < n_classes:
        raise ConstraintError(
            f"The marks are of {n_classes} classes ({', '.join(map(str, seeds.classes))}), and {n_segments} "
            f"segments are fewer: ask for at least {n_classes}, or mark fewer classes."
        )
    return n_segments
