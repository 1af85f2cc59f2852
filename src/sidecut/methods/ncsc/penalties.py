"""What a violated link costs in NCSC: γ_m and γ_c, given, by the degrees, or by links held out."""

from __future__ import annotations

from typing import Any

import numpy as np

from sidecut.arrays import IntArray
from sidecut.constraints import Constraints
from sidecut.exceptions import ConflictError
from sidecut.graphs import Graph
from sidecut.parameters import is_number

Price = float | str

#: γ_c as shares of the mean degree, the usual one first: of equals the first is chosen.
SHARES = (1.0, 0.3, 0.1, 3.0, 0.03, 10.0)
#: The share of constrained points whose links are held out.
HELD_OUT = 0.25


def check_price(name: str, price: Any, rules: tuple[str, ...], may_be_infinite: bool) -> None:
    """Refuse a price that is neither one of the rules nor a number that is not negative.

    Raises
    ------
    ValueError
        Naming the parameter, its value and what it can be.
    """
    if isinstance(price, str) and price in rules:
        return
    if not is_number(price) or not price >= 0 or (np.isinf(price) and not may_be_infinite):
        kind = "a number >= 0, infinity included" if may_be_infinite else "a finite number >= 0"
        raise ValueError(f"{name}={price!r}: choose {', '.join(map(repr, rules))} or {kind}.")


def mean_degree(graph: Graph) -> float:
    """Return the mean degree of the nodes that have any.

    It is the natural unit of both prices: at γ = d, a violated pair costs a point as much as being cut from
    all its neighbours.
    """
    degrees = graph.degrees
    return float(degrees[degrees > 0].mean())


def choose_gamma_must(price: Price, graph: Graph, constraints: Constraints, n_clusters: int) -> float:
    """Return γ_m.

    Parameters
    ----------
    price : "auto" or float
        "auto": infinite where must-links are facts, that is all equally strong, without contradiction, and
        leaving room for the clusters; else the mean degree, so that they can be weighed against each other.
    graph : Graph
        The graph.
    constraints : Constraints
        What is known.
    n_clusters : int
        How many clusters are asked for.

    Raises
    ------
    ConflictError
        If γ_m = ∞ is asked for and the constraints contradict each other.
    """
    if isinstance(price, str):
        return np.inf if _are_facts(constraints, n_clusters) else mean_degree(graph)
    if np.isinf(price) and (conflicts := constraints.conflicts(max_chains=1)):
        raise ConflictError(
            f"{conflicts[0]}, and gamma_must=inf keeps every must-link. Call without_conflicts() first, or "
            "choose a finite gamma_must, which weighs the one against the other.",
            conflicts,
        )
    return float(price)


def _are_facts(constraints: Constraints, n_clusters: int) -> bool:
    together = constraints.with_diagonal(0.0).must_part()
    strongest = together.largest_strength()
    all_equal = np.isclose(together.total(), 2.0 * together.n_must_link * strongest, rtol=1e-9)
    if not all_equal or constraints.n_conflicts:
        return False
    return int(constraints.must_link_components().max()) + 1 >= n_clusters


def draw_told_points(constraints: Constraints, rng: np.random.RandomState) -> IntArray:
    """Draw three quarters of the constrained points; only links among these are used.

    All links of the other points are held out, to compare prices by.
    """
    points = constraints.constrained_points
    return np.sort(rng.permutation(points)[int(np.ceil(HELD_OUT * len(points))) :])


def held_out_share(constraints: Constraints, told: IntArray, labels: IntArray) -> float:
    """Return the share of links satisfied among those that are not between points of `told`.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut import Constraints
    >>> from sidecut.methods.ncsc.penalties import held_out_share
    >>> known = Constraints.from_pairs(4, must_link=[(0, 1), (2, 3)], cannot_link=[(0, 3)])
    >>> held_out_share(known, np.array([0, 1]), np.array([0, 1, 1, 1]))
    1.0
    """
    among = constraints.restricted_to(told)
    n_held_out = constraints.n_pairs - among.n_pairs
    if n_held_out == 0:
        return 1.0
    satisfied = constraints.satisfaction(labels) * constraints.n_pairs
    return (satisfied - among.satisfaction(labels[told]) * among.n_pairs) / n_held_out
