"""The default: take the proposal that promises most, and learn whose promises hold."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sidecut.active.belief import Belief
from sidecut.active.doubts import doubts
from sidecut.active.proposals import Proposal
from sidecut.active.records import Answer
from sidecut.active.strategies import (
    expected_change,
    go_on,
    merge_classes,
    neighbourhoods,
    perturbation,
)

#: The strategies it listens to.
ADVISERS = (merge_classes, expected_change, neighbourhoods, perturbation, doubts)
#: So many questions' worth of kept promises every adviser starts with.
CREDIT = 5.0


def controller(belief: Belief, answers: list[Answer], rng: np.random.RandomState) -> Proposal | None:
    """Finish with the point in hand; then ask what promises to regroup most pairs of points.

    Every adviser proposes one question and says how many pairs its answer is expected to regroup. The promise
    is multiplied by how far the adviser's promises were kept so far (`reliability`); the greatest wins.

    Examples
    --------
    >>> from sidecut.active import ActiveClustering, controller
    >>> X = [[0.0], [0.2], [0.4], [0.6], [5.0], [5.2], [5.4], [5.6]]
    >>> ActiveClustering(strategy=controller, random_state=0).start(X).question().reason
    'groups of about 3 and 3 points are close; a yes makes them one'
    """
    proposal = go_on(belief, answers, rng)
    if proposal is not None:
        return replace(proposal, strategy="go_on")
    best, promise = None, -1.0
    for adviser in ADVISERS:
        proposal = adviser(belief, answers, rng)
        if proposal is None:
            continue
        kept = proposal.gain * reliability(adviser.__name__, answers)
        if kept > promise:
            best, promise = replace(proposal, strategy=adviser.__name__), kept
    return best


def reliability(name: str, answers: list[Answer]) -> float:
    """Return how much was regrouped after an adviser's questions, as a share of what it promised.

    Examples
    --------
    >>> from sidecut.active import Answer
    >>> from sidecut.active.controller import reliability
    >>> in_vain = Answer(0, 1, True, strategy="doubts", gain=0.2)
    >>> reliability("doubts", []), reliability("doubts", [in_vain] * 5)
    (1.0, 0.5)
    """
    mine = [answer for answer in answers if answer.strategy == name]
    promised = sum(answer.gain for answer in mine)
    if promised <= 0:
        return 1.0
    credit = CREDIT * promised / len(mine)
    return (credit + sum(answer.changed for answer in mine)) / (credit + promised)
