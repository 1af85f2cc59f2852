"""The pictures of docs/studio.md, made anew by `make screenshots`."""

from __future__ import annotations

import argparse
from itertools import combinations
from pathlib import Path

import numpy as np
from PIL import Image
from playwright.sync_api import Page
from sklearn.datasets import load_digits, load_iris, load_sample_image

from benchmarks.quality.studio.page import open_page
from sidecut.studio import Items, Painter, PictureRows, Session, Setup
from sidecut.studio.image_annotation import PaintHandler
from sidecut.studio.project import COLORS
from sidecut.studio.requests import SessionHandler

FOLDER = Path(__file__).parents[3] / "docs" / "images" / "studio"
DESK = {"viewport": {"width": 1200, "height": 720}}
PHONE = {"viewport": {"width": 380, "height": 760}, "device_scale_factor": 2, "has_touch": True}
#: Of the page on dark ground, beside those on light ground.
DARK_COLORS = (
    "#3390f2",
    "#f0b030",
    "#1fbf90",
    "#f07030",
    "#b38cde",
    "#8fd3ff",
    "#d7c75b",
    "#eca9cf",
    "#6400f0",
    "#8c3c28",
    "#785064",
    "#b4dc8c",
    "#50508c",
    "#b47850",
    "#7828c8",
    "#b43c00",
)
#: A six and a four that are said to belong together.
WRONG = (34, 110)
#: Answers before the pictures are taken.
N_ANSWERS = 40


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.quality.studio.screenshots", description=__doc__
    )
    parser.add_argument("--folder", type=Path, default=FOLDER)
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    shoot_digits(folder)
    shoot_irises(folder)
    shoot_picture(folder)


def shoot_digits(folder: Path) -> None:
    digits = load_digits()
    items = Items(
        [f"digit {row}" for row in range(len(digits.data))],
        more={"class": [str(value) for value in digits.target]},
        pictures=PictureRows(digits.data, (8, 8)),
    )
    session = Session(digits.data, items, title="digits.csv")
    with open_page(SessionHandler(session), **DESK) as page:
        save(page, folder / "start.png")
    answer(session, digits.target, N_ANSWERS)
    name_largest(session, digits.target)
    with open_page(SessionHandler(session), **DESK) as page:
        save(page, folder / "question.png")
        page.keyboard.press("t")
        save(page, folder / "question-dark.png")
        page.keyboard.press("t")
        page.keyboard.press("2")
        page.wait_for_selector(".cluster .chip")
        save(page, folder / "clusters.png")
        session.link(*WRONG, True)
        page.evaluate("async () => studio.take(await studio.call('state'), false)")
        page.keyboard.press("3")
        page.wait_for_selector(".fact")
        save(page, folder / "knowledge.png")
        session.undo()
        page.evaluate("async () => studio.take(await studio.call('state'), false)")
        page.keyboard.press("1")
        points = np.flatnonzero(digits.target == 3)[:180].tolist()
        page.evaluate("points => studio.select(points)", points)
        page.wait_for_selector(".chosen .join")
        page.keyboard.press("t")
        save(page, folder / "lasso-dark.png")
    with open_page(SessionHandler(session), **PHONE) as page:
        save(page, folder / "phone.png")


def shoot_irises(folder: Path) -> None:
    irises = load_iris()
    columns = [name.removesuffix(" (cm)") for name in irises.feature_names]
    table = {name: irises.data[:, k].tolist() for k, name in enumerate(columns)}
    items = Items([f"flower {row}" for row in range(150)], table)
    axes = (columns[2], columns[3])
    session = Session(irises.data, items, setup=Setup(axes=axes), title="iris.csv")
    answer(session, irises.target, 14)
    with open_page(SessionHandler(session), **DESK) as page:
        contradict(session, page)
        save(page, folder / "contradiction.png")


def contradict(session: Session, page: Page) -> None:
    """Ask for a link that a chain of earlier answers speaks against."""
    together = [{answer.i, answer.j} for answer in session.run.history_[:14] if answer.same]
    i, j = next(one ^ other for one, other in combinations(together, 2) if len(one ^ other) == 2)
    page.evaluate("([i, j]) => { studio.change_('link', {i, j, same: false}, true); }", [i, j])
    page.wait_for_selector("dialog.contradiction")


def shoot_picture(folder: Path) -> None:
    image = load_sample_image("flower.jpg")
    painter = Painter(image, title="flower.jpg")
    with open_page(PaintHandler(painter), **DESK) as page:
        box = page.locator("canvas.paint").bounding_box()
        assert box is not None
        scale = box["width"] / image.shape[1]
        for key, strokes in {"1": FLOWER, "3": GROUND, "2": OTHER}.items():
            page.keyboard.press(key)
            for stroke in strokes:
                draw(page, [(box["x"] + x * scale, box["y"] + y * scale) for x, y in stroke])
        page.evaluate("document.activeElement.blur()")
        save(page, folder / "picture.png")


FLOWER = [[(220, 220), (330, 160), (430, 220)], [(300, 320), (400, 280)]]
GROUND = [[(40, 40), (40, 380)], [(580, 60), (600, 340)], [(120, 24), (520, 24)]]
OTHER = [[(330, 410), (380, 395), (430, 410)]]


def draw(page: Page, stroke: list[tuple[float, float]]) -> None:
    step = page.evaluate("studio.state.step")
    page.mouse.move(*stroke[0])
    page.mouse.down()
    for place in stroke[1:]:
        page.mouse.move(*place, steps=8)
    page.mouse.up()
    page.wait_for_function(
        "step => studio.state.step > step && !studio.isBusy", arg=step, polling=20, timeout=60_000
    )


def answer(session: Session, classes: np.ndarray, n: int) -> None:
    for _ in range(n):
        question = session.question()
        if question is None:
            return
        session.answer(bool(classes[question.i] == classes[question.j]))


def name_largest(session: Session, classes: np.ndarray) -> None:
    """Name three clusters after the class most of their points have."""
    words = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
    for label in (0, 4, 6):
        cluster = int(session.labels[np.flatnonzero(classes == label)[2]])
        if not session.cluster_names()[cluster]:
            session.name(cluster, words[np.bincount(classes[session.labels == cluster]).argmax()])


def save(page: Page, path: Path) -> None:
    # The highlight of what changed fades first.
    page.wait_for_timeout(1_700)
    page.screenshot(path=path)
    shrink(path)


def shrink(path: Path) -> None:
    """Keep 256 colours, those of the clusters among them: the file has a third of the size."""
    with Image.open(path) as picture:
        full = picture.convert("RGB")
    stripes = full.copy()
    for k, color in enumerate([*COLORS, *DARK_COLORS]):
        stripes.paste(color, (0, 20 * k, full.width, 20 * k + 10))
    palette = stripes.quantize(256, kmeans=3)
    full.quantize(palette=palette, dither=Image.Dither.NONE).save(path, optimize=True)


if __name__ == "__main__":
    main()
