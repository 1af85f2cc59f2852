"""A person in a terminal: questions of every kind, and what was typed."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TextIO

import numpy as np

from sidecut.active.clustering import ActiveClustering
from sidecut.active.records import ClassAnswer, Question, Record, SetAnswer

#: Characters for each of the two columns.
COLUMN_WIDTH = 36
COMMANDS = {"u": "unsure", "b": "back", "q": "quit"}
#: What can be typed to each kind of question.
PROMPTS = {
    "pair": "y(es) n(o) u(nsure) b(ack) q(uit): ",
    "label": "a number or a name, u(nsure) b(ack) q(uit): ",
    "set": "groups of numbers, such as 13 25; u(nsure) b(ack) q(uit): ",
}
HELP = {
    "pair": "Please type y, n, u, b (take the last answer back) or q (stop; all answers are kept).",
    "label": (
        "Please type the number of a name, a new name, u, b (take the last answer back) or q (stop; all "
        "answers are kept). Write =q where the name is q."
    ),
    "set": (
        "Please type the numbers that belong together without spaces, and a space between groups: 13 25 puts "
        "1 with 3 and 2 with 5. Numbers left out are alone; 4? says that you are unsure of 4. u: unsure of "
        "all; b takes the last answer back; q stops, and all answers are kept."
    ),
}


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
        """Return two points as a table; ≠ marks values that differ, of numbers by a standard deviation."""
        wide = max([len(name) for name in self.columns] or [0]) + 2
        lines = [f"  {'':{wide}} {_fit(self.names[i]):{COLUMN_WIDTH}}   {_fit(self.names[j])}"]
        for name, values in self.columns.items():
            mark = "≠" if self._differ(name, i, j) else " "
            lines.append(f"  {name:{wide}} {_fit(values[i]):{COLUMN_WIDTH}} {mark} {_fit(values[j])}")
        return "\n".join(line.rstrip() for line in lines)

    def one_by_one(self, points: Sequence[int], numbers: bool = True) -> str:
        """Return points as numbered lines: the name, and the values."""
        lines = []
        for number, point in enumerate(points):
            values = [f"{name} {_fit(column[point])}" for name, column in self.columns.items()]
            words = "; ".join([_fit(self.names[point]), *values])
            lines.append(f"  {number + 1}  {words}" if numbers else f"  {words}")
        return "\n".join(lines)

    def _differ(self, name: str, i: int, j: int) -> bool:
        first, second = self.columns[name][i], self.columns[name][j]
        if isinstance(first, int | float) and isinstance(second, int | float):
            return abs(first - second) > self._spreads[name]
        return str(first) != str(second)

    @cached_property
    def _spreads(self) -> dict[str, float]:
        """The standard deviation of the numbers in each column."""
        numbers = {
            name: [value for value in values if isinstance(value, int | float)]
            for name, values in self.columns.items()
        }
        return {name: float(np.std(values)) if values else 0.0 for name, values in numbers.items()}


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
        screen.write(_show(question, cards) + "\n")
        said = _listen(question, keyboard, screen)
        if said == ("command", "quit"):
            return _end(run, screen, "quit", "Stopped; all answers are kept.")
        if said == ("command", "back"):
            _take_back(run, cards, screen)
        else:
            run.answer(said[1])


def _show(question: Question, cards: Cards) -> str:
    if question.kind == "pair":
        return cards.side_by_side(question.i, question.j)
    if question.kind == "set":
        return cards.one_by_one(question.points)
    names = [f"  {number + 1}  {name}" for number, name in enumerate(question.names)]
    return "\n".join(
        [cards.one_by_one(question.points, numbers=False), *(["Names so far:"] if names else []), *names]
    )


def name_points(reason: str, names: Sequence[object]) -> str:
    """Return a reason with the names of points in place of their row numbers."""

    def named(match: re.Match[str]) -> str:
        name = names[int(match[1])]
        return f"point {name}" if str(name).isdigit() else _fit(name)

    return re.sub(r"\bpoint (\d+)", named, reason)


def _counted(count: int, word: str) -> str:
    return f"{count} {word}" if count == 1 else f"{count} {word}s"


def _listen(question: Question, keyboard: TextIO, screen: TextIO) -> tuple[str, Any]:
    """Return what the person says, as a command or a value; the end of the input is a quit."""
    while True:
        screen.write(f"{question.words} {PROMPTS[question.kind]}")
        screen.flush()
        try:
            line = keyboard.readline()
        except KeyboardInterrupt:
            line = ""
        if not line:
            screen.write("\n")
            return "command", "quit"
        word = line.strip()
        for letter, command in COMMANDS.items():
            if word.lower() in (letter, command):
                return ("value", None) if command == "unsure" else ("command", command)
        value = READERS[question.kind](word, question)
        if value is not None:
            return "value", value
        screen.write(HELP[question.kind] + "\n")


def read_pair(word: str, question: Question) -> bool | None:
    """Return the yes or no that was typed; None if it is neither."""
    return {"y": True, "yes": True, "n": False, "no": False}.get(word.lower())


def read_label(word: str, question: Question) -> str | None:
    """Return the name that was typed, or the one of a number; None if it is neither."""
    if word.isdigit():
        return question.names[int(word) - 1] if 0 < int(word) <= len(question.names) else None
    return word.removeprefix("=").strip() or None


def read_set(word: str, question: Question) -> list[int | None] | None:
    """Return the groups that were typed: 13 25 puts 1 with 3 and 2 with 5; 4? is unsure of 4.

    Examples
    --------
    >>> from sidecut.active import Question
    >>> from sidecut.active.terminal import read_set
    >>> read_set("13 25 4?", Question((7, 8, 9, 10, 11), "", kind="set"))
    [0, 1, 0, None, 1]
    """
    n = len(question.points)
    groups: list[int | None] = [None] * n
    seen: set[int] = set()
    for number, part in enumerate(word.replace(",", " ").split()):
        if not re.fullmatch(r"[1-9]+\??", part):
            return None
        places = [int(digit) - 1 for digit in part.rstrip("?")]
        if max(places) >= n or len(set(places)) < len(places) or seen & set(places):
            return None
        seen |= set(places)
        for place in places:
            groups[place] = None if part.endswith("?") else number
    alone = [place for place in range(n) if place not in seen]
    for number, place in enumerate(alone, start=n):
        groups[place] = number
    return groups if seen else None


READERS = {"pair": read_pair, "label": read_label, "set": read_set}


def _take_back(run: ActiveClustering, cards: Cards, screen: TextIO) -> None:
    if not run.history_:
        screen.write("There is no answer to take back yet.\n")
        return
    screen.write(f"Taken back: {in_words(run.history_[-1], cards.names)}.\n")
    run.undo()


def in_words(record: Record, names: Sequence[object]) -> str:
    """Return an answer as a sentence."""
    words = _fit(names[record.i])
    if isinstance(record, ClassAnswer):
        return f"{words} is {record.name or 'not known'}"
    if isinstance(record, SetAnswer):
        groups = dict.fromkeys(group for group in record.groups if group is not None)
        members = [
            [
                _fit(names[point])
                for point, own in zip(record.points, record.groups, strict=True)
                if own == group
            ]
            for group in groups
        ]
        unsure = [_fit(names[p]) for p, own in zip(record.points, record.groups, strict=True) if own is None]
        parts = [" with ".join(one) if len(one) > 1 else f"{one[0]} alone" for one in members]
        return "; ".join([*parts, *(f"unsure of {name}" for name in unsure)])
    verb = {True: "belongs with", False: "does not belong with", None: "may belong with"}[record.same]
    return f"{words} {verb} {_fit(names[record.j])}"


def _end(run: ActiveClustering, screen: TextIO, why: str, words: str) -> str:
    groups, answers = _counted(run.n_clusters_, "group"), _counted(len(run.history_), "answer")
    screen.write(f"\n{words} {groups} after {answers}. {run.stopping_estimate_.words}\n")
    screen.flush()
    return why
