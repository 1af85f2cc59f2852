"""A program that answers, such as a language model: prompts, budgets, batches, and a transcript."""

from __future__ import annotations

import json
import queue
import shlex
import subprocess
import threading
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np

from sidecut.active.oracles import BudgetSpent, OracleError, Reply
from sidecut.active.records import Question
from sidecut.checks import check_not_negative, is_number

#: What can be limited.
SPENDING = ("questions", "tokens", "cost")
#: The field that holds the answer to each kind of question, and the form to ask for.
FORMS = {
    "pair": ("same", '{"same": true or false, or null if unsure, "confidence": 0.5 to 1}'),
    "label": ("name", '{"name": the name, or null if unsure, "confidence": 0.5 to 1}'),
    "set": ("groups", '{"groups": the number of a group for each item, in order, "confidence": 0.5 to 1}'),
}


def write_prompt(question: Question, items: Sequence[Any], about: str = "") -> str:
    r"""Return a prompt for a language model: the items, the names so far, the question, and the form.

    Parameters
    ----------
    question : Question
        Of any kind.
    items : sequence of str or dict
        The text of every row of X, or its fields.
    about : str
        What the items are, and what makes two of them belong together.

    Examples
    --------
    >>> from sidecut.active import Question, write_prompt
    >>> texts = ["My card was stolen", "I lost my card"]
    >>> print(write_prompt(Question((0, 1), "", names=("exchange rate",)), texts, "Questions to a bank."))
    Questions to a bank.
    <BLANKLINE>
    Item 1: My card was stolen
    Item 2: I lost my card
    <BLANKLINE>
    Names so far: exchange rate
    Do they belong together?
    Answer with one line of JSON: {"same": true or false, or null if unsure, "confidence": 0.5 to 1}
    """
    lines = [about, ""] if about else []
    for number, point in enumerate(question.points):
        lines.append(f"Item {number + 1}: {_as_text(items[point])}")
    lines.append("")
    if question.names:
        lines.append(f"Names so far: {'; '.join(question.names)}")
    words = question.words
    if question.kind == "label":
        words += (
            " Give one of the names so far, or a new one." if question.names else " Give it a short name."
        )
    return "\n".join([*lines, words, f"Answer with one line of JSON: {FORMS[question.kind][1]}"])


def _as_text(item: Any) -> str:
    if isinstance(item, Mapping):
        return "; ".join(f"{name}: {value}" for name, value in item.items())
    return " ".join(str(item).split())


class CommandOracle:
    r"""A program that answers: one JSON line in for every question, one JSON line out for every answer.

    The program is started once. For each question it reads a line such as

        {"kind": "pair", "points": [3, 8], "items": ["...", "..."], "names": [], "prompt": "..."}

    and writes {"same": true} for a pair, {"name": "cat"} for a label, {"groups": [0, 0, 1]} for a set, with
    null for unsure. "confidence" (0.5 to 1), "tokens" and "cost" may be added. A program that passes the
    prompt to a language model may write {"text": "..."} instead: the JSON in the text counts.

    Parameters
    ----------
    command : str or sequence of str, or None
        The program and its arguments. None: the transcript answers, and nothing else.
    items : sequence of str or dict, optional
        What to show of each point; without it only row numbers are sent, and no prompt.
    about : str
        For the prompt: what the items are, and what makes two of them belong together.
    budget : dict, optional
        The most to spend, such as {"questions": 200, "tokens": 50_000, "cost": 2.0}, of each or some. When
        another question could take more than what is left, by the dearest so far, `BudgetSpent` is raised,
        which ends `ask`.
    cost : float, default=0
        What a question costs where the program does not say.
    transcript : path, optional
        A file to which every question and its answer is added. A question that is in it is answered from it,
        at no cost.
    retries : int, default=2
        How often a question is asked again, of a new process, when no sensible answer came.
    timeout : float, default=60
        Seconds to wait for an answer.

    Attributes
    ----------
    spent : dict
        What was spent so far.

    Examples
    --------
    >>> import sys
    >>> from sidecut.active import CommandOracle, Question
    >>> parity = (
    ...     "import json, sys\n"
    ...     "for line in sys.stdin:\n"
    ...     "    i, j = json.loads(line)['points']\n"
    ...     "    print(json.dumps({'same': i % 2 == j % 2, 'confidence': 0.9}), flush=True)\n"
    ... )
    >>> with CommandOracle([sys.executable, "-c", parity], cost=0.01) as oracle:
    ...     oracle.answer(Question((2, 5), "")), oracle.spent
    (Reply(said=False, confidence=0.9), {'questions': 1, 'tokens': 0, 'cost': 0.01})
    """

    def __init__(
        self,
        command: str | Sequence[str] | None,
        items: Sequence[Any] | None = None,
        *,
        about: str = "",
        budget: Mapping[str, float] | None = None,
        cost: float = 0.0,
        transcript: str | Path | None = None,
        retries: int = 2,
        timeout: float = 60.0,
    ) -> None:
        check_not_negative("cost", cost)
        check_not_negative("timeout", timeout)
        if isinstance(retries, bool) or not isinstance(retries, int | np.integer) or retries < 0:
            raise ValueError(f"retries={retries!r} must be a whole number, at least 0.")
        for name, most in (budget or {}).items():
            if name not in SPENDING:
                raise ValueError(f"budget: {name!r} must be one of {', '.join(map(repr, SPENDING))}.")
            check_not_negative(f"budget: {name}", most)
        self.command = shlex.split(command) if isinstance(command, str) else list(command or [])
        if not self.command and (command is not None or transcript is None):
            raise ValueError("command is empty; name the program that answers, or a transcript to replay.")
        self.items, self.about = items, about
        self.budget, self.cost = dict(budget or {}), cost
        self.transcript = None if transcript is None else Path(transcript)
        self.retries, self.timeout = retries, timeout
        self.spent: dict[str, float] = {"questions": 0, "tokens": 0, "cost": 0.0}
        self._dearest = {"questions": 1.0, "tokens": 0.0, "cost": float(cost)}
        self._told = {} if self.transcript is None else _read_transcript(self.transcript)
        self._process: subprocess.Popen[str] | None = None
        self._lines: queue.Queue[str | None] = queue.Queue()
        self._sent: deque[str] = deque()

    def __call__(self, i: int, j: int) -> float | None:
        """Ask whether two rows belong together: the chance that they do; None: unsure."""
        said, confidence = self.answer(Question((int(i), int(j)), ""))
        return None if said is None else confidence if said else 1.0 - confidence

    def answer(self, question: Question) -> Reply:
        """Ask the program, and return its answer."""
        line = self._as_line(question)
        if line in self._told:
            return _read_answer(self._told[line], question)[0]
        if not self.command:
            raise OracleError(f"{self.transcript} holds no answer to this question: {line}")
        fault = ""
        for _ in range(self.retries + 1):
            self._check_budget()
            try:
                return self._ask(line, question)
            except (OracleError, OSError) as error:
                fault = str(error)
                self.close()
        tries = f"{self.retries + 1} tries" if self.retries else "1 try"
        raise OracleError(f"No answer after {tries} from {shlex.join(self.command)!r}: {fault}")

    def prepare(self, questions: Sequence[Question]) -> None:
        """Send questions ahead; `answer` is called with them next, in this order."""
        lines = [line for question in questions if (line := self._as_line(question)) not in self._told]
        left = [
            (most - self.spent[name]) / self._dearest[name]
            for name, most in self.budget.items()
            if self._dearest[name] > 0
        ]
        for line in lines[: int(max(min(left, default=len(lines)), 0.0)) if self.command else 0]:
            self._send(line)

    def close(self) -> None:
        """End the program."""
        self._sent.clear()
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

    def _as_line(self, question: Question) -> str:
        fields: dict[str, Any] = {"kind": question.kind, "points": list(question.points)}
        if self.items is not None:
            if max(question.points) >= len(self.items):
                raise ValueError(
                    f"items has {len(self.items)} entries, but row {max(question.points)} was asked about."
                )
            fields |= {
                "items": [self.items[point] for point in question.points],
                "names": list(question.names),
                "prompt": write_prompt(question, self.items, self.about),
            }
        # NumPy's numbers become plain ones, and other objects text.
        return json.dumps(fields, default=lambda x: x.item() if isinstance(x, np.generic) else str(x))

    def _check_budget(self) -> None:
        for name, most in self.budget.items():
            if self.spent[name] + self._dearest[name] > most + 1e-12:
                raise BudgetSpent(f"{name}: {self.spent[name]:g} of {most:g} are spent.")

    def _send(self, line: str) -> None:
        if self._process is None:
            self._process = subprocess.Popen(
                self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
            )
            self._lines = queue.Queue()
            threading.Thread(target=_pass_on, args=(self._process.stdout, self._lines), daemon=True).start()
        assert self._process.stdin is not None
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()
        self._sent.append(line)

    def _ask(self, line: str, question: Question) -> Reply:
        if not self._sent or self._sent[0] != line:
            if self._sent:
                # Answers to other questions are on their way; a new process has none.
                self.close()
            self._send(line)
        try:
            said = self._lines.get(timeout=self.timeout)
        except queue.Empty:
            raise OracleError(f"it did not answer within {self.timeout:g} s.") from None
        if said is None:
            raise OracleError("it ended without an answer.")
        self._sent.popleft()
        reply, fields = _read_answer(said, question)
        taken = {"questions": 1, "tokens": fields.get("tokens", 0), "cost": fields.get("cost", self.cost)}
        for name, amount in taken.items():
            if not is_number(amount) or amount < 0:
                raise OracleError(f"it wrote {name} {amount!r}; expected a number, at least 0.")
            self.spent[name] += amount
            self._dearest[name] = max(self._dearest[name], amount)
        if self.transcript is not None:
            self._told[line] = said.strip()
            with open(self.transcript, "a", encoding="utf-8") as file:
                file.write(json.dumps({"question": line, "answer": said.strip()}) + "\n")
        return reply


def _read_transcript(path: Path) -> dict[str, str]:
    if not path.exists():
        return {}
    whole = path.read_text(encoding="utf-8").rpartition("\n")[0]
    # Half a line is left where a program was killed while it wrote.
    path.write_text(whole + "\n" if whole else "", encoding="utf-8")
    entries = [json.loads(line) for line in whole.splitlines()]
    return {entry["question"]: entry["answer"] for entry in entries}


def _pass_on(stream: Any, lines: queue.Queue[str | None]) -> None:
    """Put lines into a queue as they come, so that waiting for them can time out."""
    try:
        for line in stream:
            lines.put(line)
    except ValueError:
        # The stream was closed while it was read.
        pass
    lines.put(None)


def _read_answer(line: str, question: Question) -> tuple[Reply, dict[str, Any]]:
    """Return the answer in a line, and all its fields."""
    fields = _as_object(line)
    if isinstance(fields, dict) and isinstance(fields.get("text"), str):
        text = fields.pop("text")
        inside = _as_object(text[text.find("{") : text.rfind("}") + 1])
        fields = inside | fields if isinstance(inside, dict) else {}
    key = FORMS[question.kind][0]
    if not isinstance(fields, dict) or not _is_answer(fields.get(key, ...), question):
        raise OracleError(f"it wrote {line.strip()!r}; expected a line such as {_example(question)}.")
    confidence = fields.get("confidence", 1.0)
    if not is_number(confidence) or not 0.5 <= confidence <= 1.0:
        raise OracleError(f"it wrote confidence {confidence!r}; expected a number from 0.5 to 1.")
    return Reply(fields[key], float(confidence)), fields


def _as_object(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return None


def _is_answer(said: Any, question: Question) -> bool:
    if said is None or said is ...:
        return said is None
    if question.kind == "pair":
        return isinstance(said, bool)
    if question.kind == "label":
        return isinstance(said, str) and bool(said.strip())
    return (
        isinstance(said, list)
        and len(said) == len(question.points)
        and all(group is None or (isinstance(group, int) and not isinstance(group, bool)) for group in said)
    )


def _example(question: Question) -> str:
    groups = {"groups": [0, 0, *range(1, len(question.points) - 1)]}
    return json.dumps({"pair": {"same": True}, "label": {"name": "cat"}, "set": groups}[question.kind])
