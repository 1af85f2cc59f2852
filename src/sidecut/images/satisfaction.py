"""How firmly marks are asked for: β where a few pixels of many are known."""

from __future__ import annotations

from sidecut.constraints import Constraints
from sidecut.graphs import Graph, NormalizedAffinity
from sidecut.methods.posing.beta import Satisfiability, satisfiability

#: The share of what a perfect cut attains.
SHARE = 0.5


def attainable_beta(graph: Graph, constraints: Constraints, n_segments: int, n_known: int) -> float:
    """Return β for CSP: half of what a cut in flat segments attains when it keeps all marks.

    A cut u = ±1 that keeps the marks of c pixels has uᵀQu = c², while λ_max vol, the bound of eq. 19, is
    about c N: only a cut with all its weight on the marked pixels comes near it. A share of that bound
    therefore asks for spikes around the marks where N is much larger than c, and leaves the sign of all other
    pixels to an exponentially small tail. With c / N times that bound, segments can be flat. Where marks of
    one class outnumber the others so far that the uniform cut would satisfy them, β lies above what it
    reaches.

    Parameters
    ----------
    graph : Graph
        The graph of the pixels.
    constraints : Constraints
        What the marks say.
    n_segments : int
        K.
    n_known : int
        c, the number of marked pixels.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.images import Seeds, pixel_graph
    >>> from sidecut.images.satisfaction import attainable_beta
    >>> image = np.tile(np.linspace(0, 1, 30), (20, 1))
    >>> seeds = Seeds.from_boxes([(1, 8, 5, 3, 3), (2, 8, 22, 3, 3)], image.shape)
    >>> beta = attainable_beta(pixel_graph(image), seeds.constraints(), 2, seeds.n_known)
    >>> round(beta / seeds.n_known**2, 1)
    0.4
    """
    scale = NormalizedAffinity(graph).scale
    known, _ = satisfiability(constraints, scale, graph.volume, "fraction", n_segments)
    upper = _largest(known, n_segments - 1)
    beta = SHARE * upper * n_known / graph.n_nodes
    if known.n_feasible(beta) < n_segments - 1 and 0 < known.total < upper:
        return min(2.0 * known.total, 0.5 * (known.total + upper))
    return beta


def _largest(known: Satisfiability, n_cuts: int) -> float:
    """Return the β below which there are `n_cuts` feasible cuts, or as many as there can be."""
    for count in range(n_cuts, 0, -1):
        beta = known.largest_beta(count)
        if beta is not None:
            return beta
    return float(known.values.max(initial=0.0)) * known.volume
