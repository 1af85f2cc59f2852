"""``sidecut studio`` as a person starts it, kills it, and starts it again."""

import os
import re
import signal
import subprocess
import sys

import httpx
import numpy as np
import pytest
from PIL import Image

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
    assert again != address
    page = open_page(again)
    page.wait_for_selector(".pair")
    assert page.locator(".pair h3").all_inner_texts() == shown
    assert page.evaluate("[...studio.state.labels]") == labels
    assert page.evaluate("studio.state.n_answers") == 4
    run = ActiveClustering.load(f"{table}.studio/run")
    assert run.labels_.tolist() == labels


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
    assert [int(label) for label in labels] == handler.session.run.labels_.tolist()


def test_texts_are_clustered_by_their_words(tmp_path):
    topics = ["the ship sailed over the sea with wind", "bread and cheese for the hungry cook"]
    lines = [f'"{topics[k % 2]} number{k}"' for k in range(30)]
    path = tmp_path / "texts.csv"
    path.write_text("\n".join(["message", *lines]) + "\n")
    session = opened(path, text="message").session
    question = session.question()
    pair = session.items.pair(question.i, question.j)
    assert "".join(piece["words"] for piece in pair["left"]["text"]) == lines[question.i].strip('"')
    labels = session.run.labels_
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


def test_a_file_that_is_not_there(capsys):
    assert main(["studio", "nowhere.csv", "--no-browser"]) == 2
    assert "There is no file nowhere.csv" in capsys.readouterr().err
