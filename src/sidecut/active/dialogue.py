"""Asking a person in a terminal: two rows side by side, one key for the answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TextIO

from sidecut.active.clustering import ActiveClustering
from sidecut.active.records import Naming, Question, Record

#: Characters for each of the two columns.
COLUMN = 36
PROMPT = "Do they belong together? y(es) n(o) u(nsure) b(ack) q(uit): "
HELP = "Please type y, n, u, b (take the last answer back) or q (stop; all answers are kept)."
WORDS = {
    "y": "yes",
    "yes": "yes",
    "n": "no",
    "no": "no",
    "u": "unsure",
    "unsure": "unsure",
    "?": "unsure",
    "b": "back",
    "back": "back",
    "q": "quit",
    "quit": "quit",
    "": "help",
}
VALUES = {"yes": True, "no": False, "unsure": None}


@dataclass(frozen=True)
class Cards:
    """What a person is shown of the points.

    Attributes
    ----------
    names : sequence of str
        What each point is called.
    columns : mapping of str to sequences
        What is shown of each, by the name of the column.

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
        """Return two points as a table; what differs is marked with ≠."""
        wide = max([len(name) for name in self.columns] or [0]) + 2
        lines = [f"  {'':{wide}} {_fit(self.names[i]):{COLUMN}}   {_fit(self.names[j])}"]
        for name, values in self.columns.items():
            mark = " " if str(values[i]) == str(values[j]) else "≠"
            lines.append(f"  {name:{wide}} {_fit(values[i]):{COLUMN}} {mark} {_fit(values[j])}")
        return "\n".join(line.rstrip() for line in lines)


def _fit(value: object) -> str:
    text = " ".join(str(value).split())
    return text if len(text) <= COLUMN else text[: COLUMN - 1] + "…"


def converse(
    run: ActiveClustering, cards: Cards, keyboard: TextIO, screen: TextIO, budget: int | None = None
) -> str:
    r"""Ask a person until there is nothing left to ask, the budget is spent, or the person stops.

    Parameters
    ----------
    run : ActiveClustering
        Started; save it first, and every answer is kept at once.
    cards : Cards
        What is shown of the points.
    keyboard, screen : text streams
        Where answers come from, and where questions go.
    budget : int, optional
        How many questions may be answered in all, earlier ones included.

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
            return _end(run, screen, "budget", f"That makes {budget} answers, as many as were wanted.")
        question = run.question()
        if question is None:
            return _end(run, screen, "nothing left", "Nothing is left worth asking.")
        _show(run, cards, question, screen)
        word = _listen(keyboard, screen)
        if word == "quit":
            return _end(run, screen, "quit", "Stopped; all answers are kept.")
        if word == "back":
            _take_back(run, cards, screen)
        else:
            run.answer(VALUES[word])


def _show(run: ActiveClustering, cards: Cards, question: Question, screen: TextIO) -> None:
    screen.write(
        f"\nQuestion {len(run.history_) + 1} ({run.n_clusters_} groups so far): {question.reason}.\n"
    )
    screen.write(cards.side_by_side(question.i, question.j) + "\n")


def _listen(keyboard: TextIO, screen: TextIO) -> str:
    """Return what the person wants, as one word; the end of the input is a quit."""
    while True:
        screen.write(PROMPT)
        screen.flush()
        line = keyboard.readline()
        if not line:
            return "quit"
        word = WORDS.get(line.strip().lower(), "help")
        if word != "help":
            return word
        screen.write(HELP + "\n")


def _take_back(run: ActiveClustering, cards: Cards, screen: TextIO) -> None:
    if not run.history_:
        screen.write("There is no answer to take back yet.\n")
        return
    screen.write(f"Taken back: {_in_words(run.history_[-1], cards)}.\n")
    run.undo()


def _in_words(record: Record, cards: Cards) -> str:
    if isinstance(record, Naming):
        return f"{_fit(cards.names[record.i])} is {record.name}"
    word = {True: "belongs with", False: "does not belong with", None: "may belong with"}[record.same]
    return f"{_fit(cards.names[record.i])} {word} {_fit(cards.names[record.j])}"


def _end(run: ActiveClustering, screen: TextIO, why: str, words: str) -> str:
    screen.write(
        f"\n{words} {run.n_clusters_} groups after {len(run.history_)} answers. {run.outlook_.words}\n"
    )
    screen.flush()
    return why
