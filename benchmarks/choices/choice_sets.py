"""The sets on which AutoCut learns what to expect; no page reports on any of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from PIL import Image, ImageDraw, ImageFont
from sklearn.decomposition import TruncatedSVD
from sklearn.preprocessing import normalize

from benchmarks.quality.selection import data

#: Sets of benchmarks.quality.selection that are made, or of which nothing is reported.
OTHERS = (
    "hepatitis",
    "soybean_small",
    "moons",
    "weights",
    "oblong",
    "unbalanced",
    "docstrings of SciPy",
    "docstrings of scikit-learn",
    "two photographs",
    "circles",
    "units",
    "mixed",
    "noise",
    "parts",
    "overlap",
)
#: Drawn letters: which ones, how far they are bent, and how much noise there is.
LETTERS = {
    "letters ABCDEFGHIJ": ("ABCDEFGHIJ", 0.05, 10.0),
    "letters OQCGDU": ("OQCGDU", 0.03, 10.0),
    "letters ilt1fj": ("ilt1fj", 0.06, 20.0),
    "letters of the alphabet": ("ABCDEFGHIJKLMNOPQRST", 0.03, 20.0),
    "letters with noise": ("mnwuvhkr", 0.04, 60.0),
    "letters far bent": ("ABEKRSTXYZ", 0.1, 10.0),
}
FONTS = ("DejaVuSans", "DejaVuSerif", "DejaVuSansMono", "DejaVuSans-Bold", "DejaVuSerif-Italic")
SIDE = 14


def load_sets(folder: Path, most: int) -> Iterator[tuple[str, Any, np.ndarray]]:
    """Yield name, points and classes of every set, at most so many points of each."""
    tables = np.load(folder / "tables.npz")
    for key in tables.files:
        if key.endswith("_X"):
            yield key[:-2], *sample(tables[key].astype(np.float64), tables[f"{key[:-2]}_y"], most)
    for name in OTHERS:
        yield name, *data.load(name, 0, folder, most)
    for name, (letters, bend, noise) in LETTERS.items():
        yield name, *draw_letters(letters, bend, noise, min(most, 3_000))
    for name in ("docstrings of SciPy", "docstrings of scikit-learn"):
        X, y = data.load(name, 0, folder, most)
        yield (
            f"{name}, 40 numbers",
            normalize(TruncatedSVD(40, random_state=0).fit_transform(normalize(X))),
            y,
        )


def sample(X: np.ndarray, y: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray]:
    """Return some of the points, without classes of fewer than four."""
    if len(y) > most:
        rows = np.sort(np.random.default_rng(0).permutation(len(y))[:most])
        X, y = X[rows], y[rows]
    many = np.bincount(y)[y] > 3
    return X[many], np.unique(y[many], return_inverse=True)[1]


def draw_letters(letters: str, bend: float, noise: float, n_points: int) -> tuple[np.ndarray, np.ndarray]:
    """Return pictures of letters in five fonts, each bent by a random affine map, with noise."""
    folder = Path(matplotlib.get_data_path()) / "fonts" / "ttf"
    fonts = [ImageFont.truetype(str(folder / f"{name}.ttf"), 44) for name in FONTS]
    rng = np.random.default_rng(0)
    y = np.arange(n_points) % len(letters)
    pictures = []
    for number in y:
        page = Image.new("L", (64, 64))
        font = fonts[rng.integers(len(fonts))]
        ImageDraw.Draw(page).text((32, 32), letters[number], fill=255, font=font, anchor="mm")
        change = np.eye(2) + bend * rng.normal(size=(2, 2))
        shift = 32.0 - change @ np.full(2, 32.0) + 20.0 * bend * rng.normal(size=2)
        how = (*change[0], shift[0], *change[1], shift[1])
        page = page.transform((64, 64), Image.Transform.AFFINE, how, Image.Resampling.BILINEAR)
        pictures.append(np.asarray(page.resize((SIDE, SIDE), Image.Resampling.BOX), dtype=float).ravel())
    return np.array(pictures) + noise * rng.normal(size=(n_points, SIDE * SIDE)), y
