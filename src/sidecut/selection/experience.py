"""What stored experiments say before anything is tried: the order where little is known.

Made by ``python -m benchmarks.selection.experience`` from data sets that no result is reported on; the table
is benchmarks/selection/results/experience.csv.
"""

from __future__ import annotations

from sidecut.constraints import Constraints

#: Mean gain in adjusted Rand index on unconstrained points over the unconstrained cut of the same graph.
GAIN_FROM_LABELS = {"CCSR": 0.02, "E2CP": 0.02, "CSAP": 0.02, "NCSC": 0.0, "PoissonMBO": -0.03, "CSP": -0.15}
GAIN_FROM_PAIRS = {"E2CP": 0.1, "CSAP": 0.09, "PoissonMBO": 0.07, "NCSC": 0.07, "CCSR": 0.06, "CSP": 0.02}
#: The methods that try every graph first: different in kind, and fast.
SCOUTS = ("E2CP", "CCSR")
#: Experience counts as much as this many points that were held out.
WORTH = 10.0


def expected_gain(method: str, constraints: Constraints) -> float:
    """Return how much a method gained in the stored experiments by knowledge of this kind.

    Parameters
    ----------
    method : str
        Its name; a method without stored experiments is expected to gain nothing.
    constraints : Constraints
        Labels, or pairs.

    Examples
    --------
    >>> from sidecut import Constraints
    >>> from sidecut.selection.experience import expected_gain
    >>> expected_gain("NormalizedCut", Constraints.from_labels([0, 1, -1]))
    0.0
    """
    stored = GAIN_FROM_PAIRS if constraints.labels is None else GAIN_FROM_LABELS
    return stored.get(method, 0.0)
