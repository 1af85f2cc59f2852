"""Requests of the page in, replies out; a server or a notebook carries them."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from functools import partial
from threading import Lock
from typing import Any

import numpy as np

from sidecut.checks import IntArray
from sidecut.constraints import Constraints
from sidecut.exceptions import SidecutWarning
from sidecut.selection import AutoCut
from sidecut.studio.items import carry_numbers, is_number_column, written
from sidecut.studio.messages import (
    Asked,
    Boundary,
    Brief,
    Card,
    Cluster,
    ClusterInBrief,
    Column,
    Fact,
    File,
    Opening,
    Opinion,
    Pair,
    QuestionInBrief,
    Refusal,
    State,
    pack,
)
from sidecut.studio.project import Project, export_file, read_text_constraints
from sidecut.studio.session import ContradictionError, Session

#: Methods of `Session` that change it. A request for one names the step it was made at.
CHANGES = ("answer", "link", "join", "merge", "part", "move", "detach", "name", "undo", "forget", "change")


class StaleError(ValueError):
    """The request was made at an earlier step: another page changed the session since."""


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
            **{verb: partial(self._change, verb) for verb in CHANGES},
            "alive": lambda: True,
            "brief": self.brief,
            "clusters": self.clusters,
            "members": self.members,
            "borders": self.borders,
            "facts": self.facts,
            "cards": self.cards,
            "pair": self.pair,
            "column": self.column,
            "opinion": self.opinion,
            "export": self.export,
            "import": self.import_,
        }

    @property
    def project(self) -> Project | None:
        """The folder of the session."""
        return self.session.project

    def handle(self, request: Any) -> dict[str, Any]:
        """Handle one request at a time, except "opinion", which runs beside them."""
        if isinstance(request, dict) and request.get("do") == "opinion":
            return reply_to(self._verbs, request)
        with self._lock:
            return reply_to(self._verbs, request)

    def open(self) -> Opening:
        """Return what does not change, and the state."""
        session = self.session
        return Opening(
            kind="points",
            title=session.title,
            n_points=len(session.items),
            places=pack(session.places, "f4"),
            axes=list(session.setup.axes or ()),
            columns=[*session.items.more, *session.items.table],
            about=session.items.about,
            kept_in="" if session.project is None else str(session.project.folder),
            state=self.state(),
        )

    def state(self) -> State:
        """Return all that changes."""
        session = self.session
        run, question, asked = session.run, session.question(), None
        names, sizes = session.shown_names(), np.bincount(session.labels)
        if question is not None:
            asked = Asked(
                kind=question.kind,
                points=list(question.points),
                words=question.words,
                names=list(question.names),
                reason=self._with_names(question.reason),
                expected=question.expected,
                gain=question.gain,
                pair=session.items.pair(question.i, question.j) if question.kind == "pair" else None,
                cards=[] if question.kind == "pair" else self.cards(list(question.points)),
            )
        return State(
            step=session.step,
            n_clusters=run.n_clusters_,
            labels=pack(session.labels, "u2"),
            confidence=pack(np.round(255 * np.clip(run.confidence_, 0, 1)), "u1"),
            numbers=list(names),
            names=list(names.values()),
            sizes=sizes[list(names)].tolist(),
            changed=pack(np.isin(np.arange(len(run.labels_)), session.changed), "u1"),
            n_changed=len(session.changed),
            lines=session.lines(),
            question=asked,
            outlook=run.stopping_estimate_.words,
            n_answers=session.n_actions,
            can_undo=session.can_undo,
        )

    def brief(self) -> Brief:
        """Return the state in words and a few numbers, for programs."""
        session = self.session
        run, question, labels, asked = session.run, session.question(), session.labels, None
        if question is not None:
            asked = QuestionInBrief(
                kind=question.kind,
                words=question.words,
                names=list(question.names),
                points=[session.items.in_words(int(i)) for i in question.points],
                reason=self._with_names(question.reason),
            )
        return Brief(
            step=session.step,
            n_points=len(labels),
            n_answers=session.n_actions,
            n_changed=len(session.changed),
            clusters=[
                ClusterInBrief(
                    cluster=number,
                    name=name,
                    size=int(np.sum(labels == number)),
                    confidence=round(float(run.confidence_[labels == number].mean()), 3),
                )
                for number, name in session.shown_names().items()
            ],
            question=asked,
            outlook=run.stopping_estimate_.words,
        )

    def cards(self, points: list[int]) -> list[Card]:
        """Return the cards of some points, at most 60."""
        return [self.session.items.card(int(i)) for i in self.session.rows(points)[:60]]

    def pair(self, i: int, j: int) -> Pair:
        """Return two points side by side."""
        i, j = (int(row) for row in self.session.rows([i, j]))
        return self.session.items.pair(i, j)

    def clusters(self) -> list[Cluster]:
        """Return the clusters, the largest first."""
        session, labels, names = self.session, self.session.labels, self.session.cluster_names()
        sizes, shown, found = np.bincount(labels), session.shown_names(), []
        for c in sorted(names, key=lambda number: -sizes[number]):
            some = session.members(c)
            found.append(
                Cluster(
                    cluster=c,
                    name=shown[c],
                    is_named=bool(names[c]),
                    size=int(sizes[c]),
                    confidence=float(session.run.confidence_[labels == c].mean()),
                    typical=[session.items.card(int(i)) for i in some.typical],
                    doubtful=[session.items.card(int(i)) for i in some.doubtful],
                )
            )
        return found

    def members(self, cluster: int, n: int = 10) -> list[Card]:
        """Return the cards of the most typical members of a cluster."""
        return [self.session.items.card(int(i)) for i in self.session.members(cluster, n).typical]

    def borders(self) -> list[Boundary]:
        """Return which clusters touch each other, the closest first."""
        names, items = self.session.shown_names(), self.session.items
        return [
            Boundary(
                cluster=border.cluster,
                other=border.other,
                names=[names[border.cluster], names[border.other]],
                closeness=border.closeness,
                pair=items.pair(border.i, border.j),
            )
            for border in self.session.borders()
        ]

    def facts(self) -> list[Fact]:
        """Return the answers and names that were given."""
        return self.session.facts()

    def column(self, name: str) -> Column:
        """Return values to colour the points by."""
        return as_column(name, self.session.items.column(name))

    def opinion(self) -> Opinion:
        """Return the clusters of AutoCut with the same constraints."""
        with self._lock:
            known, labels = self.session.run.constraints_, self.session.labels
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

    def _change(self, verb: str, /, step: int, brief: bool = False, **arguments: Any) -> State | Brief:
        self._check_step(step)
        getattr(self.session, verb)(**arguments)
        return self.brief() if brief else self.state()

    def _check_step(self, step: int) -> None:
        if step != self.session.step:
            raise StaleError(
                "Something was said on another page meanwhile. This page shows it now; please look again."
            )

    def _with_names(self, reason: str) -> str:
        """Call points by their names where a reason has their numbers."""
        return re.sub(r"\bpoint (\d+)\b", lambda found: self.session.items.names[int(found[1])], reason)


def as_column(name: str, values: Any) -> Column:
    """Return a column to colour by: numbers as they are, all else as categories, at most 200."""
    if is_number_column(values):
        numbers = np.asarray(values, dtype=float)
        finite = numbers[np.isfinite(numbers)]
        low, high = (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 1.0)
        packed = pack(np.nan_to_num(numbers, nan=low), "f4")
        return Column(name=name, is_number=True, values=packed, low=low, high=high, categories=[])
    words, codes = np.unique([written(value) for value in values], return_inverse=True)
    shown = np.minimum(codes, 200)
    names = [str(word) for word in words[:200]]
    return Column(name=name, is_number=False, values=pack(shown, "u2"), low=0.0, high=0.0, categories=names)


def second_opinion(session: Session, known: Constraints, labels: IntArray) -> Opinion:
    """Return the clusters AutoCut finds with the same constraints, in the colours of those on the map."""
    model = AutoCut(
        len(np.unique(labels)),
        affinity="precomputed" if session.setup.is_graph else "auto",
        random_state=session.setup.random_state,
    )
    with warnings.catch_warnings():
        # The page shows its explanation.
        warnings.simplefilter("ignore", SidecutWarning)
        model.fit(session.X, constraints=known)
    numbers, shown = carry_numbers(labels, labels, model.labels_), session.shown_names()
    differs = numbers[model.labels_] != labels
    column = Column(
        name="AutoCut",
        is_number=False,
        values=pack(model.labels_, "u2"),
        low=0.0,
        high=0.0,
        categories=[shown.get(number, f"new: cluster {number}") for number in numbers.tolist()],
        numbers=numbers.tolist(),
        differs=pack(differs, "u1"),
    )
    return Opinion(column=column, words=model.explanation_, n_differing=int(differs.sum()))
