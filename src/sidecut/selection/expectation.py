"""What AutoCut expects of a method on a graph before it tries it: learned from experiments, see `learned`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from sidecut.constraints import Constraints
from sidecut.graphs import Graph
from sidecut.selection.learned import ACCURACY, GAINS, TRUST
from sidecut.selection.views import FORMS


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
    known : float
        The logarithm to base 10 of the number of labels, or of pairs, for each cluster; from 0 to 2.
    large : float
        The logarithm to base 10 of the number of points over 400; from 0 to .6, the largest in experiments.
    """

    are_labels: bool
    units: float = 0.0
    width: float = 0.0
    known: float = 0.0
    large: float = 0.0


def read_facts(data: Any, constraints: Constraints, n_clusters: int) -> Facts:
    """Return the facts of a task."""
    are_labels = constraints.labels is not None
    count = len(constraints.constrained_points) if are_labels else constraints.n_pairs
    known = float(np.clip(np.log10(max(count, 1) / n_clusters), 0.0, 2.0))
    large = float(np.clip(np.log10(constraints.n_samples / 400), 0.0, 0.6))
    if isinstance(data, Graph):
        return Facts(are_labels, known=known, large=large)
    units = 0.0 if sp.issparse(data) else measure_units(data)
    return Facts(are_labels, units, min(float(np.log10(data.shape[1])), 3.0), known, large)


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
    """Return the expected gain in adjusted Rand index over the mean candidate."""
    # The gain of a form of the features depends on their units and number, that of a method on how much is
    # known of how many points.
    gains = GAINS["labels" if facts.are_labels else "pairs"]
    return float(sum(np.dot(gains[name], facts_of(name, facts)) for name in parts if name in gains))


def facts_of(part: str, facts: Any) -> tuple[Any, ...]:
    """Return the facts that the gain of a part depends on, after a constant."""
    if part.split(" ")[-1] in FORMS:
        return (1.0, facts.units, facts.width)
    return (1.0, facts.known, facts.large)


def believe(are_labels: bool, expected: float, shown: float, held_out: int) -> float:
    """Return what is believed of a candidate, by what is expected of it and by what it has shown."""
    # `shown` is by how much its score is better than the mean one. With m held-out points it counts m / (m +
    # m₀), and what is expected counts the rest, for a score says much of it once more.
    trust, half = TRUST["labels" if are_labels else "pairs"]
    weight = held_out / (held_out + half)
    return (1.0 - weight) * expected + weight * trust * shown


def expect_accuracy(are_labels: bool, agreement: float, sure: float, right: float, held_out: int) -> float:
    """Return the share of points that are expected to be in the right cluster."""
    # `right` is how many of the held-out labels were found, or the share of held-out pairs times the number
    # of held-out points. What experience says of methods that agree so far, and are so sure, counts like m
    # more.
    more, *weights = ACCURACY["labels" if are_labels else "pairs"]
    prior = np.clip(np.dot(weights, (1.0, agreement**2, sure)), 0.02, 0.995)
    return float(np.clip((right + more * prior) / (held_out + more), 0.02, 0.995))
