"""Questions and answers as values, the constraints they stand for, and their files."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from dataclasses import fields as dataclass_fields
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.special import logit

from sidecut.active.precomputed import MicroClusters, Precomputed, assemble
from sidecut.checks import FloatArray, IntArray, is_number
from sidecut.constraints import Constraints

#: Points of a question about a set, at most.
MAX_SET = 9


@dataclass(frozen=True)
class Question:
    """A question about one point or several.

    Attributes
    ----------
    points : tuple of int
        Rows of X: two for a pair, one for a label, three to nine for a set.
    reason : str
        Why this question is asked.
    kind : str
        "pair": do the two belong together? "label": what is this? "set": which of these belong together?
    cost : float
        What it costs, by the price list.
    names : tuple of str
        The names so far, the most frequent first.
    expected : float
        For a pair: the chance of a yes.
    gain : float
        The expected share of all pairs of points whose grouping the answer changes.
    strategy : str
        The name of the strategy.
    closeness : float
        How strongly the graph links the two groups, where the question is about groups; else 0.

    Examples
    --------
    >>> from sidecut.active import Question
    >>> question = Question((3, 8), "the two largest groups are close")
    >>> question.i, question.j, question.kind
    (3, 8, 'pair')
    """

    points: tuple[int, ...]
    reason: str
    kind: str = "pair"
    cost: float = 1.0
    names: tuple[str, ...] = ()
    expected: float = 0.5
    gain: float = 0.0
    strategy: str = ""
    closeness: float = 0.0

    @property
    def i(self) -> int:
        """The first point."""
        return self.points[0]

    @property
    def j(self) -> int:
        """The last point: the other one of a pair."""
        return self.points[-1]

    @property
    def words(self) -> str:
        """The question in words."""
        return {
            "pair": "Do they belong together?",
            "label": "What is this?",
            "set": "Which of these belong together?",
        }[self.kind]


@dataclass(frozen=True)
class StoppingEstimate:
    """What further questions are expected to change.

    Attributes
    ----------
    expected : float
        The share of all pairs of points the next answer is expected to regroup; 0 if no question is left.
    recent : float
        The mean share that the last ten answers regrouped.
    words : str
        The same in a sentence.
    """

    expected: float
    recent: float
    words: str


class ErrorRate(NamedTuple):
    """The chance of a wrong answer: its mean, and an interval that holds it with a chance of 90 %."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class Answer:
    """The answer about a pair of points.

    Attributes
    ----------
    i, j : int
        Rows of X.
    same : bool or None
        Together, apart, or unsure.
    confidence : float
        The chance that this is right, from 0.5 to 1.
    expected, strategy, closeness, gain
        As they were in the question.
    changed : float
        The share of all pairs of points whose grouping changed.
    """

    i: int
    j: int
    same: bool | None
    confidence: float = 1.0
    expected: float = 0.5
    strategy: str = ""
    closeness: float = 0.0
    gain: float = 0.0
    changed: float = 0.0


@dataclass(frozen=True)
class ClassAnswer:
    """The class of a point; None: unsure.

    Attributes
    ----------
    i : int
        A row of X.
    name : str or None
        The class.
    confidence : float
        The chance that this is right, from 0.5 to 1.
    strategy, gain
        As they were in the question.
    changed : float
        The share of all pairs of points whose grouping changed.
    """

    i: int
    name: str | None
    confidence: float = 1.0
    strategy: str = ""
    gain: float = 0.0
    changed: float = 0.0


@dataclass(frozen=True)
class SetAnswer:
    """Which points of a set belong together.

    Attributes
    ----------
    points : tuple of int
        Rows of X.
    groups : tuple of int or None
        The group of each point, by any numbers; None: unsure of this point.
    confidence : float
        The chance that a point is put into the right group, from 0.5 to 1.
    strategy, gain
        As they were in the question.
    changed : float
        The share of all pairs of points whose grouping changed.

    Examples
    --------
    >>> from sidecut.active import ActiveClustering, SetAnswer
    >>> run = ActiveClustering(n_neighbors=2, random_state=0).start([[0.0], [0.2], [0.4], [5.0], [5.2]])
    >>> run.tell([SetAnswer((0, 1, 2, 3), (0, 0, 0, 1))]).labels_
    array([0, 0, 0, 1, 1])
    """

    points: tuple[int, ...]
    groups: tuple[int | None, ...]
    confidence: float = 1.0
    strategy: str = ""
    gain: float = 0.0
    changed: float = 0.0

    @property
    def i(self) -> int:
        """The first point."""
        return self.points[0]


Record = Answer | ClassAnswer | SetAnswer


def answer_to(question: Question, said: Any, confidence: float) -> Record:
    """Return the answer to a question of any kind; refuse one of another kind."""
    origin: dict[str, Any] = {"strategy": question.strategy, "gain": question.gain}
    if question.kind == "label":
        if isinstance(said, bool | np.bool_) or (said is not None and not str(said).strip()):
            raise ValueError(f"{said!r} is no name; say what point {question.i} is, or None for unsure.")
        name = None if said is None else str(said).strip()
        return ClassAnswer(question.i, name, confidence, **origin)
    if question.kind == "set":
        groups = [None] * len(question.points) if said is None else said
        if not isinstance(groups, list | tuple | np.ndarray):
            raise ValueError(
                f"{said!r} divides no set; give the number of a group for each of the "
                f"{len(question.points)} points, or None for unsure."
            )
        return SetAnswer(question.points, tuple(groups), confidence, **origin)
    fields: dict[str, Any] = {"expected": question.expected, "closeness": question.closeness}
    return Answer(question.i, question.j, said, confidence, **origin, **fields)


def check_record(record: Any, n_samples: int) -> Record:
    """Return a record about rows of X; refuse any other."""
    if not isinstance(record, Answer | ClassAnswer | SetAnswer):
        raise ValueError(
            f"{record!r} is no answer; give Answer(i, j, same), ClassAnswer(i, name), or "
            "SetAnswer(points, groups)."
        )
    for row in rows_of(record):
        if isinstance(row, bool) or not isinstance(row, int | np.integer) or not 0 <= row < n_samples:
            raise ValueError(
                f"There is no row {row!r}: rows are counted from 0, and X has {n_samples} of them."
            )
    confidence = record.confidence
    if not is_number(confidence) or not 0.5 <= confidence <= 1.0:
        raise ValueError(f"confidence={confidence!r} must be from 0.5 (a guess) to 1 (certain).")
    record = replace(record, confidence=float(confidence))
    if isinstance(record, SetAnswer):
        return _check_set(record)
    if isinstance(record, ClassAnswer):
        return record
    if record.i == record.j:
        raise ValueError(f"Row {record.i} is compared with itself; a pair is of two rows.")
    if record.same is not None and not isinstance(record.same, bool | np.bool_):
        raise ValueError(f"same={record.same!r} must be True (together), False (apart) or None (unsure).")
    return replace(record, same=None if record.same is None else bool(record.same))


def rows_of(record: Record) -> tuple[int, ...]:
    """Return the rows of X that an answer is about."""
    if isinstance(record, Answer):
        return (record.i, record.j)
    return record.points if isinstance(record, SetAnswer) else (record.i,)


def kind_of(record: Record) -> str:
    """Return the kind of question that an answer is to."""
    return "pair" if isinstance(record, Answer) else "label" if isinstance(record, ClassAnswer) else "set"


def _check_set(record: SetAnswer) -> SetAnswer:
    if len(set(record.points)) != len(record.points):
        raise ValueError(f"points={record.points!r} names a row twice.")
    if len(record.groups) != len(record.points):
        raise ValueError(
            f"groups={record.groups!r} has {len(record.groups)} numbers for {len(record.points)} points; "
            "give one for each, or None for unsure."
        )
    for group in record.groups:
        if group is not None and (
            isinstance(group, bool | np.bool_) or not isinstance(group, int | np.integer)
        ):
            raise ValueError(f"{group!r} in groups must be a whole number, or None for unsure.")
    groups = tuple(None if group is None else int(group) for group in record.groups)
    return replace(record, points=tuple(map(int, record.points)), groups=groups)


def as_record(fields: dict[str, Any]) -> Record:
    """Return the record of some fields."""
    kind = ClassAnswer if "name" in fields else SetAnswer if "groups" in fields else Answer
    # Runs saved by an earlier version may hold other fields; JSON has lists in place of tuples.
    known = {field.name for field in dataclass_fields(kind)}
    values: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in fields.items()
        if name in known
    }
    return kind(**values)


Piles = list[list[tuple[int, float]]]


def answered_piles(records: Sequence[Record]) -> list[Piles]:
    """Return the piles of each answer about a set, and those of all names: points with their confidence."""
    answers: list[Piles] = []
    names: dict[str, list[tuple[int, float]]] = {}
    for record in records:
        if isinstance(record, ClassAnswer) and record.name is not None:
            names.setdefault(record.name, []).append((record.i, record.confidence))
        elif isinstance(record, SetAnswer):
            groups: dict[int, list[tuple[int, float]]] = {}
            for point, group in zip(record.points, record.groups, strict=True):
                if group is not None:
                    groups.setdefault(group, []).append((point, record.confidence))
            answers.append(list(groups.values()))
    return [*answers, list(names.values())]


def answered_pairs(records: Sequence[Record]) -> list[Answer]:
    """Return all answers as pairs."""
    pairs = [record for record in records if isinstance(record, Answer)]
    return pairs + [pair for piles in answered_piles(records) for pair in pairs_of_piles(piles)]


def pairs_of_piles(piles: Piles) -> list[Answer]:
    """Return a chain through each pile and a pair between any two; each is right if both points are."""
    chains = [link for pile in piles for link in pairwise(pile) if link[0][0] != link[1][0]]
    together = [Answer(a, b, True, one * other, strategy="named") for (a, one), (b, other) in chains]
    first = [pile[0] for pile in piles]
    apart = [(first[k], other) for k in range(len(first)) for other in first[:k]]
    return together + [Answer(a, b, False, one * other, strategy="named") for (a, one), (b, other) in apart]


def chance_right(answer: Answer, reliability: float) -> float:
    """Return the chance that an answer is right: right and meant, or wrong twice."""
    # Pairs that were given at the start have no other source of error.
    if answer.strategy == "given":
        return answer.confidence
    # A pair that follows from two names is right if both are.
    right = reliability**2 if answer.strategy == "named" else reliability
    return max(answer.confidence * right + (1.0 - answer.confidence) * (1.0 - right), 0.5)


def answer_odds(answer: Answer, reliability: float) -> float:
    """Return the log odds of "together" that an answer gives: log p / (1 - p) for a yes with chance p."""
    odds = float(logit(chance_right(answer, reliability)))
    return odds if answer.same else -odds


def pile_odds(confidence: float, reliability: float) -> float:
    """Return the log odds that a point belongs in the pile it was put in."""
    return answer_odds(Answer(0, 0, True, confidence), reliability)


def as_constraints(said: Sequence[Answer], reliability: float, n_samples: int, certain: bool) -> Constraints:
    """Return answers as constraints, each of weight 2p - 1 for a chance p that it is right."""
    sure = [(a, 2.0 * chance_right(a, reliability) - 1.0) for a in said if a.same is not None]
    must = [((a.i, a.j), weight) for a, weight in sure if a.same and weight > 0]
    cannot = [((a.i, a.j), weight) for a, weight in sure if not a.same and weight > 0]
    return Constraints.from_pairs(
        n_samples,
        must_link=[pair for pair, _ in must] or None,
        cannot_link=[pair for pair, _ in cannot] or None,
        must_weight=[weight for _, weight in must] or 1.0,
        cannot_weight=[weight for _, weight in cannot] or 1.0,
        on_conflict="raise" if certain else "weigh",
    )


def as_answers(known: Constraints) -> list[Answer]:
    """Return constraints as answers: chains of must-links, and one cannot-link for any two groups."""
    # A link of strength s below 1 is an answer with confidence (1 + |s|) / 2.
    pairs, strengths = known.pairs, known.strengths
    confidences = np.minimum(1.0, (1.0 + np.abs(strengths)) / 2.0)
    firm = confidences >= 1.0
    answers = [
        Answer(int(i), int(j), bool(s > 0), float(c), strategy="given")
        for (i, j), s, c in zip(pairs[~firm], strengths[~firm], confidences[~firm], strict=True)
    ]
    return _firm_answers(known.n_samples, pairs[firm], strengths[firm]) + answers


def _firm_answers(n_samples: int, pairs: IntArray, strengths: FloatArray) -> list[Answer]:
    firm = Constraints.from_pairs(n_samples, pairs[strengths > 0], pairs[strengths < 0])
    component = firm.must_link_components()
    order = np.argsort(component, kind="stable")
    linked = component[order[1:]] == component[order[:-1]]
    chains = [(int(a), int(b)) for a, b in zip(order[:-1][linked], order[1:][linked], strict=True)]
    first = np.full(component.max(initial=-1) + 1, n_samples)
    np.minimum.at(first, component, np.arange(n_samples))
    apart = np.unique(np.sort(first[component[firm.cannot_link]].reshape(-1, 2), axis=1), axis=0)
    together = [Answer(a, b, True, strategy="given") for a, b in chains]
    return together + [Answer(int(a), int(b), False, strategy="given") for a, b in apart]


SETTINGS, ANSWERS, ARRAYS = "settings.json", "answers.jsonl", "precomputed.npz"
UNDO = {"undo": True}


def write_run(
    folder: Path, settings: dict[str, Any], precomputed: Precomputed, histories: Sequence[list[Record]]
) -> None:
    """Write a whole run, step by step; the settings last: a folder without them is no run yet."""
    if folder.exists() and not folder.is_dir():
        raise FileExistsError(f"{folder} is a file, but a run is stored in a folder: give another name.")
    folder.mkdir(parents=True, exist_ok=True)
    _replace(folder / ARRAYS, lambda path: _write_arrays(path, precomputed))
    lines = "".join(json.dumps(as_step(old, new)) + "\n" for old, new in pairwise(histories))
    _replace(folder / ANSWERS, lambda path: path.write_text(lines, encoding="utf-8"))
    text = json.dumps(settings, indent=1) + "\n"
    _replace(folder / SETTINGS, lambda path: path.write_text(text, encoding="utf-8"))


def append_step(folder: Path, fields: dict[str, Any]) -> None:
    """Add a step, and wait until it is on disk."""
    path = folder / ANSWERS
    size = path.stat().st_size
    try:
        with open(path, "a", encoding="utf-8") as file:
            file.write(json.dumps(fields) + "\n")
            file.flush()
            os.fsync(file.fileno())
    except OSError:
        # A full disk: half a line would spoil the next one.
        os.truncate(path, size)
        raise


def as_step(past: list[Record], history: list[Record]) -> dict[str, Any]:
    """Return the difference of two histories as fields."""
    if history[: len(past)] != past:
        return {"history": [asdict(record) for record in history]}
    added = [asdict(record) for record in history[len(past) :]]
    return added[0] if len(added) == 1 else {"told": added}


def read_run(folder: Path) -> tuple[dict[str, Any], Precomputed, list[list[Record]]]:
    """Return the settings and precomputed values of a run, and the history after every step."""
    if not (folder / SETTINGS).is_file():
        raise FileNotFoundError(
            f"{folder} holds no saved run (no {SETTINGS} in it); save one with run.save()."
        )
    settings = json.loads((folder / SETTINGS).read_text(encoding="utf-8"))
    return settings, _read_arrays(folder / ARRAYS), _read_histories(folder / ANSWERS)


def _read_histories(path: Path) -> list[list[Record]]:
    histories: list[list[Record]] = [[]]
    text = path.read_text(encoding="utf-8")
    whole = text[: text.rfind("\n") + 1]
    if whole != text:
        # A program was killed while it wrote the last line; a new line after it would be lost, too.
        _replace(path, lambda part: part.write_text(whole, encoding="utf-8"))
    for line in whole.splitlines():
        fields = json.loads(line)
        if fields == UNDO:
            histories.pop()
        elif "history" in fields:
            histories.append([as_record(each) for each in fields["history"]])
        else:
            added = [as_record(each) for each in fields.get("told", [fields])]
            histories.append(histories[-1] + added)
    return histories


def _replace(path: Path, write: Any) -> None:
    """Write to a file beside, then rename it."""
    part = path.with_name(f"part-{path.name}")
    write(part)
    os.replace(part, path)


def _write_arrays(path: Path, precomputed: Precomputed) -> None:
    arrays = {
        "index_of": precomputed.micro_clusters.index_of,
        "points": precomputed.micro_clusters.points,
        "initial_clusters": precomputed.initial_clusters,
        "known": precomputed.known,
        "eigenvalues": precomputed.eigenvalues,
        "eigenvectors": precomputed.eigenvectors,
        **_sparse_arrays("weights", precomputed.weights),
    }
    if sp.issparse(precomputed.features):
        arrays |= _sparse_arrays("features", sp.csr_array(precomputed.features))
    elif precomputed.features is not None:
        arrays["features"] = precomputed.features
    with open(path, "wb") as file:
        np.savez(file, allow_pickle=False, **arrays)


def _sparse_arrays(name: str, matrix: sp.csr_array) -> dict[str, np.ndarray]:
    return {
        f"{name}_data": matrix.data,
        f"{name}_indices": matrix.indices,
        f"{name}_indptr": matrix.indptr,
        f"{name}_shape": np.array(matrix.shape),
    }


def _read_sparse(arrays: Any, name: str) -> sp.csr_array:
    parts = tuple(arrays[f"{name}_{part}"] for part in ("data", "indices", "indptr"))
    return sp.csr_array(parts, shape=tuple(arrays[f"{name}_shape"]))


def _read_arrays(path: Path) -> Precomputed:
    with np.load(path, allow_pickle=False) as arrays:
        features: Any = None
        if "features" in arrays:
            features = arrays["features"]
        elif "features_data" in arrays:
            features = _read_sparse(arrays, "features")
        return assemble(
            MicroClusters(arrays["index_of"], arrays["points"]),
            _read_sparse(arrays, "weights"),
            features,
            arrays["initial_clusters"],
            arrays["known"],
            arrays["eigenvalues"],
            arrays["eigenvectors"],
        )
