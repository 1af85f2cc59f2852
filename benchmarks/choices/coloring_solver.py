"""The search behind `hard=True` against scipy's mixed-integer solver (HiGHS) on the same problems.

    python -m benchmarks.choices.coloring_solver

Nodes are must-linked sets, edges cannot-links, and every node has a cost in every cluster: its squared
distance to the centre. Wanted are clusters that violate edges of least total strength and, among those, of
least cost. Two kinds of problems: cannot-links that are true, so that all can be satisfied; and cannot-links
at random, so many that they cannot all, or only just. Three ways: `violate_least`, which hands only sparse
knots that can be satisfied to `scipy.optimize.milp`; the same without that; and milp alone with a time limit
of 5 seconds. For each: seconds, violated edges, the cost, and whether the violation is proved to be least.
"""

from __future__ import annotations

import json
import time
from typing import Any
from unittest.mock import patch

import numpy as np
import scipy.sparse as sp
from scipy.optimize import Bounds, LinearConstraint, milp

from benchmarks import stored
from sidecut.labelling import coloring
from sidecut.labelling.coloring import violate_least
from sidecut.labelling.conflict_graph import ConflictGraph

STORED = stored.RESULTS / "choices" / "coloring_solver.json"
TIME_LIMIT = 5.0
SIZES = ((20, 3), (60, 3), (60, 8), (200, 8))
DRAWS = 2


def make_problem(n: int, k: int, draw: int, are_true: bool) -> tuple[np.ndarray, ConflictGraph]:
    """Return costs and edges, two per node."""
    rng = np.random.default_rng(draw)
    classes, centers = rng.integers(k, size=n), rng.normal(size=(k, 4))
    rows = centers[classes] + rng.normal(size=(n, 4))
    costs = np.square(rows[:, None] - centers).sum(axis=2)
    pairs = np.sort(rng.integers(n, size=(20 * n, 2)), axis=1)
    fits = classes[pairs[:, 0]] != classes[pairs[:, 1]] if are_true else pairs[:, 0] != pairs[:, 1]
    n_edges = 2 * n if are_true else k * n
    return costs, ConflictGraph(n, _first(pairs[fits], n_edges))


def _first(pairs: np.ndarray, count: int) -> np.ndarray:
    """Return the first different pairs, in the order drawn."""
    places = np.sort(np.unique(pairs, axis=0, return_index=True)[1])[:count]
    return pairs[places]


def solve_milp(costs: np.ndarray, graph: ConflictGraph) -> tuple[np.ndarray | None, bool]:
    """Return clusters, and whether they are proved to be best; one violated edge costs more than all else."""
    n, k = costs.shape
    m = len(graph.edges)
    one_each = sp.hstack([sp.kron(sp.eye_array(n), np.ones((1, k))), sp.csr_array((n, m))])
    first, second = (sp.csr_array((np.ones(m), (np.arange(m), end)), shape=(m, n)) for end in graph.edges.T)
    ends = sp.kron(first + second, sp.eye_array(k))
    slack = sp.kron(sp.eye_array(m), np.ones((k, 1)))
    apart = sp.hstack([ends, -slack])
    price = costs.max(axis=1).sum() - costs.min(axis=1).sum()
    found = milp(
        np.concatenate([(costs - costs.min(axis=1, keepdims=True)).ravel(), np.full(m, price)]),
        integrality=np.concatenate([np.ones(n * k), np.zeros(m)]),
        bounds=Bounds(0, 1),
        constraints=[LinearConstraint(one_each, 1, 1), LinearConstraint(apart, -np.inf, 1)],
        options={"time_limit": TIME_LIMIT},
    )
    if found.x is None:
        return None, False
    return found.x[: n * k].reshape(n, k).argmax(axis=1), found.status == 0


def solve_ours(costs: np.ndarray, graph: ConflictGraph) -> tuple[np.ndarray, bool]:
    """Return the clusters of `violate_least`, and whether their violation is proved to be least."""
    found = violate_least(costs, graph, np.ones(len(graph.edges)))
    return found.clusters, found.is_least


def solve_without_milp(costs: np.ndarray, graph: ConflictGraph) -> tuple[np.ndarray, bool]:
    """Return the same with nothing handed to milp."""
    with patch.object(coloring, "PROGRAMME_SIZE", 0):
        return solve_ours(costs, graph)


SOLVERS = {"violate_least": solve_ours, "without milp": solve_without_milp, "milp": solve_milp}


def describe(costs: np.ndarray, graph: ConflictGraph, clusters: np.ndarray | None) -> dict[str, Any]:
    """Return how many edges are violated, and the cost."""
    if clusters is None:
        return {"violated": None, "cost": None}
    same = clusters[graph.edges[:, 0]] == clusters[graph.edges[:, 1]]
    cost = float(costs[np.arange(len(costs)), clusters].sum())
    return {"violated": int(same.sum()), "cost": round(cost, 3)}


def main() -> None:
    rows = []
    for are_true in (True, False):
        for n, k in SIZES:
            for draw in range(DRAWS):
                costs, graph = make_problem(n, k, draw, are_true)
                row: dict[str, Any] = {"links": "true" if are_true else "random", "nodes": n, "clusters": k}
                row |= {"edges": len(graph.edges), "draw": draw}
                for name, solve in SOLVERS.items():
                    start = time.perf_counter()
                    clusters, proved = solve(costs, graph)
                    row[name] = {"seconds": round(time.perf_counter() - start, 3)}
                    row[name] |= describe(costs, graph, clusters) | {"proved": proved}
                rows.append(row)
                print(row, flush=True)
    STORED.write_text(
        json.dumps(
            {**stored.stamp(), "machine": stored.facts(), "time limit": TIME_LIMIT, "rows": rows}, indent=1
        )
        + "\n"
    )


if __name__ == "__main__":
    main()
