"""What AutoCut expects of a method on a graph before it tries it: learned from experiments, see `learned`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from sidecut.constraints import Constraints
from sidecut.graphs import Graph
from sidecut.selection.learned import ACCURACY, GAINS, TRUST


@dataclass(frozen=True)
class Facts:
    """What can be seen of a task before anything is computed, and what an expectation depends on.

    Parameters
    ----------
    are_labels : bool
        Whether labels are given, or pairs.
    units : float
        The logarithm to base 10 of the largest spread of a feature over the median one; at most 3.
    width : float
        The logarithm to base 10 of the number of features; at most 3.
    """

    are_labels: bool
    units: float = 0.0
    width: float = 0.0


def read_facts(data: Any, constraints: Constraints) -> Facts:
    """Return the facts of a task."""
    are_labels = constraints.labels is not None
    if isinstance(data, Graph):
        return Facts(are_labels)
    units = 0.0 if sp.issparse(data) else measure_units(data)
    return Facts(are_labels, units, min(float(np.log10(data.shape[1])), 3.0))


def measure_units(X: Any) -> float:
    """Return log10 of the largest spread of a feature over the median one; over the smaller one of two."""
    spreads = np.std(X, axis=0, dtype=np.float64)
    spreads = spreads[spreads > 0]
    if not spreads.size:
        return 0.0
    usual = np.min(spreads) if spreads.size == 2 else np.median(spreads)
    return float(min(np.log10(spreads.max() / usual), 3.0))


def parts_of(method: str, form: str, uses_metric: bool, uses_classifier: bool) -> list[str]:
    """Return the parts whose gains add up: the method, the form of the features, and what learns."""
    learning = [f"metric of {form}"] if uses_metric else []
    return [method, form, *learning, *(["classifier"] if uses_classifier else [])]


def expect(facts: Facts, parts: list[str]) -> float:
    """Return the expected gain in adjusted Rand index over the mean candidate.

    The gain of a form of the features depends on their units and number.
    """
    gains = GAINS["labels" if facts.are_labels else "pairs"]
    known = (1.0, facts.units, facts.width)
    return float(sum(np.dot(gains[name], known[: len(gains[name])]) for name in parts if name in gains))


def believe(are_labels: bool, expected: float, shown: float, held_out: int) -> float:
    """Return what is believed of a candidate: what is expected, and what it has shown on held-out points.

    `shown` is by how much its score is better than the mean one. It counts m / (m + m₀) with m points.
    """
    trust, half = TRUST["labels" if are_labels else "pairs"]
    return expected + trust * held_out / (held_out + half) * shown


def expect_accuracy(are_labels: bool, agreement: float, right: float, held_out: int) -> float:
    """Return the share of points that are expected to be in the right cluster.

    `agreement` is that of the methods that vote; `right` is how many of the held-out labels they found, or
    the share of held-out pairs times the number of held-out points.
    """
    trust, constant, of_checked, of_agreement = ACCURACY["labels" if are_labels else "pairs"]
    checked = (right + trust * agreement**2) / (held_out + trust)
    return float(np.clip(constant + of_checked * checked + of_agreement * agreement, 0.02, 0.995))
