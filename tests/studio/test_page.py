"""The page in a real Chromium: what a person does, and what follows."""

import json
import re

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import expect

from sidecut.active import ActiveClustering
from sidecut.images import touching_discs
from sidecut.studio import Items, Painter, Session, Setup
from sidecut.studio.image_annotation import PaintHandler
from sidecut.studio.project import COLORS
from sidecut.studio.requests import SessionHandler


def wait_for_step(page, step):
    """Wait until the page shows a step: its state, and the list beside the map."""
    page.wait_for_function(
        """step => window.studio?.state?.step === step && !studio.isBusy
             && (!studio.panel || studio.panel.dataset.step === String(step))""",
        arg=step,
        polling=20,
    )


def show_tab(page, key, tab):
    page.keyboard.press(key)
    expect(page.locator(f".panel-body[data-tab={tab}]")).to_be_visible()


@pytest.fixture
def studio(served, open_page):
    session, address = served
    page = open_page(address)
    wait_for_step(page, 0)
    return session, page


def press_truth(page, session, y, n):
    """Answer n questions by keys, as the classes say."""
    for _ in range(n):
        question, step = session.question(), session.step
        page.keyboard.press("s" if y[question.i] == y[question.j] else "d")
        wait_for_step(page, step + 1)


def lasso(page, points):
    """Draw a lasso around points with the mouse: the box around them, a little larger."""
    box = page.locator(".map").bounding_box()
    ends = np.array(page.evaluate("points => points.map((i) => studio.map.screenOf(i))", points))
    (left, top), (right, bottom) = ends.min(axis=0) - 4, ends.max(axis=0) + 4
    page.keyboard.press("l")
    corners = [(left, top), (right, top), (right, bottom), (left, bottom), (left, top)]
    page.mouse.move(box["x"] + left, box["y"] + top)
    page.mouse.down()
    for x, y in corners[1:]:
        page.mouse.move(box["x"] + x, box["y"] + y, steps=4)
    page.mouse.up()
    expect(page.locator(".chosen .join")).to_be_visible()
    return page.evaluate("studio.selection")


def test_the_page_shows_the_question_and_the_map(studio):
    session, page = studio
    question = session.question()
    expect(page.locator("h1")).to_have_text("three groups")
    expect(page.locator(".counts")).to_contain_text("60 points")
    cards = page.locator(".pair .card h3 span:last-child")
    expect(cards).to_have_text([f"point {question.i}", f"point {question.j}"])
    expect(page.locator(".why")).to_contain_text("Why this one: groups of about")
    # The points are really drawn: pixels in the colours of the clusters.
    drawn = page.evaluate("""() => {
      studio.map.drawNow();
      const gl = studio.map.scatter.gl, {width, height} = gl.canvas, all = new Uint8Array(4 * width * height);
      gl.readPixels(0, 0, width, height, gl.RGBA, gl.UNSIGNED_BYTE, all);
      const seen = new Map();
      for (let k = 0; k < all.length; k += 4) {
        if (all[k + 3] < 255) continue;
        const color = "#" + [0, 1, 2].map((c) => all[k + c].toString(16).padStart(2, "0")).join("");
        seen.set(color, (seen.get(color) ?? 0) + 1);
      }
      return [...seen].filter(([, n]) => n > 50).map(([color]) => color);
    }""")
    assert set(drawn) == set(COLORS[: session.run.n_clusters_])


def test_answers_by_keys_and_undo(studio, data):
    session, page = studio
    first = session.question()
    press_truth(page, session, data[1], 3)
    assert len(session.run.history_) == 3
    expect(page.locator(".counts")).to_contain_text("3 answers")
    labels = page.evaluate("[...studio.state.labels]")
    assert labels == session.labels.tolist()
    page.keyboard.press("u")
    wait_for_step(page, 4)
    assert session.run.history_[-1].same is None
    for step in (5, 6, 7, 8):
        page.keyboard.press("z")
        wait_for_step(page, step)
    assert session.question() == first
    page.keyboard.press("z")
    expect(page.locator(".status")).to_have_text("There is nothing to take back.")


def test_what_changed_is_told_and_stands_out(studio, data):
    session, page = studio
    for _ in range(6):
        press_truth(page, session, data[1], 1)
        n = len(session.changed)
        words = "no point changed" if n == 0 else f"{n} point{'s' if n > 1 else ''} changed"
        expect(page.locator(".status")).to_have_text(words)
        looks = page.evaluate("[...studio.map.scatter.looks].filter((_, k) => k % 4 === 3)")
        assert [row for row, look in enumerate(looks) if look // 16 == 2] == session.changed.tolist()


def test_a_lasso_says_these_are_one(studio):
    session, page = studio
    chosen = lasso(page, [0, 1, 2, 3])
    assert set(chosen) >= {0, 1, 2, 3}
    page.keyboard.press("j")
    wait_for_step(page, 1)
    assert len(set(session.labels[chosen])) == 1
    assert len(session.run.history_) == len(chosen) - 1
    expect(page.locator(".chosen")).to_be_hidden()
    page.keyboard.press("z")
    wait_for_step(page, 2)
    assert session.run.history_ == []


def test_a_lasso_says_not_one_cluster(studio, data):
    session, page = studio
    chosen = lasso(page, list(range(40)))
    page.keyboard.press("p")
    wait_for_step(page, 1)
    expect(page.locator(".why")).to_contain_text("you said that these are not one cluster")
    question = session.question()
    assert {question.i, question.j} <= set(chosen)
    page.keyboard.press("d")
    wait_for_step(page, 2)
    assert session.labels[question.i] != session.labels[question.j]


def choose_unmentioned(page, session, cluster_of, count):
    """Choose points that no answer is about, in the cluster of another point."""
    said = {row for record in session.run.history_ for row in (record.i, record.j)}
    rows = np.flatnonzero(session.labels == session.labels[cluster_of])
    chosen = [int(row) for row in rows if row not in said][:count]
    page.evaluate("rows => studio.select(rows)", chosen)
    expect(page.locator(".chosen .move")).to_be_visible()
    return chosen


def test_chosen_points_are_detached_and_moved(studio, data):
    session, page = studio
    press_truth(page, session, data[1], 12)
    numbers = set(session.numbers.tolist())
    chosen = choose_unmentioned(page, session, 0, 3)
    page.keyboard.press("x")
    wait_for_step(page, 13)
    own = set(session.labels[chosen].tolist())
    assert len(own) == 1
    assert not own & numbers
    expect(page.locator(".chosen")).to_be_hidden()
    to = int(session.labels[45])
    moved = choose_unmentioned(page, session, 25, 2)
    page.locator(".chosen .move").select_option(session.shown_names()[to])
    wait_for_step(page, 14)
    assert set(session.labels[moved].tolist()) == {to}
    page.keyboard.press("z")
    wait_for_step(page, 15)
    assert to not in session.labels[moved]
    assert set(session.labels[chosen].tolist()) == own


def test_a_move_against_what_was_said_shows_the_chain_and_a_way_out(studio, data):
    session, page = studio
    press_truth(page, session, data[1], 12)
    to = int(session.labels[45])
    [point] = choose_unmentioned(page, session, 0, 1)
    session.link(point, int(session.members(to, 1).typical[0]), False)
    session.step = 12
    page.locator(".chosen .move").select_option(session.shown_names()[to])
    dialog = page.locator("dialog.contradiction")
    expect(dialog.locator("li.apart")).to_have_count(1)
    # The link that is in the way is the last thing that was said before.
    dialog.locator("li.apart").get_by_role("button", name="Take this back").click()
    wait_for_step(page, 13)
    assert session.labels[point] == to


def test_a_lasso_by_keys_alone(studio):
    _, page = studio
    page.keyboard.press("l")
    for key in ["Shift+ArrowLeft"] * 5 + ["Shift+ArrowUp"] * 5 + [" "]:
        page.keyboard.press(key)
    for keys in (["Shift+ArrowRight"] * 10, ["Shift+ArrowDown"] * 10, ["Shift+ArrowLeft"] * 10):
        for key in [*keys, " "]:
            page.keyboard.press(key)
    page.keyboard.press("Enter")
    expect(page.locator(".chosen .join")).to_be_visible()
    x0, y0, x1, y1 = page.evaluate("""() => {
      const {width, height} = studio.map.camera;
      return [width / 2 - 320, height / 2 - 320, width / 2 + 320, height / 2 + 320];
    }""")
    ends = page.evaluate("Array.from({length: 60}, (_, i) => studio.map.screenOf(i))")
    inside = [row for row, (x, y) in enumerate(ends) if x0 < x < x1 and y0 < y < y1]
    assert page.evaluate("studio.selection") == inside
    assert inside
    page.keyboard.press("Escape")
    expect(page.locator(".chosen")).to_be_hidden()


def test_a_cluster_is_named_and_renamed(studio):
    session, page = studio
    show_tab(page, "2", "clusters")
    for step, name in ((1, "north"), (2, "far north")):
        field = page.locator(".cluster .name").first
        field.fill(name)
        field.press("Enter")
        wait_for_step(page, step)
        expect(page.locator(".legend")).to_contain_text(name)
        expect(page.locator(".cluster .name").first).to_have_value(name)
        assert name in session.cluster_names().values()
    assert len(session.run.history_) == 1
    expect(page.locator(".cluster").first.locator(".strip")).to_have_count(2)


def test_a_contradiction_is_explained_and_resolved(studio):
    session, page = studio
    question = session.question()
    session.link(question.i, question.j, True)
    session.step, session._focus = 0, question
    page.keyboard.press("d")
    dialog = page.locator("dialog.contradiction")
    expect(dialog).to_contain_text("another answer puts them together")
    expect(dialog.locator("li")).to_have_count(2)
    expect(dialog.locator("li.apart em")).to_have_text("new")
    assert len(session.run.history_) == 1
    # Leave it, then again: take the old one back.
    dialog.locator(".leave").click()
    expect(dialog).to_have_count(0)
    page.keyboard.press("d")
    page.get_by_role("button", name="Take this back").click()
    wait_for_step(page, 1)
    assert [record.same for record in session.run.history_] == [False]


def test_the_knowledge_can_be_edited(studio, data):
    session, page = studio
    press_truth(page, session, data[1], 4)
    show_tab(page, "3", "facts")
    expect(page.locator(".fact")).to_have_count(4)
    position = int(page.locator(".fact").first.get_attribute("data-position"))
    record = session.run.history_[position]
    page.locator(".fact select").first.select_option("null")
    wait_for_step(page, 5)
    assert session.run.history_[-1].same is None
    assert (session.run.history_[-1].i, session.run.history_[-1].j) == (record.i, record.j)
    page.locator(".fact .forget").first.click()
    wait_for_step(page, 6)
    expect(page.locator(".fact")).to_have_count(3)


def test_exports_and_an_import(studio, data, tmp_path):
    session, page = studio
    press_truth(page, session, data[1], 3)
    show_tab(page, "4", "files")
    names = {}
    for what in ("labels", "constraints", "model", "report"):
        with page.expect_download() as download:
            page.locator(f"[data-what={what}]").click()
        names[what] = download.value.suggested_filename
        download.value.save_as(tmp_path / names[what])
    assert list(names.values()) == ["labels.csv", "constraints.csv", "run.zip", "report.html"]
    labels = (tmp_path / "labels.csv").read_text().splitlines()[1:]
    assert [int(line.split(",")[1]) for line in labels] == session.labels.tolist()
    (tmp_path / "more.csv").write_text("i,j,kind\n0,1,must-link\n0,25,cannot-link\n")
    page.locator("input.import").set_input_files(tmp_path / "more.csv")
    wait_for_step(page, 4)
    assert len(session.run.history_) == 5


def test_a_second_opinion_is_a_colour(studio, data):
    session, page = studio
    press_truth(page, session, data[1], 5)
    show_tab(page, "4", "files")
    page.locator("button.opinion").click()
    expect(page.locator(".opinion-words")).to_contain_text("of 60 would be elsewhere", timeout=30_000)
    expect(page.locator(".color-by")).to_have_value("opinion")
    # Its clusters have the numbers, and so the colours, of those on the map; only what differs stands out.
    expect(page.locator(".legend")).to_contain_text("cluster 0")
    differs = page.evaluate("[...studio.opinion.column.differs]")
    numbers = page.evaluate("[...studio.opinion.column.values].map((v) => studio.opinion.column.numbers[v])")
    np.testing.assert_array_equal(np.array(numbers) != session.labels, np.array(differs) == 1)
    assert sum(differs) < 30
    looks = page.evaluate("[...studio.map.scatter.looks].filter((_, k) => k % 4 === 3)")
    assert [look // 16 for look in looks] == [2 if one else 0 for one in differs]


def test_colours_by_key(studio):
    session, page = studio
    seen = []
    for _ in range(6):
        page.keyboard.press("c")
        page.wait_for_timeout(100)
        seen.append(page.locator(".color-by").input_value())
    assert seen == ["confidence", "column class", "column x", "column y", "column note", "cluster"]
    expect(page.locator(".legend button")).to_have_count(session.run.n_clusters_)


def test_the_map_moves_by_keys_wheel_and_hand(studio):
    _, page = studio
    at = "studio.map.screenOf(0)"
    x, y = page.evaluate(at)
    page.keyboard.press("ArrowRight")
    assert page.evaluate(at) == pytest.approx([x - 60, y])
    page.keyboard.press("0")
    box = page.locator(".map").bounding_box()
    page.mouse.move(box["x"] + 300, box["y"] + 300)
    page.mouse.down()
    page.mouse.move(box["x"] + 350, box["y"] + 280, steps=3)
    page.mouse.up()
    assert page.evaluate(at) == pytest.approx([x + 50, y - 20])
    place = "studio.map.camera.toPlace(350, 280)"
    before = page.evaluate(place)
    page.mouse.wheel(0, -400)
    page.wait_for_function("() => studio.map.camera.zoom > 1.5", polling=20)
    assert page.evaluate(place) == pytest.approx(before, abs=0.01)


def test_a_point_under_the_pointer_is_shown(studio):
    _, page = studio
    box = page.locator(".map").bounding_box()
    x, y = page.evaluate("studio.map.screenOf(30)")
    page.mouse.move(box["x"] + x, box["y"] + y)
    expect(page.locator(".tip h3")).to_have_text(re.compile(r"point \d+"))
    shown = int(page.locator(".tip .card").get_attribute("data-point"))
    assert page.evaluate("shown => studio.map.screenOf(shown)", shown) == pytest.approx([x, y], abs=10)


def test_light_and_dark(studio):
    _, page = studio
    ground = "getComputedStyle(document.getElementById('page')).backgroundColor"
    light = page.evaluate(ground)
    page.keyboard.press("t")
    assert page.evaluate(ground) != light
    assert page.evaluate("studio.isDark")


def test_phone_width(served, open_page, data):
    session, address = served
    page = open_page(address, width=360, height=740, has_touch=True, is_mobile=True)
    wait_for_step(page, 0)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    map_box, panel = page.locator(".map").bounding_box(), page.locator(".panel").bounding_box()
    assert map_box["width"] == pytest.approx(360, abs=1)
    assert panel["y"] >= map_box["y"] + map_box["height"] - 1
    for button in page.locator(".answers button").all():
        box = button.bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 360
        assert box["height"] >= 32
    page.locator(".answers .same").tap()
    wait_for_step(page, 1)
    assert len(session.run.history_) == 1


def test_a_second_page_does_not_mix_answers(served, open_page):
    session, address = served
    first, second = open_page(address), open_page(address)
    wait_for_step(first, 0)
    wait_for_step(second, 0)
    first.keyboard.press("s")
    wait_for_step(first, 1)
    second.keyboard.press("d")
    expect(second.locator(".status")).to_contain_text("said on another page")
    wait_for_step(second, 1)
    assert len(session.run.history_) == 1
    second.keyboard.press("d")
    wait_for_step(second, 2)


def test_scripts_in_the_data_do_not_run(open_page, serving, data):
    X, _ = data
    bad = '<img src=x onerror="window.hit=1"><script>window.hit=1</script>'
    table = {f"<b>{bad}": [bad] * 60, "x": X[:, 0].tolist(), "y": X[:, 1].tolist()}
    items = Items([bad] * 60, table, text=[f"{bad} javascript:hit=1"] * 60)
    session = Session(X, items, setup=Setup(axes=("x", "y")), title=bad)
    with serving(SessionHandler(session)) as address:
        page = open_page(address)
        wait_for_step(page, 0)
        page.keyboard.press("s")
        wait_for_step(page, 1)
        show_tab(page, "2", "clusters")
        page.locator(".cluster .name").first.fill(bad)
        page.locator(".cluster .name").first.press("Enter")
        wait_for_step(page, 2)
        show_tab(page, "3", "facts")
        expect(page.locator(".fact").first).to_contain_text(bad)
        page.keyboard.press("1")
        expect(page.locator(".card").first).to_contain_text(bad)
        page.wait_for_timeout(100)
        assert page.evaluate("window.hit") is None
        assert page.locator(".card script, .card img, .legend img, h1 img").count() == 0


def test_a_hundred_scripted_answers_give_the_labels_of_the_api(open_page, serving):
    # Five classes that the graph does not show: many questions are left to ask.
    rng = np.random.RandomState(1)
    X, y = rng.normal(size=(180, 2)), rng.randint(5, size=180)
    items = Items([str(row) for row in range(180)], {"x": X[:, 0], "y": X[:, 1]})
    session = Session(X, items, setup=Setup(axes=("x", "y")))
    with serving(SessionHandler(session)) as address:
        page = open_page(address)
        wait_for_step(page, 0)
        answered = page.evaluate(
            """async (classes) => {
          for (let n = 0; n < 100 && studio.state.question; n += 1) {
            const [i, j] = studio.state.question.points;
            const key = classes[i] === classes[j] ? "s" : "d";
            document.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true}));
            while (studio.isBusy) await new Promise((go) => setTimeout(go, 1));
          }
          return {n: studio.state.n_answers, labels: [...studio.state.labels]};
        }""",
            y.tolist(),
        )
    run = ActiveClustering(random_state=0).start(X)
    for _ in range(100):
        question = run.question()
        run.answer(bool(y[question.i] == y[question.j]))
    assert answered["n"] == 100
    np.testing.assert_array_equal(session.run.labels_, run.labels_)
    assert answered["labels"] == session.labels.tolist()


def test_a_server_that_is_gone_is_told(open_page, serving, open_session):
    """The page is grey and says why; where the server comes back, so does the page."""
    session = open_session(axes=("x", "y"))
    with serving(SessionHandler(session)) as address:
        page = open_page(address)
        wait_for_step(page, 0)
    page.keyboard.press("s")
    expect(page.locator(".lost")).to_contain_text("Your answers are kept")
    assert "offline" in page.locator("#page").get_attribute("class")
    session.link(0, 25, False)
    with serving(SessionHandler(session), port=int(re.search(r":(\d+)/", address)[1])):
        wait_for_step(page, 1)
        expect(page.locator(".lost")).to_have_count(0)
        page.keyboard.press("s")
        wait_for_step(page, 2)
    assert len(session.run.history_) == 2
    open_page.errors.clear()


@pytest.mark.parametrize(("width", "height"), [(1400, 900), (390, 844)])
def test_answers_are_in_sight_with_many_columns(open_page, serving, width, height):
    rng = np.random.RandomState(0)
    X = np.vstack([rng.normal(size=(30, 65)), rng.normal(size=(30, 65)) + 6 * (np.arange(65) == 64)])
    items = Items([str(row) for row in range(60)], {f"column {k}": X[:, k] for k in range(65)})
    session = Session(X, items)
    with serving(SessionHandler(session)) as address:
        page = open_page(address, width=width, height=height)
        wait_for_step(page, 0)
        for button in page.locator(".answers button").all():
            box = button.bounding_box()
            assert 0 <= box["x"] <= box["x"] + box["width"] <= width
            assert 0 <= box["y"] <= box["y"] + box["height"] <= height
        rows = page.locator(".comparison tr.differs:visible")
        expect(rows).to_have_count(10)
        shown = [row.split("\t")[0] for row in rows.all_inner_texts()]
        question, spread = session.question(), X.std(axis=0)
        far = np.argsort(-np.minimum(np.abs(X[question.i] - X[question.j]) / (2 * spread), 1), kind="stable")
        assert shown == [f"column {k}" for k in far[:10]]
        expect(page.locator(".comparison summary")).to_have_text("55 more, which differ less")
        page.locator(".comparison summary").click()
        expect(page.locator(".comparison tr td:first-of-type:visible")).to_have_count(65)


def test_a_picture_is_painted(open_page, serving, tmp_path):
    image, _ = touching_discs(random_state=0)
    painter = Painter(image, tmp_path / "paint", "discs")
    with serving(PaintHandler(painter)) as address:
        page = open_page(address)
        box = page.locator("canvas.paint").bounding_box()
        scale = box["width"] / 72

        def stroke(row, start, end):
            page.mouse.move(box["x"] + start * scale, box["y"] + row * scale)
            page.mouse.down()
            page.mouse.move(box["x"] + end * scale, box["y"] + row * scale, steps=5)
            page.mouse.up()

        stroke(24, 16, 26)
        wait_for_step(page, 1)
        expect(page.locator(".status")).to_contain_text("choose another colour")
        page.keyboard.press("2")
        stroke(3, 10, 60)
        wait_for_step(page, 2)
        expect(page.locator(".status")).to_contain_text("2 segments")
        assert painter.segmentation.labels[24, 22] == 1
        assert page.evaluate("studio.state.segments[24 * 72 + 22]") == 1
        # By keys alone: the brush is in the middle, and goes up to the ground.
        page.keyboard.press("3")
        for key in ["ArrowUp"] * 2 + [" ", "Enter"]:
            page.keyboard.press(key)
        wait_for_step(page, 3)
        assert 3 in painter.marks
        with page.expect_download() as download:
            page.locator("[data-what=labels]").click()
        assert download.value.suggested_filename == "labels.png"
        page.keyboard.press("1")
        with page.expect_download() as download:
            page.locator("[data-what=cutout]").click()
        download.value.save_as(tmp_path / "cutout.png")
        opacity = np.asarray(Image.open(tmp_path / "cutout.png"))[..., 3]
        np.testing.assert_array_equal(opacity == 255, painter.labels() == 1)
        page.keyboard.press("z")
        wait_for_step(page, 4)
        assert 3 not in painter.marks
    painter.close()
    assert json.loads((tmp_path / "paint" / "studio.json").read_text())["title"] == "discs"
