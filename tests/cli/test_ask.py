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
    assert "36 rows." in shown
    assert "plant " in shown
    assert "title" in shown
    assert "Clustered by price, weight; left out name (names), title (text)." in shown
    assert "weight" not in shown.partition("Question 1")[2]
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


def test_answers_may_be_wrong_from_the_start_or_from_now_on(table, monkeypatch, capsys):
    settings = table.parent / "labels.csv.answers" / "settings.json"
    type_in(monkeypatch, "y\nq\n")
    assert ask(table) == 0
    assert json.loads(settings.read_text())["reliability"] == 1.0
    type_in(monkeypatch, "q\n")
    assert ask(table, "--reliability", "0.9") == 0
    assert json.loads(settings.read_text())["reliability"] == 0.9
    assert ask(table, "--reliability", "0.4") == 2
    assert "reliability=0.4" in capsys.readouterr().err
    type_in(monkeypatch, "q\n")
    assert ask(table, "--reliability", "estimate") == 0
    assert json.loads(settings.read_text())["reliability"] is None
    assert ask(table, "--reliability", "often") == 2
    assert "--reliability often: write a share" in capsys.readouterr().err


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


def test_the_page_of_a_dialogue(table, monkeypatch, capsys):
    frame = pd.read_csv(table)
    frame["kind"] = np.repeat(["<tree>", "herb", "bush"], 12)
    frame.to_csv(table, index=False)
    type_in(monkeypatch, "n\nn\nu\nq\n")
    page = table.parent / "talk.html"
    words = ["ask", str(table), "--id-column", "name", "--truth-column", "kind", "--report", str(page)]
    assert main([*words, "-o", str(table.parent / "labels.csv")]) == 0
    shown = capsys.readouterr().out
    assert "kind" not in shown.partition("Question 1")[2], "the true classes are not shown to the person"
    assert f"The page of the dialogue is {page}" in shown
    text = page.read_text(encoding="utf-8")
    for said in ("The questions asked", "What to ask next", "ARI, before the first", "3 answers made"):
        assert said in text
    assert [text.count(f">{word}</td>") for word in ("together", "apart", "unsure")] == [0, 2, 1]
    assert "plant " in text.split("What to ask next")[1].split("The clusters")[0]


def test_a_page_before_any_answer_and_without_the_truth(table, monkeypatch, capsys):
    type_in(monkeypatch, "q\n")
    page = table.parent / "talk.html"
    assert ask(table, "--report", str(page)) == 0
    text = page.read_text(encoding="utf-8")
    assert "None was answered yet." in text
    assert "ARI" not in text


def test_the_page_must_be_html(table, monkeypatch, capsys):
    assert ask(table, "--report", str(table.parent / "talk.pdf")) == 2
    assert "cannot write '.pdf' files; use .html" in capsys.readouterr().err


def test_decimal_commas_are_numbers_and_not_taken_for_text(table, monkeypatch, capsys):
    table.write_text("x;y;kind\n" + "".join(f"{i},5;{2 * i % 7};a\n" for i in range(12)))
    type_in(monkeypatch, "q\n")
    assert main(["ask", str(table), "-o", str(table.parent / "l.csv")]) == 0
    assert "Clustered by x, y; left out kind (text)." in capsys.readouterr().out


def test_answers_about_other_rows_are_not_gone_on_with(table, monkeypatch, capsys):
    type_in(monkeypatch, "n\nq\n")
    assert ask(table) == 0
    frame = pd.read_csv(table)
    frame.iloc[::-1].to_csv(table, index=False)
    type_in(monkeypatch, "n\nq\n")
    assert ask(table) == 2
    assert "holds answers about other rows" in capsys.readouterr().err
    frame.to_csv(table, index=False)
    assert ask(table, "--raw") == 2
    assert "--raw" in capsys.readouterr().err
    type_in(monkeypatch, "q\n")
    assert ask(table) == 0


def test_another_number_of_groups_is_not_passed_over(table, monkeypatch, capsys):
    type_in(monkeypatch, "n\nq\n")
    assert ask(table, "-k", "3") == 0
    type_in(monkeypatch, "q\n")
    assert ask(table, "-k", "4") == 2
    assert "-k 4: the answers" in capsys.readouterr().err
    type_in(monkeypatch, "q\n")
    assert ask(table, "-k", "3") == 0


def test_a_question_mark_asks_for_help_and_empty_cells_are_empty(table, monkeypatch, capsys):
    frame = pd.read_csv(table)
    frame["title"] = None
    frame["price"] = np.nan
    frame.to_csv(table, index=False)
    type_in(monkeypatch, "?\nq\n")
    assert ask(table, "--drop", "price,title") == 0
    shown = capsys.readouterr().out
    assert "Please type y, n, u, b" in shown
    assert "nan" not in shown


def test_labels_go_in_and_come_out(table, monkeypatch, capsys):
    frame = pd.read_csv(table)
    frame["kind"] = ["ant" if k in (0, 1) else "bee" if k in (12, 13) else "" for k in range(36)]
    frame.to_csv(table, index=False)
    type_in(monkeypatch, "q\n")
    assert ask(table, "--label-column", "kind") == 0
    labels = pd.read_csv(table.parent / "labels.csv")
    assert labels["class"][[0, 1, 12, 13]].tolist() == ["ant", "ant", "bee", "bee"]
