"""Two clusters by the sign of the second eigenvector, as in the paper of CSP."""

from __future__ import annotations

from dataclasses import replace

from sidecut import NormalizedCut, SpectralLearning
from sidecut.labelling import sign_labels
from sidecut.methods import Answer, Task


class SignCut(NormalizedCut):
    """The normalised cut in two by signs."""

    def _solve(self, task: Task) -> Answer:
        return by_sign(super()._solve(task))


class SignLearning(SpectralLearning):
    """Spectral learning in two by signs."""

    def _solve(self, task: Task) -> Answer:
        return by_sign(super()._solve(task))


#: The classes that the setting labelling="sign" of a contender stands for.
BY_SIGN = {"NormalizedCut": SignCut, "SpectralLearning": SignLearning}


def by_sign(answer: Answer) -> Answer:
    """Return the same cut, its two clusters being the sides of the second eigenvector."""
    return replace(answer, labels=sign_labels(answer.solution.vectors[:, 1:2]))
