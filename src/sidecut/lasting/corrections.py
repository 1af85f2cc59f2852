"""What a person corrects about clusters, kept as knowledge: merge, split, detach, move, name."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from sidecut.checks import FloatArray, IntArray
from sidecut.constraints import Constraints
from sidecut.exceptions import ConflictError, ConstraintError
from sidecut.graphs import SparseGraph
from sidecut.labelling import assign_labels
from sidecut.lasting.update import Change, Changes, walk_to_sources
from sidecut.spectral import laplacian_eigenpairs

#: What a correction says of a cluster, it says of this many of its surest points.
REPRESENTATIVES = 10
FORMAT = "sidecut corrections 1"


@dataclass(frozen=True)
class Correction:
    """One thing that a person said about clusters.

    Parameters
    ----------
    said : str
        It, in words.
    together : list of lists of int
        Sets of points that are one.
    apart : list of lists of int
        Pairs of these sets, by their places in `together`, that are not one.
    moves : dict of int to list of int
        The points that each cluster receives.
    name : str or None
        What the cluster of the first set is called.
    points : list of int
        The points that it names itself; the others speak for their clusters.

    Examples
    --------
    >>> from sidecut.lasting import Correction
    >>> Correction("moved 1 point to 2", together=[[4, 7]], moves={2: [4]}).said
    'moved 1 point to 2'
    """

    said: str
    together: list[list[int]] = field(default_factory=list)
    apart: list[list[int]] = field(default_factory=list)
    moves: dict[int, list[int]] = field(default_factory=dict)
    name: str | None = None
    points: list[int] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class Corrections:
    """Corrections of a clustering: applied at once, taken back one by one, and kept for every later fit.

    The value never changes: each operation returns a new one. A fitted model gives the first one by
    ``model.corrections()`` and takes them by ``model.apply(corrections)``. They are knowledge:
    ``corrections.constraints`` is a `Constraints` value for the next fit, update or another method.

    Parameters
    ----------
    initial : array of shape (n,)
        The clusters to correct.
    confidence : array of shape (n,), optional
        How sure each is: a correction of a cluster is kept as one of its surest points.
    weights : csr_array of shape (n, n), optional
        The graph, along which the parts of a split are found.
    steps : tuple of Correction
        What was said so far.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.lasting import Corrections
    >>> fixes = Corrections(np.array([0, 0, 1, 1, 2, 2])).merge(0, 1).move([5], to=0).name(2, "Ann")
    >>> fixes.labels
    array([0, 0, 0, 0, 2, 0])
    >>> print(fixes)
    0. clusters 0 and 1 are one
    1. moved 1 point to cluster 0
    2. cluster 2 is Ann
    >>> fixes.undo(0).labels
    array([0, 0, 1, 1, 2, 0])
    >>> fixes.constraints
    Constraints(n_samples=6, 1 label (Ann: 1), 7 must-links, 1 cannot-link)
    """

    initial: IntArray
    confidence: FloatArray | None = None
    weights: sp.csr_array | None = None
    steps: tuple[Correction, ...] = ()

    @cached_property
    def labels(self) -> IntArray:
        """The clusters as corrected."""
        labels = np.array(self.initial)
        for step in self.steps:
            for cluster, points in step.moves.items():
                labels[points] = cluster
        labels.flags.writeable = False
        return labels

    @property
    def names(self) -> dict[int, str]:
        """What clusters are called."""
        named = {}
        for step in self.steps:
            if step.name is not None:
                named[int(np.bincount(self.labels[step.together[0]]).argmax())] = step.name
        return named

    @cached_property
    def constraints(self) -> Constraints:
        """What all corrections say, as knowledge about all points."""
        return _compile(self.steps, len(self.initial))

    @property
    def changes(self) -> Changes:
        """What the corrections changed."""
        moved = np.flatnonzero(self.labels != self.initial)
        rows = []
        for before, after in sorted(
            set(zip(self.initial[moved].tolist(), self.labels[moved].tolist(), strict=True))
        ):
            points = moved[(self.initial[moved] == before) & (self.labels[moved] == after)]
            rows.append(Change("moved", points, before, after, "you said so"))
        return Changes(tuple(rows), len(self.initial))

    def __str__(self) -> str:
        return "\n".join(f"{number}. {step.said}" for number, step in enumerate(self.steps))

    def __len__(self) -> int:
        return len(self.steps)

    def merge(self, a: int, b: int) -> Corrections:
        """Make one cluster of two; it has the number of the first.

        Parameters
        ----------
        a, b : int
            The clusters.
        """
        points = self._members(b)
        if a == b:
            raise ConstraintError(f"merge({a}, {b}): these are one cluster already")
        together = [[*self._representatives(a), *self._representatives(b)]]
        said = f"clusters {a} and {b} are one"
        return self._with(Correction(said, together, moves={int(a): points.tolist()}))

    def move(self, points: Iterable[int], to: int) -> Corrections:
        """Put points into a cluster.

        Parameters
        ----------
        points : iterable of int
            Their rows.
        to : int
            The cluster.
        """
        rows, target = self._rows(points), self._representatives(to)
        left = [self._representatives(c, rows) for c in np.unique(self.labels[rows]).tolist() if c != to]
        together = [[*rows.tolist(), *target], *(some for some in left if some)]
        apart = [[0, place] for place in range(1, len(together))]
        said = f"moved {_counted(len(rows))} to cluster {to}"
        return self._with(Correction(said, together, apart, {int(to): rows.tolist()}, points=rows.tolist()))

    def detach(self, points: Iterable[int]) -> Corrections:
        """Take points out of their cluster; they are a new one.

        Parameters
        ----------
        points : iterable of int
            Their rows, all of one cluster.
        """
        rows = self._rows(points)
        cluster = self._only_cluster(rows)
        rest = self._representatives(cluster, rows)
        if not rest:
            raise ConstraintError(f"detach: these are all points of cluster {cluster}, nothing would be left")
        said = f"detached {_counted(len(rows))} from cluster {cluster}"
        moves = {self._next_number(): rows.tolist()}
        return self._with(Correction(said, [rows.tolist(), rest], [[0, 1]], moves, points=rows.tolist()))

    def split(self, cluster: int, into: int | Sequence[Iterable[int]] = 2) -> Corrections:
        """Divide a cluster; the first part keeps the number.

        Parameters
        ----------
        cluster : int
            The cluster.
        into : int or list of lists of int, default=2
            How many parts, found by the normalised cut of the cluster; or some points of each part, which
            the others join along the graph.
        """
        members = self._members(cluster)
        if isinstance(into, int):
            part = self._cut(members, into)
            seeds = [members[part == number] for number in range(into)]
            seeds = [some[self._surest(some)] for some in seeds]
        else:
            seeds = [self._rows(some) for some in into]
            part = self._grow(cluster, members, seeds)
        numbers = [cluster, *range(self._next_number(), self._next_number() + len(seeds) - 1)]
        moves = {int(n): members[part == place].tolist() for place, n in enumerate(numbers) if place}
        apart = [[i, j] for j in range(len(seeds)) for i in range(j)]
        said = f"split cluster {cluster} into {len(seeds)}"
        sets = [some.tolist() for some in seeds]
        named = [] if isinstance(into, int) else [row for some in sets for row in some]
        return self._with(Correction(said, sets, apart, moves, points=named))

    def name(self, cluster: int, name: str) -> Corrections:
        """Say what a cluster is called.

        Parameters
        ----------
        cluster : int
            The cluster.
        name : str
            Its name; clusters that are called alike are merged by the next fit.
        """
        said = f"cluster {cluster} is {name}"
        return self._with(Correction(said, [self._representatives(cluster)], name=str(name)))

    def undo(self, step: int = -1) -> Corrections:
        """Take one correction back, by its number in the list; the last one by default.

        Parameters
        ----------
        step : int, default=-1
            The number that ``print(corrections)`` shows.
        """
        if not -len(self.steps) <= step < len(self.steps):
            raise IndexError(f"undo({step}): there are {len(self.steps)} corrections, numbered from 0")
        kept = list(self.steps)
        del kept[step]
        return replace(self, steps=tuple(kept))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the corrections to a JSON file.

        Parameters
        ----------
        path : path-like
            Where to write.
        """
        held = {"format": FORMAT, "initial": np.asarray(self.initial).tolist()}
        held["steps"] = [asdict(step) for step in self.steps]
        Path(path).write_text(json.dumps(held), encoding="utf-8")

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Corrections:
        """Read corrections that `save` wrote; parts of a later split need a model's ``corrections()``.

        Parameters
        ----------
        path : path-like
            The file.
        """
        try:
            held = json.loads(Path(path).read_text(encoding="utf-8"))
            if held["format"] != FORMAT:
                raise KeyError("format")
            steps = [
                {**step, "moves": {int(c): rows for c, rows in step["moves"].items()}}
                for step in held["steps"]
            ]
            return cls(
                np.array(held["initial"], dtype=np.intp), steps=tuple(Correction(**step) for step in steps)
            )
        except (ValueError, KeyError, TypeError) as error:
            raise ConstraintError(f"{path} holds no corrections: give a file that save(...) wrote") from error

    def _with(self, step: Correction) -> Corrections:
        """Return the corrections with one more, unless it contradicts an earlier one."""
        after = replace(self, steps=(*self.steps, step))
        try:
            after.constraints  # noqa: B018 - compiled here, so that a contradiction is said at once
        except ConflictError as error:
            chain = set(error.conflicts[0].chain)
            involved = [
                f"{number} ({earlier.said})"
                for number, earlier in enumerate(self.steps)
                if len(chain.intersection(row for some in earlier.together for row in some)) > 1
            ]
            raise ConflictError(
                f"{step.said}: this contradicts correction {' and '.join(involved)}: {error.conflicts[0]}; "
                "take one of them back with undo(number)",
                error.conflicts,
            ) from None
        return after

    def _members(self, cluster: int) -> IntArray:
        points = np.flatnonzero(self.labels == cluster)
        if len(points) == 0:
            known = ", ".join(map(str, np.unique(self.labels)[:12].tolist()))
            raise ConstraintError(f"there is no cluster {cluster!r}: the clusters are {known}")
        return points

    def _rows(self, points: Iterable[int]) -> IntArray:
        rows = np.unique(np.asarray(list(points)))
        if rows.size == 0 or rows.dtype.kind not in "iu" or rows.min() < 0 or rows.max() >= len(self.initial):
            raise ConstraintError(
                f"points = {rows.tolist()}: give row numbers from 0 to {len(self.initial) - 1}"
            )
        return rows.astype(np.intp)

    def _only_cluster(self, rows: IntArray) -> int:
        found = np.unique(self.labels[rows]).tolist()
        if len(found) > 1:
            raise ConstraintError(
                f"detach: the points are of clusters {found}: detach those of one at a time"
            )
        return int(found[0])

    def _next_number(self) -> int:
        numbers = [int(self.initial.max()), *(cluster for step in self.steps for cluster in step.moves)]
        return max(numbers) + 1

    def _surest(self, points: IntArray) -> IntArray:
        """Return the places of the surest of some points, sorted."""
        sure = np.zeros(len(points)) if self.confidence is None else -np.asarray(self.confidence)[points]
        return np.sort(np.argsort(sure, kind="stable")[:REPRESENTATIVES])

    def _representatives(self, cluster: int, without: IntArray | None = None) -> list[int]:
        points = self._members(cluster)
        if without is not None:
            points = np.setdiff1d(points, without)
        # What was said of a point speaks for it, not for its cluster.
        said = [row for step in self.steps for row in step.points]
        others = np.setdiff1d(points, said)
        points = others if len(others) else points
        return [int(point) for point in points[self._surest(points)]]

    def _graph_of(self, members: IntArray) -> sp.csr_array:
        if self.weights is None:
            raise ConstraintError("split needs a graph: take the corrections from model.corrections()")
        return sp.csr_array(self.weights[members][:, members])

    def _cut(self, members: IntArray, into: int) -> IntArray:
        """Return the part of each member by the normalised cut."""
        if not 1 < into <= len(members):
            raise ConstraintError(
                f"into = {into}: the cluster has {len(members)} points, give 2 or more parts"
            )
        graph = SparseGraph(self._graph_of(members))
        pairs = laplacian_eigenpairs(graph, into, random_state=np.random.RandomState(0))
        rows = graph.scale[:, None] * pairs.vectors
        return np.asarray(assign_labels(rows, into, random_state=np.random.RandomState(0)))

    def _grow(self, cluster: int, members: IntArray, seeds: list[IntArray]) -> IntArray:
        """Return the part of each member: that of the seed a walk from it meets first."""
        sides = np.full(len(members), -1)
        for place, some in enumerate(seeds):
            strange = np.setdiff1d(some, members)
            if len(strange):
                raise ConstraintError(
                    f"into: point {strange[0]} is in cluster {self.labels[strange[0]]}, not {cluster}"
                )
            sides[np.searchsorted(members, some)] = place
        return np.asarray(walk_to_sources(self._graph_of(members), sides).argmax(axis=1))


def _counted(count: int) -> str:
    return f"{count} point{'' if count == 1 else 's'}"


def _compile(steps: Sequence[Correction], n: int) -> Constraints:
    """Return what corrections say: links along each set, links between sets apart, and names as labels."""
    must, cannot = [], []
    names: Any = np.full(n, None, dtype=object)
    for number, step in enumerate(steps):
        # A point that is named later no longer speaks for the cluster it was in.
        gone = {row for later in steps[number + 1 :] for row in later.points}.difference(step.points)
        sets = [[row for row in some if row not in gone] for some in step.together]
        for some in sets:
            must += [[some[0], other] for other in some[1:] if other != some[0]]
        cannot += [[sets[i][0], sets[j][0]] for i, j in step.apart if sets[i] and sets[j]]
        if step.name is not None:
            names[sets[0]] = step.name
    links = Constraints.from_pairs(n, must or None, cannot or None)
    return links | Constraints.from_labels(names, unknown=())
