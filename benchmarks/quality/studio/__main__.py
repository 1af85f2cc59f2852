"""Measure frames and answers: `python -m benchmarks.quality.studio --data FOLDER`.

Three sizes: the 1,797 digits of scikit-learn, and 10,000 and 70,000 of MNIST (FOLDER/mnist.npz). Answers
are those of the true classes. Times are seconds; studio.json keeps them. Chromium draws without a
graphics card here, in software, so frames are slower than elsewhere.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_digits

from benchmarks.quality.studio.page import open_page
from benchmarks.stored import RESULTS, facts, stamp
from sidecut.studio import Items, PictureRows, Session
from sidecut.studio.requests import SessionHandler

STORED = RESULTS / "quality" / "studio.json"
SIZES = (1_797, 10_000, 70_000)
N_FRAMES, N_ANSWERS = 30, 20

# A frame is done when a pixel of it can be read.
FRAMES = """(n) => {
  const gl = studio.map.scatter.gl, pixel = new Uint8Array(4), times = [];
  for (let k = 0; k < n; k += 1) {
    const start = performance.now();
    studio.map.camera.pan(k % 2 ? 9 : -9, 4);
    studio.map.drawNow();
    gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, pixel);
    times.push((performance.now() - start) / 1000);
  }
  return times;
}"""
# From the key to the first frame in the new colours, with the next question on the page.
ANSWERS = """async ([classes, n]) => {
  const gl = studio.map.scatter.gl, pixel = new Uint8Array(4), times = [];
  for (let k = 0; k < n && studio.state.question; k += 1) {
    const [i, j] = studio.state.question.points, before = studio.state.step;
    const start = performance.now();
    const key = classes[i] === classes[j] ? "s" : "d";
    document.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true}));
    while (studio.state.step === before || studio.isBusy) await new Promise((go) => setTimeout(go, 1));
    studio.map.drawNow();
    gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, pixel);
    times.push((performance.now() - start) / 1000);
  }
  return times;
}"""
JOIN = """async (points) => {
  const gl = studio.map.scatter.gl, pixel = new Uint8Array(4), start = performance.now();
  await studio.select(points);
  await studio.join();
  studio.map.drawNow();
  gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, pixel);
  return (performance.now() - start) / 1000;
}"""


def read_digits(n: int, folder: Path | None) -> tuple[np.ndarray, np.ndarray, tuple[int, int]]:
    if n == SIZES[0]:
        digits = load_digits()
        return digits.data, digits.target, (8, 8)
    if folder is None:
        raise SystemExit("--data names the folder with mnist.npz, for more than 1,797 points.")
    with np.load(folder / "mnist.npz") as arrays:
        rows = np.random.RandomState(0).permutation(len(arrays["X"]))[:n]
        return arrays["X"].reshape(len(arrays["X"]), -1)[rows] / 255.0, arrays["y"][rows], (28, 28)


def measure(n: int, folder: Path | None) -> dict[str, Any]:
    X, y, shape = read_digits(n, folder)
    start = time.perf_counter()
    session = Session(X, Items([str(row) for row in range(n)], pictures=PictureRows(X, shape)))
    opened = time.perf_counter() - start
    with open_page(SessionHandler(session), viewport={"width": 1280, "height": 800}) as page:
        frames = page.evaluate(FRAMES, N_FRAMES)
        answers = page.evaluate(ANSWERS, [y.tolist(), N_ANSWERS])
        joined = page.evaluate(JOIN, _one_class(session, y))
    return {
        "points": n,
        "to open": round(opened, 1),
        "frame, median": round(float(np.median(frames)), 4),
        "frame, slowest": round(max(frames), 4),
        "answer to recolour, median": round(float(np.median(answers)), 3),
        "answer to recolour, slowest": round(max(answers), 3),
        "these are one, to recolour": round(joined, 3),
        "answers": len(answers),
    }


def _one_class(session: Session, y: np.ndarray) -> list[int]:
    """Points of one class, at most two thousand, that a lasso could hold."""
    return np.flatnonzero(y == y[session.question().i if session.question() else 0])[:2_000].tolist()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality.studio", description=__doc__)
    parser.add_argument("--data", type=Path, help="folder with mnist.npz")
    parser.add_argument("--sizes", nargs="+", type=int, default=SIZES)
    wanted = parser.parse_args()
    stored = json.loads(STORED.read_text())["sizes"] if STORED.exists() else []
    for n in wanted.sizes:
        measured = measure(n, wanted.data)
        print(json.dumps(measured), flush=True)
        stored = sorted([row for row in stored if row["points"] != n] + [measured], key=lambda r: r["points"])
        found = {**stamp(), "machine": facts(), "sizes": stored}
        STORED.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
