"""``sidecut studio`` as a person starts it, kills it, and starts it again."""

import io
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import httpx
import numpy as np
import pandas as pd
import pytest
from PIL import Image
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score

from sidecut.active import ActiveClustering
from sidecut.cli.main import main
from sidecut.cli.options import StudioOptions
from sidecut.cli.studio import open_points


@pytest.fixture
def table(tmp_path, data):
    X, y = data
    path = tmp_path / "points.csv"
    rows = [f"p{i},{a:.4f},{b:.4f},kind {c}" for i, ((a, b), c) in enumerate(zip(X, y, strict=True))]
    path.write_text("\n".join(["name,east,north,kind", *rows]) + "\n")
    return path


@pytest.fixture
def start():
    """Start the command in a process of its own; give the process and the address it prints."""
    running = []

    def start_(*arguments):
        process = subprocess.Popen(
            [sys.executable, "-m", "sidecut", "studio", *map(str, arguments), "--no-browser"],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
        )
        running.append(process)
        lines = []
        for line in process.stdout:
            lines.append(line)
            if found := re.search(r"http://127\.0\.0\.1:\d+/\S+/", line):
                return process, found.group()
        return process, "".join(lines)

    yield start_
    for process in running:
        process.kill()
        process.wait()


def ask(address, do, **values):
    return httpx.post(address + "api", json={"do": do, **values}, timeout=30).json()


def test_a_killed_studio_goes_on_where_it_was(start, table, open_page):
    options = [table, "--id-column", "name", "--map", "east,north"]
    process, address = start(*options)
    page = open_page(address)
    page.wait_for_selector(".pair")
    for n in range(4):
        page.keyboard.press("sdsd"[n])
        page.wait_for_function("n => studio.state.n_answers === n && !studio.isBusy", arg=n + 1, polling=20)
    shown = page.locator(".pair h3").all_inner_texts()
    labels = page.evaluate("[...studio.state.labels]")
    # Someone else may not open the same project meanwhile.
    _, refusal = start(*options)
    assert "points.csv.studio is open in another studio" in refusal
    process.send_signal(signal.SIGKILL)
    process.wait()
    open_page.errors.clear()
    _, again = start(*options)
    # The page that was open finds the studio again.
    assert again == address
    page.wait_for_function(
        "() => !document.querySelector('.offline') && studio.state.n_answers === 4", polling=50
    )
    page = open_page(again)
    page.wait_for_selector(".pair")
    open_page.errors.clear()
    assert (Path(f"{table}.studio") / "address.json").stat().st_mode & 0o077 == 0
    assert page.locator(".pair h3").all_inner_texts() == shown
    assert page.evaluate("[...studio.state.labels]") == labels
    assert page.evaluate("studio.state.n_answers") == 4
    run = ActiveClustering.load(f"{table}.studio/run")
    assert adjusted_rand_score(run.labels_, labels) == 1


def test_a_picture_opens_as_a_canvas(start, tmp_path):
    pixels = np.zeros((20, 30, 3), dtype=np.uint8)
    pixels[:, 15:] = 200
    Image.fromarray(pixels).save(tmp_path / "photo.png")
    _, address = start(tmp_path / "photo.png")
    canvas = ask(address, "open")["reply"]
    assert (canvas["kind"], canvas["title"], canvas["width"]) == ("picture", "photo.png", 30)


def opened(data, **options):
    handler = open_points(StudioOptions(data=data, **options))
    handler.session.close()
    return handler


def test_a_table_with_names_and_classes(table, tmp_path):
    known = tmp_path / "known.csv"
    known.write_text("i,j,kind\np0,p1,must-link\np0,p25,cannot-link\n")
    handler = opened(
        table, id_column="name", truth_column="kind", show="north", map="east,north", constraints=known
    )
    session = handler.session
    assert session.items.names[3] == "p3"
    assert list(session.items.table) == ["north"]
    assert session.X.shape == (60, 2)
    assert session.items.column("class")[0] == "kind 0"
    assert len(session.run.history_) == 2
    model = handler.export("model")
    assert model["name"] == "model.skops"


def test_the_model_labels_new_points(table, tmp_path, capsys):
    import base64

    handler = opened(table, id_column="name", truth_column="kind", map="east,north")
    path = tmp_path / "model.skops"
    path.write_bytes(base64.b64decode(handler.export("model")["data"]))
    assert (
        main(["predict", str(path), str(table), "--id-column", "name", "-o", str(tmp_path / "new.csv")]) == 0
    )
    labels = [line.split(",")[1] for line in (tmp_path / "new.csv").read_text().splitlines()[1:]]
    assert [int(label) for label in labels] == handler.session.labels.tolist()


def test_names_and_pictures_are_recognised(tmp_path, capsys):
    frame = load_digits(as_frame=True).data.iloc[:300]
    frame.insert(0, "scan", [f"s{row:04d}" for row in range(300)])
    frame.to_csv(tmp_path / "digits.csv", index=False)
    session = opened(tmp_path / "digits.csv").session
    said = capsys.readouterr().out
    assert "Points are called by column 'scan'" in said
    assert "The 64 columns look like pictures of 8x8 pixels" in said
    assert session.items.names[3] == "s0003"
    assert session.items.card(3)["picture"].startswith("data:image/png")
    assert session.items.card(3)["fields"] == []
    assert session.X.shape == (300, 64)
    numbers = opened(tmp_path / "digits.csv", image_shape="none", project=tmp_path / "numbers").session
    assert len(numbers.items.card(3)["fields"]) == 64


def test_exported_constraints_call_points_by_name(table, capsys):
    import base64

    handler = opened(table, truth_column="kind", map="east,north")
    handler.session.link(0, 25, False)
    text = base64.b64decode(handler.export("constraints")["data"]).decode()
    assert "p0,p25,-1.0" in text
    known = table.with_name("known.csv")
    known.write_text(text)
    words = ["--id-column", "name", "--drop", "kind", "--constraints", str(known), "-k", "3", "--no-report"]
    assert main(["cluster", str(table), *words, "-o", str(table.with_name("l.csv"))]) == 0
    assert "constraints  1 of 1 satisfied" in capsys.readouterr().out
    fresh = opened(table, truth_column="kind", project=table.with_name("other"))
    assert "error" not in fresh.handle({"do": "import", "step": 0, "text": text})
    assert [(a.i, a.j, a.same) for a in fresh.session.run.history_] == [(0, 25, False)]


def test_missing_values_are_shown_as_empty(tmp_path):
    rows = [f"{k % 7},{'' if k % 5 == 0 else k}.5".replace(",.5", ",") for k in range(40)]
    (tmp_path / "gaps.csv").write_text("\n".join(["a,b", *rows]) + "\n")
    items = opened(tmp_path / "gaps.csv", impute=True).session.items
    assert [one["value"] for one in items.card(5)["fields"]] == ["5", ""]
    assert [one["value"] for one in items.card(6)["fields"]] == ["6", "6.5"]


def test_texts_are_clustered_by_their_words(tmp_path):
    topics = ["the ship sailed over the sea with wind", "bread and cheese for the hungry cook"]
    lines = [f'"{topics[k % 2]} number{k}"' for k in range(30)]
    path = tmp_path / "texts.csv"
    path.write_text("\n".join(["message", *lines]) + "\n")
    session = opened(path, text="message").session
    question = session.question()
    pair = session.items.pair(question.i, question.j)
    assert "".join(piece["words"] for piece in pair["left"]["text"]) == lines[question.i].strip('"')
    labels = session.labels
    assert all(len(set(labels[k::2]) & set(labels[1 - k :: 2])) == 0 for k in (0, 1))


def test_series_pictures_graphs_and_folders(tmp_path):
    rng = np.random.RandomState(0)
    waves = np.sin(np.linspace(0, 6, 16)[None, :] * (1 + np.arange(30)[:, None] % 2)) + rng.normal(
        0, 0.1, (30, 16)
    )
    np.save(tmp_path / "waves.npy", waves)
    series = opened(tmp_path / "waves.npy", series=True, raw=True).session.items.card(0)["series"]
    np.testing.assert_allclose(series, waves[0])
    project = tmp_path / "squares"
    picture = opened(tmp_path / "waves.npy", image_shape="4x4", project=project).session.items.card(0)[
        "picture"
    ]
    assert picture.startswith("data:image/png;base64,")
    edges = [f"n{a} n{b} 1" for a in range(12) for b in range(a + 1, 12) if (a < 6) == (b < 6)] + [
        "n5 n6 0.1"
    ]
    (tmp_path / "friends.edges").write_text("\n".join(edges) + "\n")
    neighbours = opened(tmp_path / "friends.edges").session.items.card(0)["neighbours"]
    assert len(neighbours) == 5
    folder = tmp_path / "photos"
    folder.mkdir()
    for k in range(12):
        Image.new("RGB", (8, 8), (250, 20 * (k % 2), 10 * k)).save(folder / f"{k:02d}.png")
    session = opened(folder).session
    assert session.items.names[3] == "03.png"
    assert session.items.card(3)["picture"].startswith("data:image/png")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--show", "west"], "--show west"),
        (["--map", "east"], "name two columns"),
        (["--images", "nowhere"], "is no folder"),
        (["--image-shape", "big"], "as 28x28"),
    ],
)
def test_wrong_options_are_told(table, capsys, arguments, words):
    code = main(["studio", str(table), "--id-column", "name", "--no-browser", *arguments])
    assert code == 2
    assert words in capsys.readouterr().err


def test_columns_that_do_not_count_are_last_and_said_to_be_such(tmp_path, start, open_page):
    """The region was shown as the greatest difference, and the clusters did not know of it."""
    rows = [f"p{i},{10 * (i % 2) + i / 100},{'NSEW'[i % 4]}" for i in range(40)]
    (tmp_path / "t.csv").write_text("\n".join(["name,size,region", *rows]) + "\n")
    _, address = start(tmp_path / "t.csv", "--id-column", "name")
    page = open_page(address)
    page.wait_for_selector(".comparison tr th")
    assert "Clustered by size; left out name (names), region (text)." in page.inner_text(".about")
    assert page.locator(".comparison tbody th, .comparison tr th[scope=row]").all_inner_texts() == [
        "size",
        "region not used",
    ]
    assert page.locator(".comparison tr", has_text="region").locator("mark").count() == 0


def test_a_file_that_is_not_there(capsys):
    assert main(["studio", "nowhere.csv", "--no-browser"]) == 2
    assert "There is no file nowhere.csv" in capsys.readouterr().err


def answer_on_the_page(page, kinds):
    """Answer the question on the page as the classes say: 20 points of each, in order."""
    question = page.evaluate("studio.state.question")
    classes = [point // 20 for point in question["points"]]
    kinds.append(question["kind"])
    step = page.evaluate("studio.state.step")
    if question["kind"] == "pair":
        page.keyboard.press("s" if classes[0] == classes[1] else "d")
    elif question["kind"] == "label":
        name = f"kind {classes[0]}"
        known = page.locator(".known-name", has_text=name)
        if known.count():
            known.click()
        else:
            page.locator(".new-name").fill(name)
            page.locator(".new-name").press("Enter")
    else:
        members = page.locator(".member")
        for c in set(classes):
            inside = [k for k, own in enumerate(classes) if own == c]
            if len(inside) > 1:
                for k in inside:
                    members.nth(k).click()
                page.locator(".together").click()
        page.locator(".finish").click()
    page.wait_for_function(
        """step => studio.state.step === step + 1 && !studio.isBusy
             && studio.panel.dataset.step === String(step + 1)""",
        arg=step,
        polling=20,
    )


def test_how_often_answers_are_wrong_is_estimated(start, table, open_page):
    process, address = start(table, "--id-column", "name", "--drop", "kind", "--reliability", "estimate")
    page = open_page(address)
    page.wait_for_selector(".question")
    for _ in range(3):
        answer_on_the_page(page, [])
    process.send_signal(signal.SIGKILL)
    process.wait()
    open_page.errors.clear()
    run = ActiveClustering.load(f"{table}.studio/run")
    assert run.reliability is None
    assert len(run.history_) == 3
    assert 0 < run.error_rate_.low < run.error_rate_.mean < run.error_rate_.high < 0.5


def test_all_kinds_of_questions_on_the_page_killed_and_resumed(start, table, open_page):
    costs = {"pair": 4.0, "label": 1.6, "set": 6.0}
    options = [table, "--id-column", "name", "--drop", "kind", "--costs", "pair=4,label=1.6,set=6"]
    kinds = []
    for n_answers in (6, 7):
        process, address = start(*options)
        page = open_page(address)
        page.wait_for_selector(".question")
        for _ in range(n_answers):
            answer_on_the_page(page, kinds)
        labels = page.evaluate("[...studio.state.labels]")
        process.send_signal(signal.SIGKILL)
        process.wait()
        open_page.errors.clear()
    assert set(kinds) == {"pair", "label", "set"}
    run = ActiveClustering.load(f"{table}.studio/run")
    assert run.labels_.tolist() == labels
    assert run.costs == costs
    # Python asks the same questions for the same answers.
    X = np.loadtxt(table, delimiter=",", skiprows=1, usecols=(1, 2))
    straight = ActiveClustering(costs=costs, random_state=0).start((X - X.mean(axis=0)) / X.std(axis=0))
    for kind in kinds:
        question = straight.question()
        classes = [point // 20 for point in question.points]
        assert question.kind == kind
        said = {"pair": classes[0] == classes[-1], "label": f"kind {classes[0]}", "set": classes}[kind]
        straight.answer(said)
    assert straight.labels_.tolist() == labels


def test_labels_of_a_column_are_taken(table, tmp_path, capsys):
    """In the trial 60 known rows had to be typed again."""
    text = table.read_text().splitlines()
    known = [
        line if row < 12 or row % 7 == 0 else line.rpartition(",")[0] + "," for row, line in enumerate(text)
    ]
    table.write_text("\n".join(known) + "\n")
    session = opened(table, id_column="name", label_column="kind").session
    assert "left out name (names), kind (known classes)" in capsys.readouterr().out
    told = session.run.constraints_
    rows = [row - 1 for row, line in enumerate(known) if row and not line.endswith(",")]
    assert told.constrained_points.tolist() == rows
    assert session.n_actions == 0
    # Labels stay labels: clusters are called by them, and each can be taken back.
    kinds = {line.rpartition(",")[2] for line in known[1:]} - {""}
    assert {name for name in session.cluster_names().values() if name} == kinds
    assert {fact["name"] for fact in session.facts()} == kinds


@pytest.mark.parametrize("command", ["studio", "ask"])
def test_columns_of_one_kind_are_not_standardised(command, tmp_path, monkeypatch, capsys):
    """Of principal components the first ones count most: cells are found with .55 instead of .40."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3)) * [9.0, 2.0, 1.0]
    for names, is_kept in ((["PC1", "PC2", "PC3"], True), (["height", "width", "depth"], False)):
        table = tmp_path / f"{names[0]}.csv"
        pd.DataFrame(X, columns=names).to_csv(table, index=False)
        if command == "studio":
            found = opened(table).session.X
        else:
            monkeypatch.setattr("sys.stdin", io.StringIO("q\n"))
            seen = []
            start = ActiveClustering.start
            monkeypatch.setattr(
                ActiveClustering,
                "start",
                lambda run, X, *more, start=start, seen=seen: seen.append(X) or start(run, X, *more),
            )
            assert main(["ask", str(table), "-o", str(table.with_suffix(".labels.csv"))]) == 0
            found = seen[0]
        scale = np.ones(3) if is_kept else X.std(axis=0)
        np.testing.assert_allclose(found, (X - (0 if is_kept else X.mean(axis=0))) / scale, rtol=1e-9)
