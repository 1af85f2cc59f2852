"""What a method is given, and what it gives back: `_solve(task) -> Answer`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from sidecut.checks import FloatArray, IntArray
from sidecut.constraints import Constraints


@dataclass(frozen=True, eq=False)
class Task:
    """What a method is asked to do; everything is checked.

    Parameters
    ----------
    data : array, sparse matrix, RowCodes or None
        The points; their codes, for a method on landmarks; None where X was the graph.
    graph : Graph or None
        The graph of the points, without constraints.
    constraints : Constraints
        The constraints; empty ones where there are none.
    n_clusters : int
        The number of clusters.
    seed : int
        Where every stream of random numbers begins.
    start : Answer, optional
        The answer of an earlier fit, for `warm_start`.
    plain : Answer, optional
        The answer to the same task without constraints, where it is known already.
    sample : array of int, optional
        Only the labels of these points are needed, and roughly: the guard compares answers by them.
    """

    data: Any
    graph: Any
    constraints: Constraints
    n_clusters: int
    seed: int
    start: Any = None
    plain: Any = None
    sample: IntArray | None = None

    @property
    def n_points(self) -> int:
        """The number of points."""
        return self.constraints.n_samples

    def rng(self) -> np.random.RandomState:
        """Return the stream of random numbers, from its beginning."""
        return np.random.RandomState(self.seed)

    def given(self, constraints: Constraints, **changes: Any) -> Task:
        """Return the same task with other constraints."""
        return replace(self, constraints=constraints, **changes)

    def without_constraints(self) -> Task:
        """Return the same task without constraints."""
        return replace(self, constraints=Constraints.none(self.n_points), plain=None)


@dataclass(frozen=True, eq=False)
class Answer:
    """What a fit leaves behind.

    Parameters
    ----------
    labels : array of shape (n_points,)
        The cluster of every point.
    embedding : array of shape (n_points, m), optional
        The rows that were labelled.
    graph : Graph, optional
        The graph that was cut.
    solution : Eigenpairs, optional
        The eigenvectors of the cut.
    confidence : array of shape (n_points,), optional
        How sure each label is, where the method measures that itself.
    extend : callable, optional
        Returns the labels of new points, given their weights to the old ones.
    results : dict of str to object
        The method's own results. Those whose names end with an underscore become attributes.
    decision : Decision, optional
        What the guard decided.
    """

    labels: IntArray
    embedding: Any = None
    graph: Any = None
    solution: Any = None
    confidence: FloatArray | None = None
    extend: Any = None
    results: dict[str, Any] = field(default_factory=dict)
    decision: Decision | None = None

    def because(self, decision: Decision) -> Answer:
        """Return the same answer with what the guard decided."""
        return replace(self, decision=decision)

    def once(self, name: str, make: Callable[[], Any]) -> Any:
        """Return a result that is made when it is first asked for."""
        if name not in self.results:
            self.results[name] = make()
        return self.results[name]

    def with_results(self, **results: Any) -> Answer:
        """Return the same answer with more results."""
        return replace(self, results={**self.results, **results})


@dataclass(frozen=True)
class Decision:
    """Which answer the guard kept, and why."""

    kept: str
    reason: str
    is_sure: bool = True

    def __str__(self) -> str:
        return self.reason
