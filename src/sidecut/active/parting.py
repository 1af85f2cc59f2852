"""Where a person says that some points are not one cluster: the pair to ask about first."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from sidecut.active.landscape import middle_of_pieces
from sidecut.active.records import Question
from sidecut.labelling import kmeans_labels, unit_rows

if TYPE_CHECKING:
    from sidecut.active.clustering import ActiveClustering


def part_question(run: ActiveClustering, points: npt.ArrayLike) -> Question:
    """Return the question whether the middles of the two halves of some points belong together.

    The halves are those of 2-means on the spectral coordinates.

    Parameters
    ----------
    run : ActiveClustering
        Started.
    points : array of int
        Rows of X that are said not to be one cluster.

    Examples
    --------
    >>> from sidecut.active import ActiveClustering, part_question
    >>> X = [[0.0], [0.2], [0.4], [0.6], [5.0], [5.2], [5.4], [5.6]]
    >>> question = part_question(ActiveClustering(random_state=0).start(X), range(8))
    >>> sorted(X[i][0] > 3 for i in (question.i, question.j))
    [False, True]
    """
    land = run.landscape_
    inside = np.unique(land.grains.grain_of[np.asarray(points, dtype=np.intp)])
    if len(inside) < 2:
        raise ValueError(
            f"The {np.size(points)} points are so near each other that they are asked about as one; choose "
            "points farther apart."
        )
    halves = kmeans_labels(unit_rows(land.eigenvectors[inside]), 2, random_state=0)
    alike = land.kernels[-1][np.ix_(inside, inside)]
    middles = middle_of_pieces(alike, land.grains.sizes[inside], halves, np.empty(0, dtype=np.intp))
    i, j = land.grains.points[inside[middles]]
    reason = "you said that these are not one cluster; these two are the middles of its two halves"
    return Question(int(i), int(j), reason, strategy="part_question")
