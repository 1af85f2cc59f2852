"""Sources of answers: a function of two rows, a program that reads JSON lines, a person in a terminal."""

from __future__ import annotations

import json
import queue
import re
import shlex
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TextIO

import numpy as np

from sidecut.active.clustering import ActiveClustering
from sidecut.active.records import ClassAnswer
from sidecut.checks import check_count, check_not_negative
from sidecut.constraints import Constraints

#: Whether two rows of X belong together: True, False, None (unsure), or the chance that they do.
Oracle = Callable[[int, int], Any]

#: Characters for each of the two columns.
COLUMN_WIDTH = 36
PROMPT = "Do they belong together? y(es) n(o) u(nsure) b(ack) q(uit): "
HELP = "Please type y, n, u, b (take the last answer back) or q (stop; all answers are kept)."
CHOICES = ("yes", "no", "unsure", "back", "quit")
VALUES = {"yes": True, "no": False, "unsure": None}


class OracleError(RuntimeError):
    """An oracle gave no answer that makes sense."""


class BudgetSpent(Exception):
    """An oracle has no money left; what was answered stays."""


def ask(
    X: Any,
    oracle: Oracle,
    budget: int = 100,
    *,
    constraints: Constraints | None = None,
    save_to: str | Path | None = None,
    **parameters: Any,
) -> ActiveClustering:
    """Ask an oracle until the budget is spent or no useful question is left.

    Parameters
    ----------
    X : array, sparse matrix or data frame
        The points.
    oracle : callable
        `oracle(i, j)` returns whether two rows belong together: True, False, None for unsure, or a number
        from 0 to 1, the chance that they do. An `OracleError` counts as unsure; the third in a row is raised.
    budget : int, default=100
        The number of questions at most.
    constraints : Constraints, optional
        Constraints that are known already.
    save_to : path, optional
        A folder in which every answer is stored at once. If it holds a run, that run continues, and its
        questions count.
    **parameters
        Of `ActiveClustering`.

    Returns
    -------
    ActiveClustering
        With `labels_`, `constraints_`, `history_`; more questions can be asked of it.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sidecut.active import ask
    >>> X, y = load_wine(return_X_y=True)
    >>> run = ask((X - X.mean(0)) / X.std(0), lambda i, j: y[i] == y[j], budget=30, random_state=0)
    >>> len(run.history_), run.n_clusters_
    (30, 3)
    """
    budget = check_count("budget", budget)
    if not callable(oracle):
        raise ValueError(f"oracle is a {type(oracle).__name__}; give a function oracle(i, j).")
    if save_to is not None and (Path(save_to) / "settings.json").exists():
        run = ActiveClustering.load(save_to, strategy=parameters.get("strategy"))
    else:
        run = ActiveClustering(**parameters).start(X, constraints)
        if save_to is not None:
            run.save(save_to)
    failed = 0
    while len(run.history_) < budget and (question := run.question()) is not None:
        try:
            said, failed = oracle(question.i, question.j), 0
        except BudgetSpent:
            break
        except OracleError:
            said, failed = None, failed + 1
            if failed == 3:
                raise
        run.answer(*as_answer(said))
    return run


def as_answer(said: Any) -> tuple[bool | None, float]:
    """Return the reply of an oracle as an answer and its confidence."""
    if said is None or isinstance(said, bool | np.bool_):
        return (None if said is None else bool(said)), 1.0
    if not isinstance(said, int | float | np.number) or not 0.0 <= float(said) <= 1.0:
        raise OracleError(
            f"The oracle said {said!r}; expected True, False, None, or a chance from 0 to 1 that the two "
            "belong together."
        )
    chance = float(said)
    if chance == 0.5:
        return None, 1.0
    return chance > 0.5, max(chance, 1.0 - chance)


class CommandOracle:
    r"""A program that answers: one JSON line in for every question, one JSON line out for every answer.

    The program is started once. For each question it reads a line such as

        {"i": 3, "j": 8, "a": {"title": "..."}, "b": {"title": "..."}}

    and writes {"same": true}, with false, or null for unsure; "confidence" (0.5 to 1) and "cost" may be
    added. This is how a language model is attached: the program asks it and passes on what it says.

    Parameters
    ----------
    command : str or sequence of str
        The program and its arguments.
    rows : sequence of dict, optional
        What to send of each point, as plain values; without it only row numbers are sent.
    retries : int, default=2
        How often a question is asked again, of a new process, when no sensible answer came.
    timeout : float, default=60
        Seconds to wait for an answer.
    cost : float, default=0
        What a question costs where the program does not say.
    max_cost : float, optional
        When another question could cost more than what is left of this, by the dearest so far, `BudgetSpent`
        is raised, which ends `ask`.

    Attributes
    ----------
    spent : float
        What was spent so far.

    Examples
    --------
    >>> import sys
    >>> from sidecut.active import CommandOracle
    >>> parity = (
    ...     "import json, sys\n"
    ...     "for line in sys.stdin:\n"
    ...     "    q = json.loads(line)\n"
    ...     "    print(json.dumps({'same': q['i'] % 2 == q['j'] % 2, 'confidence': 0.9}), flush=True)\n"
    ... )
    >>> with CommandOracle([sys.executable, "-c", parity], cost=0.01) as oracle:
    ...     oracle(2, 4), round(oracle(2, 5), 2), oracle.spent
    (0.9, 0.1, 0.02)
    """

    def __init__(
        self,
        command: str | Sequence[str],
        rows: Sequence[dict[str, Any]] | None = None,
        *,
        retries: int = 2,
        timeout: float = 60.0,
        cost: float = 0.0,
        max_cost: float | None = None,
    ) -> None:
        check_not_negative("cost", cost)
        check_not_negative("max_cost", 0.0 if max_cost is None else max_cost)
        check_not_negative("timeout", timeout)
        if isinstance(retries, bool) or not isinstance(retries, int | np.integer) or retries < 0:
            raise ValueError(f"retries={retries!r} must be a whole number, at least 0.")
        self.command = shlex.split(command) if isinstance(command, str) else list(command)
        if not self.command:
            raise ValueError("command is empty; name the program that answers.")
        self.rows = rows
        self.retries = retries
        self.timeout = timeout
        self.cost = cost
        self.max_cost = max_cost
        self.spent = 0.0
        self._dearest = cost
        self._process: subprocess.Popen[str] | None = None
        self._lines: queue.Queue[str | None] = queue.Queue()

    def __call__(self, i: int, j: int) -> float | None:
        """Ask the program, and return the chance that the two rows belong together; None: unsure."""
        question: dict[str, Any] = {"i": int(i), "j": int(j)}
        if self.rows is not None:
            if max(i, j) >= len(self.rows):
                raise ValueError(f"rows has {len(self.rows)} entries, but row {max(i, j)} was asked about.")
            question |= {"a": self.rows[i], "b": self.rows[j]}
        fault = ""
        for _ in range(self.retries + 1):
            if self.max_cost is not None and self.spent + self._dearest > self.max_cost + 1e-12:
                raise BudgetSpent(f"{self.spent:g} of {self.max_cost:g} are spent.")
            try:
                return self._answer(question)
            except (OracleError, OSError) as error:
                fault = str(error)
                self.close()
        tries = f"{self.retries + 1} tries" if self.retries else "1 try"
        raise OracleError(f"No answer after {tries} from {shlex.join(self.command)!r}: {fault}")

    def close(self) -> None:
        """End the program."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _answer(self, question: dict[str, Any]) -> float | None:
        if self._process is None:
            self._process = subprocess.Popen(
                self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
            )
            self._lines = queue.Queue()
            threading.Thread(target=_pass_on, args=(self._process.stdout, self._lines), daemon=True).start()
        stdin = self._process.stdin
        assert stdin is not None
        # NumPy's numbers become plain ones, and other objects text.
        text = json.dumps(question, default=lambda x: x.item() if isinstance(x, np.generic) else str(x))
        stdin.write(text + "\n")
        stdin.flush()
        try:
            line = self._lines.get(timeout=self.timeout)
        except queue.Empty:
            raise OracleError(f"it did not answer within {self.timeout:g} s.") from None
        if line is None:
            raise OracleError("it ended without an answer.")
        said = _read_answer(line)
        cost = float(said.get("cost", self.cost))
        self.spent, self._dearest = self.spent + cost, max(self._dearest, cost)
        if said["same"] is None:
            return None
        confidence = float(said.get("confidence", 1.0))
        return confidence if said["same"] else 1.0 - confidence


def _pass_on(stream: Any, lines: queue.Queue[str | None]) -> None:
    """Put lines into a queue as they come, so that waiting for them can time out."""
    try:
        for line in stream:
            lines.put(line)
    except ValueError:
        # The stream was closed while it was read.
        pass
    lines.put(None)


def _read_answer(line: str) -> dict[str, Any]:
    try:
        said = json.loads(line)
    except json.JSONDecodeError:
        said = None
    if not isinstance(said, dict) or said.get("same", "") not in (True, False, None):
        raise OracleError(f'it wrote {line.strip()!r}; expected a line such as {{"same": true}}.')
    confidence = said.get("confidence", 1.0)
    if not isinstance(confidence, int | float) or not 0.5 <= confidence <= 1.0:
        raise OracleError(f"it wrote confidence {confidence!r}; expected a number from 0.5 to 1.")
    return said


@dataclass(frozen=True)
class Cards:
    """The names and values of the points that a person is shown.

    Attributes
    ----------
    names : sequence of str
        The name of each point.
    columns : mapping of str to sequences
        The values that are shown, by the name of the column.

    Examples
    --------
    >>> from sidecut.active import Cards, Question
    >>> cards = Cards(["pen", "pencil"], {"price": [2, 1], "colour": ["blue", "blue"]})
    >>> print(cards.side_by_side(0, 1))
               pen                                    pencil
      price    2                                    ≠ 1
      colour   blue                                   blue
    """

    names: Sequence[object]
    columns: Mapping[str, Sequence[object]]

    def side_by_side(self, i: int, j: int) -> str:
        """Return two points as a table; ≠ marks different values."""
        wide = max([len(name) for name in self.columns] or [0]) + 2
        lines = [f"  {'':{wide}} {_fit(self.names[i]):{COLUMN_WIDTH}}   {_fit(self.names[j])}"]
        for name, values in self.columns.items():
            mark = " " if str(values[i]) == str(values[j]) else "≠"
            lines.append(f"  {name:{wide}} {_fit(values[i]):{COLUMN_WIDTH}} {mark} {_fit(values[j])}")
        return "\n".join(line.rstrip() for line in lines)


def _fit(value: object) -> str:
    text = " ".join(str(value).split())
    return text if len(text) <= COLUMN_WIDTH else text[: COLUMN_WIDTH - 1] + "…"


def converse(
    run: ActiveClustering, cards: Cards, keyboard: TextIO, screen: TextIO, budget: int | None = None
) -> str:
    r"""Ask a person until no useful question is left, the budget is spent, or the person stops.

    Parameters
    ----------
    run : ActiveClustering
        Started. Save it first, and every answer is stored at once.
    cards : Cards
        The names and values of the points.
    keyboard, screen : text streams
        The source of answers, and the target of questions.
    budget : int, optional
        The number of answers at most, earlier ones included.

    Returns
    -------
    str
        Why it ended: "quit", "budget" or "nothing left".

    Examples
    --------
    >>> import io
    >>> from sidecut.active import ActiveClustering, Cards, converse
    >>> X = [[0.0], [0.2], [0.4], [5.0], [5.2], [5.4]]
    >>> run = ActiveClustering(n_neighbors=2, random_state=0).start(X)
    >>> cards = Cards("abcdef", {"value": [row[0] for row in X]})
    >>> converse(run, cards, io.StringIO("y\nn\nback\nn\nq\n"), io.StringIO())
    'quit'
    >>> [record.same for record in run.history_]
    [True, False]
    """
    while True:
        if budget is not None and len(run.history_) >= budget:
            return _end(run, screen, "budget", f"The budget of {_counted(budget, 'answer')} is spent.")
        question = run.question()
        if question is None:
            return _end(run, screen, "nothing left", "No useful question is left.")
        reason, n_groups = name_points(question.reason, cards.names), _counted(run.n_clusters_, "group")
        screen.write(f"\nQuestion {len(run.history_) + 1} ({n_groups} so far): {reason}.\n")
        screen.write(cards.side_by_side(question.i, question.j) + "\n")
        word = _listen(keyboard, screen)
        if word == "quit":
            return _end(run, screen, "quit", "Stopped; all answers are kept.")
        if word == "back":
            _take_back(run, cards, screen)
        else:
            run.answer(VALUES[word])


def name_points(reason: str, names: Sequence[object]) -> str:
    """Return a reason with the names of points in place of their row numbers."""

    def named(match: re.Match[str]) -> str:
        name = names[int(match[1])]
        return f"point {name}" if str(name).isdigit() else _fit(name)

    return re.sub(r"\bpoint (\d+)", named, reason)


def _counted(count: int, word: str) -> str:
    return f"{count} {word}" if count == 1 else f"{count} {word}s"


def _listen(keyboard: TextIO, screen: TextIO) -> str:
    """Return the choice of the person as one word; the end of the input, or an interrupt, is a quit."""
    while True:
        screen.write(PROMPT)
        screen.flush()
        try:
            line = keyboard.readline()
        except KeyboardInterrupt:
            line = ""
        if not line:
            screen.write("\n")
            return "quit"
        word = line.strip().lower()
        for choice in CHOICES:
            if word in (choice, choice[0]):
                return choice
        screen.write(HELP + "\n")


def _take_back(run: ActiveClustering, cards: Cards, screen: TextIO) -> None:
    if not run.history_:
        screen.write("There is no answer to take back yet.\n")
        return
    record = run.history_[-1]
    words = _fit(cards.names[record.i])
    if isinstance(record, ClassAnswer):
        words += f" is {record.name}"
    else:
        verb = {True: "belongs with", False: "does not belong with", None: "may belong with"}[record.same]
        words += f" {verb} {_fit(cards.names[record.j])}"
    screen.write(f"Taken back: {words}.\n")
    run.undo()


def _end(run: ActiveClustering, screen: TextIO, why: str, words: str) -> str:
    groups, answers = _counted(run.n_clusters_, "group"), _counted(len(run.history_), "answer")
    screen.write(f"\n{words} {groups} after {answers}. {run.stopping_estimate_.words}\n")
    screen.flush()
    return why
