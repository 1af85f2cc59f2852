"""Pictures side by side: the marks, sidecut, the rivals, the truth.

    python -m benchmarks.quality.images.side_by_side --output docs/images/side-by-side.jpg

One row per kind of mark, on pictures that anybody may show: those that come with scikit-image, on which
constants were set. Draw 0 of each, so that none was chosen. The Berkeley pictures are for research only.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from benchmarks.quality.images.__main__ import METHODS
from benchmarks.quality.images.marks import draw_marks
from benchmarks.quality.images.pictures import bundled_scenes
from benchmarks.quality.images.scores import mean_iou
from sidecut.images.drawing import draw_overlay

ROWS = (
    ("coffee", "dots"),
    ("astronaut", "short"),
    ("cat", "thin"),
    ("rocket", "wide"),
    ("cup, dish, table", "boxes"),
)
COLUMNS = ("sidecut", "random walker 1000", "watershed", "GrabCut")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--output", type=Path, required=True)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    scenes = {scene.name: scene for scene in bundled_scenes()}
    figure, axes = plt.subplots(len(ROWS), len(COLUMNS) + 1, figsize=(15, 11))
    for row, (name, kind) in zip(axes, ROWS, strict=True):
        scene = scenes[name]
        marks = draw_marks(scene.truth, kind, 0)
        show(row[-1], scene.image, scene.truth, marks, f"{name}, {kind}: truth")
        for ax, method in zip(row, COLUMNS, strict=False):
            if method == "GrabCut" and scene.n_classes > 2:
                ax.text(0.5, 0.5, "two classes only", ha="center", transform=ax.transAxes)
                continue
            labels = METHODS[method](scene.image, marks)
            show(ax, scene.image, labels, marks, f"{method}, IoU {mean_iou(labels, scene.truth):.2f}")
    for ax in axes.flat:
        ax.axis("off")
    figure.tight_layout()
    figure.savefig(args.output, dpi=90)


def show(ax: plt.Axes, image: np.ndarray, labels: np.ndarray, marks: np.ndarray, title: str) -> None:
    ax.imshow(draw_overlay(image, labels - 1, marks - 1, 0.4, 1))
    ax.set_title(title, fontsize=10)


if __name__ == "__main__":
    main()
