"""What `safe=True` means: constraints are followed only where they are enough to improve on the graph.

A constrained cut can satisfy a few labels by cutting off the labelled points, and be far worse everywhere
else than the cut of the graph. That shows when part of the knowledge is held back: does the method, given the
rest, get the held-back pairs right more often than the graph does without any? Agreement is corrected for
chance, as the adjusted Rand index is, and a gain counts only if so little knowledge would not show it by
chance. Where the cut of the graph satisfies all that is known there is nothing to gain: it is the least cut,
and feasible.

| file | holds |
|---|---|
| `guarded.py` | `Safeguarded`, which gives a method `safe`: start here |
| `judgement.py` | `judge`, `weigh` and `try_out`, which choose between two answers |
| `held_back.py` | what an answer gets right of what was held back from it |
| `pairs.py` | `KnownPairs`: what is known, as a list of pairs |
"""

from sidecut.methods.safeguard.guarded import Safeguarded, is_unconstrained
from sidecut.methods.safeguard.held_back import CONSTRAINED, GRAPH, count_decided, find_right
from sidecut.methods.safeguard.judgement import (
    ALIKE,
    FEWEST_FACTS,
    Judgement,
    agrees_amply,
    is_enough,
    is_little,
    is_tried,
    judge,
    settle_by_graph,
    try_out,
    warn_if_unsure,
    weigh,
)
from sidecut.methods.safeguard.pairs import KnownPairs, chance_corrected

__all__ = [
    "ALIKE",
    "CONSTRAINED",
    "FEWEST_FACTS",
    "GRAPH",
    "Judgement",
    "KnownPairs",
    "Safeguarded",
    "agrees_amply",
    "chance_corrected",
    "count_decided",
    "find_right",
    "is_enough",
    "is_little",
    "is_tried",
    "is_unconstrained",
    "judge",
    "settle_by_graph",
    "try_out",
    "warn_if_unsure",
    "weigh",
]
