"""The dialogue in a terminal: what is shown, what may be typed, and what survives a kill."""

import io
import signal
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from sklearn.datasets import load_iris

from sidecut.active import ActiveClustering, Cards, Question, converse
from sidecut.active.terminal import read_label

X, Y = load_iris(return_X_y=True)
CARDS = Cards([f"flower {k}" for k in range(150)], {"petal length": X[:, 2], "petal width": X[:, 3]})


class Person:
    """Types what the classes say; now and then something else first."""

    def __init__(self, run, asides=()):
        self.run, self.asides = run, list(asides)

    def readline(self):
        if self.asides:
            return self.asides.pop(0)
        question = self.run.question()
        return "y\n" if Y[question.i] == Y[question.j] else "no\n"


def started():
    return ActiveClustering(random_state=0).start(X)


def test_a_whole_dialogue():
    run, screen = started(), io.StringIO()
    assert converse(run, CARDS, Person(run), screen, budget=12) == "budget"
    assert len(run.history_) == 12
    assert all(record.same == (Y[record.i] == Y[record.j]) for record in run.history_)
    shown = screen.getvalue()
    assert shown.count("Do they belong together?") == 12
    assert "Question 12 (" in shown
    assert f"flower {run.history_[0].i} " in shown
    assert "groups after 12 answers" in shown


def test_rows_are_side_by_side_with_differences_marked():
    cards = Cards(["a", "b"], {"price": [1, 2], "title": ["x" * 60, "x" * 60]})
    head, price, title = cards.side_by_side(0, 1).splitlines()
    assert head.split() == ["a", "b"]
    assert price.split() == ["price", "1", "≠", "2"]
    assert "≠" not in title
    assert title.count("…") == 2
    assert head.index("b") == price.index("2")


def test_back_takes_the_answer_back_and_asks_again():
    run, screen = started(), io.StringIO()
    first = run.question()
    assert converse(run, CARDS, io.StringIO("b\ny\nback\nu\nq\n"), screen) == "quit"
    assert [(r.i, r.j, r.same) for r in run.history_] == [(first.i, first.j, None)]
    shown = screen.getvalue()
    assert "There is no answer to take back yet." in shown
    assert f"Taken back: flower {first.i} belongs with flower {first.j}." in shown


def test_what_is_not_understood_is_explained_and_asked_again():
    run, screen = started(), io.StringIO()
    converse(run, CARDS, io.StringIO("perhaps\n\nYES\n"), screen)
    assert screen.getvalue().count("Please type y, n, u, b") == 2
    assert [record.same for record in run.history_] == [True]


def test_a_reason_speaks_of_points_by_their_names():
    run, screen = started(), io.StringIO()
    converse(run, CARDS, Person(run), screen, budget=12)
    reasons = [line for line in screen.getvalue().splitlines() if line.startswith("Question")]
    assert any("flower" in reason for reason in reasons)
    assert not any("point " in reason for reason in reasons)


def test_an_interrupt_is_a_quit():
    class Hasty:
        def readline(self):
            raise KeyboardInterrupt

    screen = io.StringIO()
    assert converse(started(), CARDS, Hasty(), screen) == "quit"
    assert screen.getvalue().count("Stopped; all answers are kept.") == 1


def test_it_ends_when_nothing_is_left():
    few = ActiveClustering(random_state=0).start(X[::30])
    cards = Cards([str(k) for k in range(5)], {})
    assert converse(few, cards, io.StringIO("n\n" * 40), io.StringIO()) == "nothing left"
    assert few.n_clusters_ == 5


def test_a_dialogue_that_is_killed_in_the_middle_resumes(tmp_path):
    script = tmp_path / "dialogue.py"
    script.write_text(
        textwrap.dedent(f"""
        import sys
        from pathlib import Path
        from sklearn.datasets import load_iris
        from sidecut.active import ActiveClustering, Cards, converse

        folder = Path({str(tmp_path / "run")!r})
        X, y = load_iris(return_X_y=True)
        if folder.exists():
            run = ActiveClustering.load(folder)
        else:
            run = ActiveClustering(random_state=0).start(X).save(folder)
        cards = Cards(list(range(150)), {{"petal": X[:, 2]}})
        converse(run, cards, sys.stdin, sys.stdout)
        """)
    )

    def open_dialogue():
        return subprocess.Popen(
            [sys.executable, str(script)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=0
        )

    def wait_for_prompt(process):
        heard = ""
        while not heard.endswith("q(uit): "):
            letter = process.stdout.read(1)
            assert letter, f"it ended after {heard!r}"
            heard += letter
        return heard

    reference = started()
    process = open_dialogue()
    for _ in range(7):
        wait_for_prompt(process)
        question = reference.question()
        same = Y[question.i] == Y[question.j]
        process.stdin.write("y\n" if same else "n\n")
        process.stdin.flush()
        reference.answer(same)
    assert "Question 8 (" in wait_for_prompt(process)
    process.send_signal(signal.SIGKILL)
    process.wait()

    process = open_dialogue()
    question = reference.question()
    heard = wait_for_prompt(process)
    assert "Question 8 (" in heard
    assert question.reason in heard
    process.communicate("q\n")
    again = ActiveClustering.load(tmp_path / "run")
    assert again.history_ == reference.history_
    np.testing.assert_array_equal(again.labels_, reference.labels_)


class Speaker(Person):
    """Types answers to questions of every kind."""

    def readline(self):
        question = self.run.question()
        classes = Y[list(question.points)]
        if question.kind == "label":
            name = f"species {classes[0]}"
            return f"{question.names.index(name) + 1}\n" if name in question.names else f"{name}\n"
        if question.kind == "set":
            groups = ["".join(str(k + 1) for k in np.flatnonzero(classes == c)) for c in np.unique(classes)]
            return " ".join(groups) + "\n"
        return super().readline()


def test_all_kinds_in_the_terminal_are_those_of_python():
    costs = {"pair": 2, "label": 2, "set": 10}
    run, screen = ActiveClustering(costs=costs, random_state=0).start(X), io.StringIO()
    assert converse(run, CARDS, Speaker(run), screen, budget=20) == "budget"
    shown = screen.getvalue()
    for words in ("Do they belong together?", "What is this?", "Which of these belong together?"):
        assert words in shown
    straight = ActiveClustering(costs=costs, random_state=0).start(X)
    for record in run.history_:
        question, classes = straight.question(), Y[list(straight.question().points)]
        said = {"pair": classes[0] == classes[-1], "label": f"species {classes[0]}", "set": classes}[
            question.kind
        ]
        straight.answer(said)
        assert straight.history_[-1].strategy == record.strategy
    np.testing.assert_array_equal(straight.labels_, run.labels_)


@pytest.mark.parametrize("typed", ["0", "1?2", "33", "13 34", "abc", "", "19"])
def test_what_divides_no_set_is_explained(typed):
    run, screen = ActiveClustering(costs={"set": 1}, random_state=0).start(X[:30]), io.StringIO()
    question = run.question()
    if typed == "19" and len(question.points) == 9:
        typed = "1 9 1"
    converse(run, CARDS, io.StringIO(f"{typed}\nq\n"), screen)
    assert "Please type the numbers that belong together" in screen.getvalue()
    assert run.history_ == []


def test_names_by_number_and_by_word():
    question = Question((3,), "", kind="label", names=("cat", "7"))
    read = [read_label(word, question) for word in ("1", "2", "3", "=3", "dog", "=q", "=")]
    assert read == ["cat", "7", None, "3", "dog", "q", None]
