"""Requests of the page in, replies out, whoever carries them (a server or a notebook)."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from threading import Lock
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score

from sidecut.active import Question
from sidecut.checks import IntArray
from sidecut.constraints import Constraints
from sidecut.exceptions import SidecutWarning
from sidecut.selection import AutoCut
from sidecut.studio.exports import export_file, read_text_constraints
from sidecut.studio.items import is_number_column, written
from sidecut.studio.messages import (
    Asked,
    Card,
    Cluster,
    Column,
    Fact,
    File,
    Opening,
    Opinion,
    Pair,
    Refusal,
    State,
    pack,
)
from sidecut.studio.session import SHOWN, ContradictionError, Session

#: Categories beyond this many are not told apart by colour.
MOST_CATEGORIES = 200
#: At most so many cards at once.
MOST_CARDS = 60


class StaleError(ValueError):
    """The request was made at an earlier step: someone else, or another page, was faster."""


def reply_to(verbs: dict[str, Callable[..., Any]], request: Any) -> dict[str, Any]:
    """Return what a verb replies, or why it refused."""
    if not isinstance(request, dict) or not isinstance(request.get("do"), str):
        return {"error": Refusal(words="A request is an object with the verb in 'do'.")}
    arguments = {name: value for name, value in request.items() if name != "do"}
    verb = verbs.get(request["do"])
    if verb is None:
        return {"error": Refusal(words=f"There is no {request['do']!r}; there are {', '.join(verbs)}.")}
    try:
        return {"reply": verb(**arguments)}
    except ContradictionError as error:
        return {"error": Refusal(words=str(error), contradiction=error.contradiction)}
    except StaleError as error:
        return {"error": Refusal(words=str(error), is_stale=True)}
    except TypeError as error:
        words = f"The request {request['do']!r} lacks something or has too much: {error}"
        return {"error": Refusal(words=words)}
    except (ValueError, OSError, ImportError) as error:
        return {"error": Refusal(words=str(error))}


class SessionHandler:
    """What the page may ask of a session."""

    def __init__(self, session: Session, write_model: Callable[[Session], File] | None = None) -> None:
        self.session, self._write_model = session, write_model
        self._lock = Lock()
        self._verbs: dict[str, Callable[..., Any]] = {
            "open": self.open,
            "state": self.state,
            "answer": self.answer,
            "link": self.link,
            "join": self.join,
            "part": self.part,
            "name": self.name,
            "undo": self.undo,
            "forget": self.forget,
            "change": self.change,
            "clusters": self.clusters,
            "facts": self.facts,
            "cards": self.cards,
            "pair": self.pair,
            "column": self.column,
            "opinion": self.opinion,
            "export": self.export,
            "import": self.import_,
        }

    def handle(self, request: Any) -> dict[str, Any]:
        """Return the reply to a request; one at a time, but nobody waits for a second opinion."""
        if isinstance(request, dict) and request.get("do") == "opinion":
            return reply_to(self._verbs, request)
        with self._lock:
            return reply_to(self._verbs, request)

    # Look

    def open(self) -> Opening:
        """Return all that does not change, and the state."""
        session = self.session
        return Opening(
            kind="points",
            title=session.title,
            n_points=len(session.items),
            places=pack(session.places, "f4"),
            axes=list(session.setup.axes or ()),
            columns=[*session.items.more, *session.items.table],
            kept_in="" if session.project is None else str(session.project.folder),
            state=self.state(),
        )

    def state(self) -> State:
        """Return all that changes."""
        session = self.session
        run, question = session.run, session.question()
        return State(
            step=session.step,
            n_clusters=run.n_clusters_,
            labels=pack(run.labels_, "u2"),
            confidence=pack(np.round(255 * np.clip(run.confidence_, 0, 1)), "u1"),
            colors=session.colors.tolist(),
            names=[self._shown_name(c) for c in range(run.n_clusters_)],
            sizes=np.bincount(run.labels_, minlength=run.n_clusters_).tolist(),
            changed=pack(np.isin(np.arange(len(run.labels_)), session.changed), "u1"),
            n_changed=len(session.changed),
            lines=session.lines(),
            question=None if question is None else self._as_asked(question),
            outlook=run.outlook_.words,
            n_answers=len(run.history_),
            can_undo=session.can_undo,
        )

    def cards(self, points: list[int]) -> list[Card]:
        """Return what is shown of some points."""
        return [self.session.items.card(int(i)) for i in self.session.rows(points)[:MOST_CARDS]]

    def pair(self, i: int, j: int) -> Pair:
        """Return two points side by side."""
        i, j = (int(row) for row in self.session.rows([i, j]))
        return self.session.items.pair(i, j)

    def clusters(self) -> list[Cluster]:
        """Return the clusters, the largest first."""
        sizes = np.bincount(self.session.run.labels_)
        return [self._as_cluster(int(c), int(sizes[c])) for c in np.argsort(-sizes, kind="stable")]

    def facts(self) -> list[Fact]:
        """Return what was said."""
        return self.session.facts()

    def column(self, name: str) -> Column:
        """Return values to colour the points by."""
        return as_column(name, self.session.items.column(name))

    # Say; every verb here names the step it was made at

    def answer(
        self, step: int, same: bool | None, confidence: float = 1.0, forget: list[int] | None = None
    ) -> State:
        """Answer the question."""
        self._check_step(step)
        self.session.answer(same, confidence, forget=forget or ())
        return self.state()

    def link(
        self,
        step: int,
        i: int,
        j: int,
        same: bool,
        confidence: float = 1.0,
        forget: list[int] | None = None,
    ) -> State:
        """Link any two points."""
        self._check_step(step)
        self.session.link(i, j, same, confidence, forget=forget or ())
        return self.state()

    def join(self, step: int, points: list[int], forget: list[int] | None = None) -> State:
        """Say that points are one cluster."""
        self._check_step(step)
        self.session.join(points, forget=forget or ())
        return self.state()

    def part(self, step: int, points: list[int]) -> State:
        """Say that points are not one cluster."""
        self._check_step(step)
        self.session.part(points)
        return self.state()

    def name(self, step: int, cluster: int, name: str, forget: list[int] | None = None) -> State:
        """Name a cluster."""
        self._check_step(step)
        self.session.name(int(cluster), str(name), forget=forget or ())
        return self.state()

    def undo(self, step: int) -> State:
        """Take the last step back."""
        self._check_step(step)
        self.session.undo()
        return self.state()

    def forget(self, step: int, positions: list[int]) -> State:
        """Take back what was said, by its place."""
        self._check_step(step)
        self.session.forget(positions)
        return self.state()

    def change(self, step: int, position: int, same: bool | None) -> State:
        """Change an answer."""
        self._check_step(step)
        self.session.change(position, same)
        return self.state()

    # Carry in and out

    def opinion(self) -> Opinion:
        """Return what AutoCut makes of all that is known."""
        with self._lock:
            known, labels = self.session.run.constraints_, self.session.run.labels_
        return second_opinion(self.session, known, labels)

    def export(self, what: str) -> File:
        """Return labels, constraints, model or report as a file."""
        if what == "model" and self._write_model is not None:
            return self._write_model(self.session)
        return export_file(self.session, what)

    def import_(self, step: int, text: str) -> State:
        """Take constraints from the text of a file."""
        self._check_step(step)
        self.session.take(read_text_constraints(text, self.session.items.names))
        return self.state()

    # Inside

    def _check_step(self, step: int) -> None:
        if step != self.session.step:
            raise StaleError(
                "Something was said on another page meanwhile. This page shows it now; please look again."
            )

    def _as_asked(self, question: Question) -> Asked:
        return Asked(
            i=question.i,
            j=question.j,
            reason=self._with_names(question.reason),
            expected=question.expected,
            gain=question.gain,
            pair=self.session.items.pair(question.i, question.j),
        )

    def _as_cluster(self, cluster: int, size: int) -> Cluster:
        session = self.session
        some = session.members(cluster)
        return Cluster(
            cluster=cluster,
            name=self._shown_name(cluster),
            is_named=bool(session.cluster_names()[cluster]),
            color=int(session.colors[cluster]),
            size=size,
            confidence=float(session.run.confidence_[session.run.labels_ == cluster].mean()),
            typical=[session.items.card(int(i)) for i in some.typical[:SHOWN]],
            doubtful=[session.items.card(int(i)) for i in some.doubtful[:SHOWN]],
        )

    def _with_names(self, reason: str) -> str:
        """Call points by their names where a reason has their numbers."""
        return re.sub(r"\bpoint (\d+)\b", lambda found: self.session.items.names[int(found[1])], reason)

    def _shown_name(self, cluster: int) -> str:
        """Return a cluster's name, or a number that stays with its colour."""
        return self.session.cluster_names()[cluster] or f"cluster {self.session.colors[cluster] + 1}"


def as_column(name: str, values: Any) -> Column:
    """Return a column to colour by: numbers as they are, all else as categories."""
    if is_number_column(values):
        numbers = np.asarray(values, dtype=float)
        finite = numbers[np.isfinite(numbers)]
        low, high = (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 1.0)
        packed = pack(np.nan_to_num(numbers, nan=low), "f4")
        return Column(name=name, is_number=True, values=packed, low=low, high=high, categories=[])
    words, codes = np.unique([written(value) for value in values], return_inverse=True)
    shown = np.minimum(codes, MOST_CATEGORIES)
    names = [str(word) for word in words[:MOST_CATEGORIES]]
    return Column(name=name, is_number=False, values=pack(shown, "u2"), low=0.0, high=0.0, categories=names)


# A second opinion: what AutoCut makes of all that was said.


def second_opinion(session: Session, known: Constraints, labels: IntArray) -> Opinion:
    """Return the clusters AutoCut finds with the same knowledge, and its reasons."""
    model = AutoCut(
        int(labels.max()) + 1,
        affinity="precomputed" if session.setup.is_graph else "auto",
        random_state=session.setup.random_state,
    )
    with warnings.catch_warnings():
        # Its words say how much was known, and the page shows them.
        warnings.simplefilter("ignore", SidecutWarning)
        model.fit(session.X, constraints=known)
    names = [f"AutoCut {number + 1}" for number in range(int(model.labels_.max()) + 1)]
    column = Column(
        name="AutoCut",
        is_number=False,
        values=pack(model.labels_, "u2"),
        low=0.0,
        high=0.0,
        categories=names,
    )
    agreement = float(adjusted_rand_score(labels, model.labels_))
    return Opinion(column=column, words=model.explanation_, agreement=agreement)
