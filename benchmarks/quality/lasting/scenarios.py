"""What happens to a set of points between one day and the next."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sidecut.checks import FloatArray, IntArray

#: New points of a class that nobody has seen.
N_OF_NEW_CLASS = 30


@dataclass(frozen=True, eq=False)
class Scenario:
    """The points of the first day and those that come, with their classes.

    Points whose features changed come again, and their old rows are `replaced`.
    """

    old: FloatArray
    y_old: IntArray
    new: FloatArray
    y_new: IntArray
    new_class: int | None = None
    replaced: IntArray | None = None

    @property
    def y(self) -> IntArray:
        """The classes of all points."""
        return np.concatenate([self.y_old, self.y_new])


def more(share: float) -> Callable[[FloatArray, IntArray, np.random.Generator], Scenario]:
    """Return the scenario of new points from the classes there are."""

    def make(X: FloatArray, y: IntArray, rng: np.random.Generator) -> Scenario:
        order = rng.permutation(len(X))
        n_new = max(int(share * len(X)), 1)
        old, new = order[n_new:], order[:n_new]
        return Scenario(X[old], y[old], X[new], y[new])

    return make


def changed(X: FloatArray, y: IntArray, rng: np.random.Generator) -> Scenario:
    """Return the scenario of a tenth of the points that come again with a tenth of the spread added."""
    some = rng.permutation(len(X))[: len(X) // 10]
    noise = 0.1 * X.std(axis=0) * rng.standard_normal((len(some), X.shape[1]))
    return Scenario(X, y, X[some] + noise, y[some], replaced=some)


def new_class(X: FloatArray, y: IntArray, rng: np.random.Generator) -> Scenario:
    """Return the scenario of 30 points of a class that was not there, among 1.5 % of the others."""
    unseen = int(rng.choice(np.flatnonzero(np.bincount(y) >= N_OF_NEW_CLASS)))
    others, theirs = (
        rng.permutation(np.flatnonzero(y != unseen)),
        rng.permutation(np.flatnonzero(y == unseen)),
    )
    n_new = max(int(0.015 * len(others)), 1)
    new = np.concatenate([others[:n_new], theirs[:N_OF_NEW_CLASS]])
    return Scenario(X[others[n_new:]], y[others[n_new:]], X[new], y[new], new_class=unseen)


def drift(X: FloatArray, y: IntArray, rng: np.random.Generator) -> Scenario:
    """Return the scenario of 5 % new points, those of one class half a spread away, in a random direction."""
    made = more(0.05)(X, y, rng)
    which = made.y_new == rng.choice(made.y_new)
    away = rng.standard_normal(X.shape[1])
    spread = np.sqrt(X[y == made.y_new[which][0]].var(axis=0).sum())
    moved = made.new + np.outer(which, 0.5 * spread * away / np.linalg.norm(away))
    return Scenario(made.old, made.y_old, moved, made.y_new)


SCENARIOS: dict[str, Callable[[FloatArray, IntArray, np.random.Generator], Scenario]] = {
    "1.5 % new": more(0.015),
    "5 % new": more(0.05),
    "20 % new": more(0.2),
    "a tenth changed": changed,
    "a new class": new_class,
    "drift": drift,
}
