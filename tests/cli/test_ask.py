"""``sidecut ask``: a dialogue that ends in a file of labels, and goes on where it stopped."""

import io
import json

import numpy as np
import pandas as pd
import pytest

from sidecut.cli import main

WORDS = ["alder", "birch", "cedar", "daisy", "elder", "fern"]


@pytest.fixture
def table(tmp_path):
    rng = np.random.RandomState(0)
    y = np.repeat([0, 1, 2], 12)
    frame = pd.DataFrame(
        {
            "name": [f"plant {k}" for k in range(36)],
            "title": [WORDS[k % 6] for k in range(36)],
            "price": (rng.normal(size=36) + 9 * y).round(2),
            "weight": (rng.normal(size=36) - 9 * y).round(2),
        }
    )
    frame.to_csv(tmp_path / "data.csv", index=False)
    return tmp_path / "data.csv"


def type_in(monkeypatch, text):
    monkeypatch.setattr("sys.stdin", io.StringIO(text))


def ask(table, *more):
    return main(
        [
            "ask",
            str(table),
            "--id-column",
            "name",
            "--show",
            "title,price",
            "-o",
            str(table.parent / "labels.csv"),
            *more,
        ]
    )


def test_a_dialogue_gives_labels_and_goes_on(table, monkeypatch, capsys):
    type_in(monkeypatch, "n\nn\nq\n")
    assert ask(table) == 0
    shown = capsys.readouterr().out
    assert "plant " in shown
    assert "title" in shown
    assert "weight" not in shown
    labels = pd.read_csv(table.parent / "labels.csv")
    assert list(labels.columns) == ["name", "label", "confidence"]
    assert len(labels) == 36
    lines = (table.parent / "labels.csv.answers" / "answers.jsonl").read_text().splitlines()
    assert [json.loads(line)["same"] for line in lines] == [False, False]

    type_in(monkeypatch, "u\nback\nn\nn\nn\n")
    assert ask(table, "--questions", "4") == 0
    shown = capsys.readouterr().out
    assert "Going on after 2 answers." in shown
    assert "Question 3 (" in shown
    assert "groups after 4 answers" in shown


def test_what_cannot_be_asked_is_explained(table, monkeypatch, capsys):
    assert main(["ask", str(table), "--show", "colour", "-o", str(table.parent / "l.csv")]) == 2
    assert "--show colour" in capsys.readouterr().err
    assert main(["ask", str(table), "-o", "-"]) == 2
    assert "name a file" in capsys.readouterr().err
    type_in(monkeypatch, "q\n")
    assert ask(table) == 0
    pd.read_csv(table).head(20).to_csv(table, index=False)
    assert ask(table) == 2
    assert "answers about 36 points" in capsys.readouterr().err
