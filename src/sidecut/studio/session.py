"""A session: data, the answers of a person, and the clusters that follow, saved at every step."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from sidecut.active import ActiveClustering, Answer, ClassAnswer, Question, part_question
from sidecut.active.records import Record, answer_to, as_answers, check_record
from sidecut.checks import FloatArray, IntArray
from sidecut.constraints import Constraints
from sidecut.exceptions import ConflictError
from sidecut.graphs import Graph, GraphRecipe, as_graph, recipe
from sidecut.labelling import unit_rows
from sidecut.studio.items import (
    Items,
    carry_numbers,
    first_numbers,
    fit_square,
    is_number_column,
    place_points,
)
from sidecut.studio.messages import Contradiction, Fact, Line, explain_contradiction, list_facts, list_lines
from sidecut.studio.project import Project, fingerprint

RUN = "run"


class ContradictionError(ConflictError):
    """An answer contradicts earlier ones; `contradiction` holds the chain that proves it."""

    def __init__(self, contradiction: Contradiction) -> None:
        super().__init__(contradiction["words"])
        self.contradiction = contradiction


class Members(NamedTuple):
    """Rows of X: those most like the rest of a cluster, and those least sure to be in it."""

    typical: IntArray
    doubtful: IntArray


class Border(NamedTuple):
    """Two clusters that touch: how close they are, and the two points with the strongest link across."""

    cluster: int
    other: int
    closeness: float
    i: int
    j: int


class KeptGraph(GraphRecipe):
    """A recipe that builds its graph once; the map needs the same one."""

    def __init__(self, inner: GraphRecipe) -> None:
        self.inner = inner

    def build(self, X: npt.NDArray) -> Graph:
        """Return the graph of the points X."""
        self.graph_ = self.inner.build(X)
        return self.graph_


@dataclass(frozen=True)
class Setup:
    """How a session starts.

    Attributes
    ----------
    n_clusters : int or None
        How many clusters there are; None: the answers decide.
    n_neighbors : int
        Of the graph.
    is_graph : bool
        Whether X holds weights between points.
    reliability : float or None
        The chance that an answer is right; None: it is estimated, see `ActiveClustering`.
    costs : dict or str, optional
        What a question of each kind costs, see `ActiveClustering`; None: pairs alone.
    axes : pair of str, optional
        Two columns that are the map; otherwise it is an embedding.
    random_state : int
        For everything that is drawn.
    """

    n_clusters: int | None = None
    n_neighbors: int = 10
    is_graph: bool = False
    reliability: float | None = 1.0
    costs: Mapping[str, float] | str | None = None
    axes: tuple[str, str] | None = None
    random_state: int = 0


class Session:
    """Questions, answers and clusters of one person and one data set.

    Parameters
    ----------
    X : array, sparse matrix or data frame; a graph if the setup says so
        The points.
    items : Items, optional
        What a person is shown of them; row numbers by default.
    folder : path, optional
        Where every answer is kept before the next question; a session that is there goes on. None: nothing
        is kept.
    setup : Setup, optional
        How to start.
    title : str
        What the data are called.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sidecut.studio import Session
    >>> X, y = load_iris(return_X_y=True)
    >>> session = Session(X)
    >>> for _ in range(25):
    ...     question = session.question()
    ...     session = session.answer(bool(y[question.i] == y[question.j]))
    >>> session.run.n_clusters_, session.step
    (3, 25)
    """

    def __init__(
        self,
        X: Any,
        items: Items | None = None,
        *,
        folder: str | Path | None = None,
        setup: Setup | None = None,
        title: str = "data",
    ) -> None:
        self.X, self.title, self.setup = X, title, setup or Setup()
        self.items = items or Items([str(row) for row in range(n_rows(X))])
        if len(self.items) != n_rows(X):
            raise ValueError(f"There are {n_rows(X)} points, but items for {len(self.items)}.")
        self.project = None if folder is None else Project(folder)
        self._affinity = KeptGraph(recipe("knn", min(self.setup.n_neighbors, n_rows(X) - 1)))
        self.run = self._start() if self.project is None else self._resume(self.project)
        self.places = self._place()
        self.step, self._focus = 0, None
        self.changed: IntArray = np.empty(0, dtype=np.intp)
        before = next(self.run.replay())
        self._first: IntArray = first_numbers(before)[before]
        kept = [] if self.project is None else self.project.settings.get("numbers", [])
        self.numbers: IntArray = carry_numbers(self._first, self._first, self.run.labels_)
        if len(kept) == self.run.n_clusters_:
            self.numbers = np.array(kept, dtype=np.intp)

    _focus: Question | None

    @property
    def labels(self) -> IntArray:
        """The number of the cluster of every point: on the page, in files and here the same.

        A cluster keeps its number while answers come in, so that numbers may have gaps.
        """
        return self.numbers[self.run.labels_]

    @property
    def n_actions(self) -> int:
        """How often a person said something: a lasso, a name and an imported file count as one."""
        return count_actions(self.run.history_)

    def question(self) -> Question | None:
        """Return the next question; None where nothing is left worth asking."""
        return self._focus or self.run.question()

    def answer(self, said: Any, confidence: float = 1.0, *, forget: Iterable[int] = ()) -> Self:
        """Take the answer to the question: of a pair, a label or a set; None: unsure.

        Parameters
        ----------
        said, confidence
            As in `ActiveClustering.answer`.
        forget : positions in the history
            Earlier answers that are taken back with this one, where they contradict it.
        """
        asked = self.question()
        if asked is None:
            raise ValueError("There is no question to answer: nothing is left worth asking.")
        answer: Record = check_record(answer_to(asked, said, confidence), len(self.items))
        return self._add([answer], forget)

    def link(
        self, i: int, j: int, same: bool, confidence: float = 1.0, *, forget: Iterable[int] = ()
    ) -> Self:
        """Say of any two points whether they belong together."""
        i, j = (int(row) for row in self.rows([i, j]))
        if i == j:
            raise ValueError(f"A link takes two points, and {self.items.names[i]} is one.")
        answer = Answer(i, j, bool(same), _checked_confidence(confidence), strategy="person")
        return self._add([answer], forget)

    def join(self, points: Sequence[int], *, forget: Iterable[int] = ()) -> Self:
        """Say that points are all in one cluster: a chain through the groups of near points they are in."""
        grains = self.run.precomputed_.micro_clusters
        inside = np.unique(grains.index_of[self.rows(points)])
        if len(inside) < 2:
            raise ValueError("These points are asked about as one already; choose points farther apart.")
        chain = [int(point) for point in grains.points[inside]]
        records = [Answer(a, b, True, strategy=f"lasso {len(self.run.history_)}") for a, b in pairwise(chain)]
        return self._add(records, forget)

    def merge(self, clusters: Sequence[int], *, forget: Iterable[int] = ()) -> Self:
        """Say that clusters are one: their most typical members belong together."""
        if len(set(clusters)) < 2:
            raise ValueError(f"clusters={list(clusters)} must be the numbers of at least two clusters.")
        return self.join([int(self.members(c, 1).typical[0]) for c in dict.fromkeys(clusters)], forget=forget)

    def move(self, points: Sequence[int], to: int, *, forget: Iterable[int] = ()) -> Self:
        """Say that points belong to another cluster; all points of a cluster: that the two are one."""
        self._check_cluster(to)
        return self._take_out(points, int(self.members(to, 1).typical[0]), to, forget)

    def detach(self, points: Sequence[int], *, forget: Iterable[int] = ()) -> Self:
        """Say that points are a cluster of their own."""
        return self._take_out(points, None, None, forget)

    def _take_out(
        self, points: Sequence[int], middle: int | None, to: int | None, forget: Iterable[int]
    ) -> Self:
        """Say that points belong together and to `middle`, and not to those they leave behind."""
        grains, labels = self.run.precomputed_.micro_clusters, self.labels
        inside = np.unique(grains.index_of[self.rows(points)])
        chosen = [int(point) for point in grains.points[inside]]
        name = f"lasso {len(self.run.history_)}"
        links = list(pairwise([*chosen, *([] if middle is None or middle in chosen else [middle])]))
        records = [Answer(a, b, True, strategy=name) for a, b in links]
        for cluster in np.unique(labels[chosen]).tolist():
            others = self.members(cluster, len(labels)).typical
            left = others[~np.isin(grains.index_of[others], inside)]
            if cluster != to and len(left):
                leaving = next(point for point in chosen if labels[point] == cluster)
                records.append(Answer(leaving, int(left[0]), False, strategy=name))
        if not any(record.same is False for record in records) and to is None:
            raise ValueError("These points are a cluster of their own already.")
        if not records:
            raise ValueError(f"These points are in cluster {to} already.")
        return self._add(records, forget)

    def borders(self) -> list[Border]:
        """Return which clusters touch each other, the closest first, and two points to compare at each.

        How close they are is the weight of the edges between them, as a share of all edges of the one that
        has fewer.
        """
        land, labels = self.run.precomputed_, self.labels
        points = land.micro_clusters.points
        edges = sp.coo_array(sp.triu(land.weights, k=1))
        ends = np.sort(labels[points[np.vstack([edges.row, edges.col])]], axis=0)
        volumes = np.bincount(ends.ravel(), np.tile(edges.data, 2), minlength=int(labels.max()) + 1)
        found = []
        for a, b in np.unique(ends[:, ends[0] != ends[1]], axis=1).T.tolist():
            here = np.flatnonzero((ends[0] == a) & (ends[1] == b))
            edge = here[np.argmax(edges.data[here])]
            share = float(edges.data[here].sum() / min(volumes[a], volumes[b]))
            i, j = (int(points[side[edge]]) for side in (edges.row, edges.col))
            found.append(Border(a, b, share, *((i, j) if labels[i] == a else (j, i))))
        return sorted(found, key=lambda border: -border.closeness)

    def part(self, points: Sequence[int]) -> Question:
        """Say that points are not one cluster; the next question is about the middles of their two halves."""
        self._focus = part_question(self.run, self.rows(points))
        self.step += 1
        return self._focus

    def name(self, cluster: int, name: str, *, forget: Iterable[int] = ()) -> Self:
        """Name a cluster, or give it another name; clusters of one name are one cluster.

        The name goes to its most typical member. Empty: it has no name any more.
        """
        self._check_cluster(cluster)
        old, new = self.cluster_names()[cluster], str(name).strip()
        if not old:
            middle = int(self.members(cluster, 1).typical[0])
            return self._add([ClassAnswer(middle, new)], forget) if new else self
        labels, gone = self.labels, set(forget)
        renamed = [
            replace(record, name=new or None)
            if isinstance(record, ClassAnswer) and record.name == old and labels[record.i] == cluster
            else record
            for position, record in enumerate(self.run.history_)
            if position not in gone
        ]
        return self._revise(renamed, len(renamed))

    def undo(self) -> Self:
        """Take the last step back."""
        if self._focus is not None:
            self._focus = None
            self.step += 1
            return self
        before = self.labels
        self.run.undo()
        return self._after(before)

    def facts(self) -> list[Fact]:
        """Return what was said, suspicious answers marked."""
        return list_facts(self.run, self.items)

    def lines(self) -> list[Line]:
        """Return the links, for the map."""
        return list_lines(self.run)

    def forget(self, positions: Iterable[int]) -> Self:
        """Take back what was said, by its place in the history."""
        return self._add([], positions)

    def change(self, position: int, same: bool | None) -> Self:
        """Change an answer to together (True), apart (False) or unsure (None)."""
        self._check_positions([position])
        record = self.run.history_[position]
        if not isinstance(record, Answer):
            raise ValueError(
                f"What was said in place {position} is about no pair; take it back, or name the cluster anew."
            )
        history = list(self.run.history_)
        del history[position]
        # At the end, so that a contradiction is explained as one of a new answer.
        return self._revise([*history, replace(record, same=same, confidence=1.0)], len(history))

    def take(self, constraints: Constraints, how: str = "import") -> Self:
        """Take constraints from elsewhere, all of them or none; labels stay labels."""
        constraints.check_matches(len(self.items))
        links, classes = as_answers(constraints), constraints.known_classes
        said: list[Record] = [*links]
        if classes is not None and all(link.confidence == 1.0 for link in links):
            named = {i: ClassAnswer(i, str(name)) for i, name in enumerate(classes) if name is not None}
            # Links between labelled points follow from their labels.
            said = [*named.values(), *(link for link in links if not {link.i, link.j} <= named.keys())]
        return self._add([replace(one, strategy=f"{how} {len(self.run.history_)}") for one in said], ())

    def cluster_names(self) -> dict[int, str]:
        """Return the name most of its named points have, for every number of a cluster; empty without one."""
        labels = self.labels
        named: dict[int, Counter[str]] = {number: Counter() for number in sorted(self.numbers.tolist())}
        for record in self.run.history_:
            if isinstance(record, ClassAnswer) and record.name is not None:
                named[int(labels[record.i])][record.name] += 1
        return {number: names.most_common(1)[0][0] if names else "" for number, names in named.items()}

    def shown_names(self) -> dict[int, str]:
        """Return what every cluster is called: its name, or "cluster" and its number."""
        return {number: name or f"cluster {number}" for number, name in self.cluster_names().items()}

    def members(self, cluster: int, n_shown: int = 6) -> Members:
        """Return typical and doubtful members of a cluster, of the points that questions are about."""
        self._check_cluster(cluster)
        land = self.run.precomputed_
        here = np.flatnonzero(self.labels[land.micro_clusters.points] == cluster)
        points = land.micro_clusters.points[here]
        sureness = self.run.confidence_[points]
        coordinates = unit_rows(land.eigenvectors)[here]
        distances = np.linalg.norm(coordinates - coordinates.mean(axis=0), axis=1)
        typical = np.argsort(-sureness / (1.0 + distances), kind="stable")[:n_shown]
        rest = np.setdiff1d(np.arange(len(here)), typical)
        doubtful = rest[np.argsort(sureness[rest], kind="stable")][:n_shown]
        return Members(points[typical], points[doubtful])

    @property
    def can_undo(self) -> bool:
        """Whether there is a step to take back."""
        return self._focus is not None or self.run.can_undo

    def rows(self, points: Sequence[int]) -> IntArray:
        """Return points as row numbers, or refuse what are none."""
        rows = np.asarray(points)
        if rows.dtype.kind not in "iu" or rows.ndim != 1 or not len(rows):
            raise ValueError("Points are a list of row numbers, at least one.")
        if rows.min() < 0 or rows.max() >= len(self.items):
            raise ValueError(f"Points are numbered from 0 to {len(self.items) - 1}.")
        return rows.astype(np.intp)

    def close(self) -> None:
        """Unlock the folder."""
        if self.project is not None:
            self.project.close()

    def _add(self, records: Sequence[Record], forget: Iterable[int]) -> Self:
        gone = set(forget)
        self._check_positions(gone)
        kept = [record for position, record in enumerate(self.run.history_) if position not in gone]
        return self._revise([*kept, *records], len(kept))

    def _revise(self, history: list[Record], n_old: int) -> Self:
        before = self.labels
        try:
            self.run.replace_answers(history)
        except ConflictError as error:
            contradiction = explain_contradiction(self.run, history, n_old, self.items)
            raise ContradictionError(contradiction) from error
        self._focus = None
        return self._after(before)

    def _after(self, before: IntArray) -> Self:
        """Carry numbers over to the new clusters, note which points changed, and keep the numbers."""
        self.numbers = carry_numbers(before, self._first, self.run.labels_)
        self.changed = np.flatnonzero(before != self.labels)
        self.step += 1
        if self.project is not None:
            self.project.keep({**self.project.settings, "numbers": self.numbers.tolist()})
        return self

    def _start(self) -> ActiveClustering:
        setup = self.setup
        return ActiveClustering(
            setup.n_clusters,
            affinity="precomputed" if setup.is_graph else self._affinity,
            reliability=setup.reliability,
            costs=setup.costs,
            random_state=setup.random_state,
        ).start(self.X)

    def _resume(self, project: Project) -> ActiveClustering:
        print_ = fingerprint(self.X)
        project.check_data(print_)
        if (project.folder / RUN / "settings.json").is_file():
            return ActiveClustering.load(project.folder / RUN)
        run = self._start().save(project.folder / RUN)
        project.keep({"fingerprint": print_, "title": self.title})
        return run

    def _place(self) -> FloatArray:
        if self.setup.axes is not None:
            columns = [self.items.column(axis) for axis in self.setup.axes]
            if not all(is_number_column(column) for column in columns):
                raise ValueError(f"The axes {' and '.join(self.setup.axes)} must be columns of numbers.")
            return fit_square(np.nan_to_num(np.column_stack(columns).astype(float)), keep_shape=False)
        places = None if self.project is None else self.project.places()
        if places is None:
            places = place_points(self.run.precomputed_, self._graph(), self.setup.random_state)
            if self.project is not None:
                self.project.keep_places(places)
        return places

    def _graph(self) -> Graph:
        if self.setup.is_graph:
            return as_graph(self.X)
        if not hasattr(self._affinity, "graph_"):
            self._affinity.build(self.X)
        return self._affinity.graph_

    def _check_cluster(self, cluster: int) -> None:
        if cluster not in self.numbers:
            there = ", ".join(map(str, sorted(self.numbers.tolist())))
            raise ValueError(f"There is no cluster {cluster}; there are {there}.")

    def _check_positions(self, positions: Iterable[int]) -> None:
        n = len(self.run.history_)
        wrong = [position for position in positions if not 0 <= position < n]
        if wrong:
            raise ValueError(f"There is nothing in place {wrong[0]}: {n} things were said.")


def count_actions(history: Sequence[Record]) -> int:
    """Return how often a person said something; the links of one lasso, or of one file, count as one."""
    # What was given at the start is none.
    said = [getattr(record, "strategy", "") for record in history]
    return sum(
        not strategy.startswith("given")
        and (strategy != before or not strategy.startswith(("lasso", "import")))
        for before, strategy in pairwise(["", *said])
    )


def n_rows(X: Any) -> int:
    """Return how many points there are."""
    if isinstance(X, Graph):
        return X.n_nodes
    return int(X.shape[0]) if sp.issparse(X) or hasattr(X, "shape") else len(X)


def _checked_confidence(confidence: float) -> float:
    if not 0.5 <= confidence <= 1.0:
        raise ValueError(f"confidence={confidence!r} must be from 0.5 (a guess) to 1 (certain).")
    return float(confidence)
